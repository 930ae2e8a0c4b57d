//! What an approval is bound to.

use std::path::Path;

use metier_approval::{Approved, Policy, Remembered, Verdict, judge, parse};

use crate::machine::{Machine, START, decide, policy, table};

#[test]
fn shells_and_their_like_are_never_allowed_for_good() {
    insta::assert_snapshot!(table(&[
        "zsh -lc ls",
        "bash -c ls",
        "sh run.sh",
        "python3 -c 1",
        "python3 build.py",
        "node build.js",
        "npx cowsay",
        "npm test",
        "busybox ls",
        "timeout 5 touch x",
        "xargs touch",
        "vi file",
        "git push",
        "find . -delete",
        "make -f other",
    ], &policy(&[])), @"
    zsh -lc ls
      ask: `zsh` is a shell and can run anything; it needs an entry with `--args`
    bash -c ls
      ask: `bash` is a shell and can run anything; it needs an entry with `--args`
    sh run.sh
      ask: `sh` is a shell and can run anything; it needs an entry with `--args`
    python3 -c 1
      ask: `python3` runs whatever code it is given; it needs an entry with `--args`
    python3 build.py
      ask: `python3` runs whatever code it is given; it needs an entry with `--args`
    node build.js
      ask: `node` runs whatever code it is given; it needs an entry with `--args`
    npx cowsay
      ask: `npx` fetches programs and runs them; it needs an entry with `--args`
    npm test
      ask: `npm` fetches programs and runs them; it needs an entry with `--args`
    busybox ls
      ask: `busybox` is many programs in one; it needs an entry with `--args`
    timeout 5 touch x
      ask: nobody allowed `touch`
    xargs touch
      ask: `xargs` starts other programs; it needs an entry with `--args`
    vi file
      ask: `vi` runs whatever code it is given; it needs an entry with `--args`
    git push
      ask: nobody allowed `git`
    find . -delete
      ask: nobody allowed `find`
    make -f other
      ask: nobody allowed `make`
    ");
}

pub(crate) fn approved(command: &str, machine: &Machine, policy: &Policy) -> Approved {
    match judge(&parse(command), Path::new(START), machine, policy) {
        Verdict::Allow(plan) | Verdict::Ask { plan: Some(plan), .. } => plan,
        other => panic!("{command} has no plan: {other:?}"),
    }
}

fn remembering(command: &str, machine: &Machine) -> Policy {
    let mut policy = policy(&["ls"]);
    let Verdict::Ask { offer: Some(offer), .. } =
        judge(&parse(command), Path::new(START), machine, &policy)
    else {
        panic!("nothing is offered for {command}");
    };
    policy.remembered = offer
        .into_iter()
        .map(|pinned| Remembered {
            id: "7".to_owned(),
            program: pinned.program,
            sha256: pinned.sha256,
            words: pinned.command.words,
            directory: pinned.directory,
            variables: pinned.command.variables,
        })
        .collect();
    policy
}

#[test]
fn what_was_allowed_for_good_is_only_what_it_was() {
    let mut machine = Machine::new();
    let policy = remembering("CI=1 touch a", &machine);
    insta::assert_snapshot!(table(&[
        "CI=1 touch a",
        "ls; CI=1 touch a 2>/dev/null",
        "touch a",
        "CI=2 touch a",
        "CI=1 TZ=x touch a",
        "CI=1 touch a b",
        "CI=1 touch 'a '",
        "CI=1 /usr/bin/touch a",
        "cd sub && CI=1 touch a",
        "CI=1 touch a > out",
        "CI=1 nice touch a",
    ], &policy), @r"
    CI=1 touch a
      allow: /usr/bin/touch by memory of 7
    ls; CI=1 touch a 2>/dev/null
      allow: /usr/bin/ls by `ls`, /usr/bin/touch by memory of 7
    touch a
      ask: nobody allowed `touch` [always: touch a]
    CI=2 touch a
      ask: nobody allowed `touch` [always: touch a]
    CI=1 TZ=x touch a
      ask: nobody allowed `touch` [always: touch a]
    CI=1 touch a b
      ask: nobody allowed `touch` [always: touch a b]
    CI=1 touch \'a \'
      ask: nobody allowed `touch` [always: touch a ]
    CI=1 /usr/bin/touch a
      ask: nobody allowed `/usr/bin/touch` [always: /usr/bin/touch a]
    cd sub && CI=1 touch a
      ask: nobody allowed `touch` [always: touch a]
    CI=1 touch a > out
      ask: nobody allowed `touch`
    CI=1 nice touch a
      ask: nobody allowed `touch`
    ");
    machine.versions.insert("/usr/bin/touch".into(), 2);
    assert!(decide("CI=1 touch a", &machine, &policy).starts_with("ask"), "another program");
    let mut machine = Machine::new();
    machine.folders.insert(START.into(), "/elsewhere".into());
    assert!(decide("CI=1 touch a", &machine, &policy).starts_with("ask"), "another folder");
}

#[test]
fn scripts_and_programs_are_bound_to_what_they_were() {
    let policy = policy(&["python3 --args .*", "bash --args .*", "touch", "perl --args .*"]);
    for (command, path) in [
        ("python3 build.py", "/proj/build.py"),
        ("python3 -W ignore build.py", "/proj/build.py"),
        ("bash run.sh", "/proj/run.sh"),
        ("nice bash run.sh", "/proj/run.sh"),
        ("perl -I sub run.sh", "/proj/run.sh"),
        ("touch x", "/usr/bin/touch"),
        ("nice touch x", "/usr/bin/touch"),
        ("nice touch x", "/usr/bin/nice"),
    ] {
        let mut machine = Machine::new();
        let before = approved(command, &machine, &policy);
        assert_eq!(before, approved(command, &machine, &policy), "{command}");
        machine.versions.insert(path.into(), 2);
        assert_ne!(before, approved(command, &machine, &policy), "{command} after {path} changed");
    }
}
