//! A session with a provider that records what it is asked: what was sent, and what was written down.

use std::collections::BTreeMap;

use metier_testkit::provider::{Provider, Said, Wire};
use metier_testkit::{Outcome, TestEnv};
use serde_json::{Value, json};

use super::bench::with_skill;
use crate::run;

/// The marks of Anthropic's cache, which move with the end of a conversation.
pub(super) const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;
/// What a request for a summary has that the conversation does not.
const NO_CALLS: [&str; 2] = [r#""tool_choice":"none","#, r#""tool_choice":{"type":"none"},"#];
/// How the message begins that asks for one.
const ASK: &str = "Write a summary of this conversation";

/// A session.
pub(super) struct Talk {
    pub(super) env: TestEnv,
    pub(super) provider: Provider,
}

/// One request, read.
pub(super) struct Sent {
    /// The text before all messages.
    pub(super) system: String,
    /// The tools, as they were written.
    pub(super) tools: String,
    /// Each message in a few words.
    pub(super) messages: Vec<String>,
}

impl Talk {
    /// With two skills, of which one has docs and a script.
    pub(super) fn new(wire: Wire) -> Self {
        let talk = Self { env: with_skill(), provider: Provider::start(wire) };
        talk.env.write("project/skills/counter/limits.md", "At most a million lines.\n");
        talk.env.write(
            "project/skills/charts/SKILL.md",
            "---\nname: charts\ndescription: Draws charts.\n---\n\nDraw with care.\n",
        );
        talk.set("");
        talk
    }

    /// Sets these settings beside the address of the provider.
    pub(super) fn set(&self, settings: &str) {
        let (address, format) = (self.provider.server.url("/v1"), self.provider.wire.word());
        let provider = format!(
            "[models.providers.test]\nbase_url = \"{address}\"\nkey = \"k-test-1\"\nformat = \"{format}\"\n"
        );
        self.env.write("home/.metier/config.toml", format!("{provider}\n{settings}"));
    }

    /// The words of the command line that says something in the session.
    pub(super) fn words<'a>(words: &[&'a str]) -> Vec<&'a str> {
        let fixed = ["run", "--model", "test/small", "--skills-dir", "skills"];
        let fixed = fixed.iter().chain(&["--no-default-sources", "--session", "one"]);
        fixed.chain(words).copied().collect()
    }

    /// Says something, whatever comes of it.
    pub(super) fn try_saying(&self, words: &[&str]) -> Outcome {
        self.env.run(Self::words(words))
    }

    /// Says something that is answered with these replies, of which the last is the answer.
    pub(super) fn say(&self, words: &[&str], replies: impl IntoIterator<Item = Said>) {
        self.provider.says(replies);
        let outcome = self.try_saying(words);
        assert_eq!(outcome.code, 0, "{words:?}: {outcome}");
    }

    /// Every request so far.
    pub(super) fn sent(&self) -> Vec<Sent> {
        self.provider.bodies().iter().map(|body| sent(self.provider.wire, body)).collect()
    }

    /// Every event of the session, as an export has it.
    pub(super) fn events(&self) -> Vec<Value> {
        let outcome = run(&self.env, "sessions export one");
        assert_eq!(outcome.code, 0, "{outcome}");
        let line = |line: &str| serde_json::from_str(line).expect("a line is JSON");
        outcome.stdout.lines().skip(1).map(line).collect()
    }

    /// The state of the session, a line each, from the changes that its events made.
    pub(super) fn state(&self) -> String {
        let mut state: BTreeMap<String, String> = BTreeMap::new();
        for event in self.events() {
            for (name, value) in event["state"].as_object().into_iter().flatten() {
                match value.as_str() {
                    Some(value) => drop(state.insert(name.clone(), value.to_owned())),
                    None => drop(state.remove(name)),
                }
            }
        }
        state.iter().map(|(name, value)| format!("{name} = {value}\n")).collect()
    }

    /// The bodies of requests for answers, without cache marks. One for a summary is about older turns only,
    /// and has the bytes of the request before as far as it goes.
    fn conversations(&self) -> Vec<String> {
        let mut bodies: Vec<String> = Vec::new();
        for body in self.provider.bodies() {
            let plain = plain(self.provider.wire, &body);
            if !body.contains(ASK) {
                bodies.push(plain);
                continue;
            }
            let before = beginning(bodies.last().expect("something to summarise"));
            let same = common(before, &plain);
            assert!(same == before.len() || same == plain.len(), "{before}\n=====\n{plain}");
        }
        bodies
    }

    /// Where the bodies of two requests for answers, one after the other, do not begin with the same bytes:
    /// the numbers of those before.
    pub(super) fn broken(&self) -> Vec<usize> {
        let bodies = self.conversations();
        let is_broken = |at: &usize| !bodies[at + 1].starts_with(beginning(&bodies[*at]));
        (0..bodies.len().saturating_sub(1)).filter(is_broken).collect()
    }

    /// Where events say that requests break with those before, with their causes: the numbers of the
    /// requests before. Only right if every request was answered.
    pub(super) fn said_to_break(&self) -> Vec<(usize, String)> {
        let (mut replies, mut breaks) = (0, Vec::new());
        for event in self.events() {
            if event["kind"] == "assistant" {
                replies += 1;
            }
            if let Some(cause) = event["breaks"]["cause"].as_str() {
                breaks.push((replies - 1, cause.to_owned()));
            }
        }
        breaks
    }

    /// Every request has the bytes of the one before, and no event says otherwise.
    pub(super) fn assert_only_grew(&self, requests: usize) {
        let what = self.provider.wire;
        assert_eq!(self.provider.bodies().len(), requests, "{what:?}");
        assert_eq!(self.broken(), [0; 0], "{what:?}: {}", self.first_break());
        assert_eq!(self.said_to_break(), [], "{what:?}");
    }

    /// What every request added to the one before, from the first message on that differs.
    pub(super) fn story(&self) -> String {
        let mut story = String::new();
        let mut before: Option<Sent> = None;
        for (number, now) in self.sent().into_iter().enumerate() {
            story.push_str(&format!("== request {}\n", number + 1));
            let same = before.as_ref().map_or(0, |before| {
                if before.system != now.system {
                    let same = common(&before.system, &now.system);
                    story.push_str(&format!(
                        "-- the system text ends with:\n{}\n",
                        &now.system[same..]
                    ));
                }
                assert_eq!(before.tools, now.tools, "tools never change");
                let pairs = before.messages.iter().zip(&now.messages);
                pairs.take_while(|(before, now)| before == now).count()
            });
            let left = before.as_ref().map_or(0, |before| before.messages.len());
            if same < left {
                story.push_str(&format!("-- other than before from message {} on:\n", same + 1));
            }
            now.messages[same..].iter().for_each(|message| story.push_str(message));
            before = Some(now);
        }
        story
    }

    /// For the eye: the first place where a request differs from the one before.
    fn first_break(&self) -> String {
        let Some(at) = self.broken().first().copied() else { return String::new() };
        let bodies = self.conversations();
        let same = common(&bodies[at], &bodies[at + 1]);
        let shown = |body: &str| body[same..].chars().take(200).collect::<String>();
        format!("request {}: {:?} became {:?}", at + 2, shown(&bodies[at]), shown(&bodies[at + 1]))
    }
}

