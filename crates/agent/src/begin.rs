//! The beginning of a turn: what is written down when a person says something.

use std::collections::BTreeMap;

use metier_session::content::{Call, Loaded, UserMessage};
use metier_session::{BreakCause, Content, Delta, NewEvent, Stub};
use metier_skill::tokens;
use serde_json::{Value, json};

use crate::agent::{Agent, AgentError, LoadMode, Task};
use crate::changes;
use crate::dispatch;
use crate::draft::Draft;
use crate::fetched::Fetched;
use crate::runner::SYSTEM;
use crate::shelf::Shelf;
use crate::shown::{Shown, Window};
use crate::thread::Thread;
use crate::tools::ToolCallError;
use crate::written::with_identities;

/// What the loads of a task come to.
#[derive(Default)]
struct Declared {
    loaded: Vec<Loaded>,
    digests: BTreeMap<String, String>,
    identities: BTreeMap<String, String>,
    /// Text of skills that made room.
    evicted: Vec<Stub>,
}

impl Agent {
    /// What is written down when a person says something, to the model or to a tool.
    pub(crate) async fn begin(
        &self,
        thread: &Thread,
        (task, tool): (Task, Option<String>),
        skills: &Fetched<'_>,
    ) -> Result<Vec<NewEvent>, AgentError> {
        let mut events = Vec::new();
        if let Some(update) = changes::update(&thread.opening, &thread.events, skills.snapshot) {
            events.push(NewEvent::new(SYSTEM, Content::StateUpdate(update)));
        }
        let mut delta = match self.settings.mode {
            LoadMode::Session => Delta::new(),
            LoadMode::Turn | LoadMode::Once => Shelf::read(&thread.state, &self.name).clear()?,
        };
        let Declared { loaded, digests, identities, evicted } =
            self.declared(thread, &task, skills, &mut delta).await?;
        let mut state = thread.state.clone();
        state.apply(&delta);
        let trimmed = self.too_much(thread, &Shelf::read(&state, &self.name), &evicted)?;
        let tool = tool.map(|tool| (dispatch::TOOL.to_owned(), Value::String(tool)));
        let message = UserMessage {
            text: task.text,
            attachments: task.attachments,
            loaded,
            extra: tool.into_iter().collect(),
        };
        let mut event =
            NewEvent::new(thread.at.key.user(), Content::User(message)).with_state(delta);
        for (skill, digest) in &digests {
            event = event.with_digest(skill, digest);
        }
        event = with_identities(event, &identities);
        let cause = if evicted.is_empty() { BreakCause::Trimming } else { BreakCause::Eviction };
        let stubbed = [evicted, trimmed].concat();
        if !stubbed.is_empty() {
            event = event.with_break(cause, stubbed);
        }
        events.push(event);
        Ok(events)
    }

    /// The loads that come with a task: all of them can be done, or none is.
    async fn declared(
        &self,
        thread: &Thread,
        task: &Task,
        skills: &Fetched<'_>,
        delta: &mut Delta,
    ) -> Result<Declared, AgentError> {
        if task.loads.is_empty() {
            return Ok(Declared::default());
        }
        let mut draft = Draft::new(self, thread, delta);
        for load in &task.loads {
            let cannot_load = |error: ToolCallError| AgentError::Load {
                skill: load.skill.clone(),
                source: Box::new(error),
            };
            let arguments = json!({
                "skill": load.skill, "docs": load.docs, "include_all_docs": load.include_all_docs,
            });
            let answer = loop {
                let answer = self.situation(&draft, skills).load_for_person(&arguments);
                if !skills.fetch().await.map_err(|stopped| cannot_load(stopped.into()))? {
                    break answer;
                }
            };
            draft.add(&Call::default(), answer.map_err(cannot_load)?);
        }
        let mut declared = Declared::default();
        for answer in draft.into_answers() {
            delta.merge(answer.state)?;
            declared.digests.extend(answer.digests);
            declared.identities.extend(answer.identities);
            declared.loaded.extend(answer.loaded.filter(|it| it.body || !it.docs.is_empty()));
            declared.evicted.extend(answer.breaks.into_iter().flat_map(|(_, stubbed)| stubbed));
        }
        Ok(declared)
    }

    /// Text of skills that are not loaded any more and has to go, the oldest first.
    fn too_much(
        &self,
        thread: &Thread,
        shelf: &Shelf,
        evicted: &[Stub],
    ) -> Result<Vec<Stub>, AgentError> {
        let (texts, window) = (self.texts(), Window::of(&thread.events));
        let mut kept: Vec<(Stub, usize)> = Vec::new();
        let is_unused =
            |it: &Shown<'_>| !shelf.has(&it.text.skill) && !evicted.contains(&it.stub());
        for shown in window.shown().filter(is_unused) {
            let mut count = 0;
            if shown.text.body {
                count += tokens::count(&texts.body(&shown.text.skill, &shown.text.digest)?);
            }
            for doc in &shown.text.docs {
                count += tokens::count(&texts.doc(&shown.text.skill, &shown.text.digest, doc)?);
            }
            kept.push((shown.stub(), count));
        }
        let mut total: usize = kept.iter().map(|(_, count)| count).sum();
        let mut gone = Vec::new();
        for (stub, count) in kept {
            if total <= self.settings.retain_tokens {
                break;
            }
            total -= count;
            gone.push(stub);
        }
        Ok(gone)
    }
}
