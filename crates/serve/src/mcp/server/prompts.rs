//! Prompts: one for each skill that a person may start by name.
//!
//! What comes of one is what a slash command gives a model: the skill, and the words of the person.

use std::sync::Arc;

use metier_agent::visit::Visit;
use metier_skill::library::{Entry, Snapshot};
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage, Role,
};
use serde_json::Value;

use super::hint::{self, Argument};
use super::page::Place;

/// Prompts on a page.
const PAGE: usize = 200;

/// All prompts, in order of the names.
pub(super) fn all(skills: &Snapshot) -> Vec<Prompt> {
    skills.entries.iter().filter(|entry| entry.is_user_invocable()).map(of_skill).collect()
}

/// A page of them.
///
/// # Errors
///
/// When the cursor is none.
pub(super) fn list(
    skills: &Snapshot,
    cursor: Option<&str>,
) -> Result<ListPromptsResult, ErrorData> {
    let begin = Place::of_cursor(cursor)?;
    let entries = skills.entries.iter().filter(|entry| entry.is_user_invocable());
    let is_behind = |entry: &&Entry| {
        begin.as_ref().is_none_or(|begin| entry.name.as_str() > begin.first.as_str())
    };
    let mut entries = entries.filter(is_behind);
    let page: Vec<&Entry> = entries.by_ref().take(PAGE).collect();
    let mut result =
        ListPromptsResult::with_all_items(page.iter().map(|it| of_skill(it)).collect());
    if entries.next().is_some() {
        let last = page.last().map(|entry| Place::behind(entry.name.as_str(), ""));
        result.next_cursor = last.map(|it| it.cursor());
    }
    Ok(result)
}

/// The arguments of the prompt of a skill.
///
/// # Errors
///
/// When there is none.
pub(super) fn arguments(skills: &Snapshot, name: &str) -> Result<Vec<Argument>, ErrorData> {
    Ok(hint::arguments(find(skills, name)?.manifest.argument_hint.as_deref()))
}

/// What a person says with a prompt.
///
/// # Errors
///
/// When there is no such prompt, an argument is missing or unknown, or the skill cannot be loaded.
pub(super) async fn get(
    visit: &Arc<Visit>,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let skills = visit.snapshot();
    let entry = find(&skills, &request.name)?;
    let name = entry.name.as_str();
    let words = words(&arguments(&skills, name)?, request.arguments.unwrap_or_default())?;
    let loaded = visit.load_for_person(name).await;
    if loaded.is_error {
        return Err(ErrorData::internal_error(loaded.text, None));
    }
    let words = match words.as_str() {
        "" => format!("Use the skill `{name}`."),
        words => format!("Use the skill `{name}`.\n\n{words}"),
    };
    let messages =
        [loaded.text, words].map(|text| PromptMessage::new_text(Role::User, text)).to_vec();
    Ok(GetPromptResult::new(messages).with_description(entry.description()))
}

fn find<'a>(skills: &'a Snapshot, name: &str) -> Result<&'a Entry, ErrorData> {
    let entry = skills.find(name).filter(|entry| entry.is_user_invocable());
    entry.ok_or_else(|| ErrorData::invalid_params(format!("there is no prompt `{name}`"), None))
}

fn of_skill(entry: &Entry) -> Prompt {
    let arguments = hint::arguments(entry.manifest.argument_hint.as_deref());
    let arguments = arguments.into_iter().map(|argument| {
        PromptArgument::new(argument.name)
            .with_description(argument.description)
            .with_required(argument.is_required)
    });
    Prompt::new(entry.name.as_str(), Some(entry.description()), Some(arguments.collect()))
        .with_title(title(entry.name.as_str()))
}

/// A name as a heading: `csv-stats` is `Csv stats`.
fn title(name: &str) -> String {
    let words = name.replace(['-', '_'], " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// What was given for arguments, in their order, as a person would have typed it.
fn words(
    arguments: &[Argument],
    mut given: serde_json::Map<String, Value>,
) -> Result<String, ErrorData> {
    let mut words = Vec::new();
    for Argument { name, is_required, .. } in arguments {
        // Forms send what was left empty.
        let is_blank = |it: &Value| it.as_str().is_some_and(|it| it.trim().is_empty());
        match given.remove(name).filter(|it| !is_blank(it)) {
            Some(Value::String(value)) => words.push(value),
            Some(_) => return Err(wrong(format!("the argument `{name}` is not a text"))),
            None if *is_required => return Err(wrong(format!("the argument `{name}` is missing"))),
            None => {}
        }
    }
    match given.keys().next() {
        Some(name) => Err(wrong(format!("there is no argument `{name}`"))),
        None => Ok(words.join(" ")),
    }
}

fn wrong(message: String) -> ErrorData {
    ErrorData::invalid_params(message, None)
}