/// Loads a skill.
pub(super) fn load(id: &str, skill: &str) -> Said {
    Said::call(id, "skill_load", json!({ "skill": skill }))
}

/// Adds a doc of the skill `counter`.
pub(super) fn docs(id: &str, doc: &str) -> Said {
    let arguments = json!({ "skill": "counter", "docs": [doc], "mode": "add" });
    Said::call(id, "skill_select_docs", arguments)
}

/// Runs a command of the skill `counter`.
pub(super) fn command(id: &str, command: &str) -> Said {
    Said::call(id, "skill_run", json!({ "skill": "counter", "command": command }))
}

/// Bytes that two texts begin with.
fn common(one: &str, other: &str) -> usize {
    let pairs = one.char_indices().zip(other.chars());
    pairs.take_while(|((_, a), b)| a == b).map(|((at, a), _)| at + a.len_utf8()).last().unwrap_or(0)
}

/// A body without what is not part of the conversation.
fn plain(wire: Wire, body: &str) -> String {
    let mut body = body.replace(MARK, "");
    if let Some(asking) = body.rfind(ASK) {
        body = NO_CALLS.iter().fold(body[..asking].to_owned(), |body, it| body.replace(it, ""));
        // The message around the question began right before it.
        let message = match wire {
            Wire::Messages => r#"{"type":"text","#,
            Wire::Responses => r#"{"type":"message","#,
            Wire::ChatCompletions => r#"{"role":"user","#,
        };
        let begin = body.rfind(message).expect("a message");
        body.truncate(begin);
        let comma =
            body.trim_end_matches(r#"{"role":"user","content":["#).trim_end_matches(',').len();
        body.truncate(comma);
    }
    body
}

/// A body up to the end of its last message.
fn beginning(body: &str) -> &str {
    body.trim_end_matches([']', '}'])
}

fn sent(wire: Wire, body: &str) -> Sent {
    let body: Value = serde_json::from_str(body).expect("a request is JSON");
    let tools = body["tools"].to_string().replace(MARK, "");
    let list = |name: &str| body[name].as_array().cloned().unwrap_or_default();
    let (system, items) = match wire {
        Wire::ChatCompletions => {
            let mut messages = list("messages");
            let first = messages.remove(0);
            assert_eq!(first["role"], "system");
            (first["content"].clone(), messages.iter().flat_map(of_chat).collect())
        }
        Wire::Responses => {
            (body["instructions"].clone(), list("input").iter().map(of_responses).collect())
        }
        Wire::Messages => {
            let items: Vec<String> = list("messages").iter().flat_map(of_messages).collect();
            (body["system"][0]["text"].clone(), items)
        }
    };
    let system = system.as_str().expect("a system text").to_owned();
    Sent { system, tools, messages: items }
}

fn of_chat(message: &Value) -> Vec<String> {
    let role = message["role"].as_str().expect("a role");
    let mut items = Vec::new();
    if let Some(text) = message["content"].as_str() {
        items.push(item(role, text));
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        items.push(called(&function["name"], function["arguments"].as_str().unwrap_or_default()));
    }
    items
}

fn of_responses(item_of: &Value) -> String {
    match item_of["type"].as_str() {
        Some("function_call") => {
            called(&item_of["name"], item_of["arguments"].as_str().unwrap_or_default())
        }
        Some("function_call_output") => {
            item("tool", item_of["output"].as_str().unwrap_or_default())
        }
        _ => {
            let text = item_of["content"][0]["text"].as_str().unwrap_or_default();
            item(item_of["role"].as_str().expect("a role"), text)
        }
    }
}

fn of_messages(message: &Value) -> Vec<String> {
    let role = message["role"].as_str().expect("a role");
    let block = |block: &Value| match block["type"].as_str() {
        Some("tool_use") => called(&block["name"], &block["input"].to_string()),
        Some("tool_result") => item("tool", block["content"].as_str().unwrap_or_default()),
        _ => item(role, block["text"].as_str().unwrap_or_default()),
    };
    message["content"].as_array().expect("blocks").iter().map(block).collect()
}

fn called(name: &Value, arguments: &str) -> String {
    format!("call: {} {arguments}\n", name.as_str().unwrap_or_default())
}

/// A message for the eye; of what a run answers only what is the same every time.
fn item(role: &str, text: &str) -> String {
    let run = serde_json::from_str::<Value>(text).ok().filter(|it| it["run"].is_string());
    match run {
        Some(run) => format!("{role}: [RUN] exit {} {}\n", run["exit_code"], run["stdout"]),
        None => format!("{role}: {text}\n"),
    }
}
