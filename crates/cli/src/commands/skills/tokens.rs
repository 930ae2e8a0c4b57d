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
    /// `SKILL.md`, when the skill is loaded; nothing if it is on another server and was not fetched.
    body: Option<usize>,
    /// All docs together; each is read by itself.
    docs: Option<usize>,
}

impl Cost<'_> {
    fn total(&self) -> usize {
        self.catalog + self.body.unwrap_or_default() + self.docs.unwrap_or_default()
    }
}

/// Shows the costs.
pub(super) fn run(context: &Context, sources: &SourceArgs, json: bool) -> Result<u8, Failure> {
    let snapshot = context.library(sources)?;
    let counts = context.app.token_counts();
    let working = context.output.working("counting tokens");
    let mut costs = Vec::new();
    for entry in snapshot.entries.iter().filter(|entry| !entry.verdict.is_switched_off()) {
        working.set(&format!("counting tokens of {}", entry.name));
        match cost_of(context, entry, &counts) {
            Ok(cost) => costs.push(cost),
            Err(failure) => context.output.say(&plain(&format!("{}: {failure}", entry.name))),
        }
    }
    counts.save();
    drop(working);
    if json {
        context.output.json(&costs);
        return Ok(OK);
    }
    let largest = costs.iter().map(Cost::total).max().unwrap_or(0);
    let column = |heading, align| Column { heading, align, fills: false };
    let mut table = Table::new(&[
        column("NAME", Align::Left),
        column("CATALOG", Align::Right),
        column("BODY", Align::Right),
        column("DOCS", Align::Right),
        column("", Align::Left),
    ]);
    let number = |count: Option<usize>| match count {
        Some(count) => (anstyle::Style::new(), count.to_string()),
        None => (style::DIM, "not fetched".to_owned()),
    };
    for cost in &costs {
        table.row(vec![
            (style::NAME, plain(cost.name)),
            number(Some(cost.catalog)),
            number(cost.body),
            number(cost.docs),
            (style::GOOD, bar(cost.total(), largest, BAR_WIDTH)),
        ]);
    }
    context.output.print(&table.render(context.output.width()));
    let total = |part: fn(&Cost<'_>) -> usize| costs.iter().map(part).sum::<usize>();
    context.output.say(&styled(
        style::DIM,
        format!(
            "catalog {} tokens, bodies {}, docs {}; counted with {}",
            total(|it| it.catalog),
            total(|it| it.body.unwrap_or_default()),
            total(|it| it.docs.unwrap_or_default()),
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
    let name = entry.name.as_str();
    let catalog = entry.tokens.name as usize + entry.tokens.description();
    // To count them would be no reason to fetch the files of a skill.
    let folder = match entry.remote() {
        Some(skill) => context.app.remote_store().folder(skill).ok().flatten(),
        None => Some(context.folder_of(entry)?),
    };
    let Some(folder) = folder else { return Ok(Cost { name, catalog, body: None, docs: None }) };
    let tree = files::list(&folder)?;
    let (mut body, mut docs) = (0, 0);
    let unread = |error| Failure::of_skill(name, &error);
    for file in &tree.entries {
        if files::is_doc(&file.path) {
            docs += files::token_count(&tree, file, counts).map_err(unread)? as usize;
        } else if file.path.eq_ignore_ascii_case("SKILL.md") {
            body += files::token_count(&tree, file, counts).map_err(unread)? as usize;
        }
    }
    Ok(Cost { name, catalog, body: Some(body), docs: Some(docs) })
}
