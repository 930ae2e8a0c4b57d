//! A planner that needs no network: it picks a skill by its description, loads it, runs an example of it
//! and says what came of that.
//!
//! It stands in for a language model where none is set, so that skills can be tried at once. It looks at
//! nothing but the request and the skills it was given, and replies the same to the same. It does not
//! understand the task, and every answer says so.

mod command;
mod report;
mod talk;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream;
use metier_model::{Model, ModelError, Replies, Reply, ReplyEvent, ReplyPart, Request};
use metier_model::{StopReason, ToolChoice, Usage};
use metier_skill::advice::SkillAdvice;
use metier_skill::examples::examples;
use metier_skill::library::{Entry, Snapshot};
use metier_skill::search::{Document, Index, SkillIndex};
use serde_json::{Value, json};

use crate::library::nearest;
use crate::prompt::location;
use crate::tools::specs::name;

use command::{Adapted, Wish};
use talk::{Done, Talk};

/// Its name among models.
pub const NAME: &str = "offline";
/// Commands that are tried until one begins with a program that is there.
const MAX_TRIES: usize = 3;
/// What a shell says of a program that is not there.
const NO_SUCH_PROGRAM: i64 = 127;
/// Skills that are named when none fits.
const NEAREST: usize = 3;
/// A skill fits that knows so many words of a task…
const KNOWN_WORDS: usize = 2;
/// …or one in so many, or a kind of file that came with it.
const KNOWN_SHARE: usize = 2;

/// How a program gets a better answer, unless it says so itself.
pub const DEFAULT_ADVICE: &str = "give the agent a language model";

/// The offline planner.
#[derive(Debug)]
pub struct Offline {
    snapshot: Arc<Snapshot>,
    advice: String,
    /// Words advice about a skill that cannot be used.
    words: fn(&SkillAdvice) -> String,
}

/// What it does next.
enum Act {
    Call(&'static str, Value),
    Say(String),
}

impl Offline {
    /// A planner with these skills.
    pub fn new(snapshot: Arc<Snapshot>) -> Self {
        Self { snapshot, advice: DEFAULT_ADVICE.to_owned(), words: |advice| advice.to_string() }
    }

    /// The same, which tells people to do this for a better answer: `set a key`, say.
    #[must_use]
    pub fn with_advice(self, advice: &str) -> Self {
        Self { advice: advice.to_owned(), ..self }
    }

    /// Returns the same planner with the front end's words for what to do about a skill that cannot be used.
    #[must_use]
    pub fn with_words(self, words: fn(&SkillAdvice) -> String) -> Self {
        Self { words, ..self }
    }

    /// What it replies to a request.
    fn reply(&self, request: &Request) -> Act {
        if request.tool_choice == ToolChoice::None {
            return Act::Say(report::summary(request));
        }
        match self.act(request) {
            Act::Say(text) => Act::Say(report::whole(&text, &self.advice)),
            call => call,
        }
    }

    fn act(&self, request: &Request) -> Act {
        let talk = Talk::of(request);
        if let Some(run) = talk.last(&[name::RUN, name::EXEC]) {
            return self.after_run(&talk, run);
        }
        if let Some(load) = talk.last(&[name::LOAD, name::SKILL, name::READ]) {
            return match (talk::skill_of(load), load.is_error) {
                (Some(skill), false) => self.run(&talk, &skill),
                _ => Act::Say(report::failed(&load.text)),
            };
        }
        if let Some(skill) = talk.declared() {
            return self.run(&talk, &skill);
        }
        self.begin(&talk)
    }

    /// Picks a skill and loads it.
    fn begin(&self, talk: &Talk<'_>) -> Act {
        let ranked = self.rank(talk, Entry::is_model_visible);
        let Some(best) = ranked.first().filter(|it| it.fits) else {
            let unusable =
                |entry: &Entry| !entry.verdict.is_eligible() && entry.manifest.invocation.by_model;
            let wanted = self.rank(talk, unusable);
            if let Some(wanted) = wanted.first().filter(|it| it.fits) {
                return Act::Say(report::unusable(wanted.entry, self.words));
            }
            let mut names: Vec<&str> = ranked.iter().map(|it| it.entry.name.as_str()).collect();
            let others = nearest(&self.snapshot, &talk.words().join("-"), 2 * NEAREST);
            names.extend(others.into_iter().filter(|it| !ranked.iter().any(|has| has.is(it))));
            names.truncate(NEAREST);
            let entries = names.iter().filter_map(|name| self.snapshot.find(name));
            return Act::Say(report::nothing_fits(&entries.collect::<Vec<_>>()));
        };
        let skill = best.entry.name.as_str();
        if talk.is_last() {
            return Act::Say(report::no_request_left(skill));
        }
        if talk.has(name::LOAD) {
            return Act::Call(name::LOAD, json!({ "skill": skill }));
        }
        if talk.has(name::SKILL) {
            return Act::Call(name::SKILL, json!({ "skill_name": skill }));
        }
        if talk.has(name::READ) {
            return Act::Call(name::READ, json!({ "path": location(skill, None) }));
        }
        Act::Say(report::no_tool(skill))
    }

