//! Watching roots: says that something changed, after it has been quiet for a moment.
//!
//! What changed is found by building a new snapshot; events only say when. Where
//! the system has no watches left, files are polled, and that is said once.
//!
//! Links are not followed wherever they lead: a link to `/` in somebody's project must not have
//! the whole disk watched. Skills that a root links to are watched by themselves.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::{Config, Event, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode};
use thiserror::Error;

use crate::files::is_left_out;

/// A change is reported once nothing more has changed for this long.
const QUIET: Duration = Duration::from_millis(250);
/// A root that never rests is reported at least this often.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How often files are looked at where watches are not to be had.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Most links of a root that are watched; more are noticed when something else changes.
const MAX_LINKS: usize = 500;

/// Watches folders for as long as it lives.
#[derive(Debug)]
pub struct Watcher {
    events: Receiver<notify::Result<Event>>,
    /// Roots as they were given and as they really are, and what they link to.
    places: Vec<PathBuf>,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Native { _watcher: RecommendedWatcher },
    Polling { _watcher: PollWatcher, why: String },
}

/// What waiting gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// Something changed: build a new snapshot.
    Changed,
    /// Nothing changed in that time.
    Quiet,
}

/// Why nothing can be watched.
#[derive(Debug, Error)]
#[error("cannot watch `{}`", path.display())]
pub struct WatchError {
    /// Which folder.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: notify::Error,
}

