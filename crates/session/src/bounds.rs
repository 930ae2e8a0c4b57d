//! How much a session takes. Whatever is larger belongs into an artifact that an event refers to.

/// Longest event in bytes of its JSON. What tools give to models is far below; results for
/// renderers and several attached texts fit.
pub const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;
/// Longest opening in bytes of its JSON: system text and tool schemas, which a model must read.
pub const MAX_OPENING_BYTES: usize = 4 * 1024 * 1024;
/// Most events of one append. A turn appends a few.
pub const MAX_APPEND_EVENTS: usize = 1000;
/// Most bytes of one append, which is held in memory until it is on disk.
pub(crate) const MAX_APPEND_BYTES: usize = 16 * 1024 * 1024;
/// Longest name of an author in bytes.
pub(crate) const MAX_AUTHOR_BYTES: usize = 1024;
/// Largest state of a session in bytes of names and values. It is read before every request.
pub(crate) const MAX_STATE_BYTES: usize = 1024 * 1024;
/// Most events or sessions of one page.
pub const MAX_PAGE: usize = 1000;
/// Bytes of events after which a page ends, so that one of large events fits into memory too.
pub const MAX_PAGE_BYTES: usize = 16 * 1024 * 1024;
/// Most decisions of people about commands. All are read before a command is judged.
pub const MAX_DECISIONS: usize = 10_000;
/// Longest rule of a decision in bytes of its JSON: a command that somebody could still read.
pub const MAX_RULE_BYTES: usize = 256 * 1024;
/// Longest name of an agent in bytes.
pub const MAX_AGENT_BYTES: usize = 1024;
/// Most characters of a command that are kept with the decision that let it run.
pub const MAX_SHOWN_CHARS: usize = 1000;
