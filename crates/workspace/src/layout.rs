//! Workspaces: one a session, with folders of known names, for its owner alone.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use metier_sandbox::unprivileged_owner;
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, unlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::clean;
use crate::encode::file_name;
use crate::own_file;
use crate::path::{Inside, SharedPlace};
use crate::spans;

/// Folders of a workspace that every program may write to.
pub(crate) const WRITABLE: [&str; 2] = ["work", "out"];
/// The folder with the [`venv`] of each skill.
pub(crate) const VENVS: &str = ".venvs";
/// Where inputs go unless something else is said.
pub(crate) const INPUTS: &str = "work/inputs";
/// The folder with the [`home`] of each skill.
pub(crate) const HOMES: &str = ".homes";
/// The folder with the workspaces that are [private](Workspace::private_to) to one skill each.
pub(crate) const PRIVATE: &str = ".private";
/// Folders between all workspaces and that of a session: application, user, session.
const LEVELS: usize = 3;
/// The folder with copies of skills.
const COPIES: &str = "skills";
/// Folders of a workspace that are metier's own.
const OWN: [&str; 2] = [COPIES, "runs"];
pub(crate) const METADATA: &str = "metadata.json";
/// Whose change time is the end of the last run.
const LAST_END: &str = ".last-end";
/// Larger metadata is not ours.
const MAX_METADATA_BYTES: u64 = 16 << 20;

/// The folder that `.venv` is for programs of a skill. Its programs come before all others, so
/// that no skill may write that of another.
pub(crate) fn venv(skill: &str) -> Inside {
    Inside::known(format!("{VENVS}/{}", file_name(skill)))
}

/// The home directory for programs of a skill, and so the place of its settings and caches. Programs
/// load code from there, so that no skill may write that of another.
pub(crate) fn home(skill: &str) -> Inside {
    Inside::known(format!("{HOMES}/{}", file_name(skill)))
}

/// Whose workspace it is. Two generations of one session do not share anything.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WorkspaceKey {
    /// The application.
    pub app: String,
    /// The user.
    pub user: String,
    /// The session.
    pub session: String,
    /// Which session of that name.
    pub generation: u32,
}

/// Where workspaces are, and the staged trees they share.
#[derive(Clone, Debug)]
pub struct Workspaces {
    root: PathBuf,
    content: PathBuf,
}

/// One workspace.
#[derive(Clone, Debug)]
pub struct Workspace {
    key: WorkspaceKey,
    root: PathBuf,
    /// Folders between all workspaces and this one.
    levels: usize,
    /// Locked for as long as somebody uses it.
    in_use: Option<Arc<File>>,
}

/// What is remembered of a workspace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// Whose workspace it is.
    pub key: Option<WorkspaceKey>,
    /// Skills that are in `skills/` as copies, with the digest each had.
    pub skills: BTreeMap<String, String>,
    /// Versions of artifacts that were pinned, by name and place.
    pub pins: BTreeMap<String, u64>,
    /// Files that were uploaded, by digest, size and name, with their place.
    pub uploads: BTreeMap<String, String>,
}

impl Metadata {
    /// Reads what is remembered of the workspace in a folder; what cannot be understood is forgotten.
    fn read(root: &Path) -> io::Result<Self> {
        let bytes = own_file::read(&root.join(METADATA), MAX_METADATA_BYTES)?.unwrap_or_default();
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }
}

impl Workspaces {
    /// The workspaces in a folder, which is made if need be. Staged trees are in the other.
    ///
    /// # Errors
    ///
    /// When a folder cannot be made.
    pub fn open(root: &Path, content: &Path) -> io::Result<Self> {
        make_private(root)?;
        make_private(content)?;
        Ok(Self { root: root.canonicalize()?, content: content.canonicalize()? })
    }

    /// Where workspaces are.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where staged trees are.
    pub(crate) fn content(&self) -> &Path {
        &self.content
    }

