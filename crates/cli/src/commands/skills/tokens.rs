//! `metier skills tokens`: what each skill costs a model, in each layer.

use metier_skill::files::{self, TokenCache};
use metier_skill::library::Entry;
use serde::Serialize;

use crate::args::SourceArgs;
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{Align, Column, Table, bar, plain, style, styled};

/// Columns of the bar.
const BAR_WIDTH: usize = 20;

#[derive(Serialize)]
struct Cost<'a> {
    name: &'a str,
    /// In the catalog, always.
    catalog: usize,
    /// `SKILL.md`, when the skill is loaded.
    body: usize,
    /// All docs together; each is read by itself.
    docs: usize,
}

/// Shows the costs.
pub(super) fn run(context: &Context, sources: &SourceArgs, json: bool) -> Result<u8, Failure> {
    let snapshot = context.library(sources)?;
    let counts = context.token_counts();
    let mut costs = Vec::new();
    for entry in snapshot.entries.iter().filter(|entry| !entry.verdict.is_switched_off()) {
        match cost_of(context, entry, &counts) {
            Ok(cost) => costs.push(cost),
            Err(failure) => context.output.say(&plain(&format!("{}: {failure}", entry.name))),
        }
    }
    counts.save();
    if json {
        context.output.json(&costs);
        return Ok(OK);
    }
    let largest = costs.iter().map(|cost| cost.catalog + cost.body + cost.docs).max().unwrap_or(0);
    let column = |heading, align| Column { heading, align, fills: false };
    let mut table = Table::new(&[
        column("NAME", Align::Left),
        column("CATALOG", Align::Right),
        column("BODY", Align::Right),
        column("DOCS", Align::Right),
        column("", Align::Left),
    ]);
    for cost in &costs {
        table.row(vec![
            (style::NAME, plain(cost.name)),
            (anstyle::Style::new(), cost.catalog.to_string()),
            (anstyle::Style::new(), cost.body.to_string()),
            (anstyle::Style::new(), cost.docs.to_string()),
            (style::GOOD, bar(cost.catalog + cost.body + cost.docs, largest, BAR_WIDTH)),
        ]);
    }
    context.output.print(&table.render(context.output.width()));
    let total = |part: fn(&Cost<'_>) -> usize| costs.iter().map(part).sum::<usize>();
    context.output.say(&styled(
        style::DIM,
        format!(
            "catalog {} tokens, bodies {}, docs {}; counted with {}",
            total(|it| it.catalog),
            total(|it| it.body),
            total(|it| it.docs),
            metier_skill::tokens::ENCODING
        ),
    ));
    Ok(OK)
}

fn cost_of<'a>(
    context: &Context,
    entry: &'a Entry,
    counts: &TokenCache,
) -> Result<Cost<'a>, Failure> {
    let mut cost = Cost {
        name: entry.name.as_str(),
        catalog: entry.tokens.name as usize + entry.tokens.description(),
        body: 0,
        docs: 0,
    };
    // To count them would be no reason to fetch the files of a skill.
    if entry.remote().is_some() {
        return Ok(cost);
    }
    let folder = context.folder_of(entry)?;
    let tree = files::list(&folder).map_err(|error| Failure::of(&error))?;
    for file in &tree.entries {
        if files::is_doc(&file.path) {
            cost.docs += files::token_count(&tree, file, counts)? as usize;
        } else if file.path.eq_ignore_ascii_case("SKILL.md") {
            cost.body += files::token_count(&tree, file, counts)? as usize;
        }
    }
    Ok(cost)
}
