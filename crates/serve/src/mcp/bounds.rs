//! Bounds on messages of clients, checked before a message is parsed.
//!
//! Bytes alone do not bound memory: two bytes of text (`[]`) become a value many times as large, so values are
//! counted too.

use thiserror::Error;

/// What a message may have at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageBounds {
    pub(super) bytes: usize,
    /// JSON values and names of fields, each of which takes up to a few hundred bytes of memory.
    pub(super) values: usize,
}

/// The bounds of any message. Its values take no more memory than its text may.
pub(super) const MESSAGE: MessageBounds = MessageBounds { bytes: 4 << 20, values: 20_000 };
/// The bounds of a message that opens a session over HTTP, and is kept for as long as the session is there.
pub(super) const INITIALIZE: MessageBounds = MessageBounds { bytes: 64 << 10, values: 1_000 };

/// The bound that a message exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum MessageTooLarge {
    #[error("a message has at most {0} bytes")]
    Bytes(usize),
    #[error("a message has at most {0} values")]
    Values(usize),
    #[error("a message of the method `initialize` has at most {bytes} bytes and {values} values", bytes = INITIALIZE.bytes, values = INITIALIZE.values)]
    Initialize,
}

impl MessageBounds {
    /// Checks the text of a message, which need not be JSON.
    pub(super) fn check(&self, text: &[u8]) -> Result<(), MessageTooLarge> {
        if text.len() > self.bytes {
            return Err(MessageTooLarge::Bytes(self.bytes));
        }
        if count_values(text) > self.values {
            return Err(MessageTooLarge::Values(self.values));
        }
        Ok(())
    }
}

/// Returns how many values and names of fields a JSON text has, at most: outside of strings, one follows each bracket,
/// comma and colon, beside the first.
fn count_values(text: &[u8]) -> usize {
    let (mut count, mut is_in_string, mut is_escaped) = (1, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_in_string => is_escaped = true,
            b'"' => is_in_string = !is_in_string,
            b'[' | b'{' | b',' | b':' if !is_in_string => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_names_are_counted_outside_of_strings() {
        let counted = [
            ("", 1),
            ("7", 1),
            (r#""[[,,{{::""#, 1),
            (r#""\"[,""#, 1),
            (r#"["\\",1]"#, 3),
            (r#"{"a":[1,2]}"#, 5),
            ("[[],[],[]]", 7),
        ];
        for (text, expected) in counted {
            assert_eq!(count_values(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_message_of_few_bytes_may_not_have_many_values() {
        let many = format!("[{}[]]", "[],".repeat(MESSAGE.values));
        assert!(many.len() < MESSAGE.bytes);
        assert_eq!(MESSAGE.check(many.as_bytes()), Err(MessageTooLarge::Values(MESSAGE.values)));
        let text = format!("\"{}\"", "[],".repeat(MESSAGE.values));
        assert_eq!(MESSAGE.check(text.as_bytes()), Ok(()), "text is one value");
        let long = vec![b' '; MESSAGE.bytes + 1];
        assert_eq!(MESSAGE.check(&long), Err(MessageTooLarge::Bytes(MESSAGE.bytes)));
    }
}