    /// The workspace of a session, made on first use. It is not removed while it or a clone of it
    /// is there.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn workspace(&self, key: &WorkspaceKey) -> io::Result<Workspace> {
        let root = self.folder_of(key);
        let in_use = match clean::hold(&root) {
            // Nobody can remove it either; what is there can be read all the same.
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => None,
            held => Some(Arc::new(held?)),
        };
        let workspace = Workspace { key: key.clone(), root, levels: LEVELS, in_use };
        if !workspace.root.join(METADATA).exists() {
            spans::step_now(&spans::create(key), || workspace.make())?;
        }
        match workspace.touch() {
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {}
            touched => touched?,
        }
        Ok(workspace)
    }

    /// The workspace in a folder on which the caller has a lock.
    pub(crate) fn claimed(key: &WorkspaceKey, folder: &Path) -> Workspace {
        Workspace { key: key.clone(), root: folder.to_owned(), levels: LEVELS, in_use: None }
    }

    /// Whether a session has a workspace.
    pub fn exists(&self, key: &WorkspaceKey) -> bool {
        self.folder_of(key).is_dir()
    }

    /// Where the workspace of a session is, or would be.
    pub(crate) fn folder_of(&self, key: &WorkspaceKey) -> PathBuf {
        let session = format!("{}-{}", file_name(&key.session), key.generation);
        self.folder_of_user(&key.app, &key.user).join(session)
    }

    fn folder_of_user(&self, app: &str, user: &str) -> PathBuf {
        self.root.join(file_name(app)).join(file_name(user))
    }

    /// The session of a user that was used last.
    ///
    /// # Errors
    ///
    /// When the folder cannot be listed.
    pub fn latest(&self, app: &str, user: &str) -> io::Result<Option<WorkspaceKey>> {
        let folder = self.folder_of_user(app, user);
        if !folder.is_dir() {
            return Ok(None);
        }
        let found = clean::workspaces_in(&folder)?.into_iter();
        let found = found.filter_map(|it| Some((clean::used(&it)?, it)));
        let Some((_, newest)) = found.max() else { return Ok(None) };
        Ok(Metadata::read(&newest)?.key)
    }
}

impl Workspace {
    fn make(&self) -> io::Result<()> {
        make_private(&self.root)?;
        let given = || WRITABLE.into_iter().chain([INPUTS, VENVS, HOMES]);
        for folder in given().chain(OWN) {
            make_private(&self.root.join(folder))?;
        }
        let _lock = self.lock()?;
        // Somebody else was faster, and may use it already.
        if self.root.join(METADATA).exists() {
            return Ok(());
        }
        for folder in given() {
            give_to_program(&self.root.join(folder))?;
        }
        self.save(&Metadata { key: Some(self.key.clone()), ..Metadata::default() })
    }

    /// The workspace that one skill has for itself inside this one, made on first use.
    ///
    /// It has all folders of a workspace, and runs in it find them at the usual places. Runs of other
    /// skills, and those in this workspace, are granted nothing of it.
    pub(crate) fn private_to(&self, skill: &str) -> io::Result<Self> {
        let root = self.root.join(PRIVATE).join(file_name(skill));
        let levels = self.levels + 2;
        let private = Self { key: self.key.clone(), root, levels, in_use: self.in_use.clone() };
        if !private.root.join(METADATA).exists() {
            private.make()?;
        }
        Ok(private)
    }

    /// Returns the folder that all workspaces are in.
    pub(crate) fn root_of_all(&self) -> &Path {
        self.root.ancestors().nth(self.levels).unwrap_or(&self.root)
    }

    /// Folders between all workspaces and this one.
    pub(crate) fn levels(&self) -> usize {
        self.levels
    }

    /// Notes that it was used.
    fn touch(&self) -> io::Result<()> {
        own_file::touch(&self.root.join(METADATA))
    }

    /// Whose it is.
    pub fn key(&self) -> &WorkspaceKey {
        &self.key
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What is remembered of it; what cannot be understood is forgotten.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        Metadata::read(&self.root)
    }

    /// Remembers; written beside and renamed.
    pub(crate) fn save(&self, metadata: &Metadata) -> io::Result<()> {
        let beside = self.root.join(format!(".{METADATA}.{}", uuid::Uuid::now_v7().simple()));
        let mut file = create_private(&beside)?;
        file.write_all(&serde_json::to_vec_pretty(metadata)?)?;
        fs::rename(beside, self.root.join(METADATA))
    }

    /// Notes the moment at which a run has ended, by the clock of files.
    pub(crate) fn note_end(&self) -> io::Result<()> {
        own_file::open_mark(&self.root.join(LAST_END))?.set_modified(SystemTime::now())
    }

