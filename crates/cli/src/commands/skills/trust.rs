//! `metier skills trust`: a person says that a skill of another server may be used as it is told of now.
//!
//! What is shown comes from the server's list alone; files are not fetched to be trusted, and each is compared with
//! what was trusted when it is.

use metier_skill::catalog::one_line;
use metier_skill::library::{Entry, TrustStore};
use metier_skill::remote::RemoteSkill;
use serde_json::{Value, json};

use super::info::human_size;
use super::list::status;
use crate::args::SourceArgs;
use crate::ask::{can_ask, confirm};
use crate::context::Context;
use crate::failure::{FAILED, Failure, OK};
use crate::output::{counted, plain, style, styled, wrapped};

/// Whom to trust, and how to say it.
pub(super) struct Wanted<'a> {
    /// The skill.
    pub name: &'a str,
    /// Nobody has to be asked.
    pub yes: bool,
    /// Print JSON.
    pub json: bool,
}

/// Shows a skill, asks, and records the answer.
pub(super) fn run(
    context: &Context,
    sources: &SourceArgs,
    wanted: &Wanted<'_>,
) -> Result<u8, Failure> {
    let snapshot = context.library(sources)?;
    let entry = context.find(&snapshot, wanted.name)?;
    let Some(skill) = entry.remote() else {
        let failure = Failure::usage(format!("`{}` is not on another server", entry.name));
        return Err(failure.hint("`metier trust` is for skills of projects"));
    };
    if !wanted.json {
        context.output.print(&page(entry, skill, context.output.width()));
    }
    if !wanted.yes {
        if wanted.json || !can_ask() {
            return Err(Failure::usage("nobody is there to be asked")
                .hint("`--yes` trusts it without a question"));
        }
        if !confirm(&context.output, "Trust it as it is now?")? {
            context.output.say("not trusted");
            return Ok(FAILED);
        }
    }
    // Read now: another command may have written while somebody looked at it.
    let mut store = TrustStore::load(&context.app.trust_file())?;
    if !store.trust_remote(skill) {
        return Err(Failure::new(format!(
            "`{}` cannot be trusted: its files are made when they are asked for",
            entry.name
        ))
        .hint("ask whoever runs the server for a skill of files"));
    }
    store.save()?;
    if wanted.json {
        context.output.json(&details(entry, skill));
    } else {
        context.output.say(&format!("trusted: {}", plain(&skill.full_name())));
    }
    Ok(OK)
}

/// Shows what is told of a skill.
pub(super) fn show(context: &Context, entry: &Entry, skill: &RemoteSkill, json: bool) {
    if json {
        context.output.json(&details(entry, skill));
    } else {
        context.output.print(&page(entry, skill, context.output.width()));
    }
}

fn details(entry: &Entry, skill: &RemoteSkill) -> Value {
    let file = |file: &metier_skill::remote::RemoteFile| {
        let digest = format!("sha256:{}", file.digest);
        json!({ "path": file.path, "uri": file.uri, "size": file.size, "digest": digest })
    };
    json!({
        "name": entry.name,
        "description": entry.manifest.description,
        "source": entry.source.label(),
        "server": skill.server,
        "uri": skill.uri,
        "digest": skill.digest(),
        "eligible": entry.verdict.is_eligible(),
        "frontmatter": skill.frontmatter,
        "files": skill.files.as_ref().map(|files| files.iter().map(file).collect::<Vec<_>>()),
    })
}

fn page(entry: &Entry, skill: &RemoteSkill, width: usize) -> String {
    let mut text = format!(
        "{}\n{}\n\n",
        styled(style::NAME, plain(entry.name.as_str())),
        wrapped(&one_line(&entry.manifest.description), width)
    );
    let mut line = |name: &str, value: String| {
        text.push_str(&format!("{}  {value}\n", styled(style::DIM, format!("{name:>13}"))));
    };
    let (state_style, state) = status(entry);
    line("status", styled(state_style, state));
    line("source", entry.source.to_string());
    line("server", plain(skill.server.as_str()));
    line("address", plain(&skill.uri));
    let shown = ["name", "description"];
    for (field, value) in skill.frontmatter.iter().filter(|(it, _)| !shown.contains(&it.as_str())) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        line(&plain(field), plain(&one_line(&value)));
    }
    let Some(files) = &skill.files else {
        line("files", "made when they are asked for".to_owned());
        return text;
    };
    text.push_str(&format!("\n{}\n", styled(style::HEADING, counted(files.len(), "file"))));
    for file in files {
        let digest = styled(style::DIM, format!("sha256:{}", file.digest));
        let size = human_size(file.size);
        text.push_str(&format!("{size:>10}  {}  {digest}\n", plain(&file.path)));
    }
    text
}
