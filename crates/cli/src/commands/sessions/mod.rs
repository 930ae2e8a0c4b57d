//! `metier sessions` and `metier usage`.

mod list;
mod remove;
mod show;
mod usage;

use std::io::{self, IsTerminal};

use metier_session::{Export, Session, SessionError, SessionStore, SqliteStore};

pub(super) use list::ago;
use show::View;
pub(super) use usage::{show_usage, usage};

use crate::args::{SessionsArgs, SessionsCommand};
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::wait::block_on;

/// Does what was asked with sessions.
pub(super) fn run(arguments: &SessionsArgs, context: &Context) -> Result<u8, Failure> {
    match &arguments.command {
        SessionsCommand::List { json } => list::list(context, *json),
        SessionsCommand::Show { session, details, json } => {
            show::show(context, session, View { json: *json, details: *details })
        }
        SessionsCommand::Rm { session, json } => remove::remove(context, session, *json),
        SessionsCommand::Export { session } => export(context, session),
    }
}

/// Prints a session as lines of JSON, from which it can be made again.
fn export(context: &Context, name: &str) -> Result<u8, Failure> {
    let store = store(context, name)?;
    block_on(async {
        let session = find(context, &store, name).await?;
        // On a terminal the lines themselves show that it goes on.
        let is_seen = io::stdout().is_terminal();
        let _working = (!is_seen).then(|| context.output.working("exporting"));
        let mut lines = Export::new(&store, &session.at);
        while let Some(line) = lines.next_line().await? {
            context.output.print(&line);
        }
        Ok(OK)
    })
}

/// Whether a session is a workspace that `exec` made and nothing else.
fn is_of_exec_alone(context: &Context, name: &str) -> Result<bool, Failure> {
    let key = context.workspace_key(name)?;
    Ok(key.generation == 0 && context.app.workspaces()?.exists(&key))
}

/// The database, which a session that is there must be in.
fn store(context: &Context, name: &str) -> Result<SqliteStore, Failure> {
    Ok(context.app.existing_sessions()?.ok_or_else(|| none_named(name))?)
}

/// The session of a name.
async fn find(context: &Context, store: &SqliteStore, name: &str) -> Result<Session, Failure> {
    Ok(store.get(&context.app.session_key(name)?).await?.ok_or_else(|| none_named(name))?)
}

fn none_named(name: &str) -> SessionError {
    SessionError::NotFound { session: name.escape_debug().to_string() }
}
