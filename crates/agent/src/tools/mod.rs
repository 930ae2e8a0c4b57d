//! The tools of the agent.
//!
//! Tools that only look something up are answered at once and in the order of the calls; commands are
//! prepared in that order and then run beside each other. A program adds [tools of its own](Tool).

pub mod answer;
mod error;
pub(crate) mod knowledge;
pub(crate) mod own;
pub(crate) mod process;
pub(crate) mod read;
pub mod result;
pub(crate) mod run;
pub mod specs;
mod trees;

pub use answer::Answer;
pub(crate) use answer::bounded_text;
pub use error::{
    FileReadError, FileReadFault, RunPreparationError, SkillUseError, ToolArgumentsError,
    ToolCallError, UnreadableAdvice,
};
pub(crate) use knowledge::Situation;
pub use own::{MAX_OWN_TOOLS, Tool, ToolCall, ToolError};
pub use result::ToolResult;
pub use run::Restriction;
pub(crate) use run::Runs;
pub use specs::ToolSet;
