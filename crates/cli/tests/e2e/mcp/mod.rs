//! `metier mcp` over standard input and output, as the programs that start it use it.

mod host;
mod servers;
mod trusted;
mod use_it;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use metier_testkit::TestEnv;
use serde_json::{Value, json};

/// Nothing takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client that started the server, and talks to it.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    last: u64,
    /// What it was told without having asked.
    heard: Vec<Value>,
    /// What it answers when the server asks the person.
    decision: &'static str,
    /// What the person was asked.
    asked: Vec<String>,
    /// What every request says of the client, where there is no session.
    about: Option<Value>,
}

impl Client {
    /// Starts the server and a session with it.
    fn start(env: &TestEnv, arguments: &str, capabilities: &Value) -> (Self, Value) {
        let mut client = Self::spawn(env, arguments);
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let told = client.ask("initialize", &params);
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        (client, told)
    }

    /// Starts the server, to ask it without a session.
    fn start_without_session(env: &TestEnv, arguments: &str, capabilities: &Value) -> Self {
        let about = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        Self { about: Some(about), ..Self::spawn(env, arguments) }
    }

    fn spawn(env: &TestEnv, arguments: &str) -> Self {
        let mut command = env.command(env.binary());
        command.arg("mcp").args(arguments.split_whitespace());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, messages) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message =
                    serde_json::from_str(&line).unwrap_or_else(|_| json!({ "not": line }));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self {
            child,
            input,
            messages,
            last: 0,
            heard: Vec::new(),
            decision: "deny",
            asked: Vec::new(),
            about: None,
        }
    }

    fn say(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("the input is open");
        writeln!(input, "{message}").and_then(|()| input.flush()).expect("the server reads");
    }

    fn hear(&mut self) -> Value {
        let message = self.messages.recv_timeout(PATIENCE).expect("the server says something");
        assert_eq!(message["jsonrpc"], "2.0", "only messages are printed: {message}");
        message
    }

    /// Asks and waits for the answer, and answers for the person meanwhile.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let (id, mut params) = (self.last, params.clone());
        if let Some(about) = &self.about {
            params["_meta"] = about.clone();
        }
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut message = self.hear();
            if message["method"] == "elicitation/create" {
                let text = message["params"]["message"].as_str().expect("a question");
                self.asked.push(text.to_owned());
                let content = json!({ "decision": self.decision });
                let result = json!({ "action": "accept", "content": content });
                self.say(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            } else if message["id"] == id && message.get("method").is_none() {
                let is_result = message.get("result").is_some();
                return message[if is_result { "result" } else { "error" }].take();
            } else {
                self.heard.push(message);
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Waits until it was told something.
    fn told(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.heard.iter().position(|it| it["method"] == method) {
                return self.heard.remove(at);
            }
            let message = self.hear();
            self.heard.push(message);
        }
    }

    /// Closes the input and waits for the end; what was said on standard error.
    fn end(mut self) -> String {
        self.input = None;
        let outcome = self.child.wait_with_output().expect("it ends");
        assert!(outcome.status.success(), "{outcome:?}");
        String::from_utf8(outcome.stderr).expect("text")
    }
}
