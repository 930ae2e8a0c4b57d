//! `process`: programs that `exec` left running, to look at, to talk to and to end.

use std::time::Duration;

use metier_workspace::WorkspaceKey;
use metier_workspace::interactive::{Entry, Interactive, InteractiveError, Waiting};
use serde::Deserialize;
use serde_json::Value;

use crate::tools::answer::{Answer, arguments};
use crate::tools::result::{ListedProgram, ProgramList};
use crate::tools::specs::name;
use crate::tools::{ToolCallError, ToolResult};

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
/// When there is no such program, or it cannot be talked to.
pub(crate) async fn process(
    given: &Value,
    programs: &Interactive,
    key: &WorkspaceKey,
) -> Result<Answer, ToolCallError> {
    let Arguments { action, session_id, chars, submit, yield_ms } =
        arguments(given, name::PROCESS)?;
    let own = programs.list().into_iter().filter(|it| it.key == *key);
    let own: Vec<ListedProgram> = own.map(ListedProgram::from).collect();
    if let Action::List = action {
        return Ok(Answer::of(ToolResult::Programs(ProgramList { sessions: own })));
    }
    let id = match (session_id, own.as_slice()) {
        (Some(id), own) if own.iter().any(|it| it.session_id == id) => id,
        (Some(id), _) => return Err(InteractiveError::Unknown(id).into()),
        // Which is meant is clear.
        (None, [only]) => only.session_id.clone(),
        (None, _) => return Err(ToolCallError::NoProgramNamed),
    };
    let waiting = waiting(yield_ms, Waiting::NEXT);
    Ok(Answer::of(match action {
        Action::Kill => ToolResult::ProgramEnd(programs.kill(&id).await?),
        Action::Write => {
            let entry = Entry { chars: &chars, submit };
            ToolResult::Program(Box::new(programs.write(&id, entry, waiting).await?))
        }
        Action::Poll | Action::List => {
            ToolResult::Program(Box::new(programs.poll(&id, waiting).await?))
        }
    }))
}

/// How long output is waited for.
pub(crate) fn waiting(yield_ms: Option<u64>, usual: Waiting) -> Waiting {
    Waiting { time: yield_ms.map_or(usual.time, Duration::from_millis), ..usual }
}
