//! Connections to other servers: good ones, bad ones, and what is left of them.
//!
//! The test binary is the sandbox's helper too, so it has a `main` of its own.

mod bench;
mod ends;
mod manners;
mod strangers;
mod web;

use libtest_mimic::{Arguments, Trial};

fn main() {
    metier_sandbox::helper();
    ends::victim();
    let arguments = Arguments::from_args();
    let promises = [ends::PROMISES, manners::PROMISES, strangers::PROMISES, web::PROMISES];
    let trial = |(name, promise): &bench::Promise| Trial::test(*name, *promise);
    let trials = promises.into_iter().flatten().map(trial).collect();
    libtest_mimic::run(&arguments, trials).exit();
}
