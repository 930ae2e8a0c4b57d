//! Rules that people look up: what `lint --explain` prints, and that every example is true.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use metier_skill::diagnostic::Code;
use metier_skill::explanation::{Content, Example, ExampleFile, explain};
use metier_testkit::TestEnv;
use serde_json::Value;

use crate::remote::{ask, liar::Liar};
use crate::{compact, environment, json, problems, run};

/// Rules whose examples cannot be run by themselves, each with the test that runs them.
const ELSEWHERE: &[(Code, &str)] = &[(
    Code::OfferRefused,
    "a server must tell it: `the_example_of_an_offer_is_what_a_server_tells`",
)];

/// What is reported beside the rule itself, in both examples, because the one cannot be without the other.
const BESIDE: &[(Code, Code)] = &[
    // These are fields of other agents.
    (Code::SwitchUnreadable, Code::UnknownField),
    (Code::DispatchIncomplete, Code::UnknownField),
    // Names that differ by case have capitals.
    (Code::NameCaseClash, Code::NameNotLowercase),
    // A server that answers has skills, and nobody trusts them yet.
    (Code::ServerUnreachable, Code::Untrusted),
];

/// Where a file of an example is.
fn place(env: &TestEnv, file: &ExampleFile) -> PathBuf {
    match file.path.strip_prefix("~/") {
        Some(path) => env.home().join(path),
        None => env.project().join(file.path),
    }
}

/// Runs commands of an example as a person would type them.
fn in_shell(env: &TestEnv, commands: &[&str]) -> String {
    let programs = env.binary().parent().expect("a folder of programs").display();
    let mut command = env.command("/bin/sh");
    command.env("PATH", format!("{programs}:/usr/bin:/bin")).arg("-c").arg(commands.join("\n"));
    let outcome = env.finish(command, "");
    outcome.stdout + &outcome.stderr
}

