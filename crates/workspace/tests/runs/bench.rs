//! A place to run commands in: a skill, a session, an executor.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use metier_sandbox::Cancel;
use metier_testkit::{Surroundings, TestUser};
use metier_workspace::artifact::MemoryStore;
use metier_workspace::executor::{
    ContainerExecutor, ContainerSettings, Executor, Firmness, Live, LocalExecutor, Pull,
};
use metier_workspace::{
    Manner, RunError, RunOrder, RunOutput, RunRequest, RunSettings, Runner, Tree, TreeEntry,
    TreeKind, WorkspaceKey, Workspaces,
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::custom::Unconfined;

/// Who runs commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Sandbox,
    Host,
    Docker,
    Podman,
    /// An executor of the program's own, which confines nothing.
    Custom,
}

impl Who {
    /// Those that this crate has.
    pub(crate) const ALL: [Self; 4] = [Self::Sandbox, Self::Host, Self::Docker, Self::Podman];

    /// Whether it is an engine for containers.
    pub(crate) fn is_engine(self) -> bool {
        self.variable().is_some()
    }

    /// Whether it confines what a program sees and reaches.
    pub(crate) fn confines(self) -> bool {
        !matches!(self, Self::Host | Self::Custom)
    }

    /// Whether it can be had here.
    pub(crate) fn is_there(self) -> bool {
        !self.is_engine() || self.socket().is_some()
    }

    /// What a run says about who ran it.
    pub(crate) fn executor_name(self) -> String {
        if self.is_engine() { "container".to_owned() } else { self.to_string() }
    }

    /// The variable that says where the engine listens.
    pub(crate) fn variable(self) -> Option<&'static str> {
        match self {
            Self::Sandbox | Self::Host | Self::Custom => None,
            Self::Docker => Some("METIER_TEST_DOCKER"),
            Self::Podman => Some("METIER_TEST_PODMAN"),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the test command says it in a variable")]
    pub(crate) fn socket(self) -> Option<String> {
        std::env::var(self.variable()?).ok()
    }

    fn executor(self) -> Executor {
        let firmness = if is_without_namespaces() { Firmness::Confined } else { Firmness::Full };
        match self {
            Self::Sandbox => LocalExecutor::Sandbox(firmness).into(),
            Self::Host => LocalExecutor::Host.into(),
            Self::Custom => Arc::new(Unconfined).into(),
            Self::Docker | Self::Podman => self.container("metier-test/python:latest").into(),
        }
    }

    /// Containers of an image.
    pub(crate) fn container(self, image: &str) -> ContainerExecutor {
        ContainerExecutor::new(self.containers(image))
    }

    /// What containers of an image are made of.
    pub(crate) fn containers(self, image: &str) -> ContainerSettings {
        ContainerSettings { image: image.to_owned(), socket: self.socket(), pull: Pull::Never }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Sandbox => "sandbox",
            Self::Host => "host",
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Custom => "custom",
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
    pub(crate) key: Option<WorkspaceKey>,
}

impl Bench {
    pub(crate) fn new(who: Who) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let state = root.path().join("state");
        if Surroundings::here().is_some_and(|it| it.user == TestUser::Root) {
            let_others_pass(&[root.path(), &state]);
        }
        let workspaces = Workspaces::open(&state.join("workspaces"), &state.join("content"));
        let runner = Runner {
            redactor: metier_workspace::Redactor::default(),
            workspaces: workspaces.expect("a folder of ours"),
            artifacts: Arc::new(MemoryStore::new()),
            executor: who.executor(),
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

    pub(crate) fn key(&self) -> WorkspaceKey {
        self.key.clone().unwrap_or_else(|| WorkspaceKey {
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
        self.run_until(request, Cancel::new().expect("an event"))
    }

    /// The same with other skills.
    pub(crate) fn run_trees(
        &self,
        request: Value,
        trees: Vec<Tree>,
    ) -> Result<RunOutput, RunError> {
        let request: RunRequest = serde_json::from_value(request).expect("a request");
        self.run_order(RunOrder { trees, ..self.order_of(request) })
    }

    /// Makes a run.
    pub(crate) fn run_order(&self, order: RunOrder) -> Result<RunOutput, RunError> {
        let cancel = Cancel::new().expect("an event");
        let live = Box::new(|_, _: &[u8]| {});
        block_on(self.runner.run(order, live, cancel))
    }

    /// Runs what a request in JSON says, and tells what it writes.
    pub(crate) fn run_live(&self, request: Value, live: Live) -> Result<RunOutput, RunError> {
        block_on(self.runner.run(self.order(request), live, Cancel::new().expect("an event")))
    }

    /// Runs what a request in JSON says, unless it is cancelled.
    pub(crate) fn run_until(&self, request: Value, cancel: Cancel) -> Result<RunOutput, RunError> {
        let live = Box::new(|_, _: &[u8]| {});
        block_on(self.runner.run(self.order(request), live, cancel))
    }

    /// A request in JSON with the skill it is of.
    pub(crate) fn order(&self, request: Value) -> RunOrder {
        self.order_of(serde_json::from_value(request).expect("a request"))
    }

    fn order_of(&self, request: RunRequest) -> RunOrder {
        // A name that is none of ours is one that a run must not find.
        let is_ours = ["demo", "plain"].contains(&request.skill.as_str());
        let trees = vec![self.tree(if is_ours { &request.skill } else { "demo" })];
        RunOrder {
            key: self.key(),
            request,
            trees,
            settings: self.settings.clone(),
            manner: Manner::Shell,
            identity: None,
            outside: None,
        }
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

/// Whether these tests run where no namespaces can be made, so that Landlock alone confines programs.
pub(crate) fn is_without_namespaces() -> bool {
    Surroundings::here().is_some_and(|it| !it.has_namespaces)
}

/// Makes folders that every user may pass: root of a container runs programs as nobody.
pub(crate) fn let_others_pass(folders: &[&Path]) {
    for folder in folders {
        fs::create_dir_all(folder).expect("a folder of ours");
        fs::set_permissions(folder, fs::Permissions::from_mode(0o711)).expect("a folder of ours");
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

impl Drop for Bench {
    fn drop(&mut self) {
        if let Executor::Container(container) = &self.runner.executor
            && self.who.is_there()
            && Arc::strong_count(&self.root) == 1
        {
            // A container whose workspace is gone is a leftover.
            let _gone = self.runner.workspaces.remove_unused(Duration::ZERO);
            let removed = block_on(container.remove_leftovers(&self.runner.workspaces));
            assert!(removed.is_ok() || std::thread::panicking(), "{removed:?}");
        }
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
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
