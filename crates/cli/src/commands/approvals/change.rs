//! `metier approvals add` and `revoke`.

use std::path::Path;

use metier_agent::Foreign;
use metier_agent::host::{rule_of_entry, rule_of_tool};
use metier_approval::{ArgumentRule, Entry, EntryCoverage, Facts};
use metier_session::{Decision, DecisionStore, Rule};
use metier_skill::catalog::one_line;
use serde_json::json;

use super::list::described;
use crate::args::AddArgs;
use crate::context::Context;
use crate::coverage::covered_words;
use crate::failure::{FAILED, Failure, OK};
use crate::output::{plain, style};
use crate::wait::block_on;
use metier_app::servers::{self, TOOL_PREFIX};

/// Most characters of what a tool says of itself that are shown.
const MAX_SAID: usize = 300;

/// Lets a program run, or a tool of another server be called.
pub(super) fn add(context: &Context, wanted: &AddArgs) -> Result<u8, Failure> {
    if let Some(named) = servers::named_tool(&wanted.pattern) {
        return add_tool(context, wanted, named?);
    }
    let pattern = context.app.program_pattern(&wanted.pattern)?;
    let directory = wanted.dir.as_deref().map(|folder| folder_of(context, folder)).transpose()?;
    let arguments = match &wanted.args {
        Some(pattern) => ArgumentRule::Like(pattern.clone()),
        None if wanted.any_arguments => ArgumentRule::Any,
        None => ArgumentRule::Known,
    };
    let entry = Entry { id: String::new(), pattern, arguments, directory };
    if entry.is_too_wild() {
        let pattern = plain(&wanted.pattern);
        return Err(Failure::usage(format!("`{pattern}` has too many wildcards, or is too long"))
            .hint("write a shorter pattern, with fewer `*`"));
    }
    if !entry.is_readable() {
        let arguments = wanted.args.as_deref().unwrap_or_default();
        return Err(Failure::usage(format!(
            "`{arguments}` is no regular expression, or too large"
        ))
        .hint("for example `status( --short)?`; it must match all arguments together"));
    }
    let coverage = context.app.coverage(&entry)?;
    if let EntryCoverage::Nothing { because } = &coverage {
        return Err(Failure::usage(format!("an entry for the name alone would cover nothing: {because}"))
            .hint("`--args REGEX` covers arguments that match; `--any-arguments` covers all, also those that run other programs"));
    }
    let covered = covered_words(&entry, &coverage);
    let is_missing = is_missing(context, &entry);
    let rule = rule_of_entry(entry);
    let store = context.app.sessions()?;
    let decision = block_on(async { Ok(store.decide(wanted.agent.as_deref(), rule).await?) })?;
    if wanted.json {
        context.output.json(&described(context, &decision)?);
    } else {
        context.output.print(&format!("allowed {}", sentence(&decision)));
        context.output.print(&format!("covers {covered}"));
        if is_missing {
            let note = format!("there is no program `{}` here yet", plain(&wanted.pattern));
            context.output.note(style::WARN, "note: ", &note);
        }
    }
    Ok(OK)
}

