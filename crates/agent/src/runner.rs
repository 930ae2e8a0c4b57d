//! The runner: does what the turn says, and writes down what happened.

use std::sync::Arc;

use metier_model::{
    Format, ModelError, Reply, ReplyEvent, ReplyPart, Request, StopReason, ToolChoice, ToolSpec,
};
use metier_session::content::{AssistantMessage, Call, Part, Reasoning, StateUpdate, Text};
use metier_session::{
    BreakCause, Content, Event, NewEvent, Opening, SessionKey, SessionRef, Stub, Usage,
};
use metier_skill::library::Snapshot;
use tracing::Instrument;

use crate::agent::{Agent, AgentError, LoadMode, Outcome, Progress, Task, Watcher};
use crate::changes;
use crate::choice;
use crate::conversation::Sources;
use crate::draft::Draft;
use crate::fetched::Fetched;
use crate::foreign;
use crate::prompt;
use crate::redaction;
use crate::shelf::Shelf;
use crate::shown::Window;
use crate::spans;
use crate::stop::Stop;
use crate::thread::Thread;
use crate::tools::knowledge::NOTHING_GIVEN;
use crate::tools::{Answer, Situation, own};
use crate::turn::{self, Ending, Step, last_turn};

/// What a model is told before the last request of a turn.
pub(crate) const LAST_REQUEST: &str = "This turn has no further request after this one. Answer now with what you have; calls are not run any more.";
/// The answer to a call that was under way when the program ended.
pub(crate) const INTERRUPTED: &str =
    "This was interrupted, and nobody knows how far it came. Look before you call it again.";
/// Who says things that neither a person nor the model said.
pub(crate) const SYSTEM: &str = "system";

impl Agent {
    /// Does a task in a session, which is begun if there is none of that name.
    ///
    /// The model is asked, its calls are made, and so on until it answers or a limit of the turn is met. `watcher` is told
    /// what happens while it does. When `stop` is used the turn ends soon, with everything that was under way.
    ///
    /// One turn of a session at a time: another of this agent or a clone of it is refused with [`AgentError::Busy`]. Other
    /// agents and processes at the same session are not known here. Theirs would take this one for interrupted and answer its
    /// open calls, and it would fail with a conflict although its commands ran. Turns of different sessions do not know of
    /// each other.
    ///
    /// When the future is dropped, its commands are ended and their calls stay open until the next turn, which tells the
    /// model that they were interrupted. To have the turn end well instead, give it a task of its own and keep what
    /// [`Stopper::on_drop`](crate::Stopper::on_drop) gives where it is waited for.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// use metier_agent::{Agent, Folders, Progress, Task, stop};
    /// use metier_model::Scripted;
    /// use metier_session::{MemoryStore, SessionKey};
    /// use metier_workspace::Runner;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let state = tempfile::tempdir()?;
    /// let model = Arc::new(Scripted::from_text(r#"{"text": "It is Monday."}"#)?);
    /// let (skills, sessions) = (Arc::new(Folders::new([])), Arc::new(MemoryStore::new()));
    /// let agent = Agent::new(model, skills, sessions, Runner::sandboxed(state.path())?);
    ///
    /// let shown = Arc::new(Mutex::new(String::new()));
    /// let screen = Arc::clone(&shown);
    /// let watcher = Arc::new(move |progress: &Progress<'_>| {
    ///     if let Progress::Text(text) = progress {
    ///         screen.lock().unwrap().push_str(text);
    ///     }
    /// });
    /// let session = SessionKey::new("docs", "ada", "days")?;
    /// let (_stopper, stop) = stop(); // `_stopper.stop()` would end the turn.
    /// let outcome = agent.run(&session, Task::new("What day is it?"), watcher, &stop).await?;
    /// assert_eq!(outcome.answer()?, "It is Monday.");
    /// assert_eq!(shown.lock().unwrap().as_str(), "It is Monday.");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When the model gives no reply, the session cannot be written or another turn of it is under way, or a tool of the
    /// program cannot be offered. Everything until then is kept.
    pub async fn run(
        &self,
        key: &SessionKey,
        task: Task,
        watcher: Watcher,
        stop: &Stop,
    ) -> Result<Outcome, AgentError> {
        let turn = async {
            let _turning = self.turns.begin(key)?;
            let snapshot = self.library.snapshot();
            let skills = Fetched::new(&self.library, &snapshot, stop);
            let thread = self.begun(key, (task, None), &skills, watcher).await?;
            self.drive(thread, stop).await
        };
        spans::turn(self, key, turn).await
    }

