//! A turn of a model as a person sees it, for `run` and `chat`: files that come with it, what happens
//! while it lasts, and what is told in the end.

pub(super) mod attach;
pub(super) mod calls;
pub(super) mod progress;
pub(super) mod report;
mod speech;

use metier_agent::Stopper;
use tokio::task::JoinHandle;

/// Ctrl-C ends the turn; the session keeps what happened.
pub(super) fn stop_on_interrupt(stopper: Stopper) -> JoinHandle<()> {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stopper.stop();
        }
    })
}
