//! The message of a person: words, the skills that they name, and a skill that is called.

use super::names::{SkillCommands, is_of_name};

/// The message of a person, for the model or for a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnMessage {
    /// The words.
    pub text: String,
    /// Skills to load for it.
    pub loads: Vec<String>,
    /// The skill whose command it is, if it is one.
    pub called: Option<CalledSkill>,
}

/// A skill that is called by its command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalledSkill {
    /// The skill.
    pub skill: String,
    /// Its command, as it was written.
    pub command: String,
    /// What was written behind it.
    pub rest: String,
}

impl TurnMessage {
    /// Reads words that are no command.
    pub fn of(text: &str, names: &SkillCommands) -> Self {
        Self { text: text.to_owned(), loads: named_in(text, names), called: None }
    }

    /// Reads the call of a skill; none if there is no such skill.
    pub fn calling(command: &str, rest: &str, names: &SkillCommands) -> Option<Self> {
        let skill = names.skill(command)?;
        let mut loads = vec![skill.to_owned()];
        loads.extend(named_in(rest, names).into_iter().filter(|it| it != skill));
        let text = match rest {
            "" => format!("Use the skill `{skill}`."),
            rest => format!("Use the skill `{skill}`.\n\n{rest}"),
        };
        let (command, rest) = (command.to_owned(), rest.to_owned());
        Some(Self {
            text,
            loads,
            called: Some(CalledSkill { skill: skill.to_owned(), command, rest }),
        })
    }
}

/// Splits a line into a command and what is behind it: a `/` and one word; a path is none.
pub fn command_in(line: &str) -> Option<(&str, &str)> {
    let (word, rest) = first_word(line);
    Some((word.strip_prefix('/').filter(|it| it.chars().all(is_of_name))?, rest))
}

/// Splits a text into its first word and the others.
pub fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

/// Skills that are named with a `$` in a text. Everything else with a `$` is text.
fn named_in(text: &str, names: &SkillCommands) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, _) in text.match_indices('$') {
        if text[..at].ends_with(is_of_name) {
            continue;
        }
        let rest = &text[at + 1..];
        let name = &rest[..rest.find(|it| !is_of_name(it)).unwrap_or(rest.len())];
        let skill = names.exactly(name);
        if let Some(skill) = skill.filter(|skill| !found.iter().any(|it| it == skill)) {
            found.push(skill.to_owned());
        }
    }
    found
}
