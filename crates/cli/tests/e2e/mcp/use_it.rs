//! What a client sees and does.

use std::fs;

use serde_json::{Value, json};

use super::Client;
use crate::environment;
use crate::masking::Leaky;

const OWN: &str = "--no-default-sources --skills-dir skills";

#[test]
fn a_client_is_told_of_skills_tools_prompts_and_resources() {
    let env = environment();
    env.skill("project/skills", "greet", "Says hello.");
    env.write("project/skills/greet/docs/more.md", "More.\n");
    let (mut client, told) = Client::start(&env, OWN, &json!({}));
    let version = env!("CARGO_PKG_VERSION");
    insta::assert_snapshot!("initialize", format!("{told:#}").replace(version, "[version]"));
    let tools = client.ask("tools/list", &json!({}));
    let tools = tools["tools"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap());
    let tools: Vec<&str> = tools.collect();
    insta::assert_snapshot!(tools.join(" "), @"skill_search skill_load skill_list_docs skill_read skill_run artifact_read");
    let prompts = client.ask("prompts/list", &json!({}));
    insta::assert_snapshot!("prompts", format!("{prompts:#}"));
    let resources = client.ask("resources/list", &json!({}));
    insta::assert_snapshot!("resources", format!("{resources:#}"));
    assert_eq!(client.end(), "");
}

#[test]
fn a_bundled_skill_is_used_from_search_to_artifact() {
    // The programs that it needs are those of the machine.
    let env = environment().with_variable("PATH", "/usr/bin:/bin");
    let (mut client, _) = Client::start(&env, "", &json!({}));
    let found = client.call("skill_search", &json!({ "query": "statistics of a csv file" }));
    let name = found["structuredContent"]["skills"][0]["name"].as_str().unwrap().to_owned();
    let loaded = client.call("skill_load", &json!({ "skill": name }));
    assert_eq!(loaded["isError"], false, "{loaded}");
    let run = json!({
        "skill": name,
        "command": "echo kept > out/result.txt",
        "outputs": { "globs": ["out/result.txt"], "save": true },
    });
    let ran = client.call("skill_run", &run);
    assert_eq!(ran["isError"], false, "{ran}");
    let kept = client.ask("resources/read", &json!({ "uri": "artifact://out/result.txt" }));
    assert_eq!(kept["contents"][0]["text"], "kept\n", "{kept}");
    client.end();
}

#[test]
fn a_client_gets_no_form_of_a_key() {
    let leaky = Leaky::new();
    let (mut client, _) = Client::start(&leaky.env, OWN, &json!({}));
    client.call("skill_load", &json!({ "skill": "leaky" }));
    let outputs = json!({ "globs": ["out/**"], "inline": true, "save": true });
    let run = json!({ "skill": "leaky", "command": "bash leak.sh", "outputs": outputs });
    let ran = client.call("skill_run", &run).to_string();
    assert!(ran.contains("verbatim ****") && ran.contains("the end"), "{ran}");
    let whole = json!({ "uri": "artifact://out/forms-22.txt" });
    let whole = client.ask("resources/read", &whole).to_string();
    let part = json!({ "name": "workspace://out/forms-22.txt", "start_line": 3 });
    let part = client.call("artifact_read", &part).to_string();
    assert!(whole.contains("verbatim ****") && part.contains("****"), "{whole}\n{part}");
    let log = client.end();
    leaky.assert_masked(&[&ran, &whole, &part, &log]);
}

#[test]
fn a_client_gets_no_key_that_stands_in_a_skill_or_in_its_own_words() {
    const KEY: &str = "tk_0123456789abcdefXYZ";
    let env = environment();
    let header = "---\nname: leaky\ndescription: Prints. Use when asked to print.\n---\n";
    env.write("project/skills/leaky/SKILL.md", format!("{header}\nThe key is {KEY}.\n"));
    let configured = format!("[skills.entries.leaky.env]\nTOKEN = '{KEY}'\n");
    env.write("home/.metier/config.toml", configured);
    let (mut client, _) = Client::start(&env, OWN, &json!({}));
    let loaded = client.call("skill_load", &json!({ "skill": "leaky" })).to_string();
    assert!(loaded.contains("The key is ****."), "{loaded}");
    let named = json!({ "skill": KEY, "command": "true" });
    let refused = client.call("skill_run", &named).to_string();
    assert!(refused.contains("****") && !refused.contains(KEY), "{refused}");
    client.end();
}

