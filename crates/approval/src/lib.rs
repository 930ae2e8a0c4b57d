//! May this command run.
//!
//! A command is judged in two steps. [`parse()`] reads its text by the grammar of the shell and gives
//! a [`Plan`], which says exactly which programs would be started, with which arguments, in which
//! folder, joined how; whatever a plan cannot say is [not analysable](NotAnalysable). [`judge()`] then asks for
//! each program of the plan who allows it. What is allowed is run from the plan: the text is never
//! given to a shell again.
//!
//! Everything here is pure and synchronous. What must be known about this machine is asked of
//! [`Facts`]; what people decided comes in with the [`Policy`]. Asking, remembering and running belong to
//! others.

mod facts;
mod judge;
mod parse;
mod plan;
mod policy;
mod restricted;
mod show;
mod tables;
mod verdict;

pub use facts::{Executable, Facts, FileFact, Identity};
pub use judge::judge;
pub use parse::{MAX_BYTES, MAX_COMMANDS, MAX_VARIABLES, MAX_WORDS, NotAnalysable, parse, quote};
pub use plan::{Action, Descriptor, Joint, Plan, Redirection, Simple, Step, Target};
pub use policy::{Ask, Entry, Mode, Policy, Remembered, Rules, SkillProgram};
pub use restricted::{Refusal, restricted};
pub use show::{MAX_LINES, MAX_SHOWN, Shown, TooLong, shown, shown_text};
pub use tables::is_loader_variable;
pub use verdict::{Approved, Basis, Judged, Pinned, Verdict};
