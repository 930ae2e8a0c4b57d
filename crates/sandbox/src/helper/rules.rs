//! Landlock: which files the program may touch, and that it may neither signal nor call those
//! outside. On top of namespaces it is a second wall; without them it is the wall.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use super::OrFail;
use super::launch::Files;
use crate::policy::{Access, Level, Network};
use crate::wire::{Failure, Order, Stage};

/// The first version that keeps signals and abstract sockets inside.
const NEEDED: ABI = ABI::V6;

/// Devices that a program may use in every case.
const DEVICES: [&str; 6] =
    ["/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"];

/// Restricts this process and all it will start.
pub(super) fn restrict(order: &Order, files: &Files) -> Result<(), Failure> {
    let firm = order.job.policy.level == Level::Landlock;
    if firm {
        without_links(order)?;
    }
    let status = apply(order, files).map_err(|error| failure(&error.to_string()))?;
    if firm && status != RulesetStatus::FullyEnforced {
        return Err(failure("this kernel's version does not keep signals inside"));
    }
    Ok(())
}

fn failure(detail: &str) -> Failure {
    Failure { stage: Stage::Landlock, errno: libc::ENOSYS, detail: detail.to_owned() }
}

fn apply(order: &Order, files: &Files) -> Result<RulesetStatus, landlock::RulesetError> {
    let all = AccessFs::from_all(NEEDED);
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    ruleset = ruleset.handle_access(all)?.scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    if order.job.policy.level == Level::Landlock && order.job.policy.network == Network::None {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEEDED))?;
    }
    let mut ruleset = ruleset.create()?;
    for (path, access) in paths(order) {
        // What is not there needs no rule.
        let Ok(file) = PathFd::new(&path) else { continue };
        let rights = if path.is_dir() { access } else { access & AccessFs::from_file(NEEDED) };
        ruleset = ruleset.add_rule(PathBeneath::new(file, rights))?;
    }
    if order.terminal {
        // So that it can be opened again as `/dev/stderr` and the like.
        ruleset = ruleset.add_rule(PathBeneath::new(&files.input, device()))?;
    }
    Ok(ruleset.restrict_self()?.ruleset)
}

/// What may be done with a device.
fn device() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev
}

/// Refuses to grant what an earlier program made a link of. With namespaces that was found when the
/// grants were mounted.
fn without_links(order: &Order) -> Result<(), Failure> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    for grant in order.job.policy.grants.iter().filter(|grant| !grant.system) {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        openat2(CWD, &grant.target, flags, Mode::empty(), resolve)
            .or_fail(Stage::Mounts, grant.target.display())?;
    }
    Ok(())
}

/// Every path with what may be done below it.
fn paths(order: &Order) -> Vec<(PathBuf, BitFlags<AccessFs>)> {
    let read = AccessFs::from_read(NEEDED);
    let write = AccessFs::from_all(NEEDED);
    let granted = order.job.policy.grants.iter().map(|grant| {
        let rights = if grant.access == Access::Write { write } else { read };
        (grant.target.clone(), rights)
    });
    let own = |path: &str, rights| (Path::new(path).to_owned(), rights);
    let mut paths: Vec<_> = granted.collect();
    paths.extend(DEVICES.map(|path| own(path, device())));
    paths.push(own("/proc", read));
    if order.job.policy.level == Level::Full {
        paths.extend(["/tmp", "/dev/shm", "/dev/pts"].map(|path| own(path, write)));
        // So that the folders above what was granted can be listed.
        paths.push(own("/", AccessFs::ReadDir.into()));
    }
    paths
}
