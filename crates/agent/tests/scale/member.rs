//! One of many sessions: what its person says, what its model replies, and what it must look like.
//!
//! Everything that is said in it has its number in a mark, so that nothing of another can hide.

use std::fmt::Write;

use metier_session::content::Part;
use metier_session::{Content, Event, SessionKey};
use serde_json::{Value, json};

/// Tasks of every session.
pub(crate) const TASKS: usize = 2;
/// Every so many sessions run a command.
const RUNNERS: usize = 50;

/// The session of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Member(pub(crate) usize);

impl Member {
    pub(crate) fn key(self) -> SessionKey {
        SessionKey::new("scale", "ada", &format!("s{}", self.0)).unwrap()
    }

    /// What its person says as task `number`, counted from 0.
    pub(crate) fn task(self, number: usize) -> String {
        format!("«{}» task {number}", self.0)
    }

    pub(crate) fn runs_a_command(self) -> bool {
        self.0.is_multiple_of(RUNNERS)
    }

    /// The replies of both tasks. Each knows its place by the replies before it, so a script that
    /// is read again after a restart goes on where it was.
    pub(crate) fn script(self) -> String {
        let mut script = String::new();
        for (turn, calls) in self.replies().into_iter().enumerate() {
            let text = format!("«{}» reply {turn}", self.0);
            // Neither all at once nor in the order of their numbers.
            let delay = (self.0 * 7 + turn * 3) % 11;
            let entry = json!({ "when": { "turn": turn }, "delay_ms": delay, "text": text, "calls": calls });
            writeln!(script, "{entry}").unwrap();
        }
        script
    }

    /// The calls of each reply.
    fn replies(self) -> Vec<Vec<Value>> {
        let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
        let load = |skill: &str| call("skill_load", json!({ "skill": skill }));
        let docs = json!({ "skill": "pdf", "docs": ["forms.md"], "mode": "add" });
        let work = if self.runs_a_command() {
            let command = format!("sh scripts/pages '«{}»'", self.0);
            call("skill_run", json!({ "skill": "pdf", "command": command }))
        } else {
            call("skill_list_docs", json!({ "skill": "pdf" }))
        };
        vec![
            vec![load("pdf")],
            vec![call("skill_select_docs", docs)],
            vec![work],
            vec![],
            vec![load("charts"), load("pdf")],
            vec![],
        ]
    }

    /// What was said and called, in order, when all tasks are done.
    pub(crate) fn expected(self) -> Vec<String> {
        let mut lines = vec![self.task(0)];
        for (turn, calls) in self.replies().into_iter().enumerate() {
            lines.push(format!("«{}» reply {turn}", self.0));
            lines.extend(calls.iter().map(|call| call["name"].as_str().unwrap().to_owned()));
            if turn == 3 {
                lines.push(self.task(1));
            }
        }
        lines
    }

    /// The same of events that there are. What a command printed has to be its own.
    pub(crate) fn shown(self, events: &[Event]) -> Vec<String> {
        let mut lines = Vec::new();
        for (seq, event) in (1..).zip(events) {
            assert_eq!(event.seq, seq, "{self:?}: an event is missing or in another place");
            assert_eq!(strangers(&format!("{event:?}"), self), 0, "{self:?}: {event:?}");
            lines.push(match &event.content {
                Content::User(message) => message.text.clone(),
                Content::Assistant(reply) => reply.parts.iter().filter_map(words).collect(),
                Content::ToolResponse(response) => response.tool.clone(),
                content => panic!("{content:?}"),
            });
        }
        lines
    }
}

/// How often something else than this session is named in a text.
pub(crate) fn strangers(text: &str, member: Member) -> usize {
    let names = text.split('«').skip(1).filter_map(|rest| rest.split('»').next());
    names.filter(|name| *name != member.0.to_string()).count()
}

fn words(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) => Some(&text.text),
        _ => None,
    }
}
