//! Something that happens again and again beside everything else, until it is stopped.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often a sign of life changes.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// A thread that does the same thing at every [`TICK`].
#[derive(Debug)]
pub(crate) struct Ticker(Mutex<Option<Running>>);

/// The thread ends when the sender is gone.
#[derive(Debug)]
struct Running {
    stopper: Sender<()>,
    thread: JoinHandle<()>,
}

impl Ticker {
    /// Begins.
    pub(crate) fn start(mut tick: impl FnMut() + Send + 'static) -> Self {
        let (stopper, stopped) = channel();
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                tick();
            }
        });
        Self(Mutex::new(Some(Running { stopper, thread })))
    }

    /// Stops. Afterwards nothing happens any more.
    pub(crate) fn stop(&self) {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Running { stopper, thread }) = running {
            drop(stopper);
            // It has nothing to say.
            let _panicked = thread.join();
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn it_ticks_until_it_is_stopped_and_not_afterwards() {
        let count = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&count);
        let ticker = Ticker::start(move || {
            counting.fetch_add(1, Ordering::SeqCst);
        });
        while count.load(Ordering::SeqCst) < 2 {
            thread::sleep(TICK / 10);
        }
        ticker.stop();
        let last = count.load(Ordering::SeqCst);
        thread::sleep(TICK * 3);
        assert_eq!(count.load(Ordering::SeqCst), last);
    }
}
