//! Commands of a model on this machine: who is asked, what runs, and what is kept of it.

use insta::assert_snapshot;
use metier_testkit::{Outcome, Terminal, TestEnv};
use serde_json::{Value, json};

use super::bench::{call, run_scripted, script, steady, with_skill};
use crate::{at_terminal, run, without_times};

const ON_HOST: [&str; 4] = ["--tools", "files", "--executor", "host"];

/// Replies that run commands one after the other.
fn running(env: &TestEnv, commands: &[&str]) {
    let exec = |command: &&str| json!({ "calls": [call("exec", &json!({ "command": command }))] });
    let mut replies: Vec<Value> = commands.iter().map(exec).collect();
    replies.push(json!({ "text": "Done." }));
    script(env, &replies);
}

/// Does a task on the host, without a terminal.
fn on_host(env: &TestEnv, words: &[&str]) -> Outcome {
    run_scripted(env, &[&["go", "--session", "one"], &ON_HOST[..], words].concat())
}

/// Does a task on the host at a terminal, where these answers are typed when asked.
fn at_a_terminal(env: &TestEnv, session: &str, answers: &[&str]) -> String {
    let mut command = at_terminal(env);
    command.args(["run", "go", "--session", session, "--model", "scripted/replies.jsonl"]);
    command.args(["--skills-dir", "skills", "--no-default-sources"]).args(ON_HOST);
    command.env("TERM", "xterm");
    let mut terminal = Terminal::start(command, 120);
    for answer in answers {
        terminal.wait_for_next("[d]eny? ");
        terminal.write(&format!("{answer}\n"));
    }
    let (code, _, stderr) = terminal.finish();
    let stderr: Vec<&str> = stderr.lines().filter(|line| !line.contains("Ctrl-C ends")).collect();
    let told = format!("{}\nexit {code}", stderr.join("\n"));
    without_times(&told.replace(&env.home().display().to_string(), "[HOME]"))
}

