//! Runs the steps and reports.
//!
//! A step that fails does not stop the others: one run shows everything that is
//! wrong. Only what waits for a step that failed is skipped.

use std::fs;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::skips;
use super::steps::{STEPS, Step, select};
use super::summary::{Finished, Outcome, Summary};
use crate::engines::{self, Engines};
use crate::project::Project;
use crate::{node, provision};

/// What `cargo xtask test` was asked to do.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// First install what the steps need (Debian, as root); a skip is then a failure
    #[arg(long)]
    provision: bool,
    /// Run only this step; may be given several times
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Print the steps and what each makes sure of, and run nothing
    #[arg(long)]
    list: bool,
}

/// The variable with the name of the file to which tests append what they measured, because test
/// runners hide what passing tests print.
const REPORTS: &str = "METIER_TEST_REPORTS";

/// Does what the options ask for. The exit code says whether the run was a success.
pub(crate) fn run(mut project: Project, options: &Options) -> Result<ExitCode> {
    let steps = select(STEPS, &options.only, &project)?;
    if options.list {
        print!("{}", list(&steps));
        return Ok(ExitCode::SUCCESS);
    }
    let skips = tempfile::NamedTempFile::new().context("cannot create a file for skips")?;
    project.set(skips::VARIABLE, skips.path());
    let reports = tempfile::NamedTempFile::new().context("cannot create a file for reports")?;
    project.set(REPORTS, reports.path());

    let mut finished = Vec::new();
    let mut engines = None;
    let uses_engines = steps.iter().any(|step| step.uses_engines);
    if options.provision {
        finished.push(timed("provision", || {
            provision::run(&project)?;
            engines = uses_engines.then(|| Engines::start(&mut project)).transpose()?;
            Ok(Outcome::Passed)
        }));
    } else if uses_engines {
        engines::find(&mut project);
    }
    node::find(&mut project);
    run_all(&steps, &project, &mut finished);
    drop(engines);

    let skipped = fs::read_to_string(skips.path()).context("cannot read the file for skips")?;
    let summary = Summary {
        steps: finished,
        skips: skips::parse(&skipped),
        skips_fail: options.provision || project.unattended,
    };
    let measured =
        fs::read_to_string(reports.path()).context("cannot read the file for reports")?;
    print!("\n{measured}\n{}", summary.render());
    std::io::stdout().flush()?;
    Ok(if summary.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run_all(steps: &[&Step], project: &Project, finished: &mut Vec<Finished>) {
    for step in steps {
        let next = match obstacle(step, finished) {
            Some(outcome) => Finished { step: step.name, outcome, elapsed: Duration::ZERO },
            None => timed(step.name, || (step.run)(project)),
        };
        finished.push(next);
    }
}

/// Why a step cannot run: the one it waits for did not pass.
fn obstacle(step: &Step, finished: &[Finished]) -> Option<Outcome> {
    let awaited = finished.iter().find(|earlier| Some(earlier.step) == step.after)?;
    let reason = match awaited.outcome {
        Outcome::Passed => return None,
        Outcome::Failed(_) => "failed",
        Outcome::Skipped(_) => "was skipped",
    };
    Some(Outcome::Skipped(format!("`{}` {reason}", awaited.step)))
}

fn timed(step: &'static str, run: impl FnOnce() -> Result<Outcome>) -> Finished {
    println!("\n=== {step}");
    let start = Instant::now();
    let outcome = run().unwrap_or_else(|error| {
        println!("error: {error:#}");
        Outcome::Failed(format!("{error:#}"))
    });
    Finished { step, outcome, elapsed: start.elapsed() }
}

fn list(steps: &[&Step]) -> String {
    steps.iter().map(|step| format!("{:<14} {}\n", step.name, step.about)).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    const fn step(name: &'static str, after: Option<&'static str>) -> Step {
        let run: fn(&Project) -> Result<Outcome> = |_| Ok(Outcome::Passed);
        Step { name, about: "", subject: None, after, uses_engines: false, run }
    }

    /// What becomes of `steps`, a line each, without the time.
    fn ran(steps: &[Step]) -> String {
        let project = Project::at("/nowhere".into(), OsString::new());
        let mut finished = Vec::new();
        run_all(&steps.iter().collect::<Vec<_>>(), &project, &mut finished);
        let lines = finished.iter().map(|step| format!("{}: {:?}\n", step.step, step.outcome));
        lines.collect()
    }

    #[test]
    fn a_failure_does_not_stop_steps_that_do_not_wait_for_it() {
        let fmt =
            Step { run: |_| Ok(Outcome::Failed("exit status: 1".into())), ..step("fmt", None) };
        insta::assert_snapshot!(ran(&[fmt, step("arrows", None)]), @r#"
        fmt: Failed("exit status: 1")
        arrows: Passed
        "#);
    }

    #[test]
    fn steps_that_wait_for_a_failed_one_are_skipped() {
        let build = Step { run: |_| anyhow::bail!("no compiler"), ..step("build", None) };
        let steps = [build, step("tests", Some("build")), step("deny", None)];
        insta::assert_snapshot!(ran(&steps), @r#"
        build: Failed("no compiler")
        tests: Skipped("`build` failed")
        deny: Passed
        "#);
    }

    #[test]
    fn a_step_may_run_without_the_one_it_waits_for() {
        insta::assert_snapshot!(ran(&[step("tests", Some("build"))]), @"tests: Passed");
    }

    #[test]
    fn the_list_says_what_each_step_makes_sure_of() {
        insta::assert_snapshot!(list(&STEPS.iter().collect::<Vec<_>>()), @"
        fmt            the code is formatted
        arrows         crates use each other as the architecture allows
        skills         the tests of the bundled skills pass
        deny           licenses, duplicates and sources of dependencies
        engines        the container engines run the test images
        clippy         neither the compiler nor clippy complains
        build          binaries and tests compile
        tests          unit and integration tests pass
        doctests       the examples in the documentation work
        cli-reference  the pages in docs/ are up to date and their links lead somewhere
        doc            the documentation builds without warnings
        fuzz-check     the fuzz targets compile
        ");
    }
}
