//! What is particular to the store in a database: the file, its faults, and others who use it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use metier_session::{Delta, SessionError, SessionFilter, SqliteStore, UsageFilter};
use rusqlite::Connection;

use crate::suite::{Made, conformance};
use crate::support::{Store, all, begin, delta, join, key, listed, paid, refusal, replied, said};

fn make() -> Made {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("metier.db")).unwrap();
    let store = Arc::new(store);
    Made { decisions: Arc::clone(&store) as _, store, _folder: Some(folder) }
}

conformance!(make);

fn open(database: &Path) -> Store {
    Arc::new(SqliteStore::open(database).unwrap())
}

/// Why a file cannot be opened, with its folder left out. The file must stay as it is.
fn not_opened(folder: &Path, name: &str) -> String {
    let database = folder.join(name);
    let mode = || fs::metadata(&database).map(|file| file.permissions().mode()).ok();
    let before = (fs::read(&database).ok(), mode());
    let error = refusal(SqliteStore::open_waiting(&database, Duration::from_millis(50)));
    assert_eq!((fs::read(&database).ok(), mode()), before, "{error}");
    error.replace(&*folder.canonicalize().unwrap().to_string_lossy(), "")
}

#[tokio::test]
async fn what_is_stored_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("file:x?mode=memory");
    let store = open(&database);
    let at = begin(&store, "kept").await;
    let event = said("hello").with_state(delta("a=1")).with_usage(paid("m", 1, 1));
    store.append(&at, 0, vec![event]).await.unwrap();
    let (events, usage) = (all(&store, &at).await, store.usage(&UsageFilter::default()).await);
    drop(store);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the log is folded into the file");
    let store = open(&database);
    assert_eq!(all(&store, &at).await, events);
    assert_eq!(store.usage(&UsageFilter::default()).await, usage);
    assert_eq!(store.state(&at).await.unwrap().get("a"), Some("1"));
    store.delete(&key("kept")).await.unwrap();
    drop(store);
    let again = begin(&open(&database), "kept").await;
    assert!(again.generation > at.generation, "a number is not given again after a restart");
}

#[tokio::test]
async fn files_are_for_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("metier.db");
    let modes = || {
        let files = fs::read_dir(folder.path()).unwrap().map(Result::unwrap);
        let mode = |file: fs::DirEntry| file.metadata().unwrap().permissions().mode() & 0o777;
        files.map(mode).collect::<Vec<_>>()
    };
    let store = open(&database);
    begin(&store, "a").await;
    assert_eq!(modes(), [0o600; 3], "the database, its log, and the memory they share");
    // Files that were opened to others, while somebody uses them and after.
    for file in fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
    }
    begin(&open(&database), "b").await;
    assert_eq!(modes(), [0o600; 3]);
    drop(store);
    fs::set_permissions(&database, fs::Permissions::from_mode(0o644)).unwrap();
    let store = open(&database);
    begin(&store, "c").await;
    assert_eq!(modes(), [0o600; 3]);
}

#[test]
fn what_cannot_be_opened_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("metier.db");
    fs::write(&database, "Dear diary, ".repeat(1000)).unwrap();
    insta::assert_snapshot!(not_opened(folder.path(), "metier.db"), @"the database `/metier.db` is damaged: file is not a database; move it away and start again, or restore a copy");
    fs::remove_file(&database).unwrap();
    Connection::open(&database).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
    insta::assert_snapshot!(not_opened(folder.path(), "metier.db"), @"`/metier.db` is a database of another program: choose another file");
    fs::remove_file(&database).unwrap();
    drop(open(&database));
    Connection::open(&database).unwrap().pragma_update(None, "user_version", 99).unwrap();
    insta::assert_snapshot!(not_opened(folder.path(), "metier.db"), @"the database `/metier.db` has version 99, and this program knows only up to 2");
    insta::assert_snapshot!(not_opened(folder.path(), "none/metier.db"), @"cannot use the database `/none/metier.db`: No such file or directory (os error 2); check its folder and disk");
    insta::assert_snapshot!(not_opened(folder.path(), ""), @"cannot use the database `/`: Is a directory (os error 21); check its folder and disk");
}