#[test]
fn without_a_terminal_only_what_was_allowed_runs() {
    let env = with_skill();
    running(&env, &["uname -s", "printf one | tr o O", "echo $HOME", "uname -s | head -1"]);
    assert_snapshot!(steady(&on_host(&env, &["--yes-to", "printf"])), @"
    exit 0
    ----- stdout
    Done.
    ----- stderr
    approval: nobody could be asked; `metier approvals add` or `--yes-to` can allow it
    refused exec: this was not run: nobody can be asked: nobody allowed `uname`
    ran printf one | tr o O · exit 0 · [TIME]
    approval: nobody could be asked; `metier approvals add` or `--yes-to` can allow it
    refused exec: this was not run: nobody can be asked: this cannot be judged: a variable `$HOME`
    approval: nobody could be asked; `metier approvals add` or `--yes-to` can allow it
    refused exec: this was not run: nobody can be asked: nobody allowed `uname`
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
    running(&env, &["uname -s", "uname -r"]);
    assert_snapshot!(steady(&on_host(&env, &["--yes-to", "uname -s"])), @"
    exit 0
    ----- stdout
    Done.
    ----- stderr
    ran uname -s · exit 0 · [TIME]
    approval: nobody could be asked; `metier approvals add` or `--yes-to` can allow it
    refused exec: this was not run: nobody can be asked: `uname -r` is not covered by the entry `uname`: its arguments must be like `-s`
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
    let allowed = run(&env, "approvals add uname --args=-r");
    assert_eq!(allowed.code, 0, "{allowed}");
    running(&env, &["uname -r"]);
    assert_eq!(on_host(&env, &["--quiet"]).stderr, "");
    let wrong = on_host(&env, &["--yes-to", "uname ("]);
    assert_snapshot!(format!("{} | {}", wrong.code, wrong.stderr), @"
    2 | error: `--yes-to uname (`: what follows the program is no regular expression
    hint: it must match all arguments together, such as `status( --short)?`
    ");
    let little = on_host(&env, &["--yes-to", "git"]).stderr;
    let said = "note: `--yes-to git` covers only uses that are known to be harmless (`git`: with other options or subcommands it can run programs and change files); `--yes-to 'git REGEX'` names others";
    assert!(little.contains(said), "{little}");
    let unknown = on_host(&env, &["--yes-to", "deploy"]);
    assert_snapshot!(format!("{} | {}", unknown.code, unknown.stderr), @"
    2 | error: `--yes-to deploy` allows nothing: no table says what the arguments of `deploy` can make it do
    hint: `--yes-to 'deploy .*'` allows any arguments
    ");
}

#[test]
fn a_person_is_asked_and_what_is_allowed_for_good_is_not_asked_again() {
    let env = with_skill();
    running(&env, &["uname -s | head -1", "touch made", "echo $HOME"]);
    assert_snapshot!(at_a_terminal(&env, "one", &["a", "what?", "d", "once"]), @"
    may `exec` run this on your machine?
      run   uname -s | head -1
      in    [HOME]/.metier/workspace
      file  /usr/bin/uname
      file  /usr/bin/head
      why   nobody allowed `uname`
      [a]   keeps `uname -s` for agent default, in [HOME]/.metier/workspace, as long as /usr/bin/uname is not
            changed
    [o]nce, [a]lways or [d]eny? a
    approval: allowed for good
    ran uname -s | head -1 · exit 0 · [TIME]
    may `exec` run this on your machine?
      run   touch made
      in    [HOME]/.metier/workspace
      file  /usr/bin/touch
      why   nobody allowed `touch`
      [a]   keeps `touch made` for agent default, in [HOME]/.metier/workspace, as long as /usr/bin/touch is
            not changed
    [o]nce, [a]lways or [d]eny? what?
    [o]nce, [a]lways or [d]eny? d
    approval: not allowed
    refused exec: the user did not allow this; do not try it in another way, say what you need it for
    may `exec` run this on your machine?
      run   echo $HOME
      in    [HOME]/.metier/workspace
      note  a shell reads it anew: what it does cannot be told in advance
      why   this cannot be judged: a variable `$HOME`
    [o]nce or [d]eny? once
    approval: allowed once
    ran echo $HOME · exit 0 · [TIME]

    Done.
    answered · [TIME] · scripted/replies.jsonl · session one
    exit 0
    ");
    running(&env, &["uname -s | head -1"]);
    assert_snapshot!(at_a_terminal(&env, "two", &[]), @"
    ran uname -s | head -1 · exit 0 · [TIME]

    Done.
    answered · [TIME] · scripted/replies.jsonl · session two
    exit 0
    ");
    assert_snapshot!(without_times(&run(&env, "sessions show one").stdout), @"
    you
      go
      asked uname -s | head -1
      approval: allowed for good
      ran uname -s | head -1 · exit 0 · [TIME]
      asked touch made
      approval: not allowed
      refused exec: the user did not allow this; do not try it in another way, say what you need it for
      asked echo $HOME
      approval: allowed once
      ran echo $HOME · exit 0 · [TIME]
    model
      Done.
    ");
    assert!(!env.home().join(".metier/workspace/made").exists());
}

#[test]
fn what_cannot_be_seen_and_secrets_are_shown_safely() {
    let env = with_skill();
    let long = format!("echo {}", "x".repeat(20_000));
    running(
        &env,
        &[
            "echo a\u{202e}b\u{200b}c\u{1b}[2J",
            "curl -u me:hunter2secret --header 'Authorization: Bearer abcdefghijklmnopqrstuv'",
            "'ls ' x",
            &long,
        ],
    );
    assert_snapshot!(at_a_terminal(&env, "one", &["d", "d", "d"]), @r"
    may `exec` run this on your machine?
      run   echo a\u{202e}b\u{200b}c\u{1b}[2J
      in    [HOME]/.metier/workspace
      note  a shell reads it anew: what it does cannot be told in advance
      note  characters that cannot be seen are written as \u{…}
      why   this cannot be judged: a glob `[`
    [o]nce or [d]eny? d
    approval: not allowed
    refused exec: the user did not allow this; do not try it in another way, say what you need it for
    may `exec` run this on your machine?
      run   curl -u 'me:****' --header 'Authorization: Bearer ****'
      in    [HOME]/.metier/workspace
      file  /usr/bin/curl
      note  what looks like a secret is masked here, and not when it runs
      why   nobody allowed `curl`
    [o]nce or [d]eny? d
    approval: not allowed
    refused exec: the user did not allow this; do not try it in another way, say what you need it for
    may `exec` run this on your machine?
      run   'ls ' x
      in    [HOME]/.metier/workspace
      note  a shell reads it anew: what it does cannot be told in advance
      why   `ls ` is not installed
    [o]nce or [d]eny? d
    approval: not allowed
    refused exec: the user did not allow this; do not try it in another way, say what you need it for
    refused exec: this was not run: the command is 20004 bytes long as it would be shown, more than a person can check
      (16384); and nobody allowed `echo`

    Done.
    answered · [TIME] · scripted/replies.jsonl · session one
    exit 0
    ");
}

#[test]
fn a_broken_setting_or_database_lets_nothing_run() {
    let env = with_skill();
    running(&env, &["uname -s"]);
    env.write("home/.metier/config.toml", "[approvals]\nmode = \"everything\"\n");
    let told =
        |outcome: &Outcome| format!("{} | {} | {}", outcome.code, outcome.stdout, outcome.stderr);
    assert_snapshot!(told(&on_host(&env, &["--yes-to", "uname"])), @"2 |  | error: [HOME]/.metier/config.toml:2: `approvals.mode` is not `deny`, `allowlist` or `full`");
    env.write("home/.metier/config.toml", "");
    env.write("home/.metier/metier.db", "this is no database, and long enough to be looked at");
    assert_snapshot!(told(&on_host(&env, &["--yes-to", "uname"])), @"1 |  | error: the database `[HOME]/.metier/metier.db` is damaged: file is not a database; move it away and start again, or restore a copy");
}

#[test]
fn lists_of_commands_leave_one_plain_command_without_a_shell() {
    let env = with_skill();
    let run_in =
        |command: &str| call("skill_run", &json!({ "skill": "counter", "command": command }));
    let load = call("skill_load", &json!({ "skill": "counter" }));
    let commands =
        ["echo 'a  b'", "echo a; touch made", "touch made", "env touch made", "./echo a"];
    let mut replies = vec![json!({ "calls": [load] })];
    replies.extend(commands.map(|command| json!({ "calls": [run_in(command)] })));
    replies.push(json!({ "text": "Done." }));
    script(&env, &replies);
    let env = env.with_variable("METIER_SKILL_RUN_ALLOWED_COMMANDS", "echo,env");
    assert_snapshot!(steady(&run_scripted(&env, &["go", "--session", "one"])), @"
    exit 0
    ----- stdout
    Done.
    ----- stderr
    loaded counter
    ran counter: echo 'a  b' · exit 0 · [TIME]
    refused skill_run: this was not run: only one plain command may run here, without anything of a shell: this has several commands; allowed are: echo, env
    refused skill_run: this was not run: `touch` is not among the allowed commands; allowed are: echo, env
    refused skill_run: this was not run: `touch` is not among the allowed commands; allowed are: echo, env
    refused skill_run: this was not run: `./echo` is not among the allowed commands; allowed are: echo, env
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
    let env = env
        .with_variable("METIER_SKILL_RUN_ALLOWED_COMMANDS", "")
        .with_variable("METIER_SKILL_RUN_DENIED_COMMANDS", "touch");
    assert_snapshot!(steady(&run_scripted(&env, &["go", "--session", "two"])), @"
    exit 0
    ----- stdout
    Done.
    ----- stderr
    loaded counter
    ran counter: echo 'a  b' · exit 0 · [TIME]
    refused skill_run: this was not run: only one plain command may run here, without anything of a shell: this has several commands
    refused skill_run: this was not run: `touch` is a denied command
    refused skill_run: this was not run: `touch` is a denied command
    refused skill_run: `./echo` cannot be started: No such file or directory (os error 2)
    answered · [TIME] · scripted/replies.jsonl · session two
    ");
}
