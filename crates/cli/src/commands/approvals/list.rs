//! `metier approvals list`.

use metier_session::{Decision, Rule};
use serde_json::{Value, json};

use super::{joined, safe};
use crate::approvals::CONFIGURED;
use crate::commands::sessions::ago;
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::mcp::NAMED;
use crate::output::{Align, Column, Table, counted, plain, style};

/// Lists decisions, and what the configuration allows.
pub(super) fn list(context: &Context, agent: Option<&str>, json: bool) -> Result<u8, Failure> {
    let decisions = context.decisions(agent)?;
    let configured = configured(context);
    if json {
        let own = configured
            .iter()
            .map(|(id, pattern)| json!({ "id": id, "kind": "settings", "pattern": pattern }));
        context.output.json(&decisions.iter().map(described).chain(own).collect::<Vec<Value>>());
        return Ok(OK);
    }
    let column = |heading, align, fills| Column { heading, align, fills };
    let mut table = Table::new(&[
        column("ID", Align::Left, false),
        column("PROGRAM", Align::Left, false),
        column("ARGUMENTS", Align::Left, true),
        column("IN", Align::Left, false),
        column("AGENT", Align::Left, false),
        column("USES", Align::Right, false),
        column("LAST", Align::Right, false),
    ]);
    decisions.iter().for_each(|decision| table.row(row(decision)));
    for (id, pattern) in &configured {
        let cells = [id.clone(), plain(pattern), any(), any(), any()];
        table.row(styled_cells(cells, ["–".to_owned(), "–".to_owned()]));
    }
    let count = decisions.len() + configured.len();
    if count > 0 {
        context.output.print(&table.render(context.output.width()));
    }
    for (server, lists) in context.mcp_allowed() {
        if lists.len() > 1 {
            let text = format!(
                "the project allows less of `mcp.servers.{server}.allow`: a tool must be in its list too"
            );
            context.output.note(style::WARN, "note: ", &text);
        }
    }
    context.output.say(&counted(count, "approval"));
    Ok(OK)
}

/// A decision as JSON, with its kind, and with nothing masked: programs compare it.
pub(super) fn described(decision: &Decision) -> Value {
    json!(decision)
}

/// What the configuration allows, with what each is known by.
fn configured(context: &Context) -> Vec<(String, String)> {
    let programs = context.settings.list(CONFIGURED).iter().zip(1..);
    let programs = programs.map(|(it, number)| (format!("{CONFIGURED}:{number}"), it.clone()));
    let tools = context.mcp_allowed().into_iter().flat_map(|(server, lists)| {
        // The first is that of the person.
        let own = lists.into_iter().next().unwrap_or_default().into_iter().zip(1..);
        let entry = move |(tool, number): (String, usize)| {
            (format!("mcp.servers.{server}.allow:{number}"), format!("{NAMED}{server}/{tool}"))
        };
        own.map(entry).collect::<Vec<_>>()
    });
    programs.chain(tools).collect()
}

fn row(decision: &Decision) -> Vec<(anstyle::Style, String)> {
    let agent = decision.agent.as_deref().map_or_else(any, plain);
    let last = decision.last_used.map_or_else(|| "never".to_owned(), ago);
    let (program, arguments, directory) = match &decision.rule {
        Rule::Pattern { pattern, arguments, directory } => {
            let folder = directory.as_ref().map(|it| plain(&it.to_string_lossy()));
            let arguments = arguments.as_deref().map_or_else(any, plain);
            (plain(pattern), arguments, folder.unwrap_or_else(any))
        }
        Rule::Exact { program, words, directory, variables, .. } => {
            let variables = variables.iter().map(|(name, value)| format!("{name}={value}"));
            let words: Vec<String> = variables.chain(words.iter().skip(1).cloned()).collect();
            let arguments = format!("exactly: {}", safe(&joined(&words)));
            let [program, folder] = [program, directory].map(|it| plain(&it.to_string_lossy()));
            (program, arguments, folder)
        }
        Rule::Tool { server, tool, .. } => {
            (format!("{NAMED}{}/{}", plain(server), plain(tool)), any(), "–".to_owned())
        }
    };
    let cells = [decision.id.clone(), program, arguments, directory, agent];
    styled_cells(cells, [decision.uses.to_string(), last])
}

fn styled_cells(cells: [String; 5], rest: [String; 2]) -> Vec<(anstyle::Style, String)> {
    let [id, program, arguments, directory, agent] = cells;
    let [uses, last] = rest;
    vec![
        (style::DIM, id),
        (style::NAME, program),
        (style::HEADING.dimmed(), arguments),
        (style::DIM, directory),
        (style::DIM, agent),
        (style::DIM, uses),
        (style::DIM, last),
    ]
}

fn any() -> String {
    "any".to_owned()
}
