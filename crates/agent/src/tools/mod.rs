//! The tools of the agent.
//!
//! Tools that only look something up are answered at once and in the order of the calls; commands are
//! prepared in that order and then run beside each other.

pub mod answer;
pub mod knowledge;
pub(crate) mod process;
pub mod read;
pub mod run;
pub mod specs;

pub use answer::Answer;
pub use knowledge::Situation;
pub use run::Runs;
pub use specs::ToolSet;