impl Watcher {
    /// Watches some roots. One that is not there yet is watched through the nearest folder above
    /// it that is. What appears there later needs a new watcher, so make one after every change,
    /// before the new snapshot is built.
    ///
    /// # Errors
    ///
    /// When neither watching nor polling is possible.
    pub fn new<'a>(roots: impl IntoIterator<Item = &'a Path>) -> Result<Self, WatchError> {
        let absolute = |root: &Path| std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        let mut places: Vec<PathBuf> = roots.into_iter().map(absolute).collect();
        let targets = targets(&places);
        places.extend(targets.iter().filter(|it| it.is_place).map(|it| it.path.clone()));
        let (events, way) = match native(&targets) {
            Ok(native) => native,
            Err(error) => polling(&targets, error.source.to_string())?,
        };
        Ok(Self { events, places, way })
    }

    /// Why files are polled instead of watched, if they are.
    pub fn polls_because(&self) -> Option<&str> {
        match &self.way {
            Way::Native { .. } => None,
            Way::Polling { why, .. } => Some(why),
        }
    }

    /// Waits until something changed and it has been quiet since, but no longer than `patience`.
    pub fn wait(&self, patience: Duration) -> Watched {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) if self.matters(&event) => break,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Watched::Quiet;
                }
            }
        }
        self.wait_for_quiet();
        Watched::Changed
    }

    fn wait_for_quiet(&self) {
        let longest = Instant::now() + LONGEST_WAIT;
        let mut quiet = Instant::now() + QUIET;
        loop {
            let left = quiet.min(longest).saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                _ if left.is_zero() => return,
                Ok(event) if self.matters(&event) => quiet = Instant::now() + QUIET,
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// Reading is no change, and neither is what happens in folders that are no part of any skill.
    fn matters(&self, event: &notify::Result<Event>) -> bool {
        let Ok(event) = event else { return true };
        if matches!(event.kind, EventKind::Access(_)) {
            return false;
        }
        event.paths.is_empty() || event.paths.iter().any(|path| self.concerns(path))
    }

    /// Whether a path is in such a place, or is a folder above one, which may come or go with it.
    fn concerns(&self, path: &Path) -> bool {
        let is_ignored =
            |inside: &Path| inside.components().any(|part| is_left_out(part.as_os_str()));
        self.places.iter().any(|place| match path.strip_prefix(place) {
            Ok(inside) => !is_ignored(inside),
            Err(_) => place.starts_with(path),
        })
    }
}

type Watching = (Receiver<notify::Result<Event>>, Way);

fn native(targets: &[Target]) -> Result<Watching, WatchError> {
    let (sender, events) = mpsc::channel();
    let config = Config::default().with_follow_symlinks(false);
    let mut watcher: RecommendedWatcher =
        notify::Watcher::new(sender, config).map_err(no_target)?;
    watch_all(&mut watcher, targets)?;
    Ok((events, Way::Native { _watcher: watcher }))
}

fn polling(targets: &[Target], why: String) -> Result<Watching, WatchError> {
    let (sender, events) = mpsc::channel();
    let config = Config::default().with_poll_interval(POLL_INTERVAL).with_follow_symlinks(false);
    let mut watcher = PollWatcher::new(sender, config).map_err(no_target)?;
    watch_all(&mut watcher, targets)?;
    Ok((events, Way::Polling { _watcher: watcher, why }))
}

fn no_target(source: notify::Error) -> WatchError {
    WatchError { path: PathBuf::new(), source }
}

fn watch_all(watcher: &mut impl notify::Watcher, targets: &[Target]) -> Result<(), WatchError> {
    for Target { path, mode, .. } in targets {
        watcher.watch(path, *mode).map_err(|source| WatchError { path: path.clone(), source })?;
    }
    Ok(())
}

/// A folder to watch.
#[derive(Debug)]
struct Target {
    path: PathBuf,
    mode: RecursiveMode,
    /// Whether everything in it matters; else only what leads to a root.
    is_place: bool,
}

impl Target {
    /// A folder where it really is: links are not followed, the one that leads to it included.
    fn place(folder: &Path, mode: RecursiveMode) -> Self {
        let path = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        Self { path, mode, is_place: true }
    }
}

/// The folders to watch: roots with all below them, or a folder above by itself.
fn targets(roots: &[PathBuf]) -> Vec<Target> {
    let mut targets = Vec::new();
    for root in roots {
        if root.is_dir() {
            targets.push(Target::place(root, RecursiveMode::Recursive));
            targets.extend(linked(root));
        } else if let Some(above) = root.ancestors().skip(1).find(|folder| folder.is_dir()) {
            let (path, mode) = (above.to_owned(), RecursiveMode::NonRecursive);
            targets.push(Target { path, mode, is_place: false });
        }
    }
    let mut seen = HashSet::new();
    targets.retain(|it| seen.insert((it.path.clone(), it.mode == RecursiveMode::Recursive)));
    targets
}

/// The skills a root links to, and those in the folders it links to.
fn linked(root: &Path) -> Vec<Target> {
    let is_skill = |folder: &Path| folder.join("SKILL.md").is_file();
    let mut targets = Vec::new();
    let links = entries(root).filter(|it| it.file_type().is_ok_and(|kind| kind.is_symlink()));
    let links = links.map(|it| it.path()).filter(|it| it.is_dir());
    for link in links.take(MAX_LINKS) {
        if is_skill(&link) {
            targets.push(Target::place(&link, RecursiveMode::Recursive));
            continue;
        }
        let skills = entries(&link).map(|it| it.path()).filter(|it| is_skill(it)).take(MAX_LINKS);
        targets.extend(skills.map(|skill| Target::place(&skill, RecursiveMode::Recursive)));
        targets.push(Target::place(&link, RecursiveMode::NonRecursive));
    }
    targets
}

fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn polling_notices_changes_where_watches_are_not_to_be_had() {
        let scratch = Scratch::new();
        scratch.skill("root/one");
        let places = vec![scratch.path("root")];
        let (events, way) = polling(&targets(&places), "no watches left".to_owned()).unwrap();
        let watcher = Watcher { events, places, way };
        assert_eq!(watcher.polls_because(), Some("no watches left"));
        scratch.skill("root/two");
        assert_eq!(watcher.wait(Duration::from_secs(20)), Watched::Changed);
    }
}
