//! Files of skills that came from other servers.
//!
//! Each skill has a folder `<root>/<server>/<digest of its files>/<name>`, read-only, written beside and renamed, and
//! outside of every folder that is searched for skills. The user's own programs could write there, so whoever uses it
//! has every file digested anew; nothing is believed because it was verified before.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::cache::make_private_folder;
use crate::files::{self, FileKind, open_regular};
use crate::library::{TrustState, TrustStore};
use crate::name::SkillName;
use crate::remote::offer::{Offer, OfferedFile, RemoteFault};
use crate::remote::skill::{RemoteFile, RemoteSkill};

/// What a server told of the skill beside it.
const OFFER: &str = "offer.json";
/// Largest of those that is read.
const MAX_OFFER: u64 = 4 << 20;
/// What was begun so long ago was not finished.
const UNFINISHED: Duration = Duration::from_hours(1);

/// The folder with what came from servers.
#[derive(Clone, Debug)]
pub struct RemoteStore {
    root: PathBuf,
}

/// Why files of a skill cannot be kept or used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// They are not what was told.
    #[error(transparent)]
    Fault(#[from] RemoteFault),
    /// A skill whose files change from one request to the next cannot be kept.
    #[error("its files are made when they are asked for, so nobody can tell what they are")]
    Dynamic,
    /// The folder cannot be read or written.
    #[error("`{}` cannot be used", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// An offer as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    uri: String,
    frontmatter: Map<String, Value>,
    files: Vec<OfferedFile>,
}

impl RemoteStore {
    /// The store in a folder, which need not be there yet.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// The folder of a skill, if all of its files are there and each is what was told.
    ///
    /// # Errors
    ///
    /// When something is there that is not the skill.
    pub fn folder(&self, skill: &RemoteSkill) -> Result<Option<PathBuf>, StoreError> {
        let told = skill.files.as_ref().ok_or(StoreError::Dynamic)?;
        let folder = self.place(skill).join(skill.manifest.name.folder());
        if !folder.is_dir() {
            return Ok(None);
        }
        for file in told {
            skill.verify(file, &read(&folder, file)?)?;
        }
        let found = files::list(&folder).map_err(|it| failed(&folder, io::Error::other(it)))?;
        let is_told = |path: &str| told.binary_search_by(|it| it.path.as_str().cmp(path)).is_ok();
        let is_file = |kind: &FileKind| matches!(kind, FileKind::File { .. });
        match found.entries.into_iter().find(|it| !is_file(&it.kind) || !is_told(&it.path)) {
            Some(other) => Err(RemoteFault::Unlisted { path: other.path }.into()),
            None => Ok(Some(folder)),
        }
    }

    /// Keeps the files of a skill, given in the order in which they were told, and gives their folder.
    ///
    /// # Errors
    ///
    /// When one is not what was told, or cannot be written.
    pub fn put(&self, skill: &RemoteSkill, contents: &[Vec<u8>]) -> Result<PathBuf, StoreError> {
        let told = skill.files.as_ref().ok_or(StoreError::Dynamic)?;
        for (index, file) in told.iter().enumerate() {
            let bytes = contents.get(index).map_or(&[][..], Vec::as_slice);
            skill.verify(file, bytes)?;
        }
        // Another process may have been faster; what it put there may be in use.
        if let Ok(Some(folder)) = self.folder(skill) {
            return Ok(folder);
        }
        let home = self.place(skill);
        let above = home.parent().unwrap_or(&self.root);
        let written = make_private_folder(above).and_then(|()| {
            let beside = tempfile::tempdir_in(above)?;
            let folder = beside.path().join(skill.manifest.name.folder());
            for (file, bytes) in told.iter().zip(contents) {
                write(&folder.join(&file.path), bytes)?;
            }
            let kept = serde_json::to_vec(&Kept::of(skill))?;
            write(&beside.path().join(OFFER), &kept)?;
            remove(&home)?;
            fs::rename(beside.path(), &home)
        });
        match (written, self.folder(skill)) {
            (_, Ok(Some(folder))) => Ok(folder),
            (Err(source), _) => Err(failed(&home, source)),
            (Ok(()), Err(error)) => Err(error),
            (Ok(()), Ok(None)) => Err(failed(&home, io::ErrorKind::NotFound.into())),
        }
    }

    /// The skills of a server that are kept here, as it told of them; what cannot be understood is left out.
    pub fn skills(&self, server: &SkillName) -> Vec<RemoteSkill> {
        let homes = inside(&self.root.join(server.folder()));
        homes.iter().filter_map(|home| self.skill_at(home, server)).collect()
    }

