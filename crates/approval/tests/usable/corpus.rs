//! How much of what agents type all day runs unasked, once a person listed the programs.

use std::collections::BTreeSet;

use metier_approval::{Action, parse};

use crate::machine::{Machine, decide, policy};

/// What agents type.
const COMMANDS: &str = include_str!("corpus.txt");
/// How many of a hundred must be allowed.
const ENOUGH: usize = 80;
/// How many there must be, so that the share says something.
const MANY: usize = 150;

/// The names of the programs that a command starts; none if it cannot be read.
fn programs(command: &str) -> BTreeSet<String> {
    let Ok(plan) = parse(command) else { return BTreeSet::new() };
    let runs = plan.steps.into_iter().filter_map(|step| match step.action {
        Action::Run(programs) => Some(programs),
        Action::Enter(_) => None,
    });
    // Behind wrappers, too: whoever lists `timeout` lists what it starts.
    runs.flatten().flat_map(|simple| simple.words).filter(|word| is_name(word)).collect()
}

fn is_name(word: &str) -> bool {
    !word.is_empty()
        && word.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '-')
        && !word.starts_with('-')
}

/// Whether a command is allowed where all its programs are there and listed, by their names and for the project.
fn is_allowed(command: &str) -> Result<(), String> {
    let mut machine = Machine::new();
    let mut entries = Vec::new();
    for name in programs(command) {
        let path = format!("/usr/bin/{name}");
        machine.programs.entry(path.clone().into()).or_insert_with(|| path.into());
        entries.extend([name.clone(), format!("{name} --dir /proj")]);
    }
    machine.files.insert("/proj/names.txt".into(), "/proj/names.txt".into());
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let verdict = decide(command, &machine, &policy(&entries));
    if verdict.starts_with("allow: ") { Ok(()) } else { Err(verdict) }
}

#[test]
#[expect(clippy::print_stdout, reason = "the share, and what is refused, is worth a look")]
fn four_of_five_everyday_commands_are_allowed_once_listed() {
    let commands: Vec<&str> = COMMANDS
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let refused: Vec<String> = commands
        .iter()
        .filter_map(|command| is_allowed(command).err().map(|why| format!("{command}\n  {why}")))
        .collect();
    let allowed = commands.len() - refused.len();
    let share = allowed * 100 / commands.len();
    println!("{allowed} of {} allowed, {share}%\n{}", commands.len(), refused.join("\n"));
    assert!(commands.len() >= MANY, "{} commands", commands.len());
    let different: BTreeSet<&&str> = commands.iter().collect();
    assert_eq!(different.len(), commands.len(), "a command is counted once");
    assert!(share >= ENOUGH, "{allowed} of {}:\n{}", commands.len(), refused.join("\n"));
}
