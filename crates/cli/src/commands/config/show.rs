//! `metier config show`.

use std::collections::BTreeSet;

use metier_config::{SettingKey, SettingKind, SettingOrigin, SettingValue};
use serde_json::json;

use crate::context::Context;
use crate::failure::OK;
use crate::output::{plain, style, styled};

/// Shows the settings in force. Secrets stay hidden.
pub(in crate::commands) fn show(context: &Context, json: bool, all: bool) -> u8 {
    let mut rows: Vec<Row> = Vec::new();
    for (name, value, origins) in context.app.config.values() {
        let origins = origins.iter().rev().map(ToString::to_string).collect();
        rows.push(Row { name: name.to_owned(), value: value.clone(), origins, also: false });
    }
    rows.extend(context.app.config.also().map(|(name, list, origin)| Row {
        name: name.to_owned(),
        value: SettingValue::List(list.to_vec()),
        origins: vec![origin.to_string()],
        also: true,
    }));
    if all {
        let set: BTreeSet<&str> = context.app.config.values().map(|(name, _, _)| name).collect();
        let unset = SettingKey::all().filter(|key| !set.contains(key.name));
        rows.extend(unset.map(|key| Row {
            name: key.name.to_owned(),
            value: key.default_value(),
            origins: vec![SettingOrigin::Default.to_string()],
            also: false,
        }));
    }
    rows.sort_by(|left, right| (&left.name, left.also).cmp(&(&right.name, right.also)));
    if json {
        context.output.json(&rows.iter().map(Row::to_json).collect::<Vec<_>>());
    } else {
        let state = context.app.environment.state();
        let mut text = format!("{}\n", styled(style::DIM, format!("# state: {}", state.display())));
        rows.iter().for_each(|row| text.push_str(&row.to_line()));
        if rows.is_empty() {
            text.push_str(
                "# nothing is set; `--all` shows every setting with its default, \
                 `metier config sample` explains them\n",
            );
        }
        context.output.print(&text);
    }
    context.report(&context.app.config_problems());
    OK
}

/// A setting, its value, and who had a say, the deciding one first.
struct Row {
    name: String,
    value: SettingValue,
    origins: Vec<String>,
    /// A list of a project that must hold besides ours.
    also: bool,
}

impl Row {
    fn to_json(&self) -> serde_json::Value {
        let value = match &self.value {
            SettingValue::Switch(value) => json!(value),
            SettingValue::Count(value) => json!(value),
            SettingValue::Text(value) => json!(value),
            SettingValue::Secret(_) => json!("****"),
            SettingValue::List(values) => json!(values),
        };
        json!({ "name": self.name, "value": value, "origins": self.origins, "also": self.also })
    }

    fn is_word(&self) -> bool {
        SettingKey::find(&self.name).is_some_and(|key| key.kind == SettingKind::Words)
    }

    fn to_line(&self) -> String {
        let also = if self.also { ", also" } else { "" };
        let origin = format!("# {}{also}", plain(&self.origins.join(", before that ")));
        let origin = styled(style::DIM, origin);
        let value = match &self.value {
            // What is a word or a list is shown as the word it most often is.
            SettingValue::List(words) if words.len() == 1 && self.is_word() => {
                format!("{:?}", words[0])
            }
            value => value.to_string(),
        };
        format!("{} = {}  {origin}\n", plain(&self.name), plain(&value))
    }
}
