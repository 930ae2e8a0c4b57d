//! Watching roots: says that something changed, after it has been quiet for a moment.
//!
//! What changed is found by building a new snapshot; events only say when. Where
//! the system has no watches left, files are polled, and that is said once.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::{Config, Event, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode};
use thiserror::Error;

/// A change is reported once nothing more has changed for this long.
const QUIET: Duration = Duration::from_millis(250);
/// A root that never rests is reported at least this often.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How often files are looked at where watches are not to be had.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Folders whose changes say nothing about skills.
const IGNORED: [&str; 9] = [
    ".git",
    "node_modules",
    "target",
    ".venv",
    "venv",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    "dist",
];

/// Watches folders for as long as it lives.
#[derive(Debug)]
pub struct Watcher {
    events: Receiver<notify::Result<Event>>,
    roots: Vec<PathBuf>,
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
    /// it that is.
    ///
    /// # Errors
    ///
    /// When neither watching nor polling is possible.
    pub fn new<'a>(roots: impl IntoIterator<Item = &'a Path>) -> Result<Self, WatchError> {
        let roots: Vec<PathBuf> = roots.into_iter().map(Path::to_owned).collect();
        let targets = targets(&roots);
        let (events, way) = match native(&targets) {
            Ok(native) => native,
            Err(error) => polling(&targets, error.source.to_string())?,
        };
        Ok(Self { events, roots, way })
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
        let restless_since = Instant::now();
        while restless_since.elapsed() < LONGEST_WAIT {
            match self.events.recv_timeout(QUIET) {
                Ok(_) => {}
                Err(_) => break,
            }
        }
        Watched::Changed
    }

    /// Reading is no change, and neither is what tools do in their own folders.
    fn matters(&self, event: &notify::Result<Event>) -> bool {
        let Ok(event) = event else { return true };
        if matches!(event.kind, EventKind::Access(_)) {
            return false;
        }
        event.paths.is_empty() || !event.paths.iter().all(|path| self.is_ignored(path))
    }

    fn is_ignored(&self, path: &Path) -> bool {
        let inside = self.roots.iter().find_map(|root| path.strip_prefix(root).ok());
        inside.is_some_and(|inside| {
            inside.components().any(|part| IGNORED.iter().any(|name| part.as_os_str() == *name))
        })
    }
}

type Watching = (Receiver<notify::Result<Event>>, Way);

fn native(targets: &[(PathBuf, RecursiveMode)]) -> Result<Watching, WatchError> {
    let (sender, events) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(sender).map_err(no_target)?;
    watch_all(&mut watcher, targets)?;
    Ok((events, Way::Native { _watcher: watcher }))
}

fn polling(targets: &[(PathBuf, RecursiveMode)], why: String) -> Result<Watching, WatchError> {
    let (sender, events) = mpsc::channel();
    let config = Config::default().with_poll_interval(POLL_INTERVAL);
    let mut watcher = PollWatcher::new(sender, config).map_err(no_target)?;
    watch_all(&mut watcher, targets)?;
    Ok((events, Way::Polling { _watcher: watcher, why }))
}

fn no_target(source: notify::Error) -> WatchError {
    WatchError { path: PathBuf::new(), source }
}

fn watch_all(
    watcher: &mut impl notify::Watcher,
    targets: &[(PathBuf, RecursiveMode)],
) -> Result<(), WatchError> {
    for (path, mode) in targets {
        watcher.watch(path, *mode).map_err(|source| WatchError { path: path.clone(), source })?;
    }
    Ok(())
}

/// The folders to watch: roots with all below them, or a folder above by itself.
fn targets(roots: &[PathBuf]) -> Vec<(PathBuf, RecursiveMode)> {
    let mut targets: Vec<(PathBuf, RecursiveMode)> = Vec::new();
    for root in roots {
        let target = if root.is_dir() {
            (root.clone(), RecursiveMode::Recursive)
        } else {
            let above = root.ancestors().skip(1).find(|folder| folder.is_dir());
            let Some(above) = above else { continue };
            (above.to_owned(), RecursiveMode::NonRecursive)
        };
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    targets
}
