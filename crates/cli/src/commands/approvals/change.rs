//! `metier approvals add` and `revoke`.

use std::path::Path;

use metier_approval::{Entry, Facts};
use metier_session::{Decision, DecisionStore, Rule};
use serde_json::json;

use super::list::described;
use crate::args::AddArgs;
use crate::context::Context;
use crate::failure::{FAILED, Failure, OK};
use crate::output::{plain, style};
use crate::runs::block_on;

/// Lets a program run.
pub(super) fn add(context: &Context, wanted: &AddArgs) -> Result<u8, Failure> {
    let pattern = context.program_pattern(&wanted.pattern)?;
    let directory = wanted.dir.as_deref().map(|folder| folder_of(context, folder)).transpose()?;
    let arguments = wanted.args.clone();
    let entry = Entry { id: String::new(), pattern, arguments, directory };
    if entry.is_too_wild() {
        let pattern = plain(&wanted.pattern);
        return Err(Failure::usage(format!("`{pattern}` has too many wildcards, or is too long")));
    }
    if !entry.is_readable() {
        let arguments = wanted.args.as_deref().unwrap_or_default();
        return Err(Failure::usage(format!(
            "`{arguments}` is no regular expression, or too large"
        ))
        .hint("for example `status( --short)?`; it must match all arguments together"));
    }
    let note = narrowness(context, &entry);
    let Entry { pattern, arguments, directory, .. } = entry;
    let rule = Rule::Pattern { pattern, arguments, directory };
    let store = context.sessions()?;
    let decision = block_on(async { Ok(store.decide(wanted.agent.as_deref(), rule).await?) })?;
    if wanted.json {
        context.output.json(&described(&decision));
    } else {
        context.output.print(&format!("allowed {}", sentence(&decision)));
        if let Some(note) = note {
            context.output.note(style::WARN, "note: ", &note);
        }
    }
    Ok(OK)
}

/// Takes decisions back. What is not there does not keep the others from being taken back.
pub(super) fn revoke(context: &Context, ids: &[String], json: bool) -> Result<u8, Failure> {
    let store = context.existing_sessions()?;
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
    let folder = context.environment.expand(&text, &context.environment.folder);
    let found = context.machine().folder(&folder);
    found.map(|found| found.real).ok_or_else(|| {
        Failure::usage(format!("`{}` is not a folder", folder.display()))
            .hint("a program is allowed in folders that are there")
    })
}

/// What an entry does not do, although one could think so.
fn narrowness(context: &Context, entry: &Entry) -> Option<String> {
    let pattern = &entry.pattern;
    let Some(found) = context.machine().executable(Path::new("/"), pattern) else {
        let is_one = !pattern.contains(['*', '?']);
        return is_one.then(|| format!("there is no program `{pattern}` here yet"));
    };
    entry.limits(&found).map(|because| {
        format!("{because}; without `--args` only uses that are known to be harmless are allowed")
    })
}

/// What a decision allows, in words.
fn sentence(decision: &Decision) -> String {
    let Decision { id, agent, rule, .. } = decision;
    let Rule::Pattern { pattern, arguments, directory } = rule else { return plain(id) };
    let mut text = plain(pattern);
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
