//! Faults of answers and of entries in lists of a server.
//!
//! An answer that is not what was asked for is an error of the request. An entry of a list that cannot be used is left
//! out, and the list says so. Texts of the server in a fault are excerpts.

use thiserror::Error;

use super::lists::{MAX_SKILL, MAX_SKILLS, MAX_TOOL, MAX_TOOLS};

/// The fault of an answer that is not what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum McpAnswerFault {
    /// It lacks the list that was asked for.
    #[error("there is no list of {field} in it")]
    NoList {
        /// The field that has the list.
        field: &'static str,
    },
    /// It lacks the skill that was asked for.
    #[error("there is no skill in it")]
    NoSkill,
    /// The skill in it cannot be used.
    #[error(transparent)]
    Skill(#[from] McpSkillFault),
    /// The skill in it has another address.
    #[error("it is another skill")]
    OtherSkill,
    /// It does not have the form of a file.
    #[error("it is no file")]
    NoFile,
    /// It has no file, or several.
    #[error("it has {count} files")]
    FileCount {
        /// The number of files in it.
        count: usize,
    },
    /// The file in it has another address.
    #[error("it is another file")]
    OtherFile,
    /// The bytes of the file are not encoded as they should be.
    #[error("it is not written in Base64")]
    NotBase64,
    /// The file has neither text nor bytes, or both.
    #[error("it is neither text nor bytes")]
    NeitherTextNorBytes,
    /// A tool asks a question before it goes on.
    #[error("it asks for more, which nobody can give")]
    InputRequired,
    /// It is of a kind that the client does not know.
    #[error("an answer of the kind `{kind}`")]
    UnknownKind {
        /// The kind.
        kind: String,
    },
    /// A tool answered without content.
    #[error("it has no content")]
    NoContent,
}

/// The reason why tools of a server are left out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum McpToolFault {
    /// The name of a tool is empty or too long.
    #[error("a tool without a usable name: `{name}`")]
    Name {
        /// The name.
        name: String,
    },
    /// The entry of a tool is too large.
    #[error("the tool `{name}`, which says more than {MAX_TOOL} bytes")]
    TooLarge {
        /// The tool.
        name: String,
    },
    /// A tool has no schema of its arguments.
    #[error("the tool `{name}`, which does not say what its arguments are")]
    NoSchema {
        /// The tool.
        name: String,
    },
    /// Another tool has the same name.
    #[error("a second tool `{name}`")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// The list has more tools than are taken.
    #[error("there are more than {MAX_TOOLS} tools")]
    TooMany,
    /// The list has more pages than are asked for.
    #[error("the list of tools does not end")]
    Endless,
}

/// The reason why skills of a server are left out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum McpSkillFault {
    /// The entry of a skill is too large.
    #[error("its entry has more than {MAX_SKILL} bytes")]
    TooLarge,
    /// The entry of a skill does not have the form that the extension wants.
    #[error("{reason}")]
    Unreadable {
        /// The complaint of the JSON reader.
        reason: String,
    },
    /// The list has more skills or more bytes than are taken.
    #[error("there are more than {MAX_SKILLS} skills, or they say too much")]
    TooMany,
    /// The list has more pages than are asked for.
    #[error("the list of skills does not end")]
    Endless,
}
