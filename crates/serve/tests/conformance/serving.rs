//! A real server over real HTTP, with fixtures before it and two skills behind it.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use metier_agent::Folders;
use metier_agent::texts::TextMemory;
use metier_agent::tools::Restriction;
use metier_agent::visit::{Visit, Visits};
use metier_serve::mcp::Server;
use metier_serve::mcp::http::{self, Options, Tokens};
use metier_serve::mcp::server::Bell;
use metier_testkit::proxy;
use metier_workspace::artifact::MemoryStore;
use metier_workspace::executor::{Firmness, LocalExecutor};
use metier_workspace::{Runner, WorkspaceKey, Workspaces};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::fixtures::Fixtures;

const TOKEN: &str = "a-token-of-this-test-that-is-long-enough";

/// A server, until it is dropped.
pub(crate) struct Serving {
    /// Where it is asked, without a token.
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl Serving {
    pub(crate) fn start() -> Self {
        let folder = TempDir::new().expect("a folder");
        let skills = folder.path().join("skills");
        for name in ["pdf", "charts"] {
            write_skill(&skills, name);
            let scripts = skills.join(name).join("scripts");
            fs::create_dir(&scripts).expect("a folder of a skill");
            fs::write(scripts.join("pages"), "echo 3 pages\n").expect("a script");
        }
        let library = Arc::new(Folders::new([skills.clone()]));
        let visits = Arc::new(visits(folder.path(), library.clone()));
        let (bell, count) = (Bell::default(), AtomicUsize::new(0));
        let ringing = bell.clone();
        let change = Arc::new(move || {
            write_skill(&skills, &format!("new-{}", count.fetch_add(1, Ordering::Relaxed)));
            library.look();
            ringing.ring_for_skills();
        });
        let make = move |_| Fixtures {
            server: server(&visits).with_bell(bell.clone()),
            change: change.clone(),
        };
        let (stop, stopped) = oneshot::channel();
        let (told, address) = channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
                told.send(listener.local_addr().expect("an address")).expect("somebody waits");
                let stopped = async { drop(stopped.await) };
                http::serve(listener, options(), make, stopped).await.expect("it serves");
            });
        });
        let address = address.recv().expect("it listens");
        Self {
            address: proxy::add_header(address, &format!("Authorization: Bearer {TOKEN}")),
            stop: Some(stop),
            thread: Some(thread),
            _folder: folder,
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

/// The suite is a page of this machine, as far as its `Origin` says.
fn options() -> Options {
    Options {
        tokens: Tokens::parse(TOKEN).expect("a token"),
        hosts: Vec::new(),
        origins: vec!["http://127.0.0.1:*".into()],
        open_files: None,
    }
}

fn server(visits: &Arc<Visits>) -> Server {
    let key = WorkspaceKey {
        app: "test".into(),
        user: "ada".into(),
        session: "conformance".into(),
        generation: 0,
    };
    Server::new(Arc::new(Visit::new(Arc::clone(visits), key)))
}

fn visits(folder: &Path, library: Arc<Folders>) -> Visits {
    let place = |name: &str| folder.join(name);
    let firmness = Firmness::Confined;
    let workspaces = Workspaces::open(&place("workspaces"), &place("content")).expect("folders");
    Visits {
        agent: "default".into(),
        library,
        sessions: None,
        remembered_texts: TextMemory::default(),
        runner: Runner {
            redactor: metier_workspace::Redactor::default(),
            workspaces,
            artifacts: Arc::new(MemoryStore::new()),
            executor: LocalExecutor::Sandbox(firmness).into(),
        },
        host: None,
        restriction: Restriction::default(),
        load_before_run: true,
        max_body_tokens: 1000,
    }
}

fn write_skill(skills: &Path, name: &str) {
    let folder = skills.join(name);
    fs::create_dir_all(&folder).expect("the folder of a skill");
    let text = format!("---\nname: {name}\ndescription: Knows about {name}.\n---\n\n# {name}\n");
    fs::write(folder.join("SKILL.md"), text).expect("a skill");
}
