//! A server at an address of its own, and requests to it.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use metier_testkit::TestEnv;
use serde_json::Value;

use super::{VERSION, initialize};

/// The token of servers here.
pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, which is gone when this is.
pub(crate) struct Served {
    pub(super) child: Child,
    pub(crate) address: SocketAddr,
}

/// What it answered.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Served {
    /// Starts one with a token, for the skills of the project.
    pub(crate) fn start(env: &TestEnv, arguments: &[&str]) -> Self {
        Self::start_with(env, arguments, TOKEN)
    }

    /// The same with another token in the variable, or none.
    pub(super) fn start_with(env: &TestEnv, arguments: &[&str], token: &str) -> Self {
        let sources = ["--no-default-sources", "--skills-dir", "skills"];
        Self::spawn(env, &[&sources, arguments].concat(), token)
    }

    /// Starts one with a token, for the skills that are found by default.
    pub(crate) fn start_plain(env: &TestEnv, arguments: &[&str]) -> Self {
        Self::spawn(env, arguments, TOKEN)
    }

    fn spawn(env: &TestEnv, arguments: &[&str], token: &str) -> Self {
        let mut command = env.command(env.binary());
        command.args(["mcp", "--http", "127.0.0.1:0"]).args(arguments);
        command.env("METIER_MCP_TOKEN", token);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        let address = loop {
            let mut line = String::new();
            assert!(said.read_line(&mut line).expect("a line") > 0, "it ended early");
            if let Some(it) = line.trim().strip_prefix("listening at http://") {
                break it.strip_suffix("/mcp").expect("a path").parse().expect("an address");
            }
        };
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Self { child, address }
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// Sends bytes and reads all that comes back, until the connection is closed.
    pub(super) fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        // Whoever refuses early does not read the rest.
        let _refused = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _reset = stream.read_to_end(&mut answer);
        Reply::parse(&String::from_utf8_lossy(&answer))
    }

    /// A request with the headers that a good one has, and others instead or in addition.
    pub(super) fn head(&self, method: &str, headers: &[(&str, &str)]) -> String {
        let host = self.address.to_string();
        let usual = [
            ("Host", host.as_str()),
            ("Authorization", &format!("Bearer {TOKEN}")),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
            ("MCP-Protocol-Version", VERSION),
            ("Connection", "close"),
        ];
        let replaced = |name: &str| headers.iter().any(|(it, _)| it.eq_ignore_ascii_case(name));
        let usual = usual.iter().filter(|(name, _)| !replaced(name));
        let path = headers.iter().find(|(name, _)| *name == ":path").map_or("/mcp", |it| it.1);
        let given = headers.iter().filter(|(name, value)| *name != ":path" && !value.is_empty());
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in usual.chain(given) {
            head += &format!("{name}: {value}\r\n");
        }
        head
    }

    pub(super) fn send(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let head = self.head(method, headers);
        let mut bytes = format!("{head}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes)
    }

    /// Posts a message as part of a session, or of none.
    pub(super) fn post(&self, session: Option<&str>, message: &Value) -> Reply {
        let headers = session.map(|it| ("Mcp-Session-Id", it));
        self.send("POST", headers.as_slice(), message.to_string().as_bytes())
    }

    /// Posts a message of a session and does not wait for the answer.
    pub(super) fn begin(&self, session: &str, message: &Value) -> TcpStream {
        let mut stream = self.connect();
        let head = self.head("POST", &[("Mcp-Session-Id", session)]);
        let length = message.to_string().len();
        write!(stream, "{head}Content-Length: {length}\r\n\r\n{message}").expect("a request");
        stream
    }

    /// Opens a session.
    pub(super) fn open(&self) -> String {
        let mut message = initialize();
        message["params"]["protocolVersion"] = VERSION.into();
        let reply = self.post(None, &message);
        assert_eq!(reply.status, 200, "{reply}");
        reply.header("mcp-session-id").expect("an id").to_owned()
    }

    /// Fails unless the server answers a good request.
    pub(super) fn must_be_well(&self, session: &str) {
        let reply = self.post(Some(session), &super::request("well", "ping", &Value::Null));
        assert_eq!((reply.status, &reply.message()["id"]), (200, &"well".into()), "{reply}");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

impl Reply {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split_whitespace().nth(1).and_then(|it| it.parse().ok());
        let mut body = body.to_owned();
        if head.to_lowercase().contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        Self { status: status.unwrap_or(0), head: head.to_owned(), body }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (it, value) = line.split_once(':')?;
            it.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    /// The last message of the body.
    pub(super) fn message(&self) -> Value {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let last = data.map(str::trim).rfind(|it| !it.is_empty()).unwrap_or(&self.body);
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error} in {self}"))
    }

    /// The status and the code of the error of the last message.
    pub(super) fn refusal(&self) -> String {
        match serde_json::from_str::<Value>(&self.body) {
            Ok(message) => format!("{} {}", self.status, message["error"]["code"]),
            Err(_) if self.body.contains("\"error\"") => {
                format!("{} {}", self.status, self.message()["error"]["code"])
            }
            Err(_) => self.status.to_string(),
        }
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\n\n{}", self.head, self.body)
    }
}

fn unchunked(text: &str) -> String {
    let (mut rest, mut whole) = (text, String::new());
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0).min(after.len());
        let Some(chunk) = after.get(..size) else { break };
        whole += chunk;
        rest = after[size..].strip_prefix("\r\n").unwrap_or("");
    }
    whole
}
