//! The Inspector's command line lists and calls everything, over standard input and output and over
//! HTTP, as a client of either kind: with a handshake, or without sessions.

use metier_testkit::{Node, TestEnv};
use serde_json::{Value, json};

use super::with_bundled_skills;
use crate::served::http::{Served, TOKEN};

/// The Inspector in front of one server.
struct Inspector<'a> {
    env: &'a TestEnv,
    node: Node,
    era: &'a str,
}

impl Inspector<'_> {
    /// Asks one question, as a process of its own.
    fn ask(&self, method: &str, arguments: &[&str]) -> Value {
        let mut command = self.node.inspector();
        command.current_dir(self.env.project()).env("HOME", self.env.home());
        command.arg("--config").arg(self.env.root().join("inspector.json"));
        command.args(["--server", "metier", "--protocol-era", self.era, "--method", method]);
        command.args(arguments);
        let outcome = self.env.finish(command, "");
        assert_eq!(outcome.code, 0, "{method} {arguments:?}: {outcome}");
        // With `--verify` there is a line for each skill.
        let answer = serde_json::from_str(&outcome.stdout);
        answer.unwrap_or_else(|_| outcome.stdout.lines().map(Value::from).collect())
    }

    fn call(&self, tool: &str, arguments: &[&str]) -> Value {
        let given = arguments.iter().flat_map(|given| ["--tool-arg", given]).collect::<Vec<_>>();
        let answer = self.ask("tools/call", &[&["--tool-name", tool], &given[..]].concat());
        assert_ne!(answer["isError"], true, "{tool}: {answer}");
        assert!(answer["content"][0]["text"].is_string(), "{tool}: {answer}");
        answer["structuredContent"].clone()
    }

    /// Lists everything, and uses each kind of thing.
    fn look_at_everything(&self) {
        let listed = self.ask("tools/list", &["--strict"]);
        let mut called = Vec::new();
        let mut call = |tool: &'static str, arguments: &[&str]| {
            called.push(tool);
            self.call(tool, arguments)
        };
        let found = call("skill_search", &["query=\"totals by category in a CSV file\""]);
        assert_eq!(found["skills"][0]["name"], "csv-stats", "{found}");
        let loaded = call("skill_load", &["skill=csv-stats"]);
        assert!(loaded.to_string().contains("# CSV statistics"), "{loaded}");
        let docs = call("skill_list_docs", &["skill=csv-stats"]);
        assert!(docs["docs"].as_array().is_some_and(|docs| !docs.is_empty()), "{docs}");
        let read = call("skill_read", &["skill=csv-stats", "path=assets/sales.csv"]);
        assert!(read.to_string().contains("region"), "{read}");
        let outputs = json!({ "globs": ["out/*.md"], "save": true });
        let ran = call(
            "skill_run",
            &[
                "skill=csv-stats",
                "command=\"python3 scripts/csv_stats.py profile assets/sales.csv --format markdown --output out/profile.md\"",
                &format!("outputs={outputs}"),
            ],
        );
        assert_eq!(ran["exit_code"], 0, "{ran}");
        let kept = call("artifact_read", &["name=out/profile.md"]);
        assert!(kept.to_string().contains("amount"), "{kept}");
        let names = listed["tools"].as_array().expect("a list").iter();
        let mut names =
            names.map(|tool| tool["name"].as_str().expect("a name")).collect::<Vec<_>>();
        names.sort_unstable();
        called.sort_unstable();
        assert_eq!(names, called, "every tool is called");

        self.look_at_resources();
        let prompts = self.ask("prompts/list", &[]);
        assert!(has(&prompts["prompts"], "name", "csv-stats"), "{prompts}");
        let prompt = self.ask("prompts/get", &["--prompt-name", "csv-stats"]);
        assert!(prompt["messages"].to_string().contains("# CSV statistics"), "{prompt}");
    }

    fn look_at_resources(&self) {
        let uri = "skill://csv-stats/SKILL.md";
        let resources = self.ask("resources/list", &[]);
        assert!(has(&resources["resources"], "uri", uri), "{resources}");
        let templates = self.ask("resources/templates/list", &[]);
        assert!(has(&templates["resourceTemplates"], "uriTemplate", "skill://{skill}/{+path}"));
        let read = self.ask("resources/read", &["--uri", uri]);
        assert!(read["contents"][0]["text"].to_string().contains("# CSV statistics"), "{read}");
        let folder = self.ask("resources/directory/read", &["--uri", "skill://csv-stats"]);
        assert!(has(&folder["resources"], "uri", uri), "{folder}");
        // It compares every digest with the bytes that it reads, and fails if one differs.
        let verified = self.ask("skills/list", &["--verify", "--require-digests"]);
        assert!(verified.to_string().contains("csv-stats"), "{verified}");
    }
}

fn has(list: &Value, key: &str, value: &str) -> bool {
    list.as_array().is_some_and(|list| list.iter().any(|entry| entry[key] == value))
}

/// Each question is asked by a new process, so nothing is loaded when a command is run.
fn prepared() -> TestEnv {
    let env = with_bundled_skills();
    env.write("home/.metier/config.toml", "[skills]\nload_before_run = false\n");
    env
}

#[test]
fn the_inspector_lists_and_calls_everything_over_standard_input_and_output() {
    let test = "interop::inspector::the_inspector_lists_and_calls_everything_over_standard_input_and_output";
    let Some(node) = Node::find(test) else { return };
    let env = prepared();
    let variables = json!({ "METIER_HOME": env.home().join(".metier"), "PATH": "/usr/bin:/bin" });
    let arguments = ["mcp", "--session", "inspected"];
    let server = json!({ "command": env.binary(), "args": arguments, "env": variables });
    env.write("inspector.json", json!({ "mcpServers": { "metier": server } }).to_string());
    Inspector { env: &env, node, era: "legacy" }.look_at_everything();
}

#[test]
fn the_inspector_lists_and_calls_everything_over_http() {
    let test = "interop::inspector::the_inspector_lists_and_calls_everything_over_http";
    let Some(node) = Node::find(test) else { return };
    let env = prepared();
    let serving = Served::start_plain(&env, &[]);
    let url = format!("http://{}/mcp", serving.address);
    let headers = json!({ "Authorization": format!("Bearer {TOKEN}") });
    let server = json!({ "type": "streamable-http", "url": url, "headers": headers });
    env.write("inspector.json", json!({ "mcpServers": { "metier": server } }).to_string());
    Inspector { env: &env, node, era: "modern" }.look_at_everything();
}
