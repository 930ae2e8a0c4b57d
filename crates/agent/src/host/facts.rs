//! What is to be known about the programs and folders of this machine before a command is judged.
//!
//! Nothing is remembered: every answer is looked up when it is asked for, so what was true for a judgement
//! can be compared with what is true right before a command runs.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use metier_approval::{Executable, Facts, FileFact, Identity, normal};
use rustix::fs::{Access, AtFlags, CWD, OFlags, accessat};
use sha2::{Digest, Sha256};

use super::links::{MAX_LINKS, of_process};
use super::owners::is_replaceable;
use super::repository;

/// How much of its first line the kernel reads of a script.
const LINE_BYTES: u64 = 256;
/// Largest program whose digest is made: what anybody installs is smaller, and a digest takes a second or two.
const MAX_DIGEST_BYTES: u64 = 512 << 20;

/// This machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The folders of the `PATH` that commands will have. Those that are not absolute are not looked into: what
    /// is there would depend on where a command runs.
    pub path: Vec<PathBuf>,
}

impl Facts for Machine {
    fn executable(&self, directory: &Path, word: &str) -> Option<Executable> {
        if word.contains('/') {
            return executable(&directory.join(word));
        }
        if word.is_empty() {
            return None;
        }
        let folders = self.path.iter().filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(word)).find_map(|path| executable(&path))
    }

    fn folder(&self, path: &Path) -> Option<FileFact> {
        if let Some(fact) = moving(path) {
            return Some(fact);
        }
        let fact = fact(path)?;
        fs::symlink_metadata(&fact.real).ok()?.is_dir().then_some(fact)
    }

    fn file(&self, directory: &Path, path: &str) -> Option<FileFact> {
        let path = directory.join(path);
        moving(&path).or_else(|| fact(&path)).or_else(|| dangling(&path))
    }

    fn digest(&self, file: &FileFact) -> Option<String> {
        digest(file).ok()
    }

    fn repository_settings(&self, directory: &Path) -> Option<Vec<String>> {
        repository::settings(directory)
    }
}

/// A program at a path, if it is one.
fn executable(path: &Path) -> Option<Executable> {
    if of_process(path).is_some() {
        return None;
    }
    let file = fact(path)?;
    let is_file = fs::symlink_metadata(&file.real).ok()?.is_file();
    let may_run = accessat(CWD, &file.real, Access::EXEC_OK, AtFlags::EACCESS).is_ok();
    if !is_file || !may_run {
        return None;
    }
    // `..` behind a link leads elsewhere than it looks; then the true path is the only one to tell.
    let named = normal(path);
    let named = if fact(&named).as_ref() == Some(&file) { named } else { file.real.clone() };
    let is_replaceable = is_replaceable(path) || is_replaceable(&named);
    let interpreter = interpreter(&file).ok().flatten();
    Some(Executable { path: named, file, is_replaceable, interpreter })
}

/// What is at a path that leads elsewhere for each process.
fn moving(path: &Path) -> Option<FileFact> {
    let real = path.is_absolute().then(|| of_process(path))??;
    Some(FileFact { real, identity: Identity::default() })
}

/// What is at a path, with all links followed.
fn fact(path: &Path) -> Option<FileFact> {
    if !path.is_absolute() {
        return None;
    }
    let real = fs::canonicalize(path).ok()?;
    let identity = identity(&fs::symlink_metadata(&real).ok()?);
    Some(FileFact { real, identity })
}

/// A link to where nothing is. Whoever writes to it makes a file there, so that is where it is.
fn dangling(path: &Path) -> Option<FileFact> {
    if !path.is_absolute() {
        return None;
    }
    let link = fs::symlink_metadata(path).ok().filter(Metadata::is_symlink)?;
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        let folder = target.parent()?;
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| normal(folder));
        match fs::read_link(&target) {
            Ok(next) => target = folder.join(next),
            Err(_) => {
                let real = folder.join(target.file_name().unwrap_or_default());
                return Some(FileFact { real, identity: identity(&link) });
            }
        }
    }
    None
}

/// Which file it is, and which state of it. Of a folder only which it is: what is in it changes all the time.
fn identity(file: &Metadata) -> Identity {
    let (device, inode) = (file.dev(), file.ino());
    if file.is_dir() {
        return Identity { device, inode, ..Identity::default() };
    }
    let moment = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    Identity {
        device,
        inode,
        size: file.len(),
        modified: moment(file.mtime(), file.mtime_nsec()),
        changed: moment(file.ctime(), file.ctime_nsec()),
    }
}

/// The words of the first line of a script.
fn interpreter(file: &FileFact) -> io::Result<Option<Vec<String>>> {
    let mut start = Vec::new();
    open(file)?.take(LINE_BYTES).read_to_end(&mut start)?;
    let Some(rest) = start.strip_prefix(b"#!") else { return Ok(None) };
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let words = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
    Ok(Some(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()))
}

/// The digest of what is in a file, which must be the same file all the time.
fn digest(file: &FileFact) -> io::Result<String> {
    let opened = open(file)?;
    if file.identity.size > MAX_DIGEST_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    // One that grows while it is read is not that file any more, which is seen at the end.
    let mut content = (&opened).take(MAX_DIGEST_BYTES);
    loop {
        match content.read(&mut buffer)? {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    judge(&opened, file)?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Opens a file that was looked at, if it still is that one. A pipe in its place keeps nobody waiting.
fn open(file: &FileFact) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(&file.real)?;
    judge(&opened, file)?;
    Ok(opened)
}

fn judge(opened: &File, file: &FileFact) -> io::Result<()> {
    let metadata = opened.metadata()?;
    if metadata.is_file() && identity(&metadata) == file.identity {
        Ok(())
    } else {
        Err(io::Error::other("it is another file by now"))
    }
}
