//! `config sample` and `config schema`: both say what the reader of settings does.

use insta::assert_snapshot;
use metier_testkit::Node;
use serde_json::{Value, json as value};

use crate::{compact, environment, json, run};

/// Configurations, each with whether it can be used.
const FILES: &[(bool, &str)] = &[
    (true, ""),
    (true, "[skills]\n[exec.container]"),
    (true, "skills.enabled = false"),
    (true, "[skills.entries.invoices]\nenabled = false\nenv.KEY = 'x'\napi_key = 'k'"),
    (true, "[mcp.servers.my_files-2]\ncommand = ['files', '--all']\nheaders.X-Key = 'x'"),
    (true, "exec.network = 'host'"),
    (true, "exec.network = ['example.org:443']"),
    (true, "exec.require = 'full'"),
    (true, "agents.helper.approvals.mode = ''"),
    (true, "[agents.defaults]\nskills = ['invoices', 'pdf-*']"),
    (true, "models.providers.local.format = 'responses'"),
    (true, "approvals.ask = 'always'\nexec.timeout = 0"),
    (false, "skils.enabled = true"),
    (false, "skills = 5"),
    (false, "enabled = true"),
    (false, "skills.enabled = 'yes'"),
    (false, "skills.enabled.more = true"),
    (false, "skills.catalog_tokens = -1"),
    (false, "skills.catalog_tokens = 1.5"),
    (false, "skills.catalog_tokens = '4000'"),
    (false, "skills.denied = 'x'"),
    (false, "skills.denied = ['x', 5]"),
    (false, "skills.load_mode = 'forever'"),
    (false, "skills.entries.'a.b'.enabled = true"),
    (false, "skills.entries.invoices.enable = true"),
    (false, "exec.executor = 'docker'"),
    (false, "exec.network = 5"),
    (false, "exec.require = 'some'"),
    (false, "approvals.mode = ''"),
    (false, "agents.Helper.skills = []"),
    (false, "agents.-x.skills = []"),
    (false, "agents.defaults.approvals.mode = 'deny'"),
    (false, "[mcp.servers.'my files']\ncommand = 'files'"),
    (false, "[[mcp.servers.files]]\ncommand = 'files'"),
    (false, "mcp.servers.files.env = 'x'"),
    (false, "models.providers.local.format = 'chat'"),
    (false, "models.providers.local.tool_choice = 'sometimes'"),
];

/// Validates what comes on standard input and prints an answer for each document.
const VALIDATE: &str = r#"
const Ajv = require("ajv");
const { schema, documents } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const validate = new Ajv({ strict: true, strictTypes: false }).compile(schema);
console.log(JSON.stringify(documents.map((document) => validate(document))));
"#;

/// The sample with every line in force.
fn uncommented(sample: &str) -> String {
    let is_line = |rest: &&str| rest.starts_with(|it: char| it == '[' || it.is_ascii_alphabetic());
    let line = |line: &str| {
        let rest = line.strip_prefix('#').filter(is_line).unwrap_or(line);
        format!("{rest}\n")
    };
    sample.lines().map(line).collect()
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let test = "the_schema_refuses_what_the_reader_refuses";
    let env = environment();
    let schema = json(&run(&env, "config schema"));
    let read = |text: &str| {
        env.write("home/.metier/config.toml", text);
        match run(&env, "config show").code {
            0 => true,
            2 => false,
            code => panic!("{text}: {code}"),
        }
    };
    let sample = run(&env, "config sample").stdout;
    let whole = uncommented(&sample);
    let files = [(true, sample.as_str()), (true, whole.as_str())];
    let files: Vec<(bool, &str)> = files.into_iter().chain(FILES.iter().copied()).collect();
    for (is_fine, text) in &files {
        assert_eq!(read(text), *is_fine, "{text}");
    }
    let Some(node) = Node::find(test) else { return };
    let documents = files.iter().map(|(_, text)| {
        let table: toml::Table = text.parse().expect("it is TOML");
        serde_json::to_value(table).expect("it is JSON")
    });
    let input = value!({ "schema": schema, "documents": documents.collect::<Vec<_>>() });
    let outcome = env.finish(node.code(VALIDATE), input.to_string());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    let answers: Vec<bool> = serde_json::from_str(&outcome.stdout).expect("an answer for each");
    assert_eq!(answers.len(), files.len());
    for ((is_fine, text), answer) in files.iter().zip(answers) {
        assert_eq!(answer, *is_fine, "the schema about {text}");
    }
}

