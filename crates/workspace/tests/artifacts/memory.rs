//! What is particular to the store in memory: its bound.

use std::sync::Arc;

use metier_workspace::artifact::{About, ArtifactStore, MemoryStore};
use tokio::io::AsyncReadExt;

use crate::conformance::{MAX_BYTES, conforms};
use crate::support::{Broken, chain, key, refusal, save, text};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_store_in_memory_conforms() {
    conforms(Arc::new(MemoryStore::new().with_max_bytes(MAX_BYTES))).await;
}

#[tokio::test]
async fn a_full_store_refuses_until_something_is_deleted() {
    // Two names, three versions, and three bytes.
    let store = MemoryStore::new().with_max_total(2 * 8192 + 3 * 1024 + 3);
    assert_eq!(save(&store, &key("s", "a"), "1").await, 0);
    assert_eq!(save(&store, &key("s", "b"), "2").await, 0);
    let full = "the store in memory is full at 19459 bytes: delete artifacts, or use a folder";
    assert_eq!(chain(&refusal(&store, &key("s", "a"), &b"34"[..]).await), full);
    assert_eq!(chain(&refusal(&store, &key("s", "c"), &b""[..]).await), full);
    let endless = tokio::io::repeat(7).take(u64::MAX);
    assert_eq!(chain(&refusal(&store, &key("s", "a"), endless).await), full);
    store.delete(&key("s", "b"), None).await.unwrap();
    assert_eq!(save(&store, &key("s", "b"), "34").await, 1);
    assert_eq!(text(&store, &key("s", "b"), None).await, "34");
}

#[tokio::test]
async fn what_is_not_saved_takes_no_room() {
    let store = MemoryStore::new().with_max_total(8192 + 1024 + 100_000);
    for _ in 0..10 {
        refusal(&store, &key("s", "a"), vec![7; 60_000].chain(Broken)).await;
    }
    let mut content = tokio::io::repeat(7).take(100_000);
    store.save(&key("s", "a"), &mut content, &About::default()).await.unwrap();
}
