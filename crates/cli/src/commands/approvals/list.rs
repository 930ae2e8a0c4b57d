//! `metier approvals list`.

use metier_agent::host::CommandDecision;
use metier_session::{Decision, Rule};
use serde_json::{Value, json};

use super::{joined, safe};
use crate::commands::sessions::ago;
use crate::context::Context;
use crate::coverage::{coverage_cell, coverage_word, idle_words};
use crate::failure::{Failure, OK};
use crate::output::{Align, Column, Table, counted, plain, style};
use metier_app::servers::TOOL_PREFIX;

/// Lists decisions, and what the configuration allows.
pub(super) fn list(context: &Context, agent: Option<&str>, json: bool) -> Result<u8, Failure> {
    let decisions = context.decisions(agent)?;
    let configured = configured(context)?;
    let idle = context.app.idle_approvals(&decisions)?;
    if json {
        let mut all = Vec::new();
        for decision in &decisions {
            all.push(described(context, decision)?);
        }
        all.extend(configured.iter().map(ConfiguredApproval::to_json));
        context.output.json(&all);
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
    for decision in &decisions {
        table.row(row(context, decision)?);
    }
    for ConfiguredApproval { id, pattern, arguments, .. } in &configured {
        let cells = [id.clone(), plain(pattern), arguments.clone(), any(), any()];
        table.row(styled_cells(cells, ["–".to_owned(), "–".to_owned()]));
    }
    let count = decisions.len() + configured.len();
    if count > 0 {
        context.output.print(&table.render(context.output.width()));
    }
    for idle in &idle {
        let (id, reason) = (&idle.id, idle_words(idle));
        context.output.note(style::WARN, "note: ", &format!("{id} {reason}"));
    }
    for (server, lists) in context.app.mcp_allowed() {
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

/// A decision as JSON, with its kind and what it covers, and with nothing masked: programs compare it.
pub(super) fn described(context: &Context, decision: &Decision) -> Result<Value, Failure> {
    let mut value = json!(decision);
    if let Some(CommandDecision::Entry(entry)) = CommandDecision::of(decision.clone()) {
        value["covers"] = json!(coverage_word(&context.app.coverage(&entry)?));
    }
    Ok(value)
}

/// Something that the configuration allows.
struct ConfiguredApproval {
    /// What it is known by.
    id: String,
    /// As it is written.
    pattern: String,
    /// The arguments that it covers, for people.
    arguments: String,
    /// What it covers, for programs; none for a tool.
    covers: Option<&'static str>,
}

impl ConfiguredApproval {
    fn to_json(&self) -> Value {
        let mut value = json!({ "id": self.id, "kind": "settings", "pattern": self.pattern });
        if let Some(covers) = self.covers {
            value["covers"] = json!(covers);
        }
        value
    }
}

/// What the configuration allows.
fn configured(context: &Context) -> Result<Vec<ConfiguredApproval>, Failure> {
    let settings = &context.app.config.approvals;
    let written = [&settings.allow, &settings.allow_any_arguments];
    let entries = context.app.configured_entries()?;
    let mut all = Vec::new();
    for (entry, pattern) in entries.iter().zip(written.into_iter().flat_map(|list| list.iter())) {
        let coverage = context.app.coverage(entry)?;
        all.push(ConfiguredApproval {
            id: entry.id.clone(),
            pattern: pattern.clone(),
            arguments: coverage_cell(entry, &coverage),
            covers: Some(coverage_word(&coverage)),
        });
    }
    let tools = context.app.mcp_allowed().into_iter().flat_map(|(server, lists)| {
        // The first is that of the person.
        let own = lists.into_iter().next().unwrap_or_default().into_iter().zip(1..);
        let entry = move |(tool, number): (String, usize)| ConfiguredApproval {
            id: format!("mcp.servers.{server}.allow:{number}"),
            pattern: format!("{TOOL_PREFIX}{server}/{tool}"),
            arguments: any(),
            covers: None,
        };
        own.map(entry).collect::<Vec<_>>()
    });
    all.extend(tools);
    Ok(all)
}

fn row(context: &Context, decision: &Decision) -> Result<Vec<(anstyle::Style, String)>, Failure> {
    let agent = decision.agent.as_deref().map_or_else(any, plain);
    let last = decision.last_used.map_or_else(|| "never".to_owned(), ago);
    let (program, arguments, directory) = match &decision.rule {
        Rule::Pattern { pattern, directory, .. } => {
            let folder = directory.as_ref().map(|it| plain(&it.to_string_lossy()));
            let arguments = arguments(context, decision)?;
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
            (format!("{TOOL_PREFIX}{}/{}", plain(server), plain(tool)), any(), "–".to_owned())
        }
    };
    let cells = [decision.id.clone(), program, arguments, directory, agent];
    Ok(styled_cells(cells, [decision.uses.to_string(), last]))
}

/// The arguments that an entry covers.
fn arguments(context: &Context, decision: &Decision) -> Result<String, Failure> {
    let Some(CommandDecision::Entry(entry)) = CommandDecision::of(decision.clone()) else {
        return Ok(any());
    };
    Ok(coverage_cell(&entry, &context.app.coverage(&entry)?))
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
