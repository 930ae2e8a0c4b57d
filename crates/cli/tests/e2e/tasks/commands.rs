//! Skills that a person calls by name: loaded for the model, or their command given to a tool.

use insta::assert_snapshot;
use metier_testkit::TestEnv;
use serde_json::json;

use super::bench::{chat, run_scripted, script, steady, with_skill};

/// With a skill whose command is for a tool, and one that a model cannot use.
fn with_direct() -> TestEnv {
    let env = with_skill();
    let skill = |name: &str, header: &str, body: &str| {
        let text = format!("---\nname: {name}\ndescription: Is {name}.\n{header}---\n\n{body}\n");
        env.write(format!("project/skills/{name}/SKILL.md"), &text);
    };
    skill("direct", "command-dispatch: tool\ncommand-tool: exec\n", "# Direct");
    skill("run-it", "command-dispatch: tool\ncommand-tool: skill_run\n", "# Run it");
    skill("hidden", "disable-model-invocation: true\n", "Knows the word.");
    skill("private", "user-invocable: false\n", "# Private");
    env.write("project/skills/run-it/word.txt", "sesame\n");
    env
}

#[test]
fn a_command_of_a_skill_that_names_a_tool_goes_to_it_without_a_model() {
    let env = with_direct();
    script(&env, &[json!({ "text": "Two." })]);
    let input = "/direct echo one; echo more >&2; exit 3\nand $direct\n";
    assert_snapshot!(steady(&chat(&env, &["--tools", "files", "--session", "one"], input)), @"");
    assert_snapshot!(steady(&run_scripted(&env, &["/direct echo from a task", "--tools", "files"])), @"");
    assert_snapshot!(steady(&run_scripted(&env, &["/run_it cat word.txt", "--session", "two"])), @"");
    let shown = crate::run(&env, "sessions show two");
    assert_snapshot!(shown.stdout, @"");
}

#[test]
fn a_tool_that_is_not_given_to_the_model_is_not_given_to_a_command_either() {
    let env = with_direct();
    script(&env, &[]);
    assert_snapshot!(steady(&run_scripted(&env, &["/direct echo hello"])), @"");
}

#[test]
fn a_task_calls_skills_as_a_message_of_a_chat_does() {
    let env = with_direct();
    let text = |text: &str| json!({ "text": text });
    script(&env, &[text("One."), text("Two."), text("Three.")]);
    assert_snapshot!(steady(&run_scripted(&env, &["/hidden say it"])), @"");
    assert_snapshot!(steady(&run_scripted(&env, &["say it with $hidden, for $5"])), @"");
    assert_snapshot!(steady(&run_scripted(&env, &["/etc/passwd has what?"])), @"");
    let told = ["/hiddn say it", "/private", "/help", "/skill"].map(|task| {
        let outcome = run_scripted(&env, &[task]);
        format!("{task}: {} | {}", outcome.code, outcome.stderr.replace('\n', " / "))
    });
    assert_snapshot!(told.join("\n"), @"");
}
