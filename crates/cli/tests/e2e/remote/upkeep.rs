//! What is remembered of skills of other servers, and how it goes.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use serde_json::Value;

use super::{TEXT, ask, honest, kept, label, ship, steady, trust};
use crate::{environment, json};

#[test]
fn trust_in_a_skill_is_listed_and_taken_back() {
    let (env, server) = (environment(), honest());
    let label = label(&env, &server);
    assert_eq!(trust(&env, &server).code, 0);
    assert_eq!(ship(&env, &server.url()).code, 0);
    assert_snapshot!(steady(&env.run(["trust", "--list"]), &label), @"
    exit 0
    ----- stdout
    [SERVER]:ship  skill://ship/SKILL.md  2 files
    ----- stderr
    ");
    assert_ne!(kept(&env), Vec::<PathBuf>::new());
    let name = format!("{label}:ship");
    assert_snapshot!(steady(&env.run(["trust", "--revoke", &name]), &label), @"
    exit 0
    ----- stdout
    no longer trusted: [SERVER] skill://ship/SKILL.md
    ----- stderr
    ");
    assert_eq!(kept(&env), Vec::<PathBuf>::new(), "its files are gone too");
    assert_ne!(ship(&env, &server.url()).code, 0);
    assert_ne!(env.run(["trust", "--revoke", &name]).code, 0);
}

#[test]
fn trust_is_not_taken_back_from_one_of_several_that_could_be_meant() {
    let (env, one, two) = (environment(), honest(), honest());
    let (first, second) = (label(&env, &one), label(&env, &two));
    assert_eq!((trust(&env, &one).code, trust(&env, &two).code), (0, 0));
    let mut labels = [first.as_str(), second.as_str()];
    labels.sort_unstable();
    let outcome = env.run(["trust", "--revoke", "ship"]).to_string();
    assert_snapshot!(outcome.replace(labels[0], "[ONE]").replace(labels[1], "[TWO]"), @r#"
    exit 2
    ----- stdout

    ----- stderr
    error: `ship` is the name of 2 trusted skills
    hint: say which: "[ONE] skill://ship/SKILL.md", "[TWO] skill://ship/SKILL.md"
    "#);
    let which = format!("{first} skill://ship/SKILL.md");
    assert_eq!(env.run(["trust", "--revoke", &which]).code, 0);
    assert_eq!(env.run(["trust", "--revoke", "ship"]).code, 0, "one is left");
    assert!(env.run(["trust", "--list"]).stderr.contains("nothing is trusted"));
}

#[test]
fn tokens_are_counted_of_what_was_fetched() {
    let (env, server) = (environment(), honest());
    let counts = || json(&ask(&env, &server.url(), &["skills", "tokens", "--json"]))[0].clone();
    let before = counts();
    assert_eq!((&before["body"], &before["docs"]), (&Value::Null, &Value::Null));
    let shown = ask(&env, &server.url(), &["skills", "tokens"]).stdout;
    assert!(shown.contains("not fetched"), "{shown}");
    assert_eq!(ask(&env, &server.url(), &["read", "skill://ship/SKILL.md"]).stdout, TEXT);
    let after = counts();
    assert!(after["body"].as_u64() > Some(0) && after["docs"] == 0, "{after}");
}

#[test]
fn gc_removes_what_was_fetched_and_nobody_trusts() {
    let (env, server) = (environment(), honest());
    assert_eq!(ask(&env, &server.url(), &["read", "skill://ship/SKILL.md"]).code, 0);
    let fetched = || json(&env.run(["gc", "--json"]))["fetched"].clone();
    assert_eq!(fetched(), 0, "it may be looked at again");
    let script = kept(&env).into_iter().find(|it| it.ends_with("SKILL.md")).expect("its file");
    let home = script.ancestors().nth(2).expect("its folder");
    let long_ago = SystemTime::now() - Duration::from_hours(60 * 24);
    fs::File::open(home).and_then(|it| it.set_modified(long_ago)).expect("its time");
    assert_eq!(trust(&env, &server).code, 0);
    assert_eq!(fetched(), 0, "it is trusted");
    assert_eq!(env.run(["trust", "--revoke", "ship"]).code, 0);
    assert_eq!(ask(&env, &server.url(), &["read", "skill://ship/SKILL.md"]).code, 0);
    fs::File::open(home).and_then(|it| it.set_modified(long_ago)).expect("its time");
    assert_eq!(fetched(), 1);
    assert_eq!(kept(&env), Vec::<PathBuf>::new());
}
