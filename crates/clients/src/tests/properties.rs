//! Whatever a file looks like: what is in it stays, and taking the entry out gives it back.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// The layout of a document.
#[derive(Clone, Debug)]
struct JsonLayout {
    unit: &'static str,
    newline: &'static str,
    trailing: bool,
    end: &'static str,
    /// Whether a comment is before a member, behind it or in an empty object, again and again.
    comments: Vec<bool>,
}

fn layout() -> impl Strategy<Value = JsonLayout> {
    let comments = vec(any::<bool>(), 1..6);
    let unit = select(vec!["  ", "    ", "\t"]);
    let newline = select(vec!["\n", "\r\n"]);
    (unit, newline, any::<bool>(), select(vec!["", "\n"]), comments).prop_map(
        |(unit, newline, trailing, end, comments)| JsonLayout {
            unit,
            newline,
            trailing,
            end,
            comments,
        },
    )
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é/*\"\\\\{}]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec(("[a-z/\"{ ]{1,6}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn members() -> impl Strategy<Value = Vec<(String, Value)>> {
    vec(("[a-l/\"{ ]{1,6}", value()), 0..4)
}

/// A document with or without servers, among other members.
fn document() -> impl Strategy<Value = Value> {
    (members(), proptest::option::of(members()), members()).prop_map(|(before, servers, after)| {
        let servers =
            servers.map(|it| ("mcpServers".to_owned(), Value::Object(it.into_iter().collect())));
        Value::Object(before.into_iter().chain(servers).chain(after).collect())
    })
}

fn written(value: &Value, layout: &JsonLayout, indent: &str, count: &mut usize) -> String {
    let Some(members) = value.as_object() else { return value.to_string() };
    let is_next = |count: &mut usize| {
        *count += 1;
        layout.comments[*count % layout.comments.len()]
    };
    if members.is_empty() {
        return match is_next(count) {
            true => format!("{{ // note {count} }}{}{indent}}}", layout.newline),
            false => value.to_string(),
        };
    }
    let (inner, last) = (format!("{indent}{}", layout.unit), members.len() - 1);
    let mut text = format!("{{{}", layout.newline);
    for (index, (key, value)) in members.iter().enumerate() {
        if is_next(count) {
            text += &format!("{inner}// note {count} {{{}", layout.newline);
        }
        let value = written(value, layout, &inner, count);
        let comma = if index < last || layout.trailing { "," } else { "" };
        let comment = match is_next(count) {
            true if count.is_multiple_of(2) => format!(" // note {count} }}\" {{"),
            true => format!(" /* note {count}, */"),
            false => String::new(),
        };
        let key = Value::from(key.as_str());
        text += &format!("{inner}{key}: {value}{comma}{comment}{}", layout.newline);
    }
    format!("{text}{indent}}}")
}

fn notes(text: &str) -> Vec<&str> {
    let is_digit = |it: char| it.is_ascii_digit();
    let numbers = text.split("note ").skip(1);
    numbers.map(|it| it.split(|it| !is_digit(it)).next().unwrap_or_default()).collect()
}

/// Installs and takes out again; what else is there stays, and the text comes back.
fn check(format: DocumentFormat, path: &[&str; 2], text: &str) -> Result<(), TestCaseError> {
    let before = format.read(text).expect("the test writes what can be read");
    let changed = format.set(text, path, &entry()).expect("there is a place");
    let after = format.read(&changed).expect("it can still be read");
    prop_assert!(format.has(&after, path, &entry()));
    prop_assert_eq!(notes(&changed), notes(text));
    for (key, value) in before.as_object().expect("an object") {
        if key != path[0] {
            prop_assert_eq!(after.get(key), Some(value));
            continue;
        }
        for (key, value) in value.as_object().into_iter().flatten() {
            prop_assert_eq!(after[path[0]].get(key), Some(value));
        }
    }
    let back = format.remove(&changed, path).expect("it is there");
    prop_assert_eq!(notes(&back), notes(text));
    let is_empty = before[path[0]].as_object().is_some_and(serde_json::Map::is_empty);
    if is_empty && back != text {
        // An empty object at the end says nothing, and looks as if it had been made for the entry.
        let mut without = before;
        without.as_object_mut().expect("an object").shift_remove(path[0]);
        prop_assert_eq!(format.read(&back), Some(without));
    } else {
        prop_assert_eq!(back, text);
    }
    Ok(())
}

proptest! {
    #[test]
    fn json_comes_back_as_it_was(document in document(), layout in layout()) {
        let text = written(&document, &layout, "", &mut 0) + layout.end;
        check(DocumentFormat::Json, &JSON, &text)?;
    }

    #[test]
    fn json_on_one_line_comes_back_as_it_was(document in document()) {
        let text = document.to_string();
        check(DocumentFormat::Json, &JSON, if text == "{}" { "{}\n" } else { &text })?;
    }

    #[test]
    fn no_text_makes_an_editor_fail(text in "[\\[\\]{}:,\"a#/*\n' -]{0,40}") {
        for format in [DocumentFormat::Json, DocumentFormat::Toml, DocumentFormat::Yaml] {
            for path in [&JSON, &TOML, &YAML, &["a", "a"]] {
                let _refused = format.set(&text, path, &entry());
                let _refused = format.remove(&text, path);
            }
        }
    }

    #[test]
    fn toml_comes_back_as_it_was(
        top in vec(select(vec!["a = 1", "# note 1", "", "b = '''\n[x]\n'''", "c.d = [\n  1,\n]"]), 0..3),
        tables in vec(select(vec![
            "[t]\nx = 1 # note 2", "\n[mcp_servers.a]\ncommand = 'x'", "# note 3\n[[list]]\nn = 1",
            "[mcp_servers.b]\nargs = [\n  # note 4\n  'y',\n]\n\n[mcp_servers.b.env]\nK = 'v'", "",
        ]), 0..4),
        end in select(vec!["", "\n"]),
    ) {
        let text = top.into_iter().chain(tables).collect::<Vec<_>>().join("\n");
        let text = if text.is_empty() { text } else { text + end };
        prop_assume!(DocumentFormat::Toml.read(&text).is_some());
        check(DocumentFormat::Toml, &TOML, &text)?;
    }

    #[test]
    fn yaml_comes_back_as_it_was(
        before in vec(select(vec!["# note 1", "A: 1 # note 2", "", "B:\n- x\n- y", "C: |-\n  text\n\n  # more"]), 0..3),
        entries in vec(select(vec!["a", "b", "c"]), 0..3),
        after in vec(select(vec!["# note 3", "D: 'x'", "", "E:\n  f: 1"]), 0..3),
        indent in select(vec!["  ", "    "]),
        end in select(vec!["", "\n"]),
    ) {
        let mut lines: Vec<String> = before.into_iter().map(str::to_owned).collect();
        if !entries.is_empty() {
            lines.push("extensions: # note 4".to_owned());
            lines.extend(entries.iter().map(|it| format!("{indent}{it}:\n{indent}{indent}cmd: x # note 5\n{indent}  # note 6")));
        }
        lines.extend(after.into_iter().map(str::to_owned));
        let text = lines.join("\n");
        let text = if text.is_empty() { text } else { text + end };
        prop_assume!(DocumentFormat::Yaml.read(&text).is_some());
        check(DocumentFormat::Yaml, &YAML, &text)?;
    }
}
