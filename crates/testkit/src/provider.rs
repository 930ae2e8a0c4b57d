//! A provider of models on the loopback that says what a test wrote, in any of the formats that
//! providers speak, and remembers what it was asked.

use serde_json::{Value, json};

use crate::server::{Reply, Request, Server};

/// The format in which a provider is asked and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// OpenAI's chat completions.
    ChatCompletions,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

/// What a model says in one reply: words, calls, or both, perhaps after a thought.
#[derive(Clone, Debug, Default)]
pub struct Said {
    thought: String,
    text: String,
    calls: Vec<(String, String, Value)>,
    namespace: Option<String>,
}

/// A provider that plays replies.
#[derive(Debug)]
pub struct Provider {
    /// The format it speaks.
    pub wire: Wire,
    /// The server behind it.
    pub server: Server,
}

impl Said {
    /// Words.
    pub fn text(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// A call with an id of its own.
    pub fn call(id: &str, tool: &str, arguments: Value) -> Self {
        Self::default().and(id, tool, arguments)
    }

    /// The same after a thought, which the provider signs or encrypts where it does so.
    #[must_use]
    pub fn after(self, thought: &str) -> Self {
        Self { thought: thought.to_owned(), ..self }
    }

    /// The same with calls of tools that are in a namespace, where the format knows such.
    #[must_use]
    pub fn within(self, namespace: &str) -> Self {
        Self { namespace: Some(namespace.to_owned()), ..self }
    }

    /// The same with one more call.
    #[must_use]
    pub fn and(mut self, id: &str, tool: &str, arguments: Value) -> Self {
        self.calls.push((id.to_owned(), tool.to_owned(), arguments));
        self
    }
}

impl Provider {
    /// Starts a provider that refuses everything until it is told what to say.
    pub fn start(wire: Wire) -> Self {
        let provider = Self { wire, server: Server::start() };
        provider.says([]);
        provider
    }

    /// Says these next, and refuses whatever is asked after that.
    pub fn says(&self, replies: impl IntoIterator<Item = Said>) {
        self.answers(replies.into_iter().map(|said| self.wire.stream(&said)));
    }

    /// Answers like this next, and refuses whatever is asked after that.
    pub fn answers(&self, replies: impl IntoIterator<Item = Reply>) {
        let over = json!({ "error": { "message": "the test expects no request here" } });
        let over = Reply::ok(over.to_string()).code(400);
        self.server.replies(self.wire.path(), replies.into_iter().chain([over]));
    }

    /// The bodies of all requests so far.
    ///
    /// # Panics
    ///
    /// Panics if one is not text.
    pub fn bodies(&self) -> Vec<String> {
        let body = |it: Request| String::from_utf8(it.body).expect("a request is text");
        self.server.requests().into_iter().map(body).collect()
    }
}

impl Wire {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::ChatCompletions, Self::Responses, Self::Messages];

    /// What settings call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat_completions",
            Self::Responses => "responses",
            Self::Messages => "messages",
        }
    }

    /// Where it is asked.
    pub fn path(self) -> &'static str {
        match self {
            Self::ChatCompletions => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
        }
    }

    /// A reply as it comes over the wire, in pieces.
    pub fn stream(self, said: &Said) -> Reply {
        let events = match self {
            Self::ChatCompletions => chat(said),
            Self::Responses => responses(said),
            Self::Messages => messages(said),
        };
        let mut body: String = events.iter().map(event).collect();
        if self == Self::ChatCompletions {
            body.push_str("data: [DONE]\n\n");
        }
        let reply = Reply::ok(body).header("Content-Type", "text/event-stream");
        reply.trickle(256, std::time::Duration::ZERO)
    }
}

/// An event of a stream, with its name where it has one.
fn event(data: &Value) -> String {
    let name = data["type"].as_str().map(|name| format!("event: {name}\n"));
    format!("{}data: {data}\n\n", name.unwrap_or_default())
}

