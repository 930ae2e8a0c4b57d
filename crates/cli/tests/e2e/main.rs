//! The real binary, run as people run it, in a place of its own: exit code, standard output and
//! standard error together.
//!
//! What a rule means is tested where the rule is; here it is tested that a person or a program
//! meets it. Skills come from `--skills-dir` unless a test is about other sources, so that nothing
//! depends on what is bundled.

mod agents;
mod approvals;
mod archives;
mod artifacts;
mod bad_input;
mod catalog;
mod command_line;
mod commands;
mod completions;
mod config;
mod config_change;
mod config_schema;
mod containers;
mod entry_keys;
mod exec;
mod exec_refused;
mod filters;
mod full_disk;
mod grants;
mod help;
mod install_deps;
mod interop;
mod killed;
mod lint;
mod lint_fix;
mod lint_formats;
mod list;
mod live;
mod manual;
mod masking;
mod mcp;
mod mcp_install;
mod new_skill;
mod older_state;
mod privacy;
mod progress;
mod pull;
mod readme;
mod reference;
mod reference_defects;
mod remote;
mod reports;
mod rules;
mod served;
mod setup;
mod sources;
mod table;
mod tasks;
mod tour;
mod trust;
mod trust_changes;
mod two;
mod unknown_programs;
mod upkeep;

use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use metier_testkit::{Outcome, Terminal, TestEnv};
use rustix::process::{Pid, Signal, kill_process};
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

/// The name of the folder with the tools of a skill in the project's folder `skills`, as [`run_own`] finds it.
fn own_tool_folder(env: &TestEnv, skill: &str) -> String {
    let file = env.project().join("skills").join(skill).join("SKILL.md");
    metier_skill::install::tool_folder(&format!("flag:{}", file.display()))
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
    format!("{}\ncode {code}", without_times(seen.trim_end()))
}

/// A text without the times that things took, which are parts of lines such as `exit 0 · 0.02 s`.
fn without_times(text: &str) -> String {
    let is_time =
        |part: &str| part.strip_suffix(" s").is_some_and(|number| number.parse::<f64>().is_ok());
    let line = |line: &str| {
        let parts = line.split(" · ").map(|part| if is_time(part) { "[TIME]" } else { part });
        parts.collect::<Vec<_>>().join(" · ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The binary, at a terminal that it can be interrupted from.
fn at_terminal(env: &TestEnv) -> Command {
    let mut command = env.command("/usr/bin/setsid");
    command.args(["--ctty", "--wait"]).arg(env.binary());
    command
}

/// Waits for something that happens in another process.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < patience, "waiting for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The exit code of a command after Ctrl-C.
fn interrupted(mut child: Child) -> i32 {
    let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(process, Signal::INT).expect("it is ours");
    child.wait().expect("it ends").code().unwrap_or(-1)
}
