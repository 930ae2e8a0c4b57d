//! How many files a server may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// As many as a server with all connections and calls can use, and more. A system may allow a thousand million, and
/// programs that are started for a server inherit the limit: some close as many files as they may have.
const ENOUGH: u64 = 16_384;

/// Raises the limit of open files as far as the system allows, if it is not enough, and returns what it is then; none if
/// there is none. What runs in a sandbox has a limit of its own.
pub(super) fn raise_open_files() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(ENOUGH, |maximum| maximum.min(ENOUGH));
    if limit.current.is_some_and(|current| current < wanted) {
        let raised = Rlimit { current: Some(wanted), ..limit };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::warn!(%error, "the limit of open files cannot be raised");
        }
    }
    getrlimit(Resource::Nofile).current
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_limit_is_raised_as_far_as_it_may_be() {
        let before = getrlimit(Resource::Nofile);
        let low = Rlimit { current: Some(128), maximum: before.maximum };
        setrlimit(Resource::Nofile, low).expect("lower");
        let allowed = before.maximum.map_or(ENOUGH, |maximum| maximum.min(ENOUGH));
        assert_eq!(raise_open_files(), Some(allowed));
        assert_eq!(getrlimit(Resource::Nofile).maximum, before.maximum);
        setrlimit(Resource::Nofile, before).expect("as it was");
    }
}
