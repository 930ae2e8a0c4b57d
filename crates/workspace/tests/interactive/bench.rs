//! A place to hold sessions in.

use std::fmt;
use std::fs;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use metier_workspace::artifact::MemoryStore;
use metier_workspace::executor::{Firmness, LocalExecutor};
use metier_workspace::interactive::{
    Entry, InteractiveError, InteractiveOptions, Progress, SessionStatus, StartOptions, Waiting,
};
use metier_workspace::{
    Interactive, Manner, RunOrder, RunSettings, Runner, Tree, TreeEntry, TreeKind, WorkspaceKey,
    Workspaces,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// How long anything may take here.
const PATIENCE: Duration = Duration::from_secs(20);

/// Who runs commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Sandbox,
    Host,
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
    pub(crate) root: TempDir,
    pub(crate) runtime: Runtime,
    pub(crate) runner: Runner,
    pub(crate) interactive: Interactive,
}

impl Bench {
    pub(crate) fn new(who: Who) -> Self {
        Self::with(who, InteractiveOptions::default())
    }

    pub(crate) fn with(who: Who, options: InteractiveOptions) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let executor = match who {
            Who::Sandbox => LocalExecutor::Sandbox(Firmness::Full),
            Who::Host => LocalExecutor::Host,
        };
        let state = root.path().join("state");
        let workspaces = Workspaces::open(&state.join("workspaces"), &state.join("content"));
        let runner = Runner {
            redactor: metier_workspace::Redactor::default(),
            workspaces: workspaces.expect("a folder of ours"),
            artifacts: Arc::new(MemoryStore::new()),
            executor: executor.into(),
        };
        fs::create_dir_all(root.path().join("skills/demo")).expect("a folder");
        fs::write(root.path().join("skills/demo/SKILL.md"), "Demo.\n").expect("a file");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_keep_alive(Duration::from_millis(10))
            .enable_all()
            .build()
            .expect("a runtime");
        let interactive = Interactive::new(options);
        Self { who, root, runtime, runner, interactive }
    }

    pub(crate) fn key() -> WorkspaceKey {
        WorkspaceKey {
            app: "test".to_owned(),
            user: "someone".to_owned(),
            session: "test".to_owned(),
            generation: 0,
        }
    }

    pub(crate) fn order(&self, request: Value) -> RunOrder {
        let folder = self.root.path().canonicalize().expect("it is there").join("skills/demo");
        let sha256 = Sha256::digest("Demo.\n").into();
        let kind = TreeKind::File { sha256, executable: false };
        let entries = vec![TreeEntry { path: "SKILL.md".to_owned(), kind }];
        let digest: String =
            Sha256::digest("demo").iter().map(|byte| format!("{byte:02x}")).collect();
        RunOrder {
            key: Self::key(),
            request: serde_json::from_value(request).expect("a request"),
            trees: vec![Tree { name: "demo".to_owned(), folder, digest, entries }],
            settings: RunSettings::default(),
            manner: Manner::Shell,
            identity: None,
            outside: None,
        }
    }

    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(async {
            tokio::time::timeout(PATIENCE * 2, future).await.expect("it comes to an end")
        })
    }

    pub(crate) fn try_start(
        &self,
        request: Value,
        options: StartOptions,
    ) -> Result<Progress, InteractiveError> {
        self.wait(self.interactive.start(&self.runner, self.order(request), options))
    }

    /// Starts a command on a terminal.
    pub(crate) fn start(&self, command: &str) -> Progress {
        let request = json!({"skill": "demo", "command": command});
        self.try_start(request, StartOptions::default()).expect("it starts")
    }

    /// Starts a command on pipes.
    pub(crate) fn start_on_pipes(&self, command: &str) -> Progress {
        let request = json!({"skill": "demo", "command": command});
        let options = StartOptions { terminal: None, ..StartOptions::default() };
        self.try_start(request, options).expect("it starts")
    }

    /// Types a line.
    pub(crate) fn submit(&self, id: &str, chars: &str) -> Progress {
        self.write(id, Entry { chars, submit: true })
    }

    /// Types characters as they are.
    pub(crate) fn press(&self, id: &str, chars: &str) -> Progress {
        self.write(id, Entry { chars, submit: false })
    }

    fn write(&self, id: &str, entry: Entry<'_>) -> Progress {
        self.wait(self.interactive.write(id, entry, Waiting::NEXT)).expect("it is there")
    }

    pub(crate) fn poll(&self, id: &str) -> Progress {
        self.wait(self.interactive.poll(id, Waiting::NEXT)).expect("it is there")
    }

    /// Polls until something holds for all output since `first`; gives the last answer with all of
    /// that output.
    pub(crate) fn until(&self, first: Progress, holds: impl Fn(&Progress) -> bool) -> Progress {
        let deadline = Instant::now() + PATIENCE;
        let mut all = first;
        while !holds(&all) {
            assert!(Instant::now() < deadline, "still not so: {all:?}");
            let mut next = self.poll(&all.session_id);
            assert_eq!(next.offset, all.next_offset, "{all:?} {next:?}");
            next.output.insert_str(0, &all.output);
            all = next;
        }
        all
    }

    /// All output from an answer to the end.
    pub(crate) fn to_the_end(&self, first: Progress) -> Progress {
        self.until(first, |it| it.status == SessionStatus::Exited && !it.more)
    }

    /// All output from an answer until the program asks something.
    pub(crate) fn to_the_prompt(&self, first: Progress) -> Progress {
        self.until(first, |it| it.interaction.is_some())
    }
}

/// What a program waits for, as text.
pub(crate) fn asked(progress: &Progress) -> String {
    let interaction = progress.interaction.as_ref();
    interaction.map_or("nothing".to_owned(), |it| format!("{:?}: {}", it.kind, it.hint))
}
