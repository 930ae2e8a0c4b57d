//! `metier chat` without a terminal: each line is a message, and everything it understands.

use insta::assert_snapshot;
use serde_json::json;

use super::bench::{call, chat, script, steady, with_skill};
use crate::compact;

#[test]
fn each_line_is_a_message_and_answers_are_all_there_is_on_standard_output() {
    let env = with_skill();
    script(
        &env,
        &[
            json!({ "when": { "last": "one" }, "text": "# One\n\n*as it is*" }),
            json!({ "when": { "last": "two \nlines" }, "text": "Two." }),
        ],
    );
    let outcome = chat(&env, &["--session", "one"], "one\n\n  \ntwo \\\nlines\n");
    assert_snapshot!(outcome, @"
    exit 0
    ----- stdout
    # One

    *as it is*
    Two.
    ----- stderr
    session one · 2 messages
    ");
    // It goes on where it was.
    script(&env, &[json!({ "when": { "turn": 2 }, "text": "Three." })]);
    assert_eq!(chat(&env, &["--session", "one"], "three").stdout, "Three.\n");
}

#[test]
fn a_turn_that_failed_is_said_and_counts_in_the_end() {
    let env = with_skill();
    let wrong = json!({ "kind": "refused", "message": "not now" });
    script(&env, &[json!({ "error": wrong }), json!({ "text": "Now." })]);
    assert_snapshot!(chat(&env, &["--session", "one"], "first\nsecond\n"), @"
    exit 1
    ----- stdout
    Now.
    ----- stderr
    error: `script` refuses the content of the request: not now
    hint: put the task in other words, or name another model with `--model`
    session one · 2 messages
    ");
    assert_snapshot!(chat(&env, &[], "/frob\n/skils\n/skill\n/quit\nnot said\n"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: there is no command `/frob`
    hint: `/help` shows the commands, `/skills` the skills
    error: there is no command `/skils`
    hint: did you mean `/skills`?
    error: `/skill` needs the name of a skill
    hint: `/help` shows the commands, `/skills` the skills
    ");
}

#[test]
fn every_command_answers() {
    let env = with_skill();
    env.skill("project/skills", "help", "Helps. Use when lost.");
    env.write(
        "project/skills/quiet/SKILL.md",
        "---\nname: quiet\ndescription: Reads files.\nuser-invocable: false\n---\n\n# Quiet\n",
    );
    env.write("project/my notes.txt", "one\n");
    let usage = json!({ "input": 100, "cached_input": 50, "output": 3 });
    let answers = |text: &str| json!([{ "when": {}, "text": text, "usage": usage }]).to_string();
    env.write("project/replies.jsonl", answers("First model."));
    env.write("project/other.jsonl", answers("Second model."));
    assert_snapshot!(chat(&env, &[], "/help\n").stdout, @r"
    /help               show this
    /attach FILE        bring a file along with the next message
    /model [P/N]        show the model, or ask another from now on
    /session [ID]       show the session, or go on with another
    /new                begin a new session
    /usage              show the tokens of the session
    /quit               leave; so does Ctrl-D
    /skills [words]     show the skills, or those that fit the words
    /skill NAME [text]  load a skill and say something
    /NAME [text]        the same by the command that /skills shows
    $NAME               anywhere in a message: load that skill for it
    \                   at the end of a line: the message goes on in the next
    Ctrl-C              stop what is going on; the session stays
    ");
    let lines = [
        "/skills",
        "/skills how long is a text",
        "/skills zzz",
        "hello",
        "/usage",
        "/session",
        "/model",
        "/model scripted/other.jsonl",
        "hello",
        "/model nobody/none",
        "/attach my notes.txt\ncount it\nagain",
        "/attach nothing",
        "/attach",
        "/counter 3 lines",
        "/help_2",
        "/quiet x",
        "/session two",
        "/session one",
    ];
    // What each of them says, one after the other in the same session.
    let told = lines.map(|line| {
        let outcome = chat(&env, &["--session", "one"], &format!("{line}\n"));
        format!("== {line}\n{}", steady(&outcome))
    });
    assert_snapshot!(told.join("\n"), @"
    == /skills
    exit 0
    ----- stdout
    SKILL    COMMAND   DOES
    counter  /counter  Counts lines. Use when asked how long a text is.
    help     /help_2   Helps. Use when lost.
    quiet              Reads files.
    ----- stderr
    == /skills how long is a text
    exit 0
    ----- stdout
    SKILL    COMMAND   DOES
    counter  /counter  Counts lines. Use when asked how long a text is.
    ----- stderr
    == /skills zzz
    exit 0
    ----- stdout

    ----- stderr
    no skill fits
    == hello
    exit 0
    ----- stdout
    First model.
    ----- stderr
    session one · 1 message
    == /usage
    exit 0
    ----- stdout
    FOR                           REPLIES  READ  CACHED  WRITTEN
    model scripted/replies.jsonl        1   100    50 %        3
    all                                 1   100    50 %        3
    ----- stderr
    session one · 1 message
    == /session
    exit 0
    ----- stdout

    ----- stderr
    session one · 1 message
    session one · 1 message
    == /model
    exit 0
    ----- stdout

    ----- stderr
    model scripted/replies.jsonl
    session one · 1 message
    == /model scripted/other.jsonl
    exit 0
    ----- stdout

    ----- stderr
    model scripted/other.jsonl
    session one · 1 message
    == hello
    exit 0
    ----- stdout
    First model.
    ----- stderr
    session one · 2 messages
    == /model nobody/none
    exit 1
    ----- stdout

    ----- stderr
    error: there is no provider `nobody`; there are `anthropic`, `openai`, `offline`
    hint: to add it, set `models.providers.nobody.base_url` to the address of its interface; settings go into `[HOME]/.metier/config.toml`
    session one · 2 messages
    == /attach my notes.txt
    count it
    again
    exit 0
    ----- stdout
    First model.
    First model.
    ----- stderr
    attached my notes.txt, to your next message
    session one · 4 messages
    == /attach nothing
    exit 1
    ----- stdout

    ----- stderr
    error: `[PROJECT]/nothing` cannot be read: No such file or directory (os error 2)
    session one · 4 messages
    == /attach
    exit 1
    ----- stdout

    ----- stderr
    error: `/attach` needs the name of a file
    hint: write it behind it, as in `/attach sales.csv`
    session one · 4 messages
    == /counter 3 lines
    exit 0
    ----- stdout
    First model.
    ----- stderr
    loaded counter
    session one · 5 messages
    == /help_2
    exit 0
    ----- stdout
    First model.
    ----- stderr
    loaded help
    session one · 6 messages
    == /quiet x
    exit 1
    ----- stdout

    ----- stderr
    error: there is no command `/quiet`
    hint: did you mean `/quit`?
    session one · 6 messages
    == /session two
    exit 1
    ----- stdout

    ----- stderr
    error: there is no session `two`
    hint: `metier sessions list` shows those of `run` and `chat`; `metier exec` says which one it used
    session one · 6 messages
    == /session one
    exit 0
    ----- stdout

    ----- stderr
    session one · 6 messages
    session one · 6 messages
    ");
    let shown = crate::run(&env, "sessions show one").stdout;
    assert_eq!(shown.matches("with my notes.txt (workspace://").count(), 1, "{shown}");
}

#[test]
fn sessions_and_models_change_for_what_follows() {
    let env = with_skill();
    script(
        &env,
        &[json!({ "when": { "turn": 0 }, "text": "New here." }), json!({ "text": "Old friend." })],
    );
    env.write("project/other.jsonl", json!([{ "when": {}, "text": "Somebody else." }]).to_string());
    let input = "a\nb\n/new\nc\n/session one\n/model scripted/other.jsonl\nd\n";
    let outcome = chat(&env, &["--session", "one"], input);
    assert_eq!(outcome.stdout, "New here.\nOld friend.\nNew here.\nSomebody else.\n", "{outcome}");
    let listed = crate::json(&crate::run(&env, "sessions list --json"));
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
}

#[test]
fn a_person_may_call_what_is_hidden_from_the_model_and_not_what_is_hidden_from_people() {
    let env = with_skill();
    for (name, field) in
        [("hers", "disable-model-invocation: true"), ("its", "user-invocable: false")]
    {
        let text =
            format!("---\nname: {name}\ndescription: Is {name}.\n{field}\n---\n\n# {name}\n");
        env.write(format!("project/skills/{name}/SKILL.md"), text);
    }
    let run = call("skill_run", &json!({ "skill": "hers", "command": "true" }));
    let load = call("skill_load", &json!({ "skill": "hers" }));
    let calls = json!({ "when": { "turn": 0 }, "calls": [load, run] });
    script(&env, &[calls, json!({ "when": {}, "text": "Asked." })]);
    let told = |line: &str| {
        let told = compact(&chat(&env, &[], line));
        told.split(" · 0.").next().unwrap_or_default().to_owned()
    };
    let loaded = "0 | Asked. | loaded hers / loaded hers / ran hers: true · exit 0";
    assert_eq!(told("/hers now"), loaded);
    assert_eq!(told("with $hers"), loaded);
    let refused = "0 | Asked. | refused skill_load: there is no skill `hers`";
    assert!(told("with $its").starts_with(refused), "{}", told("with $its"));
    assert!(told("/its now").starts_with("1 |  | error: there is no command `/its`"));
}

#[test]
fn a_skill_that_cannot_be_loaded_is_said_and_nothing_is_asked() {
    let env = with_skill();
    script(&env, &[json!({ "text": "Asked." })]);
    let missing = "---\nname: needy\ndescription: Needs more. Use never.\nmetadata:\n  metier:\n    requires:\n      bins: [no-such-program]\n---\n\n# Needy\n";
    env.write("project/skills/needy/SKILL.md", missing);
    let outcome = chat(&env, &["--session", "one"], "/needy now\n");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{outcome}");
    assert_snapshot!(outcome.stderr, @"
    error: the skill `needy` cannot be used: needs the program no-such-program
    hint: install no-such-program
    ");
}
