//! `metier chat` at a terminal, as a person sees it.

use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use metier_testkit::{Terminal, TestEnv};
use serde_json::{Value, json};

use super::bench::{call, script, with_skill};
use crate::{at_terminal, run, wait_until, without_times};

/// What is typed to leave.
const CTRL_D: &str = "\u{4}";
const CTRL_C: &str = "\u{3}";

/// A skill, a script and a terminal without colours.
fn with_script(replies: &[Value]) -> TestEnv {
    let env = with_skill().with_variable("NO_COLOR", "1");
    script(&env, replies);
    env
}

/// Starts a chat at a terminal of 80 columns.
fn start(env: &TestEnv, term: &str, words: &[&str]) -> Terminal {
    let mut command = at_terminal(env);
    command.args(["chat", "--session", "one", "--skills-dir", "skills"]).env("TERM", term);
    command.args(["--no-default-sources", "--model", "scripted/replies.jsonl"]).args(words);
    let mut terminal = Terminal::start(command, 80);
    terminal.wait_for_next("Ctrl-D leaves");
    terminal
}

/// Starts one with a line editor.
fn start_editing(env: &TestEnv) -> Terminal {
    start(env, "xterm-256color", &[])
}

/// Types something at the next prompt.
fn say(terminal: &mut Terminal, keys: &str) {
    terminal.wait_for_next("> ");
    terminal.write(keys);
}

/// What is to be seen in the end, without what differs from run to run.
fn seen(env: &TestEnv, terminal: Terminal) -> String {
    let (code, _, seen) = terminal.finish_editing();
    let seen = env.without_paths(seen.as_bytes());
    format!("{}\ncode {code}", without_times(seen.trim_end()))
}

