//! Entries of the list: which of them match a program, and how nearly.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::found::{Found, Machine};
use super::miss::{ProgramDoubt, ProgramMiss};
use super::paths::{Budget, Glob, has_wildcards, is_within, normal};
use super::patterns::Patterns;
use super::program::{Invocation, is_left_alone, is_taken_by_name, operands};
use super::repository::ForeignPrograms;
use crate::facts::Executable;
use crate::policy::{ArgumentRule, Entry, Policy};
use crate::show::brief;
use crate::tables::{self, Kind};

/// Most steps that comparing patterns of names and paths may take, for one verdict.
const MAX_STEPS: usize = 4 << 20;

/// The entries of a policy, with patterns read when they are first needed.
pub(super) struct Entries<'a> {
    policy: &'a Policy,
    machine: &'a Machine<'a>,
    /// Those with a bare name and nothing that stands for others, by that.
    names: HashMap<&'a str, Vec<usize>>,
    /// Those with a path and nothing that stands for others, by that and by where it leads.
    paths: OnceCell<HashMap<PathBuf, Vec<usize>>>,
    /// Those with signs that stand for others.
    globs: Vec<(usize, Glob)>,
    steps: Budget,
    patterns: Patterns,
}

/// What keeps an entry from covering a program that it is about.
#[derive(Clone, Debug)]
pub(super) enum Lack {
    /// The program is not what its name says.
    Name,
    /// Commands, or other people, could have written the program.
    Others,
    /// The entry names a link.
    Link,
    /// It is for another folder.
    Folder,
    /// It does not cover such a use.
    Use,
    /// It names no folder, and the repository there has programs of its own.
    Repository(ForeignPrograms),
    /// It names no folder, and the script that the program runs lies where commands may write.
    Script(PathBuf),
    /// Its pattern for arguments cannot be read.
    Unreadable,
    /// The arguments are others.
    Arguments,
}

impl<'a> Entries<'a> {
    pub(super) fn new(policy: &'a Policy, machine: &'a Machine<'a>) -> Self {
        let mut names: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut globs = Vec::new();
        for (place, entry) in policy.entries.iter().enumerate() {
            if has_wildcards(&entry.pattern) {
                globs.extend(glob(&entry.pattern).map(|glob| (place, glob)));
            } else if !entry.pattern.contains('/') {
                names.entry(&entry.pattern).or_default().push(place);
            }
        }
        Self {
            policy,
            machine,
            names,
            paths: OnceCell::new(),
            globs,
            steps: Budget::new(MAX_STEPS),
            patterns: Patterns::new(policy.entries.len()),
        }
    }

