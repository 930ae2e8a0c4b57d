//! Runs: what they are asked, what they answer, and what they must never do.
//!
//! The test binary is the sandbox's helper too, so it has a `main` of its own.

mod attacks;
mod bench;
mod examples;
mod links;
mod power;
mod sessions;
mod user;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::bench::{Bench, Who};

/// Something that holds whoever runs the command.
type Promise = (&'static str, fn(&Bench) -> Result<(), Failed>);

/// All of them.
const PROMISES: &[&[Promise]] =
    &[examples::PROMISES, attacks::PROMISES, links::PROMISES, power::PROMISES, sessions::PROMISES];

fn main() {
    metier_sandbox::helper();
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for who in Who::all() {
        for (name, promise) in PROMISES.iter().copied().flatten() {
            trials.push(Trial::test(format!("{who}::{name}"), move || promise(&Bench::new(who))));
        }
    }
    trials.extend(user::trial());
    libtest_mimic::run(&arguments, trials).exit();
}
