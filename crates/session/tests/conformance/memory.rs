//! What is particular to the store in memory: its bound.

use std::sync::Arc;

use metier_session::{MemoryStore, Opening};

use crate::suite::{Made, conformance};
use crate::support::{Store, begin, key, refusal, said};

fn make() -> Made {
    let store = Arc::new(MemoryStore::new());
    Made { decisions: Arc::clone(&store) as _, store, _folder: None }
}

conformance!(make);

#[tokio::test]
async fn a_full_store_refuses_until_something_is_deleted() {
    let store: Store = Arc::new(MemoryStore::new().with_max_bytes(20_000));
    let at = begin(&store, "a").await;
    begin(&store, "b").await;
    store.append(&at, 0, vec![said(&"x".repeat(9_000))]).await.unwrap();
    let full = "the store in memory is full at 20000 bytes: delete sessions, or use a database";
    assert_eq!(refusal(store.append(&at, 1, vec![said(&"x".repeat(9_000))]).await), full);
    assert_eq!(refusal(store.create(&key("c")).await), full);
    let opening = Opening { system: "x".repeat(9_000), ..Opening::default() };
    assert_eq!(refusal(store.set_opening(&at, opening.clone()).await), full);
    assert_eq!(store.get(&key("a")).await.unwrap().unwrap().seq, 1);
    store.delete(&key("a")).await.unwrap();
    let again = begin(&store, "a").await;
    store.set_opening(&again, opening).await.unwrap();
}
