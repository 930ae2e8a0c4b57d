//! Keys that must not be seen: the masking of their values in everything that is shown, stored or sent.
//!
//! A [`Redactor`] is built once from the values of all configured keys. It replaces each of them by
//! `****`, also where a program encoded it: in base64 at any alignment, percent-encoded, escaped as in JSON, in
//! hexadecimal digits of either case, and with line breaks, blanks or sequences of a terminal in between. A [`RedactionStream`] does the
//! same with bytes that arrive in pieces, wherever they were cut.
//!
//! Which bytes are a sequence of a terminal is decided by [`TerminalState`], also for others who read what programs write.
//!
//! The crate does no I/O and does not know where keys come from. A value that a program changed in another way
//! (encrypted, reversed, written in pieces with other text between them) is not recognised.
//!
//! ```
//! use metier_secrets::Redactor;
//!
//! let redactor = Redactor::new(["s3cr3t-key"])?;
//! assert_eq!(redactor.redact("Bearer s3cr3t-key"), "Bearer ****");
//! assert_eq!(redactor.redact("Basic dXNlcjpzM2NyM3Qta2V5"), "Basic dXNlcjp****");
//!
//! let mut stream = redactor.stream();
//! let mut shown = stream.push(b"key=s3cr").into_owned();
//! shown.extend_from_slice(&stream.push(b"3t-key\n"));
//! shown.extend_from_slice(&stream.finish());
//! assert_eq!(shown, b"key=****\n");
//! # Ok::<(), metier_secrets::RedactorError>(())
//! ```

mod automaton;
mod encoding;
mod forms;
mod reader;
mod reading;
mod redactor;
mod stream;
mod terminal;

#[cfg(test)]
mod tests;

pub use reader::RedactedReader;
pub use redactor::{
    MAX_SECRET_BYTES, MAX_SECRETS, MAX_TOTAL_BYTES, MIN_SECRET_BYTES, REPLACEMENT, Redactor,
    RedactorError,
};
pub use stream::RedactionStream;
pub use terminal::{ControlString, StringByte, TerminalState, TerminalStep};
