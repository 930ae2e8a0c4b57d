//! Namespaces of its own for the program: users, mounts, processes, network, names.

use std::fs;

use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;

use super::{OrFail, sys};
use crate::policy::Network;
use crate::wire::{Failure, Order, Stage};

/// Makes the namespaces. The next process this one starts is the first of its own.
///
/// An ordinary user needs a user namespace to make the others. Root does not, and must not: it has
/// to reach the caller's folders first and gives up its rights later.
pub(super) fn enter(order: &Order) -> Result<(), Failure> {
    let mut flags =
        UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
    if order.job.policy.network != Network::Host {
        flags |= UnshareFlags::NEWNET;
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let as_root = order.owner.is_some();
    if !as_root {
        flags |= UnshareFlags::NEWUSER;
    }
    sys::unshare(flags).or_fail(Stage::Namespaces, "")?;
    if !as_root {
        write("/proc/self/setgroups", "deny")?;
        write("/proc/self/uid_map", &format!("{user} {user} 1"))?;
        write("/proc/self/gid_map", &format!("{group} {group} 1"))?;
    }
    Ok(())
}

/// Lets this process and those it will start see their own control group as the topmost; to be called
/// once it is in that.
pub(super) fn hide_group() -> Result<(), Failure> {
    sys::unshare(UnshareFlags::NEWCGROUP).or_fail(Stage::Namespaces, "")
}

fn write(path: &str, text: &str) -> Result<(), Failure> {
    fs::write(path, text).or_fail(Stage::Namespaces, path)
}
