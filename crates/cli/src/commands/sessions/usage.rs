//! `metier usage`: what models were paid, and what for.

use metier_session::{SessionStore, Tokens, UsageFilter, UsageReport};
use serde_json::{Value, json};

use super::{find, is_of_exec_alone, store};
use crate::args::UsageArgs;
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{Align, Column, Table, plain, style};
use crate::wait::block_on;

/// Shows the tokens of all sessions, or of one that is there.
pub(in crate::commands) fn usage(arguments: &UsageArgs, context: &Context) -> Result<u8, Failure> {
    if let Some(name) = &arguments.session
        && !is_of_exec_alone(context, name)?
    {
        let store = store(context, name)?;
        block_on(find(context, &store, name))?;
    }
    show_usage(arguments, context)
}

/// The same, where one that has not begun is one without tokens.
pub(in crate::commands) fn show_usage(
    arguments: &UsageArgs,
    context: &Context,
) -> Result<u8, Failure> {
    let filter = UsageFilter {
        app: Some(context.app.principal.app.clone()),
        user: Some(context.app.principal.user.clone()),
        session: arguments.session.clone(),
        ..UsageFilter::default()
    };
    let report = match context.app.existing_sessions()? {
        Some(store) => block_on(async { Ok(store.usage(&filter).await?) })?,
        None => UsageReport::default(),
    };
    if arguments.json {
        context.output.json(&described(&report));
        return Ok(OK);
    }
    if report.total.replies == 0 {
        context.output.say("no model has replied yet");
        return Ok(OK);
    }
    context.output.print(&table(&report).render(context.output.width()));
    Ok(OK)
}

fn table(report: &UsageReport) -> Table {
    let column = |heading, align, fills| Column { heading, align, fills };
    let mut table = Table::new(&[
        column("FOR", Align::Left, true),
        column("REPLIES", Align::Right, false),
        column("READ", Align::Right, false),
        column("CACHED", Align::Right, false),
        column("WRITTEN", Align::Right, false),
    ]);
    let mut row = |name: String, tokens: &Tokens| {
        table.row(vec![
            (style::NAME, name),
            (style::DIM, tokens.replies.to_string()),
            (style::DIM, tokens.input.to_string()),
            (style::DIM, share(tokens)),
            (style::DIM, tokens.output.to_string()),
        ]);
    };
    for (model, tokens) in &report.by_model {
        row(format!("model {}", plain(model)), tokens);
    }
    for (skill, tokens) in &report.by_skill {
        row(format!("skill {}", plain(skill)), tokens);
    }
    row("all".to_owned(), &report.total);
    table
}

/// The share of what was read that came from a cache.
fn share(tokens: &Tokens) -> String {
    let cached = tokens.cached_input.saturating_mul(100);
    match cached.checked_div(tokens.input) {
        Some(percent) => format!("{percent} %"),
        None => "–".to_owned(),
    }
}

fn described(report: &UsageReport) -> Value {
    let by_session = report.by_session.iter().map(|(key, tokens)| (key.session(), tokens));
    json!({
        "total": report.total,
        "by_model": report.by_model,
        "by_skill": report.by_skill,
        "by_session": by_session.map(|(name, it)| (name.to_owned(), json!(it))).collect::<serde_json::Map<_, _>>(),
        "by_day": report.by_day,
    })
}
