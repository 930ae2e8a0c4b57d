//! The skills of this machine, as an agent asks for them.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use metier_agent::{Library, LibraryError};
use metier_skill::files::{DigestCache, Identity};
use metier_skill::library::{Entry, Published, Snapshot, Watched, Watcher};
use metier_skill::problem::Problem;
use metier_workspace::{RunSettings, Tree};
use tokio::runtime::Handle;

use crate::app::App;
use crate::error::AppError;
use crate::reporter::{Activity, ErrorWording, Notice, SilentReporter, WatchLimit};
use crate::sources::SourceSelection;
use crate::sources::remote::{NetworkSources, SkillOffers};
use crate::sources::roots::SourceRoots;

/// How long nothing is watched: a client waits for a first answer, and looking at every folder would take its
/// part of processor and disk. What changes meanwhile is noticed all the same.
const HEAD_START: Duration = Duration::from_millis(50);
/// How long folders are waited for before other things are looked at.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// The skills as they were when the library was opened, or as they are while it is watched.
#[derive(Debug)]
pub struct SkillLibrary {
    app: App,
    published: Published,
    digests: DigestCache,
    /// What servers and archives gave last. Looking for skills holds it, so that nothing older is published later.
    network: Mutex<NetworkSources>,
}

impl SkillLibrary {
    /// Gathers the skills of all sources.
    ///
    /// # Errors
    ///
    /// When a filter or the name of a server cannot be understood.
    pub async fn open(app: &App, sources: &SourceSelection) -> Result<Self, AppError> {
        let working = app.reporter.begin(&Activity::LookingForSkills);
        let network = app.ask_network_sources(sources, &*working).await?;
        Self::with(app, sources, network)
    }

    /// Gathers the skills of this machine, and asks no server: [`SkillLibrary::watch`] does.
    ///
    /// # Errors
    ///
    /// As for [`SkillLibrary::open`].
    pub async fn open_here(app: &App, sources: &SourceSelection) -> Result<Self, AppError> {
        let working = app.reporter.begin(&Activity::LookingForSkills);
        let network = app.ask_archives(sources, &*working).await?;
        Self::with(app, sources, network)
    }

    fn with(
        app: &App,
        sources: &SourceSelection,
        network: NetworkSources,
    ) -> Result<Self, AppError> {
        let published = Published::new(app.library_with(sources, &network)?);
        let (app, digests) = (app.clone(), app.digests());
        Ok(Self { app, published, digests, network: Mutex::new(network) })
    }

    /// Keeps what was learned of files, which saves time.
    pub fn save(&self) {
        self.digests.save();
    }

    /// Asks servers once, and looks for skills again whenever a folder of theirs changes, or what is trusted does; calls
    /// `changed` each time. A server that does not answer holds up nothing. Must be called on a runtime.
    pub fn watch(
        self: &Arc<Self>,
        sources: &SourceSelection,
        changed: impl Fn() + Clone + Send + Sync + 'static,
    ) -> LibraryWatch {
        let is_over = Arc::new(AtomicBool::new(false));
        let watch = LibraryWatch { is_over: Arc::clone(&is_over) };
        if !self.app.servers.is_empty() {
            tokio::spawn(Arc::clone(self).ask(sources.clone(), changed.clone()));
        }
        let (library, sources) = (Arc::clone(self), sources.clone());
        thread::spawn(move || {
            thread::sleep(HEAD_START);
            library.keep_watching(&sources, &changed, &is_over);
        });
        watch
    }

    /// Asks servers what they offer, and looks for skills with it. Looking reads the disk, and may wait for another look
    /// to end, so it has a thread of its own.
    async fn ask(
        self: Arc<Self>,
        sources: SourceSelection,
        changed: impl Fn() + Send + Sync + 'static,
    ) {
        // What could be read once cannot be wrong now: the selection and the configuration are those of the beginning.
        let Ok(offers) = self.app.ask_servers(&sources, &SilentReporter).await else { return };
        let looking = tokio::task::spawn_blocking(move || {
            self.look_with(offers, &sources, &changed);
        });
        // It fails only with the runtime.
        let _ended = looking.await;
    }

