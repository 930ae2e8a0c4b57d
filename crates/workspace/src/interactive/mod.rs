//! Interactive sessions: commands of a skill that are talked to while they run.
//!
//! [`Interactive`] holds them. A session is an ordinary run (same policy, environment, inputs,
//! limits and record) on a terminal or on pipes, of which output is taken piece by piece and to
//! which input is given. Everything is bounded: sessions, lines, bytes, time, input that waits.
//!
//! - `plain` reads the stream of a terminal as text,
//! - `transcript` keeps what has not been taken yet,
//! - `prompt` guesses whether the program waits for somebody,
//! - `session` is one of them and `registry` all.

mod answer;
mod plain;
mod prompt;
mod registry;
mod session;
#[cfg(test)]
mod tests;
mod transcript;

pub use answer::{
    EndStatus, Entry, Interaction, InteractionKind, InteractiveError, Killed, Listed, Progress,
    SessionStatus,
};
pub use metier_sandbox::Size;
pub use registry::{Interactive, InteractiveOptions, StartOptions, Waiting};
