//! A server with skills of its own, and a client that speaks to it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use metier_agent::Folders;
use metier_agent::texts::TextMemory;
use metier_agent::tools::Restriction;
use metier_agent::visit::{Visit, Visits};
use metier_serve::mcp::Server;
use metier_serve::mcp::server::Bell;
use metier_workspace::artifact::MemoryStore;
use metier_workspace::executor::{Firmness, LocalExecutor};
use metier_workspace::{Runner, WorkspaceKey, Workspaces};
use rmcp::service::ServerInitializeError;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

/// The version that has no sessions.
pub(crate) const NEW: &str = "2026-07-28";
/// The newest version that has.
pub(crate) const OLD: &str = "2025-11-25";
/// Nothing takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whatever is told without delay is told by then.
const MOMENT: Duration = Duration::from_millis(500);

/// Skills, and what runs them.
pub(crate) struct Bench {
    folder: TempDir,
    pub(crate) skills: Arc<Folders>,
    pub(crate) bell: Bell,
}

impl Bench {
    /// With two skills: `pdf` with files, and `charts` for people only.
    pub(crate) fn new() -> Self {
        let bench = Self::empty();
        bench.skill("pdf", "Reads PDF files.", "Run `scripts/pages`.");
        bench.write("pdf/forms.md", "How to fill in forms.\n");
        bench.write("pdf/data/tables/one.csv", "a,b\n1,2\n");
        bench.write("pdf/data/logo.png", b"\x89PNG\r\n\x1a\n\0\0");
        bench.write("pdf/scripts/pages", "#!/bin/sh\necho 3 pages\n");
        bench.write(
            "charts/SKILL.md",
            "---\nname: charts\ndescription: Draws charts.\ndisable-model-invocation: true\n\
             argument-hint: \"<file> [bar|line]\"\n---\n\nDraw with care.\n",
        );
        bench.skills.look();
        bench
    }

    pub(crate) fn empty() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("skills")).unwrap();
        let skills = Arc::new(Folders::new([folder.path().join("skills")]));
        Self { folder, skills, bell: Bell::default() }
    }

    /// Writes a file below the skills.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Where a file below the skills is.
    pub(crate) fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join("skills").join(path)
    }

    /// How many files of skills were copied to where commands see them.
    pub(crate) fn copies(&self) -> usize {
        fn files_in(folder: &Path) -> usize {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|it| if it.path().is_dir() { files_in(&it.path()) } else { 1 }).sum()
        }
        files_in(&self.folder.path().join("content"))
    }

    /// Writes a skill.
    pub(crate) fn skill(&self, name: &str, description: &str, body: &str) {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n\n{body}\n");
        self.write(&format!("{name}/SKILL.md"), text);
    }

    /// Looks at the skills again and says so.
    pub(crate) fn look(&self) {
        self.skills.look();
        self.bell.ring_for_skills();
    }

    fn visit(&self) -> Visit {
        let place = |name: &str| self.folder.path().join(name);
        let workspaces = Workspaces::open(&place("workspaces"), &place("content")).unwrap();
        let visits = Visits {
            agent: "default".to_owned(),
            library: Arc::<Folders>::clone(&self.skills),
            sessions: None,
            remembered_texts: TextMemory::default(),
            runner: Runner {
                redactor: metier_workspace::Redactor::default(),
                workspaces,
                artifacts: Arc::new(MemoryStore::new()),
                executor: LocalExecutor::Sandbox(Firmness::Confined).into(),
            },
            host: None,
            restriction: Restriction::default(),
            load_before_run: false,
            max_body_tokens: 25_000,
        };
        let key = WorkspaceKey {
            app: "test".to_owned(),
            user: "ada".to_owned(),
            session: "one".to_owned(),
            generation: 0,
        };
        Visit::new(Arc::new(visits), key)
    }

    /// Has a client of a version talk to a server.
    pub(crate) fn talk<T>(&self, version: &str, talk: impl AsyncFnOnce(&mut Client) -> T) -> T {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(async {
            let server = Server::new(Arc::new(self.visit())).with_bell(self.bell.clone());
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            let serving = tokio::spawn(async move {
                match rmcp::serve_server(server, tokio::io::split(theirs)).await {
                    Ok(running) => drop(running.waiting().await.unwrap()),
                    // It asked what there is and left.
                    Err(ServerInitializeError::ConnectionClosed(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            });
            let (reader, writer) = tokio::io::split(ours);
            let mut client = Client {
                lines: BufReader::new(reader).lines(),
                writer,
                version: version.to_owned(),
                last: 0,
                heard: Vec::new(),
            };
            client.begin().await;
            let done = tokio::time::timeout(PATIENCE, talk(&mut client)).await;
            let done = done.expect("it is done in time");
            drop(client);
            serving.await.unwrap();
            done
        })
    }
}

/// A client that speaks line by line.
pub(crate) struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    version: String,
    last: u64,
    /// What it was told without having asked.
    pub(crate) heard: Vec<Value>,
}

impl Client {
    async fn begin(&mut self) {
        if self.version == NEW {
            return;
        }
        let params = json!({
            "protocolVersion": self.version,
            "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "test", "version": "1" },
        });
        self.ask("initialize", params).await;
        self.say(json!({ "method": "notifications/initialized" })).await;
    }

    /// Sends a message.
    pub(crate) async fn say(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    /// Sends a request; gives its number.
    pub(crate) async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.last += 1;
        if self.version == NEW {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = NEW.into();
            params["_meta"]["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "test", "version": "1" });
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        self.say(json!({ "id": self.last, "method": method, "params": params })).await;
        self.last
    }

    /// The next message.
    pub(crate) async fn hear(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().expect("the server is there");
        serde_json::from_str(&line).expect("a line is a message")
    }

    /// Waits for the answer to a request: its result, or its error.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let mut message = self.hear().await;
            if message["id"] == id && message.get("method").is_none() {
                let is_result = message.get("result").is_some();
                return message[if is_result { "result" } else { "error" }].take();
            }
            self.heard.push(message);
        }
    }

    /// Asks and waits for the answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.answer(id).await
    }

    /// Waits for a moment, and takes what it is told meanwhile.
    pub(crate) async fn pause(&mut self) {
        while let Ok(message) = tokio::time::timeout(MOMENT, self.hear()).await {
            self.heard.push(message);
        }
    }

    /// Waits until it was told something, and gives it.
    pub(crate) async fn told(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.heard.iter().position(|it| it["method"] == method) {
                return self.heard.remove(at);
            }
            let message = self.hear().await;
            self.heard.push(message);
        }
    }
}
