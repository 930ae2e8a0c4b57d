//! Reading one answer: bytes in, events of the reply out, whatever the server sends.
//!
//! A stream of events and one JSON text are told apart by the first character, because the headers
//! of imitating servers are often wrong about it.

use std::collections::VecDeque;

use metier_net::NetError;
use serde::de::IgnoredAny;

use crate::accumulator::{Accumulator, MAX_REPLY_BYTES};
use crate::fault::Fault;
use crate::sse::{self, MAX_EVENT_BYTES};
use crate::wire::{Decode, Event, Progress, Trouble};
use crate::{Format, ModelError, Reply, ReplyEvent};

/// How many bytes of an answer are kept to show what it is.
const KEPT_BYTES: usize = 512;

/// Why an answer is not read on.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The provider reports an error.
    Fault(Fault),
    /// It is not in the format; it begins like this.
    NotJson(String),
    /// It, or an event, is larger than this.
    TooLarge(usize),
    /// It ended too early.
    Broken(Option<NetError>),
}

/// An answer that is being read.
#[derive(Debug)]
pub(crate) struct Reading {
    decode: Box<dyn Decode>,
    accumulator: Accumulator,
    body: Body,
    /// The first bytes, for messages.
    beginning: Vec<u8>,
}

#[derive(Debug)]
enum Body {
    /// Nothing but white space so far.
    Unknown(Vec<u8>),
    Events(sse::Decoder),
    Json(Vec<u8>),
}

impl Reading {
    pub(crate) fn new(format: Format, accumulator: Accumulator) -> Self {
        Self {
            decode: format.decoder(),
            accumulator,
            body: Body::Unknown(Vec::new()),
            beginning: Vec::new(),
        }
    }

    /// Takes the next piece of the answer, or its end.
    pub(crate) fn take(
        &mut self,
        chunk: Result<Option<Vec<u8>>, NetError>,
        events: &mut VecDeque<Result<ReplyEvent, ModelError>>,
    ) -> Result<Progress, Stopped> {
        let outcome = match chunk {
            Ok(Some(bytes)) => self.bytes(&bytes),
            Ok(None) => self.end_of_body(),
            Err(NetError::TooLarge { limit, .. }) => Err(Stopped::TooLarge(limit as usize)),
            // Some servers hang up right after the last event.
            Err(_) if self.accumulator.has_stop() => Ok(Progress::Ended),
            Err(error) => Err(Stopped::Broken(Some(error))),
        };
        while let Some(event) = self.accumulator.next_event() {
            events.push_back(Ok(event));
        }
        if self.accumulator.is_too_large() {
            return Err(Stopped::TooLarge(MAX_REPLY_BYTES));
        }
        outcome
    }

    /// Whether the server said why the reply ended, so that little or nothing is to come.
    pub(crate) fn has_stop(&self) -> bool {
        self.accumulator.has_stop()
    }

    pub(crate) fn has_finished_call(&self) -> bool {
        self.accumulator.has_finished_call()
    }

