//! A command that a person gives to a tool directly, without a model.
//!
//! A skill may say that its slash command is for a tool. What the person wrote then goes to that tool through
//! the same gate as a model's call. The transcript has what was said and what came of it, and no call that
//! nobody made.

use metier_session::content::{Attachment, Call};
use metier_session::{Content, Event, NewEvent, SessionKey};
use serde_json::{Value, json};

use crate::agent::{Agent, AgentError, LoadRequest, Outcome, Task, Watcher};
use crate::fetched::Fetched;
use crate::foreign;
use crate::runner::INTERRUPTED;
use crate::spans;
use crate::stop::Stop;
use crate::tools::Answer;
use crate::tools::specs::name;
use crate::turn::{Ending, last_turn};

/// Why an event is there that says what came of a command.
pub const CAUSE: &str = "command";
/// The field of such an event with the tool.
pub const TOOL: &str = "tool";
/// The field with what the tool was given, as JSON.
pub const ARGUMENTS: &str = "arguments";
/// The field that says whether something went wrong.
pub const IS_ERROR: &str = "is_error";

/// What a person gives to a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dispatch {
    /// What the person wrote, whole.
    pub text: String,
    /// The command, as it is called in a chat.
    pub command: String,
    /// The skill whose command it is.
    pub skill: String,
    /// The tool.
    pub tool: String,
    /// What is for the tool, as it was written.
    pub arguments: String,
    /// Files that came with it and are in the workspace.
    pub attachments: Vec<Attachment>,
}

impl Dispatch {
    /// The call, as if a model had made it.
    fn call(&self) -> Call {
        let arguments = match self.tool.as_str() {
            name::RUN => json!({ "skill": self.skill, "command": self.arguments }),
            name::EXEC => json!({ "command": self.arguments }),
            _ => json!({
                "command": self.arguments,
                "commandName": self.command,
                "skillName": self.skill,
            }),
        };
        let arguments = arguments.to_string();
        Call { id: CAUSE.to_owned(), name: self.tool.clone(), arguments, ..Call::default() }
    }
}

impl Agent {
    /// Gives a command to a tool; the model is not asked.
    ///
    /// # Errors
    ///
    /// When the session cannot be read or written, or another turn of it is under way. What the tool says is no error,
    /// whatever it is.
    pub async fn dispatch(
        &self,
        key: &SessionKey,
        dispatch: Dispatch,
        watcher: Watcher,
        stop: &Stop,
    ) -> Result<Outcome, AgentError> {
        let turn = async {
            let _turning = self.turns.begin(key)?;
            let snapshot = self.library.snapshot();
            // What is hidden from models can only be used once a person has loaded it.
            let entry = snapshot.find(&dispatch.skill);
            let is_hidden = entry.is_some_and(|entry| !entry.manifest.invocation.by_model);
            let load = LoadRequest { skill: dispatch.skill.clone(), ..LoadRequest::default() };
            let loads = is_hidden.then_some(load).into_iter().collect();
            let attachments = dispatch.attachments.clone();
            let mut call = dispatch.call();
            let tool = Some(call.name.clone());
            let task = Task { text: dispatch.text, loads, attachments };
            let skills = Fetched::new(&self.library, &snapshot, stop);
            let mut thread = self.begun(key, (task, tool), &skills, watcher).await?;
            // A tool of another server is written as it is known everywhere, not as this session calls it.
            if let Some(name) = foreign::named_in(&thread.opening, &call.name) {
                call.name = name;
            }
            let answer = self.run_dispatched(&mut thread, &call, stop).await?;
            let text = answer.text.clone();
            thread.append(vec![self.dispatched(call, answer)]).await?;
            let ending = if stop.is_stopped() { Ending::Stopped } else { Ending::Answered };
            let events = last_turn(&thread.events).to_vec();
            Ok(Outcome { ending, text, events })
        };
        spans::turn(self, key, turn).await
    }

    /// What is written down of what a tool said to a command.
    fn dispatched(&self, call: Call, answer: Answer) -> NewEvent {
        let fields = [
            (TOOL, Value::String(call.name)),
            (ARGUMENTS, Value::String(call.arguments)),
            (IS_ERROR, Value::Bool(answer.is_error)),
        ];
        self.result(CAUSE, answer, fields)
    }

    /// What is written down of a command that was under way when the program ended, if the last turn was one.
    pub(crate) fn cut_off_command(&self, turn: &[Event]) -> Option<NewEvent> {
        let tool = turn.iter().find_map(|event| match &event.content {
            Content::User(message) => message.extra.get(TOOL)?.as_str(),
            _ => None,
        })?;
        let has_answer = turn.iter().any(
            |event| matches!(&event.content, Content::StateUpdate(update) if update.cause == CAUSE),
        );
        let call = Call { name: tool.to_owned(), ..Call::default() };
        (!has_answer).then(|| self.dispatched(call, Answer::error(INTERRUPTED)))
    }
}
