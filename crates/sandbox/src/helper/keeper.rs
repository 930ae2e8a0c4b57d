//! The keeper: waits for requests of the caller and starts a warden for each.
//!
//! It reads nothing but sockets to pass on. When the caller is gone there is nobody left to ask, and it
//! ends; wardens see that for themselves and need neither the keeper nor each other.

use std::fs::File;
use std::io;

use rustix::process::{chdir, setsid};

use super::sys::{Fork, close_other_files, exit_now, forget_children, fork};
use super::{OrFail, warden};
use crate::wire::{self, Report, Stage};

/// The helper's own `main`.
pub(super) fn main() -> i32 {
    match serve() {
        Ok(()) => 0,
        Err(_caller_gone) => 1,
    }
}

fn serve() -> io::Result<()> {
    close_other_files();
    let requests = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    // Ctrl-C is for the caller, who decides what becomes of programs.
    let _leads_already = setsid();
    // The caller's folder can be removed or unmounted.
    chdir("/")?;
    forget_children();
    while let Some(control) = wire::take(&requests)? {
        match fork().or_fail(Stage::Limits, "another process") {
            Ok(Fork::Child) => {
                drop(requests);
                exit_now(warden::main(&control));
            }
            Ok(Fork::Parent(_)) => {}
            Err(failure) => {
                let _caller_gone = wire::send(&control, &Report::Failed(failure), &[]);
            }
        }
    }
    Ok(())
}
