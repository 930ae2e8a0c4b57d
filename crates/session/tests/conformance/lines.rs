//! The store of the examples, as a program outside of this crate makes one.

#[path = "../../../../examples/custom_session_store/store.rs"]
mod store;

use std::fs;
use std::sync::Arc;

use metier_session::{MemoryStore, SessionStore};

use crate::suite::{Made, session_conformance};
use crate::support::{all, begin, key, refusal, said, words};

use store::LineStore;

fn make() -> Made {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(LineStore::open(folder.path()).unwrap());
    Made { store, decisions: Arc::new(MemoryStore::new()), _folder: Some(folder) }
}

session_conformance!(make);

#[tokio::test]
async fn what_was_written_is_there_after_a_restart_and_what_was_cut_off_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Arc::new(LineStore::open(folder.path()).unwrap()) as Arc<dyn SessionStore>;
    let store = open();
    let at = begin(&store, "a").await;
    store.append(&at, 0, vec![said("one"), said("two")]).await.unwrap();
    let gone = begin(&store, "b").await;
    store.delete(&gone.key).await.unwrap();
    let held = refusal(LineStore::open(folder.path()));
    assert!(held.starts_with("cannot use the database"), "{held}");
    drop(store);
    let file = folder.path().join("1.jsonl");
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{whole}{{\"events\":{{\"time\":1,\"ev")).unwrap();
    let store = open();
    let events = all(&store, &at).await;
    assert_eq!(events.iter().map(words).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);
    assert_eq!(store.create(&key("b")).await.unwrap().at.generation, gone.generation + 1);
    drop(store);
    fs::write(&file, whole.replacen('{', "[", 1)).unwrap();
    let damaged = refusal(LineStore::open(folder.path()));
    assert!(damaged.contains("is damaged"), "{damaged}");
}
