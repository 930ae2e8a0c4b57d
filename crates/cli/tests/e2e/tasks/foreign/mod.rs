//! Tools of other servers in tasks: a real program that speaks the protocol, and behaves oddly where a test says so.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use metier_testkit::{Outcome, Terminal, TestEnv, skip};
use serde_json::{Value, json};

use super::bench::{call, run_scripted, script, steady, with_skill};
use crate::{at_terminal, json as printed, run, without_times};

/// Where the interpreter is; servers of the settings have a whole path.
const PYTHON: &str = "/usr/bin/python3";

/// An environment with a server called `odd`; none where there is no interpreter.
fn with_server(more: &str) -> Option<TestEnv> {
    if !Path::new(PYTHON).exists() {
        skip("tools of other servers", "there is no python3");
        return None;
    }
    let env = with_skill();
    let program = env.write("home/odd/server.py", include_str!("server.py"));
    let folder = program.parent().expect("it has a folder").display().to_string();
    env.write(
        "home/.metier/config.toml",
        format!(
            "[mcp.servers.odd]\ncommand = '{PYTHON}'\nargs = ['{}', '{folder}']\n\
             env = {{ OWN = 'yes' }}\n{more}\n",
            program.display()
        ),
    );
    Some(env)
}

/// What the server is told beforehand.
fn set(env: &TestEnv, name: &str, text: &str) {
    env.write(format!("home/odd/{name}"), text);
}

/// What the server wrote down.
fn noted(env: &TestEnv, name: &str) -> String {
    fs::read_to_string(env.home().join("odd").join(name)).unwrap_or_default()
}

/// Replies that call tools one after the other.
fn calling(env: &TestEnv, calls: &[(&str, Value)]) {
    let reply = |(name, given): &(&str, Value)| json!({ "calls": [call(name, given)] });
    let mut replies: Vec<Value> = calls.iter().map(reply).collect();
    replies.push(json!({ "text": "Done." }));
    script(env, &replies);
}

fn echo(text: &str) -> (&'static str, Value) {
    ("odd__echo", json!({ "text": text }))
}

fn go(env: &TestEnv, words: &[&str]) -> Outcome {
    run_scripted(env, &[&["go", "--session", "one"], words].concat())
}

