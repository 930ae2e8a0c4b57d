//! What every store must uphold. [`conforms`] is given a store and runs it all; each check works in
//! sessions of its own, so the store need not be empty between them.

use std::slice;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use metier_workspace::artifact::{About, ArtifactError, ArtifactKey, ArtifactStore, Owner};
use tokio::io::AsyncReadExt;

use crate::support::{Broken, Trickle, chain, key, names, owner, read, refusal, save, text};

/// What the store under test takes at most.
pub(crate) const MAX_BYTES: u64 = 200_000;

/// Runs every check on an empty store that takes content of [`MAX_BYTES`].
pub(crate) async fn conforms(store: Arc<dyn ArtifactStore>) {
    let shared = &*store;
    versions_count_from_zero(shared).await;
    a_version_says_what_it_is(shared).await;
    content_of_every_size_comes_back(shared).await;
    scopes_do_not_mix(shared).await;
    hostile_ids_are_only_ids(shared).await;
    names_that_look_alike_are_different(shared).await;
    lists_are_sorted_by_name(shared).await;
    what_is_not_there_is_an_error_that_says_so(shared).await;
    a_deleted_number_is_never_given_again(shared).await;
    open_content_outlives_its_deletion(shared).await;
    a_reader_that_fails_saves_nothing(shared).await;
    content_over_the_limit_saves_nothing(shared).await;
    a_save_that_is_dropped_saves_nothing(shared).await;
    concurrent_savers_get_distinct_versions(&store).await;
    concurrent_deleters_agree_on_one(&store).await;
}

async fn versions_count_from_zero(store: &dyn ArtifactStore) {
    let key = key("count", "out/report.txt");
    assert_eq!(names(store, &owner("count")).await, "");
    assert_eq!(store.versions(&key).await.unwrap(), []);
    for (version, content) in ["zero", "one", "two"].into_iter().enumerate() {
        assert_eq!(save(store, &key, content).await, version as u64);
    }
    assert_eq!(text(store, &key, None).await, "two");
    assert_eq!(text(store, &key, Some(0)).await, "zero");
    assert_eq!(text(store, &key, Some(1)).await, "one");
    let versions = store.versions(&key).await.unwrap();
    let numbers: Vec<_> = versions.iter().map(|version| (version.version, version.size)).collect();
    assert_eq!(numbers, [(0, 4), (1, 3), (2, 3)]);
    assert_eq!(names(store, &owner("count")).await, "out/report.txt 2 of 3");
}

async fn a_version_says_what_it_is(store: &dyn ArtifactStore) {
    let key = key("about", "a.csv");
    let before = SystemTime::now() - Duration::from_millis(1);
    let about = About::new("text/csv; charset=utf-8").unwrap();
    let saved = store.save(&key, &mut &b"a,b\n"[..], &about).await.unwrap();
    assert!(before <= saved.created && saved.created <= SystemTime::now());
    assert_eq!((saved.version, saved.size), (0, 4));
    assert_eq!(saved.mime_type, "text/csv; charset=utf-8");
    assert_eq!(saved.digest, blake3::hash(b"a,b\n").to_hex().as_str());
    assert_eq!(store.load(&key, None).await.unwrap().info, saved);
    assert_eq!(store.versions(&key).await.unwrap(), slice::from_ref(&saved));
    let listed = store.list(key.scope()).await.unwrap();
    assert_eq!(listed[0].newest, saved);
}

async fn content_of_every_size_comes_back(store: &dyn ArtifactStore) {
    let key = key("sizes", "content");
    for size in [0, 1, 65_535, 65_536, 65_537, MAX_BYTES] {
        let bytes: Vec<u8> = (0..size).map(|index| (index % 251) as u8).collect();
        let saved = store.save(&key, &mut &bytes[..], &About::default()).await.unwrap();
        let loaded = store.load(&key, Some(saved.version)).await.unwrap();
        assert_eq!(read(loaded).await.unwrap(), bytes);
    }
    let mut trickle = Trickle::new(b"drop by drop");
    store.save(&key, &mut trickle, &About::default()).await.unwrap();
    assert_eq!(text(store, &key, None).await, "drop by drop");
}