#[test]
fn a_conversation_shows_calls_and_answers_as_they_come() {
    let list = json!({ "skill": "counter", "command": "echo 2 | tee $OUTPUT_DIR/count.txt" });
    let load = call("skill_load", &json!({ "skill": "counter" }));
    let env = with_script(&[
        json!({ "text": "Let me look.", "calls": [load, call("skill_run", &list)] }),
        json!({ "text": "# Result\n\nIt has **two** lines:\n\n1. one\n2. two\n\n```sh\nwc -l\n```\nDone." }),
        json!({ "text": "You are welcome." }),
    ]);
    let mut terminal = start_editing(&env);
    say(&mut terminal, "how long is it?\r");
    terminal.wait_for_next("Done.");
    say(&mut terminal, "thanks\r");
    terminal.wait_for_next("welcome");
    say(&mut terminal, CTRL_D);
    assert_snapshot!(seen(&env, terminal), @"
    model scripted/replies.jsonl
    session one
    /help shows what you can type, Ctrl-D leaves
    > how long is it?
    │ Let me look.
    loaded counter
    ran counter: echo 2 | tee $OUTPUT_DIR/count.txt · exit 0 · [TIME]

    # Result

    It has **two** lines:

    1. one
    2. two

    ```sh
    wc -l
    ```

    Done.
    FILE                       SIZE  TYPE
    workspace://out/count.txt   2 B  text
    in [HOME]/.metier/workspaces/metier/local/one-1

    > thanks
    You are welcome.

    >
    session one · 2 messages
    code 0
    ");
}

#[test]
fn ctrl_c_stops_the_turn_and_the_next_message_is_answered() {
    let env = with_script(&[
        json!({ "delay_ms": 600_000, "text": "Never." }),
        json!({ "text": "Here I am." }),
    ]);
    let mut terminal = start_editing(&env);
    say(&mut terminal, "wait\r");
    terminal.wait_for_next("asking scripted");
    terminal.write(CTRL_C);
    terminal.wait_for_next("stopped");
    say(&mut terminal, "still there?\r");
    terminal.wait_for_next("Here I am.");
    say(&mut terminal, CTRL_C);
    terminal.wait_for_next("Ctrl-D leaves");
    say(&mut terminal, "/quit\r");
    assert_snapshot!(seen(&env, terminal), @"
    model scripted/replies.jsonl
    session one
    /help shows what you can type, Ctrl-D leaves
    > wait
    stopped

    > still there?
    Here I am.

    >
    Ctrl-D leaves, /help shows what you can type
    > /quit
    session one · 2 messages
    code 0
    ");
}

#[test]
fn tab_completes_commands_and_skills() {
    let by_command =
        json!({ "when": { "last": "Use the skill `counter`.\n\nnow" }, "text": "By command." });
    let by_name = json!({ "when": { "last": "with $counter now" }, "text": "By name." });
    let env = with_script(&[by_command, by_name]);
    let mut terminal = start_editing(&env);
    say(&mut terminal, "/cou\t");
    terminal.wait_for_next("/counter ");
    terminal.write("now\r");
    terminal.wait_for_next("loaded counter");
    terminal.wait_for_next("By command.");
    say(&mut terminal, "with $co\t");
    terminal.wait_for_next("$counter ");
    terminal.write("now\r");
    terminal.wait_for_next("By name.");
    say(&mut terminal, "/attach rep\t");
    terminal.wait_for_next("replies.jsonl");
    terminal.write("\r");
    terminal.wait_for_next("attached replies.jsonl");
    say(&mut terminal, "/s\t\t");
    for command in ["/session", "/skill", "/skills"] {
        terminal.wait_for_next(command);
    }
    terminal.write("\u{15}");
    terminal.write(CTRL_D);
    let (code, ..) = terminal.finish_editing();
    assert_eq!(code, 0);
}

#[test]
fn a_skill_that_changes_between_messages_is_the_changed_one() {
    let read = call("skill_run", &json!({ "skill": "counter", "command": "cat formats.md" }));
    let load = call("skill_load", &json!({ "skill": "counter" }));
    let env = with_script(&[
        json!({ "calls": [load.clone(), read.clone()] }),
        json!({ "text": "Before." }),
        json!({ "calls": [load, read] }),
        json!({ "text": "After." }),
        json!({ "text": "Newer." }),
    ]);
    let mut terminal = start(&env, "xterm-256color", &["--details"]);
    say(&mut terminal, "read\r");
    terminal.wait_for_next("Numbers are written");
    terminal.wait_for_next("Before.");
    terminal.wait_for_next("> ");
    // While the prompt waits.
    env.write("project/skills/counter/formats.md", "Words are spoken.\n");
    env.skill("project/skills", "newer", "Is new. Use when asked.");
    terminal.write("read\r");
    terminal.wait_for_next("Words are spoken.");
    terminal.wait_for_next("After.");
    say(&mut terminal, "/newer now\r");
    terminal.wait_for_next("loaded newer");
    terminal.wait_for_next("Newer.");
    say(&mut terminal, CTRL_D);
    assert_eq!(terminal.finish_editing().0, 0);
}

#[test]
fn messages_are_remembered_over_a_restart_and_by_nobody_else() {
    let env = with_script(&[json!({ "when": {}, "text": "Yes." })]);
    for keys in ["remember me\r", "\u{1b}[A\r"] {
        let mut terminal = start_editing(&env);
        say(&mut terminal, keys);
        terminal.wait_for_next("remember me");
        terminal.wait_for_next("Yes.");
        say(&mut terminal, CTRL_D);
        assert_eq!(terminal.finish_editing().0, 0);
    }
    let history = env.home().join(".metier/chat_history");
    let mode = history.metadata().expect("the history").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = std::fs::read_to_string(&history).expect("the history is text");
    assert_eq!(text.lines().filter(|line| *line == "remember me").count(), 1, "{text}");
}

#[test]
fn a_message_may_have_several_lines_typed_or_pasted() {
    let env = with_script(&[
        json!({ "when": { "last": "first\nsecond" }, "text": "Typed." }),
        json!({ "when": { "last": "third\nfourth" }, "text": "Pasted." }),
    ]);
    let mut terminal = start_editing(&env);
    say(&mut terminal, "first\\\rsecond\r");
    terminal.wait_for_next("Typed.");
    say(&mut terminal, "\u{1b}[200~third\rfourth\u{1b}[201~");
    terminal.wait_for_next("fourth");
    terminal.write("\r");
    terminal.wait_for_next("Pasted.");
    say(&mut terminal, CTRL_D);
    assert_eq!(terminal.finish_editing().0, 0);
}

#[test]
fn an_error_of_the_model_is_said_and_the_chat_goes_on() {
    let error = json!({ "kind": "key", "message": "no such key\u{1b}[2J" });
    let env = with_script(&[
        json!({ "text": "One.\n\nTw", "error": error }),
        json!({ "text": "Better." }),
    ]);
    let mut terminal = start_editing(&env);
    say(&mut terminal, "hello\r");
    terminal.wait_for_next("hint");
    say(&mut terminal, "again\r");
    terminal.wait_for_next("Better.");
    say(&mut terminal, CTRL_D);
    assert_snapshot!(seen(&env, terminal), @r"
    model scripted/replies.jsonl
    session one
    /help shows what you can type, Ctrl-D leaves
    > hello
    One.

    Tw
    error: `script` does not accept the key: no such key\u{1b}[2J
    hint: check the key: it may be of another provider, mistyped or revoked

    > again
    Better.

    >
    session one · 2 messages
    code 0
    ");
}

#[test]
fn a_dumb_terminal_gets_lines_and_nothing_else() {
    let env = with_script(&[
        json!({ "text": "# Title\n\n*One* and **two**." }),
        json!({ "delay_ms": 600_000, "text": "Never." }),
    ]);
    let mut terminal = start(&env, "dumb", &["--color", "auto"]);
    say(&mut terminal, "hello \\\nworld\n");
    terminal.wait_for_next("**two**");
    say(&mut terminal, CTRL_C);
    terminal.wait_for_next("Ctrl-D leaves");
    say(&mut terminal, "wait\n");
    let said = || run(&env, "sessions show one").stdout.matches("you\n").count();
    wait_until("the turn to begin", || said() == 2);
    terminal.write(CTRL_C);
    terminal.wait_for_next("stopped");
    say(&mut terminal, CTRL_D);
    let (code, written, seen) = terminal.finish();
    assert!(!written.contains('\u{1b}'), "{written:?}");
    assert_eq!(code, 0);
    assert_snapshot!(seen.trim_end(), @r"
    model scripted/replies.jsonl
    session one
    /help shows what you can type, Ctrl-D leaves
    > hello \
    world
    # Title

    *One* and **two**.

    > ^C
    Ctrl-D leaves, /help shows what you can type
    > wait
    ^C
    stopped

    >
    session one · 2 messages
    ");
}

#[test]
fn nothing_that_a_skill_or_a_model_says_drives_the_terminal() {
    let hostile = "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}2J\u{202e}";
    let text = format!(
        "said {hostile} and &#27;[2J\n\n- item {hostile}\n\n```{hostile}\n{hostile}\n```\n"
    );
    let load = call("skill_load", &json!({ "skill": format!("x{hostile}\nloaded y") }));
    let env = with_script(&[
        json!({ "text": text, "calls": [load] }),
        json!({ "text": format!("{hostile} {text}") }),
    ]);
    env.write(
        "project/skills/evil/SKILL.md",
        "---\nname: \"evil\\e[2J\\a\"\ndescription: \"Evil \\e[2J\\e]0;title\\a \\x9b2J \\u202e.\"\n---\n\n# Evil\n",
    );
    let mut terminal = start_editing(&env);
    say(&mut terminal, "/skills\r");
    terminal.wait_for_next("Counts lines");
    say(&mut terminal, "/\t\t");
    terminal.wait_for_next("/usage");
    terminal.write("\u{15}hello\r");
    terminal.wait_for_next("refused");
    say(&mut terminal, CTRL_D);
    let (code, written, seen) = terminal.finish_editing();
    assert_eq!(code, 0);
    for bad in ["\u{1b}[2J", "\u{1b}]", "\u{7}", "\u{9b}", "\u{202e}"] {
        assert!(!written.contains(bad), "{bad:?} in {written:?}");
    }
    assert!(seen.contains(r"said \u{1b}[2J\u{1b}]0;title\u{7}\u{9b}2J\u{202e}"), "{seen}");
}
