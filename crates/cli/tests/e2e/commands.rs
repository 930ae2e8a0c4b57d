//! Looking at one skill, and finding one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use metier_testkit::TestEnv;

use crate::{compact, environment, json, own_tool_folder, run, run_own, write_skill};

/// A skill with every optional field, docs, a script, and requirements that nothing meets.
fn with_tool() -> TestEnv {
    let env = environment().with_variable("COLUMNS", "80");
    write_skill(
        &env,
        "wrench",
        "name: wrench\ndescription: |\n  Tightens and loosens.\n  Use when a bolt is loose.\n\
         license: MIT\ncompatibility: Needs hands\nallowed-tools: Read Bash(git:*)\n\
         version: 1.2\nhomepage: https://example.com\nargument-hint: \"[bolt]\"\n\
         metadata:\n  author: someone\n  metier:\n    emoji: \"\u{1f527}\"\n    primaryEnv: BOLT_KEY\n    \
         requires:\n      bins: [torque, grip]\n      anyBins: [hammer, mallet]\n      \
         env: [BOLT_KEY, BOLT_SIZE]\n    install:\n      - kind: brew\n        formula: torque-tools\n        \
         bins: [torque]",
    );
    env.write("project/skills/wrench/guide.md", "# Guide\n\nTurn it.\n");
    env.write("project/skills/wrench/references/SIZES.TXT", "M3 \u{1b}[31mM4\n");
    env.write("project/skills/wrench/assets/table.csv", "a,b\n");
    let script = env.write("project/skills/wrench/scripts/turn.sh", "#!/bin/sh\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("its mode");
    env
}

#[test]
fn info_shows_what_is_known() {
    let env = with_tool();
    assert_snapshot!(run_own(&env, "skills info wrench"), @"
    exit 0
    ----- stdout
    wrench 🔧
    Tightens and loosens. Use when a bolt is loose.

           status  needs $BOLT_KEY +4
           source  flag
           folder  [PROJECT]/skills/wrench
           digest  8e8de1f020ce934d7e23f6c987983a16ad3132052b58635efd613fbde874edb5
          license  MIT
    compatibility  Needs hands
          version  1.2
         homepage  https://example.com
    argument hint  [bolt]
    allowed tools  Read Bash(git:*)
         programs  torque, grip
           one of  hammer, mallet
        variables  BOLT_KEY, BOLT_SIZE

    Files
         516 B  SKILL.md
           4 B  assets/table.csv
          18 B  guide.md
          11 B  references/SIZES.TXT
          10 B  scripts/turn.sh (executable)
    ----- stderr
    ");
    assert_snapshot!(run_own(&env, "skills info wrench --json"), @r#"
    exit 0
    ----- stdout
    {
      "name": "wrench",
      "description": "Tightens and loosens.\nUse when a bolt is loose.",
      "source": "flag",
      "path": "[PROJECT]/skills/wrench/SKILL.md",
      "folder": "[PROJECT]/skills/wrench",
      "digest": "8e8de1f020ce934d7e23f6c987983a16ad3132052b58635efd613fbde874edb5",
      "eligible": false,
      "license": "MIT",
      "compatibility": "Needs hands",
      "version": "1.2",
      "homepage": "https://example.com",
      "argument_hint": "[bolt]",
      "allowed_tools": [
        "Read",
        "Bash(git:*)"
      ],
      "metadata": {
        "author": "someone",
        "metier": "{\"emoji\":\"🔧\",\"primaryEnv\":\"BOLT_KEY\",\"requires\":{\"bins\":[\"torque\",\"grip\"],\"anyBins\":[\"hammer\",\"mallet\"],\"env\":[\"BOLT_KEY\",\"BOLT_SIZE\"]},\"install\":[{\"kind\":\"brew\",\"formula\":\"torque-tools\",\"bins\":[\"torque\"]}]}"
      },
      "docs": [
        "guide.md",
        "references/SIZES.TXT"
      ],
      "resources": [
        {
          "path": "assets/table.csv",
          "size": 4
        },
        {
          "path": "scripts/turn.sh",
          "size": 10
        }
      ]
    }
    ----- stderr
    "#);
}

#[test]
fn explain_says_what_is_missing_and_what_to_do() {
    assert_snapshot!(run_own(&with_tool(), "skills explain wrench"), @"
    exit 0
    ----- stdout
    wrench
        found  [PROJECT]/skills/wrench/SKILL.md (flag)
     eligible  no
      because  needs the variable BOLT_KEY
       remedy  set BOLT_KEY, or `skills.entries.wrench.api_key`
      because  needs the variable BOLT_SIZE
       remedy  set BOLT_SIZE, or `skills.entries.wrench.env.BOLT_SIZE`
      because  needs the program torque
       remedy  run `metier skills install-deps wrench`, which uses brew `torque-tools`
      because  needs the program grip
       remedy  install grip
      because  needs one of the programs hammer, mallet
       remedy  install hammer or mallet
     settings  [HOME]/.metier/config.toml
      catalog  not listed
      started  by nobody
      noticed  note: line 9: `version` is not a field of the format [M040]
      noticed  note: line 10: `homepage` is not a field of the format [M040]
      noticed  note: line 11: `argument-hint` is not a field of the format [M040]
       remedy  put fields of your own under `metadata`
    ----- stderr
    ");
}

#[test]
fn explain_follows_the_machine_and_the_settings() {
    let env = with_tool().with_variable("BOLT_SIZE", "3");
    env.tool(&own_tool_folder(&env, "wrench"), "torque");
    env.tool(&own_tool_folder(&env, "wrench"), "grip");
    env.tool(&own_tool_folder(&env, "wrench"), "mallet");
    env.write("home/.metier/config.toml", "skills.entries.wrench.api_key = 'k'");
    assert_snapshot!(run_own(&env, "skills explain wrench"), @"
    exit 0
    ----- stdout
    wrench
        found  [PROJECT]/skills/wrench/SKILL.md (flag)
        entry  [skills.entries.wrench]
     eligible  yes
      catalog  in full, 17 tokens
      started  by a model, or by a person
      noticed  note: line 9: `version` is not a field of the format [M040]
      noticed  note: line 10: `homepage` is not a field of the format [M040]
      noticed  note: line 11: `argument-hint` is not a field of the format [M040]
       remedy  put fields of your own under `metadata`
    ----- stderr
    ");
    let explained = json(&run_own(&env, "skills explain wrench --json"));
    assert_eq!(explained["eligible"], true);
    assert_eq!(explained["blocks"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_program_that_runs_do_not_see_does_not_make_a_skill_ready() {
    let env = with_tool().with_variable("BOLT_SIZE", "3").with_variable("BOLT_KEY", "k");
    env.tool(&own_tool_folder(&env, "wrench"), "torque");
    env.tool(&own_tool_folder(&env, "wrench"), "mallet");
    env.program("grip");
    let explained = run_own(&env, "skills explain wrench");
    let told = explained.stdout.lines().take_while(|line| !line.contains("catalog"));
    assert_snapshot!(told.collect::<Vec<_>>().join("\n"), @"
    wrench
        found  [PROJECT]/skills/wrench/SKILL.md (flag)
     eligible  no
      because  needs the program grip, and [ROOT]/bin/grip is where runs do not see it
       remedy  install grip, for the whole system: in /usr/bin or /usr/local/bin
    ");
}

#[test]
fn explain_names_what_is_hidden() {
    let env = environment();
    env.skill("project/skills", "same", "Wins. Use when asked.");
    env.skill("home/.agents/skills", "same", "Yields. Use when asked.");
    assert_snapshot!(run(&env, "skills explain same --skills-dir skills"), @"
    exit 0
    ----- stdout
    same
        found  [PROJECT]/skills/same/SKILL.md (flag)
        hides  [HOME]/.agents/skills/same/SKILL.md
     eligible  yes
      catalog  in full, 10 tokens
      started  by a model, or by a person
      noticed  note: [HOME]/.agents/skills/same/SKILL.md: `same` is hidden by [PROJECT]/skills/same/SKILL.md (flag) [M084]
    ----- stderr
    ");
}

#[test]
fn a_skill_that_cannot_be_used_is_not_said_to_be_missing() {
    let env = environment();
    write_skill(&env, "broken", "name: broken\ndescription: one\ndescription: two");
    write_skill(&env, "broken-too", "name: broken-too\ndescription: Looks alike.");
    for line in ["skills info broken", "skills docs broken", "skills install-deps broken"] {
        let outcome = run_own(&env, line);
        assert!(outcome.stderr.starts_with("error: `broken` was found and "), "{line}: {outcome}");
    }
    let outcome = run_own(&env, "skills info b");
    assert!(outcome.stderr.contains("hint: `metier skills list --all`"), "{outcome}");
}

#[test]
fn explain_knows_a_skill_that_cannot_be_used() {
    let env = environment();
    write_skill(&env, "broken", "name: broken\ndescription: one\ndescription: two");
    write_skill(&env, "shut", "name: shut\ndescription: d\nmetadata:\n  metier: 'requires: {'");
    assert_snapshot!(run_own(&env, "skills explain broken"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: `broken` was found and cannot be used: [PROJECT]/skills/broken/SKILL.md:4:1: the key `description` stands twice
    hint: keep one of the two
    ");
    assert_snapshot!(run_own(&env, "skills explain shut"), @"
    exit 0
    ----- stdout
    shut
        found  [PROJECT]/skills/shut/SKILL.md (flag)
     eligible  no
      because  requirements cannot be read: `metadata.metier` is text, and not a JSON object
       remedy  `metier skills lint [PROJECT]/skills/shut` shows where
      catalog  not listed
      started  by nobody
      noticed  error: line 5: what the skill requires cannot be read: `metadata.metier` is text, and not a JSON object [M045]
       remedy  the skill stays switched off until this can be read
    ----- stderr
    ");
}

#[test]
fn a_name_that_nobody_has_is_answered_with_one_that_is_near() {
    let env = with_tool();
    for (name, hint) in [
        ("wrnech", "did you mean `wrench`?"),
        ("Wrench", "did you mean `wrench`?"),
        ("wren", "did you mean `wrench`?"),
        ("xyz", "`metier skills list --all` shows every skill that was found"),
    ] {
        for command in ["info", "explain", "docs"] {
            let outcome = run_own(&env, &format!("skills {command} {name}"));
            assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
            assert_eq!(
                outcome.stderr,
                format!("error: there is no skill `{name}`\nhint: {hint}\n")
            );
        }
    }
}

#[test]
fn docs_are_listed_and_read() {
    let env = with_tool();
    assert_snapshot!(run_own(&env, "skills docs wrench"), @"
    exit 0
    ----- stdout
          18 B  guide.md
          11 B  references/SIZES.TXT
    ----- stderr
    ");
    assert_snapshot!(compact(&run_own(&env, "skills docs wrench --json")), @r#"0 | [{"path":"guide.md","size":18},{"path":"references/SIZES.TXT","size":11}] |"#);
    assert_snapshot!(run_own(&env, "skills docs wrench guide.md"), @"
    exit 0
    ----- stdout
    # Guide

    Turn it.
    ----- stderr
    ");
    assert_snapshot!(compact(&run_own(&env, "skills docs wrench guide.md --json")), @r##"0 | {"path":"guide.md","text":"# Guide\n\nTurn it.\n","truncated":false} |"##);
    assert_snapshot!(compact(&run_own(&env, "skills docs wrench references/SIZES.TXT")), @r"0 | M3 \u{1b}[31mM4 |");
}

#[test]
fn docs_are_those_of_the_skill_and_nothing_else() {
    let env = with_tool();
    std::os::unix::fs::symlink("/etc/passwd", env.project().join("skills/wrench/stolen.md"))
        .unwrap();
    let absolute = env.project().join("skills/wrench/guide.md").display().to_string();
    let others = [
        "nope.md",
        "../../etc/passwd",
        "stolen.md",
        "SKILL.md",
        "scripts/turn.sh",
        "./guide.md",
        &absolute,
    ];
    for doc in others {
        let outcome = run_own(&env, &format!("skills docs wrench {doc}"));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{outcome}");
        assert!(
            outcome.stderr.contains("hint: its docs are: guide.md, references/SIZES.TXT"),
            "{outcome}"
        );
    }
    assert_snapshot!(run_own(&env, "skills docs wrench ../../etc/passwd"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: `wrench` has no doc `../../etc/passwd`
    hint: its docs are: guide.md, references/SIZES.TXT
    ");
    write_skill(&env, "bare", "name: bare\ndescription: Does it. Use when asked.");
    assert_snapshot!(compact(&run_own(&env, "skills docs bare")), @"0 |  | bare has no docs");
    assert_snapshot!(compact(&run_own(&env, "skills docs bare x.md")), @"1 |  | error: `bare` has no doc `x.md` / hint: it has no docs");
}

#[test]
fn a_large_doc_is_cut_and_said_to_be() {
    let env = with_tool();
    env.write("project/skills/wrench/guide.md", "ä".repeat(600_000));
    let outcome = run_own(&env, "skills docs wrench guide.md");
    assert_eq!(outcome.stdout.trim_end().len(), 1 << 20);
    assert_snapshot!(outcome.stderr, @"the rest was cut: a doc is read up to 1 MiB");
}

#[test]
fn search_finds_or_says_no() {
    let env = environment();
    write_skill(
        &env,
        "pipes",
        "name: pipes\ndescription: Mends leaking pipes. Use when water drips.",
    );
    write_skill(
        &env,
        "charts",
        "name: charts\ndescription: Draws charts of tables. Use when a plot is wanted.",
    );
    write_skill(
        &env,
        "off",
        "name: off\ndescription: Mends pipes too.\nmetadata:\n  metier:\n    os: [plan9]",
    );
    assert_snapshot!(run_own(&env, "skills search a leak in the pipe"), @"
    exit 0
    ----- stdout
    NAME   FIT  DESCRIPTION
    pipes  4.7  Mends leaking pipes. Use when water drips.
    ----- stderr
    ");
    let found = json(&run_own(&env, "skills search plotting --json"));
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(found[0]["name"], "charts");
    assert_snapshot!(run_own(&env, "skills search zebra"), @"
    exit 1
    ----- stdout

    ----- stderr
    nothing fits; try other words, or `metier skills list`
    ");
    assert_snapshot!(compact(&run_own(&env, "skills search zebra --json")), @"1 | [] |");
    assert_eq!(
        json(&run_own(&env, "skills search mends draws --limit 1 --json"))
            .as_array()
            .unwrap()
            .len(),
        1
    );
}
