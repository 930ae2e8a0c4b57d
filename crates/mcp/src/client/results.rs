//! Results of requests: the description of a server, its tools and skills, and replies of its tools.

use serde_json::Value;

use super::{McpSkillFault, McpToolFault};
use crate::skills::McpSkill;

/// The description that a server gives of itself. Every text is bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpServerInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The protocol version of the connection.
    pub protocol: String,
    /// Its instructions for models.
    pub instructions: String,
    /// Whether it has tools.
    pub has_tools: bool,
    /// Whether it has files.
    pub has_resources: bool,
    /// Whether it has skills.
    pub has_skills: bool,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct McpTool {
    /// Its name, as the server has it.
    pub name: String,
    /// Its description, as the server has it.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

/// The tools of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpToolList {
    /// The tools that can be used.
    pub tools: Vec<McpTool>,
    /// The faults of those that were left out.
    pub left_out: Vec<McpToolFault>,
}

/// The result of a call of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpToolResult {
    /// Its content as text.
    pub text: String,
    /// Whether the tool reports an error.
    pub is_error: bool,
}

/// The progress of a call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct McpCallProgress {
    /// The amount of work that is done.
    pub done: f64,
    /// The total amount of work.
    pub total: Option<f64>,
    /// A description of the current step.
    pub message: Option<String>,
}

/// The skills of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpSkillList {
    /// The skills whose entries can be read.
    pub skills: Vec<McpSkill>,
    /// The other entries.
    pub problems: Vec<McpSkillProblem>,
}

/// An entry of a list of skills that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpSkillProblem {
    /// The address of the skill, if that could be read.
    pub uri: Option<String>,
    /// The reason.
    pub fault: McpSkillFault,
}
