//! Places that a command would write, and which of them are protected.
//!
//! A path is looked at as it is written and as it is, with all links followed as far as there is something. Names of a
//! repository's inner files are protected in every folder, because a model could build a repository from
//! them; other places are those of the policy.

use std::path::{Component, Path, PathBuf};

use super::found::Machine;
use super::paths::normal;
use super::surroundings::Problems;
use crate::policy::Policy;
use crate::show::brief;
use crate::tables::{Destination, Extent, Source};

/// Files of a repository that say where and what it is.
const REPOSITORY_FILES: &[&str] =
    &["HEAD", "commondir", "config", "config.worktree", "packed-refs"];
/// Folders of a repository whose content is protected.
const REPOSITORY_FOLDERS: &[&str] = &["hooks", "objects", "refs"];
/// The folder with a repository in it, which is protected itself.
const REPOSITORY: &str = ".git";
/// The folder of a project's settings.
const PROJECT_SETTINGS: &str = ".metier";
/// The folder of skills in a folder of an agent.
const SKILLS: &str = "skills";

/// What a program writes, with links followed.
#[derive(Debug, Default)]
pub(super) struct WrittenPaths {
    /// Everything.
    pub(super) all: Vec<PathBuf>,
    /// What may be a link afterwards, or have links in it.
    pub(super) placed: Vec<PathBuf>,
}

/// Why a place is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protection {
    Own,
    Session,
    Repository,
    Home,
    Programs,
    Skills,
    Program,
    Joined,
}

impl Protection {
    const fn words(self) -> &'static str {
        match self {
            Self::Own => {
                "is among the state and settings that decide what may run; no command writes there"
            }
            Self::Session => "is in a folder of the session that holds homes, records and skills",
            Self::Repository => {
                "is a place where a git repository has its inner files, by which git runs programs"
            }
            Self::Home => {
                "is a hidden place of the home directory, from which programs take orders"
            }
            Self::Programs => "is in a folder of `PATH`, where programs are looked for",
            Self::Skills => "is among skills, which decide what runs later",
            Self::Program => "is a program, which is not overwritten unasked",
            Self::Joined => "is there already, and files of unknown names would be copied into it",
        }
    }
}

/// Looks at destinations of a program that runs in a folder. A protected place is a problem, whoever allows the program.
pub(super) fn check(
    destinations: &[Destination],
    directory: &Path,
    around: (&Machine<'_>, &Policy),
    problems: &mut Problems,
) -> WrittenPaths {
    let mut written = WrittenPaths::default();
    let look = Destinations { directory, machine: around.0, policy: around.1 };
    for destination in destinations {
        if let Some(protection) = look.destination(destination, &mut written) {
            problems.protected += 1;
            let words = || format!("`{}` {}", brief(&destination.path), protection.words());
            if protection == Protection::Own {
                problems.refuse(words)
            } else {
                problems.miss(words)
            }
        }
    }
    written
}

/// Destinations of one program.
struct Destinations<'a> {
    directory: &'a Path,
    machine: &'a Machine<'a>,
    policy: &'a Policy,
}

