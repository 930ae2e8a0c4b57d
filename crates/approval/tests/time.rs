//! Commands and lists that are made to take long to judge.
//!
//! Bounds are generous: what they keep out took many times as long, and grew with the product of command and list.

mod machine;

use std::path::Path;
use std::time::{Duration, Instant};

use machine::{Machine, START, policy, render};
use metier_approval::{Policy, judge, parse};

const LONGEST: Duration = Duration::from_secs(2);

/// Judges in time, and renders what is decided.
fn decide_soon(text: &str, policy: &Policy) -> String {
    decide_soon_on(&Machine::new(), text, policy)
}

fn decide_soon_on(machine: &Machine, text: &str, policy: &Policy) -> String {
    let start = Instant::now();
    let verdict = judge(&parse(text), Path::new(START), machine, policy);
    let time = start.elapsed();
    assert!(time < LONGEST, "{time:?}");
    let text = render(&verdict);
    text.split(" [always").next().unwrap_or_default().to_owned()
}

#[test]
fn many_variables_take_no_time() {
    let names = |count: usize| (0..count).map(|at| format!("V{at}=1 ")).collect::<String>();
    insta::assert_snapshot!(decide_soon(&format!("{}ls", names(12_000)), &policy(&["ls"])), @"ask: this cannot be judged: more than 64 variables for a command [no plan]");
    insta::assert_snapshot!(decide_soon(&format!("env {}ls", names(12_000)), &policy(&["ls"])), @"ask: the variable `V0` is not among those that may be set; the variable `V1` is not among those that may be set; the variable `V2` is not among those that may be set; and more");
    let spread = format!("{}ls;", names(64)).repeat(180);
    insta::assert_snapshot!(decide_soon(&spread, &policy(&["ls"])), @"ask: the variable `V0` is not among those that may be set; the variable `V1` is not among those that may be set; the variable `V2` is not among those that may be set; and more");
    let hidden = format!("env {}LD_PRELOAD=x ls", names(70));
    insta::assert_snapshot!(decide_soon(&hidden, &policy(&["ls"])), @"deny: the variable `LD_PRELOAD` may not be set: it decides what programs load or run");
}

/// A machine with a thousand programs more, and a command that runs them all.
fn thousand() -> (Machine, String) {
    let mut machine = Machine::new();
    let names = (0..1_000).map(|number| format!("tool-{number}"));
    for name in names.clone() {
        let path = format!("/usr/bin/{name}");
        machine.link(&path, &path);
    }
    (machine, names.collect::<Vec<_>>().join(";"))
}

fn entries(count: usize, make: impl Fn(usize) -> String) -> Policy {
    let texts: Vec<String> = (0..count).map(make).collect();
    policy(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn many_patterns_of_names_take_no_time() {
    let (machine, command) = thousand();
    let globs = entries(5_000, |number| format!("t*-x{number}?"));
    insta::assert_snapshot!(decide_soon_on(&machine, &command, &globs), @"ask: comparing it with all entries would take too long; nobody allowed `tool-0`; nobody allowed `tool-1`; and more");
    let names = entries(5_000, |number| format!("other-{number}"));
    insta::assert_snapshot!(decide_soon_on(&machine, &command, &names), @"ask: nobody allowed `tool-0`; nobody allowed `tool-1`; nobody allowed `tool-2`; and more");
    let paths = entries(5_000, |number| format!("/usr/bin/other-{number}"));
    insta::assert_snapshot!(decide_soon_on(&machine, &command, &paths), @"ask: nobody allowed `tool-0`; nobody allowed `tool-1`; nobody allowed `tool-2`; and more");
}

#[test]
fn patterns_of_paths_with_many_stars_take_no_time() {
    let mut machine = Machine::new();
    let long = format!("/opt/{}b", "a".repeat(3_000));
    machine.link(&long, &long);
    let many = entries(300, |number| format!("/opt/{}{number}b", "*a".repeat(30)));
    insta::assert_snapshot!(decide_soon_on(&machine, &long, &many), @"ask: nobody allowed `/opt/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…`");
    assert!(many.entries.iter().all(|entry| entry.is_too_wild() && !entry.is_readable()));
    let few = entries(300, |number| format!("/opt/**{}*{number}*b", "*a".repeat(10)));
    insta::assert_snapshot!(decide_soon_on(&machine, &long, &few), @"ask: comparing it with all entries would take too long; nobody allowed `/opt/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…`");
    assert!(few.entries.iter().all(metier_approval::Entry::is_readable));
    let wide = entries(300, |number| format!("/opt/*{}{number}*b", "a".repeat(1_500)));
    insta::assert_snapshot!(decide_soon_on(&machine, &long, &wide), @"ask: comparing it with all entries would take too long; nobody allowed `/opt/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…`");
}

#[test]
fn patterns_of_arguments_take_no_time() {
    let large = entries(60, |number| format!("touch --args ([0-9 a]*a){{{number},30}}x"));
    for length in [200, 1_000, 4_000] {
        let command = format!("touch {};", "a".repeat(length)).repeat(120_000 / length);
        let decided = decide_soon(&command, &large);
        assert!(decided.contains("would take too long"), "{decided}");
    }
    let beyond = format!("touch {}", "a".repeat(16_000));
    insta::assert_snapshot!(decide_soon(&beyond, &policy(&["touch --args a+"])), @"ask: `touch aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…` is not covered by the entry `touch`: its arguments must be like `a+`");
    let command = format!("touch {}", "a".repeat(4_000));
    insta::assert_snapshot!(decide_soon(&command, &large), @"ask: comparing it with all entries would take too long; `touch aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…` is not covered by the entry `touch`: its arguments must be like `([0-9 a]*a){0,30}x`");
    insta::assert_snapshot!(decide_soon(&command, &policy(&["touch --args a+"])), @"allow: /usr/bin/touch by `touch --args a+`");
}

#[test]
fn reasons_that_nobody_reads_take_no_time() {
    let (machine, command) = thousand();
    let unknown = entries(61, |_| "* --args x".to_owned());
    insta::assert_snapshot!(decide_soon_on(&machine, &command, &unknown), @"ask: `tool-0` is not covered by the entry `*`: its arguments must be like `x`; `tool-1` is not covered by the entry `*`: its arguments must be like `x`; `tool-2` is not covered by the entry `*`: its arguments must be like `x`; and more");
}
