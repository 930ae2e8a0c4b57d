//! What the sandbox promises, tried by programs that do not want to keep it.
//!
//! The test binary is its own helper, so it has a `main` of its own. As root it also runs itself as
//! an ordinary user, for whom everything works differently underneath.

mod bench;
mod doctor;
mod escapes;
mod files;
mod keeper;
mod limits;
mod memory;
mod network;
mod others;
mod pins;
mod planning;
mod plans;
mod processes;
mod terminals;

use libtest_mimic::{Arguments, Failed, Trial};
use metier_sandbox::{Level, unprivileged_owner};
use metier_testkit::{Surroundings, TestUser, run_as_ordinary_user, run_as_root_of_a_container};

/// A promise that holds at some levels.
type Promise = (&'static str, fn(Level) -> Result<(), Failed>, &'static [Level]);

const CONFINED: &[Level] = &[Level::Full, Level::Landlock];
const ALL: &[Level] = &[Level::Full, Level::Landlock, Level::None];
const FULL: &[Level] = &[Level::Full];
const NONE: &[Level] = &[Level::None];

fn main() {
    metier_sandbox::helper();
    processes::victim();
    keeper::try_alone();
    let arguments = Arguments::from_args();
    let promises = [
        doctor::PROMISES,
        escapes::PROMISES,
        files::PROMISES,
        keeper::PROMISES,
        limits::PROMISES,
        memory::PROMISES,
        network::PROMISES,
        others::PROMISES,
        pins::PROMISES,
        plans::PROMISES,
        processes::PROMISES,
        terminals::PROMISES,
    ];
    let mut trials: Vec<Trial> = Vec::new();
    for (name, promise, levels) in promises.into_iter().flatten() {
        for &level in *levels {
            trials.push(Trial::test(format!("{level}::{name}"), move || promise(level)));
        }
    }
    if unprivileged_owner().is_some() && Surroundings::here().is_none() {
        trials.push(Trial::test("as_an_ordinary_user", || Ok(run_as_ordinary_user(&[])?)));
        // Root has control groups, that user has none; the other way round memory is to be tried as well.
        let is_swapped = |it: &Surroundings| (it.user == TestUser::Root) != it.has_groups;
        for surroundings in Surroundings::all().filter(|it| it.has_namespaces && is_swapped(it)) {
            let again = move || Ok(surroundings.run("memory_")?);
            trials.push(Trial::test(format!("memory_{surroundings}"), again));
        }
        let in_container = || Ok(run_as_root_of_a_container("landlock::")?);
        trials.push(Trial::test("as_root_of_a_container", in_container));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