#[tokio::test]
async fn damage_is_named_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("metier.db");
    let store = open(&database);
    let at = begin(&store, "hurt").await;
    for seq in 0..50 {
        store.append(&at, seq, vec![said(&"y".repeat(3000))]).await.unwrap();
    }
    let other = begin(&store, "well").await;
    store.append(&other, 0, vec![said("fine")]).await.unwrap();
    drop(store);

    // An event that is no JSON.
    let raw = Connection::open(&database).unwrap();
    raw.execute(
        "UPDATE event SET body = '{' WHERE generation = ?1 AND seq = 2",
        [other.generation - 1],
    )
    .unwrap();
    drop(raw);
    let store = open(&database);
    let error = refusal(store.events(&at, 0, 10).await);
    let shown = error.replace(&*folder.path().canonicalize().unwrap().to_string_lossy(), "");
    insta::assert_snapshot!(shown, @"the database `/metier.db` is damaged: event 2 of session 1 cannot be read: EOF while parsing an object at line 1 column 1; move it away and start again, or restore a copy");
    assert_eq!(all(&store, &other).await.len(), 1);
    assert_eq!(store.events(&at, 2, 10).await.unwrap().len(), 10);
    drop(store);

    // Pages that are no pages.
    let mut bytes = fs::read(&database).unwrap();
    let middle = bytes.len() / 4096 / 2 * 4096;
    bytes[middle..middle + 8192].fill(0x5a);
    fs::write(&database, &bytes).unwrap();
    let store = open(&database);
    let mut after = 0;
    let error = loop {
        match store.events(&at, after, 1).await {
            Ok(page) => after = page.last().expect("the damage is before the end").seq,
            Err(error) if error.to_string().contains("event 2 ") => after = 2,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, SessionError::Damaged { .. }), "{error:?}");
    drop(store);
    assert_eq!(fs::read(&database).unwrap(), bytes);
}

#[tokio::test]
async fn the_wait_for_others_is_bounded_and_readers_do_not_wait() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("metier.db");
    let wait = Duration::from_millis(1500);
    let store: Store = Arc::new(SqliteStore::open_waiting(&database, wait).unwrap());
    let at = begin(&store, "a").await;
    let other = Connection::open(&database).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let began = Instant::now();
    let append = store.append(&at, 0, vec![said("x")]);
    let read = async {
        let everything = SessionFilter::default();
        assert_eq!(listed(&store, &everything, 9).await, "a");
        assert_eq!(all(&store, &at).await, []);
        assert!(began.elapsed() < wait, "a reader waited for a writer");
    };
    let (refused, ()) = tokio::join!(append, read);
    let error = refusal(refused);
    assert!(
        error.ends_with(
            "was locked by another process for 1 seconds: try again, or end what holds it"
        ),
        "{error}"
    );
    assert!(began.elapsed() >= wait);
    let late = store.append(&at, 0, vec![said("y")]);
    let release = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        other.execute_batch("ROLLBACK").unwrap();
    };
    let (appended, ()) = tokio::join!(late, release);
    assert_eq!(appended.unwrap()[0].seq, 1);
}

/// How many commits a write-ahead log has: frames that say how large the database is then.
fn commits(database: &Path) -> usize {
    let log = fs::read(database.with_extension("db-wal")).unwrap();
    let page = u32::from_be_bytes(log[8..12].try_into().unwrap()) as usize;
    let frames = log[32..].chunks_exact(24 + page);
    frames.filter(|frame| frame[8..16] == log[16..24] && frame[4..8] != [0; 4]).count()
}

