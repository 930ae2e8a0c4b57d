//! The JSON Schema of configuration files.
//!
//! Draft 7, which every editor understands. It refuses what the reader of files refuses, as far as a schema
//! can: whether a glob can be read it cannot say.

use serde_json::{Map, Value, json};

use crate::key::{SettingKey, SettingKind};
use crate::sections::SECTIONS;

/// Names that people choose, where nothing else is said: anything without a dot.
const ANY_NAME: &str = "^[^.]*$";
/// Names of agents; `defaults` is none.
const AGENT_NAME: &str = "^(?!defaults$)[a-z0-9][a-z0-9-]{0,63}$";
/// Names of servers.
const SERVER_NAME: &str = "^[A-Za-z0-9_-]{1,32}$";

/// The schema.
pub fn json_schema() -> Value {
    let mut root = table(
        "",
        "Settings of metier: `config.toml` in the state directory, or `.metier/config.toml` of a project",
    );
    for key in SettingKey::all() {
        insert(&mut root, "", key.name, key);
    }
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), "http://json-schema.org/draft-07/schema#".into());
    schema.insert("title".to_owned(), "metier".into());
    if let Value::Object(root) = root {
        schema.extend(root);
    }
    schema.into()
}

/// A table in which nothing but its keys may stand.
fn table(name: &str, description: &str) -> Value {
    let section = SECTIONS.iter().find(|section| section.name == name);
    let description = section.map_or(description, |section| section.help());
    let mut table = json!({ "type": "object" });
    if !description.is_empty() {
        table["description"] = description.into();
    }
    table["additionalProperties"] = false.into();
    table
}

/// Puts a key where it belongs below a table that is called `above`.
fn insert(parent: &mut Value, above: &str, path: &str, key: &SettingKey) {
    let (part, rest) = match path.split_once('.') {
        Some((part, rest)) => (part, Some(rest)),
        None => (path, None),
    };
    let name = if above.is_empty() { part.to_owned() } else { format!("{above}.{part}") };
    let (group, part) = match part {
        "*" => ("patternProperties", name_pattern(above)),
        part => ("properties", part),
    };
    let slot = &mut parent[group][part];
    match rest {
        None => *slot = value(key),
        Some(rest) => {
            if slot.is_null() {
                *slot = table(&name, "");
            }
            insert(slot, &name, rest, key);
        }
    }
}

fn name_pattern(above: &str) -> &'static str {
    match above {
        "agents" => AGENT_NAME,
        "mcp.servers" => SERVER_NAME,
        _ => ANY_NAME,
    }
}

fn value(key: &SettingKey) -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let mut value = match key.kind {
        SettingKind::Switch => json!({ "type": "boolean" }),
        SettingKind::Count => json!({ "type": "integer", "minimum": 0 }),
        SettingKind::Text | SettingKind::Secret => json!({ "type": "string" }),
        SettingKind::List | SettingKind::Globs => texts,
        SettingKind::Words => json!({ "anyOf": [{ "type": "string" }, texts] }),
        SettingKind::Choice(_) => json!({ "type": "string", "enum": key.words() }),
    };
    let variable = key.variable().map(|name| format!("\nVariable: {name}.")).unwrap_or_default();
    let narrowing = key.narrowing.description();
    value["description"] = format!("{}.{variable}\nA project {narrowing}.", key.help()).into();
    if let Ok(default) = serde_json::from_str(key.default) {
        // Texts, numbers, switches and lists of texts are the same in TOML and JSON.
        let default: Value = default;
        value["default"] = default;
    }
    value
}
