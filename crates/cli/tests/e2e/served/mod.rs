//! `metier mcp`, met by clients that are wrong, hostile, many or suddenly gone.
//!
//! Requests are written byte by byte, so that they can be as wrong as anybody could make them.

mod attacks;
mod gone;
pub(crate) mod http;
mod lines;
mod parallel;
mod pipes;
mod token;
mod tokens;

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The version that clients here speak unless they say otherwise.
const VERSION: &str = "2025-06-18";
/// The version without sessions.
const MODERN: &str = "2026-07-28";

/// A request.
fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// The request that opens a session.
fn initialize() -> Value {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client});
    request(0, "initialize", &params)
}

/// A call of a tool.
fn call(id: impl Into<Value>, tool: &str, arguments: &Value) -> Value {
    request(id, "tools/call", &json!({"name": tool, "arguments": arguments}))
}

/// A request as clients make it that have no session.
fn modern(request: &Value) -> Value {
    let mut request = request.clone();
    request["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request
}

/// A call that runs until somebody ends it, with a mark among the arguments of its processes.
fn run_sleeping(id: impl Into<Value>, mark: &str) -> Value {
    let command = format!("setsid sh -c 'sleep 300; :' {mark} & sh -c 'sleep 300; :' {mark}");
    call(id, "skill_run", &json!({"skill": "demo", "command": command}))
}

/// Sleeping processes that have a mark among their arguments.
fn processes_with(mark: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("processes").filter_map(Result::ok);
    let arguments = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let texts = arguments.map(|it| String::from_utf8_lossy(&it).replace('\0', " "));
    texts.filter(|it| it.starts_with("sh -c sleep") && it.contains(mark)).collect()
}

/// Waits until something holds; whether it came to.
fn wait_for(patience: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + patience;
    while !holds() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}