    /// Goes on with the last turn of a session, if it was interrupted.
    ///
    /// # Errors
    ///
    /// As for [`Agent::run`].
    pub async fn resume(
        &self,
        key: &SessionKey,
        watcher: Watcher,
        stop: &Stop,
    ) -> Result<Outcome, AgentError> {
        let turn = async {
            let _turning = self.turns.begin(key)?;
            let mut thread = self.open(key, &self.library.snapshot(), watcher, stop).await?;
            self.close_last_turn(&mut thread).await?;
            if let Step::RunCode(_) = turn::next(last_turn(&thread.events), &self.settings.limits) {
                thread.append(vec![self.code_result(Answer::error(INTERRUPTED))]).await?;
            }
            self.drive(thread, stop).await
        };
        spans::turn(self, key, turn).await
    }

    /// A session in which a person has said something, to the model or to a tool, after whatever was under way.
    pub(crate) async fn begun(
        &self,
        key: &SessionKey,
        said: (Task, Option<String>),
        skills: &Fetched<'_>,
        watcher: Watcher,
    ) -> Result<Thread, AgentError> {
        let mut thread = self.open(key, skills.snapshot, watcher, skills.stop).await?;
        self.close_last_turn(&mut thread).await?;
        let message = self.begin(&thread, said, skills).await?;
        thread.append(message).await?;
        Ok(thread)
    }

    async fn open(
        &self,
        key: &SessionKey,
        snapshot: &Snapshot,
        watcher: Watcher,
        stop: &Stop,
    ) -> Result<Thread, AgentError> {
        let told = Arc::clone(&watcher);
        let own = own::specs_of(&self.tools)?;
        let opening = async |at: &SessionRef| {
            let opening = self.opening(at, (snapshot, own), &told, stop).await;
            // What was stopped may lack something, and the session begins with its next turn.
            if stop.is_stopped() { Err(opening) } else { Ok(opening) }
        };
        let (sessions, redactor) = (Arc::clone(&self.sessions), self.runner.redactor.clone());
        Ok(Thread::open(sessions, key, opening, watcher, redactor).await?)
    }

    /// What a new session begins with; without tools of other servers if it is stopped before they are known.
    async fn opening(
        &self,
        at: &SessionRef,
        (snapshot, own): (&Snapshot, Vec<ToolSpec>),
        watcher: &Watcher,
        stop: &Stop,
    ) -> Opening {
        let skills = self.skills_on_host(at);
        let mut opening = prompt::opening(&self.settings.prompt, snapshot, skills.as_deref());
        if !self.settings.prompt.is_minimal {
            changes::note(&mut opening, snapshot);
        }
        own::add_to(&mut opening, own);
        if let Some(foreign) = &self.foreign {
            watcher(&Progress::Connecting);
            let listing = tokio::select! {
                listing = foreign.servers.tools() => listing,
                () = stop.stopped() => return opening,
            };
            let offers = foreign::offer(listing.tools, &prompt::tools_of(&opening));
            for problem in listing.problems.iter().chain(&offers.left_out) {
                watcher(&Progress::Without(problem));
            }
            foreign::add_to(&mut opening, offers.tools);
        }
        opening
    }

    /// Says of what was under way when the program ended that it was interrupted.
    async fn close_last_turn(&self, thread: &mut Thread) -> Result<(), AgentError> {
        if let Some(event) = self.cut_off_command(last_turn(&thread.events)) {
            thread.append(vec![event]).await?;
        }
        self.close_open_calls(thread).await
    }

    /// Answers calls that were under way when the program ended.
    async fn close_open_calls(&self, thread: &mut Thread) -> Result<(), AgentError> {
        let step = turn::next(last_turn(&thread.events), &self.settings.limits);
        let (Step::RunTools(calls) | Step::RefuseTools(calls, _)) = step else { return Ok(()) };
        let answers = calls.iter().map(|call| (call, Answer::error(INTERRUPTED)));
        let events = answers.map(|(call, answer)| self.response(call, answer)).collect();
        Ok(thread.append(events).await?)
    }