#[test]
fn a_skill_that_is_put_into_a_folder_is_told_at_once() {
    let env = environment();
    env.skill("project/skills", "greet", "Says hello.");
    let (mut client, _) = Client::start(&env, OWN, &json!({}));
    let uri = json!({ "uri": "skill://greet/SKILL.md" });
    let answer = client.ask("resources/subscribe", &uri);
    assert!(answer.get("code").is_none(), "{answer}");
    // Folders are watched a moment after the start; what came before that is found as well.
    env.skill("project/skills", "weather", "Tells the weather.");
    client.told("notifications/tools/list_changed");
    client.told("notifications/resources/list_changed");
    let tools = client.ask("tools/list", &json!({})).to_string();
    assert!(tools.contains("Skills added: weather"), "{tools}");
    let loaded = client.call("skill_load", &json!({ "skill": "weather" }));
    assert_eq!(loaded["isError"], false, "{loaded}");

    let text = "---\nname: greet\ndescription: Says hello.\n---\n\nAnother body.\n";
    fs::write(env.project().join("skills/greet/SKILL.md"), text).unwrap();
    let told = client.told("notifications/resources/updated");
    assert_eq!(told["params"]["uri"], uri["uri"], "{told}");
    let read = client.ask("resources/read", &uri);
    assert_eq!(read["contents"][0]["text"], text, "{read}");
    client.end();
}

#[test]
fn warnings_go_to_standard_error_and_nothing_but_messages_to_standard_output() {
    let env = environment();
    env.skill("project/skills", "greet", "Says hello.");
    let arguments = format!("{OWN} --skills-dir missing");
    let (mut client, _) = Client::start(&env, &arguments, &json!({}));
    let ran = client.call("skill_load", &json!({ "skill": "greet" }));
    assert_eq!(ran["isError"], Value::Bool(false), "{ran}");
    let said = client.end();
    assert!(said.contains("missing"), "{said}");
}

#[test]
fn what_comes_from_another_server_says_so_wherever_a_client_reads_of_it() {
    let env = environment();
    env.skill("elsewhere", "ship", "Ships things.");
    let (metier, folder) = (env.binary().display(), env.root().join("elsewhere"));
    env.write(
        "home/.metier/config.toml",
        format!(
            "[mcp.servers.other]\ncommand = '{metier}'\nskills = true\n\
             args = ['mcp', '--no-default-sources', '--skills-dir', '{}']\n",
            folder.display()
        ),
    );
    let trusted = env.run(["skills", "trust", "ship", "--yes"]);
    assert_eq!(trusted.code, 0, "{trusted}");
    // What was fetched before is there at once, and its server need not be waited for.
    let fetched = env.run(["read", "skill://ship/SKILL.md"]);
    assert_eq!(fetched.code, 0, "{fetched}");
    let (mut client, told) = Client::start(&env, "", &json!({}));
    let said = "(from the server other) Ships things.";
    assert!(told["instructions"].as_str().unwrap().contains(said), "{told}");
    for (method, params) in [
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "ship" })),
        ("resources/list", json!({})),
        ("resources/directory/read", json!({ "uri": "skill://ship" })),
    ] {
        let answer = client.ask(method, &params).to_string();
        assert!(answer.contains(said), "{method}: {answer}");
    }
    let given = json!({ "skill": "ship", "path": "SKILL.md" });
    for (tool, given) in [("skill_load", json!({ "skill": "ship" })), ("skill_read", given)] {
        let answer = client.call(tool, &given);
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("From the server other"), "{tool}: {answer}");
    }
    client.end();
}
