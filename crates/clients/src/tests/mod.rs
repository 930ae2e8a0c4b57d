//! The editors: their changes, and that nothing else changes.

mod files;
mod properties;

use serde_json::{Value, json};

use crate::format::DocumentFormat;

fn entry() -> Value {
    json!({ "command": "/bin/metier", "args": ["mcp", "--agent", "a b"] })
}

const JSON: [&str; 2] = ["mcpServers", "metier"];
const TOML: [&str; 2] = ["mcp_servers", "metier"];
const YAML: [&str; 2] = ["extensions", "metier"];

/// The text with the entry, after it was seen that taking it out gives the text back.
fn with(format: DocumentFormat, path: &[&str], text: &str) -> String {
    let Some(changed) = format.set(text, path, &entry()) else { return "refused".to_owned() };
    let document = format.read(&changed).expect("it can be read");
    assert!(format.has(&document, path, &entry()));
    assert_eq!(format.set(&changed, path, &entry()).as_ref(), Some(&changed), "twice is once");
    assert_eq!(format.remove(&changed, path).as_deref(), Some(text), "what was there is back");
    changed
}

#[test]
fn json_gets_the_entry_and_keeps_comments_commas_and_layout() {
    let with = |text| with(DocumentFormat::Json, &JSON, text);
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
    let with = |text| with(DocumentFormat::Json, &JSON, text);
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
    insta::assert_snapshot!(DocumentFormat::Json.set(json, &JSON, &entry()).expect("it is understood"), @r#"
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
    insta::assert_snapshot!(DocumentFormat::Toml.set(toml, &TOML, &entry()).expect("it is understood"), @r#"
    [mcp_servers.metier]
    command = "/bin/metier"
    args = ["mcp", "--agent", "a b"]

    # next
    [other]
    a = 1
    "#);
    let yaml = "extensions:\n  metier:\n    cmd: old\n    envs:\n      A: '1'\n  # next\n  b:\n    cmd: x\n";
    insta::assert_snapshot!(DocumentFormat::Yaml.set(yaml, &YAML, &entry()).expect("it is understood"), @r#"
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
    let document = DocumentFormat::Toml.read(text).expect("it can be read");
    assert!(DocumentFormat::Toml.has(&document, &TOML, &entry()));
    assert!(!DocumentFormat::Toml.has(&document, &TOML, &json!({ "command": "/bin/other" })));
    assert!(!DocumentFormat::Toml.has(&document, &["mcp_servers", "other"], &entry()));
}

#[test]
fn what_people_add_to_an_entry_stays_when_it_is_replaced() {
    let renewed = |format: DocumentFormat, path: &[&str], text: &str| {
        format.renew(text, path, &entry(), &["type", "url", "headers"]).expect("it is understood")
    };
    let json = "{\n  \"mcpServers\": {\n    \"metier\": {\n      // mine\n      \"command\": \"old\",\n      \"env\": { \"METIER_HOME\": \"/m\" }, // here\n      \"url\": \"x\"\n    }\n  }\n}\n";
    insta::assert_snapshot!(renewed(DocumentFormat::Json, &JSON, json), @r#"
    {
      "mcpServers": {
        "metier": {
          // mine
          "command": "/bin/metier",
          "env": { "METIER_HOME": "/m" }, // here
          "args": ["mcp", "--agent", "a b"]
        }
      }
    }
    "#);
    let toml = "[mcp_servers.metier]\nurl = 'x'\nstartup_timeout_sec = 20\n\n[mcp_servers.metier.env]\nMETIER_HOME = '/m' # here\n";
    insta::assert_snapshot!(renewed(DocumentFormat::Toml, &TOML, toml), @r#"
    [mcp_servers.metier]
    command = "/bin/metier"
    args = ["mcp", "--agent", "a b"]
    startup_timeout_sec = 20

    [mcp_servers.metier.env]
    METIER_HOME = '/m' # here
    "#);
    let yaml = "extensions:\n  metier:\n      command: old\n      envs:\n        METIER_HOME: /m # here\n      bundled: true\n      url: x\n  b:\n    cmd: x\n";
    insta::assert_snapshot!(renewed(DocumentFormat::Yaml, &YAML, yaml), @r#"
    extensions:
      metier:
          command: "/bin/metier"
          args: ["mcp","--agent","a b"]
          envs:
            METIER_HOME: /m # here
          bundled: true
      b:
        cmd: x
    "#);
    let headers = json!({ "url": "http://a", "headers": { "Authorization": "new" } });
    let json = r#"{"mcpServers":{"metier":{"command":"x","env":{},"headers":{"Authorization":"old","X-Mine":"1"}}}}"#;
    insta::assert_snapshot!(DocumentFormat::Json.renew(json, &JSON, &headers, &["command", "env"]).expect("it is understood"), @r#"{"mcpServers":{"metier":{"headers":{"Authorization":"new","X-Mine":"1"},"url":"http://a"}}}"#);
}

#[test]
fn toml_gets_a_table_behind_the_others() {
    let with = |text| with(DocumentFormat::Toml, &TOML, text);
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
    insta::assert_snapshot!(DocumentFormat::Toml.remove(text, &TOML).expect("it is understood"), @"
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
    let with = |text| with(DocumentFormat::Yaml, &YAML, text);
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
    let with = |text| with(DocumentFormat::Yaml, &YAML, text);
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
    insta::assert_snapshot!(DocumentFormat::Json.remove(json, &JSON).expect("it is understood"), @r#"
    {
      "a": 1
    }
    "#);
    let yaml = "extensions: # all\n  metier:\n    cmd: x\nA: 1\n";
    insta::assert_snapshot!(DocumentFormat::Yaml.remove(yaml, &YAML).expect("it is understood"), @"
    extensions: {} # all
    A: 1
    ");
}

#[test]
fn comments_beside_the_entry_stay_when_it_goes() {
    let with = |text| with(DocumentFormat::Json, &JSON, text);
    insta::assert_snapshot!(with("{\n  \"mcpServers\": { // \"old\": {}\n  }\n}\n"), @r#"
    {
      "mcpServers": { // "old": {}
        "metier": {
          "command": "/bin/metier",
          "args": ["mcp", "--agent", "a b"]
        }
      }
    }
    "#);
    let _seen = with("{\n  \"mcpServers\": {\n    /* old */\n  },\n  \"a\": 1\n}\n");
    let _seen = with("{\n  // mine\n}\n");
    let removed = |text: &str| DocumentFormat::Json.remove(text, &JSON).expect("it is understood");
    insta::assert_snapshot!(removed("{\n  \"mcpServers\": {\n    // ours\n    \"metier\": {\"command\": \"x\"}\n  },\n  \"a\": 1\n}\n"), @r#"
    {
      "mcpServers": {
        // ours
      },
      "a": 1
    }
    "#);
    insta::assert_snapshot!(removed("{\n  \"mcpServers\": {\n    \"metier\": {\"command\": \"x\"} // ours\n  }\n}\n"), @r#"
    {
      "mcpServers": { // ours
      }
    }
    "#);
    insta::assert_snapshot!(removed("{\"mcpServers\": /* all */ {\"metier\": {}}}"), @r#"{"mcpServers": /* all */ {}}"#);
}
