//! What a request says: the task, the files that came with it or before it, and what was done since.

use metier_model::{Message, Part, ReplyPart, Request};
use serde_json::Value;

use crate::block::LOADED;
use crate::conversation::{ATTACHED, LOADED_CONTEXT};
use crate::runner::LAST_REQUEST;

use super::command::{extension, is_number};

/// Words of a task that are looked at; the rest adds nothing.
const MAX_WORDS: usize = 64;

/// A file that came with the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attached {
    /// Its name, without folders.
    pub(super) name: String,
    /// Where it is.
    pub(super) reference: String,
}

/// A call with what came of it.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) tool: String,
    pub(super) arguments: Value,
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// What a request says.
#[derive(Debug)]
pub(super) struct Talk<'a> {
    request: &'a Request,
    /// Where the task is among the messages.
    at: usize,
    /// The words of the task.
    pub(super) task: String,
    /// What came with it.
    pub(super) files: Vec<Attached>,
    /// What came with the last message before it that had files. They say nothing of what the task is.
    earlier: Vec<Attached>,
    /// The calls since then.
    pub(super) done: Vec<Done>,
}

impl<'a> Talk<'a> {
    pub(super) fn of(request: &'a Request) -> Self {
        let is_user = |message: &Message| matches!(message, Message::User(_));
        let at = request.messages.iter().rposition(is_user).unwrap_or_default();
        let text = request.messages.get(at).map(text_of).unwrap_or_default();
        let (task, files) = with_files(&text);
        let before = request.messages[..at].iter().rev().map(|it| with_files(&text_of(it)).1);
        let earlier = before.into_iter().find(|files| !files.is_empty()).unwrap_or_default();
        let since = request.messages.get(at + 1..).unwrap_or_default();
        Self { request, at, task: task.to_owned(), files, earlier, done: done(since) }
    }

    /// The files that a command may use: those of the task, or if it has none, the last before it.
    pub(super) fn usable(&self) -> &[Attached] {
        if self.files.is_empty() { &self.earlier } else { &self.files }
    }

    /// Whether there is a tool of this name.
    pub(super) fn has(&self, tool: &str) -> bool {
        self.request.tools.iter().any(|spec| spec.name == tool)
    }

    /// Whether no call is run any more.
    pub(super) fn is_last(&self) -> bool {
        matches!(self.request.messages.last(), Some(Message::System(text)) if text == LAST_REQUEST)
    }

    /// The last call of one of these tools.
    pub(super) fn last(&self, tools: &[&str]) -> Option<&Done> {
        self.done.iter().rev().find(|done| tools.contains(&done.tool.as_str()))
    }

    /// The commands that were run.
    pub(super) fn commands(&self) -> Vec<String> {
        let command = |done: &Done| done.arguments["command"].as_str().map(str::to_owned);
        self.done.iter().filter_map(command).collect()
    }

    /// The first words of the task, and what kinds of files it has; their names say nothing.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for text in self.kinds().chain(self.task.split_whitespace()) {
            let text = extension(bare(text)).unwrap_or(text);
            for word in text.split(|it: char| !it.is_alphanumeric()) {
                let word = word.to_lowercase();
                if words.len() == MAX_WORDS {
                    return words;
                }
                if !word.is_empty() && !words.contains(&word) {
                    words.push(word);
                }
            }
        }
        words
    }

    /// What kinds of files the task has.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter_map(|file| extension(&file.name))
    }

    /// The number in the task, if there is one and no other.
    pub(super) fn number(&self) -> Option<&str> {
        let mut numbers = self.task.split_whitespace().map(bare).filter(|word| is_number(word));
        numbers.next().filter(|_| numbers.next().is_none())
    }

    /// The skill that was loaded along with the task.
    pub(super) fn declared(&self) -> Option<String> {
        let Message::System(text) = self.request.messages.get(self.at.checked_sub(1)?)? else {
            return None;
        };
        let block = text.strip_prefix(LOADED_CONTEXT)?.trim_start().strip_prefix(LOADED)?;
        block.lines().next().map(|name| name.trim().to_owned())
    }

    /// The instructions of a skill, from where they stand last.
    pub(super) fn body(&self, skill: &str) -> Option<String> {
        let read = self.done.iter().rev().find(|done| {
            !done.is_error
                && done.arguments.get("path").is_some()
                && skill_of(done).as_deref() == Some(skill)
        });
        if let Some(read) = read {
            return Some(without_numbers(&read.text));
        }
        let text = |message: &'a Message| match message {
            Message::System(text) | Message::ToolResult { text, .. } => Some(text.as_str()),
            _ => None,
        };
        let texts = self.request.messages.iter().rev().filter_map(text);
        let begin = format!("{LOADED}{skill}\n");
        let block = texts.chain([self.request.system.as_str()]).find_map(|text| {
            let at = text.match_indices(&begin).map(|(at, _)| at);
            let at = at.filter(|at| *at == 0 || text[..*at].ends_with('\n')).last()?;
            Some(&text[at + begin.len()..])
        })?;
        Some(block.split_once("\nDocs loaded: ").map_or(block, |(body, _)| body).to_owned())
    }
}

/// A word without what stands around it in a sentence.
fn bare(word: &str) -> &str {
    word.trim_matches(|it: char| !it.is_alphanumeric())
}

/// The skill that a call was about.
pub(super) fn skill_of(done: &Done) -> Option<String> {
    let named = |field: &str| done.arguments[field].as_str();
    if let Some(skill) = named("skill").or_else(|| named("skill_name")) {
        return Some(skill.to_owned());
    }
    let place = named("path").or_else(|| named("cwd"))?.strip_prefix("$SKILLS_DIR/")?;
    place.split('/').next().map(str::to_owned)
}

/// What a person said.
pub(super) fn text_of(message: &Message) -> String {
    let Message::User(parts) = message else { return String::new() };
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// What a person said, and the files that are listed below it.
fn with_files(text: &str) -> (&str, Vec<Attached>) {
    match text.rsplit_once(ATTACHED) {
        Some((task, list)) => (task, list.lines().filter_map(attached).collect()),
        None => (text, Vec::new()),
    }
}

/// A line such as `- sales.csv (workspace://work/inputs/sales.csv)`.
fn attached(line: &str) -> Option<Attached> {
    let (name, reference) = line.strip_prefix("- ")?.strip_suffix(')')?.rsplit_once(" (")?;
    let name = name.rsplit('/').next().unwrap_or(name);
    Some(Attached { name: name.to_owned(), reference: reference.to_owned() })
}

fn done(messages: &[Message]) -> Vec<Done> {
    let calls = messages.iter().flat_map(|message| match message {
        Message::Assistant(parts) => parts.as_slice(),
        _ => &[],
    });
    let done = calls.filter_map(|part| {
        let ReplyPart::Call { id, name, arguments } = part else { return None };
        let (text, is_error) = messages.iter().find_map(|message| match message {
            Message::ToolResult { call_id, text, is_error, .. } if call_id == id => {
                Some((text.clone(), *is_error))
            }
            _ => None,
        })?;
        let arguments = serde_json::from_str(arguments).unwrap_or_default();
        Some(Done { tool: name.clone(), arguments, text, is_error })
    });
    done.collect()
}

/// Lines as `read` gives them, without their numbers and without the header above the body.
fn without_numbers(text: &str) -> String {
    let line = |line: &str| line.split_once(": ").map_or("", |(_, rest)| rest).to_owned() + "\n";
    let text: String = text.lines().map(line).collect();
    crate::texts::body_of(text.as_bytes())
}
