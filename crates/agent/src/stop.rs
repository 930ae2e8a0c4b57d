//! Stopping a turn from outside.

use metier_sandbox::Cancel;
use thiserror::Error;
use tokio::sync::watch;

/// Stops what was started with its [`Stop`].
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// Tells whether to stop.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

/// The turn was stopped before something was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the user stopped this")]
pub struct TurnStopped;

/// A pair, of which one end stops and the other is heeded.
pub fn stop() -> (Stopper, Stop) {
    let (sender, receiver) = watch::channel(false);
    (Stopper(sender), Stop(receiver))
}

impl Stopper {
    /// Stops.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Stops when what this gives is dropped: kept by whoever waits for a turn in a task of its own, it ends the turn when
    /// nobody waits any more. A stopper alone that is dropped stops nothing.
    pub fn on_drop(self) -> StopOnDrop {
        StopOnDrop(self)
    }
}

/// Stops when it is dropped; [`Stopper::on_drop`] makes one.
#[derive(Debug)]
#[must_use = "it stops at once when nobody keeps it"]
pub struct StopOnDrop(Stopper);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Stop {
    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is stopped; for ever, if nobody can stop it any more.
    pub async fn stopped(&self) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|it| *it).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits for something and ends it when stopped, or when nobody waits any more; it then ends by itself.
    pub(crate) async fn cancelling<T>(&self, cancel: &Cancel, work: impl Future<Output = T>) -> T {
        let _ending = Ending(cancel.clone());
        let mut work = std::pin::pin!(work);
        tokio::select! {
            done = &mut work => return done,
            () = self.stopped() => cancel.cancel(),
        }
        work.await
    }
}

/// Ends a command when nobody waits for it any more.
struct Ending(Cancel);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopper_that_is_dropped_stops_nothing_unless_that_was_asked_for() {
        let (stopper, heeded) = stop();
        drop(stopper);
        assert!(!heeded.is_stopped());
        let (stopper, heeded) = stop();
        let guard = stopper.on_drop();
        assert!(!heeded.is_stopped());
        drop(guard);
        assert!(heeded.is_stopped());
    }
}
