//! Sessions: their names, generations, openings, lists.

use std::collections::BTreeSet;
use std::sync::Arc;

use metier_session::{MAX_OPENING_BYTES, Opening, SessionFilter, SessionKey, SessionRef};

use crate::support::{
    Store, all, begin, delta, join, key, listed, refusal, replied, said, state, words,
};

pub(crate) async fn those_who_begin_a_session_at_once_share_it(store: &Store) {
    let creators = (0..16).map(|_| {
        let store = Arc::clone(store);
        async move { store.create(&key("shared")).await.unwrap() }
    });
    let sessions = join(creators).await;
    assert!(sessions.iter().all(|session| *session == sessions[0]), "{sessions:?}");
    assert_eq!(store.get(&key("shared")).await.unwrap().as_ref(), sessions.first());
}

pub(crate) async fn a_session_that_is_made_again_shares_nothing(store: &Store) {
    let mut generations = BTreeSet::new();
    let mut earlier: Vec<SessionRef> = Vec::new();
    for round in 0..3 {
        let at = begin(store, "phoenix").await;
        assert!(generations.insert(at.generation), "{at:?} was there before");
        assert_eq!(all(store, &at).await, []);
        assert_eq!(state(store, &at).await, "");
        assert_eq!(store.opening(&at).await.unwrap(), None);
        for old in &earlier {
            let gone = "the session `phoenix` was deleted and begun anew: open it again";
            assert_eq!(refusal(store.append(old, 0, vec![said("late")]).await), gone);
            assert_eq!(refusal(store.events(old, 0, 1).await), gone);
            assert_eq!(refusal(store.state(old).await), gone);
            assert_eq!(refusal(store.opening(old).await), gone);
            assert_eq!(refusal(store.set_opening(old, Opening::default()).await), gone);
        }
        let event = said(&round.to_string()).with_state(delta(&format!("k{round}=1")));
        store.append(&at, 0, vec![event]).await.unwrap();
        store.set_opening(&at, Opening::default()).await.unwrap();
        assert_eq!(store.delete(&key("phoenix")).await.unwrap(), at);
        earlier.push(at);
    }
    // Also when something else is made and deleted in between.
    let other = begin(store, "other").await;
    store.delete(&key("other")).await.unwrap();
    let again = begin(store, "phoenix").await;
    assert!(!generations.contains(&again.generation) && again.generation != other.generation);
}

pub(crate) async fn ids_are_only_ids(store: &Store) {
    let long = "x".repeat(1024);
    let longer = format!("{}y", "x".repeat(1023));
    let ids = [
        "..",
        ".",
        "/",
        "a/b",
        "a",
        "a/../b",
        "../../etc/passwd",
        "\0",
        "a\0",
        "a\nb",
        "%2e",
        "%",
        "_",
        "A",
        "ß",
        "SS",
        "\u{e9}",
        "e\u{301}",
        " ",
        "a ",
        "'; DROP TABLE event; --",
        "NULL",
        "1",
        "01",
        "1.0",
        "file:x?mode=memory",
        ":memory:",
        &long,
        &longer,
    ];
    let keys = ids.iter().flat_map(|id| {
        let parts = [[id, "u", "s"], ["u", id, "s"], ["u", "s", id]];
        parts.map(|[app, user, session]| SessionKey::new(app, user, session).unwrap())
    });
    let joined = [("j/k", "l", "m"), ("j", "k/l", "m"), ("j", "k", "l/m")];
    let joined = joined.map(|(app, user, name)| SessionKey::new(app, user, name).unwrap());
    let keys: Vec<_> = keys.chain(joined).collect();
    for key in &keys {
        assert_eq!(store.get(key).await.unwrap(), None, "{key:?} shares a place with another");
        let session = store.create(key).await.unwrap();
        assert_eq!(session.at.key, *key);
        store.append(&session.at, 0, vec![said(&format!("{key:?}"))]).await.unwrap();
    }
    for key in &keys {
        let session = store.get(key).await.unwrap().unwrap();
        assert_eq!(session.at.key, *key);
        let events = all(store, &session.at).await;
        assert_eq!(events.iter().map(words).collect::<Vec<_>>(), [format!("{key:?}")]);
    }
    for id in ["", &"x".repeat(1025)] {
        for key in [SessionKey::new(id, "u", "s"), SessionKey::new("a", id, "s")] {
            key.unwrap_err();
        }
        assert!(refusal(SessionKey::new("a", "u", id)).starts_with("the id of the session cannot"));
    }
}

