//! `approvals` and programs that no table describes.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::approvals::{add, brief, shown, with_programs};
use crate::json;

#[test]
fn a_program_in_no_table_is_covered_only_as_far_as_its_entry_says() {
    let env = with_programs();
    let tool = env.home().join("bin/deploy");
    env.write("home/bin/deploy", "#!/bin/sh\n");
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).expect("its mode");
    let tool = tool.to_str().expect("the home of a test is text").to_owned();
    let check = |words: &str| {
        let command = format!("{tool} {words}");
        env.run(["approvals", "check", "--", &command]).code
    };
    let refused = brief(&env, &["add", &tool]);
    assert_snapshot!(refused, @"2 |  | error: an entry for the name alone would cover nothing: `deploy` is a script that no table describes, so it counts as its interpreter / hint: `--args REGEX` covers arguments that match; `--any-arguments` covers all, also those that run other programs");
    assert_eq!(check("to east"), 3);
    let id = add(&env, &[&tool, "--args", "to [a-z]+"]);
    assert_eq!((check("to east"), check("-e ./x")), (0, 3));
    env.run(["approvals", "revoke", &id]);
    add(&env, &[&tool, "--any-arguments"]);
    assert_eq!((check("to east"), check("-e ./x")), (0, 0));
    let listed = json(&env.run(["approvals", "list", "--json"]));
    assert_eq!(listed[0]["covers"], "any_arguments");
    assert_eq!(listed[0]["any_arguments"], true);
}

#[test]
fn programs_of_the_system_that_run_code_are_not_covered_by_their_names() {
    let env = with_programs();
    env.write(
        "home/.metier/config.toml",
        "approvals.auto_allow_skills = true\napprovals.allow = ['*', '/**', 'json_pp', 'prove', 'pdb3']",
    );
    let header = "name: code\ndescription: d\nmetadata: {metier: {requires: {bins: [perl, json_pp, prove]}}}";
    env.write("home/.metier/skills/code/SKILL.md", format!("---\n{header}\n---\n"));
    for command in ["json_pp -f eval", "prove -e ./x y", "pdb3 x.py", "nm --plugin ./x y"] {
        let outcome = env.run(["approvals", "check", "--", command]);
        assert_eq!(outcome.code, 3, "{command}: {outcome}");
    }
}

#[test]
fn entries_of_earlier_versions_for_unknown_programs_cover_nothing_and_are_named() {
    let env = with_programs();
    let id = add(&env, &["deploy", "--any-arguments"]);
    let database = env.home().join(".metier/metier.db");
    let raw = rusqlite::Connection::open(&database).unwrap();
    let old = r#"{"kind":"pattern","pattern":"deploy"}"#;
    raw.execute("UPDATE decision SET rule = ?1 WHERE id = ?2", [old, &id]).unwrap();
    drop(raw);
    env.write(
        "home/.metier/config.toml",
        "[approvals]\nallow = ['ls', 'ship']\nallow_any_arguments = ['fly']",
    );
    assert_snapshot!(shown(&env, &["list"]), @"
    exit 0
    ----- stdout
    ID                               PROGRAM  ARGUMENTS       IN   AGENT  USES   LAST
    --[ID]--                         deploy   none            any  any       0  never
    approvals.allow:1                ls       any             any  any       –      –
    approvals.allow:2                ship     none            any  any       –      –
    approvals.allow_any_arguments:1  fly      any, unchecked  any  any       –      –
    ----- stderr
    note: approvals.allow:2 covers nothing: no table says what the arguments of `ship` can make it do; put it into `approvals.allow_any_arguments` to allow any arguments, or add it with `--args`
    note: --[ID]-- covers nothing: no table says what the arguments of `deploy` can make it do; add it again with `--args` or `--any-arguments`
    4 approvals
    ");
    let listed = json(&env.run(["approvals", "list", "--json"]));
    let covers: Vec<&str> =
        listed.as_array().unwrap().iter().map(|it| it["covers"].as_str().unwrap()).collect();
    assert_eq!(covers, ["nothing", "any_arguments_harmless", "nothing", "any_arguments"]);
    let doctor = env.run(["doctor"]).stderr;
    for name in ["`deploy`", "`ship`"] {
        assert!(doctor.contains(name), "{doctor}");
    }
    assert!(!doctor.contains("`fly`"), "{doctor}");
}
