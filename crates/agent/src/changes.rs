//! What a model is told when the library has changed since it was told of it.
//!
//! The list of skills at the beginning of a session stays as it is. Changes are appended where they
//! were noticed, so a changed library costs a few tokens and breaks nothing.

use std::collections::BTreeMap;

use metier_session::content::StateUpdate;
use metier_session::{Content, Event, Opening};
use metier_skill::library::{Entry, Snapshot};
use serde_json::{Map, Value};

use crate::prompt::{self, location};
use crate::shown::Window;
use crate::tools::ToolSet;

/// Skills that are named one by one.
const MAX_NAMED: usize = 20;
/// Longest description of one, in characters.
const MAX_DESCRIPTION: usize = 300;
/// The field with what is known of each skill.
const FIELD: &str = "skills";
/// Why such an event is there.
const CAUSE: &str = "library";

/// What tells one version of a skill's line from another, by name.
type Known = BTreeMap<String, String>;

/// Notes in an opening which skills it was made of.
pub fn note(opening: &mut Opening, snapshot: &Snapshot) {
    let known = known_of(snapshot).into_iter().map(|(name, mark)| (name, Value::String(mark)));
    opening.extra.insert(FIELD.to_owned(), Value::Object(known.collect()));
}

/// What to tell a model of a session, if anything; nothing if it was never told of skills.
pub fn update(opening: &Opening, events: &[Event], snapshot: &Snapshot) -> Option<StateUpdate> {
    opening.extra.get(FIELD)?;
    let (before, now) = (known_to(opening, events), known_of(snapshot));
    let is_new = |name: &&String| before.get(*name) != now.get(*name);
    let (changed, added): (Vec<&String>, Vec<&String>) =
        now.keys().filter(is_new).partition(|name| before.contains_key(*name));
    let gone: Vec<&String> = before.keys().filter(|name| !now.contains_key(*name)).collect();
    if added.is_empty() && changed.is_empty() && gone.is_empty() {
        return None;
    }
    let mut text = String::from("The skills have changed.\n");
    let line = |name: &str| line(snapshot, name, opening);
    push(&mut text, "New:", &added, line);
    push(&mut text, "Changed:", &changed, line);
    push(&mut text, "No longer there:", &gone, |name| format!("- {name}"));
    let mark = |name: &&String| {
        let mark = now.get(*name).map_or(Value::Null, |mark| Value::String(mark.clone()));
        ((*name).clone(), mark)
    };
    let marks: Map<String, Value> = added.iter().chain(&changed).chain(&gone).map(mark).collect();
    let mut update =
        StateUpdate { cause: CAUSE.to_owned(), text: Some(text), ..StateUpdate::default() };
    update.extra.insert(FIELD.to_owned(), Value::Object(marks));
    Some(update)
}

fn push(text: &mut String, heading: &str, names: &[&String], line: impl Fn(&str) -> String) {
    if names.is_empty() {
        return;
    }
    text.push_str(heading);
    text.push('\n');
    for name in names.iter().take(MAX_NAMED) {
        text.push_str(&line(name));
        text.push('\n');
    }
    if let Some(more) = names.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        text.push_str(&format!("and {more} more\n"));
    }
}

/// What is told of a skill, as the list at the beginning told it.
fn line(snapshot: &Snapshot, name: &str, opening: &Opening) -> String {
    let description = snapshot.find(name).map(Entry::summary);
    let description: String =
        description.unwrap_or_default().chars().take(MAX_DESCRIPTION).collect();
    match prompt::tool_set_of(opening) {
        ToolSet::Files => {
            let place = location(name, prompt::skills_folder_of(opening));
            format!("- {name}: {description} ({place})")
        }
        _ => format!("- {name}: {description}"),
    }
}

/// What a session was told, at its beginning and since.
fn known_to(opening: &Opening, events: &[Event]) -> Known {
    let mut known = Known::new();
    // What a summary covers is not in requests any more.
    let updates = Window::of(events).events.into_iter().filter_map(|event| match &event.content {
        Content::StateUpdate(update) if update.cause == CAUSE => update.extra.get(FIELD),
        _ => None,
    });
    for marks in opening.extra.get(FIELD).into_iter().chain(updates) {
        for (name, mark) in marks.as_object().into_iter().flatten() {
            match mark.as_str() {
                Some(mark) => drop(known.insert(name.clone(), mark.to_owned())),
                None => drop(known.remove(name)),
            }
        }
    }
    known
}

fn known_of(snapshot: &Snapshot) -> Known {
    let visible = snapshot.entries.iter().filter(|entry| entry.is_model_visible());
    visible.map(|entry| (entry.name.as_str().to_owned(), mark(entry))).collect()
}

/// Tells whether the line of a skill says something else.
fn mark(entry: &Entry) -> String {
    let digest = metier_skill::files::Digest::of_bytes(entry.description().as_bytes());
    digest.to_string().chars().take(12).collect()
}
