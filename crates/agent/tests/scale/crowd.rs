//! An agent with skills, a database and a sandbox, for many sessions at once.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use metier_agent::agent::Watcher;
use metier_agent::{Agent, Ending, Folders, Task, stop};
use metier_model::{Model, ModelError, Replies, Request, Scripted};
use metier_session::{Content, Event, SessionStore, SqliteStore};
use metier_workspace::artifact::MemoryStore as Artifacts;
use metier_workspace::executor::{Firmness, LocalExecutor};
use metier_workspace::{Runner, Workspaces};

use crate::member::{Member, TASKS, strangers};

/// Tells what a session asked its model.
pub(crate) type Listener = Arc<dyn Fn(Member, Asked) + Send + Sync>;

/// A request, as far as it matters whether a later one begins with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// A digest of the system text and the tools, then one of each message.
    pub(crate) digests: Vec<u64>,
    /// How often other sessions are named in it.
    pub(crate) strangers: usize,
}

/// Many sessions of one agent.
#[derive(Clone)]
pub(crate) struct Crowd {
    agent: Agent,
    store: Arc<dyn SessionStore>,
}

impl Crowd {
    /// An agent whose files are in a folder, which may have some already.
    pub(crate) fn open(folder: &Path) -> Self {
        let place = |name: &str| folder.join(name);
        write_skills(&place("skills"));
        let workspaces = Workspaces::open(&place("workspaces"), &place("content")).unwrap();
        let store: Arc<dyn SessionStore> =
            Arc::new(SqliteStore::open(&place("metier.db")).unwrap());
        let firmness = Firmness::Confined;
        let runner = Runner {
            redactor: metier_workspace::Redactor::default(),
            workspaces,
            artifacts: Arc::new(Artifacts::new()),
            executor: LocalExecutor::Sandbox(firmness).into(),
        };
        let model = Arc::new(Scripted::from_text("").unwrap());
        let library = Arc::new(Folders::new([place("skills")]));
        let agent = Agent::new(model, library, Arc::clone(&store), runner);
        Self { agent, store }
    }

    /// Does what a session has still to do, from wherever it is.
    pub(crate) async fn finish(&self, member: Member, listener: Listener, watcher: Watcher) {
        let scripted = Scripted::from_text(&member.script()).unwrap();
        let model = Arc::new(Heard { member, scripted, listener });
        let agent = Agent { model, ..self.agent.clone() };
        let (_stopper, stop) = stop();
        let key = member.key();
        let said = self.events(member).await;
        let said = said.iter().filter(|event| matches!(event.content, Content::User(_))).count();
        if said > 0 {
            let outcome = agent.resume(&key, Arc::clone(&watcher), &stop).await.unwrap();
            assert_eq!(outcome.ending, Ending::Answered, "{member:?}");
        }
        for number in said..TASKS {
            let task = Task { text: member.task(number), ..Task::default() };
            let outcome = agent.run(&key, task, Arc::clone(&watcher), &stop).await.unwrap();
            assert_eq!(outcome.ending, Ending::Answered, "{member:?}");
        }
    }

    /// Everything that happened in a session, the state of which must follow from it.
    pub(crate) async fn events(&self, member: Member) -> Vec<Event> {
        let Some(session) = self.store.get(&member.key()).await.unwrap() else { return Vec::new() };
        let events = self.store.events(&session.at, 0, 1000).await.unwrap();
        assert_eq!(session.seq, events.len() as u64, "{member:?}");
        let state = self.store.state(&session.at).await.unwrap();
        assert_eq!(metier_session::replay(&events), state, "{member:?}");
        events
    }
}

/// Does something for every session at once, on a runtime with threads.
pub(crate) fn all_at_once<F: Future<Output = ()> + Send + 'static>(
    members: impl IntoIterator<Item = Member>,
    work: impl Fn(Member) -> F,
) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
    runtime.unwrap().block_on(async {
        let tasks: Vec<_> = members.into_iter().map(|it| tokio::spawn(work(it))).collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// Whether each request of a session begins with the one before it.
pub(crate) fn only_grows(requests: &[Asked]) -> bool {
    requests.is_sorted_by(|before, after| after.digests.starts_with(&before.digests))
}

/// A scripted model that tells what it is asked.
struct Heard {
    member: Member,
    scripted: Scripted,
    listener: Listener,
}

impl std::fmt::Debug for Heard {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Heard").field(&self.member).finish()
    }
}

#[async_trait]
impl Model for Heard {
    fn name(&self) -> &str {
        self.scripted.name()
    }

    async fn stream(&self, request: &Request) -> Result<Replies, ModelError> {
        let messages = request.messages.iter().map(|message| format!("{message:?}"));
        let beginning = format!("{} {:?}", request.system, request.tools);
        let texts: Vec<String> = std::iter::once(beginning).chain(messages).collect();
        let asked = Asked {
            digests: texts.iter().map(|text| digest(text)).collect(),
            strangers: texts.iter().map(|text| strangers(text, self.member)).sum(),
        };
        (self.listener)(self.member, asked);
        self.scripted.stream(request).await
    }
}

/// The same in every process of this program.
fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Two skills; those that are there stay as they are.
fn write_skills(folder: &Path) {
    let files = [
        (
            "pdf/SKILL.md",
            "---\nname: pdf\ndescription: Reads PDF files.\n---\n\nRun `scripts/pages`.\n",
        ),
        ("pdf/forms.md", "How to fill in forms.\n"),
        ("pdf/scripts/pages", "echo \"pages of $1\"\n"),
        (
            "charts/SKILL.md",
            "---\nname: charts\ndescription: Draws charts.\n---\n\nDraw with care.\n",
        ),
    ];
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if !path.exists() {
            fs::write(path, text).unwrap();
        }
    }
}
