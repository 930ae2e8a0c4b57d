//! For tests: a folder of their own, and the things that can be in one.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use crate::files::Identity;
use crate::problem::Problem;

/// A folder that goes when the test ends. Paths given to it start there.
#[derive(Debug)]
pub(crate) struct Scratch {
    _folder: TempDir,
    root: PathBuf,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        Self { _folder: folder, root }
    }

    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn folder(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// A path whose parent is there.
    fn place(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.place(path);
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn program(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = self.write(path, "#!/bin/sh\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A skill in a folder, with the folder's name.
    pub(crate) fn skill(&self, folder: impl AsRef<Path>) -> PathBuf {
        let name = folder.as_ref().file_name().unwrap().to_str().unwrap().to_owned();
        self.skill_named(folder, &name, "Does things. Use when asked.")
    }

    pub(crate) fn skill_named(
        &self,
        folder: impl AsRef<Path>,
        name: &str,
        description: &str,
    ) -> PathBuf {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n\nDo it.\n");
        self.write(folder.as_ref().join("SKILL.md"), text);
        self.path(folder)
    }

    pub(crate) fn link(&self, path: impl AsRef<Path>, target: impl AsRef<Path>) -> PathBuf {
        let path = self.place(path);
        symlink(target, &path).unwrap();
        path
    }

    pub(crate) fn fifo(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = self.place(path);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        path
    }

    pub(crate) fn socket(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = self.place(path);
        drop(UnixListener::bind(&path).unwrap());
        path
    }

    /// A text without the place of this folder, which differs from run to run.
    pub(crate) fn shorten(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.root.display()), "")
            .replace(&self.root.display().to_string(), ".")
    }

    /// Problems, a line each.
    pub(crate) fn problems(&self, problems: &[Problem]) -> String {
        let line = |problem: &Problem| {
            let Problem { path, code, severity, message, advice, .. } = problem;
            let path = path.display().to_string();
            let advice = advice.as_ref().map_or(String::new(), |it| format!("; {it}"));
            let path = path.escape_debug();
            self.shorten(&format!("{code} {severity} {path}: {message}{advice}\n"))
        };
        problems.iter().map(line).collect()
    }
}

/// Waits until a file is old enough to be remembered.
pub(crate) fn settle(file: &Path) {
    let identity = Identity::of(&fs::metadata(file).unwrap());
    eventually("the file settles", || identity.is_settled());
}

/// Waits until something is so, and fails when it is not in good time.
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(10), "{what}: not within ten seconds");
        std::thread::sleep(Duration::from_millis(5));
    }
}
