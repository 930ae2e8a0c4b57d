//! Open folders. Every step goes from a folder that is open to a single name in it, and never
//! through a symbolic link, so nothing that is planted in a store leads out of it.

use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// A folder that is open.
#[derive(Debug)]
pub(super) struct Folder(File);

impl Folder {
    /// Opens a folder anywhere, and makes it for its owner alone where it is missing.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        if !path.is_dir() {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = Self::at(parent.unwrap_or(Path::new(".")))?;
            let made = DirBuilder::new().mode(FOLDER_MODE).create(path);
            made.or_else(|error| unless(ErrorKind::AlreadyExists, error))?;
            parent.sync()?;
        }
        File::open(path).map(Self)
    }

    pub(super) fn open(&self, name: &str) -> io::Result<Self> {
        self.get(name, OFlags::RDONLY | OFlags::DIRECTORY).map(Self)
    }

    /// Opens a folder that is made if it is missing. When this returns, it is on disk: whoever
    /// made it may not have come that far, so that is not left to them.
    pub(super) fn open_or_make(&self, name: &str) -> io::Result<Self> {
        self.make(name).or_else(|error| unless(ErrorKind::AlreadyExists, error))?;
        let folder = self.open(name)?;
        self.sync()?;
        Ok(folder)
    }

    /// Makes a folder that must not be there.
    pub(super) fn make(&self, name: &str) -> io::Result<()> {
        Ok(mkdirat(&self.0, name, Mode::from_raw_mode(FOLDER_MODE))?)
    }

    /// Opens a regular file for reading. Nothing waits, also not for a FIFO.
    pub(super) fn open_file(&self, name: &str) -> io::Result<File> {
        let file = self.get(name, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(foreign(name)) }
    }

    /// Makes a file that must not be there.
    pub(super) fn make_file(&self, name: &str) -> io::Result<File> {
        self.get(name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
    }

    /// The names in it, in no order. Those that are not UTF-8 are not ours.
    pub(super) fn names(&self) -> io::Result<impl Iterator<Item = io::Result<String>>> {
        let name = |entry: io::Result<rustix::fs::DirEntry>| {
            let name = entry.map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
            name.transpose().filter(|name| !matches!(name.as_deref(), Ok("." | "..")))
        };
        Ok(Dir::read_from(&self.0)?.filter_map(move |entry| name(entry.map_err(io::Error::from))))
    }

    pub(super) fn rename(&self, name: &str, to: &Self, new_name: &str) -> io::Result<()> {
        Ok(renameat(&self.0, name, &to.0, new_name)?)
    }

    pub(super) fn remove_file(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes a folder and the files in it; there are no folders in it.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        let folder = self.open(name)?;
        for file in folder.names()? {
            folder.remove_file(&file?)?;
        }
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// When it last got or lost a name.
    pub(super) fn modified(&self) -> io::Result<SystemTime> {
        self.0.metadata()?.modified()
    }

    /// Waits until its names are on disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }

    fn get(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.0, name, flags, Mode::from_raw_mode(FILE_MODE)) {
            Ok(file) => Ok(file.into()),
            Err(Errno::LOOP | Errno::NOTDIR) => Err(foreign(name)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether a name is one that we never give, like `.DS_Store`, which systems leave anywhere.
pub(super) fn is_foreign(name: &str) -> bool {
    name.starts_with('.')
}

/// Takes an error of one kind for success.
fn unless(kind: ErrorKind, error: io::Error) -> io::Result<()> {
    if error.kind() == kind { Ok(()) } else { Err(error) }
}

/// Makes something of nothing being there.
pub(super) fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn foreign(name: &str) -> io::Error {
    let text = format!(
        "`{}` in it is a link or a special file, which no store makes",
        name.escape_debug()
    );
    io::Error::new(ErrorKind::InvalidData, text)
}
