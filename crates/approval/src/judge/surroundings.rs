//! What else a program is given: variables and files.

use std::path::{Path, PathBuf};

use super::destination;
use super::found::Machine;
use super::paths::{is_within, normal};
use crate::plan::{Simple, Target};
use crate::policy::Policy;
use crate::show::brief;
use crate::tables::{self, Destination, Extent};

/// What is wrong with what a program is given.
#[derive(Debug, Default)]
pub(super) struct Problems {
    /// What may never be: the first of it.
    pub(super) refusals: Vec<String>,
    /// How much may never be.
    pub(super) refused: usize,
    /// What nobody allowed: the first of them.
    pub(super) misses: Vec<String>,
    /// How much nobody allowed.
    pub(super) missed: usize,
    /// How many protected places would be written.
    pub(super) protected: usize,
}

/// Most files that a program is given by redirection.
const MAX_FILES: usize = 16;
/// Most problems of a sort that are put into words.
const MAX_WORDS: usize = 16;

impl Problems {
    pub(super) fn refuse(&mut self, words: impl FnOnce() -> String) {
        self.refused += 1;
        if self.refusals.len() < MAX_WORDS {
            self.refusals.push(words());
        }
    }

    pub(super) fn miss(&mut self, words: impl FnOnce() -> String) {
        self.missed += 1;
        if self.has_room() {
            self.misses.push(words());
        }
    }

    /// Whether what is missing next is put into words. Once it is not, nothing is.
    pub(super) fn has_room(&self) -> bool {
        self.misses.len() < MAX_WORDS
    }

    /// What is missing so far, to come back to.
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.missed, self.misses.len())
    }

    /// Forgets what is missing since.
    pub(super) fn forget(&mut self, (missed, misses): (usize, usize)) {
        self.missed = missed;
        self.misses.truncate(misses);
    }
}

/// Looks at variables for a program.
pub(super) fn variables(variables: &[(String, String)], policy: &Policy, problems: &mut Problems) {
    for (name, value) in variables {
        if tables::is_loader_variable(name) {
            problems.refuse(|| {
                let name = brief(name);
                format!(
                    "the variable `{name}` may not be set: it decides what programs load or run"
                )
            });
        } else if !tables::is_allowed_variable(name, &policy.variables) {
            problems.miss(|| {
                format!("the variable `{}` is not among those that may be set", brief(name))
            });
        } else if value.contains('/') {
            problems.miss(|| {
                let (name, value) = (brief(name), brief(value));
                format!("the variable `{name}` may not lead to a file, as `{value}` could")
            });
        }
    }
}

/// Looks at redirections of a program that runs in a folder, and gives the files that it would write.
pub(super) fn redirections(
    simple: &Simple,
    directory: &Path,
    (machine, policy): (&Machine<'_>, &Policy),
    problems: &mut Problems,
) -> Vec<PathBuf> {
    let mut written = Vec::new();
    let mut files = 0;
    for redirection in &simple.redirections {
        let (path, is_written) = match &redirection.target {
            Target::Nothing | Target::Same(_) => continue,
            Target::Read(path) => (path, false),
            Target::Write(path) | Target::Append(path) => (path, true),
        };
        files += 1;
        if files > MAX_FILES {
            problems.miss(|| format!("a program is given more than {MAX_FILES} files"));
            break;
        }
        let before = problems.protected;
        if is_written {
            let destination = Destination { path: path.clone(), extent: Extent::File };
            destination::check(&[destination], directory, (machine, policy), problems);
        }
        match file(path, is_written, directory, (machine, policy)) {
            _ if problems.protected > before => {}
            Ok(file) if is_written => written.push(file),
            Ok(_) => {}
            Err(reason) => problems.miss(|| format!("`{}` {reason}", brief(path))),
        }
    }
    written
}

/// Whether a command is given files.
pub(super) fn has_files(simple: &Simple) -> bool {
    simple.redirections.iter().any(|redirection| {
        matches!(redirection.target, Target::Read(_) | Target::Write(_) | Target::Append(_))
    })
}

/// Where a redirection leads, if it leads into a folder that may be written.
///
/// A link that leads nowhere yet cannot be told from a new file here: whoever opens the file must not follow one.
fn file(
    path: &str,
    is_written: bool,
    directory: &Path,
    (machine, policy): (&Machine<'_>, &Policy),
) -> Result<PathBuf, &'static str> {
    let whole = directory.join(path);
    let (Some(parent), Some(name)) = (whole.parent(), whole.file_name()) else {
        return Err("is not a file");
    };
    let folder = machine.folder(parent).ok_or("is in a folder that is not there")?.real;
    let target = folder.join(name);
    let Some(root) = policy.writable.iter().find(|root| is_within(&folder, &[(*root).clone()]))
    else {
        return Err("is outside of the folders that commands may read and write by redirection");
    };
    match machine.file(directory, path) {
        Some(found) if found.real != target => return Err("is a link"),
        None if !is_written => return Err("is not there"),
        _ => {}
    }
    if machine.folder(&target).is_some() {
        return Err("is a folder");
    }
    let is_hidden = target.strip_prefix(root).is_ok_and(|inside| {
        inside.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
    });
    if is_written && is_hidden {
        return Err(
            "is hidden; programs take orders from such files, so it is not written by redirection",
        );
    }
    Ok(normal(&target))
}
