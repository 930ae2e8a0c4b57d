//! Confines process trees with what the Linux kernel offers, and runs them.
//!
//! A [`Policy`] denies everything and then grants; [`Limits`] bound what is left; [`spawn`] starts a
//! program under both and [`run()`] sees it to its end; [`converse`] does so while others talk to it. Confining happens in a process of its own: the
//! program that uses this crate is started again as a *helper*, which is why it calls [`helper`]
//! before anything else:
//!
//! ```no_run
//! metier_sandbox::helper();
//! // … the rest of `main`
//! ```
//!
//! The helper has one thread and stays; for each program it splits off a *warden*, which makes the
//! namespaces, starts the program, ends the whole tree when told to or when the caller dies, and
//! reports. There are two levels: [`Level::Full`] has namespaces, Landlock and a filter of system
//! calls; [`Level::Landlock`] does without namespaces where the system forbids them.
//! [`Level::None`] confines nothing and still owns the tree.

mod cancel;
mod cgroup;
mod console;
mod disk;
pub mod doctor;
mod helper;
mod keeper;
mod limits;
mod policy;
mod program;
mod run;
mod spawn;
mod terminal;
mod walk;
mod wire;

pub use cancel::Cancel;
pub use cgroup::remove_leftovers;
pub use console::{Console, ConsoleError, MAX_PENDING};
pub use disk::DiskGuard;
pub use helper::helper;
pub use limits::{Limit, Limits};
pub use policy::{Access, Grant, Level, Network, PROXY_PORT, Policy};
pub use program::{Command, Job, Program};
pub use run::{Conversation, Observer, Outcome, Stream, converse, run};
pub use spawn::{
    Child, Ended, Missing, SpawnError, Stdio, is_root_without_mounts, spawn, unprivileged_owner,
};
pub use terminal::Size;
pub use walk::{Descriptor, Joint, Pin, To, Walk, WalkStep, Walked};
