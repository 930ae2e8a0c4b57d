//! Commands on the host: the person at the client decides.

use serde_json::{Value, json};

use super::Client;
use crate::environment;

const ON_HOST: &str = "--no-default-sources --skills-dir skills --executor host";

fn run(client: &mut Client, command: &str) -> Value {
    client.call("skill_load", &json!({ "skill": "greet" }));
    client.call("skill_run", &json!({ "skill": "greet", "command": command }))
}

/// Whether a file was made, after this was answered.
fn is_made(decision: &'static str, capabilities: &Value) -> (bool, Value, Vec<String>) {
    let env = environment().with_variable("PATH", "/usr/bin:/bin");
    env.skill("project/skills", "greet", "Says hello.");
    let made = env.root().join("made");
    let (mut client, _) = Client::start(&env, ON_HOST, capabilities);
    client.decision = decision;
    let answer = run(&mut client, &format!("touch {}", made.display()));
    let asked = std::mem::take(&mut client.asked);
    client.end();
    (made.exists(), answer, asked)
}

#[test]
fn a_command_runs_when_the_person_at_the_client_allows_it() {
    let (is_made, answer, asked) = is_made("once", &json!({ "elicitation": {} }));
    assert!(is_made, "{answer}");
    assert!(asked.len() == 1 && asked[0].contains("run: touch "), "{asked:?}");
}

#[test]
fn a_command_does_not_run_when_the_person_denies_it() {
    let (is_made, answer, asked) = is_made("deny", &json!({ "elicitation": {} }));
    assert!(!is_made && answer["isError"] == true, "{answer}");
    assert_eq!(asked.len(), 1);
}

#[test]
fn a_client_that_cannot_ask_is_refused_with_what_to_do() {
    let (is_made, answer, asked) = is_made("once", &json!({}));
    assert!(!is_made && answer["isError"] == true, "{answer}");
    assert!(answer.to_string().contains("metier approvals add"), "{answer}");
    assert!(asked.is_empty(), "{asked:?}");
}

#[test]
fn without_a_session_the_call_comes_again_with_the_answer_to_exactly_its_question() {
    let env = environment().with_variable("PATH", "/usr/bin:/bin");
    env.skill("project/skills", "greet", "Says hello.");
    let capabilities = json!({ "elicitation": { "form": {} } });
    let mut client = Client::start_without_session(&env, ON_HOST, &capabilities);
    let [wanted, other] = ["wanted", "other"].map(|name| env.root().join(name));
    let call = |path: &std::path::Path| {
        let command = format!("touch {}", path.display());
        json!({ "name": "skill_run", "arguments": { "skill": "greet", "command": command } })
    };
    client.call("skill_load", &json!({ "skill": "greet" }));
    let asked = client.ask("tools/call", &call(&wanted));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["approval"]["params"]["message"];
    assert!(question.as_str().unwrap().contains("run: touch "), "{asked}");
    assert!(!wanted.exists());

    let answered = |path: &std::path::Path| {
        let mut call = call(path);
        let answer = json!({ "action": "accept", "content": { "decision": "once" } });
        call["inputResponses"] = json!({ "approval": answer });
        call["requestState"] = asked["requestState"].clone();
        call
    };
    let refused = client.ask("tools/call", &answered(&other));
    assert_eq!(refused["resultType"], "input_required", "it is another question: {refused}");
    assert!(!other.exists());
    let ran = client.ask("tools/call", &answered(&wanted));
    assert!(ran["isError"] == false && wanted.exists(), "{ran}");
    client.end();
}
