//! `metier config …`.

use serde_json::json;

use crate::context::Context;
use crate::failure::OK;
use crate::output::{Output, plain, style, styled};
use crate::settings::{self, KEYS, Key, Kind, Origin, Value};

/// Prints a file with every setting in it, each as a comment.
pub(super) fn sample(output: Output) -> u8 {
    output.print(&settings::sample());
    OK
}

/// Prints the schema, indented: people and version control read it too.
pub(super) fn schema(output: Output) -> u8 {
    output.print(&format!("{:#}", settings::schema()));
    OK
}

/// Shows the settings in force. Secrets stay hidden.
pub(super) fn show(context: &Context, json: bool, all: bool) -> u8 {
    let mut rows: Vec<Row> = Vec::new();
    for (name, (value, origins)) in &context.settings.values {
        let origins = origins.iter().rev().map(ToString::to_string).collect();
        rows.push(Row { name: name.clone(), value: value.clone(), origins, also: false });
    }
    for (name, lists) in &context.settings.also {
        rows.extend(lists.iter().map(|(list, origin)| Row {
            name: name.clone(),
            value: Value::List(list.clone()),
            origins: vec![origin.to_string()],
            also: true,
        }));
    }
    if all {
        let unset = |key: &&Key| !context.settings.values.contains_key(key.name);
        rows.extend(KEYS.iter().filter(unset).map(|key| Row {
            name: key.name.to_owned(),
            value: key.default_value(),
            origins: vec![Origin::Default.to_string()],
            also: false,
        }));
    }
    rows.sort_by(|left, right| (&left.name, left.also).cmp(&(&right.name, right.also)));
    if json {
        context.output.json(&rows.iter().map(Row::to_json).collect::<Vec<_>>());
    } else {
        let state = context.environment.state();
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
    context.report(&context.settings.problems);
    OK
}

/// A setting, its value, and who had a say, the deciding one first.
struct Row {
    name: String,
    value: Value,
    origins: Vec<String>,
    /// A list of a project that must hold besides ours.
    also: bool,
}

impl Row {
    fn to_json(&self) -> serde_json::Value {
        let value = match &self.value {
            Value::Switch(value) => json!(value),
            Value::Count(value) => json!(value),
            Value::Text(value) => json!(value),
            Value::Secret(_) => json!("****"),
            Value::List(values) => json!(values),
        };
        json!({ "name": self.name, "value": value, "origins": self.origins, "also": self.also })
    }

    fn is_word(&self) -> bool {
        Key::find(&self.name).is_some_and(|key| key.kind == Kind::Words)
    }

    fn to_line(&self) -> String {
        let also = if self.also { ", also" } else { "" };
        let origin = format!("# {}{also}", plain(&self.origins.join(", before that ")));
        let origin = styled(style::DIM, origin);
        let value = match &self.value {
            // What is a word or a list is shown as the word it most often is.
            Value::List(words) if words.len() == 1 && self.is_word() => format!("{:?}", words[0]),
            value => value.to_string(),
        };
        format!("{} = {}  {origin}\n", plain(&self.name), plain(&value))
    }
}
