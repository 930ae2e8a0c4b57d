//! `metier config show`.

use serde_json::json;

use crate::context::Context;
use crate::failure::OK;
use crate::output::{plain, style, styled};
use crate::settings::{KEYS, Key, Origin, Value};

/// Shows the settings in force. Secrets stay hidden.
pub(super) fn show(context: &Context, json: bool, all: bool) -> u8 {
    let mut rows: Vec<(String, String, String)> = Vec::new();
    for (name, (value, origins)) in &context.settings.values {
        rows.push((name.clone(), value.to_string(), origin_of(origins)));
    }
    for (name, lists) in &context.settings.also {
        for (list, origin) in lists {
            rows.push((
                name.clone(),
                Value::List(list.clone()).to_string(),
                format!("{origin}, also"),
            ));
        }
    }
    if all {
        let unset = |key: &&Key| !context.settings.values.contains_key(key.name);
        for key in KEYS.iter().filter(unset) {
            rows.push((key.name.to_owned(), key.default.to_owned(), Origin::Default.to_string()));
        }
    }
    rows.sort();
    if json {
        let entries: Vec<_> = rows
            .iter()
            .map(|(name, value, origin)| json!({ "name": name, "value": value, "origin": origin }))
            .collect();
        context.output.json(&entries);
    } else {
        let state = context.environment.state();
        let mut text = format!("{}\n", styled(style::DIM, format!("# state: {}", state.display())));
        for (name, value, origin) in &rows {
            let origin = styled(style::DIM, format!("# {}", plain(origin)));
            text.push_str(&format!("{} = {}  {origin}\n", plain(name), plain(value)));
        }
        if rows.is_empty() {
            text.push_str("# nothing is set; `--all` shows every setting with its default\n");
        }
        context.output.print(&text);
    }
    context.report(&context.settings.problems);
    OK
}

fn origin_of(origins: &[Origin]) -> String {
    let names: Vec<String> = origins.iter().rev().map(ToString::to_string).collect();
    names.join(", before that ")
}
