//! The skills as lookups see them, without waiting for anybody.
//!
//! Files of a skill of another server may have to be fetched first. A lookup that needs them only notes that;
//! [`Fetched::fetch`] gets them while other things go on, and the lookup is done again. So a person who stops a turn does
//! not wait for a server that does not answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use metier_skill::library::{Entry, Snapshot};
use metier_skill::name::SkillName;
use metier_workspace::{RunSettings, Tree};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tracing::Span;

use crate::library::{Library, LibraryError};
use crate::stop::{Stop, TurnStopped};

/// Trees of skills of other servers: those that were fetched, and none in place of those that are needed.
type Trees = BTreeMap<SkillName, Option<Result<Tree, LibraryError>>>;

/// The skills of one reply, or of one task.
#[derive(Debug)]
pub(crate) struct Fetched<'a> {
    library: &'a Arc<dyn Library>,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) stop: &'a Stop,
    trees: Mutex<Trees>,
}

impl<'a> Fetched<'a> {
    pub(crate) fn new(
        library: &'a Arc<dyn Library>,
        snapshot: &'a Snapshot,
        stop: &'a Stop,
    ) -> Self {
        Self { library, snapshot, stop, trees: Mutex::default() }
    }

    /// Fetches what lookups were without; gives whether there was anything, so that they are done again.
    ///
    /// # Errors
    ///
    /// When it is stopped.
    pub(crate) async fn fetch(&self) -> Result<bool, TurnStopped> {
        let needed: Vec<&Entry> = {
            let trees = self.trees();
            let needed = trees.iter().filter(|(_, tree)| tree.is_none());
            needed.filter_map(|(name, _)| self.snapshot.find(name.as_str())).collect()
        };
        for entry in &needed {
            let tree = tokio::select! {
                tree = tree_apart(Arc::clone(self.library), (*entry).clone()) => tree,
                () = self.stop.stopped() => return Err(TurnStopped),
            };
            self.trees().insert(entry.name.clone(), Some(tree));
        }
        Ok(!needed.is_empty())
    }

    fn trees(&self) -> MutexGuard<'_, Trees> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Library for Fetched<'_> {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.library.snapshot()
    }

    fn tree(&self, entry: &Entry) -> Result<Tree, LibraryError> {
        if entry.remote().is_none() {
            return self.library.tree(entry);
        }
        let mut trees = self.trees();
        let tree = trees.entry(entry.name.clone()).or_default().clone();
        tree.unwrap_or_else(|| Err(LibraryError::new("its files are not fetched yet")))
    }

    fn run_settings(&self, entry: &Entry) -> Result<RunSettings, LibraryError> {
        self.library.run_settings(entry)
    }
}

/// Gets a tree in a thread that nobody waits for: a runtime would wait for its own when it ends. What it asks of a
/// server has a limit, and what comes late is kept for the next time.
async fn tree_apart(library: Arc<dyn Library>, entry: Entry) -> Result<Tree, LibraryError> {
    let (sender, receiver) = oneshot::channel();
    let (span, runtime) = (Span::current(), Handle::current());
    let work = move || {
        // A library may do on the runtime what waits for a network.
        let _entered = runtime.enter();
        drop(sender.send(span.in_scope(|| library.tree(&entry))));
    };
    let started = thread::Builder::new().spawn(work);
    started.map_err(|error| LibraryError::new(format!("nothing can be fetched: {error}")))?;
    let broken = |_| LibraryError::new("its files could not be fetched");
    receiver.await.map_err(broken)?
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::mpsc;

    use metier_skill::files::Digest;
    use metier_skill::library::{Choices, LibraryOptions, Machine, TrustPolicy, TrustState, build};
    use metier_skill::remote::{Offer, OfferedFile, RemoteSkill};
    use serde_json::json;

    use super::*;
    use crate::stop::stop;

    /// A skill of a server that gives its files when somebody lets it.
    #[derive(Debug)]
    struct Server {
        snapshot: Arc<Snapshot>,
        gate: Mutex<mpsc::Receiver<()>>,
    }

    impl Library for Server {
        fn snapshot(&self) -> Arc<Snapshot> {
            Arc::clone(&self.snapshot)
        }

        fn tree(&self, entry: &Entry) -> Result<Tree, LibraryError> {
            let gate = self.gate.lock().unwrap();
            gate.recv().map_err(|_| LibraryError::new("it does not answer"))?;
            let (name, digest) = (entry.name.to_string(), "1".to_owned());
            Ok(Tree { name, folder: PathBuf::new(), digest, entries: Vec::new() })
        }

        fn run_settings(&self, _: &Entry) -> Result<RunSettings, LibraryError> {
            Ok(RunSettings::default())
        }
    }

    fn snapshot() -> Snapshot {
        let uri = "skill://far/SKILL.md";
        let frontmatter = json!({ "name": "far", "description": "Is far." });
        let digest = format!("sha256:{}", Digest::of_bytes(b""));
        let files = [OfferedFile { uri: uri.to_owned(), digest, size: 0 }];
        let frontmatter = frontmatter.as_object().unwrap();
        let offer = Offer { uri, frontmatter, files: Some(&files) };
        let skill = RemoteSkill::read(&SkillName::new("one").unwrap(), &offer).unwrap();
        let machine = Machine::new("linux", &[]);
        build(&LibraryOptions {
            roots: &[],
            bundled: &[],
            remote: &[(skill, TrustState::Trusted)],
            choices: &Choices::all(),
            machine: &machine,
            trust: TrustPolicy::All,
            cache: None,
            catalog_tokens: 0,
        })
    }

    fn wait<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(future)
    }

    #[test]
    fn files_of_a_server_are_fetched_once_and_only_when_they_are_needed() {
        let (snapshot, (_stopper, stop)) = (Arc::new(snapshot()), stop());
        let (open, gate) = mpsc::channel();
        let server = Server { snapshot: Arc::clone(&snapshot), gate: Mutex::new(gate) };
        let library: Arc<dyn Library> = Arc::new(server);
        let skills = Fetched::new(&library, &snapshot, &stop);
        assert_eq!(wait(skills.fetch()), Ok(false));
        let far = snapshot.find("far").unwrap();
        assert!(skills.tree(far).is_err());
        open.send(()).unwrap();
        assert_eq!(wait(skills.fetch()), Ok(true));
        assert_eq!(skills.tree(far).unwrap().digest, "1");
        assert_eq!(wait(skills.fetch()), Ok(false));

        // What went wrong is not tried again either.
        let skills = Fetched::new(&library, &snapshot, &stop);
        assert!(skills.tree(far).is_err());
        drop(open);
        assert_eq!(wait(skills.fetch()), Ok(true));
        assert_eq!(skills.tree(far).unwrap_err().to_string(), "it does not answer");
        assert_eq!(wait(skills.fetch()), Ok(false));
    }

    #[test]
    fn nobody_who_stops_waits_for_a_server_that_never_answers() {
        let (snapshot, (stopper, stop)) = (Arc::new(snapshot()), stop());
        let (_open, gate) = mpsc::channel();
        let server = Server { snapshot: Arc::clone(&snapshot), gate: Mutex::new(gate) };
        let library: Arc<dyn Library> = Arc::new(server);
        let skills = Fetched::new(&library, &snapshot, &stop);
        assert!(skills.tree(snapshot.find("far").unwrap()).is_err());
        let (fetched, ()) = wait(async { tokio::join!(skills.fetch(), async { stopper.stop() }) });
        assert_eq!(fetched, Err(TurnStopped));
    }
}