pub(crate) async fn an_opening_is_set_once(store: &Store) {
    let at = begin(store, "opening").await;
    assert_eq!(store.opening(&at).await.unwrap(), None);
    let opening = |number: usize| Opening {
        system: format!("You are number {number}.\n"),
        tools: "[ {\"name\":\"skill_load\", \"n\":1.0} ]".to_owned(),
        catalog: "f00".to_owned(),
        ..Opening::default()
    };
    let setters = (0..16).map(|number| {
        let (store, at, opening) = (Arc::clone(store), at.clone(), opening(number));
        async move { store.set_opening(&at, opening).await.unwrap() }
    });
    let answers = join(setters).await;
    let kept = store.opening(&at).await.unwrap().unwrap();
    assert!(answers.iter().all(|answer| *answer == kept), "{answers:?}");
    assert!((0..16).any(|number| kept == opening(number)));
    assert_eq!(store.set_opening(&at, opening(99)).await.unwrap(), kept);
    let large = Opening { system: "x".repeat(MAX_OPENING_BYTES), ..Opening::default() };
    let error = refusal(store.set_opening(&at, large).await);
    assert!(error.starts_with("the opening has 4194"), "{error}");
}

pub(crate) async fn lists_are_newest_first(store: &Store) {
    let everything = SessionFilter::default();
    assert_eq!(listed(store, &everything, 10).await, "");
    for name in ["a", "b", "c", "d", "e"] {
        begin(store, name).await;
        pause().await;
    }
    assert_eq!(listed(store, &everything, 10).await, "e d c b a");
    let second = store.get(&key("b")).await.unwrap().unwrap();
    store.append(&second.at, 0, vec![said("x")]).await.unwrap();
    assert_eq!(listed(store, &everything, 2).await, "b e | d c | a");
    assert_eq!(listed(store, &everything, 5).await, "b e d c a");
    store.delete(&key("d")).await.unwrap();
    assert_eq!(listed(store, &everything, usize::MAX).await, "b e c a");
}

pub(crate) async fn lists_can_be_filtered(store: &Store) {
    for (app, user, name) in [("x", "ada", "1"), ("x", "bob", "2"), ("y", "ada", "3")] {
        store.create(&SessionKey::new(app, user, name).unwrap()).await.unwrap();
        pause().await;
    }
    let filter = |app: Option<&str>, user: Option<&str>| SessionFilter {
        app: app.map(str::to_owned),
        user: user.map(str::to_owned),
        ..SessionFilter::default()
    };
    assert_eq!(listed(store, &filter(Some("x"), None), 9).await, "2 1");
    assert_eq!(listed(store, &filter(None, Some("ada")), 1).await, "3 | 1");
    assert_eq!(listed(store, &filter(Some("y"), Some("bob")), 9).await, "");
    assert_eq!(listed(store, &filter(Some("%"), None), 9).await, "");
    let third = SessionKey::new("y", "ada", "3").unwrap();
    let third = store.get(&third).await.unwrap().unwrap();
    let unused = |time| SessionFilter { unused_since: Some(time), ..SessionFilter::default() };
    assert_eq!(listed(store, &unused(third.updated), 9).await, "2 1");
    assert_eq!(listed(store, &unused(0), 9).await, "");
    assert_eq!(listed(store, &unused(u64::MAX), 9).await, "3 2 1");
}

pub(crate) async fn a_title_is_that_of_the_first_message(store: &Store) {
    let at = begin(store, "title").await;
    let title = async || store.get(&key("title")).await.unwrap().unwrap().title;
    store.append(&at, 0, vec![replied("Good morning"), said(" \n ")]).await.unwrap();
    assert_eq!(title().await, None);
    let messages = vec![said("Plot\n the  sales"), said("No, the costs")];
    store.append(&at, 2, messages).await.unwrap();
    assert_eq!(title().await.as_deref(), Some("Plot the sales"));
    store.append(&at, 4, vec![said("Thanks")]).await.unwrap();
    assert_eq!(title().await.as_deref(), Some("Plot the sales"));
}

pub(crate) async fn what_is_not_there_is_an_error_that_says_so(store: &Store) {
    let at = SessionRef { key: key("\u{1b}[31mnone"), generation: 1 };
    let missing =
        "there is no session `\\u{1b}[31mnone`: look for its name in the list of sessions";
    assert_eq!(store.get(&at.key).await.unwrap(), None);
    assert_eq!(refusal(store.append(&at, 0, vec![said("x")]).await), missing);
    assert_eq!(refusal(store.events(&at, 0, 1).await), missing);
    assert_eq!(refusal(store.state(&at).await), missing);
    assert_eq!(refusal(store.opening(&at).await), missing);
    assert_eq!(refusal(store.set_opening(&at, Opening::default()).await), missing);
    assert_eq!(refusal(store.delete(&at.key).await), missing);
}

/// Long enough for the clock to go on.
async fn pause() {
    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
}
