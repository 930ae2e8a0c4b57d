//! The files of a skill, whole: for clients that keep or show them.
//!
//! These are the files as they are now, whatever was given to the model before. A digest and the bytes that follow
//! it are of one version: bytes are compared with the digest before they are given. Nothing is copied for that.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use metier_skill::files::Digest;
use metier_workspace::input::open_below;
use metier_workspace::mime::mime_type;
use metier_workspace::{Tree, TreeKind};

use super::desk::Desk;
use super::{MAX_WHOLE_BYTES, Visit, VisitError};
use crate::texts::INSTRUCTIONS;

/// A file of a skill. A link is listed as the file that it leads to; one that leads to a folder is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFile {
    /// Its path in the skill, with slashes.
    pub path: String,
    /// How many bytes it has.
    pub size: u64,
    /// SHA-256 of its bytes, in 64 lower-case hexadecimal digits.
    pub sha256: String,
}

/// A file of a skill with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBytes {
    /// The file.
    pub file: SkillFile,
    /// What its content is.
    pub mime_type: &'static str,
    /// All of its bytes.
    pub bytes: Vec<u8>,
}

impl Visit {
    /// The files of a skill that may be used, in the order of their paths.
    ///
    /// # Errors
    ///
    /// When it may not, or cannot be read.
    pub async fn files(&self, skill: &str) -> Result<Vec<SkillFile>, VisitError> {
        let skill = skill.to_owned();
        self.apart(move |desk| files_of(&desk.tree(&skill)?)).await
    }

    /// The same with the bytes of its `SKILL.md`, all of one version.
    ///
    /// # Errors
    ///
    /// When it may not be used, has none, or cannot be read.
    pub async fn files_and_header(
        &self,
        skill: &str,
    ) -> Result<(Vec<SkillFile>, Vec<u8>), VisitError> {
        let skill = skill.to_owned();
        let read = move |desk: &Desk| {
            let tree = desk.tree(&skill)?;
            Ok((files_of(&tree)?, file_of(&tree, INSTRUCTIONS, |_| true)?.bytes))
        };
        self.apart(read).await
    }

    /// Returns a file of a skill that may be used, whole. `admit` is told its size before it is read, and says whether there
    /// is room for it.
    ///
    /// # Errors
    ///
    /// When there is none, it is larger than [`MAX_WHOLE_BYTES`], not admitted, or cannot be read.
    pub async fn file(
        &self,
        skill: &str,
        path: &str,
        admit: impl FnOnce(u64) -> bool + Send + 'static,
    ) -> Result<FileBytes, VisitError> {
        let (skill, path) = (skill.to_owned(), path.to_owned());
        self.apart(move |desk| file_of(&desk.tree(&skill)?, &path, admit)).await
    }
}

impl Desk {
    /// The tree of a skill as it is now.
    fn tree(&self, skill: &str) -> Result<Tree, VisitError> {
        self.look(|at| {
            let entry = at.usable(skill)?;
            Ok(at.tree_now(entry)?)
        })
    }
}

/// The files of a tree.
fn files_of(tree: &Tree) -> Result<Vec<SkillFile>, VisitError> {
    let kinds = kinds_of(tree);
    let found = kinds.keys().map(|path| find(tree, &kinds, path));
    found.filter_map(|it| it.map(|it| it.map(|found| found.file)).transpose()).collect()
}

/// A file of a tree, whole, if there is room for it.
fn file_of(
    tree: &Tree,
    path: &str,
    admit: impl FnOnce(u64) -> bool,
) -> Result<FileBytes, VisitError> {
    let skill = &tree.name;
    let Some(Found { file, place, sha256 }) = find(tree, &kinds_of(tree), path)? else {
        return Err(VisitError::NoFile { skill: skill.clone(), path: path.to_owned() });
    };
    let name = || format!("{skill}/{path}");
    if file.size > MAX_WHOLE_BYTES {
        return Err(VisitError::TooLarge { name: name(), size: file.size });
    }
    if !admit(file.size) {
        return Err(VisitError::NoRoom { name: name(), size: file.size });
    }
    let folder = &tree.folder;
    let read = || {
        let mut bytes = Vec::new();
        if let Some(opened) = open_below(std::slice::from_ref(folder), &folder.join(&place))? {
            File::from(opened).take(file.size + 1).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    };
    let bytes = read().map_err(|source| VisitError::Io { name: name(), source })?;
    if Digest::of_bytes(&bytes).as_bytes() != &sha256 {
        return Err(VisitError::Changed { skill: skill.clone(), path: path.to_owned() });
    }
    Ok(FileBytes { mime_type: mime_type(path, &bytes), file, bytes })
}

/// A file that is there.
struct Found {
    file: SkillFile,
    /// Where it really is in the tree.
    place: String,
    sha256: [u8; 32],
}

/// What is at every path of a tree.
type Kinds<'a> = BTreeMap<&'a str, &'a TreeKind>;

fn kinds_of(tree: &Tree) -> Kinds<'_> {
    tree.entries.iter().map(|entry| (entry.path.as_str(), &entry.kind)).collect()
}

/// The file at a path, or none if there is no file.
fn find(tree: &Tree, kinds: &Kinds<'_>, path: &str) -> Result<Option<Found>, VisitError> {
    let place = match kinds.get(path) {
        Some(TreeKind::Link { .. }) => followed(&tree.folder, path),
        Some(TreeKind::File { .. }) => Some(path.to_owned()),
        None => None,
    };
    let Some(place) = place else { return Ok(None) };
    let kind = kinds.get(place.as_str());
    let Some(TreeKind::File { sha256, .. }) = kind else { return Ok(None) };
    let size = match tree.folder.join(&place).symlink_metadata() {
        Ok(metadata) => metadata.len(),
        Err(_) => {
            return Err(VisitError::Changed { skill: tree.name.clone(), path: path.to_owned() });
        }
    };
    let file = SkillFile {
        path: path.to_owned(),
        size,
        sha256: sha256.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    Ok(Some(Found { file, place, sha256: *sha256 }))
}

/// Where a link of a tree leads, from the folder of the tree.
fn followed(folder: &Path, path: &str) -> Option<String> {
    let real = folder.join(path).canonicalize().ok()?;
    let inside = real.strip_prefix(folder.canonicalize().ok()?).ok()?;
    inside.to_str().map(str::to_owned)
}
