//! Skills that a person calls by name: loaded for the model, or their command given to a tool.

use insta::assert_snapshot;
use metier_testkit::TestEnv;
use serde_json::json;

use super::bench::{chat, run_scripted, script, steady, with_skill};
use crate::{run, without_times};

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
    assert_snapshot!(steady(&chat(&env, &["--tools", "files", "--session", "one"], input)), @"
    exit 1
    ----- stdout
    one
    more
    Two.
    ----- stderr
    ran echo one; echo more >&2; exit 3 · exit 3 · [TIME]
      more
    loaded direct
    session one · 2 messages
    ");
    assert_snapshot!(steady(&run_scripted(&env, &["/direct echo from a task", "--tools", "files", "--session", "three"])), @"
    exit 0
    ----- stdout
    from a task
    ----- stderr
    ran echo from a task · exit 0 · [TIME]
    answered · [TIME] · scripted/replies.jsonl · session three
    ");
    assert_snapshot!(steady(&run_scripted(&env, &["/run_it cat word.txt", "--session", "two"])), @"
    exit 0
    ----- stdout
    sesame
    ----- stderr
    ran run-it: cat word.txt · exit 0 · [TIME]
    answered · [TIME] · scripted/replies.jsonl · session two
    ");
    let shown = run(&env, "sessions show two");
    assert_snapshot!(without_times(&shown.stdout), @"
    you
      /run_it cat word.txt
      ran run-it: cat word.txt · exit 0 · [TIME]
    ");
}

#[test]
fn a_tool_that_is_not_given_to_the_model_is_not_given_to_a_command_either() {
    let env = with_direct();
    script(&env, &[]);
    assert_snapshot!(steady(&run_scripted(&env, &["/direct echo hello", "--session", "one"])), @"
    exit 1
    ----- stdout

    ----- stderr
    error: there is no tool `exec`; the tools are: skill_load, skill_select_docs, skill_list_docs, skill_search, skill_run, read_file
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
}

#[test]
fn a_task_calls_skills_as_a_message_of_a_chat_does() {
    let env = with_direct();
    let text = |text: &str| json!({ "text": text });
    script(&env, &[text("One."), text("Two."), text("Three.")]);
    assert_snapshot!(steady(&run_scripted(&env, &["/hidden say it", "--session", "one"])), @"
    exit 0
    ----- stdout
    One.
    ----- stderr
    loaded hidden
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
    assert_snapshot!(steady(&run_scripted(&env, &["say it with $hidden, for $5", "--session", "two"])), @"
    exit 0
    ----- stdout
    One.
    ----- stderr
    loaded hidden
    answered · [TIME] · scripted/replies.jsonl · session two
    ");
    assert_snapshot!(steady(&run_scripted(&env, &["/etc/passwd has what?", "--session", "three"])), @"
    exit 0
    ----- stdout
    One.
    ----- stderr
    answered · [TIME] · scripted/replies.jsonl · session three
    ");
    let told = ["/hiddn say it", "/private", "/help", "/skill"].map(|task| {
        let outcome = run_scripted(&env, &[task]);
        format!("{task}: {} | {}", outcome.code, outcome.stderr.replace('\n', " / "))
    });
    assert_snapshot!(told.join("\n"), @"
    /hiddn say it: 2 | error: there is no skill that `/hiddn` calls / hint: did you mean `/hidden`? / 
    /private: 2 | error: there is no skill that `/private` calls / hint: `metier skills list` shows the skills / 
    /help: 2 | error: `/help` is a command of `metier chat` / hint: start `metier chat`, and type it there / 
    /skill: 2 | error: `/skill` needs the name of a skill / hint: `metier skills list` shows the skills /
    ");
}
