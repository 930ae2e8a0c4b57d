//! A question to a person: how it is put, and what is written down of it and of the answer.
//!
//! Both are as a person is shown them: nothing in them hides, and secrets are masked.

use metier_approval::{Approved, shown, shown_text};
use metier_session::content::{Approval, Call};
use metier_session::{Content, EventId, NewEvent, SessionError};
use serde_json::{Value, json};

use super::approver::{Approver, CommandQuestion, Decision, Question, ToolQuestion};
use super::error::ApproverError;
use super::prompter::Prompter;
use crate::runner::SYSTEM;
use crate::stop::Stop;
use crate::thread::Thread;

/// How a question was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// By a person.
    By(Decision),
    /// There was nobody who could.
    Nobody,
    /// The turn was stopped before anybody did.
    Stopped,
}

impl Question {
    /// Has a person decide, keeps what is allowed for good, and writes down the question and the answer.
    pub(crate) async fn put(
        &self,
        (approver, prompter): (&dyn Approver, &dyn Prompter),
        stop: &Stop,
        (thread, call): (&mut Thread, &Call),
    ) -> Result<Answered, SessionError> {
        let event = asked(self, call);
        let id = event.id();
        thread.append(vec![event]).await?;
        let answer = tokio::select! {
            // Whoever stopped it is not nobody.
            biased;
            () = stop.stopped() => Answered::Stopped,
            decision = prompter.ask(self) => decision.map_or(Answered::Nobody, Answered::By),
        };
        let kept = match answer {
            Answered::By(Decision::Always) => self.keep(approver).await,
            _ => None,
        };
        thread.append(vec![answered(id, answer, kept.as_ref())]).await?;
        Ok(answer)
    }

    /// Keeps what was allowed for good, if it can be.
    async fn keep(&self, approver: &dyn Approver) -> Option<Result<(), ApproverError>> {
        match self {
            Self::Command(it) => Some(approver.remember(&it.agent, it.offer.as_ref()?).await),
            Self::Tool(it) if it.can_be_kept => {
                Some(approver.remember_tool(&it.agent, &it.tool).await)
            }
            Self::Tool(_) => None,
        }
    }
}

/// The event of a question.
fn asked(question: &Question, call: &Call) -> NewEvent {
    let request = match question {
        Question::Command(question) => of_command(question, call),
        Question::Tool(question) => of_tool(question, call),
    };
    approval(request, Value::Null)
}

fn of_tool(question: &ToolQuestion, call: &Call) -> Value {
    json!({
        "call": call.id,
        "tool": call.name,
        "server": question.tool.server,
        "server_tool": question.tool.tool,
        "arguments": shown_text(&question.arguments).map(|it| it.lines).unwrap_or_default(),
        "reason": question.reason,
    })
}

fn of_command(question: &CommandQuestion, call: &Call) -> Value {
    let lines = match &question.plan {
        Some(plan) => shown(plan),
        None => shown_text(&question.command),
    };
    let variables = question.variables.iter().map(|(name, value)| format!("{name}={value}"));
    let variables: Vec<Value> = variables.map(|text| masked(&text)).collect();
    let mut request = json!({
        "call": call.id,
        "tool": question.tool,
        "command": lines.map(|it| it.lines).unwrap_or_default(),
        "directory": question.directory,
        "reason": question.reason,
        "programs": question.plan.as_ref().map(programs),
    });
    if !variables.is_empty() {
        request["variables"] = Value::Array(variables);
    }
    if let Some(stdin) = &question.stdin {
        request["stdin"] = masked(stdin);
    }
    if question.is_talked_to {
        request["talked_to"] = Value::Bool(true);
    }
    request
}

/// The event of an answer to a question.
fn answered(
    asked: EventId,
    answer: Answered,
    kept: Option<&Result<(), ApproverError>>,
) -> NewEvent {
    let word = match answer {
        Answered::By(decision) => serde_json::to_value(decision).unwrap_or_default(),
        Answered::Nobody => json!("nobody"),
        Answered::Stopped => json!("stopped"),
    };
    let mut decision = json!({ "answer": word });
    if let Some(Err(why)) = kept {
        decision["not_kept"] = json!(why.to_string());
    }
    approval(json!({ "event": asked }), decision)
}

fn approval(request: Value, decision: Value) -> NewEvent {
    let approval = Approval { request, decision, ..Approval::default() };
    NewEvent::new(SYSTEM, Content::Approval(approval))
}

fn programs(plan: &Approved) -> Vec<String> {
    plan.programs.iter().map(|it| it.program.file.real.display().to_string()).collect()
}

fn masked(text: &str) -> Value {
    Value::String(shown_text(text).map(|it| it.lines.join("\n")).unwrap_or_default())
}
