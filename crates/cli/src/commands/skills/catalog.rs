//! `metier skills catalog`.

use metier_skill::catalog::Format;
use metier_skill::library::Place;
use serde_json::json;

use crate::args::{CatalogFormat, SourceArgs};
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{plain_block, style, styled};

/// Which catalog.
pub(super) struct Wanted {
    /// Tokens it may cost.
    pub tokens: Option<usize>,
    /// How it is written.
    pub format: CatalogFormat,
    /// Print JSON.
    pub json: bool,
}

/// Prints what a model is told.
pub(super) fn run(context: &Context, sources: &SourceArgs, wanted: &Wanted) -> Result<u8, Failure> {
    let mut snapshot = context.library(sources)?;
    let format = match wanted.format {
        CatalogFormat::Lines => Format::Lines,
        CatalogFormat::Xml => Format::Xml,
    };
    if format == Format::Xml {
        // A location must be a file that can be read.
        for entry in &mut snapshot.entries {
            if let Place::Bundled(_) = entry.place {
                let folder = context.folder_of(entry)?;
                entry
                    .unpacked(&folder)
                    .map_err(|error| Failure::of_skill(entry.name.as_str(), &error))?;
            }
        }
    }
    let catalog = snapshot
        .catalog(wanted.tokens.unwrap_or(*context.app.config.skills.catalog_tokens), format);
    let report = catalog.report;
    if wanted.json {
        context.output.json(&json!({ "text": catalog.text, "report": report }));
        return Ok(OK);
    }
    context.output.print(&plain_block(&catalog.text));
    context.report(&snapshot.problems);
    context.output.say(&styled(
        style::DIM,
        format!(
            "{} skills: {} in full, {} shortened, {} by name only, {} by search only; at most {} tokens",
            report.total, report.full, report.shortened, report.names_only, report.unlisted, report.tokens
        ),
    ));
    Ok(OK)
}
