//! Tools that the program brings itself.
//!
//! They are code of whoever wrote the program, so nobody is asked before a call: whatever should be asked about
//! belongs into the tool. What a session is told of them is settled when it begins, as for all other tools.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use metier_model::ToolSpec;
use metier_session::{Opening, SessionKey};
use serde_json::{Map, Value};
use thiserror::Error;

use super::specs::name;
use super::{Answer, ToolCallError, ToolResult, bounded_text};
use crate::foreign::is_foreign;
use crate::prompt::tools_of;
use crate::stop::{Stop, TurnStopped};

/// Most tools of a program; providers refuse requests with some more.
pub const MAX_OWN_TOOLS: usize = 100;
/// Longest name of a tool, as providers have it.
const MAX_NAME: usize = 64;
/// Longest result that is kept, in bytes of its JSON. The model reads the text, which is shorter.
const MAX_STRUCTURED: usize = 1 << 20;

/// A tool of the program that has the agent: what a model is told of it, and the code behind it.
///
/// Programs implement it and put it into [`Agent::tools`](crate::Agent::tools). What it must uphold:
///
/// - It judges its arguments, which a model wrote. What is wrong with them is an [`Answer::error`] that says how
///   to call it right.
/// - It asks whoever has to be asked. **No gate is before it**: approvals are for commands on the host and for tools of
///   other servers, and this is the program's own code, with all rights of the program.
/// - A call does not block its thread, since calls of one reply run beside each other. When the turn is stopped the
///   future is dropped, and whatever it began ends with it.
///
/// Of an answer `text`, `is_error` and the JSON of `result` are kept, up to a length; the rest is for tools of this crate.
///
/// ```
/// use async_trait::async_trait;
/// use metier_agent::tools::{Answer, Tool, ToolCall};
/// use metier_model::ToolSpec;
/// use serde_json::{Value, json};
///
/// /// Knows what is in stock.
/// #[derive(Debug)]
/// struct Stock;
///
/// #[async_trait]
/// impl Tool for Stock {
///     fn spec(&self) -> ToolSpec {
///         ToolSpec {
///             name: "stock".to_owned(),
///             description: "How many of an article are in stock.".to_owned(),
///             schema: json!({
///                 "type": "object",
///                 "properties": { "article": { "type": "string" } },
///                 "required": ["article"],
///             }),
///         }
///     }
///
///     async fn call(&self, call: ToolCall<'_>) -> Answer {
///         match call.arguments.get("article").and_then(Value::as_str) {
///             Some("anvil") => Answer::text("3"),
///             Some(_) => Answer::text("0"),
///             None => Answer::error("`article` is missing; name one"),
///         }
///     }
/// }
///
/// // An agent calls it once it is in `agent.tools`; a test can do so as well.
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let session = metier_session::SessionKey::new("shop", "ada", "monday")?;
/// let arguments = json!({ "article": "anvil" });
/// let call = ToolCall::new(arguments.as_object().unwrap(), &session);
/// assert_eq!(Stock.call(call).await.text, "3");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Tool: fmt::Debug + Send + Sync {
    /// What a model is told of it. It must be the same each time; a session keeps what it was when it began.
    fn spec(&self) -> ToolSpec;

    /// Answers a call. What goes wrong is an answer as well.
    async fn call(&self, call: ToolCall<'_>) -> Answer;
}

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolCall<'a> {
    /// What the model wrote. Nobody has held it against the schema.
    pub arguments: &'a Map<String, Value>,
    /// The session in which it is called.
    pub session: &'a SessionKey,
    /// The id of the call.
    pub id: &'a str,
}

impl<'a> ToolCall<'a> {
    /// A call without an id, for programs that test their tools.
    pub fn new(arguments: &'a Map<String, Value>, session: &'a SessionKey) -> Self {
        Self { arguments, session, id: "" }
    }
}

/// Why a tool of the program cannot be offered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ToolError {
    /// Providers take no such name.
    #[error("`{0}` cannot be the name of a tool; use 1 to 64 letters, digits, `_` and `-`")]
    Name(String),
    /// It would hide a tool of this crate.
    #[error("`{0}` is the name of a tool that the agent has itself; choose another")]
    BuiltIn(String),
    /// It looks like a tool of another server.
    #[error("`{0}` has `__` in it, as names of tools of other servers have; choose another")]
    Foreign(String),
    /// Two tools have one name.
    #[error("two tools have the name `{0}`; leave one of them out or rename it")]
    Twice(String),
    /// Arguments of tools are objects.
    #[error(
        "the schema of the tool `{0}` is not that of an object; give it `\"type\": \"object\"`"
    )]
    Schema(String),
    /// There are more than a model is given.
    #[error("the program has {count} tools, and at most {limit} are offered", limit = MAX_OWN_TOOLS)]
    TooMany {
        /// How many.
        count: usize,
    },
}

/// What a model is told of the tools of a program, if all of them can be offered.
pub(crate) fn specs_of(tools: &[Arc<dyn Tool>]) -> Result<Vec<ToolSpec>, ToolError> {
    if tools.len() > MAX_OWN_TOOLS {
        return Err(ToolError::TooMany { count: tools.len() });
    }
    let mut specs: Vec<ToolSpec> = Vec::new();
    for spec in tools.iter().map(|tool| tool.spec()) {
        if specs.iter().any(|other| other.name == spec.name) {
            return Err(ToolError::Twice(spec.name));
        }
        specs.push(judged(spec)?);
    }
    Ok(specs)
}

