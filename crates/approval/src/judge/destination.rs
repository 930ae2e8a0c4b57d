//! Places that a command would write, and which of them are protected.
//!
//! A path is looked at as it is written and as it is, with all links followed as far as there is something. What was
//! looked at is kept for the moment in which the program starts: its destinations must still lead there.

use std::path::{Component, Path, PathBuf};

use super::found::Machine;
use super::paths::normal;
use super::protection::{self, Protection};
use super::surroundings::Problems;
use crate::policy::Policy;
use crate::show::brief;
use crate::tables::{Destination, Extent, Source};
use crate::verdict::WrittenPlace;

/// What a program writes, with links followed.
#[derive(Debug, Default)]
pub(super) struct WrittenPaths {
    /// Everything that it reaches by following links.
    pub(super) all: Vec<PathBuf>,
    /// Files whose content it decides.
    pub(super) contents: Vec<PathBuf>,
    /// What may be a link afterwards, or have links in it.
    pub(super) placed: Vec<PathBuf>,
    /// What is not there afterwards.
    pub(super) gone: Vec<PathBuf>,
    /// Folders that something is put into, each as what it is for the program if it is no folder any more.
    pub(super) folders: Vec<(Destination, Vec<PathBuf>)>,
    /// Where its destinations must lead when it starts.
    pub(super) places: Vec<WrittenPlace>,
}

