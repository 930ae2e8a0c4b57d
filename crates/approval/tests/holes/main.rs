//! Holes that approvals of commands have had elsewhere, each closed here.
//!
//! Entries are as generous as somebody might make them, so that what is refused is refused by the rule that the test is
//! named after.

mod bound;
mod commands;
mod destinations;
mod filters;
#[path = "../machine/mod.rs"]
mod machine;
mod moves;
mod orders;
mod programs;
mod starters;
mod unknown;
mod uses;
mod values;
mod wrappers;

use std::path::Path;

use metier_approval::Policy;

/// Everything by name and by path.
fn generous() -> Policy {
    machine::policy(&["*", "/**", "ls", "cat"])
}

/// Decides about a command whose program is there and has an entry that says nothing about arguments.
fn with_bare_entry(command: &str) -> String {
    let name = command.split(' ').next().unwrap_or_default();
    let mut machine = machine::Machine::new();
    let path = format!("/usr/bin/{name}");
    if !machine.programs.contains_key(Path::new(&path)) {
        machine.link(&path, &path);
    }
    machine::decide(command, &machine, &machine::policy(&[name]))
}

fn assert_covered(commands: &[&str]) {
    for command in commands {
        let verdict = with_bare_entry(command);
        assert!(verdict.starts_with("allow: "), "{command}: {verdict}");
    }
}

fn assert_not_covered(commands: &[&str]) {
    for command in commands {
        let verdict = with_bare_entry(command);
        assert!(verdict.contains("is not covered by the entry"), "{command}: {verdict}");
    }
}
