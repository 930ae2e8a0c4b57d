//! `approvals`: what may run on the host without a question.

use std::fs;

use insta::assert_snapshot;
use metier_testkit::TestEnv;

use crate::{compact, environment, json, run};

/// What a command gave, with ids left out: they are made by chance.
pub(crate) fn shown(env: &TestEnv, words: &[&str]) -> String {
    without_ids(&env.run(["approvals"].iter().chain(words)).to_string())
}

/// The same on one line.
pub(crate) fn brief(env: &TestEnv, words: &[&str]) -> String {
    without_ids(&compact(&env.run(["approvals"].iter().chain(words))))
}

/// Adds something and gives its id.
pub(crate) fn add(env: &TestEnv, words: &[&str]) -> String {
    let outcome = env.run(["approvals", "add", "--json", "--quiet"].iter().chain(words));
    json(&outcome)["id"].as_str().expect("what was added has an id").to_owned()
}

/// A place where programs of the system are found.
pub(crate) fn with_programs() -> TestEnv {
    environment().with_variable("PATH", "/usr/bin:/bin")
}

fn without_ids(text: &str) -> String {
    let is_id = |part: &str| part.len() == 8 && part.bytes().all(|it| it.is_ascii_hexdigit());
    let mut rest = text;
    let mut clean = String::new();
    while !rest.is_empty() {
        let end = rest.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end.max(rest.chars().next().map_or(0, char::len_utf8)));
        clean.push_str(if is_id(part) { "[-[ID]-]" } else { part });
        rest = after;
    }
    clean.replace("[-[ID]-]", "--[ID]--")
}

