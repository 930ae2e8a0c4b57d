//! `metier skills search`.

use metier_skill::search::SkillIndex;
use serde_json::json;

use crate::args::SourceArgs;
use crate::context::Context;
use crate::failure::{FAILED, Failure, OK};
use crate::output::{Align, Column, Table, plain, style};

/// What is asked.
pub(super) struct Question<'a> {
    /// In the person's words.
    pub query: &'a str,
    /// How many answers.
    pub limit: usize,
    /// Print JSON.
    pub json: bool,
}

/// Finds skills that may be used.
pub(super) fn run(
    context: &Context,
    sources: &SourceArgs,
    asked: &Question<'_>,
) -> Result<u8, Failure> {
    let snapshot = context.library(sources)?;
    let index = SkillIndex::new(&snapshot, |entry| entry.verdict.is_eligible());
    let hits = index.search(asked.query, asked.limit);
    if asked.json {
        let found = hits.iter().map(|(entry, score)| {
            json!({
                "name": entry.name,
                "description": entry.manifest.description,
                "source": entry.source.label(),
                "path": entry.place.file().to_string_lossy(),
                "score": (f64::from(*score) * 1000.0).round() / 1000.0,
            })
        });
        context.output.json(&found.collect::<Vec<_>>());
        return Ok(if hits.is_empty() { FAILED } else { OK });
    }
    if hits.is_empty() {
        context.output.say("nothing fits; try other words, or `metier skills list`");
        return Ok(FAILED);
    }
    let column = |heading, align, fills| Column { heading, align, fills };
    let mut table = Table::new(&[
        column("NAME", Align::Left, false),
        column("FIT", Align::Right, false),
        column("DESCRIPTION", Align::Left, true),
    ]);
    for (entry, score) in &hits {
        table.row(vec![
            (style::NAME, plain(entry.name.as_str())),
            (style::DIM, format!("{score:.1}")),
            (
                anstyle::Style::new(),
                plain(&metier_skill::catalog::one_line(&entry.manifest.description)),
            ),
        ]);
    }
    context.output.print(&table.render(context.output.width()));
    Ok(OK)
}