    /// Runs the example of a loaded skill that fits best and was not tried yet.
    fn run(&self, talk: &Talk<'_>, skill: &str) -> Act {
        let Some(body) = talk.body(skill) else {
            return Act::Say(report::failed("the text of the skill is not in the request"));
        };
        // Only some tools can bring a file in.
        let can_bring = !talk.has(name::EXEC);
        let files = talk.usable().iter().filter(|file| can_bring || command::is_inside(file));
        let files: Vec<_> = files.cloned().collect();
        let wish = Wish {
            words: &talk.words(),
            number: talk.number(),
            files: &command::apart(&files),
            are_its_own: !talk.files.is_empty(),
            tried: &talk.commands(),
        };
        let chosen = command::choose(&examples(&body), wish);
        let Some(adapted) = chosen else {
            return Act::Say(report::no_example(skill, &body));
        };
        if talk.is_last() {
            let why = "this turn has no request left";
            return Act::Say(report::not_run(skill, &adapted.command, why));
        }
        if talk.has(name::RUN) {
            return Act::Call(name::RUN, run_arguments(skill, &adapted));
        }
        if talk.has(name::EXEC) {
            let cwd = format!("$SKILLS_DIR/{skill}");
            return Act::Call(name::EXEC, json!({ "command": adapted.command, "cwd": cwd }));
        }
        Act::Say(report::not_run(skill, &adapted.command, "there is no tool to run commands with"))
    }

    fn after_run(&self, talk: &Talk<'_>, run: &Done) -> Act {
        let output: Value = serde_json::from_str(&run.text).unwrap_or_default();
        let is_missing = output["exit_code"].as_i64() == Some(NO_SUCH_PROGRAM);
        let skill = talk::skill_of(run);
        match skill.filter(|_| is_missing && !talk.is_last() && talk.commands().len() < MAX_TRIES) {
            Some(skill) => match self.run(talk, &skill) {
                // Nothing is left to try.
                Act::Say(_) => Act::Say(report::ran(talk, run)),
                call => call,
            },
            None => Act::Say(report::ran(talk, run)),
        }
    }

    /// The few skills among some that have most to do with a task, the best first.
    fn rank(&self, talk: &Talk<'_>, among: fn(&Entry) -> bool) -> Vec<Ranked<'_>> {
        let index = SkillIndex::new(&self.snapshot, among);
        let mut words = talk.words();
        let hits = index.search(&words.join(" "), NEAREST);
        words.retain(|word| means_something(word));
        let ranked = hits.into_iter().map(|(entry, _)| {
            let own = Index::new([document(entry)]);
            let knows = |word: &str| !own.search(word, 1).is_empty();
            let known = words.iter().filter(|word| knows(word)).count();
            let is_enough = known >= KNOWN_WORDS || known * KNOWN_SHARE >= words.len();
            let fits = known > 0 && (is_enough || talk.kinds().any(knows));
            Ranked { entry, fits }
        });
        ranked.collect()
    }
}

/// A skill that has something to do with a task.
struct Ranked<'a> {
    entry: &'a Entry,
    fits: bool,
}

impl Ranked<'_> {
    fn is(&self, name: &str) -> bool {
        self.entry.name.as_str() == name
    }
}

fn document(entry: &Entry) -> Document<'_> {
    let (name, description) = (entry.name.as_str(), &entry.manifest.description);
    Document { name, description, headings: &[] }
}

/// Whether a word tells one task from another: the search leaves out those that do not.
fn means_something(word: &str) -> bool {
    let index = Index::new([Document { name: word, description: "", headings: &[] }]);
    !word.bytes().all(|byte| byte.is_ascii_digit()) && !index.search(word, 1).is_empty()
}

fn run_arguments(skill: &str, adapted: &Adapted) -> Value {
    let mut arguments = json!({ "skill": skill, "command": adapted.command });
    if !adapted.inputs.is_empty() {
        let input = |(from, to): &(String, String)| json!({ "from": from, "to": to });
        arguments["inputs"] = adapted.inputs.iter().map(input).collect();
    }
    arguments
}

#[async_trait]
impl Model for Offline {
    fn name(&self) -> &str {
        NAME
    }

    async fn stream(&self, request: &Request) -> Result<Replies, ModelError> {
        let mut events = Vec::new();
        let (part, stop) = match self.reply(request) {
            Act::Say(text) => {
                let lines =
                    text.split_inclusive('\n').map(|line| ReplyEvent::Text(line.to_owned()));
                events.extend(lines);
                (ReplyPart::Text(text), StopReason::End)
            }
            Act::Call(name, arguments) => {
                let (name, arguments) = (name.to_owned(), arguments.to_string());
                let id = format!("{NAME}-{}", request.messages.len());
                events.push(ReplyEvent::CallBegun { index: 0, id: id.clone(), name: name.clone() });
                events.push(ReplyEvent::CallArguments { index: 0, text: arguments.clone() });
                (ReplyPart::Call { id, name, arguments }, StopReason::Calls)
            }
        };
        events.push(ReplyEvent::Done(Reply {
            parts: vec![part],
            stop,
            usage: Usage::default(),
            request_id: None,
            model: Some(NAME.to_owned()),
        }));
        Ok(Replies::new(stream::iter(events.into_iter().map(Ok))))
    }
}
