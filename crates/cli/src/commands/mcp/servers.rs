//! `metier mcp servers`: other servers whose tools and skills are used.

use metier_serve::mcp::client::Way;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::OK;
use crate::mcp::{McpFault, McpServer, McpServers};
use crate::output::{Align, Column, Table, counted, plain, style};

/// Lists the servers of the settings.
pub(super) fn list(context: &Context, json: bool) -> u8 {
    let McpServers { servers, faults } = context.mcp_servers();
    if json {
        let faults = faults.iter().map(|it| json!({ "name": it.name, "error": it.why }));
        let all: Vec<Value> = servers.iter().map(described).chain(faults).collect();
        context.output.json(&all);
        return OK;
    }
    let column = |heading, fills| Column { heading, align: Align::Left, fills };
    let mut table =
        Table::new(&[column("NAME", false), column("USED FOR", false), column("WAY", true)]);
    for server in &servers {
        table.row(vec![
            (style::NAME, server.peer.name.clone()),
            (style::DIM, used_for(server).join(", ")),
            (style::DIM, plain(&way(server))),
        ]);
    }
    for McpFault { name, why } in &faults {
        table.row(vec![
            (style::NAME, name.clone()),
            (style::BAD, "nothing".to_owned()),
            (style::DIM, plain(why)),
        ]);
    }
    let count = servers.len() + faults.len();
    if count > 0 {
        context.output.print(&table.render(context.output.width()));
    }
    context.output.say(&counted(count, "server"));
    context.report(&context.settings.problems);
    OK
}

fn described(server: &McpServer) -> Value {
    json!({
        "name": server.peer.name,
        "used_for": used_for(server),
        "way": way(server),
        "timeout": server.timeout.as_secs(),
    })
}

fn used_for(server: &McpServer) -> Vec<&'static str> {
    let uses = [(server.has_tools, "tools"), (server.has_skills, "skills")];
    uses.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word).collect()
}

/// The way to a server: its program, which may have secrets among its arguments, or its address.
fn way(server: &McpServer) -> String {
    match &server.peer.way {
        Way::Command { arguments, .. } => arguments.first().cloned().unwrap_or_default(),
        Way::Http { url, .. } => url.clone(),
    }
}