async fn scopes_do_not_mix(store: &dyn ArtifactStore) {
    let who = |app, user, session| Owner::new(app, user, session).unwrap();
    let owners = [
        who("mix", "ada", "1"),
        who("mix", "ada", "2"),
        who("mix", "bob", "1"),
        who("mix2", "ada", "1"),
    ];
    for (index, owner) in owners.iter().enumerate() {
        for name in ["plan", "user:plan"] {
            let key = ArtifactKey::new(owner, name).unwrap();
            save(store, &key, &format!("{name} {index}")).await;
        }
    }
    let [first, second, bob, other_app] = &owners;
    assert_eq!(names(store, first).await, "plan 0 of 1, user:plan 1 of 2");
    assert_eq!(names(store, second).await, "plan 0 of 1, user:plan 1 of 2");
    assert_eq!(names(store, bob).await, "plan 0 of 1, user:plan 0 of 1");
    assert_eq!(names(store, other_app).await, "plan 0 of 1, user:plan 0 of 1");
    let seen = ArtifactKey::new(first, "user:plan").unwrap();
    assert_eq!(seen, ArtifactKey::new(second, "user:plan").unwrap());
    assert_eq!(text(store, &seen, None).await, "user:plan 1");
    assert_eq!(text(store, &ArtifactKey::new(first, "plan").unwrap(), None).await, "plan 0");
    assert_eq!(text(store, &ArtifactKey::new(bob, "plan").unwrap(), None).await, "plan 2");
}

async fn hostile_ids_are_only_ids(store: &dyn ArtifactStore) {
    let long = "x".repeat(1024);
    let longer = format!("{}y", "x".repeat(1023));
    let wide = "Ä".repeat(512);
    let ids = [
        "..", ".", "...", "/", "a/b", "a", "a/../b", "../../x", "\0", "a\nb", "%2e%2e", "%2E", "A",
        "ß", "SS", "\u{e9}", "e\u{301}", "users", "staging", " ", "~", "-", &long, &longer, &wide,
    ];
    for id in ids {
        for owner in [Owner::new(id, "u", "s"), Owner::new("u", id, "s"), Owner::new("u", "s", id)]
        {
            let key = ArtifactKey::new(&owner.unwrap(), "who").unwrap();
            assert_eq!(save(store, &key, id).await, 0, "{id:?} shares a place with another");
            assert_eq!(text(store, &key, None).await, id);
        }
    }
    // Ids that read the same when they are joined.
    let joined = [("j/k", "l", "m"), ("j", "k/l", "m"), ("j", "k", "l/m"), ("j", "k", "l")];
    for (app, user, session) in joined {
        let owner = Owner::new(app, user, session).unwrap();
        assert_eq!(save(store, &ArtifactKey::new(&owner, "m/n").unwrap(), "").await, 0);
    }
}

async fn names_that_look_alike_are_different(store: &dyn ArtifactStore) {
    let part = "p".repeat(255);
    let long = format!("{part}/{part}/{part}/{}", "q".repeat(255));
    let similar = format!("{part}/{part}/{part}/{}", "q".repeat(254));
    let wide = "\u{1f4be}".repeat(60);
    let mut all = vec![
        "A",
        "a",
        "a.",
        ".a",
        "a/b",
        "a%2fb",
        "a%2Fb",
        "A/b",
        "a b",
        "..a",
        "a..",
        "...",
        "é.txt",
        "e\u{301}.txt",
        "Straße",
        "STRASSE",
        "0",
        "00",
        "content",
        "record.json",
        "icon@2x.png",
        "notes@7",
        "con",
        "nul.txt",
        "a:b",
        "*?\"<>|",
        "user",
        &long,
        &similar,
        &wide,
        "-rf",
        "~",
    ];
    for name in &all {
        let key = key("alike", name);
        assert_eq!(save(store, &key, name).await, 0, "{name:?} shares a place with another");
    }
    for name in &all {
        assert_eq!(text(store, &key("alike", name), None).await, *name);
    }
    all.sort_unstable();
    let listed = store.list(&owner("alike").session_scope()).await.unwrap();
    assert_eq!(listed.iter().map(|listed| &*listed.name).collect::<Vec<_>>(), all);
}

async fn lists_are_sorted_by_name(store: &dyn ArtifactStore) {
    for name in ["b", "user:z", "a/z", "B", "a", "user:a", "a.txt", "é"] {
        save(store, &ArtifactKey::new(&other("sorted"), name).unwrap(), name).await;
    }
    let shown = names(store, &other("sorted")).await;
    let expected = ["B", "a", "a.txt", "a/z", "b", "é", "user:a", "user:z"];
    assert_eq!(shown, expected.map(|name| format!("{name} 0 of 1")).join(", "));
}

async fn what_is_not_there_is_an_error_that_says_so(store: &dyn ArtifactStore) {
    let (here, gone) = (key("missing", "here"), key("missing", "gone"));
    save(store, &here, "").await;
    let no_name = "there is no artifact `gone`: look for its name in the list of artifacts";
    let no_version = "`here` has no version 1: look for one in the list of its versions";
    for version in [None, Some(0), Some(u64::MAX)] {
        assert_eq!(text(store, &gone, version).await, no_name);
        assert_eq!(chain(&store.delete(&gone, version).await.unwrap_err()), no_name);
    }
    assert_eq!(text(store, &here, Some(1)).await, no_version);
    assert_eq!(chain(&store.delete(&here, Some(1)).await.unwrap_err()), no_version);
    save(store, &gone, "").await;
    store.delete(&gone, None).await.unwrap();
    for version in [None, Some(0)] {
        assert_eq!(text(store, &gone, version).await, no_name);
        assert_eq!(chain(&store.delete(&gone, version).await.unwrap_err()), no_name);
    }
    assert_eq!(store.versions(&gone).await.unwrap(), []);
    assert_eq!(names(store, &owner("missing")).await, "here 0 of 1");
}

