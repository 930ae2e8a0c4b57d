//! A skill of the library.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::advice::SkillAdvice;
use crate::catalog::{HeaderTokens, one_line};
use crate::discover::{BundledSkill, Source};
use crate::files::Identity;
use crate::header::Manifest;
use crate::install::tool_folder;
use crate::library::{Block, EntryKey, SkillIdentity, TrustedFiles, Verdict};
use crate::name::SkillName;
use crate::remote::RemoteSkill;

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
    /// Which skill of its name it is.
    pub identity: SkillIdentity,
    /// What name and description cost a model.
    pub tokens: HeaderTokens,
    /// The files that a person trusted, of a project's skill: whatever is used of it must be one of them. None for
    /// skills that need no trust, and for those that do not have it.
    pub trusted_files: Option<TrustedFiles>,
    /// Whether programs that older versions installed for its name count: the person keeps it, and no other skill of that
    /// name.
    pub has_tools_by_name: bool,
    /// Skills of the same name that it hides.
    pub shadows: Vec<PathBuf>,
    /// Which settings of `skills.entries` it has.
    pub entry_key: EntryKey,
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
    Remote(Box<RemoteSkill>),
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

    /// Returns the advice about something that keeps the skill from being used, if there is any.
    pub fn advice(&self, block: &Block) -> Option<SkillAdvice> {
        match (block, &self.place) {
            (Block::Unreadable { .. }, Place::Folder { file, .. }) => {
                let folder = file.parent().unwrap_or(file).to_owned();
                Some(SkillAdvice::CorrectHeader { folder: Some(folder) })
            }
            _ => block.advice(&self.name, &self.manifest, &self.entry_key),
        }
    }

    /// The skill as its server tells of it, if it is on another one.
    pub fn remote(&self) -> Option<&RemoteSkill> {
        match &self.place {
            Place::Remote(skill) => Some(skill),
            _ => None,
        }
    }

    /// What we call the server it comes from, if it comes from another one.
    pub fn server(&self) -> Option<&SkillName> {
        self.remote().map(|skill| &skill.server)
    }

    /// Its description as a model is told of it: with the server before it, if it comes from another one.
    pub fn description(&self) -> Cow<'_, str> {
        match self.server() {
            None => Cow::Borrowed(&self.manifest.description),
            Some(server) => Cow::Owned(from_server(server, &self.manifest.description)),
        }
    }

    /// The same on one line.
    pub fn summary(&self) -> Cow<'_, str> {
        summary(&self.manifest, self.server())
    }

    /// Returns the folder into which tools are installed for this skill, below the folder of all tools. A `skillKey` does
    /// not count, since a skill of that name could come later.
    pub fn tool_folder(&self, tools: &Path) -> PathBuf {
        tools.join(tool_folder(self.identity.as_str()))
    }

    /// Returns the folders of tools that count for this skill, the one for new ones first.
    pub fn tool_folders(&self, tools: &Path) -> Vec<PathBuf> {
        tool_folders_of(&self.identity, self.has_tools_by_name.then_some(&self.name), tools)
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

/// Returns the folders of tools that count for a skill: that of its identity and, if its name counts, the one that older
/// versions made for the name.
pub(super) fn tool_folders_of(
    identity: &SkillIdentity,
    name: Option<&SkillName>,
    tools: &Path,
) -> Vec<PathBuf> {
    let identities = [Some(identity.as_str()), name.map(SkillName::as_str)];
    identities.into_iter().flatten().map(|it| tools.join(tool_folder(it))).collect()
}

/// A description on one line, with the server before it if there is one.
pub(super) fn summary<'a>(manifest: &'a Manifest, server: Option<&SkillName>) -> Cow<'a, str> {
    let description = one_line(&manifest.description);
    match server {
        None => description,
        Some(server) => Cow::Owned(from_server(server, &description)),
    }
}

fn from_server(server: &SkillName, description: &str) -> String {
    format!("(from the server {server}) {description}")
}

impl Place {
    /// The `SKILL.md`, or a name for one that is not a file.
    pub fn file(&self) -> PathBuf {
        match self {
            Self::Folder { file, .. } => file.clone(),
            Self::Bundled(skill) => PathBuf::from(format!("bundled:{}", skill.folder)),
            Self::Remote(skill) => PathBuf::from(skill.place()),
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
