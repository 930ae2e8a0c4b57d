//! The first process of the program's own process namespace: it confines itself, starts the program
//! and waits for it. When it ends, the kernel ends everything else in the namespace.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{DumpableBehavior, Pid, WaitOptions, set_dumpable_behavior, wait};

use super::launch::{Bounds, Files, Step, changed, launch};
use super::{OrFail, filter, identity, mounts, namespaces, rules, sys};
use crate::policy::{Network, PROXY_PORT};
use crate::wire::{self, Failure, Order, Stage};

/// Runs as the first process until the program ended; tells the warden every step.
pub(super) fn main(order: &Order, files: Files, warden: &OwnedFd) -> i32 {
    let started = confine(order, &files, warden.as_fd())
        .and_then(|bounds| launch(order, &files, |_| Ok(bounds)));
    drop(files);
    let step = match &started {
        Ok(_) => Step::Started,
        Err(failure) => Step::Failed(failure.clone()),
    };
    let (Ok(()), Ok(program)) = (wire::send(warden, &step, &[]), started) else { return 1 };
    let status = wait_for(program.process);
    let changed = changed(program.walk.as_ref());
    let _warden_gone = wire::send(warden, &Step::Ended { status, changed }, &[]);
    0
}

fn confine(order: &Order, files: &Files, warden: BorrowedFd<'_>) -> Result<Bounds, Failure> {
    identity::follow_parent().or_fail(Stage::Identity, "parent")?;
    identity::end_first();
    let bounds = Bounds::join(order, warden)?;
    namespaces::hide_group()?;
    sys::pass_on_termination();
    mounts::build(order)?;
    let host = rustix::system::sethostname(b"metier").map_err(io::Error::from);
    host.or_fail(Stage::Namespaces, "host name")?;
    let listener = match order.job.policy.network {
        Network::Proxy => Some(listen()?),
        Network::None | Network::Host => None,
    };
    identity::give_up_rights(order.owner)?;
    // The program has the same user; it must not look into this process.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).or_fail(Stage::Identity, "dumpable")?;
    rules::restrict(order, files)?;
    let notices = filter::install(&order.job.policy, bounds)?;
    hand_over(warden, listener.as_ref().map(AsFd::as_fd), notices.as_ref().map(AsFd::as_fd))?;
    Ok(bounds)
}

/// Gives the warden what it needs of a confined process.
pub(super) fn hand_over(
    warden: BorrowedFd<'_>,
    listener: Option<BorrowedFd<'_>>,
    notices: Option<BorrowedFd<'_>>,
) -> Result<(), Failure> {
    let step = Step::Confined { has_listener: listener.is_some(), has_notices: notices.is_some() };
    let files: Vec<BorrowedFd<'_>> = listener.into_iter().chain(notices).collect();
    wire::send(warden, &step, &files).or_fail(Stage::Filter, "warden")
}

/// A socket on the loopback of the program's network, which nobody else can reach.
fn listen() -> Result<TcpListener, Failure> {
    let listener =
        sys::enable_loopback().and_then(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT)));
    listener.or_fail(Stage::Network, "loopback")
}

/// Waits for the program and for whatever else ends in the meantime.
fn wait_for(program: Pid) -> i32 {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == program => return status.as_raw(),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return libc::SIGKILL,
        }
    }
}
