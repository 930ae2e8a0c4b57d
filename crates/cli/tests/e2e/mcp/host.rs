//! Commands on the host: the person at the client decides.

use metier_testkit::TestEnv;
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

/// A client without a session, and a script that leaves a line wherever it runs.
struct Passing {
    env: TestEnv,
    client: Client,
}

impl Passing {
    fn new(settings: &str) -> Self {
        let env = environment().with_variable("PATH", "/usr/bin:/bin");
        env.skill("project/skills", "greet", "Says hello.");
        env.write("home/.metier/config.toml", settings);
        let capabilities = json!({ "elicitation": { "form": {} } });
        let mut client = Client::start_without_session(&env, ON_HOST, &capabilities);
        client.call("skill_load", &json!({ "skill": "greet" }));
        let passing = Self { env, client };
        passing.writes("first");
        passing
    }

    /// Has the script leave this.
    fn writes(&self, line: &str) {
        let log = self.env.root().join("log");
        self.env.write("note.sh", format!("echo {line} >> '{}'\n", log.display()));
    }

    /// What was left so far.
    fn log(&self) -> String {
        std::fs::read_to_string(self.env.root().join("log")).unwrap_or_default()
    }

    /// Wants to run the script with an argument; `answer` is to the question of an earlier call.
    fn run(&mut self, argument: &str, answer: Option<(&Value, &str)>) -> Value {
        let command = format!("sh {} {argument}", self.env.root().join("note.sh").display());
        let arguments = json!({ "skill": "greet", "command": command });
        let mut call = json!({ "name": "skill_run", "arguments": arguments });
        if let Some((asked, decision)) = answer {
            let answer = json!({ "action": "accept", "content": { "decision": decision } });
            call["inputResponses"] = json!({ "approval": answer });
            call["requestState"] = asked["requestState"].clone();
        }
        self.client.ask("tools/call", &call)
    }
}

/// Checks that a call ended with a question.
fn asks(answer: &Value) {
    assert_eq!(answer["resultType"], "input_required", "{answer}");
    let question = &answer["inputRequests"]["approval"]["params"]["message"];
    assert!(question.as_str().is_some_and(|it| it.contains("run: sh ")), "{answer}");
}

#[test]
fn without_a_session_the_call_comes_again_with_the_answer_to_exactly_its_question() {
    let mut passing = Passing::new("");
    let asked = passing.run("wanted", None);
    asks(&asked);
    asks(&passing.run("other", Some((&asked, "once"))));
    assert_eq!(passing.log(), "");
    let ran = passing.run("wanted", Some((&asked, "once")));
    assert!(ran["isError"] == false && passing.log() == "first\n", "{ran}");
    passing.client.end();
}

#[test]
fn a_question_that_is_open_runs_nothing_whatever_holds_where_nobody_can_be_asked() {
    let mut passing = Passing::new(
        "approvals.mode = 'full'\napprovals.ask = 'always'\napprovals.ask_fallback = 'full'\n",
    );
    let asked = passing.run("", None);
    asks(&asked);
    assert_eq!(passing.log(), "");
    let ran = passing.run("", Some((&asked, "once")));
    assert!(ran["isError"] == false && passing.log() == "first\n", "{ran}");
    let asked = passing.run("", None);
    let denied = passing.run("", Some((&asked, "deny")));
    assert!(denied["isError"] == true && passing.log() == "first\n", "{denied}");
    passing.client.end();
}

#[test]
fn an_answer_holds_for_the_script_that_was_asked_about_and_not_for_what_became_of_it() {
    let mut passing = Passing::new("");
    for decision in ["once", "always"] {
        let asked = passing.run("", None);
        asks(&asked);
        passing.writes(&format!("{decision}-other"));
        asks(&passing.run("", Some((&asked, decision))));
        asks(&passing.run("", None));
        assert_eq!(passing.log(), "", "{decision}");
    }
    passing.client.end();
}

#[test]
fn an_answer_that_is_brought_again_is_none() {
    let mut passing = Passing::new("");
    let asked = passing.run("", None);
    let ran = passing.run("", Some((&asked, "once")));
    assert_eq!(ran["isError"], false, "{ran}");
    let again = passing.run("", Some((&asked, "once")));
    asks(&again);
    asks(&passing.run("", Some((&asked, "always"))));
    assert_eq!(passing.log(), "first\n");
    let ran = passing.run("", Some((&again, "once")));
    assert!(ran["isError"] == false && passing.log() == "first\nfirst\n", "{ran}");
    passing.client.end();
}
