//! `metier sessions list`.

use std::time::{SystemTime, UNIX_EPOCH};

use metier_session::Session;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{Align, Column, Table, counted, plain, style};
use crate::wait::block_on;

/// Lists the sessions, those that were used last first.
pub(super) fn list(context: &Context, json: bool) -> Result<u8, Failure> {
    let sessions = block_on(async { Ok(context.app.list_sessions().await?) })?;
    if json {
        context.output.json(&sessions.iter().map(described).collect::<Vec<Value>>());
        return Ok(OK);
    }
    let column = |heading, align, fills| Column { heading, align, fills };
    let mut table = Table::new(&[
        column("SESSION", Align::Left, false),
        column("TASKS", Align::Right, false),
        column("USED", Align::Right, false),
        column("BEGAN WITH", Align::Left, true),
    ]);
    for session in &sessions {
        table.row(vec![
            (style::NAME, plain(session.at.key.session())),
            (style::DIM, session.turns.to_string()),
            (style::DIM, ago(session.updated)),
            (style::DIM, plain(session.title.as_deref().unwrap_or_default())),
        ]);
    }
    if !sessions.is_empty() {
        context.output.print(&table.render(context.output.width()));
    }
    context.output.say(&counted(sessions.len(), "session"));
    Ok(OK)
}

fn described(session: &Session) -> Value {
    json!({
        "session": session.at.key.session(),
        "created": session.created,
        "updated": session.updated,
        "events": session.seq,
        "tasks": session.turns,
        "title": session.title,
    })
}

/// How long ago a moment is, in the largest unit that fits.
pub(in crate::commands) fn ago(milliseconds: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let seconds = now.saturating_sub(milliseconds / 1000);
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}
