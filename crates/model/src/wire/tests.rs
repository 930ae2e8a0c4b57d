//! Requests of random conversations, in all formats.
//!
//! The exact bytes of chosen requests are in the snapshots of `tests/wire/requests.rs`.

use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::messages::MARK;
use super::{Dialect, Format, Speech};
use crate::{AllowedCall, Message, Opaque, Part, ReplyPart, Request, ToolChoice, ToolSpec};

const FORMATS: [Format; 3] = [Format::ChatCompletions, Format::Responses, Format::Messages];

fn encode(request: &Request, format: Format, dialect: Dialect) -> String {
    let parameters = Map::from_iter([("temperature".to_owned(), json!(0.5))]);
    let parameters = &parameters;
    format.encode(request, &Speech { model: "m", dialect, parameters, return_reasoning: true })
}

fn request(messages: Vec<Message>) -> Request {
    let schema = json!({"type": "object", "properties": {"b": {}, "a": {}}});
    let tools = ["one", "two"].map(|name| ToolSpec {
        name: name.to_owned(),
        description: "does \"something\"".to_owned(),
        schema: schema.clone(),
    });
    let system = "Be brief.".to_owned();
    Request { system, messages, tools: tools.into(), ..Request::default() }
}

/// One exchange: what the user or the system says, or a reply with all its results.
fn turn() -> impl Strategy<Value = Vec<Message>> {
    let text = "[a-z\"\\\\\u{e9}\u{1f980}\n ]{0,12}";
    let said = text.prop_map(|text| vec![Message::user(text)]);
    let parts =
        (text, text).prop_map(|(a, b)| vec![Message::User(vec![Part::Text(a), Part::Text(b)])]);
    let system = text.prop_map(|text| vec![Message::System(text)]);
    let calls = prop::collection::vec((0_u32..4, arguments(), text), 0..3);
    let replied = (text, thought(), calls).prop_map(|(text, thought, calls)| {
        let mut parts = vec![thought, ReplyPart::Text(text)];
        let mut results = Vec::new();
        for (at, (number, arguments, result)) in calls.into_iter().enumerate() {
            let (id, name) = (format!("call_{number}_{at}"), "one".to_owned());
            parts.push(ReplyPart::Call { id: id.clone(), name: name.clone(), arguments });
            let is_error = number % 2 == 0;
            results.push(Message::ToolResult { call_id: id, name, text: result, is_error });
        }
        let mut messages = vec![Message::Assistant(parts)];
        messages.extend(results);
        messages
    });
    prop_oneof![said, parts, system, replied]
}

/// Arguments as models write them, odd spacing and numbers included.
fn arguments() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "{}",
        "{ \"a\" : 1.0 }",
        "{\"n\":1e400,\"s\":\"\\u00e9\"}",
        "not json",
    ])
    .prop_map(str::to_owned)
}

fn thought() -> impl Strategy<Value = ReplyPart> {
    let json = prop::sample::select(vec![
        r#"{"type":"thinking", "thinking":"h\u006d","signature":"c2ln"}"#,
        r#"{"reasoning_details":[ {"type":"reasoning.text"} ]}"#,
    ]);
    (prop::sample::select(FORMATS.to_vec()), json).prop_map(|(format, json)| {
        let opaque = Some(Opaque { format, json: json.to_owned() });
        ReplyPart::Reasoning { text: "hm".to_owned(), opaque }
    })
}

/// A reply with a call of this id, and its result.
fn called(id: &str) -> [Message; 2] {
    let [id, name, arguments] = [id, "one", "{}"].map(str::to_owned);
    let call = ReplyPart::Call { id: id.clone(), name: name.clone(), arguments };
    let result =
        Message::ToolResult { call_id: id, name, text: "done".to_owned(), is_error: false };
    [Message::Assistant(vec![call]), result]
}

