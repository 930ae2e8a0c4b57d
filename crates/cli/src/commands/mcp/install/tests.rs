//! The editors: what they change, and that they change nothing else.

use serde_json::{Value, json};

use super::format::Format;

fn entry() -> Value {
    json!({ "command": "/bin/metier", "args": ["mcp", "--agent", "a b"] })
}

const JSON: [&str; 2] = ["mcpServers", "metier"];
const TOML: [&str; 2] = ["mcp_servers", "metier"];
const YAML: [&str; 2] = ["extensions", "metier"];

/// The text with the entry, after it was seen that taking it out gives the text back.
fn with(format: Format, path: &[&str], text: &str) -> String {
    let Some(changed) = format.set(text, path, &entry()) else { return "refused".to_owned() };
    let document = format.read(&changed).expect("it can be read");
    assert!(format.has(&document, path, &entry()));
    assert_eq!(format.set(&changed, path, &entry()).as_ref(), Some(&changed), "twice is once");
    assert_eq!(format.remove(&changed, path).as_deref(), Some(text), "what was there is back");
    changed
}

#[test]
fn json_gets_the_entry_and_keeps_comments_commas_and_layout() {
    let with = |text| with(Format::Json, &JSON, text);
    insta::assert_snapshot!(with("{}\n"), @r#"
    {
      "mcpServers": {
        "metier": {
          "command": "/bin/metier",
          "args": ["mcp", "--agent", "a b"]
        }
      }
    }
    "#);
    insta::assert_snapshot!(with("{\"mcpServers\":{\"a\":{\"url\":\"x\"}},\"b\":1}"), @r#"{"mcpServers":{"a":{"url":"x"},"metier":{"command":"/bin/metier","args":["mcp","--agent","a b"]}},"b":1}"#);
    insta::assert_snapshot!(with("// mine\n{\n\t\"a\": [1, 2], // list\n\t\"mcpServers\": {\n\t\t\"b\": {} // last\n\t},\n\t\"c\": null,\n}\n"), @r#"
    // mine
    {
    	"a": [1, 2], // list
    	"mcpServers": {
    		"b": {}, // last
    		"metier": {
    			"command": "/bin/metier",
    			"args": ["mcp", "--agent", "a b"]
    		}
    	},
    	"c": null,
    }
    "#);
    insta::assert_snapshot!(with("{\n    \"mcpServers\": {},\n    \"b\": \"// no comment }\"\n}"), @r#"
    {
        "mcpServers": {
            "metier": {
                "command": "/bin/metier",
                "args": ["mcp", "--agent", "a b"]
            }
        },
        "b": "// no comment }"
    }
    "#);
    insta::assert_snapshot!(with("{\n  \"mcpServers\": {\n    \"b\": {\n      \"command\": \"x\"\n    }, // why\n    /* end */\n  }\n}\n"), @r#"
    {
      "mcpServers": {
        "b": {
          "command": "x"
        }, // why
        "metier": {
          "command": "/bin/metier",
          "args": ["mcp", "--agent", "a b"]
        },
        /* end */
      }
    }
    "#);
    insta::assert_snapshot!(with("{\n  \"a\": 1\n  // the end\n}\n"), @r#"
    {
      "a": 1,
      "mcpServers": {
        "metier": {
          "command": "/bin/metier",
          "args": ["mcp", "--agent", "a b"]
        }
      }
      // the end
    }
    "#);
}

#[test]
fn json_that_is_not_understood_is_refused() {
    let with = |text| with(Format::Json, &JSON, text);
    for text in [
        "[]",
        "{",
        "{\"a\": 1 /* never closed }",
        "{,}",
        "{\"a\": 1,,}",
        "{\"mcpServers\": []}",
        "{\"mcpServers\": null}",
        "{\"mcpServers\": {}, \"mcpServers\": {}}",
        "{\"a\": 01}",
        "{'a': 1}",
        "// nothing but a comment\n",
        "{} {}",
    ] {
        assert_eq!(with(text), "refused", "{text}");
    }
}

#[test]
fn an_entry_of_the_same_name_is_replaced_where_it_stands() {
    let json = "{\n  \"mcpServers\": {\n    \"metier\": {\"command\": \"old\"}, // here\n    \"b\": {}\n  }\n}\n";
    insta::assert_snapshot!(Format::Json.set(json, &JSON, &entry()).expect("it is understood"), @r#"
    {
      "mcpServers": {
        "metier": {
          "command": "/bin/metier",
          "args": ["mcp", "--agent", "a b"]
        }, // here
        "b": {}
      }
    }
    "#);
    let toml = "[mcp_servers.metier] # here\ncommand = \"old\"\n\n[mcp_servers.metier.env]\nA = \"1\"\n\n# next\n[other]\na = 1\n";
    insta::assert_snapshot!(Format::Toml.set(toml, &TOML, &entry()).expect("it is understood"), @r#"
    [mcp_servers.metier]
    command = "/bin/metier"
    args = ["mcp", "--agent", "a b"]

    # next
    [other]
    a = 1
    "#);
    let yaml = "extensions:\n  metier:\n    cmd: old\n    envs:\n      A: '1'\n  # next\n  b:\n    cmd: x\n";
    insta::assert_snapshot!(Format::Yaml.set(yaml, &YAML, &entry()).expect("it is understood"), @r#"
    extensions:
      metier:
        command: "/bin/metier"
        args: ["mcp","--agent","a b"]
      # next
      b:
        cmd: x
    "#);
}

#[test]
fn what_people_add_to_an_entry_does_not_make_it_another() {
    let text = "[mcp_servers.metier]\ncommand = \"/bin/metier\"\nargs = [\"mcp\", \"--agent\", \"a b\"]\nenv = { A = \"1\" }\n";
    let document = Format::Toml.read(text).expect("it can be read");
    assert!(Format::Toml.has(&document, &TOML, &entry()));
    assert!(!Format::Toml.has(&document, &TOML, &json!({ "command": "/bin/other" })));
    assert!(!Format::Toml.has(&document, &["mcp_servers", "other"], &entry()));
}

#[test]
fn toml_gets_a_table_behind_the_others() {
    let with = |text| with(Format::Toml, &TOML, text);
    insta::assert_snapshot!(with(""), @r#"
    [mcp_servers.metier]
    command = "/bin/metier"
    args = ["mcp", "--agent", "a b"]
    "#);
    insta::assert_snapshot!(with("# mine\nmodel = 'x' # why"), @r#"
    # mine
    model = 'x' # why

    [mcp_servers.metier]
    command = "/bin/metier"
    args = ["mcp", "--agent", "a b"]
    "#);
    insta::assert_snapshot!(with("[mcp_servers.a]\ncommand = 'x'\n\n# the end\n"), @r#"
    [mcp_servers.a]
    command = 'x'

    # the end

    [mcp_servers.metier]
    command = "/bin/metier"
    args = ["mcp", "--agent", "a b"]
    "#);
    insta::assert_snapshot!(with("text = '''\n[mcp_servers.metier]\n'''\n"), @"refused");
    insta::assert_snapshot!(with("mcp_servers = { a = { command = 'x' } }\n"), @"refused");
    insta::assert_snapshot!(with("mcp_servers = ["), @"refused");
}

#[test]
fn a_table_in_the_middle_is_taken_out_and_comments_of_its_neighbours_stay() {
    let text = "# top\n[a]\nb = 1\n\n[mcp_servers.metier]\ncommand = 'x' # ours\nargs = [\n  'mcp',\n]\n\n[ mcp_servers . \"metier\" . env ]\nA = '1'\n\n# of c\n[c]\nd = 1\n";
    insta::assert_snapshot!(Format::Toml.remove(text, &TOML).expect("it is understood"), @"
    # top
    [a]
    b = 1

    # of c
    [c]
    d = 1
    ");
}

#[test]
fn yaml_gets_an_entry_behind_the_others() {
    let with = |text| with(Format::Yaml, &YAML, text);
    insta::assert_snapshot!(with(""), @r#"
    extensions:
      metier:
        command: "/bin/metier"
        args: ["mcp","--agent","a b"]
    "#);
    insta::assert_snapshot!(with("GOOSE_MODE: auto # why\nextensions:\n  # builtin\n  developer:\n    enabled: true\n    args:\n    - x\n\n# end\nOTHER: \"1\"\n"), @r#"
    GOOSE_MODE: auto # why
    extensions:
      # builtin
      developer:
        enabled: true
        args:
        - x
      metier:
        command: "/bin/metier"
        args: ["mcp","--agent","a b"]

    # end
    OTHER: "1"
    "#);
    insta::assert_snapshot!(with("extensions:\n    a:\n        cmd: x"), @r#"
    extensions:
        a:
            cmd: x
        metier:
          command: "/bin/metier"
          args: ["mcp","--agent","a b"]
    "#);
    insta::assert_snapshot!(with("extensions: {} # none\nB: 1\n"), @r#"
    extensions: # none
      metier:
        command: "/bin/metier"
        args: ["mcp","--agent","a b"]
    B: 1
    "#);
    insta::assert_snapshot!(with("A: 1"), @r#"
    A: 1
    extensions:
      metier:
        command: "/bin/metier"
        args: ["mcp","--agent","a b"]
    "#);
}

#[test]
fn yaml_that_is_not_understood_is_refused() {
    let with = |text| with(Format::Yaml, &YAML, text);
    for text in [
        "extensions: {a: {cmd: x}}\n",
        "extensions: [a]\n",
        "- extensions\n",
        "\"extensions\":\n  a:\n    cmd: x\n",
        "extensions:\n  a: |\n    text\n    # no comment\n",
        "a: 1\n---\nb: 2\n",
        "a: [",
        "a: 1\na: 2\n",
    ] {
        assert_eq!(with(text), "refused", "{text}");
    }
}

#[test]
fn an_empty_object_that_only_the_entry_needed_goes_with_it() {
    let json =
        "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"metier\": {\"command\": \"x\"}\n  }\n}\n";
    insta::assert_snapshot!(Format::Json.remove(json, &JSON).expect("it is understood"), @r#"
    {
      "a": 1
    }
    "#);
    let json = "{\n  \"mcpServers\": {\n    // ours\n    \"metier\": {\"command\": \"x\"}\n  },\n  \"a\": 1\n}\n";
    insta::assert_snapshot!(Format::Json.remove(json, &JSON).expect("it is understood"), @r#"
    {
      "a": 1
    }
    "#);
    let yaml = "extensions: # all\n  metier:\n    cmd: x\nA: 1\n";
    insta::assert_snapshot!(Format::Yaml.remove(yaml, &YAML).expect("it is understood"), @"
    extensions: {} # all
    A: 1
    ");
}

mod properties {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// How a document is written.
    #[derive(Clone, Debug)]
    struct Style {
        unit: &'static str,
        newline: &'static str,
        trailing: bool,
        end: &'static str,
        /// Whether a comment is behind a member, again and again.
        comments: Vec<bool>,
    }

    fn style() -> impl Strategy<Value = Style> {
        let comments = vec(any::<bool>(), 1..6);
        let unit = select(vec!["  ", "    ", "\t"]);
        let newline = select(vec!["\n", "\r\n"]);
        (unit, newline, any::<bool>(), select(vec!["", "\n"]), comments).prop_map(
            |(unit, newline, trailing, end, comments)| Style {
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
        (members(), proptest::option::of(members()), members()).prop_map(
            |(before, servers, after)| {
                let servers = servers
                    .map(|it| ("mcpServers".to_owned(), Value::Object(it.into_iter().collect())));
                Value::Object(before.into_iter().chain(servers).chain(after).collect())
            },
        )
    }

    fn written(value: &Value, style: &Style, indent: &str, count: &mut usize) -> String {
        let Some(members) = value.as_object().filter(|it| !it.is_empty()) else {
            return value.to_string();
        };
        let (inner, last) = (format!("{indent}{}", style.unit), members.len() - 1);
        let mut text = format!("{{{}", style.newline);
        for (index, (key, value)) in members.iter().enumerate() {
            let value = written(value, style, &inner, count);
            let comma = if index < last || style.trailing { "," } else { "" };
            *count += 1;
            let comment = match style.comments[*count % style.comments.len()] {
                true if *count % 2 == 0 => format!(" // note {count} }}\" {{"),
                true => format!(" /* note {count}, */"),
                false => String::new(),
            };
            let key = Value::from(key.as_str());
            text += &format!("{inner}{key}: {value}{comma}{comment}{}", style.newline);
        }
        format!("{text}{indent}}}")
    }

    fn notes(text: &str) -> Vec<&str> {
        let is_digit = |it: char| it.is_ascii_digit();
        let numbers = text.split("note ").skip(1);
        numbers.map(|it| it.split(|it| !is_digit(it)).next().unwrap_or_default()).collect()
    }

    /// Installs and takes out again; what else is there stays, and the text comes back.
    fn check(format: Format, path: &[&str; 2], text: &str) -> Result<(), TestCaseError> {
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
        fn json_comes_back_as_it_was(document in document(), style in style()) {
            let text = written(&document, &style, "", &mut 0) + style.end;
            check(Format::Json, &JSON, &text)?;
        }

        #[test]
        fn json_on_one_line_comes_back_as_it_was(document in document()) {
            let text = document.to_string();
            check(Format::Json, &JSON, if text == "{}" { "{}\n" } else { &text })?;
        }

        #[test]
        fn no_text_makes_an_editor_fail(text in "[\\[\\]{}:,\"a#/*\n' -]{0,40}") {
            for format in [Format::Json, Format::Toml, Format::Yaml] {
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
            prop_assume!(Format::Toml.read(&text).is_some());
            check(Format::Toml, &TOML, &text)?;
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
            prop_assume!(Format::Yaml.read(&text).is_some());
            check(Format::Yaml, &YAML, &text)?;
        }
    }
}
