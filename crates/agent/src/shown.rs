//! Which text of skills requests contain now, and at which event it stands.
//!
//! This follows from the events alone: a load puts text at its event; a break takes it away again from
//! the events it names, skill by skill; a summary takes away everything it covers and may put some back at itself.

use std::collections::BTreeSet;

use metier_session::content::Loaded;
use metier_session::{Content, Event, EventId, Stub};

/// Text of a skill that stands at an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown<'a> {
    /// The event.
    pub event: EventId,
    /// What stands there.
    pub text: &'a Loaded,
}

impl Shown<'_> {
    /// What a break says that takes it away.
    pub fn stub(&self) -> Stub {
        Stub::new(self.event, &self.text.skill)
    }
}

/// The part of a session that requests are made of.
#[derive(Clone, Debug)]
pub struct Window<'a> {
    /// The summary of what came before, if there is one.
    pub summary: Option<&'a Event>,
    /// The events that are not covered by it.
    pub events: Vec<&'a Event>,
    stubbed: BTreeSet<(EventId, &'a str)>,
}

impl<'a> Window<'a> {
    /// Looks at all events of a session.
    pub fn of(events: &'a [Event]) -> Self {
        let covers = |event: &Event| match &event.content {
            Content::Summary(summary) => Some(summary.covers),
            _ => None,
        };
        let summary = events.iter().rev().find(|event| covers(event).is_some());
        let covered = summary.and_then(covers).unwrap_or_default();
        let is_left = |event: &&Event| event.seq > covered && covers(event).is_none();
        let breaks = events.iter().filter_map(|event| event.breaks.as_ref());
        Self {
            summary,
            events: events.iter().filter(is_left).collect(),
            stubbed: breaks
                .flat_map(|it| it.stubbed.iter().map(|stub| (stub.event, stub.skill.as_str())))
                .collect(),
        }
    }

    /// What stands at an event.
    pub fn at(&self, event: &'a Event) -> Vec<&'a Loaded> {
        // A load of what stands above has no text of its own.
        let texts = event.content.loaded().iter().filter(|it| it.body || !it.docs.is_empty());
        texts.filter(|it| !self.stubbed.contains(&(event.id, it.skill.as_str()))).collect()
    }

    /// Everything that is shown, in the order of requests.
    pub fn shown(&self) -> impl Iterator<Item = Shown<'a>> {
        self.summary.into_iter().chain(self.events.iter().copied()).flat_map(|event| {
            self.at(event).into_iter().map(move |text| Shown { event: event.id, text })
        })
    }

    /// Whether requests contain the body of a tree.
    pub fn shows_body(&self, skill: &str, digest: &str) -> bool {
        self.of_tree(skill, digest).any(|text| text.body)
    }

    /// Whether requests contain a doc of a tree.
    pub fn shows_doc(&self, skill: &str, digest: &str, path: &str) -> bool {
        self.of_tree(skill, digest).any(|text| text.docs.iter().any(|doc| doc == path))
    }

    fn of_tree(&self, skill: &str, digest: &str) -> impl Iterator<Item = &'a Loaded> {
        self.shown().map(|it| it.text).filter(move |it| it.skill == skill && it.digest == digest)
    }
}
