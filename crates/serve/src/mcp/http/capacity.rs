//! How many connections and calls there may be, by how many files the process may have open.
//!
//! Connections come first: without one, a token cannot even be refused. What they leave is for calls, whose programs take
//! files as well. A server that could not give each token its share does not start.

use thiserror::Error;

use super::places::MIN_STRANGERS;

/// Connections at a time: a process may usually have 1 024 files, and runs need some.
const MAX_CONNECTIONS: usize = 256;
/// The fewest connections with which a server starts: as many for tokens as there always are for strangers.
const MIN_CONNECTIONS: usize = 2 * MIN_STRANGERS;
/// Calls of sessions that may be open at a time, of all tokens together, and as many requests whose answers are being
/// sent; each token has an equal share of both. Fewer than the threads on which calls wait for their programs, so that
/// no token can occupy all of them.
const MAX_CALLS: usize = 256;
/// File descriptors that the run of a program takes.
const RUN_FILES: usize = 8;
/// File descriptors that are left for everything that is neither a connection nor a run.
const OTHER_FILES: usize = 128;

/// What there may be at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Capacity {
    pub(super) connections: usize,
    /// Calls of one token in sessions, and its requests whose answers are being sent.
    pub(super) calls_of_a_token: usize,
}

/// A limit of open files that is too low for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the limit of open files is {limit}, and this server needs at least {needed}")]
pub struct TooFewFiles {
    /// The files that may be open.
    pub limit: u64,
    /// How many are needed for its tokens.
    pub needed: u64,
}

impl Capacity {
    /// Returns what there is room for: so few calls that the programs of all tokens together leave files to open for
    /// connections.
    ///
    /// # Errors
    ///
    /// When some token would have no call, or too few connections fit in.
    pub(super) fn new(open_files: Option<u64>, tokens: usize) -> Result<Self, TooFewFiles> {
        let limit = open_files.unwrap_or(u64::MAX);
        let fitting = usize::try_from(limit).unwrap_or(usize::MAX);
        Self::within(fitting, tokens).ok_or_else(|| {
            // The first that is enough; there is one, since calls grow with the files.
            let needed = (fitting..).find(|files| Self::within(*files, tokens).is_some());
            TooFewFiles { limit, needed: needed.unwrap_or(usize::MAX) as u64 }
        })
    }

    fn within(files: usize, tokens: usize) -> Option<Self> {
        let files = files.checked_sub(OTHER_FILES)?;
        // Half for connections, as far as they go.
        let connections = (files / 2).min(MAX_CONNECTIONS);
        let runs = (files - connections) / RUN_FILES;
        // Half of them in sessions, half without.
        let calls_of_a_token = (runs / 2).min(MAX_CALLS) / tokens.max(1);
        let is_enough = connections >= MIN_CONNECTIONS && calls_of_a_token > 0;
        is_enough.then_some(Self { connections, calls_of_a_token })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_all_tokens_leave_files_for_connections() {
        for tokens in [1, 2, 8, 64] {
            for limit in [128, 256, 512, 1024, 4096, 1 << 20] {
                let Ok(capacity) = Capacity::new(Some(limit), tokens) else { continue };
                let Capacity { connections, calls_of_a_token } = capacity;
                let files = 2 * tokens * calls_of_a_token * RUN_FILES + connections + OTHER_FILES;
                assert!(files as u64 <= limit, "{files} of {limit} for {tokens} tokens");
                assert!(connections >= MIN_CONNECTIONS && calls_of_a_token > 0, "{capacity:?}");
            }
        }
        let of = |limit, tokens| Capacity::new(limit, tokens).expect("enough");
        assert_eq!(of(None, 2).calls_of_a_token, MAX_CALLS / 2);
        assert_eq!(of(Some(16_384), 1).calls_of_a_token, MAX_CALLS, "not more calls");
        assert_eq!(of(Some(1024), 1), Capacity { connections: 256, calls_of_a_token: 40 });
        assert_eq!(of(Some(256), 2), Capacity { connections: 64, calls_of_a_token: 2 });
    }

    #[test]
    fn a_server_with_too_few_files_does_not_start() {
        let refused = |limit, tokens| Capacity::new(Some(limit), tokens).expect_err("too few");
        insta::assert_snapshot!(refused(128, 1), @"the limit of open files is 128, and this server needs at least 256");
        insta::assert_snapshot!(refused(1024, 64), @"the limit of open files is 1024, and this server needs at least 1408");
        for (limit, tokens) in [(128, 1), (64, 64), (0, 1), (1024, 64)] {
            let needed = refused(limit, tokens).needed;
            assert!(Capacity::new(Some(needed), tokens).is_ok());
            assert!(Capacity::new(Some(needed - 1), tokens).is_err());
        }
    }
}
