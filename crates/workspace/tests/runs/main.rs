//! Runs: what they are asked, what they answer, and what they must never do.
//!
//! The test binary is the sandbox's helper too, so it has a `main` of its own.

mod attack;
mod bench;
mod container;
mod custom;
mod examples;
mod files;
mod keys;
mod lesser;
mod manners;
mod network;
mod promises;
mod sessions;
mod spans;

use libtest_mimic::{Arguments, Failed, Trial};
use metier_sandbox::unprivileged_owner;
use metier_testkit::{Surroundings, run_as_ordinary_user};

use crate::bench::{Bench, Who};

/// Something that holds whoever runs the command.
type Promise = (&'static str, fn(&Bench) -> Result<(), Failed>);

/// What every executor keeps.
const COMMON: &[&[Promise]] = &[
    examples::PROMISES,
    promises::PROMISES,
    manners::PROMISES,
    files::PROMISES,
    keys::PROMISES,
    network::PROMISES,
    sessions::PROMISES,
    spans::PROMISES,
];

fn main() {
    metier_sandbox::helper();
    spans::want_all();
    let arguments = Arguments::from_args();
    if let Some(surroundings) = Surroundings::here() {
        libtest_mimic::run(&arguments, attack::trials_in(surroundings)).exit();
    }
    let mut trials = Vec::new();
    for who in Who::ALL.into_iter().chain([Who::Custom]) {
        if !who.is_there() {
            trials.push(Trial::test(format!("{who}::is_there"), move || skip(who)));
            continue;
        }
        let own: &[&[Promise]] = match who {
            Who::Docker | Who::Podman => &[container::PROMISES],
            Who::Custom => &[custom::PROMISES],
            Who::Sandbox | Who::Host => &[],
        };
        for (name, promise) in COMMON.iter().chain(own).copied().flatten() {
            trials.push(Trial::test(format!("{who}::{name}"), move || promise(&Bench::new(who))));
        }
        trials.extend(attack::trials(who));
    }
    trials.push(attack::page_trial());
    trials.extend(lesser::trials());
    if unprivileged_owner().is_some() {
        // The sources may be somebody else's.
        let again = || Ok(run_as_ordinary_user(&["the_page_is_up_to_date"])?);
        trials.push(Trial::test("as_an_ordinary_user", again));
        trials.extend(attack::surrounded());
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// Says that nothing could be run by an engine.
fn skip(who: Who) -> Result<(), Failed> {
    let reason = format!("{} names no engine", who.variable().unwrap_or_default());
    metier_testkit::skip(&format!("runs in {who}"), &reason);
    Ok(())
}