fn judged(spec: ToolSpec) -> Result<ToolSpec, ToolError> {
    let is_tame = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let name = &spec.name;
    if !(1..=MAX_NAME).contains(&name.len()) || !name.bytes().all(is_tame) {
        let shown = name.chars().take(MAX_NAME).flat_map(char::escape_debug).collect();
        return Err(ToolError::Name(shown));
    }
    if name::ALL.contains(&name.as_str()) {
        return Err(ToolError::BuiltIn(spec.name));
    }
    if is_foreign(name) {
        return Err(ToolError::Foreign(spec.name));
    }
    if spec.schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(ToolError::Schema(spec.name));
    }
    Ok(spec)
}

/// Adds tools of a program to what a session begins with.
pub(crate) fn add_to(opening: &mut Opening, specs: Vec<ToolSpec>) {
    if specs.is_empty() {
        return;
    }
    let mut tools = tools_of(opening);
    tools.extend(specs);
    opening.tools = serde_json::to_string(&tools).unwrap_or_default();
}

/// The tool of a program that has a name.
///
/// # Errors
///
/// When the session began with such a tool and the program no longer has it.
pub(crate) fn find(tools: &[Arc<dyn Tool>], name: &str) -> Result<Arc<dyn Tool>, ToolCallError> {
    let found = tools.iter().find(|tool| tool.spec().name == name).map(Arc::clone);
    found.ok_or_else(|| ToolCallError::Withdrawn { tool: name.to_owned() })
}

/// Makes a call, unless the turn is stopped before it is answered.
pub(crate) async fn call(tool: &dyn Tool, call: ToolCall<'_>, stop: &Stop) -> Answer {
    tokio::select! {
        biased;
        () = stop.stopped() => ToolCallError::from(TurnStopped).into(),
        answer = tool.call(call) => bounded(answer),
    }
}

/// What is kept of the answer of a tool.
fn bounded(answer: Answer) -> Answer {
    let structured = answer.structured();
    let is_kept = !structured.is_null() && structured.to_string().len() <= MAX_STRUCTURED;
    // Results of other types are those of tools of this crate.
    let result = if is_kept { ToolResult::Other(structured) } else { ToolResult::Text };
    Answer {
        text: bounded_text(answer.text),
        is_error: answer.is_error,
        result,
        ..Answer::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A tool that has nothing but a name and a schema.
    #[derive(Debug)]
    struct Named(&'static str, Value);

    #[async_trait]
    impl Tool for Named {
        fn spec(&self) -> ToolSpec {
            let (name, description) = (self.0.to_owned(), "Does nothing.".to_owned());
            ToolSpec { name, description, schema: self.1.clone() }
        }

        async fn call(&self, _: ToolCall<'_>) -> Answer {
            Answer::default()
        }
    }

    fn outcome(tools: &[(&'static str, Value)]) -> String {
        let named = tools.iter().cloned().map(|(name, schema)| Named(name, schema));
        let tools: Vec<Arc<dyn Tool>> = named.map(|it| Arc::new(it) as Arc<dyn Tool>).collect();
        match specs_of(&tools) {
            Ok(specs) => specs.iter().map(|spec| spec.name.as_str()).collect(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn names_that_would_be_confused_are_refused() {
        let object = || json!({ "type": "object" });
        let one = |name| outcome(&[(name, object())]);
        let cases = [
            one("stock-2_b"),
            one(""),
            one("two words"),
            one("tool\u{1b}"),
            one("exec"),
            one("skill_run"),
            one("shop__stock"),
            outcome(&[("stock", object()), ("stock", object())]),
            outcome(&[("stock", json!({ "type": "string" }))]),
            outcome(&[("stock", json!(true))]),
            outcome(&vec![("stock", object()); MAX_OWN_TOOLS + 1]),
        ];
        insta::assert_snapshot!(cases.join("\n"), @r#"
        stock-2_b
        `` cannot be the name of a tool; use 1 to 64 letters, digits, `_` and `-`
        `two words` cannot be the name of a tool; use 1 to 64 letters, digits, `_` and `-`
        `tool\u{1b}` cannot be the name of a tool; use 1 to 64 letters, digits, `_` and `-`
        `exec` is the name of a tool that the agent has itself; choose another
        `skill_run` is the name of a tool that the agent has itself; choose another
        `shop__stock` has `__` in it, as names of tools of other servers have; choose another
        two tools have the name `stock`; leave one of them out or rename it
        the schema of the tool `stock` is not that of an object; give it `"type": "object"`
        the schema of the tool `stock` is not that of an object; give it `"type": "object"`
        the program has 101 tools, and at most 100 are offered
        "#);
    }

    #[test]
    fn an_answer_is_bounded_and_changes_nothing_but_the_conversation() {
        let answer = Answer {
            text: "x".repeat(100_000),
            result: ToolResult::Other(json!({ "long": "x".repeat(MAX_STRUCTURED) })),
            digests: [("pdf".to_owned(), "abc".to_owned())].into(),
            ..Answer::default()
        };
        let kept = bounded(answer);
        assert!(kept.text.ends_with("[34464 more bytes of this answer were left out]"));
        assert_eq!((kept.result, kept.digests.len()), (ToolResult::Text, 0));
        let kept = bounded(Answer::json(&json!({ "articles": 3 })));
        assert_eq!(kept, Answer::json(&json!({ "articles": 3 })));
    }
}
