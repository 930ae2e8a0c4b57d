//! The trees that lookups and runs use: of one version, and of a trusted one.

use std::path::PathBuf;

use metier_skill::library::{ChangedSkill, Entry, TrustedFiles};
use metier_workspace::Tree;
use metier_workspace::stage::stage;

use crate::conversation::version_of;
use crate::library::LibraryError;
use crate::tools::error::SkillUseError;
use crate::tools::knowledge::{GivenSkill, Situation};

/// A skill as it was loaded.
#[derive(Clone, Copy, Debug)]
struct LoadedVersion<'a> {
    /// The digest of its tree, if that is to be used again.
    digest: Option<&'a str>,
    /// Which skill of its name it was, if that was written down.
    identity: Option<&'a str>,
}

impl Situation<'_> {
    /// The tree of a skill: that which was loaded, as long as it is there, so that instructions, docs
    /// and scripts are of one version.
    pub(crate) fn tree(&self, entry: &Entry) -> Result<Tree, SkillUseError> {
        let name = entry.name.as_str();
        let Some(LoadedVersion { digest: Some(digest), identity }) = self.loaded_version(name)
        else {
            return Ok(self.tree_now(entry)?);
        };
        if self.is_another(entry) {
            return Err(SkillUseError::Replaced { skill: name.to_owned() });
        }
        if identity.is_none() {
            return self.tree_if(entry, digest);
        }
        let Some(folder) = self.workspaces.staged(name, digest) else {
            return Ok(self.tree_now(entry)?);
        };
        if !may_have(entry, digest) {
            return Err(SkillUseError::TrustedAnew { skill: name.to_owned() });
        }
        let digest = digest.to_owned();
        Ok(Tree { name: name.to_owned(), folder, digest, entries: Vec::new() })
    }

    /// The tree of a skill as it is now, if it has this digest. Whether it is the skill that was loaded is not known
    /// otherwise.
    fn tree_if(&self, entry: &Entry, digest: &str) -> Result<Tree, SkillUseError> {
        let tree = self.tree_now(entry)?;
        if tree.digest == digest {
            return Ok(tree);
        }
        Err(SkillUseError::Changed { skill: entry.name.to_string() })
    }

    /// Whether the skill that was loaded by this name is another one, of another source or place.
    pub(crate) fn is_another(&self, entry: &Entry) -> bool {
        let loaded = self.loaded_version(entry.name.as_str());
        let identity = loaded.and_then(|version| version.identity);
        identity.is_some_and(|identity| identity != entry.identity.to_string())
    }

    /// The tree of a skill as it is now. Of a skill that a person trusted it is what was trusted, whatever the library
    /// says.
    pub(crate) fn tree_now(&self, entry: &Entry) -> Result<Tree, LibraryError> {
        let tree = self.library.tree(entry)?;
        if may_have(entry, &tree.digest) {
            return Ok(tree);
        }
        let (name, remedy) = (&entry.name, ChangedSkill::REMEDY);
        Err(LibraryError::new(format!("`{name}` changed since it was trusted; {remedy}")))
    }

    /// The folder of the staged copy of such a tree, which does not change while it is read.
    pub(crate) fn staged_folder(&self, entry: &Entry) -> Result<PathBuf, SkillUseError> {
        Ok(stage(self.workspaces, &self.tree(entry)?)?)
    }

    fn loaded_version(&self, skill: &str) -> Option<LoadedVersion<'_>> {
        if let Some(GivenSkill { identity, digest }) = self.given.get(skill) {
            return Some(LoadedVersion { digest: digest.as_deref(), identity: Some(identity) });
        }
        let (digest, identity) =
            version_of(self.events, skill).filter(|_| self.is_loaded(skill))?;
        Some(LoadedVersion { digest: Some(digest), identity })
    }
}

/// Whether a tree of this digest may be used for a skill.
fn may_have(entry: &Entry, digest: &str) -> bool {
    let trusted: Option<&TrustedFiles> = entry.trusted_files.as_ref();
    trusted.is_none_or(|files| files.are_those_of(digest))
}
