//! Decisions in the file: several processes at once, earlier versions, damage.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use metier_session::{DecisionStore, SessionStore, SqliteStore};
use rusqlite::Connection;

use crate::suite::decisions::named;
use crate::support::{key, refusal};

const DATABASE: &str = "METIER_TEST_DECIDER_DATABASE";
const EACH: usize = 40;

/// The program of those who decide. As a test of its own it has nothing to do.
#[tokio::test]
async fn decides_when_told_to() {
    let Some(database) = env::var_os(DATABASE) else { return };
    let store = SqliteStore::open(Path::new(&database)).unwrap();
    for number in 0..EACH {
        let own = format!("p{}-{number}", std::process::id());
        store.decide(None, named(&own)).await.unwrap();
        let shared = store.decide(None, named(&format!("shared-{number}"))).await.unwrap();
        assert!(store.used(&shared.id, 1, "shared").await.unwrap());
    }
}

#[tokio::test]
async fn processes_that_decide_at_once_lose_no_decision() {
    const PROCESSES: usize = 4;
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("metier.db");
    let start = || {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "deciders::decides_when_told_to"]).env(DATABASE, &database);
        command.stdout(Stdio::null()).spawn().unwrap()
    };
    let deciders: Vec<_> = (0..PROCESSES).map(|_| start()).collect();
    for mut decider in deciders {
        assert!(decider.wait().unwrap().success());
    }
    let decisions = SqliteStore::open(&database).unwrap().decisions(None).await.unwrap();
    let ids: BTreeSet<&str> = decisions.iter().map(|it| it.id.as_str()).collect();
    assert_eq!((decisions.len(), ids.len()), (PROCESSES * EACH + EACH, PROCESSES * EACH + EACH));
    let uses: u64 = decisions.iter().map(|it| it.uses).sum();
    assert_eq!(uses, (PROCESSES * EACH) as u64);
}

#[tokio::test]
async fn a_database_of_the_first_version_keeps_its_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("metier.db");
    let store = SqliteStore::open(&database).unwrap();
    let session = store.create(&key("old")).await.unwrap();
    drop(store);
    let raw = Connection::open(&database).unwrap();
    raw.execute_batch("DROP TABLE decision; PRAGMA user_version = 1").unwrap();
    drop(raw);
    let store = SqliteStore::open(&database).unwrap();
    assert_eq!(store.get(&key("old")).await.unwrap(), Some(session));
    store.decide(None, named("ls")).await.unwrap();
    drop(store);
    let again = SqliteStore::open(&database).unwrap();
    assert_eq!(again.decisions(None).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_decision_that_cannot_be_read_fails_all_until_it_is_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("metier.db");
    let store = SqliteStore::open(&database).unwrap();
    store.decide(None, named("well")).await.unwrap();
    let raw = Connection::open(&database).unwrap();
    let broken = [
        r#"{"kind":"pattern"}"#,
        r#"{"kind":"pattern","pattern":"rm","arguments":["x"]}"#,
        r#"{"kind":"pattern","pattern":"rm","but_only":"on mondays"}"#,
        "{",
    ];
    let mut said = Vec::new();
    for rule in broken {
        raw.execute(
            "INSERT INTO decision (id, rule, created, uses) VALUES ('0000hurt', ?1, 1, 0)",
            [rule],
        )
        .unwrap();
        let error = refusal(store.decisions(Some("bob")).await);
        said.push(error.replace(&*folder.path().canonicalize().unwrap().to_string_lossy(), ""));
        assert!(store.revoke("0000hurt").await.unwrap());
    }
    insta::assert_snapshot!(said.join("\n"), @"
    the database `/metier.db` is damaged: the decision 0000hurt cannot be read: missing field `pattern`; move it away and start again, or restore a copy
    the database `/metier.db` is damaged: the decision 0000hurt cannot be read: invalid type: sequence, expected a string; move it away and start again, or restore a copy
    the database `/metier.db` is damaged: the decision 0000hurt cannot be read: unknown field `but_only`, expected one of `pattern`, `arguments`, `any_arguments`, `directory`; move it away and start again, or restore a copy
    the database `/metier.db` is damaged: the decision 0000hurt cannot be read: EOF while parsing an object at line 1 column 1; move it away and start again, or restore a copy
    ");
    assert_eq!(store.decisions(Some("bob")).await.unwrap().len(), 1);
}