    async fn drive(&self, mut thread: Thread, stop: &Stop) -> Result<Outcome, AgentError> {
        let ending = loop {
            if stop.is_stopped() {
                self.close_open_calls(&mut thread).await?;
                break Ending::Stopped;
            }
            match turn::next(last_turn(&thread.events), &self.settings.limits) {
                Step::AskModel { is_last } => self.ask(&mut thread, is_last, stop).await?,
                Step::RunTools(calls) => self.run_tools(&mut thread, calls, stop).await?,
                Step::RunCode(code) => self.run_code(&mut thread, &code, stop).await?,
                Step::RefuseTools(calls, ending) => {
                    let say = || Answer::error(format!("this was not run: {ending}"));
                    let events = calls.iter().map(|call| self.response(call, say())).collect();
                    thread.append(events).await?;
                }
                Step::Done(ending) => break ending,
            }
        };
        let events = last_turn(&thread.events).to_vec();
        let text = events.iter().rev().find_map(|event| match &event.content {
            Content::Assistant(message) => Some(message.text()),
            _ => None,
        });
        Ok(Outcome { ending, text: text.unwrap_or_default(), events })
    }

    async fn ask(&self, thread: &mut Thread, is_last: bool, stop: &Stop) -> Result<(), AgentError> {
        if is_last && !is_told_last(&thread.events) {
            let text = Some(LAST_REQUEST.to_owned());
            let update = StateUpdate { cause: "limit".to_owned(), text, ..StateUpdate::default() };
            thread.append(vec![NewEvent::new(SYSTEM, Content::StateUpdate(update))]).await?;
        }
        let mut request = self.request(thread)?;
        if self.is_too_long(&request) && self.compact(thread, stop).await? {
            request = self.request(thread)?;
        }
        let reply = match self.exchange(thread, &request, stop).await {
            Err(AgentError::Model(ModelError::ContextOverflow { .. })) => {
                if !self.compact(thread, stop).await? {
                    return if stop.is_stopped() { Ok(()) } else { Err(AgentError::TooLong) };
                }
                request = self.request(thread)?;
                self.exchange(thread, &request, stop).await?
            }
            reply => reply?,
        };
        let Some(reply) = reply else { return Ok(()) };
        let event = self.reply(thread, reply)?;
        Ok(thread.append(vec![event]).await?)
    }

    /// The request that follows from a session.
    fn request(&self, thread: &Thread) -> Result<Request, AgentError> {
        let request = self.request_of(thread, &thread.events)?;
        Ok(Request { tool_choice: self.tool_choice(thread), ..request })
    }

    /// The request that follows from the first events of a session.
    pub(crate) fn request_of(
        &self,
        thread: &Thread,
        events: &[Event],
    ) -> Result<Request, AgentError> {
        let shelf = Shelf::read(&thread.state, &self.name);
        let conversation = Sources {
            system: &thread.opening.system,
            events,
            shelf: &shelf,
            layout: prompt::layout_of(&thread.opening),
            texts: &self.texts(),
        }
        .conversation()?;
        Ok(Request {
            system: conversation.system,
            messages: conversation.messages,
            tools: prompt::tools_of(&thread.opening),
            max_output_tokens: self.settings.max_output_tokens,
            cache_key: Some(format!("{}-{}", thread.at.key.session(), thread.at.generation)),
            ..Request::default()
        })
    }

    fn tool_choice(&self, thread: &Thread) -> ToolChoice {
        let has_skills = Shelf::read(&thread.state, &self.name).skills().next().is_some();
        if !self.settings.constrained || has_skills {
            return ToolChoice::Auto;
        }
        choice::constrained(&thread.opening, &thread.events, &self.library.snapshot())
    }

