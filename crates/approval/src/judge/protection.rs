//! Places that are protected, and why.
//!
//! Names of a repository's inner files are protected in every folder, because a model could build a repository from
//! them; other places are those of the policy, and what the kernel shows as files.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::policy::Policy;

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
/// Folders with devices, and with what the kernel shows of itself and of processes.
const KERNEL_FOLDERS: &[&str] = &["/dev", "/proc", "/sys"];
/// The folder of ordinary files among them.
const SHARED_MEMORY: &str = "/dev/shm";
/// Devices that keep nothing of what is written to them.
const SINKS: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// Why a place is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protection {
    Own,
    Kernel,
    Session,
    Repository,
    Home,
    Programs,
    Skills,
    Program,
    Joined,
    Link,
    Missing,
}

impl Protection {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Own => {
                "is among the state and settings that decide what may run; no command writes there"
            }
            Self::Kernel => {
                "is a device, or leads where only the kernel knows, which is another place for each process"
            }
            Self::Session => "is in a folder of the session that holds homes, records and skills",
            Self::Repository => {
                "is a place where a git repository has its inner files, by which git runs programs"
            }
            Self::Home => {
                "is a hidden place of the home directory, from which programs take orders"
            }
            Self::Programs => "is in or above a folder of `PATH`, where programs are looked for",
            Self::Skills => "is among skills, which decide what runs later",
            Self::Program => "is a program, which is not overwritten unasked",
            Self::Joined => "is there already, and files of unknown names would be copied into it",
            Self::Link => "is a link, and what it leads to is not overwritten unasked",
            Self::Missing => "goes up from a folder that is not there",
        }
    }
}

/// Whether a path is another place for each process. Facts say so by giving a place below `/proc/self`, which no path
/// is once its links are followed.
pub(super) fn is_of_process(path: &Path) -> bool {
    let Ok(inside) = path.strip_prefix("/proc") else { return false };
    let process = inside.components().next().map(|part| part.as_os_str().to_string_lossy());
    process.is_some_and(|process| {
        matches!(&*process, "self" | "thread-self") || process.parse::<u32>().is_ok()
    })
}

/// Whether a path is a device that keeps nothing.
pub(super) fn is_sink(path: &Path) -> bool {
    SINKS.iter().any(|sink| path == Path::new(sink))
}

/// Why whatever is at a path is protected.
pub(super) fn of_name(path: &Path, policy: &Policy) -> Option<Protection> {
    let name = path.file_name().unwrap_or_default();
    let is_file = REPOSITORY_FILES.iter().any(|file| name.eq_ignore_ascii_case(file));
    of_folder(path, policy).or_else(|| is_file.then_some(Protection::Repository))
}

/// Why a folder at a path is protected.
pub(super) fn of_folder(path: &Path, policy: &Policy) -> Option<Protection> {
    let places = &policy.protected;
    let roots = policy.writable.iter().filter(|root| path.starts_with(root));
    let root = roots.max_by_key(|root| root.as_os_str().len()).map(PathBuf::as_path);
    // A folder that commands may write stays so wherever it lies.
    let is_inside = |place: &PathBuf| {
        is_below(path, place) && !root.is_some_and(|root| root.starts_with(place))
    };
    let parts = parts_below(path, root);
    let session = places.session.iter().find(|session| path.starts_with(session));
    let inside = parts_below(path, root.or(session.map(PathBuf::as_path)));
    let is_settings = has_name(&inside, PROJECT_SETTINGS);
    if is_settings || (session.is_none() && places.own.iter().any(is_inside)) {
        return Some(Protection::Own);
    }
    if is_of_kernel(path) {
        return Some(Protection::Kernel);
    }
    if session.is_some() && root.is_none() {
        return Some(Protection::Session);
    }
    let above = parts.split_last().map(|(_, above)| above).unwrap_or_default();
    if has_name(&parts, REPOSITORY) || REPOSITORY_FOLDERS.iter().any(|name| has_name(above, name)) {
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
    (is_of_skills || places.skills.iter().any(is_inside)).then_some(Protection::Skills)
}

/// Why what lies below a path is protected.
pub(super) fn of_content(path: &Path, policy: &Policy) -> Option<Protection> {
    let places = &policy.protected;
    let holds = |places: &[PathBuf]| places.iter().any(|place| is_below(place, path));
    if holds(&places.own) {
        return Some(Protection::Own);
    }
    if holds(&places.homes) {
        return Some(Protection::Home);
    }
    if holds(&places.programs) {
        return Some(Protection::Programs);
    }
    holds(&places.skills).then_some(Protection::Skills)
}

/// Whether a path is a device, or what the kernel shows of itself and of processes.
fn is_of_kernel(path: &Path) -> bool {
    let is_memory = path != Path::new(SHARED_MEMORY) && path.starts_with(SHARED_MEMORY);
    !is_memory && KERNEL_FOLDERS.iter().any(|folder| path.starts_with(folder))
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
fn parts_below<'a>(path: &'a Path, root: Option<&Path>) -> Vec<&'a OsStr> {
    let below = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    below.components().map(Component::as_os_str).collect()
}

fn has_name(parts: &[&OsStr], name: &str) -> bool {
    parts.iter().any(|part| part.eq_ignore_ascii_case(name))
}
