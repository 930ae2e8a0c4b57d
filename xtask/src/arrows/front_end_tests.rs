//! Sources of a crate as texts, and what the check of libraries says about them.

use std::path::{Path, PathBuf};

use super::front_end::{EXEMPTIONS, Exemption, FrontEndRule, breaches_of, judged, look};
use super::house::{HOUSE, Role};
use super::lexer::ShippedSource;
use super::metadata::{Dependency, Kind, Package};

/// What is said about a crate `skill` with these files.
fn said(files: &[(&str, &str)]) -> String {
    said_with(files, &[])
}

fn said_with(files: &[(&str, &str)], exemptions: &[Exemption]) -> String {
    let sources: Vec<(PathBuf, ShippedSource)> = files
        .iter()
        .map(|(file, text)| (Path::new("crates/skill/src").join(file), ShippedSource::of(text)))
        .collect();
    let said = judged(&breaches_of("skill", &sources), exemptions);
    if said.is_empty() { "allowed".to_owned() } else { said.join("\n") }
}

#[test]
fn a_library_names_no_command_and_no_setting() {
    insta::assert_snapshot!(said(&[(
        "advice.rs",
        r##"
            const A: &str = "look at it, then run `metier skills trust`";
            const B: &str = r#"set `exec.network = "host"`"#;
            const C: &str = "take it out of \
                `skills.denied`";
            fn d(key: &str) -> String { format!("see `[mcp.servers.{key}]`, `metier {key}`") }
        "##,
    )]), @"
    crates/skill/src/advice.rs:2: `skill` names a command of `metier`; advice is data, which front ends word
    crates/skill/src/advice.rs:3: `skill` names a setting; advice is data, which front ends word
    crates/skill/src/advice.rs:4: `skill` names a setting; advice is data, which front ends word
    crates/skill/src/advice.rs:6: `skill` names a command of `metier`; advice is data, which front ends word
    ");
}

#[test]
fn words_that_only_look_like_commands_and_settings_are_allowed() {
    insta::assert_snapshot!(said(&[(
        "lib.rs",
        r#"
            const A: &str = "metier uses its name; `metier` is no skill, `metier-skill` neither";
            const B: &str = "`requires.env` and `SKILL.md`; skills.toml; `exec.` is a folder";
        "#,
    )]), @"allowed");
}

#[test]
fn a_library_neither_prints_nor_reads_variables() {
    insta::assert_snapshot!(said(&[
        ("a.rs", "fn f() { println!(\"x\"); eprint!(\"x\"); dbg!(1); }"),
        ("b.rs", "use std::io::{self, stdout};\nfn f() { io::stderr(); }"),
        ("c.rs", "fn f() { std::env::var(\"X\"); }\nuse std::env::{temp_dir, vars};"),
        ("d.rs", "fn f(print: u8, var: u8) { print + env!(\"X\").len() + stdout(); env::temp_dir(); }"),
    ]), @"
    crates/skill/src/a.rs:1: `skill` uses a standard stream; libraries return values
    crates/skill/src/b.rs:1: `skill` uses a standard stream; libraries return values
    crates/skill/src/b.rs:2: `skill` uses a standard stream; libraries return values
    crates/skill/src/c.rs:1: `skill` reads a variable; libraries take values
    crates/skill/src/c.rs:2: `skill` reads a variable; libraries take values
    ");
}

#[test]
fn comments_and_tests_may_say_anything() {
    let advice = "const A: &str = \"run `metier trust`\";";
    insta::assert_snapshot!(said(&[
        ("lib.rs", &format!("//! `metier trust`\n#[cfg(test)]\nmod scratch;\nmod a;\n#[cfg(test)]\nmod tests {{ {advice} }}")),
        ("scratch.rs", advice),
        ("a.rs", "#[cfg(test)]\nmod tests;\n/// Prints with `println!`.\nfn f() {}"),
        ("a/tests.rs", advice),
        ("b/mod.rs", "#[cfg(test)]\nmod tests;"),
        ("b/tests/more.rs", advice),
        ("tests.rs", advice),
    ]), @"crates/skill/src/tests.rs:1: `skill` names a command of `metier`; advice is data, which front ends word");
}

#[test]
fn an_exemption_is_for_one_rule_and_must_be_needed() {
    let exempt = |rule| [Exemption { of: "skill", rule, reason: "it moves" }];
    let files = [("a.rs", "const A: &str = \"`metier trust`\";")];
    insta::assert_snapshot!(said_with(&files, &exempt(FrontEndRule::Command)), @"allowed");
    insta::assert_snapshot!(said_with(&files, &exempt(FrontEndRule::Output)), @"
    crates/skill/src/a.rs:1: `skill` names a command of `metier`; advice is data, which front ends word
    `skill` needs no exemption from `Output` any more (it moves): take it out
    ");
}

#[test]
fn only_the_front_end_parses_command_lines() {
    let root = tempfile::tempdir().unwrap();
    for entry in HOUSE.iter().filter(|it| matches!(it.role, Role::Shipped { .. })) {
        let folder = root.path().join("crates").join(entry.name).join("src");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("lib.rs"), "fn nothing() {}").unwrap();
    }
    let package = |name: &str, kind| {
        let external = vec![Dependency { name: "clap".to_owned(), kind }];
        Package { name: name.to_owned(), internal: Vec::new(), external }
    };
    let packages = [
        package("metier", Kind::Normal),
        package("metier-net", Kind::Build),
        package("metier-skill", Kind::Dev),
        package("xtask", Kind::Normal),
    ];
    let mut said = look(root.path(), &packages).unwrap();
    said.retain(|it| !it.contains("exemption"));
    assert_eq!(said, ["crates/net/Cargo.toml: `net` depends on `clap`; libraries take values"]);
}

#[test]
fn exemptions_are_for_libraries_and_have_reasons() {
    for Exemption { of, reason, .. } in EXEMPTIONS {
        assert!(*of != "cli" && HOUSE.iter().any(|it| it.name == *of), "{of}");
        assert!(!reason.is_empty(), "{of}");
    }
}
