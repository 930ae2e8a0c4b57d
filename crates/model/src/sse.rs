//! Server-sent events: bytes in, events out.
//!
//! The decoder takes bytes however the network splits them, within characters and line ends too,
//! and gives the same events for every split. Lines and events are bounded. An event that is not
//! followed by an empty line is an event nevertheless: some servers end so.

use std::mem;

/// How long a line, or the data of an event, may be. A whole reply in one event is far below.
pub(crate) const MAX_EVENT_BYTES: usize = 8 * 1024 * 1024;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its name; empty if it has none.
    pub(crate) name: String,
    /// Its data: the lines, joined by line feeds.
    pub(crate) data: String,
}

/// A line or an event is longer than [`MAX_EVENT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Turns bytes into events.
#[derive(Debug)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    at_start: bool,
    after_return: bool,
    max_bytes: usize,
}

impl Decoder {
    pub(crate) fn new() -> Self {
        Self::with_limit(MAX_EVENT_BYTES)
    }

    fn with_limit(max_bytes: usize) -> Self {
        Self {
            line: Vec::new(),
            event: Event::default(),
            has_data: false,
            at_start: true,
            after_return: false,
            max_bytes,
        }
    }

    /// Takes the next bytes and adds the events that they complete.
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<(), TooLong> {
        while !bytes.is_empty() {
            if mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + piece.len() > self.max_bytes {
                return Err(TooLong);
            }
            self.line.extend_from_slice(piece);
            let Some(end) = end else { break };
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line(events)?;
        }
        Ok(())
    }

    /// There are no more bytes: what is left is an event, too.
    pub(crate) fn finish(mut self, events: &mut Vec<Event>) -> Result<(), TooLong> {
        if !self.line.is_empty() {
            self.end_line(events)?;
        }
        self.end_event(events);
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<Event>) -> Result<(), TooLong> {
        let bytes = mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let mut line = text.as_ref();
        if mem::take(&mut self.at_start) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            self.end_event(events);
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => self.add_data(value)?,
            // Comments have no field name; other fields are about reconnecting, which we do not.
            _ => {}
        }
        Ok(())
    }

    fn add_data(&mut self, value: &str) -> Result<(), TooLong> {
        if self.event.data.len() + value.len() + 1 > self.max_bytes {
            return Err(TooLong);
        }
        if mem::replace(&mut self.has_data, true) {
            self.event.data.push('\n');
        }
        self.event.data.push_str(value);
        Ok(())
    }

    fn end_event(&mut self, events: &mut Vec<Event>) {
        let event = mem::take(&mut self.event);
        if mem::take(&mut self.has_data) {
            events.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Event>, TooLong> {
        let mut decoder = Decoder::with_limit(64);
        let mut events = Vec::new();
        for piece in pieces {
            decoder.feed(piece, &mut events)?;
        }
        decoder.finish(&mut events)?;
        Ok(events)
    }

    /// The events of a text, a line each.
    fn shown(text: &str) -> String {
        let events = decode([text.as_bytes()]).unwrap();
        let lines: Vec<_> =
            events.iter().map(|event| format!("{}|{:?}", event.name, event.data)).collect();
        lines.join("\n")
    }

    #[test]
    fn all_line_ends_are_read() {
        for end in ["\n", "\r\n", "\r"] {
            let text = "event: a~data: 1~~data: 2~~".replace('~', end);
            assert_eq!(shown(&text), "a|\"1\"\n|\"2\"", "{end:?}");
        }
    }

    #[test]
    fn lines_of_data_are_joined_and_one_space_is_left_out() {
        assert_eq!(shown("data:  a\ndata:b\ndata\n\n"), "|\" a\\nb\\n\"");
    }

    #[test]
    fn comments_other_fields_and_events_without_data_are_left_out() {
        assert_eq!(shown(": ping\nid: 1\nretry: 5\n\nevent: ping\n\ndata: x\n\n"), "|\"x\"");
    }

    #[test]
    fn an_empty_value_is_data() {
        assert_eq!(shown("data:\n\n"), "|\"\"");
    }

    #[test]
    fn the_last_event_needs_no_empty_line_and_no_line_end() {
        assert_eq!(shown("data: a\n\ndata: [DONE]"), "|\"a\"\n|\"[DONE]\"");
    }

    #[test]
    fn a_byte_order_mark_is_left_out_at_the_start_only() {
        assert_eq!(shown("\u{feff}data: a\n\ndata: \u{feff}b\n\n"), "|\"a\"\n|\"\\u{feff}b\"");
    }

    #[test]
    fn lines_and_events_are_bounded() {
        assert_eq!(decode([format!("data: {}", "x".repeat(60)).as_bytes()]), Err(TooLong));
        assert_eq!(decode(["data: 0123456789\n".repeat(7).as_bytes()]), Err(TooLong));
        assert_eq!(decode(["data: 0123456789\n\n".repeat(50).as_bytes()]).unwrap().len(), 50);
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_gives_the_same_events(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "data: ", "event: ", "x", "é", "日", "🦀", "\n", "\r", "\r\n", "\n\n", ":", "[DONE]",
                    " ", "\u{feff}", "id: 7",
                ]),
                0..40,
            ),
            cuts in prop::collection::vec(1_usize..5, 1..40),
        ) {
            let text = words.concat();
            let whole = decode([text.as_bytes()]);
            let mut pieces = Vec::new();
            let mut rest = text.as_bytes();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, tail) = rest.split_at((*cut).min(rest.len()));
                pieces.push(piece);
                rest = tail;
            }
            prop_assert_eq!(decode(pieces), whole);
        }
    }
}
