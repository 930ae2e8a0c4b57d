//! What can be wrong with a session or its store, and what to do about it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::SessionKey;

/// Why a store did not do what it was asked. Nothing was changed, unless a variant says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The id of an app, a user or a session breaks a rule.
    #[error("the id of the {of} cannot be used: {rule}")]
    Id {
        /// Whose id it is.
        of: &'static str,
        /// The rule.
        rule: &'static str,
    },
    /// There is no such session.
    #[error("there is no session `{session}`: look for its name in the list of sessions")]
    NotFound {
        /// Its name, made safe to show.
        session: String,
    },
    /// The session was deleted since the caller looked, and another has its name now.
    #[error("the session `{session}` was deleted and begun anew: open it again")]
    Gone {
        /// Its name, made safe to show.
        session: String,
    },
    /// Somebody else wrote to the session since the caller looked.
    #[error("the session has {found} events, not {expected}: read the new ones and try again")]
    Conflict {
        /// How many events the caller knows.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// The session has events already.
    #[error("the session `{session}` is there already: import under another name, or delete it")]
    Exists {
        /// Its name, made safe to show.
        session: String,
    },
    /// Something is larger than a session takes.
    #[error("{what} has {size} bytes, and at most {limit} are taken: keep content as artifacts")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// How many bytes it has.
        size: usize,
        /// How many it may have.
        limit: usize,
    },
    /// More events are to be appended than can be at once.
    #[error(
        "{count} events are more than the {limit} that are appended at once: use several steps"
    )]
    TooMany {
        /// How many.
        count: usize,
        /// How many it may be.
        limit: usize,
    },
    /// Something would not be the same when it is read again.
    #[error("{what} cannot be stored: {fault}")]
    Unstorable {
        /// What it is.
        what: &'static str,
        /// What is wrong with it.
        fault: String,
    },
    /// A line of an exported session cannot be read.
    #[error("line {line} is not that of an exported session: {fault}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        fault: String,
    },
    /// The store in memory has no room.
    #[error("the store in memory is full at {limit} bytes: delete sessions, or use a database")]
    Full {
        /// How much it holds.
        limit: usize,
    },
    /// The store has given every number of a session it has.
    #[error("the store has had {limit} sessions, the most there are: begin another database")]
    TooManySessions {
        /// How many that are.
        limit: u32,
    },
    /// There are as many decisions about commands as are kept.
    #[error("there are {limit} decisions about commands, the most there can be: revoke some")]
    TooManyDecisions {
        /// How many that are.
        limit: usize,
    },
    /// Another process holds the database.
    #[error(
        "the database `{}` was locked by another process for {} seconds: try again, or end what holds it",
        database.display(), waited.as_secs()
    )]
    Locked {
        /// The file.
        database: PathBuf,
        /// How long this one waited.
        waited: Duration,
    },
    /// The file is not what was written.
    #[error(
        "the database `{}` is damaged: {fault}; move it away and start again, or restore a copy",
        database.display()
    )]
    Damaged {
        /// The file.
        database: PathBuf,
        /// What is wrong with it.
        fault: String,
    },
    /// The disk or the quota is used up.
    #[error("no space is left for the database `{}`: free some", database.display())]
    NoSpace {
        /// The file.
        database: PathBuf,
    },
    /// The file may not be read or written.
    #[error(
        "no access to the database `{}`: {fault}; check the permissions of it and its folder",
        database.display()
    )]
    NoAccess {
        /// The file.
        database: PathBuf,
        /// What the system said.
        fault: String,
    },
    /// The file was written by a later version of this program.
    #[error(
        "the database `{}` has version {found}, and this program knows only up to {known}",
        database.display()
    )]
    Newer {
        /// The file.
        database: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version that is known.
        known: i64,
    },
    /// The file is a database of something else.
    #[error("`{}` is a database of another program: choose another file", database.display())]
    Foreign {
        /// The file.
        database: PathBuf,
    },
    /// The file is not in its place any more.
    #[error(
        "the database `{}` was moved away or replaced while it was in use: open it again",
        database.display()
    )]
    Moved {
        /// Where it was.
        database: PathBuf,
    },
    /// The database does not work for another reason.
    #[error("cannot use the database `{}`: {fault}; check its folder and disk", database.display())]
    Storage {
        /// The file.
        database: PathBuf,
        /// What was said.
        fault: String,
    },
    /// The store does not work any more. Whether the last change was made is not known.
    #[error("the database `{}` is not served any more: open it again", database.display())]
    Closed {
        /// The file.
        database: PathBuf,
    },
}

impl SessionError {
    /// There is no session of this name.
    pub fn not_found(key: &SessionKey) -> Self {
        Self::NotFound { session: shown(key.session()) }
    }

    /// The session of this name is another one by now.
    pub fn gone(key: &SessionKey) -> Self {
        Self::Gone { session: shown(key.session()) }
    }

    pub(crate) fn exists(key: &SessionKey) -> Self {
        Self::Exists { session: shown(key.session()) }
    }
}

/// The beginning of a text that nobody has judged, without anything a terminal would obey.
pub(crate) fn shown(text: &str) -> String {
    /// Enough to recognise it.
    const MAX_CHARS: usize = 80;
    cut(text.escape_debug(), MAX_CHARS)
}

/// What something else said about content that nobody has judged, and may have repeated.
pub(crate) fn said(fault: &dyn fmt::Display) -> String {
    /// Enough for what was wrong and where.
    const MAX_CHARS: usize = 300;
    let mut text = String::new();
    for letter in fault.to_string().chars() {
        match letter {
            '"' | '\'' | '\\' => text.push(letter),
            _ => text.extend(letter.escape_debug()),
        }
    }
    cut(text.chars(), MAX_CHARS)
}

pub(crate) fn cut(mut letters: impl Iterator<Item = char>, count: usize) -> String {
    let mut text: String = letters.by_ref().take(count).collect();
    if letters.next().is_some() {
        text.push('…');
    }
    text
}
