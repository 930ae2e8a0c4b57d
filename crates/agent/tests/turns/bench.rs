//! An agent with skills of its own, a scripted model and a real sandbox.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use metier_agent::agent::{AgentSettings, Watcher, unwatched};
use metier_agent::host::Host;
use metier_agent::texts::TextMemory;
use metier_agent::visit::Visits;
use metier_agent::{
    Agent, AgentError, Dispatch, Folders, ForeignServers, Library, LibraryError, Outcome, Task,
    Tool, stop,
};
use metier_model::{Message, Model, ReplyPart, Request, Scripted};
use metier_session::content::Attachment;
use metier_session::{Content, Event, MemoryStore, NewEvent, SessionKey, SessionStore};
use metier_skill::library::{Entry, Snapshot};
use metier_workspace::artifact::MemoryStore as Artifacts;
use metier_workspace::executor::{Executor, Firmness, LocalExecutor};
use metier_workspace::input::upload;
use metier_workspace::{RunSettings, Runner, Tree, Workspaces};
use serde_json::Value;
use tempfile::TempDir;

/// The skills of a folder, which may each have a variable of their own.
#[derive(Debug)]
pub(crate) struct Skills {
    folders: Folders,
    has_keys: bool,
}

impl Library for Skills {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.folders.snapshot()
    }

    fn tree(&self, entry: &Entry) -> Result<Tree, LibraryError> {
        self.folders.tree(entry)
    }

    fn run_settings(&self, entry: &Entry) -> Result<RunSettings, LibraryError> {
        let given = ("GIVEN_TO".to_owned(), entry.name.as_str().to_owned());
        let variables = self.has_keys.then_some(given).into_iter().collect();
        Ok(RunSettings { variables, ..self.folders.run_settings(entry)? })
    }
}

/// Everything a test needs.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) skills: PathBuf,
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) settings: AgentSettings,
    pub(crate) key: SessionKey,
    /// Who decides about commands; they run on the host then.
    pub(crate) host: Option<Host>,
    /// Other servers.
    pub(crate) foreign: Option<ForeignServers>,
    /// Tools of the program.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// Who runs commands, if a test says so.
    pub(crate) executor: Option<Executor>,
    /// Whether they do without.
    pub(crate) is_on_host: bool,
    /// Whether the configuration gives each skill a variable of its own.
    pub(crate) has_keys: bool,
}

