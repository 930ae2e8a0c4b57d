//! The skills of this machine, as the agent asks for them.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use metier_agent::{Library, LibraryError};
use metier_skill::files::{DigestCache, Identity};
use metier_skill::library::{Entry, Published, Snapshot, Watched, Watcher};
use metier_workspace::{RunSettings, Tree};

use crate::args::SourceArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::style;
use crate::roots::Roots;

/// How long folders are waited for before other things are looked at.
const PATIENCE: Duration = Duration::from_secs(1);

/// The skills as they were when a command began, or as they are while somebody watches them.
#[derive(Debug)]
pub(crate) struct Skills {
    context: Context,
    published: Published,
    digests: DigestCache,
}

impl Skills {
    /// Looks for them.
    ///
    /// # Errors
    ///
    /// When a filter cannot be read.
    pub(crate) fn find(context: &Context, sources: &SourceArgs) -> Result<Self, Failure> {
        let published = Published::new(context.library(sources)?);
        Ok(Self { context: context.clone(), published, digests: context.digests() })
    }

    /// Keeps what was learned of files, which saves time.
    pub(crate) fn save(&self) {
        self.digests.save();
    }

    /// Looks for them again whenever a folder of theirs changes, or what is trusted does, and says so.
    pub(crate) fn watch(
        self: &Arc<Self>,
        sources: &SourceArgs,
        changed: impl Fn() + Send + 'static,
    ) -> Watching {
        let is_over = Arc::new(AtomicBool::new(false));
        let (skills, sources) = (Arc::clone(self), sources.clone());
        let watching = Watching { is_over: Arc::clone(&is_over) };
        thread::spawn(move || skills.keep_watching(&sources, &changed, &is_over));
        watching
    }

    fn keep_watching(&self, sources: &SourceArgs, changed: &dyn Fn(), is_over: &AtomicBool) {
        let trust = || fs::metadata(self.context.trust_file()).map(|it| Identity::of(&it)).ok();
        let mut trusted = trust();
        let (mut is_first, mut is_told) = (true, false);
        // What changes while it is looked is noticed by a watcher that was there before.
        while let Some(watcher) = self.watcher(sources, &mut is_told) {
            // A file beside a header makes no other library, and is another file all the same.
            if self.look(sources) || !is_first {
                changed();
            }
            is_first = false;
            while watcher.wait(PATIENCE) == Watched::Quiet && trust() == trusted {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
            }
            trusted = trust();
        }
    }

    /// Watches the folders as they are now; none if that cannot be, which is said once.
    fn watcher(&self, sources: &SourceArgs, is_told: &mut bool) -> Option<Watcher> {
        let Context { environment, settings, output, .. } = &self.context;
        let Roots { roots, .. } = Roots::find(environment, settings, sources);
        let watcher = Watcher::new(roots.iter().map(|root| root.path.as_path()));
        let why = match &watcher {
            Ok(watcher) => watcher.polls_because().map(|why| format!("files are polled: {why}")),
            Err(error) => Some(format!("{}; changes are not noticed", Failure::of(error))),
        };
        if let Some(why) = why.filter(|_| !std::mem::replace(is_told, true)) {
            output.note(style::WARN, "warning: ", &why);
        }
        watcher.ok()
    }

    /// Looks for skills anew; gives whether they are not what they were.
    fn look(&self, sources: &SourceArgs) -> bool {
        // What could be read once cannot be wrong now: flags and settings are those of the beginning.
        let found = self.context.library(sources).ok();
        found.and_then(|snapshot| self.published.offer(snapshot)).is_some()
    }
}

/// Ends watching when it goes out of scope. The thread ends within a second; nobody waits for it, as it only looks.
#[derive(Debug)]
pub(crate) struct Watching {
    is_over: Arc<AtomicBool>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl Library for Skills {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.published.current()
    }

    fn tree(&self, entry: &Entry) -> Result<Tree, LibraryError> {
        self.context.tree_of(entry, &self.digests).map_err(|failure| in_words(&failure))
    }

    fn run_settings(&self, entry: &Entry) -> Result<RunSettings, LibraryError> {
        self.context.run_settings(entry).map_err(|failure| in_words(&failure))
    }
}

/// A failure as a model is told of it.
fn in_words(failure: &Failure) -> LibraryError {
    LibraryError::new(match &failure.hint {
        Some(hint) => format!("{failure}; {hint}"),
        None => failure.to_string(),
    })
}
