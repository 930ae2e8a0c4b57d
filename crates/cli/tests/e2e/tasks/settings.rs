//! What settings change in what a model is told and may use.

use metier_testkit::TestEnv;
use serde_json::{Value, json};

use super::bench::{call, run_scripted, script, with_skill};
use crate::run;

/// The system text that a session began with.
fn system(env: &TestEnv, session: &str) -> String {
    let exported = run(env, &format!("sessions export {session}")).stdout;
    let header: Value = serde_json::from_str(exported.lines().next().unwrap_or_default())
        .expect("the first line of an export is its header");
    header["opening"]["system"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_minimal_prompt_names_no_skill_not_even_a_new_one() {
    let env = with_skill();
    env.write("home/.metier/config.toml", "agent.prompt = \"minimal\"\nagent.guidance = \"none\"\nagent.instruction = \"Be brief.\"\n");
    script(&env, &[json!({ "text": "Yes." })]);
    assert_eq!(run_scripted(&env, &["hello?", "--session", "one"]).code, 0);
    assert_eq!(system(&env, "one"), "Be brief.");
    env.skill("project/skills", "later", "Comes later.");
    assert_eq!(run_scripted(&env, &["hello?", "--session", "one"]).code, 0);
    let exported = run(&env, "sessions export one").stdout;
    assert!(!exported.contains("Comes later."), "{exported}");
}

#[test]
fn the_tokens_of_a_task_are_bounded() {
    let env = with_skill();
    env.write("home/.metier/config.toml", "agent.max_tokens = 100\n");
    let load = call("skill_load", &json!({ "skill": "counter" }));
    let reply = json!({ "calls": [load], "usage": { "input": 90, "output": 20 } });
    script(&env, &[reply, json!({ "text": "never asked for" })]);
    let outcome = run_scripted(&env, &["hello?"]);
    assert_eq!(outcome.code, 1, "{outcome}");
    assert!(outcome.stderr.contains("tokens"), "{outcome}");
    assert!(!outcome.stdout.contains("never asked for"), "{outcome}");
}
