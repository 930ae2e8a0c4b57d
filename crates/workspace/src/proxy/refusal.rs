//! What was not passed, and why.

use std::net::IpAddr;

use thiserror::Error;

use super::target::TargetFault;

/// How many different refusals are remembered. A report with more is not read; those beyond are
/// only counted.
const MAX_REFUSALS: usize = 100;

/// How much of a target is remembered: a host name with some room.
const MAX_TARGET: usize = 300;

/// Something that was not passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was asked for, escaped and of bounded length.
    pub target: String,
    /// Why it was refused.
    pub reason: Reason,
    /// How often.
    pub count: u64,
}

/// Why something was not passed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Reason {
    /// The list does not name it.
    #[error("it is not in the list of allowed addresses")]
    NotListed,
    /// The name is allowed, but not where it leads.
    #[error("it leads to {0}, which is not a public address and not in the list itself")]
    NotPublic(IpAddr),
    /// All the bytes that the program may move are used up.
    #[error("the program has moved all the bytes it may")]
    Bytes,
    /// What was asked for cannot be read.
    #[error(transparent)]
    Target(#[from] TargetFault),
    /// The request could be read in more than one way, or in none.
    #[error("the request is not well-formed: {0}")]
    Malformed(&'static str),
    /// The header block is too long.
    #[error("its headers are too long")]
    TooLong,
    /// Something that this proxy does not do.
    #[error("only plain HTTP requests and connections are passed")]
    Method,
    /// A body whose length is not said beforehand.
    #[error("a body without a `Content-Length` is not passed; use `https`")]
    NoLength,
    /// Further refusals, of which only the number is known.
    #[error("there were more refusals than are remembered")]
    Others,
}

/// What is remembered.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    list: Vec<Refusal>,
    others: u64,
}

impl Refusals {
    pub(super) fn add(&mut self, target: &[u8], reason: &Reason) {
        let target = shown(&without_user(target));
        let same = |refusal: &&mut Refusal| refusal.target == target && refusal.reason == *reason;
        if let Some(refusal) = self.list.iter_mut().find(same) {
            refusal.count += 1;
        } else if self.list.len() < MAX_REFUSALS {
            self.list.push(Refusal { target, reason: reason.clone(), count: 1 });
        } else {
            self.others += 1;
        }
    }

    pub(super) fn list(&self) -> Vec<Refusal> {
        let others = Refusal { target: "…".into(), reason: Reason::Others, count: self.others };
        self.list.iter().cloned().chain((self.others > 0).then_some(others)).collect()
    }
}

/// A URL may hold a password before its host.
fn without_user(target: &[u8]) -> Vec<u8> {
    let start = target.windows(3).position(|part| part == b"://").map_or(0, |scheme| scheme + 3);
    let (scheme, rest) = target.split_at(start);
    let end = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
    match rest[..end].iter().rposition(|byte| *byte == b'@') {
        Some(at) => [scheme, b"****", &rest[at..]].concat(),
        None => target.to_vec(),
    }
}

/// Text from outside as it may be shown: nothing invisible, and not too much.
pub(super) fn shown(text: &[u8]) -> String {
    let mut escaped = text[..text.len().min(MAX_TARGET)].escape_ascii().to_string();
    if text.len() > MAX_TARGET || escaped.len() > MAX_TARGET {
        escaped.truncate(MAX_TARGET - '…'.len_utf8());
        escaped.push('…');
    }
    escaped
}
