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
    let machine = Machine::new();
    let start = Instant::now();
    let verdict = judge(&parse(text), Path::new(START), &machine, policy);
    let time = start.elapsed();
    assert!(time < LONGEST, "{time:?}");
    render(&verdict)
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
