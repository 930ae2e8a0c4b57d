//! Stopping a turn from outside.

use metier_sandbox::Cancel;
use tokio::sync::watch;

/// Stops what was started with its [`Stop`].
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// Tells whether to stop.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

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

    /// Waits for something and ends it when stopped; it then ends by itself.
    pub(crate) async fn cancelling<T>(&self, cancel: &Cancel, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            done = &mut work => return done,
            () = self.stopped() => cancel.cancel(),
        }
        work.await
    }
}
