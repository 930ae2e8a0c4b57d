//! `metier skills …`.

mod catalog;
mod docs;
mod explain;
mod info;
pub(super) mod install;
mod lint;
mod list;
mod new;
mod sarif;
mod search;
mod tokens;
mod trust;

use crate::args::{LintFormat, SkillsArgs, SkillsCommand};
use crate::context::Context;
use crate::failure::Failure;

/// Runs one of them.
pub(super) fn run(arguments: SkillsArgs, context: &Context) -> Result<u8, Failure> {
    let sources = arguments.sources;
    match arguments.command {
        SkillsCommand::List { json, all } => list::run(context, &sources, json, all),
        SkillsCommand::Info { name, json } => info::run(context, &sources, &name, json),
        SkillsCommand::Explain { name, json } => explain::run(context, &sources, &name, json),
        SkillsCommand::Docs { name, doc, json } => {
            docs::run(context, &sources, &docs::Wanted { name: &name, doc: doc.as_deref(), json })
        }
        SkillsCommand::Search { query, limit, json } => {
            let query = query.join(" ");
            search::run(context, &sources, &search::Question { query: &query, limit, json })
        }
        SkillsCommand::Catalog { tokens, format, json } => {
            catalog::run(context, &sources, &catalog::Wanted { tokens, format, json })
        }
        SkillsCommand::Tokens { json } => tokens::run(context, &sources, json),
        SkillsCommand::Lint { paths, strict, fix, format, json, .. } => {
            let format = if json { LintFormat::Json } else { format };
            lint::run(context, &sources, &lint::Wanted { paths, strict, fix, format })
        }
        SkillsCommand::Trust { name, yes, json } => {
            trust::run(context, &sources, &trust::Wanted { name: &name, yes, json })
        }
        SkillsCommand::InstallDeps(wanted) => install::run(context, &sources, &wanted),
        SkillsCommand::New { name, dir, description, json } => {
            let wanted = new::Wanted { name: &name, folder: &dir, description, json };
            new::run(context, &wanted)
        }
    }
}