    /// Sends a request and passes on what comes; nothing if it was stopped.
    pub(crate) async fn exchange(
        &self,
        thread: &Thread,
        request: &Request,
        stop: &Stop,
    ) -> Result<Option<Reply>, AgentError> {
        thread.tell(&Progress::Asking);
        let span = spans::chat(self, &thread.at.key);
        let redactor = &self.runner.redactor;
        let request = redaction::request(redactor, request);
        let exchange = async {
            let mut replies = self.model.stream(&request).await?;
            let (mut text, mut reasoning) = (redactor.stream(), redactor.stream());
            while let Some(event) = replies.next().await {
                match event? {
                    ReplyEvent::Text(more) => thread.tell_text(&text.push_text(&more)),
                    ReplyEvent::Reasoning(more) => {
                        thread.tell_reasoning(&reasoning.push_text(&more));
                    }
                    ReplyEvent::Retrying { cause, .. } => {
                        (text, reasoning) = (redactor.stream(), redactor.stream());
                        thread.tell(&Progress::Retrying(&redactor.redact(&cause)));
                    }
                    ReplyEvent::Done(reply) => {
                        thread.tell_reasoning(&reasoning.finish_text());
                        thread.tell_text(&text.finish_text());
                        return Ok(Some(reply));
                    }
                    _ => {}
                }
            }
            Err(ModelError::Interrupted { source: None })
        };
        tokio::select! {
            reply = exchange.instrument(span.clone()) => {
                spans::replied(&span, &reply);
                Ok(reply?)
            }
            () = stop.stopped() => Ok(None),
        }
    }

    /// What is written down of a reply.
    fn reply(&self, thread: &Thread, reply: Reply) -> Result<NewEvent, AgentError> {
        let usage = self.usage_of(&reply);
        let message = AssistantMessage {
            model: reply.model.unwrap_or_else(|| self.model.name().to_owned()),
            stop_reason: Some(word(&reply.stop).to_owned()),
            parts: reply.parts.into_iter().map(part).collect(),
            ..AssistantMessage::default()
        };
        let event = NewEvent::new(&self.name, Content::Assistant(message)).with_usage(usage);
        if self.settings.mode != LoadMode::Once {
            return Ok(event);
        }
        // What was to be in one request only has been in one.
        let shelf = Shelf::read(&thread.state, &self.name);
        let window = Window::of(&thread.events);
        let shown: Vec<Stub> = window.shown().map(|it| it.stub()).collect();
        let event = event.with_state(shelf.clear()?);
        Ok(if shown.is_empty() { event } else { event.with_break(BreakCause::Once, shown) })
    }

    /// What a reply cost.
    pub(crate) fn usage_of(&self, reply: &Reply) -> Usage {
        Usage {
            model: self.model.name().to_owned(),
            input_tokens: reply.usage.input,
            cached_input_tokens: reply.usage.cached_input,
            cache_write_tokens: reply.usage.cache_write,
            output_tokens: reply.usage.output,
            reasoning_tokens: reply.usage.reasoning,
            ..Usage::default()
        }
    }

    /// What tools depend on.
    pub(crate) fn situation<'a>(
        &'a self,
        draft: &'a Draft<'_>,
        skills: &'a Fetched<'_>,
    ) -> Situation<'a> {
        Situation {
            agent: &self.name,
            library: skills,
            snapshot: skills.snapshot,
            workspaces: &self.runner.workspaces,
            texts: self.texts(),
            events: &draft.events,
            state: &draft.state,
            max_loaded: self.settings.max_loaded_skills,
            given: &NOTHING_GIVEN,
        }
    }
}

/// Whether the model was told last that there is no further request.
fn is_told_last(events: &[Event]) -> bool {
    let last = events.last().map(|event| &event.content);
    matches!(last, Some(Content::StateUpdate(update)) if update.text.as_deref() == Some(LAST_REQUEST))
}

/// Why a model stopped, as events say it.
fn word(stop: &StopReason) -> &'static str {
    match stop {
        StopReason::End => turn::stop::END,
        StopReason::Calls => turn::stop::CALLS,
        StopReason::Length => turn::stop::LENGTH,
        StopReason::Refusal(_) => turn::stop::REFUSAL,
        StopReason::Filtered => turn::stop::FILTERED,
        _ => turn::stop::OTHER,
    }
}

fn part(part: ReplyPart) -> Part {
    match part {
        ReplyPart::Text(text) => Part::Text(Text { text, ..Text::default() }),
        ReplyPart::Reasoning { opaque, .. } => {
            let (provider, json) = match opaque {
                Some(opaque) => (name_of(opaque.format), opaque.json),
                None => (String::new(), String::new()),
            };
            Part::Reasoning(Reasoning { provider, json, ..Reasoning::default() })
        }
        ReplyPart::Call { id, name, arguments } => {
            Part::Call(Call { id, name, arguments, ..Call::default() })
        }
        _ => Part::Text(Text::default()),
    }
}

/// What events call a format.
fn name_of(format: Format) -> String {
    let name = serde_json::to_value(format).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}
