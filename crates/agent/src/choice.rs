//! Which calls a server may let the model choose from, for servers that can enforce it.
//!
//! Small models often do not call a tool where they should, or name a skill that does not exist. Where somebody
//! asked for it, the first request of a turn in which nothing is loaded lets the model do one thing: choose
//! one of the skills there are, or none. Everything after that is free. The names stand in what is enforced and
//! not in a tool, so the beginning of requests stays as it is when the library changes.

use metier_model::{AllowedCall, ToolChoice};
use metier_session::{Content, Event, Opening};
use metier_skill::library::{Entry, Snapshot};
use serde_json::{Value, json};

use crate::prompt;
use crate::tools::specs::name;
use crate::turn::last_turn;

/// What stands for no skill.
pub(crate) const NONE: &str = "none";
/// The answer to that choice.
pub(crate) const NOTHING_LOADED: &str = "no skill was loaded: go on without one";
/// Most skills that are offered; the grammar of more takes servers long to make.
const MAX_SKILLS: usize = 256;

/// What the next request of a session in which no skill is loaded may choose from.
pub(crate) fn constrained(opening: &Opening, events: &[Event], snapshot: &Snapshot) -> ToolChoice {
    let is_reply = |event: &Event| matches!(event.content, Content::Assistant(_));
    let is_first = !last_turn(events).iter().any(is_reply);
    let visible = snapshot.entries.iter().filter(|entry: &&Entry| entry.is_model_visible());
    let mut names: Vec<&str> = visible.map(|entry| entry.name.as_str()).collect();
    let tools = prompt::tools_of(opening);
    let loader = tools.iter().find(|tool| matches!(tool.name.as_str(), name::LOAD | name::SKILL));
    let Some(loader) = loader.filter(|_| is_first) else { return ToolChoice::Auto };
    if names.is_empty() || names.len() > MAX_SKILLS {
        return ToolChoice::Auto;
    }
    names.push(NONE);
    let field = if loader.name == name::SKILL { "skill_name" } else { "skill" };
    let schema = json!({
        "type": "object",
        "properties": { field: { "enum": names } },
        "required": [field],
        "additionalProperties": false,
    });
    ToolChoice::Constrained(vec![AllowedCall { name: loader.name.clone(), schema: Some(schema) }])
}

/// Whether a call that loads a skill chose none.
pub(crate) fn is_none(arguments: &Value) -> bool {
    let chosen = ["skill", "skill_name"].iter().find_map(|field| arguments.get(field)?.as_str());
    chosen == Some(NONE)
}
