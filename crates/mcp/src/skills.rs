//! Messages of the extension for skills.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The name of the extension.
pub const SKILLS_EXTENSION: &str = "io.modelcontextprotocol/skills";
/// The method that lists the skills of a server, page by page.
pub const LIST_SKILLS: &str = "skills/list";
/// The method that gets one skill by the address of its `SKILL.md`.
pub const GET_SKILL: &str = "skills/get";
/// The method that lists the direct children of a folder.
pub const READ_DIRECTORY: &str = "resources/directory/read";

/// A skill of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McpSkill {
    /// The address of its `SKILL.md`.
    pub uri: String,
    /// Its frontmatter, with every field as it was written.
    pub frontmatter: Map<String, Value>,
    /// Its files.
    pub resources: McpSkillResources,
}

/// The files of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum McpSkillResources {
    /// The complete list.
    Files(Vec<McpSkillResource>),
    /// No list: the server makes files when they are requested.
    Dynamic(McpDynamicResources),
}

/// The word that stands in place of a list of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum McpDynamicResources {
    /// The word.
    Dynamic,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct McpSkillResource {
    /// Its address.
    pub uri: String,
    /// `sha256:` and the digest of its bytes, in lower-case hexadecimal digits.
    pub digest: String,
    /// Its size in bytes.
    pub size: u64,
}
