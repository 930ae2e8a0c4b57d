//! Turns of an agent with a scripted model, real skills and a real sandbox.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod abandoned;
mod answers;
mod bench;
mod chance;
mod direct;
mod flows;
mod foreign;
mod host;
mod lasting;
mod offline;
mod own;
mod prefix;
mod repositories;
mod resume;
mod sets;
mod strangers;
mod trusted;
mod visits;
mod visits_files;
mod visits_host;
mod visits_runs;

use libtest_mimic::{Arguments, Failed, Trial};

/// A test.
type Test = (&'static str, fn() -> Result<(), Failed>);

fn main() {
    metier_sandbox::helper();
    let arguments = Arguments::from_args();
    let tests = [
        abandoned::TESTS,
        answers::TESTS,
        chance::TESTS,
        direct::TESTS,
        flows::TESTS,
        foreign::TESTS,
        host::TESTS,
        lasting::TESTS,
        offline::TESTS,
        own::TESTS,
        prefix::TESTS,
        repositories::TESTS,
        resume::TESTS,
        sets::TESTS,
        strangers::TESTS,
        trusted::TESTS,
        visits::TESTS,
        visits_files::TESTS,
        visits_host::TESTS,
        visits_runs::TESTS,
    ];
    let tests = match metier_testkit::is_without_sandbox() {
        true => strangers::WITHOUT_SANDBOX.to_vec(),
        false => tests.concat(),
    };
    let trials = tests.into_iter().map(|(name, test)| Trial::test(name, test)).collect();
    libtest_mimic::run(&arguments, trials).exit();
}
