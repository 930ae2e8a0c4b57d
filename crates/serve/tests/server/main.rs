//! The server, talked to by lines of JSON as a client would, with real skills and a real sandbox.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bench;
mod calls;
mod changing;
mod extension;
mod listing;
mod reading;

use libtest_mimic::{Arguments, Failed, Trial};

/// A test.
type Test = (&'static str, fn() -> Result<(), Failed>);

fn main() {
    metier_sandbox::helper();
    let arguments = Arguments::from_args();
    let tests = [calls::TESTS, changing::TESTS, extension::TESTS, listing::TESTS, reading::TESTS];
    let trials =
        tests.iter().copied().flatten().map(|(name, test)| Trial::test(*name, *test)).collect();
    libtest_mimic::run(&arguments, trials).exit();
}
