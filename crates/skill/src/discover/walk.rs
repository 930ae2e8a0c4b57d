//! The walk through one root: which folders are skills.
//!
//! A folder with a `SKILL.md` is a skill and is not entered. Whether it has one
//! is asked before the folder is listed, so a flat root costs one listing and one
//! `stat` a skill. Folders are visited level by level in the order of their
//! names, so the result, and what a bound cuts off, is always the same.

use std::collections::{HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType};

use crate::advice::SkillAdvice;
use crate::diagnostic::Code;
use crate::discover::{Absence, Links, Root};
use crate::files::Identity;
use crate::problem::Problem;

/// Deepest folder that is looked at.
pub(crate) const MAX_DEPTH: usize = 6;
/// Most folders of a root.
pub(crate) const MAX_FOLDERS: usize = 2_000;
/// Most entries of a root, files included.
pub(crate) const MAX_ENTRIES: usize = 20_000;

/// Folders that tools make, which hold no skills of their own.
const IGNORED: [&str; 4] = ["node_modules", "target", "__pycache__", ".venv"];

/// The files under a root that may each be the `SKILL.md` of a skill, and what was noticed.
pub fn find_skill_files(root: &Root) -> (Vec<PathBuf>, Vec<Problem>) {
    let Walk { candidates, problems, .. } = walk(root);
    (candidates.into_iter().map(|candidate| candidate.file).collect(), problems)
}

/// A file that may be the `SKILL.md` of a skill.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) file: PathBuf,
    pub(crate) identity: Identity,
    /// Whether neither the file nor its folder is a link.
    pub(crate) is_direct: bool,
}

/// What the walk through a root found.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) candidates: Vec<Candidate>,
    /// Folders that are skills, or may be, and were not read.
    pub(crate) refused: Vec<PathBuf>,
    /// Whether folders were left out because they cannot be read or are beyond a bound.
    pub(crate) is_partial: bool,
    pub(crate) problems: Vec<Problem>,
}

pub(crate) fn walk(root: &Root) -> Walk {
    let mut walker = Walker {
        root,
        real_root: None,
        queue: VecDeque::new(),
        linked: HashSet::new(),
        folders: 0,
        entries: 0,
        found: Walk::default(),
    };
    walker.run();
    let mut found = walker.found;
    found.candidates.sort_by(|left, right| left.file.as_os_str().cmp(right.file.as_os_str()));
    found.problems.sort();
    found
}

struct Walker<'a> {
    root: &'a Root,
    /// Resolved only when a link has to be judged.
    real_root: Option<PathBuf>,
    queue: VecDeque<(PathBuf, usize)>,
    /// Real folders that were entered through a link.
    linked: HashSet<PathBuf>,
    folders: usize,
    entries: usize,
    found: Walk,
}

/// Whether the walk goes on.
#[derive(PartialEq)]
enum Go {
    On,
    Stop,
}

