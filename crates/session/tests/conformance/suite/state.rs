//! The state, which follows from the log.

use std::collections::BTreeMap;

use metier_session::{Delta, replay};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use crate::support::{Store, all, begin, delta, key, refusal, said, state};

pub(crate) async fn the_state_follows_from_the_log(store: &Store) {
    let names = prop::sample::select(vec!["a", "b", "temp:skill:loaded:x", "é", "\0", "%", "_"]);
    let deltas = prop::collection::btree_map(names, prop::option::of("\\PC{0,3}|\0"), 0..4);
    let appends = prop::collection::vec(prop::collection::vec(deltas, 0..4), 0..6);
    let mut runner = TestRunner::new(ProptestConfig { cases: 40, ..ProptestConfig::default() });
    let holds = |appends| {
        block_in_place(|| Handle::current().block_on(follows(store, appends)));
        Ok(())
    };
    runner.run(&appends, holds).unwrap();
}

/// Appends events with these deltas, and compares the state with that of a model and of a replay.
async fn follows(store: &Store, appends: Vec<Vec<BTreeMap<&str, Option<String>>>>) {
    let at = begin(store, "replay").await;
    let mut expected = BTreeMap::new();
    let mut seq = 0;
    for deltas in appends {
        let mut events = Vec::new();
        for changes in deltas {
            let mut delta = Delta::new();
            for (name, value) in changes {
                match value {
                    Some(value) => {
                        delta.set(name, &value).unwrap();
                        expected.insert(name.to_owned(), value);
                    }
                    None => {
                        delta.remove(name).unwrap();
                        expected.remove(name);
                    }
                }
            }
            events.push(said("x").with_state(delta));
        }
        seq = store.append(&at, seq, events).await.unwrap().last().map_or(seq, |event| event.seq);
        let state = store.state(&at).await.unwrap();
        assert!(state.iter().eq(&expected), "{state:?} instead of {expected:?}");
    }
    assert_eq!(replay(&all(store, &at).await), store.state(&at).await.unwrap());
    store.delete(&key("replay")).await.unwrap();
}

pub(crate) async fn a_name_that_is_removed_leaves_nothing(store: &Store) {
    let at = begin(store, "removed").await;
    let changes = ["a=1 b=2", "-a -missing", "c= b=3", "-b", "a=4"];
    let events = changes.map(|changes| said("").with_state(delta(changes)));
    let [first, second, third, fourth, fifth] = events;
    store.append(&at, 0, vec![first]).await.unwrap();
    store.append(&at, 1, vec![second, third]).await.unwrap();
    assert_eq!(state(store, &at).await, "b=3 c=");
    let found = store.state(&at).await.unwrap();
    assert_eq!((found.len(), found.get("a"), found.get("c")), (2, None, Some("")));
    store.append(&at, 3, vec![fourth, fifth]).await.unwrap();
    assert_eq!(state(store, &at).await, "a=4 c=");
    let removed = all(store, &at).await[1].state.clone();
    assert_eq!(removed.iter().collect::<Vec<_>>(), [("a", None), ("missing", None)]);
}

pub(crate) async fn a_state_that_would_be_too_large_is_refused(store: &Store) {
    let at = begin(store, "swollen").await;
    let filler = "ä".repeat(125_000);
    for (seq, name) in ["1", "2", "3", "4"].into_iter().enumerate() {
        let mut delta = Delta::new();
        delta.set(name, &filler).unwrap();
        store.append(&at, seq as u64, vec![said("").with_state(delta)]).await.unwrap();
    }
    let mut more = Delta::new();
    more.set("5", &filler).unwrap();
    assert_eq!(
        refusal(store.append(&at, 4, vec![said("").with_state(more.clone())]).await),
        "the state of the session has 1250005 bytes, and at most 1048576 are taken: keep content as artifacts"
    );
    more.remove("1").unwrap();
    store.append(&at, 4, vec![said("").with_state(more)]).await.unwrap();
    assert_eq!(store.state(&at).await.unwrap().bytes(), 1_000_004);
}
