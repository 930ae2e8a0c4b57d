//! A place to run commands in: a skill, a session, an executor.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use metier_sandbox::Cancel;
use metier_workspace::artifact::MemoryStore;
use metier_workspace::executor::{Firmness, LocalExecutor};
use metier_workspace::{
    RunError, RunOrder, RunOutput, RunRequest, RunSettings, Runner, SessionKey, Tree, TreeEntry,
    TreeKind, Workspaces,
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// Who runs commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Sandbox,
    Host,
}

impl Who {
    pub(crate) fn all() -> Vec<Self> {
        vec![Self::Sandbox, Self::Host]
    }
}

impl fmt::Display for Who {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Sandbox => "sandbox",
            Self::Host => "host",
        })
    }
}

pub(crate) struct Bench {
    pub(crate) who: Who,
    root: Arc<TempDir>,
    pub(crate) runner: Runner,
    pub(crate) settings: RunSettings,
    pub(crate) session: String,
    /// Whose workspace it is, unless that follows from the session.
    pub(crate) key: Option<SessionKey>,
}

impl Bench {
    pub(crate) fn new(who: Who) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let executor = match who {
            Who::Sandbox => LocalExecutor::Sandbox(Firmness { require_full: true, degrade: false }),
            Who::Host => LocalExecutor::Host,
        };
        let state = root.path().join("state");
        let workspaces = Workspaces::open(&state.join("workspaces"), &state.join("content"));
        let runner = Runner {
            workspaces: workspaces.expect("a folder of ours"),
            artifacts: Arc::new(MemoryStore::new()),
            executor,
        };
        let bench = Self {
            who,
            root: Arc::new(root),
            runner,
            settings: RunSettings::default(),
            session: "test".to_owned(),
            key: None,
        };
        bench.write("skills/demo/SKILL.md", "---\nname: demo\ndescription: Demo.\n---\n");
        bench.write("skills/demo/scripts/hello.sh", "echo hello from $SKILL_NAME\n");
        bench
    }

    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.root.path().canonicalize().expect("it is there").join(inside)
    }

    pub(crate) fn write(&self, inside: &str, text: &str) -> PathBuf {
        let path = self.path(inside);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path
    }

    /// The same place once more, for another thread.
    pub(crate) fn again(&self) -> Self {
        Self {
            who: self.who,
            root: Arc::clone(&self.root),
            runner: self.runner.clone(),
            settings: self.settings.clone(),
            session: self.session.clone(),
            key: self.key.clone(),
        }
    }

    pub(crate) fn key(&self) -> SessionKey {
        self.key.clone().unwrap_or_else(|| SessionKey {
            app: "test".to_owned(),
            user: "someone".to_owned(),
            session: self.session.clone(),
            generation: 0,
        })
    }

    /// The folder of the session's workspace.
    pub(crate) fn workspace(&self) -> PathBuf {
        let workspace = self.runner.workspaces.workspace(&self.key()).expect("a workspace");
        workspace.root().to_owned()
    }

    /// Runs what a request in JSON says.
    pub(crate) fn run(&self, request: Value) -> Result<RunOutput, RunError> {
        self.run_trees(request, vec![self.tree("demo")])
    }

    /// The same with other skills.
    pub(crate) fn run_trees(
        &self,
        request: Value,
        trees: Vec<Tree>,
    ) -> Result<RunOutput, RunError> {
        let request: RunRequest = serde_json::from_value(request).expect("a request");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let order = RunOrder { key: self.key(), request, trees, settings: self.settings.clone() };
        let cancel = Cancel::new().expect("an event");
        let live = Box::new(|_, _: &[u8]| {});
        runtime.expect("a runtime").block_on(self.runner.run(order, live, cancel))
    }

    /// Runs a shell command of the demo skill.
    pub(crate) fn sh(&self, command: &str) -> RunOutput {
        self.run(serde_json::json!({"skill": "demo", "command": command})).expect("it runs")
    }

    /// A folder below `skills/` as a tree.
    pub(crate) fn tree(&self, name: &str) -> Tree {
        let folder = self.path("skills").join(name);
        let mut entries = Vec::new();
        list(&folder, &folder, &mut entries);
        entries.sort_by(|left: &TreeEntry, right| left.path.cmp(&right.path));
        let mut hasher = Sha256::new();
        for entry in &entries {
            hasher.update(format!("{entry:?}"));
        }
        let digest: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Tree { name: name.to_owned(), folder, digest, entries }
    }
}

/// A tree under another name.
pub(crate) trait Renamed {
    fn renamed(self, name: &str) -> Self;
}

impl Renamed for Tree {
    fn renamed(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }
}

/// A link as an entry of a tree.
pub(crate) fn link(path: &str, target: &str) -> TreeEntry {
    TreeEntry { path: path.to_owned(), kind: TreeKind::Link { target: target.to_owned() } }
}

/// Everything below a folder that has a name.
pub(crate) fn find(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_name() == name {
            found.push(entry.path());
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(find(&entry.path(), name));
        }
    }
    found
}

fn list(root: &Path, folder: &Path, entries: &mut Vec<TreeEntry>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let metadata = path.symlink_metadata().expect("it is there");
        if metadata.is_dir() {
            list(root, &path, entries);
            continue;
        }
        let inside = path.strip_prefix(root).expect("inside").display().to_string();
        let kind = if metadata.is_symlink() {
            let target = fs::read_link(&path).expect("a link").display().to_string();
            TreeKind::Link { target }
        } else {
            let sha256 = Sha256::digest(fs::read(&path).expect("a file")).into();
            TreeKind::File { sha256, executable: metadata.permissions().mode() & 0o100 != 0 }
        };
        entries.push(TreeEntry { path: inside, kind });
    }
}
