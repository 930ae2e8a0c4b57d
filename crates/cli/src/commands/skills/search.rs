//! `metier skills search`.

use std::fs;

use metier_skill::header::{Frame, decode};
use metier_skill::library::{Entry, Place};
use metier_skill::search::{Document, Index, headings};
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
    let eligible: Vec<(&Entry, Vec<String>)> = snapshot
        .entries
        .iter()
        .filter(|entry| entry.verdict.is_eligible())
        .map(|entry| (entry, headings_of(entry)))
        .collect();
    let index = Index::new(eligible.iter().map(|(entry, headings)| Document {
        name: entry.name.as_str(),
        description: &entry.manifest.description,
        headings,
    }));
    let hits = index.search(asked.query, asked.limit);
    if asked.json {
        let found = hits.iter().map(|hit| {
            let entry = eligible[hit.document].0;
            json!({
                "name": entry.name,
                "description": entry.manifest.description,
                "source": entry.source.label(),
                "path": entry.place.file().to_string_lossy(),
                "score": (f64::from(hit.score) * 1000.0).round() / 1000.0,
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
    for hit in &hits {
        let entry = eligible[hit.document].0;
        table.row(vec![
            (style::NAME, plain(entry.name.as_str())),
            (style::DIM, format!("{:.1}", hit.score)),
            (
                anstyle::Style::new(),
                plain(&metier_skill::catalog::one_line(&entry.manifest.description)),
            ),
        ]);
    }
    context.output.print(&table.render(context.output.width()));
    Ok(OK)
}

/// The headings of a skill's body; none if it cannot be read.
fn headings_of(entry: &Entry) -> Vec<String> {
    let bytes = match &entry.place {
        Place::Folder { file, .. } => fs::read(file).unwrap_or_default(),
        Place::Bundled(skill) => skill.skill_file().to_vec(),
        Place::Remote(_) => Vec::new(),
    };
    let (text, _) = decode(&bytes);
    let start = Frame::find(text.as_bytes()).map_or(0, |frame| frame.body.start);
    headings(&text[start..])
}
