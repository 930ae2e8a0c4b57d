//! `metier mcp`, met by clients that are wrong, hostile, many or suddenly gone.
//!
//! Requests are written byte by byte, so that they can be as wrong as anybody could make them.

mod attacks;
mod http;
mod lines;
mod token;

use serde_json::{Value, json};

/// The version that clients here speak unless they say otherwise.
const VERSION: &str = "2025-06-18";

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
