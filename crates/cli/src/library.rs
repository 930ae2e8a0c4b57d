//! The skills of this machine, as the agent asks for them.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use metier_agent::{Library, LibraryError};
use metier_skill::files::{DigestCache, Identity};
use metier_skill::library::{Entry, Published, Snapshot, WatchError, Watched, Watcher};
use metier_skill::problem::Problem;
use metier_workspace::{RunSettings, Tree};

use crate::archives::Reach;
use crate::args::SourceArgs;
use crate::context::{Context, LOOKING};
use crate::failure::Failure;
use crate::output::{Working, style};
use crate::remote::Offers;
use crate::roots::Roots;

/// How long nothing is watched: whoever starts us waits for a first answer, and looking at every folder would take its
/// part of processor and disk. What changes meanwhile is noticed all the same.
const HEAD_START: Duration = Duration::from_millis(50);
/// How long folders are waited for before other things are looked at.
const PATIENCE: Duration = Duration::from_secs(1);

/// The skills as they were when a command began, or as they are while somebody watches them.
#[derive(Debug)]
pub(crate) struct Skills {
    context: Context,
    published: Published,
    digests: DigestCache,
    /// What servers told last. Who has it alone looks for skills, so that nothing older is published later.
    offers: Mutex<Offers>,
}

impl Skills {
    /// Looks for them.
    ///
    /// # Errors
    ///
    /// When a filter cannot be read.
    pub(crate) fn find(context: &Context, sources: &SourceArgs) -> Result<Self, Failure> {
        let working = context.output.working(LOOKING);
        Self::with(context, sources, context.ask_servers(sources, &working)?, &working)
    }

    /// Looks for those of this machine, and asks no server: [`Skills::watch`] does.
    ///
    /// # Errors
    ///
    /// As for [`Skills::find`].
    pub(crate) fn find_here(context: &Context, sources: &SourceArgs) -> Result<Self, Failure> {
        let working = context.output.working(LOOKING);
        Self::with(context, sources, context.unasked_servers(sources)?, &working)
    }

    fn with(
        context: &Context,
        sources: &SourceArgs,
        offers: Offers,
        working: &Working,
    ) -> Result<Self, Failure> {
        let reach = Reach::Network(working);
        let published = Published::new(context.library_with(sources, &offers, &reach)?);
        let (context, digests) = (context.clone(), context.digests());
        Ok(Self { context, published, digests, offers: Mutex::new(offers) })
    }

    /// Keeps what was learned of files, which saves time.
    pub(crate) fn save(&self) {
        self.digests.save();
    }

    /// Asks servers once, and looks for skills again whenever a folder of theirs changes, or what is trusted does; says
    /// so each time. A server that does not answer holds up nobody.
    pub(crate) fn watch(
        self: &Arc<Self>,
        sources: &SourceArgs,
        changed: impl Fn() + Clone + Send + 'static,
    ) -> Watching {
        let is_over = Arc::new(AtomicBool::new(false));
        let watching = Watching { is_over: Arc::clone(&is_over) };
        if !self.context.servers.is_empty() {
            let (skills, sources, changed) = (Arc::clone(self), sources.clone(), changed.clone());
            thread::spawn(move || skills.ask(&sources, &changed));
        }
        let (skills, sources) = (Arc::clone(self), sources.clone());
        thread::spawn(move || {
            thread::sleep(HEAD_START);
            skills.keep_watching(&sources, &changed, &is_over);
        });
        watching
    }

    /// Asks servers what they offer, and says what is wrong with it.
    fn ask(&self, sources: &SourceArgs, changed: &dyn Fn()) {
        // What could be read once cannot be wrong now: flags and settings are those of the beginning.
        let Ok(offers) = self.context.ask_servers(sources, &Working::unseen()) else { return };
        let mut known = self.published.current().problems.clone();
        self.report_new(&offers.problems, &mut known);
        *self.offers.lock().unwrap_or_else(PoisonError::into_inner) = offers;
        if self.look(sources) {
            changed();
            self.report_new(&self.published.current().problems, &mut known);
        }
    }

    fn report_new(&self, problems: &[Problem], known: &mut Vec<Problem>) {
        let is_new = |problem: &&Problem| !known.contains(problem);
        let new: Vec<Problem> = problems.iter().filter(is_new).cloned().collect();
        self.context.report(&new);
        known.extend(new);
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
        let Context { environment, config, output, .. } = &self.context;
        let reach = Reach::Network(&Working::unseen());
        let Roots { roots, .. } = Roots::find(environment, config, sources, &reach);
        let watcher = Watcher::new(roots.iter().map(|root| root.path.as_path()));
        let why = match &watcher {
            Ok(watcher) => watcher.polls_because().map(|why| format!("files are polled: {why}")),
            Err(error) => Some(not_watched(error)),
        };
        if let Some(why) = why.filter(|_| !std::mem::replace(is_told, true)) {
            output.note(style::WARN, "warning: ", &why);
        }
        watcher.ok()
    }

    /// Looks for skills anew, and asks nobody; gives whether they are not what they were.
    fn look(&self, sources: &SourceArgs) -> bool {
        let offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let reach = Reach::Network(&Working::unseen());
        let found = self.context.library_with(sources, &offers, &reach).ok();
        found.and_then(|snapshot| self.published.offer(snapshot)).is_some()
    }
}

/// Ends watching when it goes out of scope. Nobody waits for its threads, as they only look and ask.
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

/// What is said when folders cannot be watched.
pub(crate) fn not_watched(error: &WatchError) -> String {
    format!("{}; changes are not noticed", Failure::of(error))
}

/// A failure as a model is told of it.
fn in_words(failure: &Failure) -> LibraryError {
    LibraryError::new(match failure.remedy() {
        Some(hint) => format!("{failure}; {hint}"),
        None => failure.to_string(),
    })
}