impl Destinations<'_> {
    fn destination(&self, it: &Destination, written: &mut WrittenPaths) -> Option<Protection> {
        let named = self.directory.join(&it.path);
        let forms = self.forms(&named);
        written.all.extend(forms.iter().cloned());
        match &it.extent {
            Extent::File => any(&forms, |path| self.file(path)),
            Extent::Gone => any(&forms, |path| self.named(path)),
            Extent::Beginning => any(&forms, |path| {
                // The rest of the name may be anything, also behind a `/` at the end.
                let beside = || self.named(&path.with_file_name("_"));
                self.named(path).or_else(beside).or_else(|| self.named(&path.join("_")))
            }),
            Extent::Folder => any(&forms, |path| self.folder(path)),
            Extent::Tree => any(&forms, |path| self.named(path).or_else(|| self.above(path))),
            Extent::LinkTarget => any(&forms, |path| {
                let below = || self.named(&path.join("_"));
                self.named(path).or_else(below).or_else(|| self.above(path))
            }),
            Extent::Into { name, source } => {
                let inside = self.forms(&named.join(name));
                // What is no folder yet may be one when the program runs.
                let is_folder = self.machine.folder(&named).is_some();
                let targets = if is_folder { inside } else { [forms, inside].concat() };
                written.all.extend(targets.iter().cloned());
                if *source != Source::File {
                    written.placed.extend(targets.iter().cloned());
                }
                let protection = any(&targets, |path| self.file(path));
                protection.or_else(|| {
                    let is_joined = *source == Source::Copied
                        && targets.iter().any(|path| self.machine.folder(path).is_some());
                    is_joined.then_some(Protection::Joined)
                })
            }
        }
    }

    /// A path as it is written, as it is where something is on the way, and what a link at its end leads to.
    fn forms(&self, path: &Path) -> Vec<PathBuf> {
        let mut forms = vec![normal(path)];
        let mut rest = PathBuf::new();
        let mut ancestor = Some(path);
        while let Some(folder) = ancestor {
            if let Some(found) = self.machine.folder(folder) {
                forms.push(normal(&found.real.join(&rest)));
                break;
            }
            // `..` at the end has no name, and is looked at with what stands before it.
            let last =
                folder.components().next_back().map(Component::as_os_str).unwrap_or_default();
            rest =
                if rest.as_os_str().is_empty() { last.into() } else { Path::new(last).join(&rest) };
            ancestor = folder.parent();
        }
        if let Some(found) = path.to_str().and_then(|path| self.machine.file(self.directory, path))
        {
            forms.push(found.real);
        }
        forms.dedup();
        forms
    }

    /// Why a file at a path is protected.
    fn file(&self, path: &Path) -> Option<Protection> {
        let is_program = || {
            let folder = path.parent().unwrap_or(path);
            path.to_str().is_none_or(|path| self.machine.program(folder, path).is_some())
        };
        self.named(path).or_else(|| is_program().then_some(Protection::Program))
    }

    /// Why whatever is at a path is protected.
    fn named(&self, path: &Path) -> Option<Protection> {
        let name = path.file_name().unwrap_or_default();
        let is_file = REPOSITORY_FILES.iter().any(|file| name.eq_ignore_ascii_case(file));
        self.folder(path).or_else(|| is_file.then_some(Protection::Repository))
    }

    /// Why a folder at a path is protected.
    fn folder(&self, path: &Path) -> Option<Protection> {
        let places = &self.policy.protected;
        let roots = self.policy.writable.iter().filter(|root| path.starts_with(root));
        let root = roots.max_by_key(|root| root.as_os_str().len()).map(PathBuf::as_path);
        let is_own =
            |own: &PathBuf| is_below(path, own) && !root.is_some_and(|root| root.starts_with(own));
        let parts = parts_below(path, root);
        let session = places.session.iter().find(|session| path.starts_with(session));
        let inside = parts_below(path, root.or(session.map(PathBuf::as_path)));
        let is_settings = has_name(&inside, PROJECT_SETTINGS);
        if is_settings || (session.is_none() && places.own.iter().any(is_own)) {
            return Some(Protection::Own);
        }
        if session.is_some() && root.is_none() {
            return Some(Protection::Session);
        }
        let above = parts.split_last().map(|(_, above)| above).unwrap_or_default();
        if has_name(&parts, REPOSITORY)
            || REPOSITORY_FOLDERS.iter().any(|name| has_name(above, name))
        {
            return Some(Protection::Repository);
        }
        if places.homes.iter().any(|home| is_hidden_in(path, home, root)) {
            return Some(Protection::Home);
        }
        if places.programs.iter().any(|folder| is_below(path, folder)) {
            return Some(Protection::Programs);
        }
        let is_of_skills =
            root.is_some() && parts.first().is_some_and(|first| first.eq_ignore_ascii_case(SKILLS));
        is_of_skills.then_some(Protection::Skills)
    }

    /// Why what lies below a path is protected.
    fn above(&self, path: &Path) -> Option<Protection> {
        let places = &self.policy.protected;
        let holds = |places: &[PathBuf]| places.iter().any(|place| is_below(place, path));
        if holds(&places.own) {
            return Some(Protection::Own);
        }
        if holds(&places.homes) {
            return Some(Protection::Home);
        }
        holds(&places.programs).then_some(Protection::Programs)
    }
}

/// The protection of the first of some forms of a path that has one. What is refused outweighs what is asked about.
fn any(paths: &[PathBuf], protection: impl Fn(&Path) -> Option<Protection>) -> Option<Protection> {
    let found: Vec<Protection> = paths.iter().filter_map(|path| protection(path)).collect();
    found.iter().find(|it| **it == Protection::Own).or(found.first()).copied()
}

/// Whether a path is a place or below it. Case does not matter, as on some file systems.
fn is_below(path: &Path, place: &Path) -> bool {
    let mut parts = path.components();
    place.components().all(|wanted| {
        parts.next().is_some_and(|part| part.as_os_str().eq_ignore_ascii_case(wanted.as_os_str()))
    })
}

/// Whether a path is a hidden place of a home directory, and not in a folder that may be written there.
fn is_hidden_in(path: &Path, home: &Path, root: Option<&Path>) -> bool {
    let is_hidden = |path: &Path| {
        let inside = path.components().nth(home.components().count());
        is_below(path, home)
            && inside.is_some_and(|part| part.as_os_str().to_string_lossy().starts_with('.'))
    };
    is_hidden(path) && !root.is_some_and(is_hidden)
}

/// The parts of a path below a folder, or all of them.
fn parts_below<'a>(path: &'a Path, root: Option<&Path>) -> Vec<&'a std::ffi::OsStr> {
    let below = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    below.components().map(Component::as_os_str).collect()
}

fn has_name(parts: &[&std::ffi::OsStr], name: &str) -> bool {
    parts.iter().any(|part| part.eq_ignore_ascii_case(name))
}
