//! What tests say about themselves when they cannot run.
//!
//! A test that needs something this machine does not have must not pass in
//! silence. It writes a line `SKIPPED: <test>: <reason>` to its standard error,
//! for whoever watches, and appends the same line to the file named by
//! [`VARIABLE`], because test runners hide what passing tests print.

use std::fmt;

/// The environment variable with the name of the file.
pub(super) const VARIABLE: &str = "METIER_TEST_SKIPS";

const MARK: &str = "SKIPPED:";

/// A test that did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Skip {
    pub(super) test: String,
    pub(super) reason: String,
}

impl fmt::Display for Skip {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.test, self.reason)
    }
}

/// Says that a test of this tool could not run.
#[cfg(test)]
pub(crate) fn say(test: &str, reason: &str) {
    let line = format!("{MARK} {test}: {reason}\n");
    eprint!("{line}");
    if let Some(file) = std::env::var_os(VARIABLE) {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(file);
        std::io::Write::write_all(&mut file.unwrap(), line.as_bytes()).unwrap();
    }
}

/// Reads the file: a skip per line that is not empty.
///
/// A line of another form is kept whole, as a skip without a name: whatever was written there was
/// meant to be seen.
pub(super) fn parse(text: &str) -> Vec<Skip> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(skip).collect()
}

fn skip(line: &str) -> Skip {
    let named = line
        .strip_prefix(MARK)
        // The name of a test has colons of its own, `module::test`, but none before a blank.
        .and_then(|rest| rest.trim().split_once(": "))
        .map(|(test, reason)| (test.trim(), reason.trim()))
        .filter(|(test, reason)| !test.is_empty() && !reason.is_empty());
    let (test, reason) = named.unwrap_or(("(unnamed)", line));
    Skip { test: test.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(text: &str) -> String {
        parse(text)
            .iter()
            .map(|skip| format!("{} | {}\n", skip.test, skip.reason))
            .collect::<String>()
    }

    #[test]
    fn a_line_is_a_test_and_a_reason() {
        insta::assert_snapshot!(
            outcome("SKIPPED: net::tls::rejects_expired: no route: offline\n"),
            @"net::tls::rejects_expired | no route: offline"
        );
    }

    #[test]
    fn empty_lines_are_nothing() {
        insta::assert_snapshot!(outcome("\n  \nSKIPPED: a: b\r\n\n"), @"a | b");
    }

    #[test]
    fn a_line_of_another_form_is_kept_whole() {
        insta::assert_snapshot!(
            outcome("SKIPPED: a test without a reason\nnoise\nSKIPPED: name:\n"),
            @"
        (unnamed) | SKIPPED: a test without a reason
        (unnamed) | noise
        (unnamed) | SKIPPED: name:
        "
        );
    }

    #[test]
    fn an_empty_file_has_no_skips() {
        assert_eq!(parse(""), []);
    }
}
