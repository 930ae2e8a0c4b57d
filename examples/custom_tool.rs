//! A tool of the program itself: the model asks a shop what is in stock.
//!
//! What a model is told of a tool and the code behind it are one object. Nobody is asked before a call, since it is
//! the program's own code; a tool that should ask does so itself.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use metier_agent::{Agent, Answer, Folders, Task, Tool, ToolCall, stop, unwatched};
use metier_model::{Scripted, ToolSpec};
use metier_session::{Content, MemoryStore, SessionKey};
use metier_workspace::Runner;
use serde_json::{Value, json};

/// Knows how many there are of each article.
#[derive(Debug)]
struct Stock(BTreeMap<&'static str, u32>);

#[async_trait]
impl Tool for Stock {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "stock".to_owned(),
            description: "How many of an article are in stock.".to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "article": { "type": "string" } },
                "required": ["article"],
            }),
        }
    }

    async fn call(&self, call: ToolCall<'_>) -> Answer {
        // A model wrote the arguments: look at them before they are used.
        let Some(article) = call.arguments.get("article").and_then(Value::as_str) else {
            return Answer::error("`article` is missing; name the article");
        };
        match self.0.get(article) {
            Some(count) => Answer::json(&json!({ "article": article, "count": count })),
            None => Answer::error(format!("there is no article `{article}`")),
        }
    }
}

/// What the model replies. A real one decides for itself.
const REPLIES: &str = r#"
{"calls": [{"name": "stock", "arguments": {"article": "anvil"}}, {"name": "stock", "arguments": {"article": "rocket"}}]}
{"text": "There are 3 anvils, and no such article as a rocket."}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    metier_sandbox::helper();
    let state = tempfile::tempdir()?;
    tokio::runtime::Runtime::new()?.block_on(ask(state.path()))
}

async fn ask(state: &Path) -> Result<(), Box<dyn Error>> {
    let model = Arc::new(Scripted::from_text(REPLIES)?);
    let skills = Arc::new(Folders::new([]));
    let sessions = Arc::new(MemoryStore::new());
    let mut agent = Agent::new(model, skills, sessions, Runner::sandboxed(state)?);
    agent.tools.push(Arc::new(Stock([("anvil", 3), ("rope", 12)].into())));

    let session = SessionKey::new("examples", "ada", "shop")?;
    let (_stopper, stop) = stop();
    let task = Task::new("How many anvils and rockets are there?");
    let outcome = agent.run(&session, task, unwatched(), &stop).await?;
    for event in &outcome.events {
        if let Content::ToolResponse(response) = &event.content {
            println!("stock: {}", response.text);
        }
    }
    println!("{}", outcome.answer()?);
    Ok(())
}
