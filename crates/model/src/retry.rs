//! When a request is sent again, and after how long.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// How often a request is sent again, and how long that may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// How many times a request is sent at most.
    pub attempts: u32,
    /// How long to wait before the second time; each further wait is twice as long.
    pub first_wait: Duration,
    /// The longest wait that is chosen here.
    pub longest_wait: Duration,
    /// The longest wait that a server may ask for. If it asks for more, we give up.
    pub longest_asked: Duration,
    /// How long all waits of a request may take together.
    pub total_wait: Duration,
}

impl Retries {
    /// What the documentation promises.
    pub const STANDARD: Self = Self {
        attempts: 5,
        first_wait: Duration::from_millis(500),
        longest_wait: Duration::from_secs(30),
        longest_asked: Duration::from_secs(120),
        total_wait: Duration::from_secs(300),
    };

    /// Nothing is sent again.
    pub const NEVER: Self = Self { attempts: 1, ..Self::STANDARD };

    /// How long to wait before the next attempt, or `None` to give up.
    ///
    /// `made` attempts failed, `waited` was spent waiting, and the server may have `asked` for a
    /// wait, which is never shortened.
    pub(crate) fn wait(
        &self,
        made: u32,
        waited: Duration,
        asked: Option<Duration>,
    ) -> Option<Duration> {
        let doubled = self.first_wait.saturating_mul(1 << made.saturating_sub(1).min(20));
        let ours = doubled.min(self.longest_wait).mul_f64(0.5 + 0.5 * chance());
        let wait = match asked {
            Some(asked) if asked > self.longest_asked => return None,
            // A little later than asked, so that not everyone comes back at once.
            Some(asked) => asked.max(ours).min(asked + self.longest_wait),
            None => ours,
        };
        (made < self.attempts && waited + wait <= self.total_wait).then_some(wait)
    }
}

/// Something between 0 and 1. The standard library seeds its maps well enough for this.
fn chance() -> f64 {
    let random = RandomState::new().build_hasher().finish() >> 11;
    random as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_bounds_are_those_of_the_documentation() {
        insta::assert_debug_snapshot!(Retries::STANDARD, @"
        Retries {
            attempts: 5,
            first_wait: 500ms,
            longest_wait: 30s,
            longest_asked: 120s,
            total_wait: 300s,
        }
        ");
    }

    #[test]
    fn waits_double_with_jitter_up_to_a_bound() {
        let policy = Retries { attempts: 20, ..Retries::STANDARD };
        for (made, most) in [(1, 0.5), (2, 1.0), (3, 2.0), (8, 30.0), (19, 30.0)] {
            let wait = policy.wait(made, Duration::ZERO, None).unwrap().as_secs_f64();
            assert!((most / 2.0..=most).contains(&wait), "{made}: {wait}");
        }
    }

    #[test]
    fn what_a_server_asks_for_is_never_shortened_and_not_obeyed_without_end() {
        let policy = Retries::STANDARD;
        let asked = Duration::from_secs(60);
        assert!(policy.wait(1, Duration::ZERO, Some(asked)).unwrap() >= asked);
        assert_eq!(policy.wait(1, Duration::ZERO, Some(Duration::from_secs(121))), None);
        assert_eq!(policy.wait(1, Duration::from_secs(250), Some(asked)), None);
        assert_eq!(policy.wait(5, Duration::ZERO, None), None);
    }
}