#[tokio::test]
async fn appends_that_wait_are_committed_together_and_fail_alone() {
    const SESSIONS: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("metier.db");
    let store = open(&database);
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        sessions.push(begin(&store, &format!("s{number}")).await);
    }
    let before = commits(&database);
    let other = Connection::open(&database).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut swollen = Delta::new();
    for name in ["1", "2", "3", "4", "5"] {
        swollen.set(name, &"v".repeat(250_000)).unwrap();
    }
    let appends = sessions.iter().cloned().enumerate().map(|(number, at)| {
        let store = Arc::clone(&store);
        // Some know of an event that is not there, one is refused when half of it is written.
        let expected = u64::from(number % 4 == 3);
        let state = if number == 2 { swollen.clone() } else { delta("a=1") };
        let events = vec![said("x"), replied("y").with_state(state)];
        async move { store.append(&at, expected, events).await }
    });
    let release = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        other.execute_batch("ROLLBACK").unwrap();
    });
    let outcomes = join(appends).await;
    release.join().unwrap();
    for (number, outcome) in outcomes.iter().enumerate() {
        let at = &sessions[number];
        match outcome {
            Ok(events) => assert_eq!(all(&store, at).await, *events),
            Err(SessionError::Conflict { expected: 1, found: 0 }) => assert_eq!(number % 4, 3),
            Err(SessionError::TooLarge { .. }) => assert_eq!(number, 2),
            Err(error) => panic!("{error}"),
        }
        if outcome.is_err() {
            assert_eq!(all(&store, at).await, []);
            assert!(store.state(at).await.unwrap().is_empty());
        }
    }
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), SESSIONS / 4 + 1);
    let together = commits(&database) - before;
    assert!(together < SESSIONS / 3, "{together} commits for {SESSIONS} appends");
}

#[tokio::test]
async fn stores_that_open_a_new_file_at_once_share_it() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("metier.db");
    let openers = (0..8).map(|_| {
        let database = database.clone();
        thread::spawn(move || SqliteStore::open(&database).unwrap())
    });
    let openers: Vec<_> = openers.collect();
    let stores: Vec<Store> =
        openers.into_iter().map(|opener| Arc::new(opener.join().unwrap()) as Store).collect();
    let at = begin(&stores[0], "shared").await;
    for (seq, store) in stores.iter().enumerate() {
        store.append(&at, seq as u64, vec![said("x")]).await.unwrap();
    }
    for store in &stores {
        assert_eq!(all(store, &at).await.len(), stores.len());
    }
}

#[tokio::test]
async fn nothing_is_written_where_it_would_not_be_found() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("metier.db");
    let store = open(&database);
    let at = begin(&store, "a").await;
    let moved = folder.path().join("moved.db");
    fs::rename(&database, &moved).unwrap();
    let refused = store.append(&at, 0, vec![said("x")]).await;
    assert!(matches!(refused, Err(SessionError::Moved { .. })), "{refused:?}");
    fs::write(&database, "").unwrap();
    let refused = store.append(&at, 0, vec![said("x")]).await;
    assert!(matches!(refused, Err(SessionError::Moved { .. })), "{refused:?}");
    fs::rename(&moved, &database).unwrap();
    store.append(&at, 0, vec![said("x")]).await.unwrap();
    // A newer program comes by.
    Connection::open(&database).unwrap().pragma_update(None, "user_version", 3).unwrap();
    let refused = store.append(&at, 1, vec![said("x")]).await;
    assert!(matches!(refused, Err(SessionError::Newer { found: 3, .. })), "{refused:?}");
}

#[tokio::test]
async fn what_is_deleted_is_not_in_the_file_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("metier.db");
    let store = open(&database);
    let secrets = [("gone", "correct horse battery staple"), ("kept", "a public matter")];
    for (name, text) in secrets {
        let at = begin(&store, name).await;
        let padding = ".".repeat(10_000);
        let event = said(&format!("{text} {padding} {text}"));
        store.append(&at, 0, vec![event.with_digest(text, "d")]).await.unwrap();
    }
    store.delete(&key("gone")).await.unwrap();
    drop(store);
    let bytes = fs::read(&database).unwrap();
    let found = secrets.map(|(_, text)| {
        bytes.windows(text.len()).filter(|window| *window == text.as_bytes()).count()
    });
    assert_eq!(found[0], 0);
    assert!(found[1] > 0);
}
