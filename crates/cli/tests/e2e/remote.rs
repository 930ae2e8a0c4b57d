//! Skills of other servers: listed without being fetched, used once a person trusted them, and never believed.

pub(crate) mod liar;
mod terminal;
mod upkeep;

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use metier_testkit::{Outcome, TestEnv};
use serde_json::{Value, json as value};

use self::liar::{Liar, file};
use crate::{environment, json, problems, without_times};

const TEXT: &str =
    "---\nname: ship\ndescription: Ships. Use when asked.\n---\n\nRun scripts/run.sh.\n";
const SCRIPT: &str = "#!/bin/sh\necho shipped\n";

pub(crate) fn honest() -> Liar {
    let server = Liar::start();
    server.offer("ship", &[("SKILL.md", TEXT), ("scripts/run.sh", SCRIPT)]);
    server
}

/// Runs a command with a server as its only source.
pub(crate) fn ask(env: &TestEnv, server: &str, line: &[&str]) -> Outcome {
    let at = line.iter().position(|word| *word == "--").unwrap_or(line.len());
    let source = ["--no-default-sources", "--mcp", server];
    env.run(line[..at].iter().chain(&source).chain(&line[at..]))
}

pub(crate) fn trust(env: &TestEnv, server: &Liar) -> Outcome {
    ask(env, &server.url(), &["skills", "trust", "ship", "--yes"])
}

pub(crate) fn ship(env: &TestEnv, server: &str) -> Outcome {
    ask(env, server, &["exec", "ship", "--session", "one", "--", "scripts/run.sh"])
}

/// What we call a server, as a list has it.
fn label(env: &TestEnv, server: &Liar) -> String {
    let listed = json(&ask(env, &server.url(), &["skills", "list", "--json", "--all"]));
    listed["skills"][0]["server"].as_str().expect("a server").to_owned()
}

/// An outcome without what differs from run to run.
fn steady(outcome: &Outcome, label: &str) -> String {
    without_times(&outcome.to_string()).replace(label, "[SERVER]")
}

/// Files that are kept of servers.
fn kept(env: &TestEnv) -> Vec<PathBuf> {
    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path().is_dir() {
                true => below(&entry.path(), found),
                false => found.push(entry.path()),
            }
        }
    }
    let mut found = Vec::new();
    below(&env.home().join(".metier/remote"), &mut found);
    found
}

#[test]
fn listing_explaining_and_trusting_fetch_nothing() {
    let (env, server) = (environment(), honest());
    let listed = json(&ask(&env, &server.url(), &["skills", "list", "--json", "--all"]));
    let skill = &listed["skills"][0];
    assert_eq!(skill["source"], "remote");
    assert_eq!((&skill["eligible"], &skill["model_visible"]), (&value!(false), &value!(false)));
    let label = skill["server"].as_str().expect("a server").to_owned();
    assert_eq!(skill["path"], format!("{label} skill://ship/SKILL.md"));
    for line in [
        "list",
        "explain ship",
        "info ship",
        "tokens",
        "catalog",
        "search ship",
        "trust ship --yes",
    ] {
        let words: Vec<&str> = ["skills"].into_iter().chain(line.split(' ')).collect();
        let outcome = ask(&env, &server.url(), &words);
        assert!(outcome.code == 0 || line.starts_with("search"), "{line}: {outcome}");
    }
    assert_eq!(server.reads(), 0, "{:?}", server.state().asked);
    assert_eq!(kept(&env), Vec::<PathBuf>::new());
}

