//! Events as they are written, which other programs and later versions read.

use metier_session::content::{Call, Part, Reasoning};
use metier_session::{BreakCause, Content, Delta, DeltaError, Event, NewEvent, State};
use serde_json::{Value, json};

use crate::support::{delta, paid, replied, said};

/// The JSON of an event, without what differs each time.
fn written(event: NewEvent) -> String {
    let mut value: Value = serde_json::to_value(Event::from(event)).unwrap();
    let fields = value.as_object_mut().unwrap();
    fields.shift_remove("id").unwrap();
    fields.shift_remove("time").unwrap();
    value.to_string()
}

#[test]
fn an_event_says_only_what_there_is_to_say() {
    insta::assert_snapshot!(written(said("hi")), @r#"{"seq":0,"author":"ada","kind":"user","content":{"text":"hi"}}"#);
}

#[test]
fn a_reply_keeps_arguments_and_thoughts_as_text() {
    let call = Call {
        id: "c".into(),
        name: "n".into(),
        arguments: "{\"a\": 1.0}".into(),
        ..Call::default()
    };
    let thoughts =
        Reasoning { provider: "p".into(), json: "{\"s\": \"A=\"}".into(), ..Reasoning::default() };
    let mut event = replied("hm")
        .with_usage(paid("m", 3, 2))
        .with_digest("csv", "d")
        .with_state(delta("a=1 -b"));
    event = event.with_break(BreakCause::Compaction, Vec::new());
    let mut event = Event::from(event);
    let Content::Assistant(reply) = &mut event.content else { panic!("{event:?}") };
    reply.parts.extend([Part::Call(call), Part::Reasoning(thoughts)]);
    insta::assert_snapshot!(written(event.into()), @r#"{"seq":0,"author":"agent","kind":"assistant","content":{"parts":[{"type":"text","text":"hm"},{"type":"call","id":"c","name":"n","arguments":"{\"a\": 1.0}"},{"type":"reasoning","provider":"p","json":"{\"s\": \"A=\"}"}],"model":"m"},"state":{"a":"1","b":null},"usage":{"model":"m","input_tokens":3,"cached_input_tokens":0,"cache_write_tokens":0,"output_tokens":2,"reasoning_tokens":0},"digests":{"csv":"d"},"breaks":{"cause":"compaction"}}"#);
}

#[test]
fn an_event_says_which_skill_of_a_name_took_part() {
    let event = said("hi").with_digest("csv", "d").with_identity("csv", "i");
    insta::assert_snapshot!(written(event), @r#"{"seq":0,"author":"ada","kind":"user","content":{"text":"hi"},"digests":{"csv":"d"},"identities":{"csv":"i"}}"#);
}

#[test]
fn a_delta_that_is_read_obeys_the_same_rules() {
    let read =
        |value: Value| serde_json::from_value::<Delta>(value).map_err(|error| error.to_string());
    assert_eq!(read(json!({"b": null, "a": "1"})), Ok(delta("a=1 -b")));
    insta::assert_snapshot!(read(json!({"": "1"})).unwrap_err(), @"`` cannot be a name in the state: it is empty");
    insta::assert_snapshot!(read(json!({"n": "x".repeat(300_000)})).unwrap_err(), @"the value of `n` has 300000 bytes, and at most 262144 are taken");
    insta::assert_snapshot!(read(json!({"n": 1})).unwrap_err(), @"invalid type: integer `1`, expected a string");
    let names: serde_json::Map<_, _> =
        (0..10_001).map(|name| (name.to_string(), Value::Null)).collect();
    insta::assert_snapshot!(read(Value::Object(names)).unwrap_err(), @"more than 10000 names change at once: use several events");
}

#[test]
fn a_delta_takes_so_many_names_and_no_more() {
    let mut delta = Delta::new();
    for name in 0..10_000 {
        delta.set(&name.to_string(), "").unwrap();
    }
    delta.remove("5").unwrap();
    assert_eq!(delta.set("more", ""), Err(DeltaError::TooMany { limit: 10_000 }));
    let one = {
        let mut one = Delta::new();
        one.set("more", "").unwrap();
        one
    };
    assert_eq!(delta.merge(one), Err(DeltaError::TooMany { limit: 10_000 }));
}

#[test]
fn the_later_of_two_deltas_wins() {
    let mut merged = delta("a=1 b=1 -c -d");
    merged.merge(delta("a=2 -b c=2")).unwrap();
    assert_eq!(merged, delta("a=2 -b c=2 -d"));
    let mut state = State::default();
    state.apply(&delta("b=0 d=0 e=0"));
    state.apply(&merged);
    let names: Vec<_> = state.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(names, ["a=2", "c=2", "e=0"]);
}

#[test]
fn names_below_a_prefix_are_found_without_it() {
    let mut state = State::default();
    state.apply(&delta("skill:b=2 skill:a=1 skill=0 skilled=3 skill:=4"));
    assert_eq!(state.below("skill:").collect::<Vec<_>>(), [("", "4"), ("a", "1"), ("b", "2")]);
    assert_eq!(state.below("z").count(), 0);
}
