//! Several processes at one database, and processes that are killed.
//!
//! The writers are this test program itself, told by variables what to do.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::env;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufRead, BufReader, Write};
use std::iter;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use metier_session::{SessionError, SqliteStore, replay};

use crate::support::{Store, all, delta, key, said, words};

const DATABASE: &str = "METIER_TEST_WRITER_DATABASE";
const COUNT: &str = "METIER_TEST_WRITER_COUNT";
/// A file whose appearance all writers wait for.
const START: &str = "METIER_TEST_WRITER_START";
const SESSION: &str = "shared";

/// Starts a process that appends so often and says so after each.
fn writer(database: &Path, count: usize) -> Child {
    prepared(database, count).spawn().unwrap()
}

fn prepared(database: &Path, count: usize) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "crash::appends_when_told_to", "--nocapture"]);
    command.env(DATABASE, database).env(COUNT, count.to_string()).stdout(Stdio::piped());
    command
}

/// The program of the writers. As a test of its own it has nothing to do.
#[tokio::test]
async fn appends_when_told_to() {
    let Some(database) = env::var_os(DATABASE) else { return };
    let count: usize = env::var(COUNT).unwrap().parse().unwrap();
    let began = Instant::now();
    while env::var_os(START).is_some_and(|start| !Path::new(&start).exists()) {
        assert!(began.elapsed() < Duration::from_secs(60), "nobody starts the writers");
        thread::sleep(Duration::from_micros(50));
    }
    let store = SqliteStore::open(Path::new(&database)).unwrap();
    let store: Store = Arc::new(store);
    let session = store.create(&key(SESSION)).await.unwrap();
    let mut seq = session.seq;
    for number in 0..count {
        loop {
            let events = (0..=random(2)).map(|_| {
                let padding = "x".repeat(usize::try_from(random(20_000)).unwrap());
                let text = format!("{} {number} {} {padding}", std::process::id(), padding.len());
                said(&text).with_state(delta(&format!("last={number} k{}=1", random(50))))
            });
            match store.append(&session.at, seq, events.collect()).await {
                Ok(events) => {
                    seq = events.last().unwrap().seq;
                    for event in events {
                        writeln!(io::stdout(), "\nacknowledged {} {}", event.seq, event.id)
                            .unwrap();
                    }
                    break;
                }
                Err(SessionError::Conflict { found, .. }) => seq = found,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// The next thing that a writer says in full, until it ends.
fn next_said(output: &mut BufReader<ChildStdout>) -> Option<(u64, String)> {
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
        if let ["acknowledged", seq, id] = *line.split_whitespace().collect::<Vec<_>>() {
            return Some((seq.parse().unwrap(), id.to_owned()));
        }
        line.clear();
    }
    None
}

fn output(writer: &mut Child) -> BufReader<ChildStdout> {
    BufReader::new(writer.stdout.take().unwrap())
}

/// All events, which must be whole, in order, and those that were acknowledged.
async fn verified(database: &Path, acknowledged: &BTreeMap<u64, String>) -> Vec<String> {
    let store: Store = Arc::new(SqliteStore::open(database).unwrap());
    let session = store.create(&key(SESSION)).await.unwrap();
    let events = all(&store, &session.at).await;
    for (seq, id) in acknowledged {
        let found = events.get(usize::try_from(seq - 1).unwrap()).map(|event| event.id.to_string());
        assert_eq!(found.as_ref(), Some(id), "event {seq} was acknowledged");
    }
    for event in &events {
        let [_, _, length, padding] = *words(event).split(' ').collect::<Vec<_>>() else {
            panic!()
        };
        assert_eq!(padding.len(), length.parse::<usize>().unwrap(), "event {} is cut", event.seq);
    }
    assert_eq!(session.seq, events.len() as u64);
    assert_eq!(replay(&events), store.state(&session.at).await.unwrap());
    events.iter().map(|event| words(event).to_owned()).collect()
}

fn is_intact(database: &Path) -> bool {
    let connection = rusqlite::Connection::open(database).unwrap();
    let outcome = connection.pragma_query_value(None, "integrity_check", |row| row.get(0));
    outcome == Ok("ok".to_owned())
}

#[tokio::test]
async fn a_writer_killed_at_any_moment_loses_nothing_it_acknowledged() {
    /// How often a writer is killed.
    const KILLS: usize = 50;
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("metier.db");
    let mut acknowledged = BTreeMap::new();
    let (mut unheard, mut busy) = (0, 0);
    for round in 0..KILLS {
        let mut writer = writer(&database, usize::MAX);
        let mut output = output(&mut writer);
        // Some are killed while they open the database, the others while they write.
        if round % 5 > 0 {
            acknowledged.extend(next_said(&mut output));
        }
        thread::sleep(Duration::from_micros(random(30_000)));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let before = acknowledged.len();
        acknowledged.extend(iter::from_fn(|| next_said(&mut output)));
        busy += usize::from(acknowledged.len() > before);
        if database.exists() {
            unheard = verified(&database, &acknowledged).await.len() - acknowledged.len();
        }
    }
    assert!(is_intact(&database));
    let heard = acknowledged.len();
    let text = format!("{heard} acknowledged, {unheard} more, {busy} of {KILLS} killed at work");
    metier_testkit::report("session::crash", &text);
    assert!(heard >= KILLS / 5 * 4, "writers were killed before they wrote: {text}");
}

#[tokio::test]
async fn processes_that_append_at_once_lose_nothing() {
    const PROCESSES: usize = 4;
    const EACH: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("metier.db");
    let writers: Vec<_> = (0..PROCESSES).map(|_| writer(&database, EACH)).collect();
    let mut acknowledged = BTreeMap::new();
    for mut writer in writers {
        let mut output = output(&mut writer);
        for (seq, id) in iter::from_fn(|| next_said(&mut output)) {
            assert_eq!(acknowledged.insert(seq, id), None, "two were given the number {seq}");
        }
        assert!(writer.wait().unwrap().success());
    }
    let events = verified(&database, &acknowledged).await;
    assert_eq!(events.len(), acknowledged.len());
    let mut last = BTreeMap::new();
    for text in &events {
        let [process, number, ..] = *text.split(' ').collect::<Vec<_>>() else { panic!("{text}") };
        let number: usize = number.parse().unwrap();
        let before = last.insert(process.to_owned(), number);
        assert!(before.is_none_or(|before| before == number || before + 1 == number), "{text}");
    }
    assert_eq!(last.values().collect::<Vec<_>>(), [&(EACH - 1); PROCESSES]);
    assert!(is_intact(&database));
}

#[tokio::test]
async fn processes_that_open_a_new_file_at_once_share_it() {
    for round in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let [database, start] = ["metier.db", "start"].map(|name| folder.path().join(name));
        let mut command = prepared(&database, 1);
        let writers = (0..8).map(|_| command.env(START, &start).spawn().unwrap());
        let writers: Vec<_> = writers.collect();
        thread::sleep(Duration::from_millis(50));
        fs::write(&start, "").unwrap();
        for writer in writers {
            let ended = writer.wait_with_output().unwrap();
            assert!(ended.status.success(), "a writer could not open it in round {round}");
        }
        assert!(verified(&database, &BTreeMap::new()).await.len() >= 8);
    }
}

fn random(below: u64) -> u64 {
    RandomState::new().build_hasher().finish() % below
}
