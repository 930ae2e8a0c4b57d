//! A skill of the library.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::catalog::HeaderTokens;
use crate::discover::{BundledSkill, Source};
use crate::files::Identity;
use crate::header::Manifest;
use crate::library::{Block, Verdict};
use crate::name::SkillName;

/// One skill, the winner of its name, with what is known of it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name here; a plugin's skill may carry the plugin's name.
    pub name: SkillName,
    /// What its header says.
    pub manifest: Box<Manifest>,
    /// Where it comes from.
    pub source: Source,
    /// Where it is.
    pub place: Place,
    /// What name and description cost a model.
    pub tokens: HeaderTokens,
    /// Skills of the same name that it hides.
    pub shadows: Vec<PathBuf>,
    /// Whether it may be used.
    pub verdict: Verdict,
}

/// Where a skill is.
#[derive(Clone, Debug)]
pub enum Place {
    /// In a folder.
    Folder {
        /// Its `SKILL.md`.
        file: PathBuf,
        /// The state of that file when it was read.
        identity: Identity,
    },
    /// In the binary.
    Bundled(BundledSkill),
    /// On another server.
    Remote(String),
}

impl Entry {
    /// Says that a bundled skill was unpacked to a folder.
    ///
    /// # Errors
    ///
    /// When its `SKILL.md` is not there.
    pub fn unpacked(&mut self, folder: &Path) -> io::Result<()> {
        let file = folder.join("SKILL.md");
        let identity = Identity::of(&fs::metadata(&file)?);
        self.place = Place::Folder { file, identity };
        Ok(())
    }

    /// What to do about something that keeps it from being used.
    pub fn remedy(&self, block: &Block) -> Option<String> {
        block.remedy(&self.name, &self.manifest)
    }

    /// Whether a model is told of it.
    pub fn is_model_visible(&self) -> bool {
        self.verdict.is_eligible() && self.manifest.invocation.by_model
    }

    /// Whether a person may start it by name.
    pub fn is_user_invocable(&self) -> bool {
        self.verdict.is_eligible() && self.manifest.invocation.by_user
    }
}

impl Place {
    /// The `SKILL.md`, or a name for one that is not a file.
    pub fn file(&self) -> PathBuf {
        match self {
            Self::Folder { file, .. } => file.clone(),
            Self::Bundled(skill) => PathBuf::from(format!("bundled:{}", skill.folder)),
            Self::Remote(address) => PathBuf::from(address),
        }
    }

    /// The folder, if it is one on disk.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder { file, .. } => file.parent(),
            _ => None,
        }
    }
}