impl Walker<'_> {
    fn run(&mut self) {
        let path = self.root.path.clone();
        if self.take_skill(&path) {
            return;
        }
        self.queue.push_back((path, 0));
        while let Some((folder, depth)) = self.queue.pop_front() {
            if self.enter(&folder, depth) == Go::Stop {
                return;
            }
        }
    }

    fn enter(&mut self, folder: &Path, depth: usize) -> Go {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                self.report_unreadable(folder, &error);
                return Go::On;
            }
        };
        let mut folders = Vec::new();
        let mut skill_files = Vec::new();
        for entry in entries.filter_map(Result::ok) {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return self.stop(&format!("more than {MAX_ENTRIES} entries"));
            }
            let name = entry.file_name();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push((name, Kind::Folder)),
                Ok(_) if depth > 0 && is_skill_file(&name) => skill_files.push(name),
                Ok(kind) if kind.is_symlink() => folders.push((name, Kind::Link)),
                _ => {}
            }
        }
        if let Some(name) = skill_files.into_iter().min() {
            self.take_other_case(folder, &name);
            return Go::On;
        }
        folders.retain(|(name, _)| !is_skipped(name));
        folders.sort();
        if depth == MAX_DEPTH {
            self.report_depth(folder, &folders);
            return Go::On;
        }
        let handle = fs::File::open(folder).ok();
        for (name, kind) in folders {
            let usual = match (&handle, kind) {
                (Some(handle), Kind::Folder) => skill_file_below(handle, &name),
                _ => None,
            };
            let go = match usual {
                Some(identity) => self.take_usual(folder, &name, identity),
                None => self.visit(folder.join(name), kind, depth + 1),
            };
            if go == Go::Stop {
                return Go::Stop;
            }
        }
        Go::On
    }

    /// Takes the skill of a folder that is no link, whose `SKILL.md` is none either.
    fn take_usual(&mut self, parent: &Path, name: &OsStr, identity: Identity) -> Go {
        if self.count_folder() == Go::Stop {
            return Go::Stop;
        }
        let length = parent.as_os_str().len() + name.len() + "//SKILL.md".len();
        let mut file = PathBuf::with_capacity(length);
        file.extend([parent.as_os_str(), name, OsStr::new("SKILL.md")]);
        self.found.candidates.push(Candidate { file, identity, is_direct: true });
        Go::On
    }

    fn count_folder(&mut self) -> Go {
        self.folders += 1;
        if self.folders > MAX_FOLDERS {
            return self.stop(&format!("more than {MAX_FOLDERS} folders"));
        }
        Go::On
    }

    fn visit(&mut self, folder: PathBuf, kind: Kind, depth: usize) -> Go {
        if kind == Kind::Link && !self.may_follow(&folder) {
            return Go::On;
        }
        if self.count_folder() == Go::Stop {
            return Go::Stop;
        }
        if !self.take_skill(&folder) {
            self.queue.push_back((folder, depth));
        }
        Go::On
    }

    fn report_depth(&mut self, folder: &Path, inside: &[(OsString, Kind)]) {
        let is_folder = |(name, kind): &(OsString, Kind)| {
            *kind == Kind::Folder || fs::metadata(folder.join(name)).is_ok_and(|it| it.is_dir())
        };
        if inside.iter().any(is_folder) {
            let message = format!("folders more than {MAX_DEPTH} deep were not searched");
            self.found.is_partial = true;
            self.found.problems.push(Problem::new(Code::WalkBound, folder, message));
        }
    }

    /// Takes a folder as a skill if it has a `SKILL.md` of any kind.
    fn take_skill(&mut self, folder: &Path) -> bool {
        self.take_file(folder, folder.join("SKILL.md"))
    }

    fn take_file(&mut self, folder: &Path, file: PathBuf) -> bool {
        match fs::symlink_metadata(&file) {
            Ok(metadata) if metadata.is_file() => self.push(file, &metadata),
            Ok(metadata) if metadata.is_symlink() => self.push_link(folder, file),
            Ok(_) => self.refuse_file(&file, "it is not a regular file"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return false,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return false,
            Err(error) => {
                // A closed folder may hold many skills.
                self.found.is_partial = true;
                self.refuse_file(&file, &error.to_string());
            }
        }
        true
    }

    fn push(&mut self, file: PathBuf, metadata: &fs::Metadata) {
        let identity = Identity::of(metadata);
        self.found.candidates.push(Candidate { file, identity, is_direct: false });
    }

    /// A `SKILL.md` that is a link must lead to a file inside its folder, unless links may go
    /// anywhere.
    fn push_link(&mut self, folder: &Path, file: PathBuf) {
        let target = fs::metadata(&file).and_then(|metadata| {
            Ok((metadata, fs::canonicalize(&file)?, fs::canonicalize(folder)?))
        });
        match target {
            Err(error) => self.refuse_file(&file, &error.to_string()),
            Ok((metadata, ..)) if !metadata.is_file() => {
                self.refuse_file(&file, "it is not a regular file");
            }
            Ok((metadata, real_file, real_folder)) => {
                let inside = real_file.starts_with(real_folder);
                if inside || self.root.links == Links::Anywhere || self.is_allowed(&real_file) {
                    self.push(file, &metadata);
                } else {
                    self.refuse_link(&file);
                }
            }
        }
    }

    fn refuse_file(&mut self, file: &Path, why: &str) {
        self.found.refused.extend(file.parent().map(Path::to_owned));
        let message = format!("`SKILL.md` cannot be read: {why}");
        self.found.problems.push(Problem::new(Code::NotAFile, file, message));
    }

    fn refuse_link(&mut self, link: &Path) {
        let is_file = link.file_name().is_some_and(is_skill_file);
        let folder = if is_file { link.parent() } else { Some(link) };
        self.found.refused.extend(folder.map(Path::to_owned));
        self.found.problems.push(
            Problem::new(Code::LinkOutside, link, "the link leads outside its root")
                .advise(SkillAdvice::AllowLinkTarget),
        );
    }

    /// Whether a link leads to a folder that may be entered and was not yet.
    fn may_follow(&mut self, link: &Path) -> bool {
        let real = match fs::metadata(link) {
            Ok(metadata) if !metadata.is_dir() => return false,
            Ok(_) => fs::canonicalize(link),
            Err(error) => Err(error),
        };
        let real = match real {
            Ok(real) => real,
            Err(error) => {
                // What it leads to is a skill, or a folder of skills, as soon as it is back or can be read.
                self.found.refused.push(link.to_owned());
                self.found.is_partial |= error.kind() != io::ErrorKind::NotFound;
                return false;
            }
        };
        let parent = link.parent().and_then(|parent| fs::canonicalize(parent).ok());
        if parent.is_some_and(|parent| parent.starts_with(&real)) {
            let message = "the link leads back to a folder above it and was not followed";
            self.found.problems.push(Problem::new(Code::LinkCycle, link, message));
            return false;
        }
        if self.root.links != Links::Anywhere && !self.is_allowed(&real) {
            self.refuse_link(link);
            return false;
        }
        self.linked.insert(real)
    }

    fn is_allowed(&mut self, real: &Path) -> bool {
        let Links::Inside { also } = &self.root.links else { return true };
        if also.iter().any(|folder| fs::canonicalize(folder).is_ok_and(|it| real.starts_with(it))) {
            return true;
        }
        let root = &self.root.path;
        let real_root = self
            .real_root
            .get_or_insert_with(|| fs::canonicalize(root).unwrap_or_else(|_| root.clone()));
        real.starts_with(real_root)
    }

    /// A folder without `SKILL.md` may have `skill.md`, which is taken, with a remark.
    fn take_other_case(&mut self, folder: &Path, name: &OsStr) {
        let file = folder.join(name);
        let message = format!("`{}` should be called `SKILL.md`", name.display());
        let problem = Problem::new(Code::FileNameCase, &file, message)
            .help("other agents look for `SKILL.md` in this case only");
        self.found.problems.push(problem);
        self.take_file(folder, file);
    }

    fn report_unreadable(&mut self, folder: &Path, error: &io::Error) {
        let is_root = folder == self.root.path;
        let absent = error.kind() == io::ErrorKind::NotFound;
        let no_folder = absent || error.kind() == io::ErrorKind::NotADirectory;
        if is_root && no_folder && self.root.absence == Absence::Silent {
            return;
        }
        self.found.is_partial = true;
        let message = if absent {
            "there is no such folder".to_owned()
        } else {
            format!("the folder cannot be read: {error}")
        };
        self.found.problems.push(Problem::new(Code::RootUnreadable, folder, message));
    }

    fn stop(&mut self, what: &str) -> Go {
        self.found.is_partial = true;
        let message = format!("the root has {what}; the rest was not searched");
        let problem = Problem::new(Code::WalkBound, &self.root.path, message)
            .help("name a folder further down as the root");
        self.found.problems.push(problem);
        Go::Stop
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Folder,
    Link,
}

/// The identity of `<name>/SKILL.md` below an open folder, if that is a regular file. The system
/// does not have to find the way to the folder each time.
fn skill_file_below(folder: &fs::File, name: &OsStr) -> Option<Identity> {
    let path = [name.as_bytes(), b"/SKILL.md"].concat();
    let stat = rustix::fs::statat(folder, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
    is_file.then(|| Identity::of_stat(&stat))
}

fn is_skipped(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") || IGNORED.iter().any(|ignored| name == *ignored)
}

pub(crate) fn is_skill_file(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case("SKILL.md")
}