#[test]
fn without_a_terminal_only_what_was_allowed_is_called() {
    let Some(env) = with_server("") else { return };
    calling(&env, &[echo("hello")]);
    assert_snapshot!(steady(&go(&env, &[])), @"
    exit 0
    ----- stdout
    Done.
    ----- stderr
    approval: nobody could be asked; `metier approvals add` or `--yes-to` can allow it
    refused odd__echo: this was not called: nobody can be asked: nobody allowed `echo` of `odd` for good; the user can allow it with `metier approvals add 'mcp:odd/echo'`, or with `mcp.servers.odd.allow` in the configuration
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
    assert_eq!(noted(&env, "calls"), "");
    calling(&env, &[echo("hello")]);
    assert_snapshot!(steady(&go(&env, &["--yes-to", "mcp:odd/e*"])), @"
    exit 0
    ----- stdout
    Done.
    ----- stderr
    called odd__echo
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
    assert_eq!(noted(&env, "calls"), "{\"text\": \"hello\"}\n");
    calling(&env, &[]);
    let nobody = go(&env, &["--yes-to", "mcp:typo/e*"]);
    let said = "note: `--yes-to mcp:typo/e*`: no tools of a server `typo` are used";
    assert!(nobody.stderr.contains(said), "{nobody}");
    let wrong = go(&env, &["--yes-to", "mcp:odd"]);
    assert_snapshot!(format!("{} | {}", wrong.code, wrong.stderr), @"
    2 | error: `mcp:odd` names no tool of a server
    hint: write it as `mcp:SERVER/TOOL`, with `*` for any part of the tool's name
    ");
}

#[test]
fn a_key_in_the_answer_of_a_server_is_masked() {
    const KEY: &str = "key/0123+456789";
    let more = format!("allow = ['*']\n[skills.entries.counter]\napi_key = '{KEY}'");
    let Some(env) = with_server(&more) else { return };
    set(&env, "mode", "tells");
    // More than is given, in pieces that do not fit evenly, so that the answer is cut within one of them.
    let piece = format!("{KEY}  ");
    assert_ne!((64 << 10) % piece.len(), 0);
    set(&env, "secret", &piece.repeat(5000));
    calling(&env, &[echo("what is the key?")]);
    let outcome = go(&env, &["--json"]);
    let exported = run(&env, "sessions export one");
    assert_eq!((outcome.code, exported.code), (0, 0), "{outcome}");
    assert!(exported.stdout.contains("****"), "{exported}");
    let database = fs::read(env.home().join(".metier/metier.db")).expect("a database");
    let log = fs::read(env.home().join(".metier/metier.db-wal")).unwrap_or_default();
    let kept = String::from_utf8_lossy(&[database, log].concat()).into_owned();
    for text in [&outcome.stdout, &outcome.stderr, &exported.stdout, &kept] {
        assert!(!text.contains("key/0123"), "{outcome}\n{exported}");
    }
}

#[test]
fn what_the_settings_allow_is_called_and_what_they_deny_is_not_offered() {
    let Some(env) = with_server("allow = ['echo']\ndeny = ['vari*']") else { return };
    calling(&env, &[echo("one"), ("odd__variables", json!({}))]);
    assert_snapshot!(steady(&go(&env, &[])), @"
    exit 0
    ----- stdout
    Done.
    ----- stderr
    called odd__echo
    refused odd__variables: there is no tool `odd__variables`; the tools are: skill_load, skill_select_docs, skill_list_docs, skill_search, skill_run, read_file, odd__echo
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
    assert_snapshot!(run(&env, "approvals list"), @"
    exit 0
    ----- stdout
    ID                       PROGRAM       ARGUMENTS  IN   AGENT  USES  LAST
    mcp.servers.odd.allow:1  mcp:odd/echo  any        any  any       –     –
    ----- stderr
    1 approval
    ");
    // A project may take that back, and allow nothing more.
    env.write(
        "project/.metier/config.toml",
        "[mcp.servers.odd]\nallow = ['variables']\n[mcp.servers.evil]\ncommand = '/bin/false'\n",
    );
    calling(&env, &[echo("two")]);
    let refused = go(&env, &[]);
    assert!(refused.stderr.contains("nobody allowed `echo` of `odd` for good"), "{refused}");
    let listed = run(&env, "approvals list");
    let said = "the project allows less of `mcp.servers.odd.allow`";
    assert!(listed.stderr.contains(said), "{listed}");
    assert_eq!(noted(&env, "calls"), "{\"text\": \"one\"}\n");
}

#[test]
fn a_person_is_asked_and_what_is_allowed_for_good_is_asked_again_when_it_changes() {
    let Some(env) = with_server("") else { return };
    let ask = |session: &str, answers: &[&str]| {
        let mut command = at_terminal(&env);
        command.args(["run", "go", "--session", session, "--model", "scripted/replies.jsonl"]);
        command.args(["--skills-dir", "skills", "--no-default-sources"]).env("TERM", "xterm");
        let mut terminal = Terminal::start(command, 120);
        for answer in answers {
            terminal.wait_for_next("[d]eny? ");
            terminal.write(&format!("{answer}\n"));
        }
        let (code, _, stderr) = terminal.finish();
        let lines = stderr.lines().filter(|line| !line.contains("Ctrl-C ends"));
        without_times(&format!("{}\nexit {code}", lines.collect::<Vec<_>>().join("\n")))
    };
    calling(&env, &[echo("a\u{202e}b"), echo("again")]);
    assert_snapshot!(ask("one", &["a"]), @r#"
    may this tool of the server `odd` be called?
      call  echo
      with  {
      with    "text": "a\u{202e}b"
      with  }
      note  characters that cannot be seen are written as \u{…}
      why   nobody allowed `echo` of `odd` for good
      [a]   keeps that for agent default, with any arguments, as long as the server describes the tool as it does now
    [o]nce, [a]lways or [d]eny? a
    approval: allowed for good
    called odd__echo
    called odd__echo

    Done.
    answered · [TIME] · scripted/replies.jsonl · session one
    exit 0
    "#);
    set(&env, "description", "Says what it is told, and sends it to others.");
    calling(&env, &[echo("in the same session")]);
    assert_snapshot!(ask("one", &[]), @"
    refused odd__echo: this was not called: `odd` describes `echo` differently than when this session began; a new session
      begins with what it says now

    Done.
    answered · [TIME] · scripted/replies.jsonl · session one
    exit 0
    ");
    calling(&env, &[echo("in a new one")]);
    assert_snapshot!(ask("two", &["d"]), @r#"
    may this tool of the server `odd` be called?
      call  echo
      with  {
      with    "text": "in a new one"
      with  }
      why   nobody allowed `echo` of `odd` for good
      [a]   keeps that for agent default, with any arguments, as long as the server describes the tool as it does now
    [o]nce, [a]lways or [d]eny? d
    approval: not allowed
    refused odd__echo: the user did not allow this; do not try it in another way, say what you need it for

    Done.
    answered · [TIME] · scripted/replies.jsonl · session two
    exit 0
    "#);
    assert_eq!(noted(&env, "calls").lines().count(), 2);
    let listed = printed(&run(&env, "approvals list --json"));
    assert_eq!((&listed[0]["kind"], &listed[0]["tool"]), (&json!("tool"), &json!("echo")));
}

#[test]
fn approvals_add_binds_a_tool_to_what_its_server_says_of_it_now() {
    let Some(env) = with_server("") else { return };
    let added = run(&env, "approvals add mcp:odd/echo --json");
    assert_eq!(added.code, 0, "{added}");
    calling(&env, &[echo("hello")]);
    assert!(go(&env, &[]).stderr.contains("called odd__echo"), "it is allowed");
    let listed = printed(&run(&env, "approvals list --json"));
    assert_eq!(listed[0]["uses"], 1);
    let refused = ["odd/none", "odd/*", "other/echo"].map(|name| {
        let outcome = run(&env, &format!("approvals add mcp:{name}"));
        format!("{} | {}", outcome.code, outcome.stderr)
    });
    assert_snapshot!(refused.join(""), @"
    1 | error: the server `odd` has no tool `none`
    hint: `metier mcp servers` shows servers, and the tools they have
    2 | error: `mcp:odd/*` is not one tool
    hint: `mcp.servers.odd.allow` in the configuration takes patterns; settings go into `[HOME]/.metier/config.toml`
    2 | error: no tools of a server `other` are used
    hint: `[mcp.servers.other]` in the configuration describes one; settings go into `[HOME]/.metier/config.toml`
    ");
    let id = listed[0]["id"].as_str().expect("an id");
    assert_eq!(run(&env, &format!("approvals revoke {id}")).code, 0);
    calling(&env, &[echo("hello again")]);
    assert!(go(&env, &[]).stderr.contains("nobody can be asked"), "it was taken back");
}

#[test]
fn a_server_is_given_a_small_environment_and_no_keys() {
    let Some(env) = with_server("allow = ['*']") else { return };
    let env = env.with_variable("OPENAI_API_KEY", "sk-test-0123456789");
    calling(&env, &[("odd__variables", json!({}))]);
    let outcome = go(&env, &["--details"]);
    let line = outcome.stderr.lines().find(|line| line.contains("OWN")).unwrap_or_default();
    assert!(line.contains("PATH") && line.contains("TERM"), "{outcome}");
    assert!(!outcome.stderr.contains("OPENAI"), "{outcome}");
}

#[test]
fn servers_that_behave_oddly_cost_little_and_harm_nobody() {
    for mode in ["many", "rude", "mute"] {
        let Some(env) = with_server("allow = ['*']") else { return };
        set(&env, "mode", mode);
        calling(&env, &[]);
        let outcome = go(&env, &[]);
        assert_eq!(outcome.code, 0, "{mode}: {outcome}");
        let told = steady(&outcome);
        assert!(!told.contains('\u{1b}'), "{told:?}");
        insta::with_settings!({ snapshot_suffix => mode }, { assert_snapshot!(told) });
    }
}

#[test]
fn what_a_server_says_for_programs_is_not_read_as_a_result_of_ours() {
    let Some(env) = with_server("allow = ['*']") else { return };
    set(&env, "mode", "forges");
    calling(&env, &[echo("one"), echo("two"), echo("three"), echo("four")]);
    let outcome = go(&env, &["--details"]);
    assert_eq!((outcome.code, noted(&env, "calls").lines().count()), (0, 4), "{outcome}");
    assert!(outcome.stderr.contains("echo: four"), "{outcome}");
    assert!(!outcome.to_string().contains("forged"), "{outcome}");
}

#[test]
fn a_server_that_dies_in_a_call_is_started_again_for_the_next() {
    let Some(env) = with_server("allow = ['*']") else { return };
    set(&env, "mode", "dies");
    calling(&env, &[echo("one"), echo("two")]);
    let outcome = go(&env, &[]);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(outcome.stderr.matches("refused odd__echo").count(), 2, "{outcome}");
    assert!(noted(&env, "starts").lines().count() >= 2);
}

#[test]
fn a_call_has_the_time_that_the_settings_give_it() {
    let Some(env) = with_server("allow = ['*']\ntimeout = 1") else { return };
    set(&env, "mode", "slow");
    calling(&env, &[echo("one")]);
    let outcome = go(&env, &[]);
    assert!(outcome.stderr.contains("did not answer within 1 s"), "{outcome}");
}

#[test]
fn servers_are_listed_with_their_state_and_tools() {
    let Some(env) = with_server("[mcp.servers.gone]\ncommand = '/nonexistent'\n[mcp.servers.odd2]")
    else {
        return;
    };
    let listed = run(&env, "mcp servers");
    assert_snapshot!(listed, @"
    exit 0
    ----- stdout
    NAME  USED FOR  STATE           WAY
    gone  tools     no answer       /nonexistent
    odd   tools     2 tools         /usr/bin/python3
    odd2  nothing   wrong settings  –

    mcp:odd/echo  Says what it is told.
    mcp:odd/variables  Names variables.
    ----- stderr
    note: the server `odd2` is not used: neither `command` nor `url` is set; set one of them
    note: the server `gone` cannot be started: `/nonexistent` cannot be started: No such file or directory (os error 2); install the program, or correct the command
    3 servers
    ");
    let tools = printed_tools(&run(&env, "mcp servers --json").stdout);
    assert_eq!(tools, ["echo", "variables"]);
}

fn printed_tools(text: &str) -> Vec<String> {
    let listed: Value = serde_json::from_str(text).expect("JSON");
    let odd = listed.as_array().into_iter().flatten().find(|it| it["name"] == "odd");
    let tools = odd.and_then(|odd| odd["tools"].as_array()).into_iter().flatten();
    tools.filter_map(|it| it["name"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_skill_that_names_a_server_is_used_where_there_is_one() {
    let Some(env) = with_server("deny = ['variables']") else { return };
    for (name, requires) in [
        ("fits", "tools: [odd/echo]"),
        ("lacks", "mcp: [other]"),
        ("off", "tools: [odd/variables]"),
    ] {
        env.write(
            format!("project/skills/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: Says things.\nmetadata:\n  metier:\n    requires: {{ {requires} }}\n---\n\nSay it.\n"),
        );
    }
    let explain = |name: &str| {
        let line = format!("skills explain {name} --skills-dir skills --no-default-sources");
        run(&env, &line).stdout.replace(&env.project().display().to_string(), "[PROJECT]")
    };
    assert_snapshot!(format!("{}{}{}", explain("fits"), explain("lacks"), explain("off")), @"
    fits
        found  [PROJECT]/skills/fits/SKILL.md (flag)
     eligible  yes
      catalog  in full, 7 tokens
      started  by a model, or by a person
    lacks
        found  [PROJECT]/skills/lacks/SKILL.md (flag)
     eligible  no
      because  needs the MCP server other
       remedy  describe it in your configuration as `[mcp.servers.other]`, or see in `metier mcp servers` why it is not used
     settings  [HOME]/.metier/config.toml
      catalog  not listed
      started  by nobody
    off
        found  [PROJECT]/skills/off/SKILL.md (flag)
     eligible  no
      because  needs the tool odd/variables of an MCP server
       remedy  look at `mcp.servers.odd.tools` and `mcp.servers.odd.deny`
     settings  [HOME]/.metier/config.toml
      catalog  not listed
      started  by nobody
    ");
}
