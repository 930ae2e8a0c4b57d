//! How often streams of events are asked for.
//!
//! A server may end a stream at once and be asked again, which the crate of the protocol does without waiting.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many streams are asked for in one connection.
const MAX_STREAMS: u32 = 10_000;
/// How long is waited before a stream is taken up again, at first and at most.
const PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// A stream that lasted for so long was none that ended at once.
const LASTING: Duration = Duration::from_secs(10);

/// The streams of one connection.
#[derive(Debug, Default)]
pub(super) struct Streams(Mutex<Asked>);

#[derive(Debug, Default)]
struct Asked {
    count: u32,
    /// The pause before the last one, and when it was asked for.
    last: Option<(Duration, Instant)>,
}

impl Streams {
    /// How long to wait before the next stream is asked for; none when no more are.
    pub(super) fn next(&self) -> Option<Duration> {
        self.after(Instant::now())
    }

    fn after(&self, now: Instant) -> Option<Duration> {
        let mut asked = self.lock();
        if asked.count >= MAX_STREAMS {
            return None;
        }
        asked.count += 1;
        let pause = match asked.last {
            None => Duration::ZERO,
            Some((_, at)) if now.duration_since(at) >= LASTING => PAUSE,
            Some((pause, _)) => (pause * 2).clamp(PAUSE, MAX_PAUSE),
        };
        asked.last = Some((pause, now + pause));
        Some(pause)
    }

    /// No more are asked for: the server sends what cannot be taken.
    pub(super) fn end(&self) {
        self.lock().count = MAX_STREAMS;
    }

    fn lock(&self) -> MutexGuard<'_, Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_end_at_once_are_asked_for_ever_more_rarely() {
        let streams = Streams::default();
        let mut now = Instant::now();
        let mut next = |lasted: u64| {
            now += Duration::from_millis(lasted);
            let pause = streams.after(now).expect("there may be more");
            now += pause;
            pause.as_millis()
        };
        assert_eq!(
            [0, 1, 1, 1, 1, 1, 1, 1, 1].map(&mut next),
            [0, 100, 200, 400, 800, 1600, 3200, 5000, 5000]
        );
        assert_eq!([10_000, 0].map(next), [100, 200]);
        streams.end();
        assert_eq!(streams.next(), None);
    }
}
