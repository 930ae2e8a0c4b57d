//! `process`: programs that `exec` left running, to look at, to talk to and to end.

use std::time::Duration;

use metier_workspace::WorkspaceKey;
use metier_workspace::interactive::{Entry, Interactive, InteractiveError, Listed, Waiting};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::answer::{Answer, arguments};
use crate::tools::specs::name;

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Poll,
    Write,
    Kill,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    chars: String,
    #[serde(default)]
    submit: bool,
    #[serde(default)]
    yield_ms: Option<u64>,
}

/// Answers a call. Only programs of this session are there for it.
///
/// # Errors
///
/// Why it cannot be done, in words for the model.
pub(crate) async fn process(
    given: &Value,
    programs: &Interactive,
    key: &WorkspaceKey,
) -> Result<Answer, String> {
    let Arguments { action, session_id, chars, submit, yield_ms } =
        arguments(given, name::PROCESS)?;
    let own: Vec<Listed> = programs.list().into_iter().filter(|it| it.key == *key).collect();
    if let Action::List = action {
        return Ok(Answer::json(&json!({ "sessions": own })));
    }
    let id = match (session_id, own.as_slice()) {
        (Some(id), own) if own.iter().any(|it| it.session_id == id) => id,
        (Some(id), _) => return Err(InteractiveError::Unknown(id).to_string()),
        // Which is meant is clear.
        (None, [only]) => only.session_id.clone(),
        (None, _) => {
            return Err("`session_id` is missing; the action `list` shows all".to_owned());
        }
    };
    let waiting = waiting(yield_ms, Waiting::NEXT);
    let say = |error: InteractiveError| error.to_string();
    match action {
        Action::Kill => programs.kill(&id).await.map(|it| Answer::json(&it)).map_err(say),
        Action::Write => {
            let entry = Entry { chars: &chars, submit };
            programs.write(&id, entry, waiting).await.map(|it| Answer::json(&it)).map_err(say)
        }
        Action::Poll | Action::List => {
            programs.poll(&id, waiting).await.map(|it| Answer::json(&it)).map_err(say)
        }
    }
}

/// How long output is waited for.
pub(crate) fn waiting(yield_ms: Option<u64>, usual: Waiting) -> Waiting {
    Waiting { time: yield_ms.map_or(usual.time, Duration::from_millis), ..usual }
}