#[test]
fn an_id_that_comes_again_is_made_another_one_for_the_call_and_its_result() {
    let messages = [called("call_0"), called("call_0"), called("a.b")].concat();
    let ids = |format, kinds: [&str; 2]| -> Vec<String> {
        let body = encode(&request(messages.clone()), format, Dialect::Original);
        let body: Value = serde_json::from_str(&body).unwrap();
        let mut found = Vec::new();
        let lists = [&body["input"], &body["messages"]].into_iter().filter_map(Value::as_array);
        for item in lists.flatten() {
            let block = if item["content"].is_array() { &item["content"][0] } else { item };
            found.extend(kinds.iter().filter_map(|key| block[key].as_str()).map(str::to_owned));
        }
        found
    };
    for ids in
        [ids(Format::Messages, ["id", "tool_use_id"]), ids(Format::Responses, ["call_id", "none"])]
    {
        let [first, first_result, second, second_result, third, third_result] = ids.as_slice()
        else {
            panic!("{ids:?}");
        };
        assert_eq!((first.as_str(), first), ("call_0", first_result));
        assert_eq!((second, third), (second_result, third_result));
        assert!(first != second && !third.contains('.'), "{ids:?}");
    }
}

#[test]
fn no_parameter_may_be_one_that_a_request_writes() {
    let one = AllowedCall { name: "one".to_owned(), schema: None };
    let choices = [ToolChoice::Required, ToolChoice::Constrained(vec![one])];
    for (format, choice) in FORMATS.into_iter().flat_map(|it| choices.clone().map(|c| (it, c))) {
        for dialect in [Dialect::Original, Dialect::Compatible] {
            let request = Request {
                tool_choice: choice.clone(),
                max_output_tokens: Some(100),
                cache_key: Some("k".to_owned()),
                ..request(vec![Message::user("hi")])
            };
            let body: Map<String, Value> =
                serde_json::from_str(&encode(&request, format, dialect)).unwrap();
            assert!(body.len() > 5, "{body:?}");
            for member in body.keys().filter(|member| *member != "temperature") {
                assert!(format.owns(member), "{format:?} {dialect:?} {member}");
            }
        }
        assert!(!format.owns("temperature"));
    }
}

proptest! {
    #[test]
    fn a_longer_conversation_begins_with_the_bytes_of_the_shorter_one(
        turns in prop::collection::vec(turn(), 1..8),
        cut in 0_usize..8,
        format in prop::sample::select(FORMATS.to_vec()),
        dialect in prop::sample::select(vec![Dialect::Original, Dialect::Compatible]),
    ) {
        let shorter: Vec<_> = turns.iter().take(cut).flatten().cloned().collect();
        let longer = turns.concat();
        // Marks move with the end, and the brackets that close the request come later.
        let bytes = |messages| encode(&request(messages), format, dialect).replace(MARK, "");
        let (shorter, longer) = (bytes(shorter), bytes(longer));
        let open = shorter.trim_end_matches([']', '}']);
        prop_assert!(longer.starts_with(open), "\n{}\n{}", open, longer);
    }

    #[test]
    fn requests_are_json_and_keep_what_is_opaque_byte_for_byte(
        turns in prop::collection::vec(turn(), 1..5),
        format in prop::sample::select(FORMATS.to_vec()),
    ) {
        let messages = turns.concat();
        let body = encode(&request(messages.clone()), format, Dialect::Original);
        prop_assert!(serde_json::from_str::<&RawValue>(&body).is_ok(), "{}", body);
        prop_assert_eq!(&body, &encode(&request(messages.clone()), format, Dialect::Original));
        for message in &messages {
            let Message::Assistant(parts) = message else { continue };
            let speaks = parts.iter().any(|part| match part {
                ReplyPart::Text(text) => !text.trim().is_empty(),
                part => matches!(part, ReplyPart::Call { .. }),
            });
            for part in parts {
                match part {
                    ReplyPart::Reasoning { opaque: Some(opaque), .. }
                        if opaque.format == format && format != Format::ChatCompletions && speaks =>
                    {
                        prop_assert!(body.contains(&opaque.json));
                    }
                    ReplyPart::Call { arguments, .. } if format == Format::Messages => {
                        prop_assert!(body.contains(arguments.as_str()));
                    }
                    ReplyPart::Call { arguments, .. } => {
                        prop_assert!(body.contains(&json!(arguments).to_string()));
                    }
                    _ => {}
                }
            }
        }
    }
}
