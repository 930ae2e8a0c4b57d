//! The reasons for which a skill cannot be used as a model or a person asked for it.

use std::io;

use metier_session::DeltaError;
use metier_skill::files::TreeError;
use metier_skill::library::{Block, ChangedSkill};
use metier_workspace::stage::StageError;
use thiserror::Error;

use crate::library::LibraryError;
use crate::texts::TextError;

/// The reason for which a skill cannot be used as it was asked for.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SkillUseError {
    /// No skill of the name may be used.
    #[error("there is no skill `{name}`{}", instead(nearest))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names of skills that may be used, the most similar first.
        nearest: Vec<String>,
    },
    /// Something on this machine is in its way.
    #[error("`{name}` cannot be used here: {}", reasons(blocks))]
    Unusable {
        /// The skill.
        name: String,
        /// Everything that is in its way.
        blocks: Vec<Block>,
    },
    /// Its docs can be selected only once it is loaded.
    #[error("`{skill}` is not loaded; call skill_load first")]
    NotLoaded {
        /// The skill.
        skill: String,
    },
    /// It has no docs of these names.
    #[error(
        "`{skill}` has no doc {}; its docs are: {}. Nothing was loaded",
        quoted(unknown),
        list_or_none(docs)
    )]
    UnknownDocs {
        /// The skill.
        skill: String,
        /// The names that are no docs of it.
        unknown: Vec<String>,
        /// The docs that it has.
        docs: Vec<String>,
    },
    /// Another skill has the name of the one that was loaded.
    #[error("`{skill}` is another skill since it was loaded; load it again")]
    Replaced {
        /// The name.
        skill: String,
    },
    /// It was trusted with other files than those that were loaded.
    #[error("`{skill}` was trusted anew since it was loaded; load it again")]
    TrustedAnew {
        /// The skill.
        skill: String,
    },
    /// Its files are not those that were loaded.
    #[error("`{skill}` changed since it was loaded; load it again")]
    Changed {
        /// The skill.
        skill: String,
    },
    /// Its staged copy is gone.
    #[error("`{skill}` is no longer there; load it again")]
    Gone {
        /// The skill.
        skill: String,
    },
    /// It cannot be read, or its settings cannot be followed.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// It cannot be copied to where commands see it.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// A text of the staged copy cannot be read.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The files of the staged copy cannot be listed.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A file of the staged copy cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The state of the session does not take that it is loaded.
    #[error(transparent)]
    State(#[from] DeltaError),
}

/// The skills that could have been meant.
fn instead(nearest: &[String]) -> String {
    if nearest.is_empty() {
        return ", and no other that may be used".to_owned();
    }
    format!("; the nearest are: {}", nearest.join(", "))
}

/// Everything in the way of a skill, in words.
fn reasons(blocks: &[Block]) -> String {
    let reasons = blocks.iter().map(|block| match block {
        Block::Changed { .. } => format!("{block}; {}", ChangedSkill::REMEDY),
        _ => block.to_string(),
    });
    reasons.collect::<Vec<_>>().join("; ")
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn list_or_none(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