#[test]
fn a_skill_of_a_server_runs_once_it_is_trusted_and_also_when_the_server_is_gone() {
    let (env, server) = (environment(), honest());
    let label = label(&env, &server);
    assert_snapshot!(steady(&ship(&env, &server.url()), &label), @"
    exit 1
    ----- stdout

    ----- stderr
    warning: [SERVER]: a skill of this server is not trusted, and not used; `metier skills trust NAME` shows one and asks [M086]
    error: the skill `ship` cannot be used: offered by the server [SERVER] and not trusted
    hint: read it with `metier read skill://ship/SKILL.md`, then run `metier skills trust ship`, both with the `--mcp` of its server, unless it is configured
    ");
    assert_eq!(server.reads(), 0, "what is not trusted is not fetched to be run");
    assert_snapshot!(steady(&trust(&env, &server), &label), @"
    exit 0
    ----- stdout
    ship
    Ships. Use when asked.

           status  untrusted
           source  remote
           server  [SERVER]
          address  skill://ship/SKILL.md

    2 files
          76 B  SKILL.md  sha256:409f464323f29adfb7f4212275650dfa563f5840a6356f2dbcdcd9b331016049
          23 B  scripts/run.sh  sha256:d1c07027c9b37fd66e716da6e38771cae3be735f21aa6a0574cffb5497696bda
    ----- stderr
    trusted: [SERVER]:ship
    ");
    assert_snapshot!(steady(&ship(&env, &server.url()), &label), @"
    exit 0
    ----- stdout
    shipped
    ----- stderr
    exit 0 · [TIME] · sandbox (full) · session one
    ");
    assert_eq!(server.reads(), 2, "each file once");
    assert_eq!(ship(&env, &server.url()).code, 0);
    assert_eq!(server.reads(), 2, "and not again");

    let url = server.url();
    drop(server);
    let outcome = ship(&env, &url);
    assert_eq!((outcome.code, outcome.stdout.trim()), (0, "shipped"), "{outcome}");
    assert!(problems(&outcome).contains("M092"), "{outcome}");

    let script = kept(&env).into_iter().find(|it| it.ends_with("run.sh")).expect("the script");
    fs::remove_file(&script).expect("it goes");
    fs::write(&script, SCRIPT.replace("shipped", "robbed!")).expect("another");
    let outcome = ship(&env, &url);
    assert_ne!(outcome.code, 0, "{outcome}");
    assert!(outcome.stderr.contains("has the digest"), "{outcome}");
}

#[test]
fn a_skill_that_changes_on_its_server_is_not_trusted_any_more() {
    let (env, server) = (environment(), honest());
    let label = label(&env, &server);
    assert_eq!(trust(&env, &server).code, 0);
    assert_eq!(ship(&env, &server.url()).code, 0);
    server.offer(
        "ship",
        &[("SKILL.md", TEXT), ("scripts/run.sh", "#!/bin/sh\necho robbed\n"), ("x", "")],
    );
    assert_snapshot!(steady(&ship(&env, &server.url()), &label), @"
    exit 1
    ----- stdout

    ----- stderr
    warning: [SERVER] skill://ship/SKILL.md:1:1: changed since it was trusted: scripts/run.sh, x (new) [M087]
      hint: look at it, then run `metier skills trust`
    error: the skill `ship` cannot be used: changed on the server [SERVER] since it was trusted: scripts/run.sh, x (new)
    hint: read it with `metier read skill://ship/SKILL.md`, then run `metier skills trust ship`, both with the `--mcp` of its server, unless it is configured
    ");
    assert_snapshot!(steady(&ask(&env, &server.url(), &["skills", "explain", "ship"]), &label), @"
    exit 0
    ----- stdout
    ship
        found  [SERVER] skill://ship/SKILL.md (remote)
     eligible  no
      because  changed on the server [SERVER] since it was trusted: scripts/run.sh, x (new)
       remedy  read it with `metier read skill://ship/SKILL.md`, then run `metier skills trust ship`, both with the `--mcp` of its server, unless it is configured
      catalog  not listed
      started  by nobody
      noticed  warning: line 1: changed since it was trusted: scripts/run.sh, x (new) [M087]
       remedy  look at it, then run `metier skills trust`
    ----- stderr
    ");
    assert_eq!(trust(&env, &server).code, 0);
    assert_eq!(ship(&env, &server.url()).stdout.trim(), "robbed");
}

/// What becomes of a trusted skill when its server lies in some way.
fn with_lie(lie: impl FnOnce(&Liar)) -> String {
    let (env, server) = (environment(), honest());
    let label = label(&env, &server);
    lie(&server);
    let trusted = trust(&env, &server);
    let outcome = if trusted.code == 0 { ship(&env, &server.url()) } else { trusted };
    assert_ne!(outcome.code, 0, "{outcome}");
    assert_eq!(kept(&env), Vec::<PathBuf>::new(), "nothing of it is kept");
    steady(&outcome, &label)
}

#[test]
fn content_that_is_not_what_was_told_is_not_used() {
    let give = |path: &'static str, text: String| {
        move |server: &Liar| drop(server.state().files.insert(format!("skill://ship/{path}"), text))
    };
    assert_snapshot!(with_lie(give("scripts/run.sh", SCRIPT.replace("shipped", "robbed!"))), @"
    exit 1
    ----- stdout

    ----- stderr
    error: `ship` of the server `[SERVER]` cannot be used: `scripts/run.sh` has the digest 328bc8593b348250ba4cb190a965af618b504ac620ce4da9167bf0058bdaeb83; its server said d1c07027c9b37fd66e716da6e38771cae3be735f21aa6a0574cffb5497696bda
    hint: if the skill has changed there, list it again and look at it anew
    ");
    assert_snapshot!(with_lie(give("scripts/run.sh", SCRIPT.repeat(2))), @"
    exit 1
    ----- stdout

    ----- stderr
    error: `ship` of the server `[SERVER]` cannot be used: the server `[SERVER]` gave more than 23 bytes: `skill://ship/scripts/run.sh`
    hint: whoever makes the server can change that
    ");
    assert_snapshot!(with_lie(give("scripts/run.sh", "x".repeat(20 << 20))), @"
    exit 1
    ----- stdout

    ----- stderr
    error: `ship` of the server `[SERVER]` cannot be used: the server `[SERVER]` gave more than 23 bytes: `skill://ship/scripts/run.sh`
    hint: whoever makes the server can change that
    ");
    assert_snapshot!(with_lie(|server| drop(server.state().files.remove("skill://ship/scripts/run.sh"))), @"
    exit 1
    ----- stdout

    ----- stderr
    error: `ship` of the server `[SERVER]` cannot be used: the server `[SERVER]` refuses: no (code -32602)
    hint: `metier mcp servers` shows what it offers
    ");
}

#[test]
fn a_header_that_is_not_what_was_told_is_not_used() {
    let tell = |field: &'static str, told: Value| {
        move |server: &Liar| server.state().skills[0]["frontmatter"][field] = told
    };
    assert_snapshot!(with_lie(tell("description", value!("Harmless."))), @"
    exit 1
    ----- stdout

    ----- stderr
    error: `ship` of the server `[SERVER]` cannot be used: its `SKILL.md` is not what its server said: the field `description` is not what was told
    hint: if the skill has changed there, list it again and look at it anew
    ");
    assert_snapshot!(with_lie(tell("license", value!("MIT"))), @"
    exit 1
    ----- stdout

    ----- stderr
    error: `ship` of the server `[SERVER]` cannot be used: its `SKILL.md` is not what its server said: the field `license` is not what was told
    hint: if the skill has changed there, list it again and look at it anew
    ");
}

#[test]
fn offers_that_break_the_rules_are_not_listed_and_that_is_said() {
    let (env, server) = (environment(), honest());
    let label = label(&env, &server);
    let with = |uri: &str, resources: Value| {
        let name = uri.rsplit('/').nth(1).unwrap_or_default();
        let frontmatter = value!({ "name": name, "description": "d" });
        value!({ "uri": uri, "frontmatter": frontmatter, "resources": resources })
    };
    let main = file("skill://a/SKILL.md", TEXT);
    let many: Vec<Value> =
        (0..512).map(|number| file(&format!("skill://a/{number}"), "")).collect();
    let huge = value!({ "uri": "skill://a/x", "digest": main["digest"], "size": 17 << 20 });
    server.state().skills = vec![
        with("skill://a/SKILL.md", value!([main, file("skill://a/../x", "")])),
        with("skill://a/SKILL.md", value!([main, file("skill://b/x", "")])),
        with("skill://a/SKILL.md", value!([main, main])),
        with("skill://a/SKILL.md", value!([main, huge])),
        with("skill://a/SKILL.md", many.into_iter().chain([main.clone()]).collect()),
        with("skill://a/SKILL.md", value!([])),
        with(
            "skill://a/SKILL.md",
            value!([{ "uri": "skill://a/SKILL.md", "digest": "md5:0", "size": 1 }]),
        ),
        value!({ "uri": "skill://b/SKILL.md", "frontmatter": { "name": "a", "description": "d" }, "resources": [] }),
        value!({ "uri": "skill://b/SKILL.md", "frontmatter": { "name": "b" }, "resources": [] }),
        with("skill://made/SKILL.md", value!("dynamic")),
    ];
    let outcome = ask(&env, &server.url(), &["skills", "list"]);
    assert!(outcome.stdout.contains("dynamic"), "{outcome}");
    assert_snapshot!(problems(&outcome).replace(&label, "[SERVER]"), @"
    warning: [SERVER] skill://a/SKILL.md:1:1: this skill is not used: it has 513 files; 512 are allowed [M093]
    warning: [SERVER] skill://a/SKILL.md:1:1: this skill is not used: its `SKILL.md` is not among its files [M093]
    warning: [SERVER] skill://a/SKILL.md:1:1: this skill is not used: its files have more than 16 MiB [M093]
    warning: [SERVER] skill://a/SKILL.md:1:1: this skill is not used: the digest of `SKILL.md` is not `sha256:` and 64 digits [M093]
    warning: [SERVER] skill://a/SKILL.md:1:1: this skill is not used: the file `SKILL.md` is listed twice, or is a folder too [M093]
    warning: [SERVER] skill://a/SKILL.md:1:1: this skill is not used: the file `skill://a/../x` is not inside its folder [M093]
    warning: [SERVER] skill://a/SKILL.md:1:1: this skill is not used: the file `skill://b/x` is not inside its folder [M093]
    warning: [SERVER] skill://b/SKILL.md:1:1: this skill is not used: it is called `a`, and its folder `b` [M093]
    warning: [SERVER] skill://b/SKILL.md:1:1: this skill is not used: its header cannot be used: `description` is not a text [M093]
    ");
    let outcome = ask(&env, &server.url(), &["skills", "trust", "made", "--yes"]);
    assert_eq!(outcome.code, 1, "{outcome}");
}

#[test]
fn a_skill_of_this_machine_hides_one_of_a_server_and_that_is_said() {
    let (env, server) = (environment(), honest());
    let label = label(&env, &server);
    assert_eq!(trust(&env, &server).code, 0);
    env.skill("project/skills", "ship", "Mine. Use when asked.");
    let outcome =
        ask(&env, &server.url(), &["skills", "explain", "ship", "--skills-dir", "skills"]);
    assert_snapshot!(steady(&outcome, &label), @"
    exit 0
    ----- stdout
    ship
        found  [PROJECT]/skills/ship/SKILL.md (flag)
        hides  [SERVER] skill://ship/SKILL.md
     eligible  yes
      catalog  in full, 10 tokens
      started  by a model, or by a person
      noticed  note: [SERVER] skill://ship/SKILL.md: `ship` is hidden by [PROJECT]/skills/ship/SKILL.md (flag) [M084]
    ----- stderr
    ");
}

#[test]
fn two_servers_with_one_name_have_two_skills() {
    let (env, one, two) = (environment(), honest(), honest());
    let (first, second) = (label(&env, &one), label(&env, &two));
    let (one, two) = (one.url(), two.url());
    let listed = env.run(["skills", "list", "--no-default-sources", "--mcp", &one, "--mcp", &two]);
    let shown = listed.to_string().replace(&first, "[ONE]").replace(&second, "[TWO]");
    assert!(shown.contains("[TWO]:ship") && shown.contains("M085"), "{shown}");
}

#[test]
fn without_a_person_nothing_is_trusted() {
    let (env, server) = (environment(), honest());
    let label = label(&env, &server);
    let outcome = ask(&env, &server.url(), &["skills", "trust", "ship"]);
    assert_snapshot!(steady(&outcome, &label), @"
    exit 2
    ----- stdout
    ship
    Ships. Use when asked.

           status  untrusted
           source  remote
           server  [SERVER]
          address  skill://ship/SKILL.md

    2 files
          76 B  SKILL.md  sha256:409f464323f29adfb7f4212275650dfa563f5840a6356f2dbcdcd9b331016049
          23 B  scripts/run.sh  sha256:d1c07027c9b37fd66e716da6e38771cae3be735f21aa6a0574cffb5497696bda
    ----- stderr
    error: nobody is there to be asked
    hint: `--yes` trusts it without a question
    ");
    assert!(!env.home().join(".metier/trust.json").exists());
}

#[test]
fn a_server_that_is_not_there_is_a_warning() {
    let env = environment();
    let outcome = ask(&env, "no-such-program --flag", &["skills", "list"]);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(problems(&outcome).contains("M092"), "{outcome}");
}

#[test]
fn what_is_no_command_is_a_mistake_of_the_person() {
    assert_snapshot!(ask(&environment(), "'open", &["skills", "list"]), @"
    exit 2
    ----- stdout

    ----- stderr
    error: `'open` is no command: a quote is not closed
    hint: write `--mcp \"PROGRAM ARGUMENT…\"`, or an address
    ");
}

#[test]
fn a_program_that_is_named_from_here_is_another_one_elsewhere() {
    let env = environment();
    let name = |folder: &str, server: &str| {
        let folder = env.project().join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        let line = ["skills", "list", "--no-default-sources", "--mcp", server];
        let told = problems(&env.run_in(&folder, line, ""));
        let (_, rest) = told.split_once("warning: ").expect("nobody is there");
        rest.split(':').next().expect("a name").to_owned()
    };
    assert_ne!(name("one", "./server"), name("two", "./server"));
    assert_eq!(name("one", "no-such-program"), name("two", "no-such-program"));
    assert!(name("one", "HTTP://127.0.0.1:1/mcp").starts_with("127-0-0-1-1-"));
}
