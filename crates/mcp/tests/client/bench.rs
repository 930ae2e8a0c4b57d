//! Servers for tests, and a client with short timeouts.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use libtest_mimic::Failed;
use metier_mcp::{
    McpCallProgress, McpClientError, McpClientOptions, McpConnection, McpServerAddress,
    McpTimeouts, McpToolResult, McpTransport,
};
use metier_net::{Client, ClientOptions};
use serde_json::{Map, Value, json};

const SERVER: &str = include_str!("server.py");

/// Something that holds.
pub(crate) type Promise = (&'static str, fn() -> Result<(), Failed>);

/// Runs a test that waits.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(future)
}

/// Short timeouts, long enough for a busy machine.
pub(crate) fn options() -> McpClientOptions {
    let timeouts = McpTimeouts {
        open: Duration::from_secs(20),
        answer: Duration::from_secs(10),
        call: Duration::from_secs(20),
    };
    McpClientOptions { http: Client::new(&ClientOptions::STANDARD).expect("a client"), timeouts }
}

/// Shorter timeouts, for servers that do not answer.
pub(crate) fn hurried() -> McpClientOptions {
    let timeouts = McpTimeouts {
        open: Duration::from_secs(4),
        answer: Duration::from_secs(1),
        call: Duration::from_secs(1),
    };
    McpClientOptions { timeouts, ..options() }
}

/// A program as a server.
pub(crate) fn program<const N: usize>(arguments: [&str; N]) -> McpServerAddress {
    let transport = McpTransport::Command {
        arguments: arguments.map(str::to_owned).into(),
        variables: vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())],
        directory: "/".into(),
    };
    McpServerAddress { name: "tester".to_owned(), transport }
}

/// A shell script as a server.
pub(crate) fn script(text: &str) -> McpServerAddress {
    program(["sh", "-c", text])
}

/// The server of the tests over pipes, changed by some code.
pub(crate) fn over_pipes(changes: &str) -> McpServerAddress {
    program(["python3", "-c", &format!("{SERVER}\n{changes}\nover_pipes()\n")])
}

/// The server of the tests over HTTP. It ends with this.
pub(crate) struct Web {
    process: Child,
    address: String,
}

impl Web {
    #[expect(clippy::disallowed_methods, reason = "the server is not ours")]
    pub(crate) fn start(changes: &str) -> Self {
        let code = format!("{SERVER}\n{changes}\nover_http()\n");
        let mut process = Command::new("python3")
            .args(["-c", &code])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        let mut port = String::new();
        let output = process.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut port).expect("a port");
        Self { process, address: format!("http://127.0.0.1:{}", port.trim()) }
    }

    /// The server, and headers for it.
    pub(crate) fn peer(&self, headers: &[(&str, &str)]) -> McpServerAddress {
        at(&format!("{}/mcp", self.address), headers)
    }

    /// What the server was asked, a line each: the verb, the method, and some headers.
    pub(crate) async fn asked(&self, headers: &[&str]) -> Vec<String> {
        let url = format!("{}/asked", self.address);
        let request = metier_net::BareRequest {
            url: &url,
            headers: &[],
            idle_timeout: Duration::from_secs(10),
            max_bytes: 1 << 20,
        };
        let answer = options().http.get(request).await.expect("an answer");
        let asked: Vec<(String, Value, Map<String, Value>)> =
            serde_json::from_slice(&answer.beginning(1 << 20).await).expect("a list");
        let line = |(verb, method, sent): (String, Value, Map<String, Value>)| {
            let sent = |name: &&str| {
                let found = sent.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
                found.map_or("-".to_owned(), |(_, value)| value.as_str().unwrap_or("?").to_owned())
            };
            let sent: Vec<String> = headers.iter().map(sent).collect();
            format!("{verb} {} {}", method.as_str().unwrap_or("-"), sent.join(" "))
        };
        asked.into_iter().map(line).collect()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _status = self.process.wait();
    }
}

/// A server at an address.
pub(crate) fn at(url: &str, headers: &[(&str, &str)]) -> McpServerAddress {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let headers = headers.iter().map(pair).collect();
    McpServerAddress {
        name: "tester".to_owned(),
        transport: McpTransport::Http { url: url.to_owned(), headers },
    }
}

/// Changes by which a server answers calls when it likes, with what it was given.
pub(crate) const SLOWLY: &str = r#"
import random

def call(request, say):
    time.sleep(random.random() / 10)
    return result(request, {"content": [{"type": "text", "text": str(request["params"]["arguments"]["value"])}]})
"#;

/// Calls a server that answers [`SLOWLY`] many times at once; each call gets its own answer.
pub(crate) async fn many_calls(peer: &McpServerAddress) -> Result<(), Failed> {
    let connection = McpConnection::open(peer, &options()).await?;
    let calls = (0..100).map(|number| echo(&connection, json!(number)));
    let replies = futures_util::future::join_all(calls).await;
    for (number, reply) in replies.into_iter().enumerate() {
        same(reply?.text, number.to_string())?;
    }
    connection.close().await;
    Ok(())
}

/// Calls a tool with one argument, and never stops.
pub(crate) async fn echo(
    connection: &McpConnection,
    value: Value,
) -> Result<McpToolResult, McpClientError> {
    call(connection, "echo", value, std::future::pending()).await
}

/// Calls a tool with one argument until it is stopped.
pub(crate) async fn call(
    connection: &McpConnection,
    tool: &str,
    value: Value,
    stopped: impl Future<Output = ()> + Send,
) -> Result<McpToolResult, McpClientError> {
    let arguments = Map::from_iter([("value".to_owned(), value)]);
    connection.call(tool, arguments, stopped, &mut |_progress: McpCallProgress| {}).await
}

/// Why there is no connection, with causes.
pub(crate) async fn refusal(peer: &McpServerAddress, options: &McpClientOptions) -> String {
    match McpConnection::open(peer, options).await {
        Ok(connection) => {
            let shown = format!("connected to {:?}", connection.server());
            connection.close().await;
            shown
        }
        Err(error) => causes(&error),
    }
}

/// An error with its causes.
pub(crate) fn causes(error: &McpClientError) -> String {
    let mut shown = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        shown = format!("{shown}: {error}");
        cause = error.source();
    }
    shown
}

/// Fails with what is and what should be.
#[expect(clippy::needless_pass_by_value, reason = "calls are shorter so")]
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(is: T, should: T) -> Result<(), Failed> {
    if is == should { Ok(()) } else { Err(format!("{is:#?}\nshould be\n{should:#?}").into()) }
}

/// Fails unless a text has a part.
pub(crate) fn has(text: &str, part: &str) -> Result<(), Failed> {
    if text.contains(part) { Ok(()) } else { Err(format!("`{text}` should have `{part}`").into()) }
}
