//! Confines process trees with what the Linux kernel offers, and runs them.
//!
//! A [`Policy`] denies everything and then grants; [`Limits`] bound what is left; [`spawn`] starts a
//! program under both and [`run()`] sees it to its end; [`converse`] does so while others talk to it. Confining happens in a
//! process of its own: the program that uses this crate is started again as a *helper*, which is why it calls [`helper`]
//! before anything else.
//!
//! ```standalone_crate
//! use std::error::Error;
//! use std::path::Path;
//!
//! use metier_sandbox::{
//!     Access, Cancel, Command, Job, Level, Limits, Observer, Policy, Program, Stream, helper, run,
//! };
//!
//! /// What a program wrote.
//! #[derive(Default)]
//! struct Written(String);
//!
//! impl Observer for Written {
//!     fn output(&mut self, _stream: Stream, bytes: &[u8]) {
//!         self.0.push_str(&String::from_utf8_lossy(bytes));
//!     }
//! }
//!
//! fn main() -> Result<(), Box<dyn Error>> {
//!     helper(); // First of all.
//!     let folder = tempfile::tempdir()?;
//!     let work = folder.path().join("work");
//!     // Programs of root run as nobody, to whom this gives the folder.
//!     metier_sandbox::doctor::make_folder(&work)?;
//!
//!     let script = "echo kept > note; cat /etc/shadow; ls /home";
//!     let job = Job {
//!         program: Program {
//!             command: Command::Arguments(["sh", "-c", script].map(Into::into).to_vec()),
//!             environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
//!             directory: "/job".into(),
//!         },
//!         // The system's programs, and one folder. No network, no other file, no other process.
//!         policy: Policy::deny_all(Level::Full)
//!             .with_system()
//!             .grant(&work, Path::new("/job"), Access::Write),
//!         limits: Limits { memory: 64 << 20, ..Limits::default() },
//!     };
//!     let mut written = Written::default();
//!     let outcome = run(&job, b"", &mut written, &Cancel::new()?)?;
//!     assert_ne!(outcome.ended.code, Some(0), "there is no /home");
//!     assert!(written.0.contains("/etc/shadow: No such file or directory"), "{}", written.0);
//!     assert_eq!(std::fs::read_to_string(work.join("note"))?, "kept\n");
//!     Ok(())
//! }
//! ```
//!
//! [`Outcome::not_promised`] says what was not kept from the program, and [`doctor::examine`] what this machine offers.
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
mod queue;
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
pub use queue::unread_output;
pub use run::{Conversation, Observer, Outcome, Stream, converse, run};
pub use spawn::{
    Child, Ended, Missing, SpawnError, Stdio, is_root_without_mounts, spawn, unprivileged_owner,
};
pub use terminal::Size;
pub use walk::{Descriptor, Joint, Pin, To, Walk, WalkStep, Walked, WritePin};
