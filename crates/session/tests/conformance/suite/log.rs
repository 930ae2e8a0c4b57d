//! Events: their order, their content, their bounds.

use std::collections::BTreeMap;
use std::sync::Arc;

use metier_session::content::{
    Approval, AssistantMessage, Attachment, Call, Loaded, Part, Reasoning, StateUpdate, Summary,
    Text, ToolResponse, UserMessage,
};
use metier_session::{
    BreakCause, Content, Event, MAX_APPEND_EVENTS, MAX_EVENT_BYTES, MAX_PAGE, MAX_PAGE_BYTES,
    NewEvent, SessionError, SessionRef, Stub,
};
use serde_json::{Value, json};

use crate::support::{
    Store, all, begin, delta, join, key, paid, refusal, replied, said, state, words,
};

pub(crate) async fn events_are_numbered_in_the_order_of_appending(store: &Store) {
    let at = begin(store, "order").await;
    let first = store.append(&at, 0, vec![said("a"), replied("b")]).await.unwrap();
    assert_eq!(first.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(store.append(&at, 2, Vec::new()).await.unwrap(), []);
    let second = store.append(&at, 2, vec![said("c")]).await.unwrap();
    let events = all(store, &at).await;
    assert_eq!(events, [first, second].concat());
    assert_eq!(events.iter().map(words).collect::<String>(), "abc");
    let session = store.get(&key("order")).await.unwrap().unwrap();
    assert_eq!((session.seq, session.turns), (3, 2));
    assert!(session.created <= session.updated);
}

pub(crate) async fn every_kind_of_event_comes_back_as_it_was(store: &Store) {
    let at = begin(store, "kinds").await;
    let events = every_kind().into_iter().map(|content| NewEvent::new("ä\0", content));
    let events: Vec<_> = events.collect();
    let stubs: Vec<_> = events.iter().map(|event| Stub::new(event.id(), "csv")).collect();
    let full = said("")
        .with_state(delta("a=1 -b"))
        .with_usage(paid("m", 3, u64::MAX))
        .with_digest("csv", "d1")
        .with_digest("log", "d2")
        .with_break(BreakCause::Eviction, stubs.clone());
    let events = [events, vec![full]].concat();
    let appended = store.append(&at, 0, events).await.unwrap();
    let read = all(store, &at).await;
    assert_eq!(read, appended);
    let kinds: Vec<_> = read.iter().map(|event| event.content.kind()).collect();
    let known = ["user", "assistant", "tool.response", "state.update", "summary", "approval"];
    assert_eq!(kinds[..6], known);
    let breaks = read[6].breaks.as_ref().unwrap();
    assert_eq!(breaks.stubbed, stubs);
}

/// One of each kind, with text that is hard to keep.
fn every_kind() -> Vec<Content> {
    let hard = "naïve 👩‍👩‍👧 \u{202e}cba\u{202c} e\u{301} \0 \u{1b}[31m \r\n\t \"\\ \u{feff}\u{ffff}";
    let map = BTreeMap::from([("x", json!([0.1, 1e300, -0.0, u64::MAX, i64::MIN, null]))]);
    let call = Call {
        id: "c1".to_owned(),
        name: "skill_run".to_owned(),
        arguments: "{ \"b\" : 1.00,\n \"a\":\"\\u00e9\", \"b\": 2 } trailing".to_owned(),
        ..Call::default()
    };
    let reasoning = Reasoning {
        provider: "p".to_owned(),
        json: "{\"signature\":\"A/+=\", \"n\": 1.10, \"n\":1}".to_owned(),
        ..Reasoning::default()
    };
    let text = Text { text: hard.to_owned(), ..Text::default() };
    vec![
        Content::User(UserMessage {
            text: hard.to_owned(),
            attachments: vec![Attachment {
                name: "../../etc/passwd".to_owned(),
                reference: "artifact://a@1".to_owned(),
                ..Attachment::default()
            }],
            loaded: vec![Loaded {
                skill: "csv".to_owned(),
                digest: "d".to_owned(),
                docs: vec![hard.to_owned()],
                ..Loaded::default()
            }],
            ..UserMessage::default()
        }),
        Content::Assistant(AssistantMessage {
            parts: vec![Part::Reasoning(reasoning), Part::Text(text), Part::Call(call)],
            model: "m".to_owned(),
            stop_reason: Some("tool_use".to_owned()),
            ..AssistantMessage::default()
        }),
        Content::ToolResponse(ToolResponse {
            call: "c1".to_owned(),
            tool: "skill_load".to_owned(),
            text: "loaded: csv".to_owned(),
            is_error: true,
            structured: json!(map),
            loaded: Some(Loaded {
                skill: "csv".to_owned(),
                digest: "d".to_owned(),
                server: Some(hard.to_owned()),
                body: true,
                docs: vec!["z.md".to_owned(), "a.md".to_owned()],
                ..Loaded::default()
            }),
            ..ToolResponse::default()
        }),
        Content::StateUpdate(StateUpdate {
            cause: "library".to_owned(),
            text: Some(hard.to_owned()),
            ..StateUpdate::default()
        }),
        Content::Summary(Summary { text: hard.to_owned(), covers: u64::MAX, ..Summary::default() }),
        Content::Approval(Approval {
            request: json!({"command": hard}),
            decision: json!("once"),
            ..Approval::default()
        }),
    ]
}

pub(crate) async fn an_append_is_there_whole_or_not_at_all(store: &Store) {
    let at = begin(store, "whole").await;
    store.append(&at, 0, vec![said("first").with_state(delta("a=1"))]).await.unwrap();
    let before = store.get(&key("whole")).await.unwrap();
    let good = || said("good").with_state(delta("a=2 b=3"));
    let large = said(&"x".repeat(MAX_EVENT_BYTES));
    let filler = "v".repeat(250_000);
    let mut swollen = delta("");
    for name in ["1", "2", "3", "4", "5"] {
        swollen.set(name, &filler).unwrap();
    }
    for bad in [vec![good(), large], vec![good(), said("").with_state(swollen), good()]] {
        let refused = store.append(&at, 1, bad).await;
        assert!(matches!(refused, Err(SessionError::TooLarge { .. })), "{refused:?}");
    }
    let conflict = store.append(&at, 0, vec![good(), good()]).await;
    assert_eq!(conflict, Err(SessionError::Conflict { expected: 0, found: 1 }));
    assert_eq!(all(store, &at).await.len(), 1);
    assert_eq!(state(store, &at).await, "a=1");
    assert_eq!(store.get(&key("whole")).await.unwrap(), before);
    store.append(&at, 1, vec![good()]).await.unwrap();
    assert_eq!(state(store, &at).await, "a=2 b=3");
}

pub(crate) async fn of_sixteen_writers_nobody_loses_an_event(store: &Store) {
    const WRITERS: usize = 16;
    const EACH: usize = 5;
    let at = begin(store, "writers").await;
    let writers = (0..WRITERS).map(|writer| write(Arc::clone(store), at.clone(), writer, EACH));
    let conflicts: usize = join(writers).await.into_iter().sum();
    let events = all(store, &at).await;
    assert_eq!(events.len(), 2 * WRITERS * EACH);
    let mut counts = [0; WRITERS];
    for pair in events.chunks(2) {
        let (writer, number) = words(&pair[0]).split_once(' ').unwrap();
        let count = &mut counts[writer.parse::<usize>().unwrap()];
        assert_eq!(number.parse::<usize>().unwrap(), *count, "out of order");
        *count += 1;
        assert_eq!(words(&pair[1]), "…", "another writer's event in the middle of an append");
    }
    assert!(conflicts > 0, "nobody was in anybody's way");
}

/// Appends so many pairs, each after what is there; gives how often others were faster.
async fn write(store: Store, at: SessionRef, writer: usize, count: usize) -> usize {
    let (mut conflicts, mut seq) = (0, 0);
    for number in 0..count {
        loop {
            let pair = vec![said(&format!("{writer} {number}")), replied("…")];
            match store.append(&at, seq, pair).await {
                Ok(appended) => {
                    assert_eq!((appended[0].seq, appended[1].seq), (seq + 1, seq + 2));
                    break;
                }
                Err(SessionError::Conflict { expected, found }) => {
                    assert_eq!(expected, seq);
                    conflicts += 1;
                    seq = found;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    conflicts
}

pub(crate) async fn a_number_that_is_not_the_last_is_a_conflict(store: &Store) {
    let at = begin(store, "conflict").await;
    store.append(&at, 0, vec![said("a"), said("b")]).await.unwrap();
    for expected in [0, 1, 3, i64::MAX.unsigned_abs(), i64::MAX.unsigned_abs() + 1, u64::MAX] {
        let outcome = store.append(&at, expected, vec![said("c"), said("d")]).await;
        assert_eq!(outcome, Err(SessionError::Conflict { expected, found: 2 }));
        let outcome = store.append(&at, expected, Vec::new()).await;
        assert_eq!(outcome, Err(SessionError::Conflict { expected, found: 2 }));
    }
    assert_eq!(all(store, &at).await.len(), 2);
}

pub(crate) async fn pages_have_neither_gaps_nor_repetitions(store: &Store) {
    let at = begin(store, "pages").await;
    for batch in 0..3 {
        let events = (0..MAX_APPEND_EVENTS).map(|index| said(&index.to_string())).collect();
        store.append(&at, (batch * MAX_APPEND_EVENTS) as u64, events).await.unwrap();
    }
    let numbers = async |after, limit| -> Vec<u64> {
        let page = store.events(&at, after, limit).await.unwrap();
        page.iter().map(|event| event.seq).collect()
    };
    assert_eq!(numbers(0, 3).await, [1, 2, 3]);
    assert_eq!(numbers(3, 2).await, [4, 5]);
    assert_eq!(numbers(0, 0).await, [0; 0]);
    assert_eq!(numbers(2998, 10).await, [2999, 3000]);
    for after in [3000, 3001, i64::MAX.unsigned_abs(), u64::MAX] {
        assert_eq!(numbers(after, 10).await, [0; 0]);
    }
    assert_eq!(numbers(1, usize::MAX).await.len(), MAX_PAGE);
    assert_eq!(all(store, &at).await.len(), 3 * MAX_APPEND_EVENTS);
}

pub(crate) async fn a_page_of_large_events_ends_early(store: &Store) {
    let at = begin(store, "large").await;
    let text = "x".repeat(MAX_EVENT_BYTES - 1000);
    let needed = MAX_PAGE_BYTES / text.len() + 2;
    for seq in 0..needed {
        store.append(&at, seq as u64, vec![said(&text)]).await.unwrap();
    }
    let page = store.events(&at, 0, MAX_PAGE).await.unwrap();
    assert!((1..needed).contains(&page.len()), "{} events in a page", page.len());
    let rest = store.events(&at, page.len() as u64, MAX_PAGE).await.unwrap();
    assert_eq!(page.len() + rest.len(), needed);
    assert!(page.iter().chain(&rest).all(|event| words(event) == text));
}

pub(crate) async fn what_is_too_large_is_refused(store: &Store) {
    let at = begin(store, "bounds").await;
    let append = async |events| refusal(store.append(&at, 0, events).await);
    assert_eq!(
        append(vec![said("x"); MAX_APPEND_EVENTS + 1]).await,
        "1001 events are more than the 1000 that are appended at once: use several steps"
    );
    let error = append(vec![said(&"\0".repeat(MAX_EVENT_BYTES / 6))]).await;
    assert!(error.starts_with("the event has 4194"), "{error}");
    assert!(error.ends_with("and at most 4194304 are taken: keep content as artifacts"), "{error}");
    let error = append(vec![said(&"x".repeat(MAX_EVENT_BYTES - 1000)); 5]).await;
    assert!(error.starts_with("the append has "), "{error}");
    let error = append(vec![NewEvent::new(&"x".repeat(1025), said_content())]).await;
    assert!(error.starts_with("the name of the author has 1025 bytes"), "{error}");
    assert_eq!(all(store, &at).await, []);
    store.append(&at, 0, vec![said(&"x".repeat(MAX_EVENT_BYTES - 1000))]).await.unwrap();
}

fn said_content() -> Content {
    Content::User(UserMessage::default())
}

pub(crate) async fn what_could_not_be_read_again_is_refused(store: &Store) {
    let at = begin(store, "unreadable").await;
    let append = async |event: NewEvent| refusal(store.append(&at, 0, vec![event]).await);
    let deep = (0..200).fold(Value::Null, |inner, _| json!([inner]));
    let response = ToolResponse { structured: deep, ..ToolResponse::default() };
    let error = append(NewEvent::new("agent", Content::ToolResponse(response))).await;
    assert!(error.starts_with("the event cannot be stored: recursion limit"), "{error}");
    let mut event: Event = serde_json::from_str(EVENT).unwrap();
    event.extra.insert("seq".to_owned(), json!(7));
    let error = append(event.clone().into()).await;
    assert!(error.starts_with("the event cannot be stored: duplicate field `seq`"), "{error}");
    event.extra.clear();
    event.time = u64::MAX;
    let error = append(event.into()).await;
    assert_eq!(error, "the event cannot be stored: 18446744073709551615 is no time");
    assert_eq!(all(store, &at).await, []);
}

const EVENT: &str = r#"{"seq":1,"id":"019a8c5e-7b00-7000-8000-000000000001","time":1,"author":"ada","kind":"user","content":{"text":""}}"#;
