//! The trees that lookups and runs use: of one version, and of a trusted one.

use std::path::PathBuf;

use metier_skill::library::{ChangedSkill, Entry, TrustedFiles};
use metier_workspace::Tree;
use metier_workspace::stage::stage;

use crate::conversation::digest_of;
use crate::library::LibraryError;
use crate::tools::knowledge::Situation;

impl Situation<'_> {
    /// The tree of a skill: that which was loaded, as long as it is there, so that instructions, docs
    /// and scripts are of one version.
    pub(crate) fn tree(&self, entry: &Entry) -> Result<Tree, String> {
        let name = entry.name.as_str();
        if self.is_loaded(name)
            && let Some(digest) = self.digest_of(name)
            && let Some(folder) = self.workspaces.staged(name, digest)
        {
            if !may_have(entry, digest) {
                return Err(format!(
                    "`{name}` was trusted anew since it was loaded; load it again"
                ));
            }
            let digest = digest.to_owned();
            return Ok(Tree { name: name.to_owned(), folder, digest, entries: Vec::new() });
        }
        self.tree_now(entry).map_err(|error| error.to_string())
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
    pub(crate) fn staged_folder(&self, entry: &Entry) -> Result<PathBuf, String> {
        stage(self.workspaces, &self.tree(entry)?).map_err(|error| error.to_string())
    }

    fn digest_of(&self, skill: &str) -> Option<&str> {
        let given = self.given.get(skill).and_then(Option::as_deref);
        given.or_else(|| digest_of(self.events, skill))
    }
}

/// Whether a tree of this digest may be used for a skill.
fn may_have(entry: &Entry, digest: &str) -> bool {
    let trusted: Option<&TrustedFiles> = entry.trusted_files.as_ref();
    trusted.is_none_or(|files| files.are_those_of(digest))
}
