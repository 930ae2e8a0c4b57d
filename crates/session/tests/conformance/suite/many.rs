//! Many sessions at once, and callers who give up.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{Store, all, begin, delta, join, key, replied, said, state, words};

pub(crate) async fn many_sessions_at_once_lose_and_reorder_nothing(store: &Store) {
    const SESSIONS: usize = 1000;
    const APPENDS: u64 = 4;
    let talks = (0..SESSIONS).map(|number| {
        let store = Arc::clone(store);
        async move {
            let at = begin(&store, &format!("s{number}")).await;
            for seq in (0..2 * APPENDS).step_by(2) {
                let question =
                    said(&format!("{number} {seq}")).with_state(delta(&format!("n={seq}")));
                let appended = store.append(&at, seq, vec![question, replied("…")]).await.unwrap();
                assert_eq!((appended[0].seq, appended[1].seq), (seq + 1, seq + 2));
            }
            at
        }
    });
    for (number, at) in join(talks).await.into_iter().enumerate() {
        let events = all(store, &at).await;
        let said: Vec<_> = events.iter().step_by(2).map(words).collect();
        let expected: Vec<_> =
            (0..APPENDS).map(|append| format!("{number} {}", 2 * append)).collect();
        assert_eq!(said, expected);
        assert_eq!(events.len() as u64, 2 * APPENDS);
        assert_eq!(state(store, &at).await, "n=6");
    }
}

pub(crate) async fn what_nobody_waits_for_is_whole_or_not_at_all(store: &Store) {
    let at = begin(store, "dropped").await;
    let mut given_up = 0;
    for round in 0..40 {
        let seq = store.get(&key("dropped")).await.unwrap().unwrap().seq;
        let events = (0..5).map(|_| said("x").with_state(delta(&format!("k{round}=1")))).collect();
        let append = store.append(&at, seq, events);
        given_up += usize::from(
            tokio::time::timeout(Duration::from_micros(round * 20), append).await.is_err(),
        );
    }
    // What was asked before is done before.
    let later = begin(store, "after").await;
    store.append(&later, 0, vec![said("x")]).await.unwrap();
    let events = all(store, &at).await;
    assert_eq!(events.len() % 5, 0);
    assert_eq!(store.state(&at).await.unwrap().len(), events.len() / 5);
    metier_testkit::report("session::many", &format!("{given_up} of 40 appends were given up"));
}
