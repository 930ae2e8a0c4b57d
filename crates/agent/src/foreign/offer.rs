//! What a model is told of tools of other servers.

use std::collections::BTreeMap;

use metier_model::ToolSpec;
use metier_skill::catalog::one_line;
use serde_json::{Map, Value, json};

use super::{Definition, PinnedTool};
use crate::tools::specs::name;

/// Most tools that a model is offered beside those of this crate; providers refuse requests with some more.
pub(super) const MAX_TOOLS: usize = 100;
/// What stands between the names of a server and of its tool; no tool of ours has it.
pub(super) const BETWEEN: &str = "__";
/// Longest name of a tool, as providers have it.
const MAX_NAME: usize = 64;
/// Longest name that a server may give a tool, in bytes.
const MAX_OWN_NAME: usize = 128;
/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 1024;
/// Largest schema of a tool, in bytes.
const MAX_SCHEMA: usize = 16 << 10;
/// What all of them together may take, in bytes: some twenty thousand tokens.
const MAX_TOTAL: usize = 80 << 10;
/// How deep a schema may be nested.
const MAX_DEPTH: usize = 24;
/// Members of a schema that are words for people and models.
const WORDS: [&str; 3] = ["description", "title", "$comment"];

/// What is offered, and what is not.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Offers {
    /// What is offered, in a fixed order.
    pub(crate) tools: Vec<OfferedTool>,
    /// What is not, and why, in words for a person.
    pub(crate) left_out: Vec<String>,
}

/// A tool of another server as a model knows it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OfferedTool {
    /// What the model is told.
    pub(crate) spec: ToolSpec,
    /// What it is.
    pub(crate) pinned: PinnedTool,
}

/// Makes tools of definitions; `own` are those that a model has already.
///
/// Servers share what there is room for: each has its first tool before one has its second.
pub(crate) fn offer(mut definitions: Vec<Definition>, own: &[ToolSpec]) -> Offers {
    definitions.sort_by(|one, other| (&one.server, &one.name).cmp(&(&other.server, &other.name)));
    definitions.dedup_by(|one, other| (&one.server, &one.name) == (&other.server, &other.name));
    let mut offers = Offers::default();
    let mut usable: Vec<(usize, &Definition, ToolSpec)> = Vec::new();
    for definition in &definitions {
        let Definition { server, name, .. } = definition;
        match described(definition) {
            Ok(spec) => {
                let last = usable.last().filter(|(_, it, _)| it.server == *server);
                let turn = last.map_or(0, |(turn, ..)| turn + 1);
                usable.push((turn, definition, spec));
            }
            Err(why) => {
                let name: String = one_line(name).chars().take(MAX_NAME).collect();
                offers.left_out.push(format!("`{name}` of `{server}` is not offered: {why}"));
            }
        }
    }
    usable.sort_by_key(|(turn, ..)| *turn);
    let is_of_the_program = |tool: &&ToolSpec| !name::ALL.contains(&tool.name.as_str());
    let (mut count, mut total) = (own.iter().filter(is_of_the_program).count(), 0);
    let mut too_many: BTreeMap<&str, usize> = BTreeMap::new();
    usable.retain(|(_, definition, spec)| {
        let size = spec.description.len() + spec.schema.to_string().len();
        let has_room = count < MAX_TOOLS && total + size <= MAX_TOTAL;
        if has_room {
            (count, total) = (count + 1, total + size);
        } else {
            *too_many.entry(&definition.server).or_default() += 1;
        }
        has_room
    });
    usable.sort_by_key(|(turn, definition, _)| (&definition.server, *turn));
    let mut taken: Vec<String> = own.iter().map(|tool| tool.name.clone()).collect();
    for (_, definition, spec) in usable {
        let spec = ToolSpec { name: free(&spec.name, &taken), ..spec };
        taken.push(spec.name.clone());
        offers.tools.push(OfferedTool { spec, pinned: definition.pinned() });
    }
    offers.left_out.extend(too_many.into_iter().map(|(server, count)| {
        format!(
            "{count} more tools of `{server}` are not offered: there are too many; `mcp.servers.{server}.deny` hides some"
        )
    }));
    offers
}

/// A tool as a model is told of it, under a name that may be taken.
fn described(definition: &Definition) -> Result<ToolSpec, &'static str> {
    let Definition { server, name, description, schema } = definition;
    if name.is_empty() || name.len() > MAX_OWN_NAME || *one_line(name) != **name {
        return Err("it has no usable name");
    }
    if depth(schema) > MAX_DEPTH || schema.to_string().len() > MAX_SCHEMA {
        return Err("what its arguments are is too long");
    }
    let said = one_line(description);
    let said = match said.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &said[..end]),
        None => said.into_owned(),
    };
    // Whatever it says, it says it after this.
    let said = match said.as_str() {
        "" => "which says nothing of it".to_owned(),
        said => format!("which says of it: {said}"),
    };
    Ok(ToolSpec {
        name: cut(&format!("{}{BETWEEN}{}", tame(server), tame(name)), MAX_NAME).to_owned(),
        description: format!("`{name}` of the server `{server}`, {said}"),
        schema: object(schema),
    })
}

/// A schema for an object, with its words made safe.
fn object(schema: &Value) -> Value {
    let mut members = match cleaned(schema) {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    members.insert("type".to_owned(), json!("object"));
    members.entry("properties").or_insert_with(|| json!({}));
    Value::Object(members)
}

fn cleaned(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| match value {
                Value::String(text) if WORDS.contains(&name.as_str()) => {
                    (name.clone(), Value::String(one_line(text).into_owned()))
                }
                value => (name.clone(), cleaned(value)),
            })
            .collect(),
        Value::Array(items) => items.iter().map(cleaned).collect(),
        other => other.clone(),
    }
}

fn depth(value: &Value) -> usize {
    let deepest = match value {
        Value::Object(members) => members.values().map(depth).max(),
        Value::Array(items) => items.iter().map(depth).max(),
        _ => return 0,
    };
    1 + deepest.unwrap_or_default()
}

/// A text of nothing but signs that names of tools may have.
fn tame(text: &str) -> String {
    let is_tame = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    text.chars().map(|it| if is_tame(it) { it } else { '_' }).collect()
}

/// A name that is not taken: the one that is wanted, or the same with a number.
fn free(wanted: &str, taken: &[String]) -> String {
    let is_free = |name: &String| taken.iter().all(|it| it != name);
    let numbered = (2..).map(|number| {
        let ending = format!("_{number}");
        format!("{}{ending}", cut(wanted, MAX_NAME - ending.len()))
    });
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names.find(is_free).unwrap_or_default()
}

/// The beginning of a name, which is ASCII.
fn cut(name: &str, most: usize) -> &str {
    &name[..name.len().min(most)]
}
