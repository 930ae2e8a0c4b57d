//! The steps of a run, as a table: what is checked, and with which command.
//!
//! Order is cost: what takes a second comes first, what compiles comes later. A
//! new check is a new line here. Steps do not depend on each other, except on
//! the build where nothing could work without it.

use std::process::Command;

use anyhow::{Result, bail};

use super::summary::Outcome;
use crate::project::{Project, shown};
use crate::{arrows, docs, engines, skills};

/// One check.
#[derive(Debug)]
pub(super) struct Step {
    /// What `--only` and the summary call it.
    pub(super) name: &'static str,
    /// What it makes sure of, for `--list`.
    pub(super) about: &'static str,
    /// The file or folder it is about; without it there is nothing to check.
    pub(super) subject: Option<&'static str>,
    /// The step whose failure makes this one pointless.
    pub(super) after: Option<&'static str>,
    /// Whether it makes use of container engines.
    pub(super) uses_engines: bool,
    /// Does it. An error is a failure.
    pub(super) run: fn(&Project) -> Result<Outcome>,
}

impl Step {
    const fn new(
        name: &'static str,
        about: &'static str,
        run: fn(&Project) -> Result<Outcome>,
    ) -> Self {
        Self { name, about, subject: None, after: None, uses_engines: false, run }
    }

    const fn about_file(self, subject: &'static str) -> Self {
        Self { subject: Some(subject), ..self }
    }

    const fn after_build(self) -> Self {
        Self { after: Some(BUILD), ..self }
    }

    const fn with_engines(self) -> Self {
        Self { uses_engines: true, ..self }
    }

    /// What is missing for the step to make sense in this checkout.
    pub(super) fn missing(&self, project: &Project) -> Option<&'static str> {
        self.subject.filter(|subject| !project.file(subject).exists())
    }
}

const BUILD: &str = "build";

/// All steps, in the order they run.
pub(super) const STEPS: &[Step] = &[
    Step::new("fmt", "the code is formatted", |project| cargo(project, "fmt --all -- --check")),
    Step::new("arrows", "crates use each other as the architecture allows", |project| {
        arrows::run(project).map(|()| Outcome::Passed)
    }),
    Step::new("skills", "the tests of the bundled skills pass", skills::test).about_file("skills"),
    Step::new("deny", "licenses, duplicates and sources of dependencies", deny),
    Step::new("engines", "the container engines run the test images", engines::check)
        .with_engines(),
    Step::new("clippy", "neither the compiler nor clippy complains", |project| {
        cargo(project, "clippy --workspace --all-targets -- -D warnings")
    }),
    Step::new(BUILD, "binaries and tests compile", |project| {
        cargo(project, "build --workspace --bins --tests")
    }),
    Step::new("tests", "unit and integration tests pass", tests).after_build().with_engines(),
    Step::new("doctests", "the examples in the documentation work", |project| {
        cargo(project, "test --workspace --doc")
    })
    .after_build(),
    Step::new(
        "cli-reference",
        "the pages in docs/ are up to date and their links lead somewhere",
        |project| docs::check(project).map(|()| Outcome::Passed),
    )
    .after_build(),
    Step::new("doc", "the documentation builds without warnings", |project| {
        run(project.cargo("doc --workspace --no-deps").env("RUSTDOCFLAGS", "-D warnings"))
    }),
    Step::new("fuzz-check", "the fuzz targets compile", |project| {
        cargo(project, "check --manifest-path fuzz/Cargo.toml")
    })
    .about_file("fuzz/Cargo.toml"),
];

/// The steps to run, in the order of the table: those in `only`, or all when it is empty.
///
/// Asking for a step by a name that does not exist, or for one that has nothing to check here, is
/// an error; without being asked for, the latter is left out.
pub(super) fn select<'a>(
    steps: &'a [Step],
    only: &[String],
    project: &Project,
) -> Result<Vec<&'a Step>> {
    for name in only {
        let Some(step) = steps.iter().find(|step| step.name == name) else {
            let known = steps.iter().map(|step| step.name).collect::<Vec<_>>();
            bail!("there is no step `{name}`; the steps are {}", known.join(", "));
        };
        if let Some(subject) = step.missing(project) {
            bail!("`{name}` has nothing to check: there is no `{subject}`");
        }
    }
    let asked = |step: &Step| only.is_empty() || only.iter().any(|name| name == step.name);
    Ok(steps.iter().filter(|step| asked(step) && step.missing(project).is_none()).collect())
}

fn cargo(project: &Project, arguments: &str) -> Result<Outcome> {
    run(&mut project.cargo(arguments))
}

/// Runs a command with its output going straight through.
fn run(command: &mut Command) -> Result<Outcome> {
    println!("$ {}", shown(command));
    let status = command.status()?;
    Ok(if status.success() { Outcome::Passed } else { Outcome::Failed(status.to_string()) })
}

/// Without nextest, `--tests` keeps benchmarks with a harness of their own from being run as tests.
fn tests(project: &Project) -> Result<Outcome> {
    if project.find("cargo-nextest").is_some() {
        cargo(project, "nextest run --workspace --no-fail-fast")
    } else {
        cargo(project, "test --workspace --tests --no-fail-fast")
    }
}

fn deny(project: &Project) -> Result<Outcome> {
    let Some(program) = project.find("cargo-deny") else {
        let remedy = "`cargo-deny` is not installed; `cargo xtask test --provision` installs it";
        return Ok(Outcome::Skipped(remedy.to_owned()));
    };
    run(project.command(program).args(["check", "licenses", "bans", "sources"]))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn selected(only: &[&str]) -> String {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("skills")).unwrap();
        let project = Project::at(folder.path().into(), OsString::new());
        let only = only.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        match select(STEPS, &only, &project) {
            Ok(steps) => steps.iter().map(|step| step.name).collect::<Vec<_>>().join(" "),
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn everything_runs_except_what_has_no_subject_here() {
        insta::assert_snapshot!(
            selected(&[]),
            @"fmt arrows skills deny engines clippy build tests doctests cli-reference doc"
        );
    }

    #[test]
    fn the_order_is_that_of_the_table_whatever_was_asked() {
        insta::assert_snapshot!(selected(&["tests", "fmt", "tests"]), @"fmt tests");
    }

    #[test]
    fn an_unknown_step_is_refused_with_the_known_ones() {
        insta::assert_snapshot!(
            selected(&["test"]),
            @"error: there is no step `test`; the steps are fmt, arrows, skills, deny, engines, clippy, build, tests, doctests, cli-reference, doc, fuzz-check"
        );
    }

    #[test]
    fn asking_for_a_step_without_a_subject_is_refused() {
        insta::assert_snapshot!(
            selected(&["fuzz-check"]),
            @"error: `fuzz-check` has nothing to check: there is no `fuzz/Cargo.toml`"
        );
    }

    #[test]
    fn a_step_waits_only_for_an_earlier_one() {
        for (position, step) in STEPS.iter().enumerate() {
            let Some(awaited) = step.after else { continue };
            let earlier = STEPS.iter().position(|other| other.name == awaited);
            assert!(earlier.is_some_and(|earlier| earlier < position), "{}", step.name);
        }
    }

    #[test]
    fn no_two_steps_share_a_name() {
        for step in STEPS {
            assert_eq!(STEPS.iter().filter(|other| other.name == step.name).count(), 1);
        }
    }
}