    /// The entry that covers a program.
    ///
    /// # Errors
    ///
    /// Why the first one that is about this program does not cover it; none if there is no such.
    pub(super) fn covering(
        &self,
        invocation: &Invocation<'_>,
    ) -> Result<&'a Entry, Option<ProgramMiss>> {
        let word = &invocation.words[0];
        let about = invocation.found.entries.get_or_init(|| self.about(word, invocation.found));
        let mut nearly = None;
        for (place, lack) in about {
            let entry = &self.policy.entries[*place];
            match lack.clone().or_else(|| self.compare(*place, entry, invocation)) {
                None => return Ok(entry),
                Some(lack) => nearly = nearly.or(Some((lack, entry))),
            }
        }
        let told = |(lack, entry)| invocation.told(|| self.miss(lack, entry, invocation));
        Err(nearly.map(told))
    }

    /// Whether comparing took too long, so that some entries were not looked at.
    pub(super) fn is_spent(&self) -> bool {
        self.steps.is_spent() || self.patterns.is_spent()
    }

    /// Entries that are about a program, whatever its arguments are, and what keeps them from counting.
    fn about(&self, word: &str, found: &Found) -> Vec<(usize, Option<Lack>)> {
        let real = &found.program.file.real;
        let paths = self.paths.get_or_init(|| self.paths());
        let named = self.names.get(word).into_iter().chain(paths.get(real)).flatten().copied();
        let mut places: Vec<usize> = named.collect();
        let is_bare = !word.contains('/');
        let word_signs: Vec<char> = word.chars().collect();
        let path_signs: Vec<char> =
            real.to_str().map(|path| path.chars().collect()).unwrap_or_default();
        for (place, glob) in &self.globs {
            let is_path = self.policy.entries[*place].pattern.contains('/');
            let signs = if is_path { &path_signs } else { &word_signs };
            if (is_path || is_bare) && glob.is_like(signs, &self.steps) {
                places.push(*place);
            }
        }
        places.sort_unstable();
        places.dedup();
        let is_named = is_taken_by_name(&found.program, self.policy).is_ok();
        let is_alone = is_left_alone(&found.program, self.policy).is_ok();
        let mut about = Vec::new();
        for place in places {
            let pattern = self.policy.entries[place].pattern.as_str();
            let lack = if !pattern.contains('/') {
                (!is_named).then_some(Lack::Name)
            } else if has_wildcards(pattern) {
                (!is_alone).then_some(Lack::Others)
            } else {
                match self.leads_to(&normal(Path::new(pattern)), &found.program) {
                    Some(lack) => lack.or((!is_alone).then_some(Lack::Others)),
                    None => continue,
                }
            };
            about.push((place, lack));
        }
        about
    }

    /// Entries with a path, by the programs that they may be about.
    fn paths(&self) -> HashMap<PathBuf, Vec<usize>> {
        let mut paths: HashMap<PathBuf, Vec<usize>> = HashMap::new();
        for (place, entry) in self.policy.entries.iter().enumerate() {
            if has_wildcards(&entry.pattern) || !entry.pattern.contains('/') {
                continue;
            }
            let path = normal(Path::new(&entry.pattern));
            let real = self.at(&path).map(|found| found.program.file.real.clone());
            for path in real.into_iter().chain([path]) {
                paths.entry(path).or_default().push(place);
            }
        }
        paths
    }

    /// What an entry about a program lacks to cover it.
    fn compare(&self, place: usize, entry: &Entry, invocation: &Invocation<'_>) -> Option<Lack> {
        if let Some(folder) = &entry.directory
            && !self.is_in(invocation.directory, folder)
        {
            return Some(Lack::Folder);
        }
        if entry.directory.is_none()
            && let Some(programs) = self.foreign_programs(invocation)
        {
            return Some(Lack::Repository(programs));
        }
        let arguments = match &entry.arguments {
            ArgumentRule::Known => {
                return invocation.is_uncovered(entry.directory.is_some()).then_some(Lack::Use);
            }
            ArgumentRule::Like(arguments) => arguments,
            ArgumentRule::Any => return None,
        };
        match self.patterns.is_match(place, arguments, invocation.arguments()) {
            None => Some(Lack::Unreadable),
            Some(false) => Some(Lack::Arguments),
            Some(true) if entry.directory.is_some() => None,
            Some(true) => self.written_script(invocation).map(Lack::Script),
        }
    }

    /// Returns the reason that an entry which is about a program does not cover it.
    fn miss(&self, lack: Lack, of: &Entry, invocation: &Invocation<'_>) -> ProgramMiss {
        let found = &invocation.found.program;
        let program = brief(&invocation.words[0]);
        let entry = brief(&of.pattern);
        let command = || invocation.brief();
        let arguments = || brief(of.arguments.pattern().unwrap_or_default());
        let doubtful = |program: String, doubt: Result<(), ProgramDoubt>| match doubt {
            Err(doubt) => ProgramMiss::Doubtful { program, doubt },
            Ok(()) => ProgramMiss::Unknown(program),
        };
        match lack {
            Lack::Name => doubtful(program, is_taken_by_name(found, self.policy)),
            Lack::Others => doubtful(program, is_left_alone(found, self.policy)),
            Lack::Link => ProgramMiss::EntryLink {
                entry: brief(&normal(Path::new(&of.pattern)).to_string_lossy()),
                real: brief(&found.file.real.to_string_lossy()),
            },
            Lack::Folder => {
                let folder = of.directory.as_deref().unwrap_or(Path::new(""));
                ProgramMiss::EntryFolder { entry, folder: brief(&folder.to_string_lossy()) }
            }
            Lack::Use => {
                let because = invocation.uncovered(of.directory.is_some());
                ProgramMiss::BeyondEntry { command: command(), entry, program, because }
            }
            Lack::Repository(because) => {
                ProgramMiss::EntryRepository { command: command(), entry, because }
            }
            Lack::Unreadable => ProgramMiss::EntryPattern { entry, arguments: arguments() },
            Lack::Arguments => {
                ProgramMiss::EntryArguments { command: command(), entry, arguments: arguments() }
            }
            Lack::Script(script) => {
                let script = brief(&script.to_string_lossy());
                ProgramMiss::EntryScript { command: command(), entry, script }
            }
        }
    }

    /// Why the repository around a program could make it start others.
    pub(super) fn foreign_programs(&self, invocation: &Invocation<'_>) -> Option<ForeignPrograms> {
        let is_git = tables::is_git(&invocation.words[0], &invocation.found.program);
        if is_git { self.machine.foreign_programs(invocation.directory) } else { None }
    }

    /// Returns the script that a program runs, if commands may write it: the first of its arguments that is a file, or one
    /// before it that could be a file by the time it runs.
    fn written_script(&self, invocation: &Invocation<'_>) -> Option<PathBuf> {
        let is_code = match invocation.found.kind {
            Kind::Shell | Kind::Interpreter => true,
            Kind::Runner | Kind::MultiCall | Kind::Carrier => false,
            // A script that is run by its own name has been looked at as a program.
            Kind::Script | Kind::Privilege | Kind::Wrapper(_) | Kind::Ordinary => return None,
        };
        let is_written = |path: &PathBuf| is_within(path, &self.policy.writable);
        for word in operands(invocation.words) {
            if let Some(file) = self.machine.file(invocation.directory, word) {
                return Some(file.real).filter(is_written);
            }
            // Other words are rather code, or options of options.
            if is_code && word.contains(['.', '/']) {
                let path = normal(&invocation.directory.join(word));
                if is_written(&path) {
                    return Some(path);
                }
            }
        }
        None
    }

    /// Whether a path of an entry is that of a program, or a link to it; and if it is, what it lacks. A link may be
    /// followed that lies where programs are taken for what they are called, and leads to such a place.
    fn leads_to(&self, path: &Path, program: &Executable) -> Option<Option<Lack>> {
        let real = &program.file.real;
        if path == real {
            return Some(None);
        }
        let found = self.at(path).filter(|found| found.program.file == program.file)?;
        let is_trusted = |path: &Path| {
            path.parent().is_some_and(|parent| {
                self.policy.trusted_folders.iter().any(|folder| folder == parent)
            })
        };
        let link = &found.program;
        let is_followed = is_trusted(&link.path) && is_trusted(real) && !link.is_replaceable;
        Some((!is_followed).then_some(Lack::Link))
    }

    /// The program that an absolute path leads to.
    fn at(&self, path: &Path) -> Option<Rc<Found>> {
        let text = path.to_str().filter(|_| path.is_absolute())?;
        self.machine.program(Path::new("/"), text)
    }

    fn is_in(&self, directory: &Path, folder: &Path) -> bool {
        folder.is_absolute()
            && self.machine.folder(folder).is_some_and(|folder| directory.starts_with(folder.real))
    }
}

/// The pattern of an entry with signs that stand for others; none if it is too large to be compared.
pub(super) fn glob(pattern: &str) -> Option<Glob> {
    if !pattern.contains('/') {
        return Glob::new(pattern, false);
    }
    Glob::new(normal(Path::new(pattern)).to_str()?, true)
}