    /// When the last run ended, by the clock of files.
    pub(crate) fn last_end(&self) -> io::Result<Option<Moment>> {
        match fs::symlink_metadata(self.root.join(LAST_END)) {
            Ok(metadata) => Ok(Some(changed(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A lock that one process has at a time, for as long as the file is kept.
    pub(crate) fn lock(&self) -> io::Result<File> {
        let file = own_file::open_mark(&self.root.join(".lock"))?;
        file.lock()?;
        Ok(file)
    }

    /// Opens a regular file that `workspace://` may name. Links are not followed.
    ///
    /// # Errors
    ///
    /// When it is not there, or not a regular file.
    pub fn open_file(&self, place: &SharedPlace) -> io::Result<File> {
        open_regular(&File::open(&self.root)?, place.inside()).map(|(file, _)| file)
    }

    /// Opens something inside, beneath the workspace and through no link.
    pub(crate) fn open(&self, place: &Inside, flags: OFlags) -> io::Result<OwnedFd> {
        let root = File::open(&self.root)?;
        let path = if place.as_str().is_empty() { "." } else { place.as_str() };
        Ok(open_beneath(root, path, flags)?)
    }

    /// Makes folders usable again that a program has made links or files of, or has closed to itself;
    /// those above come before those below.
    pub(crate) fn mend(&self, places: &[Inside]) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        for place in places {
            let (parent, name) = place.as_str().rsplit_once('/').unwrap_or(("", place.as_str()));
            let parent = match self.open(&Inside::known(parent), flags) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                parent => parent?,
            };
            match open_beneath(&parent, name, flags) {
                Ok(folder) => make_usable(&folder)?,
                Err(Errno::NOENT) => {}
                Err(Errno::LOOP | Errno::NOTDIR) => unlinkat(&parent, name, AtFlags::empty())?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Returns the folder with copies of skills, which is made again if a program has made something else of it.
    pub(crate) fn copies(&self) -> io::Result<PathBuf> {
        self.mend(&[Inside::known(COPIES)])?;
        let folder = self.root.join(COPIES);
        make_private(&folder)?;
        Ok(folder)
    }

    /// Makes a file, instead of a file or link that is there. A folder that is there stays.
    pub(crate) fn create_file(&self, to: &Inside) -> io::Result<File> {
        let (folder, name) = self.clear(to)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::from_raw_mode(0o600);
        let file = openat(&folder, name, flags | OFlags::CLOEXEC, mode)?;
        give_open_to_program(&file)?;
        Ok(file.into())
    }

    /// The open folder of a place, with nothing at its name any more.
    pub(crate) fn clear<'b>(&self, to: &'b Inside) -> io::Result<(OwnedFd, &'b str)> {
        let text = to.as_str();
        let (parent, name) = text.rsplit_once('/').unwrap_or(("", text));
        let folder = self.make_folder(&Inside::known(parent))?;
        match unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok((folder, name)),
            Err(Errno::ISDIR) => {
                Err(io::Error::new(io::ErrorKind::AlreadyExists, "a folder is there already"))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a folder inside, made with all above it if need be.
    pub(crate) fn make_folder(&self, place: &Inside) -> io::Result<OwnedFd> {
        let mut folder: OwnedFd = File::open(&self.root)?.into();
        for name in place.as_str().split('/').filter(|name| !name.is_empty()) {
            match mkdirat(&folder, name, Mode::from_raw_mode(0o700)) {
                Ok(()) => {
                    let made = open_beneath(&folder, name, OFlags::RDONLY | OFlags::DIRECTORY)?;
                    give_open_to_program(&made)?;
                    folder = made;
                    continue;
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            folder = open_beneath(&folder, name, OFlags::RDONLY | OFlags::DIRECTORY)?;
        }
        Ok(folder)
    }
}

/// Returns the folders of the workspaces inside another that are private to one skill each.
pub(crate) fn private_workspaces(root: &Path) -> io::Result<Vec<PathBuf>> {
    let listed = match fs::read_dir(root.join(PRIVATE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed?,
    };
    listed.map(|entry| Ok(entry?.path())).collect()
}

/// Lets its owner into a folder again.
fn make_usable(folder: &OwnedFd) -> io::Result<()> {
    if fstat(folder)?.st_mode & 0o700 == 0o700 {
        return Ok(());
    }
    // The folder that is open, whatever has its name by now.
    let open = format!("/proc/self/fd/{}", folder.as_raw_fd());
    fs::set_permissions(open, fs::Permissions::from_mode(0o700))
}

/// Opens a regular file below an open folder, through no link; with its state.
pub(crate) fn open_regular(root: &File, place: &Inside) -> io::Result<(File, fs::Metadata)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(open_beneath(root, place.as_str(), flags)?);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok((file, metadata))
}

/// Opens a path below an open folder, through no link.
pub(crate) fn open_beneath(folder: impl AsFd, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(folder, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve)
}

pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Makes a file, or empties it, for its owner alone.
pub(crate) fn create_private(file: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(file)
}

/// Gives a folder to the user that programs run as, when that is another one.
fn give_to_program(path: &Path) -> io::Result<()> {
    match unprivileged_owner() {
        Some((user, group)) => chown(path, Some(user), Some(group)),
        None => Ok(()),
    }
}

/// The same for something open.
pub(crate) fn give_open_to_program(file: impl AsFd) -> io::Result<()> {
    let Some((user, group)) = unprivileged_owner() else { return Ok(()) };
    let (user, group) = (rustix::fs::Uid::from_raw(user), rustix::fs::Gid::from_raw(group));
    Ok(rustix::fs::fchown(file, Some(user), Some(group))?)
}

/// Seconds and nanoseconds.
pub(crate) type Moment = (i64, i64);

/// When something inside last changed in any way, as no program can forge it.
pub(crate) fn changed(metadata: &fs::Metadata) -> Moment {
    (metadata.ctime(), metadata.ctime_nsec())
}
