//! Masks the values of configured keys before anything is written down, sent to a model or given to another agent.
//!
//! What commands write is masked where they run. This is for everything else that becomes part of a conversation: what people
//! type, texts of skills, answers of tools and of other servers, what a model itself says. Events are masked when they
//! are made, so a request still follows from the events and the settings alone.

use std::borrow::Cow;

use metier_model::{Message, Part, ReplyPart, Request, ToolSpec};
use metier_sandbox::Stream;
use metier_secrets::Redactor;
use metier_session::{Event, NewEvent, Opening};
use metier_workspace::executor::Live;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tools::Answer;

/// Masks an event before it is stored.
pub(crate) fn event(redactor: &Redactor, event: NewEvent) -> NewEvent {
    if redactor.is_empty() {
        return event;
    }
    let event = Event::from(event);
    NewEvent::from(typed(redactor, &event).unwrap_or(event))
}

/// Masks what a session begins with.
pub(crate) fn opening(redactor: &Redactor, mut opening: Opening) -> Opening {
    mask(redactor, &mut opening.system);
    mask(redactor, &mut opening.tools);
    opening
}

/// Masks the answer of a tool that is given to another agent.
pub(crate) fn answer(redactor: &Redactor, mut answer: Answer) -> Answer {
    mask(redactor, &mut answer.text);
    answer.result = answer.result.masked(redactor);
    answer
}

/// Masks a request: texts of skills are not in the events, and events may be older than a key.
pub(crate) fn request<'a>(redactor: &Redactor, request: &'a Request) -> Cow<'a, Request> {
    if redactor.is_empty() {
        return Cow::Borrowed(request);
    }
    let mut masked = request.clone();
    mask(redactor, &mut masked.system);
    masked.messages.iter_mut().for_each(|it| message(redactor, it));
    for ToolSpec { description, schema, .. } in &mut masked.tools {
        mask(redactor, description);
        *schema = redactor.redact_json(schema.take());
    }
    Cow::Owned(masked)
}

/// Masks what a tool of another server writes while it works.
pub(crate) fn live(redactor: &Redactor, mut live: Live) -> Live {
    let (mut output, mut error) = (redactor.stream(), redactor.stream());
    Box::new(move |stream, bytes| {
        let masked = match stream {
            Stream::Output => output.push(bytes),
            Stream::Error => error.push(bytes),
        };
        live(stream, &masked);
    })
}

fn message(redactor: &Redactor, message: &mut Message) {
    match message {
        Message::System(text) | Message::ToolResult { text, .. } => mask(redactor, text),
        Message::User(parts) => parts.iter_mut().for_each(|part| {
            if let Part::Text(text) = part {
                mask(redactor, text);
            }
        }),
        Message::Assistant(parts) => parts.iter_mut().for_each(|part| match part {
            ReplyPart::Text(text) | ReplyPart::Call { arguments: text, .. } => mask(redactor, text),
            // What only its provider reads is signed: it goes back as it came.
            _ => {}
        }),
        _ => {}
    }
}

fn mask(redactor: &Redactor, text: &mut String) {
    if let Cow::Owned(masked) = redactor.redact(text) {
        *text = masked;
    }
}

/// Masks every text of a value; and numbers too, where it need not have numbers.
fn typed<T: Serialize + DeserializeOwned>(redactor: &Redactor, value: &T) -> Option<T> {
    let json = serde_json::to_value(value).ok()?;
    let masked = serde_json::from_value(redactor.redact_json(json.clone()));
    masked.or_else(|_| serde_json::from_value(texts(redactor, json))).ok()
}

/// Masks texts and names of fields only.
fn texts(redactor: &Redactor, value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(number),
        Value::Array(items) => items.into_iter().map(|item| texts(redactor, item)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, texts(redactor, value))).collect()
        }
        other => redactor.redact_json(other),
    }
}

#[cfg(test)]
mod tests {
    use metier_session::Content;
    use metier_session::content::{AssistantMessage, Call, Part as Said, ToolResponse};
    use serde_json::json;

    use super::*;

    const KEY: &str = "key/01234\"5678";

    fn redactor() -> Redactor {
        Redactor::new([KEY, "12345678"]).unwrap()
    }

    #[test]
    fn an_event_has_no_key_in_any_of_its_fields() {
        let response = ToolResponse {
            text: json!({ "stdout": KEY }).to_string(),
            structured: json!({ KEY: [KEY, 12_345_678, 7] }),
            ..ToolResponse::default()
        };
        let arguments = json!({ "command": format!("echo {KEY}") }).to_string();
        let call = Call { name: KEY.to_owned(), arguments, ..Call::default() };
        let message =
            AssistantMessage { parts: vec![Said::Call(call)], ..AssistantMessage::default() };
        for content in [Content::ToolResponse(response), Content::Assistant(message)] {
            let masked = event(&redactor(), NewEvent::new("agent", content));
            let text = serde_json::to_string(&masked.preview(1)).unwrap();
            assert!(text.contains("****"), "{text}");
            assert!(!text.contains("key/") && !text.contains("12345678"), "{text}");
        }
    }

    #[test]
    fn an_event_whose_numbers_must_stay_is_masked_in_its_texts() {
        let text =
            Content::ToolResponse(ToolResponse { text: KEY.into(), ..ToolResponse::default() });
        let time = 12_345_678;
        let masked = event(&redactor(), NewEvent::new("agent", text).with_time(time)).preview(1);
        assert_eq!(masked.time, time);
        assert!(matches!(&masked.content, Content::ToolResponse(it) if it.text == "****"));
    }

    #[test]
    fn a_request_has_no_key_in_any_of_its_parts_and_is_the_same_every_time() {
        let call = ReplyPart::Call {
            id: "a".into(),
            name: "run".into(),
            arguments: json!({ "command": KEY }).to_string(),
        };
        let result = Message::ToolResult {
            call_id: "a".into(),
            name: "run".into(),
            text: KEY.into(),
            is_error: false,
        };
        let sent = Request {
            system: KEY.into(),
            messages: vec![
                Message::System(KEY.into()),
                Message::user(KEY),
                Message::Assistant(vec![ReplyPart::Text(KEY.into()), call]),
                result,
            ],
            tools: vec![ToolSpec {
                name: "run".into(),
                description: KEY.into(),
                schema: json!({ "enum": [KEY] }),
            }],
            ..Request::default()
        };
        let masked = request(&redactor(), &sent);
        let text = serde_json::to_string(&masked).unwrap();
        assert_eq!(text.matches("****").count(), 8, "{text}");
        assert!(!text.contains("key/"), "{text}");
        assert_eq!(masked, request(&redactor(), &sent));
        assert!(matches!(request(&Redactor::default(), &sent), Cow::Borrowed(_)));
    }
}