#[test]
fn the_sample_is_a_file_to_start_from() {
    let env = environment();
    let sample = run(&env, "config sample");
    assert_eq!((sample.code, sample.stderr.as_str()), (0, ""));
    assert!(sample.stdout.starts_with("#:schema ./config.schema.json\n"), "{sample}");
    let before = run(&env, "skills list");
    env.write("home/.metier/config.toml", &sample.stdout);
    assert_eq!(run(&env, "skills list"), before);
    assert_snapshot!(compact(&run(&env, "config show")), @"0 | # state: [HOME]/.metier / # nothing is set; `--all` shows every setting with its default, `metier config sample` explains them |");
}

#[test]
fn the_schema_names_types_words_and_defaults() {
    let schema = json(&run(&environment(), "config schema"));
    let exec = &schema["properties"]["exec"];
    assert_snapshot!(serde_json::to_string_pretty(&exec["properties"]["executor"]).unwrap(), @r#"
    {
      "type": "string",
      "enum": [
        "sandbox",
        "host",
        "container"
      ],
      "description": "Who runs commands of skills: `sandbox`, `host` or `container`.\nVariable: METIER_EXEC_EXECUTOR.\nA project may not set it.",
      "default": "sandbox"
    }
    "#);
    assert_eq!(exec["additionalProperties"], Value::Bool(false));
}

#[test]
fn sample_and_schema_are_there_when_the_settings_are_broken() {
    let env = environment();
    env.write("home/.metier/config.toml", "skills.denied = 'x'");
    for line in ["config sample", "config schema"] {
        assert_eq!(run(&env, line).code, 0, "{line}");
    }
}

#[test]
fn a_word_that_is_none_is_told_with_those_there_are() {
    let env = environment();
    let with = |text: &str| {
        env.write("home/.metier/config.toml", text);
        compact(&run(&env, "config show"))
    };
    assert_snapshot!(with("[exec]\nexecutor = \"contaner\""), @"2 |  | error: [HOME]/.metier/config.toml:2: `exec.executor` is not `sandbox`, `host` or `container` / hint: did you mean `container`?");
    assert_snapshot!(with("[exec]\nexecutor = \"docker\""), @"2 |  | error: [HOME]/.metier/config.toml:2: `exec.executor` is not `sandbox`, `host` or `container`");
    assert_snapshot!(with("[skills]\n\nload_mode = 5"), @"2 |  | error: [HOME]/.metier/config.toml:3: `skills.load_mode` is not `turn`, `once` or `session`");
    assert_snapshot!(with("timeout = 5"), @"2 |  | error: [HOME]/.metier/config.toml:1: there is no setting `timeout` / hint: did you mean `exec.timeout`?");
    assert_snapshot!(with("[mcp.servers.files]\ncomand = 'x'"), @"2 |  | error: [HOME]/.metier/config.toml:2: there is no setting `mcp.servers.files.comand` / hint: did you mean `mcp.servers.files.command`?");
    assert_snapshot!(with("[agents.defaults.approvals]\nmode = 'deny'"), @"2 |  | error: [HOME]/.metier/config.toml:2: there is no setting `agents.defaults.approvals.mode` / hint: did you mean `approvals.mode`?");
    let env = environment().with_variable("METIER_EXEC_EXECUTOR", "Sandbox");
    assert_snapshot!(compact(&run(&env, "config show")), @"2 |  | error: $METIER_EXEC_EXECUTOR: `exec.executor` is not `sandbox`, `host` or `container` / hint: did you mean `sandbox`?");
}
