//! Two metiers: one has skills, and the other uses them, as skills or as tools.

use metier_testkit::{Outcome, TestEnv};
use serde_json::{Value, json};

use crate::served::http::{Served, TOKEN};
use crate::{environment, json as printed, remote};

/// An environment with a skill that another metier serves.
fn with_other() -> TestEnv {
    let env = environment();
    env.write("project/skills/ship/SKILL.md", ship("Say `sh go.sh`."));
    env.write("project/skills/ship/go.sh", "echo shipped | tee \"$OUTPUT_DIR/bill.txt\"\n");
    env
}

fn ship(body: &str) -> String {
    format!("---\nname: ship\ndescription: Ships things. Use when asked to ship.\n---\n\n{body}\n")
}

/// The other metier, as a command.
fn other(env: &TestEnv) -> Vec<String> {
    let folder = env.project().join("skills").display().to_string();
    let words = ["mcp", "--no-default-sources", "--skills-dir", &folder];
    [env.binary().display().to_string()].into_iter().chain(words.map(str::to_owned)).collect()
}

fn ask(env: &TestEnv, line: &[&str]) -> Outcome {
    remote::ask(env, &other(env).join(" "), line)
}

fn go(env: &TestEnv) -> Outcome {
    ask(env, &["exec", "ship", "--", "sh go.sh"])
}

/// The skill of the other metier in a list.
fn listed(outcome: &Outcome) -> Option<Value> {
    let skills = printed(outcome)["skills"].as_array().cloned().unwrap_or_default();
    skills.into_iter().find(|skill| skill["name"] == "ship" && skill["source"] == "remote")
}

/// Whether it is listed as one that may be used.
fn is_usable(outcome: &Outcome) -> bool {
    listed(outcome).expect("it is listed")["eligible"] == true
}

#[test]
fn a_skill_of_another_metier_is_used_once_it_is_trusted_and_as_long_as_it_is_the_same() {
    let env = with_other();
    let list = || ask(&env, &["skills", "list", "--json", "--all"]);
    assert!(!is_usable(&list()));
    let refused = go(&env);
    assert!(refused.code != 0 && !refused.stdout.contains("shipped"), "{refused}");

    let trusted = ask(&env, &["skills", "trust", "ship", "--yes"]);
    assert_eq!(trusted.code, 0, "{trusted}");
    assert!(is_usable(&list()));
    assert!(go(&env).stdout.contains("shipped"), "{}", go(&env));

    env.write("project/skills/ship/go.sh", "echo stolen\n");
    assert!(!is_usable(&list()));
    let changed = go(&env);
    assert!(changed.code != 0 && !changed.stdout.contains("stolen"), "{changed}");
}

#[test]
fn a_configured_metier_at_an_address_gives_its_skills_to_whoever_has_the_token() {
    let env = with_other();
    let server = Served::start(&env, &[]);
    env.write(
        "home/.metier/config.toml",
        format!(
            "[mcp.servers.other]\nurl = 'http://{}/mcp'\ntoken_env = 'OTHER_TOKEN'\nskills = true\n",
            server.address
        ),
    );
    let list = |token: &str| {
        let mut command = env.command(env.binary());
        command.args(["skills", "list", "--json", "--all"]).env("OTHER_TOKEN", token);
        env.finish(command, "")
    };
    assert!(!is_usable(&list(TOKEN)), "it is not trusted yet");
    let refused = list("another-token-that-nobody-knows-of");
    assert_eq!(listed(&refused), None, "{refused}");
    assert!(refused.to_string().contains("the server `other` does not let us in"), "{refused}");
}

#[test]
fn the_tools_of_another_metier_do_a_task_from_search_to_artifact() {
    let env = with_other();
    let words = other(&env);
    let quoted: Vec<String> = words[1..].iter().map(|it| format!("'{it}'")).collect();
    env.write(
        "home/.metier/config.toml",
        format!(
            "[mcp.servers.other]\ncommand = '{}'\nargs = [{}]\nallow = ['skill_*', 'artifact_read']\n",
            words[0],
            quoted.join(", ")
        ),
    );
    let call = |tool: &str, given: Value| json!({ "calls": [{ "name": format!("other__{tool}"), "arguments": given }] });
    let outputs = json!({ "globs": ["out/*"], "save": true });
    let run = json!({ "skill": "ship", "command": "sh go.sh", "outputs": outputs });
    let replies = [
        call("skill_search", json!({ "query": "ship something" })),
        call("skill_load", json!({ "skill": "ship" })),
        call("skill_run", run),
        call("artifact_read", json!({ "name": "out/bill.txt" })),
        json!({ "text": "It was shipped." }),
    ];
    let lines: Vec<String> = replies.iter().map(Value::to_string).collect();
    env.write("project/replies.jsonl", lines.join("\n"));
    let model = ["run", "--model", "scripted/replies.jsonl", "--no-default-sources"];
    let done = env.run(model.iter().chain(&["ship it", "--session", "one"]));
    assert_eq!((done.code, done.stdout.as_str()), (0, "It was shipped.\n"), "{done}");
    let events = env.run(["sessions", "show", "one", "--json"]).stdout;
    let answers: Vec<&str> = events.matches("\"tool\":\"other__").collect();
    assert_eq!(answers.len(), 4, "{events}");
    for part in ["[Loaded] ship", "shipped"] {
        assert!(events.contains(part), "{part}: {events}");
    }
}

#[test]
fn a_metier_that_is_its_own_server_does_not_start_itself_for_ever() {
    let env = with_other();
    let marks = env.project().join("starts");
    let metier =
        format!("{} mcp --skills-dir {}/skills", env.binary().display(), env.project().display());
    let script = format!("echo >> {}; exec {metier}", marks.display());
    env.write(
        "home/.metier/config.toml",
        format!("[mcp.servers.self]\ncommand = ['/bin/sh', '-c', '{script}']\nskills = true\n"),
    );
    let list = env.run(["skills", "list", "--json", "--all"]);
    assert!(listed(&list).is_some(), "{list}");
    let starts = std::fs::read_to_string(marks).expect("it was started");
    assert_eq!(starts.lines().count(), 1, "{list}");
}