#[test]
fn what_is_added_is_listed_and_can_be_revoked() {
    let env = with_programs();
    assert_snapshot!(brief(&env, &["list"]), @"0 |  | 0 approvals");
    assert_snapshot!(brief(&env, &["list", "--json"]), @"0 | [] |");
    let first = add(&env, &["ls"]);
    assert_snapshot!(brief(&env, &["add", "git", "--args", "status( --short)?", "--dir", "/usr", "--agent", "bob"]), @"0 | allowed git with arguments like `status( --short)?` in /usr for bob as --[ID]-- / covers `git` with arguments that match as a whole |");
    assert_eq!(add(&env, &["ls"]), first, "the same is there once");
    env.write("home/.metier/config.toml", "approvals.allow = ['wc', '~/bin/*']");
    assert_snapshot!(shown(&env, &["list"]), @"
    exit 0
    ----- stdout
    ID                 PROGRAM  ARGUMENTS          IN    AGENT  USES   LAST
    --[ID]--           ls       any                any   any       0  never
    --[ID]--           git      status( --short)?  /usr  bob       0  never
    approvals.allow:1  wc       any                any   any       –      –
    approvals.allow:2  ~/bin/*  harmless uses      any   any       –      –
    ----- stderr
    4 approvals
    ");
    assert_snapshot!(brief(&env, &["list", "--agent", "eve"]), @"0 | ID                 PROGRAM  ARGUMENTS      IN   AGENT  USES   LAST / --[ID]--           ls       any            any  any       0  never / approvals.allow:1  wc       any            any  any       –      – / approvals.allow:2  ~/bin/*  harmless uses  any  any       –      – | 3 approvals");
    let listed = json(&env.run(["approvals", "list", "--agent", "bob", "--json"]));
    assert_eq!(listed[0]["id"], first.as_str());
    let mut listed = listed[1].clone();
    listed["id"] = "ID".into();
    listed["created"] = 1.into();
    let project = env.project().display().to_string();
    assert_snapshot!(listed.to_string().replace(&project, "[PROJECT]"), @r#"{"id":"ID","agent":"bob","kind":"pattern","pattern":"git","arguments":"status( --short)?","directory":"/usr","created":1,"uses":0,"last_used":null,"last_command":null,"covers":"matching_arguments"}"#);
    assert_snapshot!(brief(&env, &["revoke", &first, "nothing"]), @"1 | revoked --[ID]-- | error: there is no approval `nothing` / hint: `metier approvals list` shows those there are");
    assert_snapshot!(brief(&env, &["revoke", &first, "--json"]), @r#"1 | {"revoked":[],"unknown":["--[ID]--"]} |"#);
    assert_snapshot!(brief(&env, &["list"]), @"0 | ID                 PROGRAM  ARGUMENTS          IN    AGENT  USES   LAST / --[ID]--           git      status( --short)?  /usr  bob       0  never / approvals.allow:1  wc       any                any   any       –      – / approvals.allow:2  ~/bin/*  harmless uses      any   any       –      – | 3 approvals");
}

#[test]
fn a_pattern_that_would_allow_nothing_or_something_else_is_refused() {
    let env = environment();
    let refused = |words: &[&str]| brief(&env, &[&["add"], words].concat());
    assert_snapshot!(refused(&[""]), @"2 |  | error: `` is no pattern for programs: it is empty / hint: write a name such as `ls`, or a whole path such as `/usr/bin/*` or `~/bin/tool`");
    assert_snapshot!(refused(&[" ls"]), @"2 |  | error: ` ls` is no pattern for programs: no program is called so / hint: write a name such as `ls`, or a whole path such as `/usr/bin/*` or `~/bin/tool`");
    assert_snapshot!(refused(&["ls\u{1b}[2J"]), @r"2 |  | error: `ls\u{1b}[2J` is no pattern for programs: no program is called so / hint: write a name such as `ls`, or a whole path such as `/usr/bin/*` or `~/bin/tool`");
    assert_snapshot!(refused(&["./tool"]), @"2 |  | error: `./tool` is no pattern for programs: a path must be whole, from `/` or `~/` on, without `..` / hint: write a name such as `ls`, or a whole path such as `/usr/bin/*` or `~/bin/tool`");
    assert_snapshot!(refused(&["bin/*"]), @"2 |  | error: `bin/*` is no pattern for programs: a path must be whole, from `/` or `~/` on, without `..` / hint: write a name such as `ls`, or a whole path such as `/usr/bin/*` or `~/bin/tool`");
    assert_snapshot!(refused(&["/usr/bin/../../bin/sh"]), @"2 |  | error: `/usr/bin/../../bin/sh` is no pattern for programs: a path must be whole, from `/` or `~/` on, without `..` / hint: write a name such as `ls`, or a whole path such as `/usr/bin/*` or `~/bin/tool`");
    assert_snapshot!(refused(&["~bob/tool"]), @"2 |  | error: `~bob/tool` is no pattern for programs: a path must be whole, from `/` or `~/` on, without `..` / hint: write a name such as `ls`, or a whole path such as `/usr/bin/*` or `~/bin/tool`");
    assert_snapshot!(refused(&["ls", "--dir", "nowhere"]), @"2 |  | error: `[PROJECT]/nowhere` is not a folder / hint: a program is allowed in folders that are there");
    assert_snapshot!(refused(&["ls", "--agent", ""]), @"2 |  | error: the id of the agent cannot be used: it is empty");
    assert_snapshot!(brief(&env, &["list"]), @"0 |  | 0 approvals");
    env.write("home/.metier/config.toml", "approvals.allow = ['../x']");
    assert_snapshot!(brief(&env, &["check", "--", "ls"]), @"2 |  | error: `../x` is no pattern for programs: a path must be whole, from `/` or `~/` on, without `..` / hint: write a name such as `ls`, or a whole path such as `/usr/bin/*` or `~/bin/tool`");
    env.write("home/.metier/config.toml", "approvals.trusted_dirs = ['bin']");
    assert_snapshot!(brief(&env, &["check", "--", "ls"]), @"2 |  | error: `approvals.trusted_dirs` has `bin`, which is no whole path / hint: write it from `/` or `~/` on; settings go into `[HOME]/.metier/config.toml`");
}

#[test]
fn settings_that_cannot_be_read_close_the_door() {
    let env = environment();
    for line in ["mode = 'sometimes'", "ask = true", "ask_fallback = ''", "safe_bins = 'wc'"] {
        env.write("home/.metier/config.toml", format!("approvals.{line}"));
        let outcome = env.run(["approvals", "check", "--", "true"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome}");
    }
    env.write("home/.metier/config.toml", "approvals.mode = 'sometimes'");
    assert_snapshot!(brief(&env, &["check", "--", "true"]), @"2 |  | error: [HOME]/.metier/config.toml:1: `approvals.mode` is not `deny`, `allowlist` or `full`");
    env.write("home/.metier/config.toml", "");
    let env = env.with_variable("METIER_APPROVALS_MODE", "all");
    assert_snapshot!(brief(&env, &["check", "--", "true"]), @"2 |  | error: $METIER_APPROVALS_MODE: `approvals.mode` is not `deny`, `allowlist` or `full` / hint: did you mean `full`?");
}

#[test]
fn decisions_that_cannot_be_read_close_the_door() {
    let env = environment();
    let id = add(&env, &["ls"]);
    let database = env.home().join(".metier/metier.db");
    let raw = rusqlite::Connection::open(&database).unwrap();
    raw.execute("UPDATE decision SET rule = '{}'", []).unwrap();
    drop(raw);
    for words in [&["list"][..], &["list", "--json"], &["check", "--json", "--", "ls"]] {
        let outcome = env.run(["approvals"].iter().chain(words));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{outcome}");
    }
    assert_snapshot!(brief(&env, &["check", "--", "ls"]), @"1 |  | error: the database `[HOME]/.metier/metier.db` is damaged: the decision --[ID]-- cannot be read: missing field `kind` at line 1 column 2; move it away and start again, or restore a copy");
    assert_eq!(env.run(["approvals", "revoke", &id]).code, 0);
    assert_eq!(env.run(["approvals", "list"]).code, 0);
    fs::write(&database, "Dear diary, ".repeat(1000)).unwrap();
    assert_snapshot!(brief(&env, &["check", "--", "ls"]), @"1 |  | error: the database `[HOME]/.metier/metier.db` is damaged: file is not a database; move it away and start again, or restore a copy");
    assert_snapshot!(brief(&env, &["add", "ls"]), @"1 |  | error: the database `[HOME]/.metier/metier.db` is damaged: file is not a database; move it away and start again, or restore a copy");
}

#[test]
fn two_who_add_at_once_lose_nothing() {
    let env = environment();
    let add = |name: String| {
        let env = &env;
        move || env.run(["approvals", "add", "--quiet", "--any-arguments", &name]).code
    };
    let codes: Vec<i32> = std::thread::scope(|scope| {
        let tasks: Vec<_> = (0..8).map(|number| scope.spawn(add(format!("p{number}")))).collect();
        tasks.into_iter().map(|task| task.join().unwrap()).collect()
    });
    assert_eq!(codes, [0; 8]);
    assert_eq!(json(&run(&env, "approvals list --json")).as_array().unwrap().len(), 8);
}

#[test]
fn who_adds_a_program_that_can_do_more_than_it_seems_is_told() {
    let env = with_programs();
    let added = |words: &[&str]| brief(&env, &[&["add"], words].concat());
    assert_snapshot!(added(&["ls"]), @"0 | allowed ls as --[ID]-- / covers `ls` with any arguments: none of them makes it run another program |");
    assert_snapshot!(added(&["bash"]), @"0 | allowed bash as --[ID]-- / covers only uses that are known to be harmless (`bash` is a shell and can run anything); `--args` can name others |");
    assert_snapshot!(added(&["xargs"]), @"2 |  | error: an entry for the name alone would cover nothing: `xargs` starts other programs / hint: `--args REGEX` covers arguments that match; `--any-arguments` covers all, also those that run other programs");
    assert_snapshot!(added(&["ssh"]), @"2 |  | error: an entry for the name alone would cover nothing: `ssh`: its options can run programs here and elsewhere / hint: `--args REGEX` covers arguments that match; `--any-arguments` covers all, also those that run other programs");
    assert_snapshot!(added(&["/usr/bin/env"]), @"0 | allowed /usr/bin/env as --[ID]-- / covers only uses that are known to be harmless (`env` starts other programs); `--args` can name others |");
    assert_snapshot!(added(&["find"]), @"0 | allowed find as --[ID]-- / covers only uses that are known to be harmless (`find`: it can run programs and delete files); `--args` can name others |");
    assert_snapshot!(added(&["find", "--args", ". -name [a-z]+"]), @"0 | allowed find with arguments like `. -name [a-z]+` as --[ID]-- / covers `find` with arguments that match as a whole |");
    assert_snapshot!(added(&["no-such-program"]), @"2 |  | error: an entry for the name alone would cover nothing: no table says what the arguments of `no-such-program` can make it do / hint: `--args REGEX` covers arguments that match; `--any-arguments` covers all, also those that run other programs");
    assert_snapshot!(added(&["no-such-program", "--any-arguments"]), @"0 | allowed no-such-program as --[ID]-- / covers `no-such-program` with any arguments, also those that make it run other programs | note: there is no program `no-such-program` here yet");
    assert_snapshot!(added(&["ls", "--args", "-l", "--any-arguments"]), @"2 |  | error: `--args <REGEX>` does not go together with `--any-arguments` / hint: `metier approvals add --help` shows what it takes");
    assert_snapshot!(added(&["/opt/*/bin/tool"]), @"0 | allowed /opt/*/bin/tool as --[ID]-- / covers each program that it matches, in uses that are known to be harmless; of programs in no table nothing |");
    assert_snapshot!(added(&["ls", "--args", "a("]), @"2 |  | error: `a(` is no regular expression, or too large / hint: for example `status( --short)?`; it must match all arguments together");
    assert_snapshot!(added(&[&"*a".repeat(17)]), @"2 |  | error: `*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a` has too many wildcards, or is too long / hint: write a shorter pattern, with fewer `*`");
    assert_snapshot!(added(&["ls", "--args", "a)|(b"]), @"2 |  | error: `a)|(b` is no regular expression, or too large / hint: for example `status( --short)?`; it must match all arguments together");
}

#[test]
fn a_check_says_what_would_happen_and_who_allows_it() {
    let env = with_programs();
    fs::create_dir(env.project().join("sub")).unwrap();
    for words in [&["ls"][..], &["cat"], &["sort", "--args", "-r", "--dir", "sub"]] {
        add(&env, words);
    }
    let check = |text: &str| shown(&env, &["check", "--", text]);
    assert_snapshot!(check("ls -la | head -5"), @"
    exit 0
    ----- stdout
    allow
    COMMAND  IN  PROGRAM        ALLOWED BY
    ls -la   .   /usr/bin/ls    --[ID]--
    head -5  .   /usr/bin/head  safe filter
    ----- stderr
    ");
    assert_snapshot!(check("cd sub && cat ../a b 2>/dev/null | sort -r"), @"
    exit 0
    ----- stdout
    allow
    COMMAND                 IN   PROGRAM        ALLOWED BY
    cat ../a b 2>/dev/null  sub  /usr/bin/cat   --[ID]--
    sort -r                 sub  /usr/bin/sort  --[ID]--
    ----- stderr
    ");
    assert_snapshot!(check("LANG=C ls | sort -r | no-such-program"), @"
    exit 3
    ----- stdout
    ask: the entry `sort` is for `[PROJECT]/sub` alone; `no-such-program` is not installed
    COMMAND          IN  PROGRAM  ALLOWED BY
    LANG=C ls        .   –        –
    sort -r          .   –        –
    no-such-program  .   –        –
    ----- stderr
    ");
    assert_snapshot!(check("ls $(id)"), @"
    exit 3
    ----- stdout
    ask: this cannot be judged: a command substitution `$(…)`
    ----- stderr
    ");
    assert_snapshot!(check("sudo ls"), @"
    exit 4
    ----- stdout
    deny: `sudo` changes who or where a program is; it never runs here
    COMMAND  IN  PROGRAM  ALLOWED BY
    sudo ls  .   –        –
    ----- stderr
    ");
    assert_snapshot!(check("TOKEN=hush-hush-0123456789abcdef ls"), @"
    exit 3
    ----- stdout
    ask: the variable `TOKEN` is not among those that may be set
    COMMAND        IN  PROGRAM      ALLOWED BY
    TOKEN=**** ls  .   /usr/bin/ls  nobody
    ----- stderr
    ");
    assert_snapshot!(shown(&env, &["check", "--", "ls", "a b", "-l"]), @"
    exit 0
    ----- stdout
    allow
    COMMAND      IN  PROGRAM      ALLOWED BY
    ls 'a b' -l  .   /usr/bin/ls  --[ID]--
    ----- stderr
    ");
    assert_snapshot!(brief(&env, &["check", "--cwd", "nowhere", "--", "ls"]), @"2 |  | error: `[PROJECT]/nowhere` is not a folder / hint: `--cwd` names the folder that the command would start in");
    assert_snapshot!(shown(&env, &["check", "--json", "--cwd", "sub", "--", "ls -l | wc -l"]), @r#"
    exit 0
    ----- stdout
    {
      "verdict": "allow",
      "reason": null,
      "directory": "[PROJECT]/sub",
      "plan": [
        {
          "after": "always",
          "argv": [
            "ls",
            "-l"
          ],
          "variables": [],
          "redirections": [],
          "directory": "[PROJECT]/sub",
          "program": "/usr/bin/ls",
          "by": {
            "kind": "entry",
            "id": "--[ID]--"
          }
        },
        {
          "after": "pipe",
          "argv": [
            "wc",
            "-l"
          ],
          "variables": [],
          "redirections": [],
          "directory": "[PROJECT]/sub",
          "program": "/usr/bin/wc",
          "by": {
            "kind": "safe"
          }
        }
      ]
    }
    ----- stderr
    "#);
    assert_snapshot!(brief(&env, &["check", "--json", "--", "echo `id`"]), @r#"3 | {"verdict":"ask","reason":"this cannot be judged: a command substitution in backticks","directory":"[PROJECT]","plan":[]} |"#);
}

#[test]
fn rules_are_the_least_of_settings_agent_and_project() {
    let env = with_programs();
    add(&env, &["ls"]);
    let check = |settings: &str, agent: &str| {
        env.write("home/.metier/config.toml", settings);
        brief(&env, &["check", "--agent", agent, "--", "ls"])
    };
    assert!(check("", "default").starts_with("0 | allow"));
    assert_snapshot!(check("approvals.mode = 'deny'", "default"), @"4 | deny: no commands may run here: the mode is `deny` / COMMAND  IN  PROGRAM  ALLOWED BY / ls       .   –        – |");
    assert_snapshot!(check("approvals.ask = 'always'", "default"), @"3 | ask: every command is asked about / COMMAND  IN  PROGRAM      ALLOWED BY / ls       .   /usr/bin/ls  --[ID]-- |");
    assert_snapshot!(check("agents.bob.approvals.mode = 'deny'", "bob"), @"4 | deny: no commands may run here: the mode is `deny` / COMMAND  IN  PROGRAM  ALLOWED BY / ls       .   –        – |");
    assert!(check("agents.bob.approvals.mode = 'deny'", "eve").starts_with("0 | allow"));
    let wide = "approvals.mode = 'deny'\nagents.bob.approvals.mode = 'full'";
    assert!(check(wide, "bob").starts_with("4 | deny"));
    env.write("project/.metier/config.toml", "approvals.mode = 'full'\napprovals.allow = ['id']");
    assert!(check("approvals.mode = 'deny'", "default").starts_with("4 | deny"));
    let outcome = env.run(["approvals", "check", "--", "id"]);
    assert_eq!(outcome.code, 4);
    env.write("project/.metier/config.toml", "approvals.mode = 'deny'");
    assert!(check("approvals.mode = 'full'", "default").starts_with("4 | deny"));
    env.write("project/.metier/config.toml", "\napprovals.mode = 'none'");
    assert_snapshot!(check("approvals.mode = 'full'", "default"), @"4 | deny: no commands may run here: the mode is `deny` / COMMAND  IN  PROGRAM  ALLOWED BY / ls       .   –        – | warning: [PROJECT]/.metier/config.toml:2:1: not taken from the project: `approvals.mode` is not `deny`, `allowlist` or `full`; it is `deny` instead [M090]");
    assert_snapshot!(run(&env, "config show").stdout, @r#"
    # state: [HOME]/.metier
    approvals.mode = "deny"  # [PROJECT]/.metier/config.toml:2, before that [HOME]/.metier/config.toml:1
    "#);
}

#[test]
fn programs_of_usable_skills_are_allowed_by_name_if_that_is_wanted() {
    let env = with_programs();
    let header = "name: NAME\ndescription: d\nmetadata: {metier: {requires: {bins: [BIN]}}}";
    for (name, bin) in [("mine", "id"), ("other", "uname"), ("broken", "no-such-program")] {
        let text = header.replace("NAME", name).replace("BIN", bin);
        env.write(format!("home/.metier/skills/{name}/SKILL.md"), format!("---\n{text}\n---\n"));
    }
    let settings = "approvals.ask = 'off'\nagents.bob.skills = ['mine']";
    let check = |wanted: &str, agent: &str, command: &str| {
        env.write("home/.metier/config.toml", format!("{settings}\n{wanted}"));
        env.run(["approvals", "check", "--agent", agent, "--", command]).code
    };
    let on = "approvals.auto_allow_skills = true";
    assert_eq!(check("", "bob", "id"), 4);
    assert_eq!(check(on, "bob", "id"), 0);
    assert_eq!(check(on, "bob", "uname"), 4, "of a skill that this agent does not use");
    assert_eq!(check(on, "eve", "uname"), 0);
    assert_eq!(check(on, "bob", "/usr/bin/id"), 4, "only by name");
    env.write("project/id", "#!/bin/sh\n");
    assert_eq!(check(on, "bob", "./id"), 4);
}

#[test]
fn state_dotfiles_and_folders_of_the_path_are_not_written_whatever_is_allowed() {
    let env = with_programs();
    add(&env, &["cp", "--args", ".*"]);
    let check = |to: &str| {
        let command = format!("cp a {to}");
        brief(&env, &["check", "--", &command])
    };
    let home = |path: &str| env.home().join(path).display().to_string();
    assert!(check("b").starts_with("0 |"), "{}", check("b"));
    for to in [home(".metier/config.toml"), home(".metier"), ".metier/config.toml".to_owned()] {
        assert!(check(&to).starts_with("4 |"), "{to}: {}", check(&to));
    }
    for to in [home(".bashrc"), "/usr/bin/x".to_owned(), ".git/config".to_owned()] {
        assert!(check(&to).starts_with("3 |"), "{to}: {}", check(&to));
    }
}

#[test]
fn settings_of_the_machine_workspaces_and_folders_of_skills_are_not_written_whatever_is_allowed() {
    let env = with_programs();
    for program in ["tee", "rm", "mkdir"] {
        add(&env, &[program]);
    }
    let home = |path: &str| env.home().join(path).display().to_string();
    env.write("home/own/skills/demo/SKILL.md", "---\nname: demo\ndescription: d\n---\n");
    let config = "workspace.folder = '~/rooms'\nskills.extra_dirs = ['~/own/skills']\nskills.plugin_dirs = ['~/plugs']";
    env.write("home/.metier/config.toml", config);
    let check = |command: &str| brief(&env, &["check", "--", command]);
    for command in [
        "tee /etc/metier/config.toml".to_owned(),
        "rm /etc/metier/config.toml".to_owned(),
        "tee /var/lib/metier/x".to_owned(),
        format!("tee {}", home("rooms/metier/local/s/work/x")),
        format!("rm -r {}", home("rooms")),
    ] {
        assert!(check(&command).starts_with("4 |"), "{command}: {}", check(&command));
    }
    for command in [
        format!("tee {}", home("own/skills/demo/SKILL.md")),
        format!("mkdir {}", home("own/skills/new")),
        format!("rm -r {}", home("own")),
        format!("tee {}", home("plugs/a/skills/b/SKILL.md")),
    ] {
        assert!(check(&command).starts_with("3 |"), "{command}: {}", check(&command));
    }
    assert!(check(&format!("tee {}", home("own/x"))).starts_with("0 |"));
}

#[test]
fn a_script_that_a_command_could_have_written_is_asked_about() {
    let env = with_programs();
    add(&env, &["sh", "--args", r"tool\.sh( .*)?"]);
    add(&env, &["echo"]);
    env.write("home/.metier/workspace/notes.txt", "");
    let check = |command: &str| {
        let folder = env.home().join(".metier/workspace").display().to_string();
        brief(&env, &["check", "--cwd", &folder, "--", command])
    };
    assert!(check("sh tool.sh").starts_with("3 |"), "{}", check("sh tool.sh"));
    env.write("home/.metier/workspace/tool.sh", "echo evil\n");
    assert!(check("echo x > tool.txt").starts_with("0 |"), "{}", check("echo x > tool.txt"));
    assert!(check("sh tool.sh a").starts_with("3 |"), "{}", check("sh tool.sh a"));
    add(&env, &["sh", "--args", r"tool\.sh( .*)?", "--dir", env.home().to_str().unwrap()]);
    assert!(check("sh tool.sh a").starts_with("0 |"), "{}", check("sh tool.sh a"));
}
