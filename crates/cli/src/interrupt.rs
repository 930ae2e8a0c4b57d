//! Ctrl-C, in one place: whoever can end what it does in good order listens. Where nobody does, and when it is pressed
//! again, the program ends at once.
//!
//! Until somebody listens for the first time, the system ends the program. From then on the signal is ours for good, so a
//! thread waits for it as long as the program runs.

use std::fmt;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;

use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::INTERRUPTED;
use crate::output;

/// Those who listen.
static LISTENERS: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());
static BEGINNING: Once = Once::new();
static NEXT: AtomicU64 = AtomicU64::new(0);

struct Waiting {
    number: u64,
    /// What is done at the first Ctrl-C, and then no more.
    act: Option<Box<dyn FnOnce() + Send>>,
}

/// As long as it is there, the first Ctrl-C does not end the program.
#[must_use]
pub(crate) struct Listener(u64);

impl fmt::Debug for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Listener").field(&self.0).finish()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        listeners().retain(|it| it.number != self.0);
    }
}

/// Does something at the first Ctrl-C, beside everything else. It must not take its time.
pub(crate) fn listen(act: impl FnOnce() + Send + 'static) -> Listener {
    BEGINNING.call_once(begin);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    listeners().push(Waiting { number, act: Some(Box::new(act)) });
    Listener(number)
}

/// What Ctrl-C does now, for a line that says what is going on.
pub(crate) fn advice() -> &'static str {
    if listeners().iter().any(|it| it.act.is_none()) {
        "Ctrl-C again leaves"
    } else {
        "Ctrl-C ends it"
    }
}

fn listeners() -> MutexGuard<'static, Vec<Waiting>> {
    LISTENERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the signal beside everything else. Where that is not possible, the system goes on to end the program.
fn begin() {
    let (ready, is_ready) = channel();
    thread::spawn(move || {
        let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            let Ok(mut signals) = signal(SignalKind::interrupt()) else { return };
            let _is_waited_for = ready.send(());
            while signals.recv().await.is_some() {
                pressed();
            }
        });
    });
    let _was_possible = is_ready.recv();
}

fn pressed() {
    let acts: Vec<_> = listeners().iter_mut().filter_map(|it| it.act.take()).collect();
    if acts.is_empty() {
        leave();
    }
    acts.into_iter().for_each(|act| act());
}

#[expect(clippy::exit, reason = "nobody is left who could end what goes on in good order")]
fn leave() {
    output::forget_line();
    process::exit(INTERRUPTED.into());
}
