//! The helper: processes of its own, with one thread each, between the caller and the program.
//!
//! The [`keeper`] stays and starts a [`warden`] for each program; at level `full` that starts an
//! [`init`], and either of them the program, or the [`walk`] through a plan.

mod attributes;
mod calls;
mod filter;
mod footprint;
mod identity;
mod init;
mod keeper;
mod launch;
mod memory;
mod mounts;
mod namespaces;
mod prospect;
mod rules;
mod scheduling;
mod sys;
mod tree;
mod walk;
mod warden;

pub(crate) use filter::name_of;
pub(crate) use tree::tasks_of;

use std::fmt::Display;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::wire::{Failure, HELPER_ARGUMENT, Stage};

/// Whether this program has called [`helper`]. One that does not would begin anew each time it is started as one.
static IS_CALLED: AtomicBool = AtomicBool::new(false);

/// Becomes the helper if this process was started as one, and then never returns.
///
/// To be called first in `main`, before any thread is started. Without it no program is started at all:
/// [`SpawnError::NoHelper`](crate::SpawnError::NoHelper) says so.
///
/// - Not in a `main` with `#[tokio::main]`, which has started threads before: make the runtime yourself, after the call.
/// - Not in a test that `cargo test` runs as usual, whose `main` is not yours. Give a test that confines programs a `main`:
///   `harness = false` for its target in `Cargo.toml`. Or have the test start your program, which calls this. A doctest
///   with a `main` of its own can call it as well, if it is marked `standalone_crate`.
pub fn helper() {
    IS_CALLED.store(true, Ordering::Relaxed);
    if std::env::args_os().nth(1).is_some_and(|argument| argument == HELPER_ARGUMENT) {
        #[expect(clippy::exit, reason = "the helper is a whole program")]
        std::process::exit(keeper::main());
    }
}

/// Whether this program becomes a helper when it is started as one.
pub(crate) fn is_called() -> bool {
    IS_CALLED.load(Ordering::Relaxed)
}

/// Says at which stage something failed, and about what.
trait OrFail<T> {
    fn or_fail(self, stage: Stage, detail: impl Display) -> Result<T, Failure>;
}

impl<T, E: Into<io::Error>> OrFail<T> for Result<T, E> {
    fn or_fail(self, stage: Stage, detail: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure {
            stage,
            errno: error.into().raw_os_error().unwrap_or_default(),
            detail: detail.to_string(),
        })
    }
}