/// The rules that the last command of an example names.
fn reported(example: &Example) -> BTreeSet<String> {
    let env = environment();
    for file in &example.files {
        let path = place(&env, file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for the example");
        match file.content {
            Content::Text(_) => fs::write(path, file.content.bytes()).expect("a file"),
            Content::Link(target) => symlink(Path::new(target), path).expect("a link"),
        }
    }
    let (last, first) = example.steps().split_last().expect("an example has a command");
    in_shell(&env, first);
    codes_in(&in_shell(&env, &[last]))
}

/// Codes in brackets, as both `lint` and the warnings of other commands have them.
fn codes_in(text: &str) -> BTreeSet<String> {
    let parts = text.split('[').filter_map(|part| part.get(..5)?.strip_suffix(']'));
    let is_code = |part: &&str| Code::ALL.iter().any(|code| code.as_str() == *part);
    parts.filter(is_code).map(str::to_owned).collect()
}

#[test]
fn a_bad_example_breaks_its_rule_and_no_other_and_a_good_one_breaks_none() {
    let mut wrong = Vec::new();
    for code in Code::ALL.iter().filter(|code| !ELSEWHERE.iter().any(|(it, _)| it == *code)) {
        let explanation = explain(*code);
        let beside: BTreeSet<String> =
            BESIDE.iter().filter(|(it, _)| it == code).map(|(_, it)| it.to_string()).collect();
        let (mut bad, good) = (reported(&explanation.bad), reported(&explanation.good));
        if !bad.remove(code.as_str()) || !bad.is_subset(&beside) {
            wrong.push(format!("{code}: the bad example gives {:?}", reported(&explanation.bad)));
        }
        if !good.is_subset(&beside) {
            wrong.push(format!("{code}: the good example gives {good:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_example_of_an_offer_is_what_a_server_tells() {
    let told = |example: &Example| {
        let (env, server) = (environment(), Liar::start());
        let text = String::from_utf8(example.files[0].content.bytes()).expect("JSON is text");
        let offer: Value = serde_json::from_str(&text).expect("an offer is JSON");
        server.state().skills = vec![offer];
        codes_in(&problems(&ask(&env, &server.url(), &["skills", "list"])))
    };
    let explanation = explain(Code::OfferRefused);
    assert_eq!(told(&explanation.bad), BTreeSet::from(["M093".to_owned()]));
    assert_eq!(told(&explanation.good), BTreeSet::from(["M086".to_owned()]));
}

#[test]
fn a_rule_is_explained_with_its_examples() {
    assert_snapshot!(run(&environment(), "skills lint --explain m023"), @"
    exit 0
    ----- stdout
    M023  `name` is lowercase
    warning, and error with `--strict`

    Names are lowercase, so that a name is the same on every system and nobody has to remember capitals.
    `metier skills lint --fix` mends it where the folder has the right name already.

    Bad
      Invoices/SKILL.md
        ---
        name: Invoices
        description: Writes invoices. Use when somebody asks for an invoice.
        ---

        Ask for the customer and the amount, then write the invoice.

    Good
      invoices/SKILL.md
        ---
        name: invoices
        description: Writes invoices. Use when somebody asks for an invoice.
        ---

        Ask for the customer and the amount, then write the invoice.
    ----- stderr
    ");
    assert_snapshot!(run(&environment(), "skills lint --explain M083 M086").stdout, @"
    M083  A skill of a project lies inside the project
    error

    A link among the skills of a project leads out of the project. A project that was downloaded could
    bring in files of yours that way, so the link is not followed. Move the skill into the project, or
    allow its place with `skills.allow_symlink_targets`.

    Bad
      .agents/skills/invoices -> ../../../shared/invoices
      ../shared/invoices/SKILL.md
        ---
        name: invoices
        description: Writes invoices. Use when somebody asks for an invoice.
        ---

        Ask for the customer and the amount, then write the invoice.
      $ metier skills lint

    Good
      .agents/skills/invoices/SKILL.md
        ---
        name: invoices
        description: Writes invoices. Use when somebody asks for an invoice.
        ---

        Ask for the customer and the amount, then write the invoice.
      $ metier skills lint

    M086  A project, or a skill of another server, is trusted before it is used
    warning

    Skills of a project, or of another server, are code of somebody else. They are listed but not used
    until you have looked at them and said so with `metier trust`, or `metier skills trust NAME` for a
    skill of a server.

    Bad
      .agents/skills/invoices/SKILL.md
        ---
        name: invoices
        description: Writes invoices. Use when somebody asks for an invoice.
        ---

        Ask for the customer and the amount, then write the invoice.
      $ metier skills list

    Good
      .agents/skills/invoices/SKILL.md
        ---
        name: invoices
        description: Writes invoices. Use when somebody asks for an invoice.
        ---

        Ask for the customer and the amount, then write the invoice.
      $ metier trust
      $ metier skills list
    ");
}

#[test]
fn rules_are_explained_whatever_the_settings_say() {
    let env = environment().with_variable("HOME", "").with_variable("METIER_HOME", "");
    assert_eq!(run(&env, "skills lint --explain M001").code, 0);
    let env = environment();
    env.write("home/.metier/config.toml", "skills.denied = 'x'");
    assert_eq!(run(&env, "skills lint --explain M001").code, 0);
}

#[test]
fn every_rule_is_explained_and_listed() {
    let env = environment();
    let all: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let listed = run(&env, "skills lint --explain").stdout;
    assert_eq!(listed.lines().map(|line| &line[..4]).collect::<Vec<_>>(), all);
    let listed = json(&run(&env, "skills lint --explain --json"));
    assert_eq!(listed.as_array().unwrap().len(), all.len());
    let explained = json(&run(&env, &format!("skills lint --json --explain {}", all.join(","))));
    for (rule, code) in explained.as_array().unwrap().iter().zip(&all) {
        assert_eq!(rule["code"], *code);
        assert!(rule["meaning"].is_string() && rule["bad"]["commands"].is_array(), "{rule}");
    }
    assert_snapshot!(compact(&run(&env, "skills lint --json --explain M010")), @r#"0 | [{"code":"M010","rule":"`SKILL.md` is a regular file that can be read","strict":"error","otherwise":"error","meaning":"Something called `SKILL.md` is there, and it cannot be read as a file: it is a folder, a device, or a link that leads nowhere. The skill is not used.","bad":{"files":[{"path":"invoices/SKILL.md","link":"missing.md"}],"commands":["metier skills lint ."]},"good":{"files":[{"path":"invoices/SKILL.md","text":"---\nname: invoices\ndescription: Writes invoices. Use when somebody asks for an invoice.\n---\n\nAsk for the customer and the amount, then write the invoice.\n"}],"commands":["metier skills lint ."]}}] |"#);
}

#[test]
fn a_code_that_is_none_is_named_with_those_that_are_near() {
    let env = environment();
    assert_snapshot!(compact(&run(&env, "skills lint --explain M23")), @"2 |  | error: there is no rule `M23` / hint: did you mean `M023`? `metier skills lint --explain` lists all of them");
    assert_snapshot!(compact(&run(&env, "skills lint --explain M001,lowercase")), @"2 |  | error: there is no rule `lowercase` / hint: `metier skills lint --explain` lists all of them");
    assert_eq!(run(&env, "skills lint . --explain M001").code, 2);
}
