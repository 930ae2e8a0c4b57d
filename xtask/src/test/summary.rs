//! How a run ended: outcomes of steps, the table, the closing line, the verdict.

use std::fmt::Write;
use std::time::Duration;

use super::skips::Skip;

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything it checks is as it should be.
    Passed,
    /// Something is wrong.
    Failed(String),
    /// It could not run.
    Skipped(String),
}

/// A step that is over.
#[derive(Clone, Debug)]
pub(super) struct Finished {
    pub(super) step: &'static str,
    pub(super) outcome: Outcome,
    pub(super) elapsed: Duration,
}

/// A whole run.
#[derive(Debug)]
pub(super) struct Summary {
    /// The steps, in the order they ran.
    pub(super) steps: Vec<Finished>,
    /// Tests inside the steps that did not run.
    pub(super) skips: Vec<Skip>,
    /// Whether a skip is as bad as a failure.
    pub(super) skips_fail: bool,
}

impl Summary {
    /// Whether the run as a whole is a success.
    pub(super) fn is_success(&self) -> bool {
        let counts = self.counts();
        counts.failed == 0 && (counts.skipped == 0 || !self.skips_fail)
    }

    /// The table of the steps, the tests that did not run, and as the last line the counts.
    pub(super) fn render(&self) -> String {
        let mut text = format!("{:<14} {:<8} {:>8}  note\n", "step", "result", "seconds");
        for step in &self.steps {
            text.push_str(row(step).trim_end());
            text.push('\n');
        }
        if !self.skips.is_empty() {
            text.push_str("\ntests that did not run\n");
            for skip in &self.skips {
                let _infallible = writeln!(text, "  {skip}");
            }
        }
        let counts = self.counts();
        if counts.skipped > 0 && self.skips_fail {
            text.push_str(
                "\nhere a skip counts as a failure: what was skipped must be made to run\n",
            );
        }
        let Counts { passed, failed, skipped } = counts;
        let _infallible = writeln!(text, "\n{passed} passed, {failed} failed, {skipped} skipped");
        text
    }

    fn counts(&self) -> Counts {
        let count = |wanted: fn(&Outcome) -> bool| {
            self.steps.iter().filter(|step| wanted(&step.outcome)).count()
        };
        Counts {
            passed: count(|outcome| matches!(outcome, Outcome::Passed)),
            failed: count(|outcome| matches!(outcome, Outcome::Failed(_))),
            skipped: count(|outcome| matches!(outcome, Outcome::Skipped(_))) + self.skips.len(),
        }
    }
}

/// Steps by how they ended; tests that did not run are among the skipped.
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
}

fn row(finished: &Finished) -> String {
    let (result, note) = match &finished.outcome {
        Outcome::Passed => ("ok", ""),
        Outcome::Failed(reason) => ("failed", reason.as_str()),
        Outcome::Skipped(reason) => ("skipped", reason.as_str()),
    };
    let seconds = finished.elapsed.as_secs_f64();
    format!("{:<14} {result:<8} {seconds:>8.1}  {note}", finished.step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(step: &'static str, outcome: Outcome, tenths: u64) -> Finished {
        Finished { step, outcome, elapsed: Duration::from_millis(tenths * 100) }
    }

    fn mixed() -> Summary {
        Summary {
            steps: vec![
                finished("fmt", Outcome::Passed, 8),
                finished("clippy", Outcome::Failed("exit status: 101".into()), 1234),
                finished("deny", Outcome::Skipped("`cargo-deny` is not installed".into()), 0),
            ],
            skips: vec![Skip { test: "a::b".into(), reason: "no kernel support".into() }],
            skips_fail: false,
        }
    }

    #[test]
    fn the_table_ends_in_the_counts() {
        insta::assert_snapshot!(mixed().render(), @"
        step           result    seconds  note
        fmt            ok            0.8
        clippy         failed      123.4  exit status: 101
        deny           skipped       0.0  `cargo-deny` is not installed

        tests that did not run
          a::b: no kernel support

        1 passed, 1 failed, 2 skipped
        ");
        assert!(mixed().render().ends_with("\n1 passed, 1 failed, 2 skipped\n"));
    }

    #[test]
    fn a_run_without_trouble_is_short() {
        let summary = Summary {
            steps: vec![finished("fmt", Outcome::Passed, 8)],
            skips: Vec::new(),
            skips_fail: true,
        };
        insta::assert_snapshot!(summary.render(), @"
        step           result    seconds  note
        fmt            ok            0.8

        1 passed, 0 failed, 0 skipped
        ");
        assert!(summary.is_success());
    }

    #[test]
    fn a_failure_is_never_a_success() {
        assert!(!mixed().is_success());
    }

    #[test]
    fn a_skipped_step_fails_only_where_skips_do() {
        let mut summary = mixed();
        summary.steps.remove(1);
        summary.skips.clear();
        assert!(summary.is_success());
        summary.skips_fail = true;
        assert!(!summary.is_success());
    }

    #[test]
    fn a_skipped_test_fails_where_skips_do_and_the_reader_is_told() {
        let mut summary = mixed();
        summary.steps.truncate(1);
        summary.skips_fail = true;
        assert!(!summary.is_success());
        insta::assert_snapshot!(summary.render(), @"
        step           result    seconds  note
        fmt            ok            0.8

        tests that did not run
          a::b: no kernel support

        here a skip counts as a failure: what was skipped must be made to run

        1 passed, 0 failed, 1 skipped
        ");
    }
}
