//! Trials of promises: they tell what is kept from what is not, and from what was never tried.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use libtest_mimic::Failed;
use metier_sandbox::doctor::{Bounds, Place, Verdict, try_promises};
use metier_sandbox::{Access, Level, Network};

use crate::bench::Bench;
use crate::{CONFINED, FULL, NONE, Promise};

pub(crate) const PROMISES: &[Promise] = &[
    ("trials_find_every_promise_kept", every_promise_is_kept, CONFINED),
    ("trials_of_an_unconfined_program_find_promises_broken", unconfined, NONE),
    ("trials_with_looser_bounds_find_promises_broken", looser_bounds, CONFINED),
    ("a_limit_of_processes_that_is_exceeded_is_not_kept", exceeded_processes, FULL),
    ("trials_without_tools_are_none", without_tools, CONFINED),
    ("trials_without_a_target_are_none", without_a_target, FULL),
];

/// Where anybody could read and write, were it not for the sandbox.
fn place(bench: &Bench) -> Result<Place, Failed> {
    let private = bench.path("private");
    fs::set_permissions(&private, fs::Permissions::from_mode(0o777))?;
    Ok(Place::new(&bench.path("work"), &private))
}

/// One word for each promise.
fn verdicts(place: &Place, level: Level, bounds: Bounds) -> Vec<(&'static str, &'static str)> {
    let trials = try_promises(place, level, bounds).into_iter();
    let words = trials.map(|trial| {
        let word = match &trial.verdict {
            Verdict::Kept => "kept",
            Verdict::Broken(_) => "broken",
            Verdict::Untried(_) => "untried",
        };
        (trial.promise, word)
    });
    words.collect()
}

fn every_promise_is_kept(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let trials = try_promises(&place(&bench)?, level, Bounds::PROMISED);
    assert!(trials.iter().all(|trial| trial.verdict == Verdict::Kept), "{trials:?}");
    assert_eq!(trials.len(), 11);
    let left = fs::read_dir(bench.path("private"))?.count();
    assert_eq!(left, 1, "nothing was left in the private folder");
    Ok(())
}

fn unconfined(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let found = verdicts(&place(&bench)?, level, Bounds::PROMISED);
    assert_eq!(
        found,
        [
            ("cannot read the home directory", "broken"),
            ("cannot write outside its folder", "broken"),
            ("cannot connect", "broken"),
            ("cannot see other processes", "broken"),
            ("cannot gain rights", "broken"),
            // Limits hold for everybody.
            ("memory is bounded", "kept"),
            ("memory of all processes is bounded", "kept"),
            ("shared memory is bounded", "kept"),
            ("cannot fork past the limit", "kept"),
            ("cannot fill the disk", "kept"),
            ("ends when its helper is killed", "kept"),
        ]
    );
    let left = fs::read_dir(bench.path("private"))?.count();
    assert_eq!(left, 1, "what an attack wrote is removed");
    Ok(())
}

fn looser_bounds(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    // Not below the temporary folder, of which programs have their own.
    let private = tempfile::tempdir_in("/var/tmp")?;
    fs::set_permissions(&private, fs::Permissions::from_mode(0o777))?;
    let place = Place::new(&bench.path("work"), private.path());
    let bounds = Bounds {
        private: Some(Access::Write),
        network: Network::Host,
        memory: 1 << 30,
        processes: 1000,
        disk: 1 << 30,
    };
    let mut found = verdicts(&place, level, bounds);
    found.retain(|(_, verdict)| *verdict == "broken");
    let promises: Vec<&str> = found.into_iter().map(|(promise, _)| promise).collect();
    assert_eq!(
        promises,
        [
            "cannot read the home directory",
            "cannot write outside its folder",
            "cannot connect",
            "memory is bounded",
            "memory of all processes is bounded",
            "shared memory is bounded",
            "cannot fork past the limit",
            "cannot fill the disk",
        ]
    );
    Ok(())
}

/// More processes than were promised, and fewer than a shell starts that is not stopped.
fn exceeded_processes(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let bounds = Bounds { processes: Bounds::PROMISED.processes + 20, ..Bounds::PROMISED };
    // Where the kernel counts by user, other tests have processes that could make room.
    let is_told = || -> Result<bool, Failed> {
        let found = verdicts(&place(&bench)?, level, bounds);
        Ok(found.contains(&("cannot fork past the limit", "broken")))
    };
    assert!(is_told()? || is_told()? || is_told()?);
    Ok(())
}

/// With nothing but a shell most attacks fail by themselves, which shows nothing.
fn without_tools(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    symlink("/bin/sh", bench.path("work/sh"))?;
    let place = Place { path: bench.work().display().to_string(), ..place(&bench)? };
    let mut found = verdicts(&place, level, Bounds::PROMISED);
    found.retain(|(_, verdict)| *verdict != "untried");
    assert_eq!(found, [("memory is bounded", "kept")]);
    Ok(())
}

fn without_a_target(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let place = Place { private: bench.path("nowhere"), ..place(&bench)? };
    let found = verdicts(&place, level, Bounds::PROMISED);
    let expected = [
        ("cannot read the home directory", "untried"),
        ("cannot write outside its folder", "untried"),
    ];
    assert_eq!(found[..2], expected);
    Ok(())
}
