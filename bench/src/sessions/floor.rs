//! The floor: what SQLite takes to write the same events down, by itself and on one thread.
//!
//! The rows are those that the sessions left, with the same durability (a write-ahead log, synced
//! at each commit), without any of the checks, states and titles of a session.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rusqlite::{Connection, params};

/// About as many rows to a commit as a store of sessions takes appends.
pub(super) const GROUP: usize = 256;
/// Commits of one row.
const SINGLE: usize = 500;

/// What writing the rows took.
#[derive(Clone, Debug)]
pub(crate) struct Floor {
    /// Rows a second, many to a commit.
    pub(crate) rows_a_second: f64,
    /// How long each commit of one row took.
    pub(crate) single: Vec<Duration>,
}

struct Row {
    session: i64,
    seq: i64,
    time: i64,
    kind: String,
    note: Option<String>,
    body: String,
}

/// Writes the events of a database into another, which must not exist.
pub(crate) fn measure(from: &Path, to: &Path) -> Result<Floor> {
    let rows = read(from)?;
    let mut database = Connection::open(to)?;
    database.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    database.pragma_update(None, "synchronous", "FULL")?;
    for table in ["grouped", "single"] {
        database.execute_batch(&format!(
            "CREATE TABLE {table} (generation INTEGER NOT NULL, seq INTEGER NOT NULL,
             time INTEGER NOT NULL, kind TEXT NOT NULL, note TEXT, body TEXT NOT NULL,
             PRIMARY KEY (generation, seq)) STRICT"
        ))?;
    }
    let began = Instant::now();
    for group in rows.chunks(GROUP) {
        insert(&mut database, "grouped", group)?;
    }
    let rows_a_second = rows.len() as f64 / began.elapsed().as_secs_f64();
    let mut single = Vec::new();
    for row in rows.chunks(1).take(SINGLE) {
        let began = Instant::now();
        insert(&mut database, "single", row)?;
        single.push(began.elapsed());
    }
    Ok(Floor { rows_a_second, single })
}

fn insert(database: &mut Connection, table: &str, rows: &[Row]) -> Result<()> {
    let transaction = database.transaction()?;
    for Row { session, seq, time, kind, note, body } in rows {
        let text = format!("INSERT INTO {table} VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
        let mut insert = transaction.prepare_cached(&text)?;
        insert.execute(params![session, seq, time, kind, note, body])?;
    }
    Ok(transaction.commit()?)
}

fn read(path: &Path) -> Result<Vec<Row>> {
    let database = Connection::open(path)?;
    // As they came: those of all sessions mixed.
    let mut select = database
        .prepare("SELECT generation, seq, time, kind, note, body FROM event ORDER BY rowid")?;
    let rows = select.query_map([], |row| {
        Ok(Row {
            session: row.get(0)?,
            seq: row.get(1)?,
            time: row.get(2)?,
            kind: row.get(3)?,
            note: row.get(4)?,
            body: row.get(5)?,
        })
    })?;
    rows.collect::<Result<_, _>>().context("the events cannot be read")
}