    /// The whole reply, and what is still to be shown of it.
    pub(crate) fn finish(mut self, tools: &[&str]) -> (VecDeque<ReplyEvent>, Reply) {
        self.decode.end(&mut self.accumulator);
        self.accumulator.finish(tools)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<Progress, Stopped> {
        let telling = if self.beginning.is_empty() { bytes.trim_ascii_start() } else { bytes };
        let room = KEPT_BYTES.saturating_sub(self.beginning.len());
        self.beginning.extend(telling.iter().take(room));
        match &mut self.body {
            Body::Unknown(known) => {
                known.extend(bytes);
                let known = std::mem::take(known);
                self.body = sniff(&known);
                if matches!(self.body, Body::Unknown(_)) {
                    Ok(Progress::More)
                } else {
                    self.more(&known)
                }
            }
            Body::Events(_) | Body::Json(_) => self.more(bytes),
        }
    }

    fn more(&mut self, bytes: &[u8]) -> Result<Progress, Stopped> {
        match &mut self.body {
            Body::Events(decoder) => {
                let mut events = Vec::new();
                decoder.feed(bytes, &mut events).map_err(|_| Stopped::TooLarge(MAX_EVENT_BYTES))?;
                self.events(&events)
            }
            Body::Unknown(json) | Body::Json(json) => {
                json.extend(bytes);
                if json.len() > MAX_REPLY_BYTES {
                    return Err(Stopped::TooLarge(MAX_REPLY_BYTES));
                }
                Ok(Progress::More)
            }
        }
    }

    fn events(&mut self, events: &[sse::Event]) -> Result<Progress, Stopped> {
        for event in events {
            let progress = match event.data.trim() {
                // It keeps the connection alive, and is nothing else.
                "" => continue,
                "[DONE]" => Ok(Progress::Ended),
                data => self.decode.event(Event { name: &event.name, data }, &mut self.accumulator),
            };
            match progress {
                Ok(Progress::More) => {}
                Ok(Progress::Ended) => return Ok(Progress::Ended),
                Err(Trouble::Fault(fault)) => return Err(Stopped::Fault(fault)),
                Err(Trouble::NotJson) => return Err(Stopped::NotJson(event.data.clone())),
            }
        }
        Ok(Progress::More)
    }

    fn end_of_body(&mut self) -> Result<Progress, Stopped> {
        match std::mem::replace(&mut self.body, Body::Unknown(Vec::new())) {
            Body::Unknown(_) => return Err(Stopped::Broken(None)),
            Body::Json(json) => return self.whole(&json),
            Body::Events(decoder) => {
                let mut events = Vec::new();
                decoder.finish(&mut events).map_err(|_| Stopped::TooLarge(MAX_EVENT_BYTES))?;
                match self.events(&events) {
                    Ok(Progress::More) => {}
                    // The last event has no end, so it is only a part of one. After the reason for
                    // the end there are only counts to lose.
                    Err(Stopped::NotJson(_)) if self.accumulator.has_stop() => {}
                    Err(Stopped::NotJson(_)) => return Err(Stopped::Broken(None)),
                    outcome => return outcome,
                }
            }
        }
        if self.accumulator.has_stop() {
            return Ok(Progress::Ended);
        }
        let beginning = String::from_utf8_lossy(&self.beginning);
        let is_stream = beginning.contains("data:") || beginning.trim_start().starts_with(':');
        if is_stream {
            Err(Stopped::Broken(None))
        } else {
            Err(Stopped::NotJson(beginning.into_owned()))
        }
    }

    fn whole(&mut self, json: &[u8]) -> Result<Progress, Stopped> {
        let text = String::from_utf8_lossy(json);
        let text = text.trim_start_matches('\u{feff}');
        match self.decode.whole(text, &mut self.accumulator) {
            Ok(()) => Ok(Progress::Ended),
            Err(Trouble::Fault(fault)) => Err(Stopped::Fault(fault)),
            Err(Trouble::NotJson) if is_cut(text) => Err(Stopped::Broken(None)),
            Err(Trouble::NotJson) => {
                Err(Stopped::NotJson(String::from_utf8_lossy(&self.beginning).into_owned()))
            }
        }
    }
}

/// Whether a text is JSON as far as it goes.
fn is_cut(json: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(json).is_err_and(|error| error.is_eof())
}

/// What an answer is, by its first character that is not white space.
fn sniff(bytes: &[u8]) -> Body {
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    if BYTE_ORDER_MARK.starts_with(text) {
        return Body::Unknown(bytes.to_vec());
    }
    match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
        // White space to keep the connection alive; there may be much of it.
        None => Body::Unknown(bytes[..bytes.len() - text.len()].to_vec()),
        Some(b'{' | b'[') => Body::Json(Vec::new()),
        Some(_) => Body::Events(sse::Decoder::new()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::ReplyPart;

    /// Feeds an answer in pieces; whether it became a reply.
    fn fed(format: Format, bytes: &[u8], size: usize) -> Result<Reply, Stopped> {
        let mut reading = Reading::new(format, Accumulator::new(format, 1));
        let mut events = VecDeque::new();
        let chunks = bytes.chunks(size).map(|chunk| Ok(Some(chunk.to_vec())));
        for chunk in chunks.chain([Ok(None)]) {
            if reading.take(chunk, &mut events)? == Progress::Ended {
                return Ok(reading.finish(&["skill_load"]).1);
            }
        }
        panic!("an answer that is over is a reply or an error");
    }

    static RECORDINGS: LazyLock<Vec<(Format, Vec<u8>)>> = LazyLock::new(recordings);

    fn recordings() -> Vec<(Format, Vec<u8>)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let formats = [
            (Format::ChatCompletions, "chat"),
            (Format::Responses, "responses"),
            (Format::Messages, "messages"),
        ];
        let mut recordings = Vec::new();
        for (format, name) in formats {
            for file in std::fs::read_dir(folder.join(name)).unwrap() {
                recordings.push((format, std::fs::read(file.unwrap().path()).unwrap()));
            }
        }
        assert!(recordings.len() > 30);
        recordings
    }

    #[test]
    fn white_space_that_keeps_a_connection_alive_is_no_beginning() {
        let text =
            format!("{}data: {{\"choices\":[]}}\n\ndata:\n\ndata: [DONE]", "\n".repeat(5000));
        assert!(fed(Format::ChatCompletions, text.as_bytes(), 1).is_ok());
        let json = format!("\u{feff}{}{{\"choices\":[]}}", " ".repeat(5000));
        assert!(fed(Format::ChatCompletions, json.as_bytes(), 1).is_ok());
    }

    #[test]
    fn white_space_that_keeps_a_connection_alive_is_not_what_an_answer_begins_with() {
        let blank = "\n".repeat(2 * KEPT_BYTES);
        let outcome = fed(Format::ChatCompletions, format!("{blank}<p>No</p>").as_bytes(), 7);
        assert!(matches!(&outcome, Err(Stopped::NotJson(it)) if it == "<p>No</p>"), "{outcome:?}");
        let half = format!("{blank}data: {{\"choices\":[]}}\n\n");
        let outcome = fed(Format::ChatCompletions, half.as_bytes(), 7);
        assert!(matches!(outcome, Err(Stopped::Broken(None))), "{outcome:?}");
    }

    #[test]
    fn an_end_within_the_counts_of_tokens_is_an_end() {
        let chunk = |reason: &str| {
            format!(
                "data: {{\"choices\":[{{\"delta\":{{\"content\":\"hi\"}},\"finish_reason\":{reason}}}]}}\n\ndata: {{\"usa"
            )
        };
        let reply = fed(Format::ChatCompletions, chunk("\"stop\"").as_bytes(), 9).unwrap();
        assert_eq!(reply.text(), "hi");
        let outcome = fed(Format::ChatCompletions, chunk("null").as_bytes(), 9);
        assert!(matches!(outcome, Err(Stopped::Broken(None))), "{outcome:?}");
    }

    /// What goes back to the provider with the thoughts of a reply.
    fn handed_back(answer: &str) -> String {
        let reply = fed(Format::ChatCompletions, answer.as_bytes(), usize::MAX).unwrap();
        let opaque = reply.parts.into_iter().find_map(|part| match part {
            ReplyPart::Reasoning { opaque, .. } => opaque,
            _ => None,
        });
        opaque.unwrap().json
    }

    #[test]
    fn only_pieces_of_one_detail_are_joined() {
        let stream = |details: &[&str]| {
            let event = |it: &&str| {
                format!("data: {{\"choices\":[{{\"delta\":{{\"reasoning_details\":{it}}}}}]}}\n\n")
            };
            handed_back(&format!(
                "{}data: [DONE]\n\n",
                details.iter().map(event).collect::<String>()
            ))
        };
        insta::assert_snapshot!(stream(&[r#"["a",{"b":1}]"#, r#"[{"b":2}]"#, "[null,3]"]), @r#"{"reasoning_details":["a",{"b":2},null,3]}"#);
        insta::assert_snapshot!(stream(&[
            r#"[{"type":"t","index":0,"text":"a"}]"#,
            r#"[{"type":"t","index":0,"id":"x","text":"b"}]"#,
            r#"[{"type":"t","index":0,"id":"y","text":"c"}]"#,
            r#"[{"type":"t","index":1,"id":"y","text":"d"}]"#,
        ]), @r#"{"reasoning_details":[{"type":"t","index":0,"text":"ab","id":"x"},{"type":"t","index":0,"id":"y","text":"c"},{"type":"t","index":1,"id":"y","text":"d"}]}"#);
    }

    #[test]
    fn details_of_an_answer_that_is_no_stream_stay_as_they_are() {
        insta::assert_snapshot!(handed_back(
            r#"{"choices":[{"message":{"reasoning_details":[{"type":"t","text":"a"},{"type":"t","text":"b"}]}}]}"#
        ), @r#"{"reasoning_details":[{"type":"t","text":"a"},{"type":"t","text":"b"}]}"#);
    }

    #[test]
    fn no_number_of_tokens_is_too_large_to_be_added() {
        let most = u64::MAX;
        let usage = format!(
            r#"{{"input_tokens":{most},"cache_read_input_tokens":1e300,"cache_creation_input_tokens":{most}}}"#
        );
        let json = format!(r#"{{"content":[],"stop_reason":"end_turn","usage":{usage}}}"#);
        let reply = fed(Format::Messages, json.as_bytes(), usize::MAX).unwrap();
        assert_eq!(reply.usage.input, 3 * reply.usage.cache_write);
    }

    #[test]
    fn a_reply_without_end_is_given_up() {
        let event = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"a\"}}]}}]}\n\n";
        let many = event.repeat(1025);
        let outcome = fed(Format::ChatCompletions, many.as_bytes(), 1 << 16);
        assert!(matches!(outcome, Err(Stopped::TooLarge(_))), "{outcome:?}");
    }

    proptest! {
        #[test]
        fn a_damaged_answer_is_a_reply_or_an_error(
            which in any::<prop::sample::Index>(),
            format in prop::sample::select(vec![
                Format::ChatCompletions, Format::Responses, Format::Messages,
            ]),
            cuts in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..40), 0..4),
            swap in any::<prop::sample::Index>(),
            size in 1_usize..2000,
        ) {
            let (own, bytes) = which.get(&RECORDINGS);
            let mut bytes = bytes.clone();
            for (at, length) in &cuts {
                let at = at.index(bytes.len());
                bytes.drain(at..(at + length).min(bytes.len()));
            }
            // Numbers for strings, lists for objects: JSON that is valid and not what was meant.
            if bytes.len() > 1 {
                let at = swap.index(bytes.len());
                bytes[at] = match bytes[at] {
                    b'"' => b'1',
                    b'{' => b'[',
                    b':' => b',',
                    other => other,
                };
            }
            let format = if cuts.is_empty() { format } else { *own };
            let whole = fed(format, &bytes, usize::MAX).ok();
            prop_assert_eq!(fed(format, &bytes, size).ok(), whole);
        }
    }
}