/// What is left after a task.
pub(crate) struct Done {
    pub(crate) outcome: Result<Outcome, AgentError>,
    pub(crate) requests: Vec<Request>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let bench = Self {
            skills: folder.path().join("skills"),
            folder,
            store: Arc::new(MemoryStore::new()),
            settings: AgentSettings::default(),
            key: SessionKey::new("test", "ada", "one").expect("a key"),
            host: None,
            foreign: None,
            tools: Vec::new(),
            executor: None,
            is_on_host: false,
            has_keys: false,
        };
        bench.write(
            "pdf/SKILL.md",
            "---\nname: pdf\ndescription: Reads PDF files.\n---\n\n# PDF\n\nRun `scripts/pages`.\n",
        );
        bench.write("pdf/forms.md", "How to fill in forms.\n");
        bench.write("pdf/tables.md", "How to read tables.\n");
        bench.write("pdf/scripts/pages", "#!/bin/sh\necho 3 pages\n");
        bench.write(
            "charts/SKILL.md",
            "---\nname: charts\ndescription: Draws charts.\n---\n\nDraw with care.\n",
        );
        bench
    }

    /// With the skills that come with the program.
    pub(crate) fn bundled() -> Self {
        let skills = concat!(env!("CARGO_MANIFEST_DIR"), "/../../skills");
        Self { skills: PathBuf::from(skills), ..Self::new() }
    }

    /// Puts a file into the workspace, as one that came with a task. A name with folders keeps them.
    pub(crate) fn attach(&self, name: &str, text: &str) -> Attachment {
        let session = wait(self.store.create(&self.key)).expect("a session");
        let key = metier_agent::session_identity::workspace_key(&session.at);
        let workspace = self.workspaces().workspace(&key).expect("a workspace");
        let place = if let Some((folder, _)) = name.rsplit_once('/') {
            let inputs = workspace.root().join("work/inputs");
            fs::create_dir_all(inputs.join(folder)).expect("its folder");
            fs::write(inputs.join(name), text).expect("its text");
            format!("work/inputs/{name}")
        } else {
            upload(&workspace, name, text.as_bytes()).expect("an attached file").to_string()
        };
        let reference = format!("workspace://{place}");
        Attachment { name: name.to_owned(), reference, ..Attachment::default() }
    }

    /// Writes a file below the skills.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join("skills").join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("its folder");
        fs::write(path, text).expect("its text");
    }

    /// Where a file below the skills is.
    pub(crate) fn skill_file(&self, path: &str) -> String {
        self.skills.join(path).display().to_string()
    }

    /// Removes a file below the skills.
    pub(crate) fn forget(&self, path: &str) {
        fs::remove_file(self.folder.path().join("skills").join(path)).expect("it was there");
    }

    /// Takes a skill away.
    pub(crate) fn remove(&self, skill: &str) {
        fs::remove_dir_all(self.folder.path().join("skills").join(skill)).expect("it was there");
    }

    pub(crate) fn library(&self) -> Arc<Skills> {
        let folders = Folders::new([self.skills.clone()]);
        Arc::new(Skills { folders, has_keys: self.has_keys })
    }

    fn workspaces(&self) -> Workspaces {
        let place = |name: &str| self.folder.path().join(name);
        Workspaces::open(&place("workspaces"), &place("content")).expect("folders")
    }

    fn runner(&self) -> Runner {
        let firmness = Firmness::Confined;
        Runner {
            redactor: metier_workspace::Redactor::default(),
            workspaces: self.workspaces(),
            artifacts: Arc::new(Artifacts::new()),
            executor: match (&self.executor, self.is_on_host || self.host.is_some()) {
                (Some(executor), _) => executor.clone(),
                (None, true) => LocalExecutor::Host.into(),
                (None, false) => LocalExecutor::Sandbox(firmness).into(),
            },
        }
    }

    /// What visits share.
    pub(crate) fn visits(&self) -> Visits {
        let runner = self.runner();
        Visits {
            agent: "default".to_owned(),
            library: self.library(),
            sessions: Some(Arc::clone(&self.store)),
            remembered_texts: TextMemory::default(),
            runner,
            host: self.host.clone(),
            restriction: self.settings.restriction.clone(),
            load_before_run: true,
            max_body_tokens: self.settings.prompt.layout.max_body_tokens,
        }
    }

    /// An agent with a model.
    pub(crate) fn agent(&self, model: Arc<dyn Model>) -> Agent {
        Agent {
            host: self.host.clone(),
            foreign: self.foreign.clone(),
            tools: self.tools.clone(),
            settings: self.settings.clone(),
            ..Agent::new(model, self.library(), Arc::clone(&self.store), self.runner())
        }
    }

    /// Does a task with an agent of its own, as after a restart, whose model replies like this.
    pub(crate) fn task(&self, task: Task, script: &str) -> Done {
        let model = Arc::new(Scripted::from_text(script).expect("a script"));
        let outcome = self.task_with(task, Arc::<Scripted>::clone(&model), unwatched());
        Done { outcome, requests: model.requests() }
    }

    /// Does a task with an agent of its own and another model.
    pub(crate) fn task_with(
        &self,
        task: Task,
        model: Arc<dyn Model>,
        watcher: Watcher,
    ) -> Result<Outcome, AgentError> {
        let (_stopper, stop) = stop();
        wait(self.agent(model).run(&self.key, task, watcher, &stop))
    }

    /// Gives a command of a person to a tool, with an agent of its own.
    pub(crate) fn dispatch(&self, dispatch: Dispatch) -> Result<Outcome, AgentError> {
        let model = Arc::new(Scripted::from_text("").expect("a script"));
        let (_stopper, stop) = stop();
        wait(self.agent(model).dispatch(&self.key, dispatch, unwatched(), &stop))
    }

    /// Begins a task with an agent of its own, which is stopped a moment later.
    pub(crate) fn stopped_after(&self, script: &str) -> Result<Outcome, AgentError> {
        let model = Arc::new(Scripted::from_text(script).expect("a script"));
        let (stopper, stop) = stop();
        let agent = self.agent(model);
        let task = Task { text: "Go.".to_owned(), ..Task::default() };
        wait(async {
            let stopping = async {
                tokio::time::sleep(std::time::Duration::from_millis(500)).await;
                stopper.stop();
            };
            tokio::join!(agent.run(&self.key, task, unwatched(), &stop), stopping).0
        })
    }

    /// Goes on with what was interrupted, with an agent of its own, as after a restart.
    pub(crate) fn resume(&self, script: &str) -> Done {
        let model = Arc::new(Scripted::from_text(script).expect("a script"));
        let (_stopper, stop) = stop();
        let agent = self.agent(Arc::<Scripted>::clone(&model));
        let outcome = wait(agent.resume(&self.key, unwatched(), &stop));
        Done { outcome, requests: model.requests() }
    }

    /// Writes down what happened before the program was killed.
    pub(crate) fn happened(&self, contents: impl IntoIterator<Item = Content>) {
        let events = contents.into_iter().map(|content| NewEvent::new("default", content));
        wait(async {
            let session = self.store.create(&self.key).await?;
            self.store.append(&session.at, session.seq, events.collect()).await
        })
        .expect("they are kept");
    }

    /// The same with nothing but words.
    pub(crate) fn say(&self, text: &str, script: &str) -> Done {
        self.task(Task { text: text.to_owned(), ..Task::default() }, script)
    }

    /// Everything that happened.
    pub(crate) fn events(&self) -> Vec<Event> {
        wait(async {
            let session = self.store.get(&self.key).await?.expect("a session");
            self.store.events(&session.at, 0, 1000).await
        })
        .expect("events")
    }

    /// The state, a line each.
    pub(crate) fn state(&self) -> String {
        metier_session::replay(&self.events())
            .iter()
            .map(|(name, value)| format!("{name} = {value}\n"))
            .collect()
    }

    pub(crate) fn store(&self) -> Arc<dyn SessionStore> {
        Arc::clone(&self.store)
    }
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

