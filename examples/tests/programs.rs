//! Every program of this folder is run, and what it prints is compared.
#![expect(
    clippy::disallowed_methods,
    reason = "the programs are started as a reader would start them"
)]

use std::process::Command;

/// What a program prints, after it has ended well.
fn printed(program: &str) -> String {
    let output = Command::new(program).output().expect("it was built");
    let (text, errors) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
    let (text, errors) = (text.expect("text"), errors.expect("text"));
    assert!(output.status.success() && errors.is_empty(), "{}\n{text}\n{errors}", output.status);
    text
}

#[test]
fn the_agent_finds_a_skill_and_runs_it_in_the_sandbox() {
    insta::assert_snapshot!(printed(env!("CARGO_BIN_EXE_agent")), @"
    I am the offline planner, not a language model: I choose a skill by its description and run an example of it.

    `word-count` fits this task. I took this command from its examples:

    ```text
    sh scripts/count.sh assets/sample.txt
    ```

    It reads data that came with the skill; attach a file to use yours.

    It ended with exit code 0 and printed:

    ```text
    lines: 2
    words: 13
    ```

    It made no files.

    For an answer to the task itself, give the agent a language model.
    ");
}

#[test]
fn a_program_gives_a_trusted_checkout_its_own_prompter() {
    insta::assert_snapshot!(printed(env!("CARGO_BIN_EXE_application")), @"
    may `skill_run` run this on your machine?
    I am the offline planner, not a language model: I choose a skill by its description and run an example of it.

    `line-count` fits this task. I took this command from its examples:

    ```text
    wc -l assets/poem.txt
    ```

    It reads data that came with the skill; attach a file to use yours.

    It ended with exit code 0 and printed:

    ```text
    4 assets/poem.txt
    ```

    It made no files.

    For an answer to the task itself, give the agent a language model.
    ");
}

#[test]
fn a_file_comes_with_a_task_and_a_file_comes_out_of_it() {
    insta::assert_snapshot!(printed(env!("CARGO_BIN_EXE_files")), @"
    I counted the words of letter.txt; out/count.txt has the result.
    out/count.txt, version 0:
    lines: 2
    words: 5
    ");
}

#[test]
fn a_tool_of_the_program_is_called_by_the_model() {
    insta::assert_snapshot!(printed(env!("CARGO_BIN_EXE_custom_tool")), @r#"
    stock: {"article":"anvil","count":3}
    stock: there is no article `rocket`
    There are 3 anvils, and no such article as a rocket.
    "#);
}

#[test]
fn an_executor_of_the_program_runs_the_commands_of_a_skill() {
    insta::assert_snapshot!(printed(env!("CARGO_BIN_EXE_custom_executor")), @"
    I am the offline planner, not a language model: I choose a skill by its description and run an example of it.

    `word-count` fits this task. I took this command from its examples:

    ```text
    sh scripts/count.sh assets/sample.txt
    ```

    It reads data that came with the skill; attach a file to use yours.

    It ended with exit code 0 and printed:

    ```text
    lines: 2
    words: 13
    ```

    It made no files.

    For an answer to the task itself, give the agent a language model.
    ran: sh scripts/count.sh assets/sample.txt
    ");
}

#[test]
fn a_session_goes_on_in_a_store_of_the_program() {
    insta::assert_snapshot!(printed(env!("CARGO_BIN_EXE_custom_session_store")), @"
    messages sent: 1, reply: Good day, Ada.
    messages sent: 3, reply: Ada.
    1.jsonl: begun
    1.jsonl: opening
    1.jsonl: events
    1.jsonl: events
    1.jsonl: events
    1.jsonl: events
    ");
}