impl WrittenPaths {
    /// Adds what else the program writes.
    pub(super) fn extend(&mut self, other: Self) {
        self.all.extend(other.all);
        self.contents.extend(other.contents);
        self.placed.extend(other.placed);
        self.gone.extend(other.gone);
        self.folders.extend(other.folders);
        self.places.extend(other.places);
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

/// A path as it is named, and everything that it could be.
struct Named {
    path: PathBuf,
    /// As it is written, as it is where something is on the way, and what a link at its end leads to.
    forms: Vec<PathBuf>,
    /// Whether there is a link at its end.
    is_link: bool,
}

impl Destinations<'_> {
    fn destination(&self, it: &Destination, written: &mut WrittenPaths) -> Option<Protection> {
        let named = self.named(self.directory.join(&it.path));
        if is_kept_nowhere(&it.extent, &named) {
            return None;
        }
        let goes_up = self.goes_up(&named.path);
        let protection = self.protection(it, named, written);
        protection.or_else(|| goes_up.then_some(Protection::Missing))
    }

    /// Why a destination is protected.
    fn protection(
        &self,
        it: &Destination,
        named: Named,
        written: &mut WrittenPaths,
    ) -> Option<Protection> {
        // What is removed or moved away is not followed, unless a `/` at its end says so.
        let is_removed = matches!(it.extent, Extent::Gone | Extent::GoneFolder | Extent::GoneTree);
        let is_itself = is_removed && !it.path.ends_with('/');
        let followed = |path: &PathBuf| match path.parent() {
            Some(parent) if is_itself => parent.to_owned(),
            _ => path.clone(),
        };
        if it.extent != Extent::Nothing {
            written.all.extend(named.forms.iter().map(followed));
        }
        self.places(&it.extent, &named, written);
        let forms = &named.forms;
        match &it.extent {
            Extent::File | Extent::Touched => {
                if it.extent == Extent::File {
                    written.contents.extend(forms.iter().cloned());
                }
                self.file(&named)
            }
            Extent::Rights => any(forms, |path| self.name(path)),
            Extent::Beginning => {
                written.contents.extend(forms.iter().cloned());
                any(forms, |path| {
                    // The rest of the name may be anything, also behind a `/` at the end.
                    let beside = || self.name(&path.with_file_name("_"));
                    self.name(path).or_else(beside).or_else(|| self.name(&path.join("_")))
                })
            }
            Extent::Folder => any(forms, |path| self.folder(path)),
            Extent::GoneFolder => {
                written.gone.extend(forms.iter().cloned());
                any(forms, |path| self.folder(path).or_else(|| self.content(path)))
            }
            Extent::Gone | Extent::GoneTree => {
                written.gone.extend(forms.iter().cloned());
                any(forms, |path| self.whole(path))
            }
            Extent::AllRights => any(forms, |path| self.whole(path)),
            Extent::LinkTarget | Extent::HardLink => any(forms, |path| {
                let below = || self.name(&path.join("_"));
                self.name(path).or_else(below).or_else(|| self.content(path))
            }),
            Extent::Nothing => forms
                .iter()
                .any(|path| protection::is_of_process(path))
                .then_some(Protection::Kernel),
            Extent::Itself(source) => self.put(&[&named], *source, written),
            Extent::Into { name, source } => {
                let inside = self.named(named.path.join(name));
                if self.machine.folder(&named.path).is_none() {
                    // What is no folder yet may be one when the program runs.
                    return self.put(&[&named, &inside], *source, written);
                }
                let itself = Destination { path: it.path.clone(), extent: Extent::Itself(*source) };
                written.folders.push((itself, named.forms));
                self.put(&[&inside], *source, written)
            }
        }
    }

    /// Notes what is put at one of some paths.
    fn put(
        &self,
        targets: &[&Named],
        source: Source,
        written: &mut WrittenPaths,
    ) -> Option<Protection> {
        let forms: Vec<PathBuf> = targets.iter().flat_map(|it| it.forms.iter().cloned()).collect();
        written.all.extend(forms.iter().cloned());
        written.contents.extend(forms.iter().cloned());
        if source == Source::File {
            let mut protections = targets.iter().filter_map(|it| self.file(it)).peekable();
            let first = protections.peek().copied();
            return protections.find(|it| *it == Protection::Own).or(first);
        }
        written.placed.extend(forms.iter().cloned());
        // What it takes the place of may have something below it.
        let protection = any(&forms, |path| {
            self.name(path).or_else(|| self.content(path)).or_else(|| self.program(path))
        });
        protection.or_else(|| {
            let is_joined = source == Source::Copied
                && forms.iter().any(|path| self.machine.folder(path).is_some());
            is_joined.then_some(Protection::Joined)
        })
    }

    /// Notes where a destination must lead when the program starts.
    fn places(&self, extent: &Extent, named: &Named, written: &mut WrittenPaths) {
        let mut place = |named: &Named, is_folder: bool| {
            if !named.forms.iter().any(|path| protection::is_of_process(path)) {
                let (path, real) = (named.path.clone(), named.forms.clone());
                written.places.push(WrittenPlace { path, real, is_folder });
            }
        };
        match extent {
            Extent::Nothing | Extent::LinkTarget => {}
            // A link at the end is not followed.
            Extent::Gone | Extent::GoneFolder | Extent::GoneTree | Extent::Beginning => {
                let is_named =
                    matches!(named.path.components().next_back(), Some(Component::Normal(_)));
                match named.path.parent().filter(|_| is_named) {
                    Some(parent) => place(&self.named(parent.to_owned()), false),
                    None => place(named, false),
                }
            }
            Extent::Into { name, source } => {
                let is_folder = self.machine.folder(&named.path).is_some();
                place(named, is_folder);
                if !is_folder || matches!(source, Source::File | Source::Copied) {
                    place(&self.named(named.path.join(name)), false);
                }
            }
            _ => place(named, false),
        }
    }

    /// A path and everything that it could be.
    fn named(&self, path: PathBuf) -> Named {
        let mut forms = vec![normal(&path)];
        if let Some((folder, rest)) = self.nearest(&path) {
            forms.push(normal(&folder.join(rest)));
        }
        let found = path.to_str().and_then(|path| self.machine.file(self.directory, path));
        let is_folder = self.machine.folder(&path).is_some();
        let is_link = !is_folder
            && found.as_ref().is_some_and(|found| forms.last().is_some_and(|it| *it != found.real));
        forms.extend(found.map(|found| found.real));
        forms.dedup();
        Named { path, forms, is_link }
    }

    /// The nearest folder of a path that is there, with links followed, and the rest of the path.
    fn nearest(&self, path: &Path) -> Option<(PathBuf, PathBuf)> {
        let mut rest = PathBuf::new();
        for folder in path.ancestors() {
            if let Some(found) = self.machine.folder(folder) {
                return Some((found.real, rest));
            }
            // `..` at the end has no name, and is looked at with what stands before it.
            let last = folder.components().next_back().map(Component::as_os_str);
            let last = Path::new(last.unwrap_or_default());
            rest = if rest.as_os_str().is_empty() { last.to_owned() } else { last.join(rest) };
        }
        None
    }

    /// Whether a path goes up from a folder that is not there, so that nothing can be said about where it leads.
    fn goes_up(&self, path: &Path) -> bool {
        path.components().any(|part| part == Component::ParentDir)
            && self
                .nearest(path)
                .is_none_or(|(_, rest)| rest.components().any(|part| part == Component::ParentDir))
    }

    /// Why a file at a path is protected.
    fn file(&self, named: &Named) -> Option<Protection> {
        let is_kept = |path: &&PathBuf| !protection::is_sink(path);
        let forms: Vec<PathBuf> = named.forms.iter().filter(is_kept).cloned().collect();
        let protection = any(&forms, |path| self.name(path).or_else(|| self.program(path)));
        protection.or_else(|| named.is_link.then_some(Protection::Link))
    }

    fn program(&self, path: &Path) -> Option<Protection> {
        let folder = path.parent().unwrap_or(path);
        let is_program =
            path.to_str().is_none_or(|path| self.machine.program(folder, path).is_some());
        is_program.then_some(Protection::Program)
    }

    fn name(&self, path: &Path) -> Option<Protection> {
        protection::of_name(path, self.policy)
    }

    fn folder(&self, path: &Path) -> Option<Protection> {
        protection::of_folder(path, self.policy)
    }

    fn content(&self, path: &Path) -> Option<Protection> {
        protection::of_content(path, self.policy)
    }

    /// Why whatever is at a path, or below it, is protected.
    fn whole(&self, path: &Path) -> Option<Protection> {
        self.name(path).or_else(|| self.content(path))
    }
}

/// Whether what is written to a path is kept nowhere.
fn is_kept_nowhere(extent: &Extent, named: &Named) -> bool {
    let is_kept = matches!(
        extent,
        Extent::File
            | Extent::Touched
            | Extent::LinkTarget
            | Extent::Itself(Source::File)
            | Extent::Into { source: Source::File, .. }
    );
    is_kept && named.forms.iter().all(|path| protection::is_sink(path))
}

/// The protection of the first of some forms of a path that has one. What is refused outweighs what is asked about.
fn any(paths: &[PathBuf], protection: impl Fn(&Path) -> Option<Protection>) -> Option<Protection> {
    let found: Vec<Protection> = paths.iter().filter_map(|path| protection(path)).collect();
    found.iter().find(|it| **it == Protection::Own).or(found.first()).copied()
}
