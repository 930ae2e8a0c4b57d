//! `metier skills docs`.

use std::io::ErrorKind;

use metier_skill::files::{self, FileKind};
use serde_json::json;

use crate::args::SourceArgs;
use crate::commands::skills::info::human_size;
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{plain, plain_block, style, styled};

/// Which docs.
pub(super) struct Wanted<'a> {
    /// The skill.
    pub name: &'a str,
    /// The doc; all are listed if none is given.
    pub doc: Option<&'a str>,
    /// Print JSON.
    pub json: bool,
}

/// Lists docs, or prints one.
pub(super) fn run(
    context: &Context,
    sources: &SourceArgs,
    wanted: &Wanted<'_>,
) -> Result<u8, Failure> {
    let snapshot = context.library(sources)?;
    let entry = context.find(&snapshot, wanted.name)?;
    let folder = context.folder_of(entry)?;
    let tree = files::list(&folder)?;
    let docs: Vec<(&str, u64)> = tree
        .docs()
        .map(|doc| match &doc.kind {
            FileKind::File { size, .. } => (doc.path.as_str(), *size),
            FileKind::Link { .. } => (doc.path.as_str(), 0),
        })
        .collect();
    let Some(path) = wanted.doc else {
        if wanted.json {
            let list = docs.iter().map(|(path, size)| json!({ "path": path, "size": size }));
            context.output.json(&list.collect::<Vec<_>>());
        } else if docs.is_empty() {
            context.output.say(&format!("{} has no docs", plain(wanted.name)));
        } else {
            let lines = docs.iter().map(|(path, size)| {
                format!(
                    "{}  {}\n",
                    styled(style::DIM, format!("{:>10}", human_size(*size))),
                    plain(path)
                )
            });
            context.output.print(&lines.collect::<String>());
        }
        return Ok(OK);
    };
    let doc = tree.read_doc(path).map_err(|error| {
        let failure = match error.kind() {
            ErrorKind::NotFound => Failure::new(format!("`{}` has no doc `{path}`", wanted.name)),
            _ => {
                Failure::new(format!("cannot read the doc `{path}` of `{}`: {error}", wanted.name))
                    .hint("make it readable for you")
            }
        };
        let names: Vec<&str> = docs.iter().map(|(path, _)| *path).collect();
        match names.as_slice() {
            [] => failure.hint("it has no docs"),
            names => failure.hint(format!("its docs are: {}", names.join(", "))),
        }
    })?;
    if wanted.json {
        context.output.json(&json!({ "path": path, "text": doc.text, "truncated": doc.truncated }));
    } else {
        context.output.print(&plain_block(&doc.text));
        if doc.truncated {
            context.output.say("the rest was cut: a doc is read up to 1 MiB");
        }
    }
    Ok(OK)
}
