//! The file: who may read it, how it is opened, and what is in it.
//!
//! A file that is not ours, or newer than we are, is not touched. Steps from one version of the
//! tables to the next are only ever added to [`STEPS`].

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::problem::Problem;
use crate::SessionError;

/// How SQLite's header says that a database is ours: `meti`.
const APPLICATION_ID: i32 = 0x6d65_7469;
/// How long one sleeps before looking again whether another process is done: about as long as a
/// commit takes. SQLite's own waits grow so long that a busy process starves the others.
const POLL: Duration = Duration::from_millis(1);
/// What remains of the write-ahead log on disk after a burst of large events.
const WAL_BYTES: i64 = 16 * 1024 * 1024;

/// What brings a database from each version to the next, from an empty file on.
const STEPS: &[&str] = &[
    "
    CREATE TABLE session (
        generation INTEGER PRIMARY KEY AUTOINCREMENT,
        app TEXT NOT NULL,
        user TEXT NOT NULL,
        name TEXT NOT NULL,
        created INTEGER NOT NULL,
        updated INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        turns INTEGER NOT NULL,
        title TEXT,
        opening TEXT,
        UNIQUE (app, user, name)
    ) STRICT;
    CREATE INDEX session_newest ON session (updated, generation);
    -- `body` is the JSON of the event; the columns before it are what sums are made of.
    CREATE TABLE event (
        generation INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        time INTEGER NOT NULL,
        kind TEXT NOT NULL,
        note TEXT,
        body TEXT NOT NULL,
        PRIMARY KEY (generation, seq)
    ) STRICT;
    CREATE TABLE state (
        generation INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (generation, name)
    ) STRICT, WITHOUT ROWID;
    ",
    // `rule` is the JSON of it; the same rule of the same agent is there once.
    "
    CREATE TABLE decision (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        agent TEXT,
        rule TEXT NOT NULL,
        created INTEGER NOT NULL,
        uses INTEGER NOT NULL,
        last_used INTEGER,
        last_command TEXT
    ) STRICT;
    CREATE UNIQUE INDEX decision_once ON decision (coalesce(agent, ''), rule);
    ",
];

/// One at a time in a process. Closing a file gives up the locks that the process has on it, so the
/// file must not be made while another thread already uses it.
static OPENING: Mutex<()> = Mutex::new(());

/// Which file, and how long one waits for others who use it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) wait: Duration,
    /// Which file of the disk it is.
    identity: Option<(u64, u64)>,
}

impl Place {
    /// Whether what is written now will be found: the file is still in its place, and no later
    /// version of this program has changed its tables.
    pub(super) fn check(&self, connection: &Connection) -> Result<(), Problem> {
        if identity(&self.path).ok() != self.identity {
            return Err(SessionError::Moved { database: self.path.clone() }.into());
        }
        let found = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if found > newest() {
            let database = self.path.clone();
            return Err(SessionError::Newer { database, found, known: newest() }.into());
        }
        Ok(())
    }
}

/// Opens a database twice: to write, and to read.
pub(super) fn open(
    path: &Path,
    wait: Duration,
) -> Result<(Place, Connection, Connection), SessionError> {
    let mut place = Place { path: path.to_owned(), wait, identity: None };
    let _alone = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    match open_both(&mut place) {
        Ok((writer, reader)) => Ok((place, writer, reader)),
        Err(problem) => Err(problem.explain(&place)),
    }
}

fn open_both(place: &mut Place) -> Result<(Connection, Connection), Problem> {
    make(&place.path)?;
    // From here on the path is absolute, and cannot be one that SQLite gives a meaning of its own.
    place.path = place.path.canonicalize()?;
    let mut writer = connect(place)?;
    // All of the answer from one moment: another process may just be making the tables.
    let version = check(&*writer.unchecked_transaction()?, place)?;
    make_private(&place.path)?;
    keep_log(&writer, place)?;
    if version < newest() {
        migrate(&mut writer, place)?;
    }
    let reader = connect(place)?;
    reader.pragma_update(None, "query_only", true)?;
    // Not before it was opened to write: some file systems make another file of it then.
    place.identity = Some(identity(&place.path)?);
    Ok((writer, reader))
}

/// Makes the file if it is missing, for its owner alone. SQLite gives the files beside it the same
/// mode.
fn make(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(file) => {
            drop(file);
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Lets nobody but the owner read a database that is ours, and what SQLite has put beside it.
fn make_private(path: &Path) -> io::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        match fs::metadata(&file).map(|metadata| metadata.permissions().mode()) {
            Ok(mode) if mode & 0o077 != 0 => {
                fs::set_permissions(&file, fs::Permissions::from_mode(mode & 0o700))?;
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

fn connect(place: &Place) -> Result<Connection, Problem> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&place.path, flags)?;
    let (wait, mut since) = (place.wait, Instant::now());
    connection.busy_handler(Some(move |count| {
        if count == 0 {
            since = Instant::now();
        }
        thread::sleep(POLL);
        since.elapsed() < wait
    }))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // What is deleted is overwritten: sessions hold what people said.
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

/// Whether the database is ours; gives its version.
fn check(connection: &Connection, place: &Place) -> Result<i64, Problem> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let database = place.path.clone();
    if application == 0 && version == 0 && tables == 0 {
        return Ok(0);
    }
    if application != i64::from(APPLICATION_ID) {
        return Err(SessionError::Foreign { database }.into());
    }
    if version > newest() {
        return Err(SessionError::Newer { database, found: version, known: newest() }.into());
    }
    Ok(version)
}

/// Turns to a write-ahead log, for which SQLite itself does not wait.
fn keep_log(connection: &Connection, place: &Place) -> Result<(), Problem> {
    let since = Instant::now();
    let mode: String = loop {
        let mode =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode.map_err(Problem::from) {
            Ok(mode) => break mode,
            Err(problem) if problem.is_busy() && since.elapsed() < place.wait => {
                thread::sleep(POLL)
            }
            Err(problem) => return Err(problem),
        }
    };
    if mode != "wal" {
        let fault = "its file system cannot share memory between processes".to_owned();
        return Err(SessionError::Storage { database: place.path.clone(), fault }.into());
    }
    connection.pragma_update_and_check(None, "journal_size_limit", WAL_BYTES, |_| Ok(()))?;
    Ok(())
}

/// Brings the tables to the newest version, in one step or not at all.
fn migrate(connection: &mut Connection, place: &Place) -> Result<(), Problem> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster, or newer.
    let version = check(&transaction, place)?;
    for step in STEPS.iter().skip(usize::try_from(version).unwrap_or(usize::MAX)) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", newest())?;
    transaction.commit()?;
    Ok(())
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

fn newest() -> i64 {
    STEPS.len() as i64
}
