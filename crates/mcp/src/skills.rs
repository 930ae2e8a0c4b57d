//! Messages of the extension for skills.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the extension is called.
pub const EXTENSION: &str = "io.modelcontextprotocol/skills";
/// Asks for the skills of a server, page by page.
pub const LIST: &str = "skills/list";
/// Asks for one skill, by the address of its `SKILL.md`.
pub const GET: &str = "skills/get";
/// Asks for what is directly in a folder.
pub const READ_DIRECTORY: &str = "resources/directory/read";

/// A skill of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skill {
    /// The address of its `SKILL.md`.
    pub uri: String,
    /// Its header, every field as it was written.
    pub frontmatter: Map<String, Value>,
    /// Its files.
    pub resources: Resources,
}

/// The files of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Resources {
    /// All of them.
    Files(Vec<Resource>),
    /// They are made when they are asked for.
    Dynamic(Dynamic),
}

/// The word that stands for files that nobody can list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dynamic {
    /// The word.
    Dynamic,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resource {
    /// Its address.
    pub uri: String,
    /// `sha256:` and the digest of its bytes, in lower-case hexadecimal digits.
    pub digest: String,
    /// How many bytes it has.
    pub size: u64,
}