/// A reply with calls, as a line of a script.
pub(crate) fn calls(calls: &[(&str, Value)]) -> String {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(name, arguments)| serde_json::json!({ "name": name, "arguments": arguments }))
        .collect();
    serde_json::json!({ "calls": calls }).to_string() + "\n"
}

/// A reply in words, as a line of a script.
pub(crate) fn text(text: &str) -> String {
    serde_json::json!({ "text": text }).to_string() + "\n"
}

/// The messages of a request for the eye, what varies replaced.
pub(crate) fn shown(request: &Request) -> String {
    let message = |message: &Message| match message {
        Message::System(text) => format!("SYSTEM\n{text}"),
        Message::User(parts) => format!("USER\n{parts:?}"),
        Message::Assistant(parts) => {
            let part = |part: &ReplyPart| match part {
                ReplyPart::Text(text) => text.clone(),
                ReplyPart::Call { name, arguments, .. } => format!("{name} {arguments}"),
                other => format!("{other:?}"),
            };
            format!("ASSISTANT\n{}", parts.iter().map(part).collect::<Vec<_>>().join("\n"))
        }
        Message::ToolResult { name, text, is_error, .. } => {
            format!("RESULT {name}{}\n{text}", if *is_error { " (error)" } else { "" })
        }
        _ => String::new(),
    };
    request.messages.iter().map(message).collect::<Vec<_>>().join("\n---\n")
}