    /// Looks for skills with what servers offer now, and reports what is wrong with that.
    fn look_with(&self, offers: SkillOffers, sources: &SourceSelection, changed: &dyn Fn()) {
        let mut known = self.published.current().problems.clone();
        self.report_new(&offers.problems, &mut known);
        self.network.lock().unwrap_or_else(PoisonError::into_inner).offers = offers;
        if self.look(sources) {
            changed();
            self.report_new(&self.published.current().problems, &mut known);
        }
    }

    fn report_new(&self, problems: &[Problem], known: &mut Vec<Problem>) {
        let is_new = |problem: &&Problem| !known.contains(problem);
        let new: Vec<Problem> = problems.iter().filter(is_new).cloned().collect();
        self.app.report(&new);
        known.extend(new);
    }

    fn keep_watching(&self, sources: &SourceSelection, changed: &dyn Fn(), is_over: &AtomicBool) {
        let trust = || fs::metadata(self.app.trust_file()).map(|it| Identity::of(&it)).ok();
        let mut trusted = trust();
        let (mut is_first, mut is_told) = (true, false);
        // What changes while it is looked is noticed by a watcher that was there before.
        while let Some(watcher) = self.watcher(sources, &mut is_told) {
            // A file beside a header makes no other library, and is another file all the same.
            if self.look(sources) || !is_first {
                changed();
            }
            is_first = false;
            while watcher.wait(WATCH_INTERVAL) == Watched::Quiet && trust() == trusted {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
            }
            trusted = trust();
        }
    }

    /// Watches the folders as they are now; none if that cannot be, which is reported once.
    fn watcher(&self, sources: &SourceSelection, is_told: &mut bool) -> Option<Watcher> {
        let SourceRoots { roots, .. } = {
            let network = self.network.lock().unwrap_or_else(PoisonError::into_inner);
            SourceRoots::find(&self.app, sources, &network.archives)
        };
        let (watcher, limit) = match Watcher::new(roots.iter().map(|root| root.path.as_path())) {
            Ok(watcher) => {
                let limit = watcher.polls_because().map(|why| WatchLimit::Polled(why.to_string()));
                (Some(watcher), limit)
            }
            Err(error) => (None, Some(WatchLimit::Unwatched(error))),
        };
        if let Some(limit) = limit.filter(|_| !std::mem::replace(is_told, true)) {
            self.app.reporter.notice(&Notice::NotWatched(limit));
        }
        watcher
    }

    /// Looks for skills anew, and asks no server; returns whether they are not what they were.
    fn look(&self, sources: &SourceSelection) -> bool {
        let network = self.network.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.app.library_with(sources, &network).ok();
        found.and_then(|snapshot| self.published.offer(snapshot)).is_some()
    }

    /// Fetches the files of a skill of a server on the runtime of this thread, and waits for them. The thread is one that
    /// may wait, as the trait says.
    fn remote_tree(&self, entry: &Entry) -> Result<Tree, LibraryError> {
        let (sender, receiver) = mpsc::channel();
        let (app, entry) = (self.app.clone(), entry.clone());
        let handle = Handle::try_current()
            .map_err(|error| LibraryError::new(format!("nothing can be fetched: {error}")))?;
        handle.spawn(async move {
            let digests = DigestCache::in_memory();
            let _gone = sender.send(app.tree(&entry, &digests).await);
        });
        let broken = |_| LibraryError::new("its files could not be fetched");
        let fetched = receiver.recv().map_err(broken)?;
        fetched.map_err(|error| self.worded(&error))
    }

    /// Returns an error as a model is told of it.
    fn worded(&self, error: &AppError) -> LibraryError {
        let ErrorWording { message, hint } = self.app.reporter.wording(error);
        LibraryError::new(match hint {
            Some(hint) => format!("{message}; {hint}"),
            None => message,
        })
    }
}

/// Ends watching when it goes out of scope. Its threads only look and ask, and are not waited for.
#[derive(Debug)]
pub struct LibraryWatch {
    is_over: Arc<AtomicBool>,
}

impl Drop for LibraryWatch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl Library for SkillLibrary {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.published.current()
    }

    fn tree(&self, entry: &Entry) -> Result<Tree, LibraryError> {
        match entry.remote() {
            Some(_) => self.remote_tree(entry),
            None => self.app.local_tree(entry, &self.digests).map_err(|error| self.worded(&error)),
        }
    }

    fn run_settings(&self, entry: &Entry) -> Result<RunSettings, LibraryError> {
        self.app.run_settings(entry).map_err(|error| self.worded(&error))
    }
}
