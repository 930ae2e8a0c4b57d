//! The files of a skill, whole: for clients that keep or show them.
//!
//! These are the files as they are now, whatever was given to the model before. A digest and the bytes that follow
//! it are of one version: bytes come from the staged copy, and are compared with the digest once more.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use metier_skill::files::{Digest, is_doc};
use metier_workspace::input::open_below;
use metier_workspace::mime::mime_type;
use metier_workspace::stage::{is_reserved, stage};
use metier_workspace::{Tree, TreeKind};

use super::desk::Desk;
use super::{MAX_WHOLE_BYTES, Visit, VisitError};

/// The file with the instructions of a skill.
const INSTRUCTIONS: &str = "SKILL.md";

/// The files of a skill, all of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFiles {
    /// The skill.
    pub skill: String,
    /// The digest of all of it.
    pub digest: String,
    /// Its files, in the order of their paths.
    pub files: Vec<SkillFile>,
}

/// A file of a skill. A link is listed as the file that it leads to; one that leads to a folder is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFile {
    /// Its path in the skill, with slashes.
    pub path: String,
    /// How many bytes it has.
    pub size: u64,
    /// SHA-256 of its bytes, in 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// What it is for.
    pub role: FileRole,
    /// Whether it may be executed.
    pub is_executable: bool,
}

/// What a file of a skill is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRole {
    /// The instructions.
    Instructions,
    /// A doc.
    Doc,
    /// Anything else.
    Resource,
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
    /// The files of a skill that may be used.
    ///
    /// # Errors
    ///
    /// When it may not, or cannot be read.
    pub async fn files(&self, skill: &str) -> Result<SkillFiles, VisitError> {
        let skill = skill.to_owned();
        self.apart(move |desk| desk.files(&skill)).await
    }

    /// A file of a skill that may be used, whole.
    ///
    /// # Errors
    ///
    /// When there is none, it is larger than [`MAX_WHOLE_BYTES`], or it cannot be read.
    pub async fn file(&self, skill: &str, path: &str) -> Result<FileBytes, VisitError> {
        let (skill, path) = (skill.to_owned(), path.to_owned());
        self.apart(move |desk| desk.file(&skill, &path)).await
    }
}

impl Desk {
    fn files(&self, skill: &str) -> Result<SkillFiles, VisitError> {
        let tree = self.tree(skill)?;
        let mut files = Vec::new();
        let kinds = kinds_of(&tree);
        for path in kinds.keys() {
            if let Some(found) = find(&tree, &kinds, path)? {
                files.push(found.file);
            }
        }
        Ok(SkillFiles { skill: tree.name, digest: tree.digest, files })
    }

    fn file(&self, skill: &str, path: &str) -> Result<FileBytes, VisitError> {
        let tree = self.tree(skill)?;
        let Some(Found { file, place, sha256 }) = find(&tree, &kinds_of(&tree), path)? else {
            return Err(VisitError::NoFile { skill: tree.name, path: path.to_owned() });
        };
        let name = || format!("{skill}/{path}");
        let too_large = |size| VisitError::TooLarge { name: name(), size };
        if file.size > MAX_WHOLE_BYTES {
            return Err(too_large(file.size));
        }
        let staged = stage(&self.visits.runner.workspaces, &tree)?;
        // What metier's own names hide is in no staged copy.
        let folder = if is_reserved(&place) { &tree.folder } else { &staged };
        let read = || {
            let mut bytes = Vec::new();
            if let Some(opened) = open_below(std::slice::from_ref(folder), &folder.join(&place))? {
                File::from(opened).take(MAX_WHOLE_BYTES + 1).read_to_end(&mut bytes)?;
            }
            Ok(bytes)
        };
        let bytes = read().map_err(|source| VisitError::Io { name: name(), source })?;
        if Digest::of_bytes(&bytes).as_bytes() != &sha256 {
            return Err(VisitError::Changed { skill: tree.name, path: path.to_owned() });
        }
        Ok(FileBytes { mime_type: mime_type(path, &bytes), file, bytes })
    }

    /// The tree of a skill as it is now.
    fn tree(&self, skill: &str) -> Result<Tree, VisitError> {
        self.look(|at| {
            let entry = at.usable(skill).map_err(VisitError::Skill)?;
            Ok(at.library.tree(entry)?)
        })
    }
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
    let Some(TreeKind::File { sha256, executable }) = kind else { return Ok(None) };
    let size = match tree.folder.join(&place).symlink_metadata() {
        Ok(metadata) => metadata.len(),
        Err(_) => {
            return Err(VisitError::Changed { skill: tree.name.clone(), path: path.to_owned() });
        }
    };
    let role = match path {
        INSTRUCTIONS => FileRole::Instructions,
        path if is_doc(path) => FileRole::Doc,
        _ => FileRole::Resource,
    };
    let file = SkillFile {
        path: path.to_owned(),
        size,
        sha256: sha256.iter().map(|byte| format!("{byte:02x}")).collect(),
        role,
        is_executable: *executable,
    };
    Ok(Some(Found { file, place, sha256: *sha256 }))
}

/// Where a link of a tree leads, from the folder of the tree.
fn followed(folder: &Path, path: &str) -> Option<String> {
    let real = folder.join(path).canonicalize().ok()?;
    let inside = real.strip_prefix(folder.canonicalize().ok()?).ok()?;
    inside.to_str().map(str::to_owned)
}
