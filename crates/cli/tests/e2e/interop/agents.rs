//! An agent of others uses a bundled skill through `metier mcp`. Its model is a script, the rest is
//! as it is: the agent starts the server, lists tools, calls them and gives results to its model.

use metier_testkit::provider::{Provider, Said, Wire};
use metier_testkit::{Node, TestEnv};
use serde_json::{Value, json};

use super::with_bundled_skills;

/// What the agent calls the tools of a server that is `metier` in its configuration.
const NAMESPACE: &str = "mcp__metier";

#[test]
fn an_agent_of_others_goes_from_search_to_artifact() {
    let test = "interop::agents::an_agent_of_others_goes_from_search_to_artifact";
    let Some(node) = Node::find(test) else { return };
    let env = with_bundled_skills();
    let provider = Provider::start(Wire::Responses);
    configure(&env, &provider);
    let command = "python3 scripts/csv_stats.py group assets/sales.csv --by region \
                   --sum amount --format markdown --output out/regions.md";
    let run = json!({ "skill": "csv-stats", "command": command,
        "outputs": { "globs": ["out/*.md"], "save": true } });
    let calls = [
        ("skill_search", json!({ "query": "totals by category in a CSV file" })),
        ("skill_load", json!({ "skill": "csv-stats" })),
        ("skill_run", run),
        ("artifact_read", json!({ "name": "out/regions.md" })),
    ];
    let said = calls.iter().map(|(tool, arguments)| {
        Said::call(&format!("call_{tool}"), tool, arguments.clone()).within(NAMESPACE)
    });
    provider.says(said.chain([Said::text("The north sells most.")]));

    let mut agent = env.command(node.codex());
    agent.env("CODEX_HOME", env.root().join("codex"));
    agent.args(["exec", "--skip-git-repo-check", "--json", "What do the regions sell?"]);
    let outcome = env.finish(agent, "");
    assert_eq!(outcome.code, 0, "{outcome}");
    let results = results(&outcome.stdout);
    let requests = provider.bodies();
    assert_eq!(requests.len(), 5, "{outcome}");

    let names = results.iter().map(|(tool, _)| tool.as_str()).collect::<Vec<_>>();
    assert_eq!(names, calls.map(|(tool, _)| tool), "{outcome}");
    for (tool, result) in &results {
        assert_eq!(result["status"], "completed", "{tool}: {result}");
    }
    let structured = |at: usize| &results[at].1["result"]["structured_content"];
    assert_eq!(structured(0)["skills"][0]["name"], "csv-stats", "{}", structured(0));
    assert_eq!(structured(2)["exit_code"], 0, "{}", structured(2));
    assert_eq!(structured(2)["artifact_files"][0]["name"], "out/regions.md", "{}", structured(2));
    // The model was told of the skills, got the instructions, and in the end the artifact.
    assert!(tools(&requests[0]).contains("csv-stats"), "{}", requests[0]);
    assert!(last_result(&requests[2]).contains("# CSV statistics"), "{}", requests[2]);
    assert!(last_result(&requests[4]).contains("| North"), "{}", requests[4]);
    assert!(outcome.stdout.contains("The north sells most."), "{outcome}");
}

/// The configuration of the agent: where its model is, and what serves tools, as we write it there.
fn configure(env: &TestEnv, provider: &Provider) {
    let text = format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\n\
         [analytics]\nenabled = false\n\n\
         [model_providers.scripted]\nname = \"scripted\"\nwire_api = \"responses\"\nbase_url = {}\n",
        json!(provider.server.url("/v1")),
    );
    env.write("codex/config.toml", text);
    let mut install = env.command(env.binary());
    install.args(["mcp", "install", "codex", "--yes"]).env("CODEX_HOME", env.root().join("codex"));
    let installed = env.finish(install, "");
    assert_eq!(installed.code, 0, "{installed}");
}

/// The calls of tools that the agent reports as over, in order.
fn results(stdout: &str) -> Vec<(String, Value)> {
    let events = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let calls = events.filter(|event| {
        event["type"] == "item.completed" && event["item"]["type"] == "mcp_tool_call"
    });
    let named = |event: Value| {
        let item = event["item"].clone();
        (item["tool"].as_str().unwrap_or_default().to_owned(), item)
    };
    calls.map(named).collect()
}

/// What the model is told of our tools.
fn tools(request: &str) -> String {
    let request: Value = serde_json::from_str(request).expect("a request is JSON");
    let tools = request["tools"].as_array().expect("a request has tools");
    tools.iter().find(|tool| tool["name"] == NAMESPACE).expect("ours are there").to_string()
}

/// What the model was given for its last call.
fn last_result(request: &str) -> String {
    let request: Value = serde_json::from_str(request).expect("a request is JSON");
    let last = request["input"].as_array().and_then(|input| input.last()).expect("an input");
    assert_eq!(last["type"], "function_call_output", "{last}");
    last["output"].to_string()
}
