//! Replays a recorded answer and renders the reply.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use metier_model::{
    Format, Message, Model, ModelError, ModelSettings, Provider, Replies, Reply, ReplyEvent,
    ReplyPart, Request, Retries, Secret, ToolSpec, open,
};
use metier_testkit::server::{self, Server};

/// The folders of recorded answers, and the format of each.
pub(crate) const FOLDERS: [(&str, Format); 3] = [
    ("chat", Format::ChatCompletions),
    ("responses", Format::Responses),
    ("messages", Format::Messages),
];

pub(crate) const KEY: &str = "sk-loopback-secret";

/// The path at which a format is served.
pub(crate) fn path(format: Format) -> &'static str {
    match format {
        Format::Responses => "/v1/responses",
        Format::Messages => "/v1/messages",
        _ => "/v1/chat/completions",
    }
}

/// A provider of this format at the server, with a key.
pub(crate) fn provider(server: &Server, format: Format) -> Provider {
    let provider = match format {
        Format::Messages => Provider::anthropic(Some(Secret::new(KEY))),
        format => Provider::openai(format, Some(Secret::new(KEY))),
    };
    Provider { base_url: server.url(""), ..provider }
}

/// Settings that wait for hardly anything.
pub(crate) fn settings(provider: Provider) -> ModelSettings {
    let instant = Duration::from_millis(1);
    let retries =
        Retries { attempts: 3, first_wait: instant, longest_wait: instant, ..Retries::STANDARD };
    ModelSettings { retries, ..ModelSettings::new([("p".to_owned(), provider)]) }
}

pub(crate) fn model(server: &Server, format: Format) -> Arc<dyn Model> {
    open("p/some-model", &settings(provider(server, format))).unwrap()
}

/// A request with tools, to which all recorded answers fit.
pub(crate) fn request() -> Request {
    let tools = ["skill_load", "skill_list", "skill_run", "read_file"].map(|name| ToolSpec {
        name: name.to_owned(),
        description: format!("About {name}."),
        schema: serde_json::json!({"type": "object", "properties": {"skill": {"type": "string"}}}),
    });
    Request { messages: vec![Message::user("hi")], tools: tools.into(), ..Request::default() }
}

/// A recorded answer.
pub(crate) fn recorded(name: &str) -> server::Reply {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let kind = if name.ends_with(".sse") { "text/event-stream" } else { "application/json" };
    server::Reply::ok(std::fs::read(file).unwrap()).header("Content-Type", kind)
}

/// The events and the reply that a recorded answer gives, whatever the pieces it comes in.
pub(crate) fn replay(name: &str) -> String {
    let is_in = |(folder, _): &&(&str, Format)| name.split('/').next() == Some(folder);
    let format = FOLDERS.iter().find(is_in).unwrap().1;
    let split = |size: usize| {
        let server = Server::start();
        server.reply(path(format), recorded(name).trickle(size, Duration::ZERO));
        block_on(async { story(model(&server, format).stream(&request()).await.unwrap()).await })
            .replace(server.url("").trim_start_matches("http://"), "server")
    };
    let whole = split(1 << 20);
    // Within characters, and somewhere within lines.
    for size in [3, 101] {
        assert_eq!(split(size), whole, "in pieces of {size}");
    }
    whole
}

/// All that happens, a line each.
pub(crate) async fn story(mut replies: Replies) -> String {
    let mut lines = String::new();
    while let Some(event) = replies.next().await {
        match event {
            Ok(ReplyEvent::Text(text)) => writeln!(lines, "+ text {text:?}"),
            Ok(ReplyEvent::Reasoning(text)) => writeln!(lines, "+ thought {text:?}"),
            Ok(ReplyEvent::CallBegun { index, id, name }) => {
                writeln!(lines, "+ call {index} {id} {name}")
            }
            Ok(ReplyEvent::CallArguments { index, text }) => {
                writeln!(lines, "+ arguments {index} {text}")
            }
            Ok(ReplyEvent::Retrying { cause, .. }) => writeln!(lines, "+ again: {cause}"),
            Ok(ReplyEvent::Usage(_)) => Ok(()),
            Ok(ReplyEvent::Done(reply)) => write!(lines, "{}", whole(&reply)),
            Ok(other) => writeln!(lines, "+ {other:?}"),
            Err(error) => writeln!(lines, "error: {}", chain(&error)),
        }
        .unwrap();
    }
    lines
}

fn whole(reply: &Reply) -> String {
    let mut lines = String::new();
    for part in &reply.parts {
        match part {
            ReplyPart::Text(text) => writeln!(lines, "text {text:?}"),
            ReplyPart::Call { id, name, arguments } => {
                writeln!(lines, "call {id} {name} {arguments}")
            }
            ReplyPart::Reasoning { text, opaque } => {
                let json = opaque.as_ref().map_or("-", |opaque| opaque.json.as_str());
                writeln!(lines, "thought {text:?} {json}")
            }
            other => writeln!(lines, "{other:?}"),
        }
        .unwrap();
    }
    let usage = reply.usage;
    writeln!(
        lines,
        "stop {:?}; tokens in {} (cached {}, written {}) out {} (thought {}); {} {}",
        reply.stop,
        usage.input,
        usage.cached_input,
        usage.cache_write,
        usage.output,
        usage.reasoning,
        reply.request_id.as_deref().unwrap_or("-"),
        reply.model.as_deref().unwrap_or("-"),
    )
    .unwrap();
    lines
}

/// An error and those of our own crates below it; the key is in none.
pub(crate) fn chain(error: &ModelError) -> String {
    assert!(!format!("{error:?}").contains(KEY), "{error:?}");
    let mut text = error.to_string();
    if let Some(source) = std::error::Error::source(error) {
        assert!(!source.to_string().contains(KEY));
        write!(text, ": {source}").unwrap();
    }
    text
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
