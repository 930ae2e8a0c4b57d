//! The real binary, run as people run it, in a place of its own: exit code, standard output and
//! standard error together.
//!
//! What a rule means is tested where the rule is; here it is tested that a person or a program
//! meets it. Skills come from `--skills-dir` unless a test is about other sources, so that nothing
//! depends on what is bundled.

mod archives;
mod bad_input;
mod catalog;
mod command_line;
mod commands;
mod config;
mod containers;
mod exec;
mod exec_refused;
mod filters;
mod full_disk;
mod grants;
mod killed;
mod lint;
mod lint_fix;
mod lint_formats;
mod list;
mod live;
mod new_skill;
mod readme;
mod reference;
mod reference_defects;
mod sources;
mod table;
mod tasks;
mod trust;
mod trust_changes;
mod upkeep;

use std::path::PathBuf;

use metier_testkit::{Outcome, Terminal, TestEnv};
use serde_json::Value;

/// An empty home, an empty project, and the binary of this build.
fn environment() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_metier"))
}

/// Runs a command line without quoting: words between spaces.
fn run(env: &TestEnv, line: &str) -> Outcome {
    env.run(line.split_whitespace())
}

/// Runs a command about the skills of the project's folder `skills`, and of no other.
fn run_own(env: &TestEnv, line: &str) -> Outcome {
    run(env, &format!("{line} --no-default-sources --skills-dir skills"))
}

/// What a command prints as JSON: one document, and nothing beside it.
fn json(outcome: &Outcome) -> Value {
    assert_eq!(outcome.stderr, "", "JSON comes alone");
    serde_json::from_str(&outcome.stdout).expect("standard output is one JSON document")
}

/// Writes `project/skills/<folder>/SKILL.md` with a header and a body.
fn write_skill(env: &TestEnv, folder: &str, header: &str) -> PathBuf {
    let text = format!("---\n{header}\n---\n\n# Steps\n\nDo it.\n");
    let file = env.write(format!("project/skills/{folder}/SKILL.md"), text);
    file.parent().expect("a file has a folder").to_owned()
}

/// What was said to be wrong, without the closing line, which counts bundled skills too.
fn problems(outcome: &Outcome) -> String {
    let is_problem = |line: &&str| line.starts_with("error") || line.starts_with("warning");
    outcome.stderr.lines().filter(is_problem).collect::<Vec<_>>().join("\n")
}

/// An outcome on one line: exit code, standard output, standard error.
fn compact(outcome: &Outcome) -> String {
    let folded = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join(" / ");
    let (stdout, stderr) = (folded(&outcome.stdout), folded(&outcome.stderr));
    format!("{} | {stdout} | {stderr}", outcome.code).trim_end().to_owned()
}

/// What is to be seen on a terminal in the end, without the time it took.
fn seen(terminal: Terminal) -> String {
    let (code, _, seen) = terminal.finish();
    let line = |line: &str| match line.split_once(" s · ") {
        Some((before, after)) => {
            let ending = before.rsplit_once(" · ").map_or(before, |(ending, _)| ending);
            format!("{ending} · [TIME] · {after}")
        }
        None => line.to_owned(),
    };
    format!("{}\ncode {code}", seen.trim_end().lines().map(line).collect::<Vec<_>>().join("\n"))
}
