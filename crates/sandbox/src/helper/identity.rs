//! Who the program is: nobody in particular, without any right beyond its user's.

use std::io;

use rustix::process::{Gid, Signal, Uid, set_parent_process_death_signal};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

use super::OrFail;
use crate::wire::{Failure, Stage};

/// Gives up every right, for good.
pub(super) fn give_up_rights(owner: Option<(u32, u32)>) -> Result<(), Failure> {
    for capability in CapabilitySet::all().iter() {
        // One that the kernel does not know cannot be kept either.
        let _unknown = remove_capability_from_bounding_set(capability);
    }
    let _unknown = clear_ambient_capability_set();
    if let Some((user, group)) = owner {
        become_owner(user, group).or_fail(Stage::Identity, "user")?;
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).or_fail(Stage::Identity, "capabilities")?;
    set_no_new_privs(true).or_fail(Stage::Identity, "no new privileges")?;
    follow_parent().or_fail(Stage::Identity, "parent")
}

/// Becomes who the program is, and keeps no right: for the warden, which works for a program that has no
/// namespace of its own.
pub(super) fn follow_program(owner: Option<(u32, u32)>) -> Result<(), Failure> {
    if let Some((user, group)) = owner {
        become_owner(user, group).or_fail(Stage::Identity, "user")?;
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).or_fail(Stage::Identity, "capabilities")
}

fn become_owner(user: u32, group: u32) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    set_thread_groups(&[])?;
    set_thread_res_gid(group, group, group)?;
    Ok(set_thread_res_uid(user, user, user)?)
}

/// When memory runs out, the program is ended before the warden, who has to tell about it.
pub(super) fn end_first() {
    // Without it the caller learns less; nothing else is lost.
    let _unknown = std::fs::write("/proc/self/oom_score_adj", "1000");
}

/// Dies with the process that started this one.
pub(super) fn follow_parent() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}
