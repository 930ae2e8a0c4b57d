//! A server of skills that tells and gives what a test wants, and notes what it is asked for.
//!
//! It answers requests over HTTP with one JSON message each, which is all that the protocol asks of the simplest server.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A running server.
pub(crate) struct Liar {
    address: SocketAddr,
    shared: Arc<Mutex<State>>,
    serving: Option<JoinHandle<()>>,
}

#[derive(Default)]
pub(crate) struct State {
    /// What it lists.
    pub(crate) skills: Vec<Value>,
    /// What it gives, by address.
    pub(crate) files: BTreeMap<String, String>,
    /// What it was asked for: methods, and addresses of files.
    pub(crate) asked: Vec<String>,
    /// What the methods begin with that it does not answer.
    pub(crate) silent: Option<&'static str>,
    is_stopping: bool,
}

impl Liar {
    /// Starts a server without skills.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Mutex::new(State::default()));
        let state = Arc::clone(&shared);
        let serving = std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if lock(&state).is_stopping {
                    return;
                }
                let state = Arc::clone(&state);
                // A client that hangs up is none of its business.
                std::thread::spawn(move || drop(serve(&connection, &state)));
            }
        });
        Self { address, shared, serving: Some(serving) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.shared)
    }

    /// How often its skills were asked for.
    pub(crate) fn lists(&self) -> usize {
        self.state().asked.iter().filter(|it| *it == "skills/list").count()
    }

    /// The files that were asked for.
    pub(crate) fn reads(&self) -> usize {
        self.state().asked.iter().filter(|it| it.starts_with("read ")).count()
    }

    /// Offers a skill honestly: these files, and the header as it is.
    pub(crate) fn offer(&self, name: &str, files: &[(&str, &str)]) {
        let uri = |path: &str| format!("skill://{name}/{path}");
        let told: Vec<Value> = files.iter().map(|(path, text)| file(&uri(path), text)).collect();
        let skill = json!({
            "uri": uri("SKILL.md"),
            "frontmatter": { "name": name, "description": "Ships. Use when asked." },
            "resources": told,
        });
        let mut state = self.state();
        state.skills.retain(|it| it["uri"] != skill["uri"]);
        state.skills.push(skill);
        state.files.extend(files.iter().map(|(path, text)| (uri(path), (*text).to_owned())));
    }
}

impl State {
    fn keeps_silent(&self, method: &str) -> bool {
        !self.is_stopping && self.silent.is_some_and(|silent| method.starts_with(silent))
    }
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.state().is_stopping = true;
        // Wakes the thread that waits for the next connection.
        let _ignored = TcpStream::connect(self.address);
        if let Some(serving) = self.serving.take() {
            let _ignored = serving.join();
        }
    }
}

/// A file as it is listed.
pub(crate) fn file(uri: &str, text: &str) -> Value {
    let digest: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ "uri": uri, "digest": format!("sha256:{digest}"), "size": text.len() })
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn serve(connection: &TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    let reply = match serde_json::from_slice::<Value>(&body) {
        Ok(message) if first.starts_with("POST") => {
            let reply = answer(&message, &mut lock(state));
            let method = message["method"].as_str().unwrap_or_default();
            while lock(state).keeps_silent(method) {
                std::thread::sleep(Duration::from_millis(20));
            }
            reply
        }
        _ => None,
    };
    let mut connection = connection;
    let (status, body) = match (reply, first.starts_with("POST")) {
        (Some(reply), _) => ("200 OK", reply.to_string()),
        (None, true) => ("202 Accepted", String::new()),
        (None, false) => ("405 Method Not Allowed", String::new()),
    };
    let length = body.len();
    write!(
        connection,
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

fn answer(message: &Value, state: &mut State) -> Option<Value> {
    let id = message.get("id")?;
    let method = message["method"].as_str().unwrap_or_default();
    let uri = message["params"]["uri"].as_str().unwrap_or_default();
    state.asked.push(match method {
        "resources/read" => format!("read {uri}"),
        _ => method.to_owned(),
    });
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "resources": {}, "extensions": { "io.modelcontextprotocol/skills": {} } },
            "serverInfo": { "name": "liar", "version": "1" },
        }),
        "skills/list" => {
            json!({ "resultType": "complete", "skills": state.skills, "ttlMs": 0, "cacheScope": "private" })
        }
        "resources/read" if state.files.contains_key(uri) => {
            json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": state.files[uri] }] })
        }
        "ping" => json!({}),
        "resources/read" => return Some(refusal(id, -32602)),
        _ => return Some(refusal(id, -32601)),
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn refusal(id: &Value, code: i32) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "no" } })
}