async fn a_deleted_number_is_never_given_again(store: &dyn ArtifactStore) {
    let (key, who) = (key("deleted", "a"), owner("deleted"));
    for content in ["zero", "one", "two"] {
        save(store, &key, content).await;
    }
    store.delete(&key, Some(2)).await.unwrap();
    assert_eq!(names(store, &who).await, "a 1 of 2");
    assert_eq!(text(store, &key, None).await, "one");
    assert_eq!(save(store, &key, "three").await, 3);
    store.delete(&key, Some(0)).await.unwrap();
    let versions = store.versions(&key).await.unwrap();
    assert_eq!(versions.iter().map(|version| version.version).collect::<Vec<_>>(), [1, 3]);
    store.delete(&key, None).await.unwrap();
    assert_eq!(names(store, &who).await, "");
    assert_eq!(save(store, &key, "four").await, 4);
    assert_eq!(names(store, &who).await, "a 4 of 1");
}

async fn open_content_outlives_its_deletion(store: &dyn ArtifactStore) {
    let key = key("open", "a");
    save(store, &key, "still here").await;
    let loaded = store.load(&key, None).await.unwrap();
    store.delete(&key, None).await.unwrap();
    assert_eq!(read(loaded).await.unwrap(), b"still here");
}

async fn a_reader_that_fails_saves_nothing(store: &dyn ArtifactStore) {
    let key = key("broken", "a");
    let half = vec![7; 100_000];
    let error = refusal(store, &key, half.chain(Broken)).await;
    assert_eq!(
        chain(&error),
        "the content of `a` could not be read to its end, so it was not saved\
         \n  because: the line went dead"
    );
    assert_eq!(names(store, &owner("broken")).await, "");
    assert_eq!(save(store, &key, "whole").await, 0);
}

async fn content_over_the_limit_saves_nothing(store: &dyn ArtifactStore) {
    let key = key("large", "a");
    for content in [tokio::io::repeat(7).take(MAX_BYTES + 1), tokio::io::repeat(7).take(u64::MAX)] {
        let error = refusal(store, &key, content).await;
        assert!(matches!(error, ArtifactError::TooLarge { limit: MAX_BYTES, .. }), "{error}");
    }
    assert_eq!(names(store, &owner("large")).await, "");
    assert_eq!(save(store, &key, "less").await, 0);
}

async fn a_save_that_is_dropped_saves_nothing(store: &dyn ArtifactStore) {
    let key = key("dropped", "a");
    let (mut reader, writer) = tokio::io::duplex(64);
    let about = About::default();
    let saving = store.save(&key, &mut reader, &about);
    assert!(tokio::time::timeout(Duration::from_millis(20), saving).await.is_err());
    drop(writer);
    assert_eq!(names(store, &owner("dropped")).await, "");
    assert_eq!(save(store, &key, "later").await, 0);
}

async fn concurrent_savers_get_distinct_versions(store: &Arc<dyn ArtifactStore>) {
    let key = key("race", "a");
    let savers: Vec<_> = (0..100)
        .map(|saver| {
            let (store, key) = (Arc::clone(store), key.clone());
            tokio::spawn(async move {
                let content = format!("from {saver}");
                (save(&*store, &key, &content).await, content)
            })
        })
        .collect();
    let mut saved = Vec::new();
    for saver in savers {
        saved.push(saver.await.unwrap());
    }
    saved.sort();
    let numbers: Vec<u64> = saved.iter().map(|(version, _)| *version).collect();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    for (version, content) in saved {
        assert_eq!(text(&**store, &key, Some(version)).await, content);
    }
}

async fn concurrent_deleters_agree_on_one(store: &Arc<dyn ArtifactStore>) {
    let key = key("race", "b");
    save(&**store, &key, "").await;
    save(&**store, &key, "").await;
    let deleters: Vec<_> = (0..20)
        .map(|_| {
            let (store, key) = (Arc::clone(store), key.clone());
            tokio::spawn(async move { store.delete(&key, Some(1)).await.is_ok() })
        })
        .collect();
    let mut winners = 0;
    for deleter in deleters {
        winners += usize::from(deleter.await.unwrap());
    }
    assert_eq!(winners, 1);
    assert_eq!(store.versions(&key).await.unwrap().len(), 1);
}

/// A user of their own, so that what belongs to users is apart too.
fn other(user: &str) -> Owner {
    Owner::new("app", user, "s").unwrap()
}
