//! What a test run is given from outside, and what it gives back.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

/// The folder of skills that other people wrote, named by `METIER_TEST_CORPUS`.
///
/// They are no part of the project and nothing installs them, so going without is not a skip, which
/// would fail the test command on every checkout that stands alone. The report names what was not tried.
pub fn corpus(test: &str) -> Option<PathBuf> {
    let folder = env::var_os("METIER_TEST_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        report(test, "not tried, because METIER_TEST_CORPUS names no folder of skills");
    }
    folder
}

/// Says that a test could not run. The test command counts it, and CI fails on it.
#[expect(clippy::print_stderr, reason = "a person who runs one test should see it")]
pub fn skip(test: &str, reason: &str) {
    let line = format!("SKIPPED: {test}: {reason}\n");
    eprint!("{line}");
    append("METIER_TEST_SKIPS", &line);
}

/// Says what a test measured, so that it is seen when the test passes too.
#[expect(clippy::print_stdout, reason = "a person who runs one test should see it")]
pub fn report(test: &str, text: &str) {
    let text = format!("{test}: {text}\n");
    print!("{text}");
    append("METIER_TEST_REPORTS", &text);
}

/// One write, so that tests in several processes do not mix their lines.
fn append(variable: &str, text: &str) {
    let Some(file) = env::var_os(variable) else { return };
    let appended = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&file)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    appended.expect("the test command made this file");
}