    /// Removes skills that nobody trusts as they are here and that came so long ago, with what is no skill; gives how
    /// many. Whoever needs one again fetches it.
    ///
    /// # Errors
    ///
    /// When something cannot be removed.
    pub fn remove_unused(&self, age: Duration, trust: &TrustStore) -> Result<usize, StoreError> {
        let servers = trust.remote_skills().filter_map(|(name, ..)| SkillName::new(name).ok());
        let servers: BTreeMap<PathBuf, SkillName> =
            servers.map(|server| (self.root.join(server.folder()), server)).collect();
        let mut removed = 0;
        for folder in inside(&self.root) {
            let server = servers.get(&folder);
            for home in inside(&folder) {
                let skill = server.and_then(|server| self.skill_at(&home, server));
                let state = skill.map(|skill| trust.remote_state(&skill));
                let unfinished = is_hidden(&home);
                let most = if unfinished { UNFINISHED.min(age) } else { age };
                if state != Some(TrustState::Trusted) && is_older(&home, most) {
                    remove(&home).map_err(|source| failed(&home, source))?;
                    removed += usize::from(!unfinished);
                }
            }
            // It stays if there is anything in it.
            let _left = fs::remove_dir(&folder);
        }
        Ok(removed)
    }

    /// Forgets what is kept of the skill at an address of a server.
    ///
    /// # Errors
    ///
    /// When it cannot be removed.
    pub fn forget(&self, server: &SkillName, uri: &str) -> Result<(), StoreError> {
        let skills = self.skills(server);
        for home in skills.iter().filter(|it| it.uri == uri).map(|it| self.place(it)) {
            remove(&home).map_err(|source| failed(&home, source))?;
        }
        Ok(())
    }

    /// The skill that is kept in a folder, as its server told of it.
    fn skill_at(&self, home: &Path, server: &SkillName) -> Option<RemoteSkill> {
        let skill = kept(&home.join(OFFER))?.skill(server)?;
        (self.place(&skill) == *home).then_some(skill)
    }

    fn place(&self, skill: &RemoteSkill) -> PathBuf {
        self.root.join(skill.server.folder()).join(skill.digest().to_string())
    }
}

impl Kept {
    fn of(skill: &RemoteSkill) -> Self {
        let files = skill.files.iter().flatten().map(|file| OfferedFile {
            uri: file.uri.clone(),
            digest: format!("sha256:{}", file.digest),
            size: file.size,
        });
        let (uri, frontmatter) = (skill.uri.clone(), skill.frontmatter.clone());
        Self { uri, frontmatter, files: files.collect() }
    }

    fn skill(&self, server: &SkillName) -> Option<RemoteSkill> {
        let Self { uri, frontmatter, files } = self;
        RemoteSkill::read(server, &Offer { uri, frontmatter, files: Some(files) }).ok()
    }
}

fn failed(path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { path: path.to_owned(), source }
}

/// What is in a folder, in order; nothing if it cannot be listed.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<PathBuf> = found.map(|it| it.path()).collect();
    found.sort();
    found
}

/// Whether something is, or was, being written.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn is_older(path: &Path, age: Duration) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|it| it.modified()).ok();
    changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|it| it > age)
}

fn kept(file: &Path) -> Option<Kept> {
    let (opened, _) = open_regular(file).ok()?;
    let mut bytes = Vec::new();
    opened.take(MAX_OFFER).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// A file that may have been replaced by anything, and its folders too.
fn read(folder: &Path, file: &RemoteFile) -> Result<Vec<u8>, StoreError> {
    let path = folder.join(&file.path);
    let failed = |source| failed(&path, source);
    let above = path.ancestors().take_while(|it| *it != folder);
    for part in above.chain([folder]) {
        if fs::symlink_metadata(part).map_err(failed)?.is_symlink() {
            return Err(failed(io::Error::other("a link is in its place")));
        }
    }
    let (opened, metadata) = open_regular(&path).map_err(failed)?;
    if metadata.len() != file.size {
        let (path, told) = (file.path.clone(), file.size);
        return Err(RemoteFault::Size { path, told, found: metadata.len() }.into());
    }
    let mut bytes = Vec::new();
    opened.take(file.size + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Files have no modes on a server; what begins like a script can be started.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    make_private_folder(path.parent().unwrap_or(path))?;
    let mode = if bytes.starts_with(b"#!") { 0o555 } else { 0o444 };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(metadata) if metadata.is_dir() => {
            // Nothing in it is written by us without this right; a folder that lost it is in the way.
            fs::set_permissions(path, Permissions::from_mode(0o700))?;
            fs::remove_dir_all(path)
        }
        _ => fs::remove_file(path),
    }
}
