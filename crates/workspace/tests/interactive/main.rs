//! Interactive sessions, in the sandbox and on the host.
//!
//! The test binary is the sandbox's helper too, so it has a `main` of its own.

mod bench;
mod bounds;
mod manners;
mod talks;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::bench::{Bench, Who};

/// Something that holds whoever runs the command.
type Promise = (&'static str, fn(&Bench) -> Result<(), Failed>);

fn main() {
    metier_sandbox::helper();
    let arguments = Arguments::from_args();
    let together = libtest_mimic::run(
        &arguments,
        trials(&[talks::PROMISES, manners::PROMISES, bounds::PROMISES]),
    );
    // What a process has is counted when nothing else goes on in it.
    let alone = Arguments { test_threads: Some(1), ..arguments };
    let counted = libtest_mimic::run(&alone, trials(&[bounds::COUNTED]));
    together.exit_if_failed();
    counted.exit();
}

fn trials(promises: &[&[Promise]]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for who in [Who::Sandbox, Who::Host] {
        for &(name, promise) in promises.iter().copied().flatten() {
            trials.push(Trial::test(format!("{who}::{name}"), move || promise(&Bench::new(who))));
        }
    }
    trials
}