/// Lets a tool be called as long as its server describes it as it does now.
fn add_tool(
    context: &Context,
    wanted: &AddArgs,
    (server, tool): (String, String),
) -> Result<u8, Failure> {
    if wanted.args.is_some() || wanted.any_arguments || wanted.dir.is_some() {
        return Err(Failure::usage(
            "`--args`, `--any-arguments` and `--dir` are about programs, not about tools",
        )
        .hint("leave them out"));
    }
    if tool.contains('*') {
        return Err(Failure::usage(format!("`{}` is not one tool", plain(&wanted.pattern)))
            .hint(format!("`mcp.servers.{server}.allow` in the configuration takes patterns")));
    }
    let names = context.app.mcp_names();
    let Some(servers) = context.app.tool_servers()?.filter(|_| names.has(&server)) else {
        return Err(Failure::usage(format!("no tools of a server `{server}` are used"))
            .hint(format!("`[mcp.servers.{server}]` in the configuration describes one")));
    };
    if !names.has(&format!("{server}/{tool}")) {
        return Err(Failure::usage(format!("`{tool}` of the server `{server}` is switched off"))
            .hint(format!("look at `mcp.servers.{server}.deny` in the configuration")));
    }
    let store = context.app.sessions()?;
    let working = context.output.working(&format!("asking {server} for its tools"));
    let (definition, decision) = block_on(async {
        let definition = servers.tool(&server, &tool).await;
        servers.close().await;
        let definition = definition.map_err(|error| {
            let why = error.to_string();
            Failure::new(why).hint("`metier mcp servers` shows servers, and the tools they have")
        })?;
        let rule = rule_of_tool(definition.pinned());
        let decision = store.decide(wanted.agent.as_deref(), rule).await?;
        Ok((definition, decision))
    })?;
    drop(working);
    if wanted.json {
        context.output.json(&described(context, &decision)?);
    } else {
        context.output.print(&format!("allowed {}", sentence(&decision)));
        let said: String = one_line(&definition.description).chars().take(MAX_SAID).collect();
        context.output.note(style::DIM, "it says of itself: ", &said);
    }
    Ok(OK)
}

/// Takes decisions back. What is not there does not keep the others from being taken back.
pub(super) fn revoke(context: &Context, ids: &[String], json: bool) -> Result<u8, Failure> {
    let store = context.app.existing_sessions()?;
    let (mut revoked, mut unknown) = (Vec::new(), Vec::new());
    for id in ids {
        let was_there = match &store {
            Some(store) => block_on(async { Ok(store.revoke(id).await?) })?,
            None => false,
        };
        if was_there { revoked.push(id) } else { unknown.push(id) }
    }
    if json {
        context.output.json(&json!({ "revoked": revoked, "unknown": unknown }));
    } else {
        for id in &revoked {
            context.output.print(&format!("revoked {}", plain(id)));
        }
        for id in &unknown {
            context.output.failure(
                &Failure::new(format!("there is no approval `{id}`"))
                    .hint("`metier approvals list` shows those there are"),
            );
        }
    }
    Ok(if unknown.is_empty() { OK } else { FAILED })
}

/// The folder of an entry, with all links followed: it is compared with where commands really run.
fn folder_of(context: &Context, folder: &Path) -> Result<std::path::PathBuf, Failure> {
    let text = folder.to_string_lossy();
    let folder = context.app.environment.expand(&text, &context.app.environment.folder);
    let found = context.app.machine().folder(&folder);
    found.map(|found| found.real).ok_or_else(|| {
        Failure::usage(format!("`{}` is not a folder", folder.display()))
            .hint("a program is allowed in folders that are there")
    })
}

/// Whether an entry names one program that is not there.
fn is_missing(context: &Context, entry: &Entry) -> bool {
    !entry.pattern.contains(['*', '?'])
        && context.app.machine().executable(Path::new("/"), &entry.pattern).is_none()
}

/// What a decision allows, in words.
fn sentence(decision: &Decision) -> String {
    let Decision { id, agent, rule, .. } = decision;
    let (mut text, arguments, directory) = match rule {
        Rule::Pattern { pattern, arguments, directory, .. } => {
            (plain(pattern), arguments.as_deref(), directory.as_deref())
        }
        Rule::Tool { server, tool, .. } => {
            (format!("{}{}/{}", TOOL_PREFIX, plain(server), plain(tool)), None, None)
        }
        Rule::Exact { .. } => return plain(id),
    };
    if let Some(arguments) = arguments {
        text.push_str(&format!(" with arguments like `{}`", plain(arguments)));
    }
    if let Some(folder) = directory {
        text.push_str(&format!(" in {}", plain(&folder.to_string_lossy())));
    }
    if let Some(agent) = agent {
        text.push_str(&format!(" for {}", plain(agent)));
    }
    format!("{text} as {id}")
}
