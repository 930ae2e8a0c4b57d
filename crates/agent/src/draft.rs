//! Answers that are thought of and not written down yet.
//!
//! Lookups of one reply, and loads that come with one task, are answered one after the other, each
//! knowing what the ones before it change.

use metier_session::content::Call;
use metier_session::{Content, Delta, Event, State};

use crate::agent::Agent;
use crate::thread::Thread;
use crate::tools::Answer;

/// A session as it will be with these answers.
pub(crate) struct Draft<'a> {
    agent: &'a Agent,
    pub(crate) events: Vec<Event>,
    pub(crate) state: State,
    /// How many of the events are written down.
    written: usize,
    /// The answers that the other events are made of.
    answers: Vec<Answer>,
}

impl<'a> Draft<'a> {
    /// A session as it is, with a change of its state.
    pub(crate) fn new(agent: &'a Agent, thread: &Thread, change: &Delta) -> Self {
        let mut state = thread.state.clone();
        state.apply(change);
        let events = thread.events.clone();
        Self { agent, written: events.len(), events, state, answers: Vec::new() }
    }

    /// Adds the answer to a call.
    pub(crate) fn add(&mut self, call: &Call, mut answer: Answer) {
        self.withdraw_unseen(&mut answer);
        let seq = self.events.last().map_or(1, |event| event.seq + 1);
        let event = self.agent.response(call, answer.clone()).preview(seq);
        self.state.apply(&event.state);
        self.events.push(event);
        self.answers.push(answer);
    }

    /// What an answer takes away and no request has had yet, is not shown first and taken away then.
    fn withdraw_unseen(&mut self, answer: &mut Answer) {
        let Some((_, stubbed)) = &mut answer.breaks else { return };
        let drafted = &mut self.events[self.written..];
        stubbed.retain(|stub| {
            let Some(place) = drafted.iter().position(|event| event.id == stub.event) else {
                return true;
            };
            self.answers[place].loaded = None;
            if let Content::ToolResponse(response) = &mut drafted[place].content {
                response.loaded = None;
            }
            false
        });
        if stubbed.is_empty() {
            answer.breaks = None;
        }
    }

    /// The answers, in the order of the calls.
    pub(crate) fn into_answers(self) -> Vec<Answer> {
        self.answers
    }
}