fn chat(said: &Said) -> Vec<Value> {
    let delta = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta }] });
    let mut events = Vec::new();
    if !said.thought.is_empty() {
        events.push(delta(json!({ "role": "assistant", "reasoning_content": said.thought })));
    }
    events.push(delta(json!({ "role": "assistant", "content": said.text })));
    for (index, (id, tool, arguments)) in said.calls.iter().enumerate() {
        let function = json!({ "name": tool, "arguments": arguments.to_string() });
        let call = json!({ "index": index, "id": id, "type": "function", "function": function });
        events.push(delta(json!({ "tool_calls": [call] })));
    }
    let finish = if said.calls.is_empty() { "stop" } else { "tool_calls" };
    events.push(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }] }));
    events
        .push(json!({ "choices": [], "usage": { "prompt_tokens": 700, "completion_tokens": 20 } }));
    events
}

fn responses(said: &Said) -> Vec<Value> {
    let mut events = vec![json!({ "type": "response.created", "response": { "id": "resp_1" } })];
    let mut items = Vec::new();
    if !said.thought.is_empty() {
        let summary = json!([{ "type": "summary_text", "text": said.thought }]);
        let item = json!({ "type": "reasoning", "id": "rs_1", "summary": summary,
            "encrypted_content": "gAAAAAB/+=" });
        events
            .push(json!({ "type": "response.output_item.done", "output_index": 0, "item": item }));
        items.push(item);
    }
    if !said.text.is_empty() {
        let at = items.len();
        let part = json!({ "type": "output_text", "text": said.text });
        let mut item = json!({ "type": "message", "role": "assistant", "content": [] });
        events.push(
            json!({ "type": "response.output_item.added", "output_index": at, "item": item }),
        );
        events.push(
            json!({ "type": "response.output_text.delta", "output_index": at, "delta": said.text }),
        );
        item["content"] = json!([part]);
        events
            .push(json!({ "type": "response.output_item.done", "output_index": at, "item": item }));
        items.push(item);
    }
    for (id, tool, arguments) in &said.calls {
        let at = items.len();
        let mut item =
            json!({ "type": "function_call", "call_id": id, "name": tool, "arguments": "" });
        if let Some(namespace) = &said.namespace {
            item["namespace"] = json!(namespace);
        }
        events.push(
            json!({ "type": "response.output_item.added", "output_index": at, "item": item }),
        );
        item["arguments"] = json!(arguments.to_string());
        events
            .push(json!({ "type": "response.output_item.done", "output_index": at, "item": item }));
        items.push(item);
    }
    let usage = json!({ "input_tokens": 700, "output_tokens": 20, "total_tokens": 720 });
    let response =
        json!({ "id": "resp_1", "status": "completed", "output": items, "usage": usage });
    events.push(json!({ "type": "response.completed", "response": response }));
    events
}

fn messages(said: &Said) -> Vec<Value> {
    let usage = json!({ "input_tokens": 700, "output_tokens": 1 });
    let mut events =
        vec![json!({ "type": "message_start", "message": { "id": "msg_1", "usage": usage } })];
    let mut at = 0;
    let mut block = |start: Value, deltas: &[Value]| {
        events.push(json!({ "type": "content_block_start", "index": at, "content_block": start }));
        for delta in deltas {
            events.push(json!({ "type": "content_block_delta", "index": at, "delta": delta }));
        }
        events.push(json!({ "type": "content_block_stop", "index": at }));
        at += 1;
    };
    if !said.thought.is_empty() {
        let deltas = [
            json!({ "type": "thinking_delta", "thinking": said.thought }),
            json!({ "type": "signature_delta", "signature": "EqQBCgIYAh/+==" }),
        ];
        block(json!({ "type": "thinking", "thinking": "" }), &deltas);
    }
    if !said.text.is_empty() {
        let delta = json!({ "type": "text_delta", "text": said.text });
        block(json!({ "type": "text", "text": "" }), &[delta]);
    }
    for (id, tool, arguments) in &said.calls {
        let delta = json!({ "type": "input_json_delta", "partial_json": arguments.to_string() });
        block(json!({ "type": "tool_use", "id": id, "name": tool, "input": {} }), &[delta]);
    }
    let reason = if said.calls.is_empty() { "end_turn" } else { "tool_use" };
    let usage = json!({ "output_tokens": 20 });
    events.push(
        json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": usage }),
    );
    events.push(json!({ "type": "message_stop" }));
    events
}
