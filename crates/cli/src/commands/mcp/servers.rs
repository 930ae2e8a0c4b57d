//! `metier mcp servers`: other servers whose tools and skills are used.

use std::collections::BTreeMap;

use metier_agent::Foreign;
use metier_agent::causes::with_causes;
use metier_app::servers::{McpServer, McpServerFault, McpServers};
use metier_mcp::{McpClientError, McpToolList, McpTransport};
use metier_skill::catalog::one_line;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, OK, server_advice};
use crate::output::{Align, Column, Table, counted, plain, style, styled};
use crate::wait::block_on;

/// Most characters of what a tool says of itself that are shown.
const MAX_SAID: usize = 100;

/// What a server has, or why that is not known.
type Had = Result<McpToolList, String>;

/// Lists the servers of the settings, and the tools of those that answer.
pub(super) fn list(context: &Context, json: bool) -> Result<u8, Failure> {
    let McpServers { servers, faults } = context.app.mcp_servers();
    let had = had(context)?;
    if json {
        let faults =
            faults.iter().map(|it| json!({ "name": it.name, "error": it.fault.to_string() }));
        let servers = servers.iter().map(|it| described(it, had.get(&it.peer.name)));
        context.output.json(&servers.chain(faults).collect::<Vec<Value>>());
        return Ok(OK);
    }
    let column = |heading, fills| Column { heading, align: Align::Left, fills };
    let mut table = Table::new(&[
        column("NAME", false),
        column("USED FOR", false),
        column("STATE", false),
        column("WAY", true),
    ]);
    for server in &servers {
        let (style, state) = match had.get(&server.peer.name) {
            None => (style::DIM, "not asked".to_owned()),
            Some(Ok(McpToolList { tools, .. })) => (style::GOOD, counted(tools.len(), "tool")),
            Some(Err(_)) => (style::BAD, "no answer".to_owned()),
        };
        table.row(vec![
            (style::NAME, server.peer.name.clone()),
            (style::DIM, used_for(server).join(", ")),
            (style, state),
            (style::DIM, plain(&way(server))),
        ]);
    }
    for McpServerFault { name, .. } in &faults {
        let cells = ["nothing", "wrong settings", "–"].map(|it| (style::DIM, it.to_owned()));
        table.row([vec![(style::NAME, name.clone())], cells.to_vec()].concat());
    }
    let count = servers.len() + faults.len();
    if count > 0 {
        context.output.print(&(table.render(context.output.width()) + &tools_of(&had)));
    }
    tell(context, &had);
    context.output.say(&counted(count, "server"));
    if count == 0 {
        context
            .output
            .say("`[mcp.servers.NAME]` in the configuration, with `command` or `url`, makes one");
    }
    context.report(&context.app.config_problems());
    Ok(OK)
}

/// Asks the servers whose tools are used. What is wrong in the settings is told by that.
fn had(context: &Context) -> Result<BTreeMap<String, Had>, Failure> {
    let Some(servers) = context.app.tool_servers()? else { return Ok(BTreeMap::new()) };
    let _working = context.output.working("asking servers for their tools");
    block_on(async {
        let listed = servers.list_tools().await;
        servers.close().await;
        let listed = listed.into_iter();
        Ok(listed
            .map(|it| (it.server, it.tools.map_err(|error| server_error_text(&error))))
            .collect())
    })
}

/// Returns the text of an error with its causes and advice.
fn server_error_text(error: &McpClientError) -> String {
    match server_advice(error) {
        Some(advice) => format!("{}; {advice}", with_causes(error)),
        None => with_causes(error),
    }
}

/// The tools, a line each, as `--yes-to` and `metier approvals add` name them.
fn tools_of(had: &BTreeMap<String, Had>) -> String {
    let mut text = String::new();
    for (server, tools) in had {
        for tool in tools.iter().flat_map(|it| &it.tools) {
            let name = styled(style::NAME, format!("mcp:{server}/{}", plain(&tool.name)));
            let said: String = one_line(&tool.description).chars().take(MAX_SAID).collect();
            text.push_str(&format!("{name}  {}\n", styled(style::DIM, plain(&said))));
        }
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn tell(context: &Context, had: &BTreeMap<String, Had>) {
    for tools in had.values() {
        match tools {
            Ok(tools) => {
                let left_out = tools.left_out.iter();
                left_out.for_each(|it| context.output.note(style::WARN, "note: ", &it.to_string()));
            }
            Err(why) => context.output.note(style::WARN, "note: ", why),
        }
    }
}

fn described(server: &McpServer, had: Option<&Had>) -> Value {
    let mut value = json!({
        "name": server.peer.name,
        "used_for": used_for(server),
        "way": way(server),
        "timeout": server.timeout.as_secs(),
    });
    match had {
        None => {}
        Some(Ok(McpToolList { tools, left_out })) => {
            let tools = tools.iter().map(
                |it| json!({ "name": it.name, "description": it.description, "schema": it.schema }),
            );
            value["tools"] = tools.collect();
            value["left_out"] = left_out.iter().map(ToString::to_string).collect();
        }
        Some(Err(why)) => value["error"] = json!(why),
    }
    value
}

fn used_for(server: &McpServer) -> Vec<&'static str> {
    let uses = [(server.has_tools, "tools"), (server.has_skills, "skills")];
    uses.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word).collect()
}

/// The way to a server: its program, which may have secrets among its arguments, or its address.
fn way(server: &McpServer) -> String {
    match &server.peer.transport {
        McpTransport::Command { arguments, .. } => arguments.first().cloned().unwrap_or_default(),
        McpTransport::Http { url, .. } => metier_net::shown_text(url),
    }
}
