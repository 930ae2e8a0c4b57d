//! How many appends a database takes: many sessions at once, each waiting for its own.
//!
//! ```text
//! cargo run --release -p metier-session --example append_load -- load.db 1000 20
//! ```
//!
//! The file must not exist. Prints one line: sessions, appends, seconds, appends a second, and the
//! middle and the longest wait in milliseconds.

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use metier_session::content::UserMessage;
use metier_session::{Content, NewEvent, SessionError, SessionKey, SessionStore, SqliteStore};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, sessions, appends] = &arguments[..] else {
        return Err("give a file, a number of sessions, and how often each appends".into());
    };
    if Path::new(file).exists() {
        return Err(format!("`{file}` is there already: choose another file").into());
    }
    let (sessions, appends): (usize, usize) = (sessions.parse()?, appends.parse()?);
    let store = Arc::new(SqliteStore::open(Path::new(file))?);
    let began = Instant::now();
    let talks: Vec<_> = (0..sessions)
        .map(|number| tokio::spawn(talk(Arc::clone(&store), number, appends)))
        .collect();
    let mut waits = Vec::new();
    for talk in talks {
        waits.extend(talk.await??);
    }
    let seconds = began.elapsed().as_secs_f64();
    waits.sort_unstable();
    let milliseconds = |wait: Option<&Duration>| wait.map_or(0.0, |wait| wait.as_secs_f64() * 1e3);
    writeln!(
        io::stdout(),
        "{sessions} sessions, {} appends, {seconds:.2} s, {:.0}/s, waits {:.1} ms, longest {:.1} ms",
        waits.len(),
        waits.len() as f64 / seconds,
        milliseconds(waits.get(waits.len() / 2)),
        milliseconds(waits.last()),
    )?;
    Ok(())
}

/// Appends so often to a session of its own; gives how long each took.
async fn talk(
    store: Arc<SqliteStore>,
    number: usize,
    appends: usize,
) -> Result<Vec<Duration>, SessionError> {
    let key = SessionKey::new("load", "nobody", &number.to_string())?;
    let mut session = store.create(&key).await?;
    let mut waits = Vec::with_capacity(appends);
    for _ in 0..appends {
        let message = UserMessage { text: "x".repeat(500), ..UserMessage::default() };
        let event = NewEvent::new("nobody", Content::User(message));
        let began = Instant::now();
        session.seq += store.append(&session.at, session.seq, vec![event]).await?.len() as u64;
        waits.push(began.elapsed());
    }
    Ok(waits)
}
