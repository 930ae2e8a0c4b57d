//! State directories that take no more: full, or read-only. What was there stays whole, and one line
//! says what to do.
//!
//! They are mounted in a namespace of the test's own, which an ordinary user may make too.

use insta::assert_snapshot;
use metier_testkit::Outcome;

use crate::{environment, without_times, write_skill};

/// What every script begins with. An ordinary user mounts as the root of a namespace, and then becomes
/// itself again in one more.
const PRELUDE: &str = r#"
if [ "$OUTER" = 0 ]; then
  metier() { "$METIER" "$@"; }
else
  metier() { unshare -U --map-user="$OUTER" --map-group="$OUTER" "$METIER" "$@"; }
fi
exec_demo() {
  session=$1; shift
  metier exec demo --session "$session" --skills-dir skills --no-default-sources "$@"
  echo "code $?"
}
mkdir -p "$METIER_HOME"
"#;

/// Runs a script that may mount things.
fn with_mounts(script: &str) -> Outcome {
    let env = environment().with_variable("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    write_skill(&env, "demo", "name: demo\ndescription: Demo. Use when testing.");
    let outer = rustix::process::geteuid().as_raw();
    let mut command = env.command("/usr/bin/unshare");
    command.args([if outer == 0 { "-m" } else { "-rm" }, "/bin/sh", "-c"]);
    command.arg(format!("{PRELUDE}{script}"));
    command.env("METIER", env.binary()).env("OUTER", outer.to_string());
    steady(&env.finish(command, ""))
}

/// The outcome without what differs from run to run.
fn steady(outcome: &Outcome) -> Outcome {
    let (stdout, stderr) = (without_times(&outcome.stdout), without_times(&outcome.stderr));
    Outcome { code: outcome.code, stdout, stderr }
}

#[test]
fn no_space_while_an_artifact_is_saved_keeps_what_was_there() {
    let outcome = with_mounts(
        r#"
        mount -t tmpfs -o size=6m,mode=700 tmpfs "$METIER_HOME"
        exec_demo one --save -- 'head -c 1000000 /dev/zero > out/first.bin'
        exec_demo two --save -- 'head -c 2500000 /dev/zero > out/second.bin'
        metier artifacts get out/first.bin --session one | wc -c
        metier artifacts list --session two
        ls "$METIER_HOME/artifacts/staging"
        exec_demo two --json --save -- true | grep -o '"incomplete":true\|code .*'
        "#,
    );
    assert_snapshot!(outcome, @r#"
    exit 0
    ----- stdout
    code 0
    code 1
    1000000
    "incomplete":true
    code 1
    ----- stderr
    FILE                            SIZE  TYPE
    workspace://out/first.bin  976.5 KiB  data
    in [HOME]/.metier/workspaces/metier/local/one-0
    kept artifact://out/first.bin@0
    exit 0 · [TIME] · sandbox (full) · session one
    FILE                           SIZE  TYPE
    workspace://out/second.bin  2.3 MiB  data
    in [HOME]/.metier/workspaces/metier/local/two-0
    warning: `out/second.bin` was not kept: the disk would have less than 1 MiB free, which must stay free
    exit 0, but not everything was kept · [TIME] · sandbox (full) · session two
    0 artifacts · session two
    "#);
}

#[test]
fn no_space_while_the_program_prints_is_said_and_the_output_is_shown() {
    let outcome = with_mounts(
        r#"
        mount -t tmpfs -o size=3m,mode=700 tmpfs "$METIER_HOME"
        exec_demo one --save -- 'echo first > out/first.txt'
        { exec_demo one -- 'head -c 8000000 /dev/zero; echo; echo end'; } | tail -c 12 | tr -d '\0'
        metier read artifact://out/first.txt --session one
        exec_demo two -- 'echo never'
        "#,
    );
    assert_snapshot!(outcome, @"
    exit 0
    ----- stdout
    code 0

    end
    code 1
    first
    code 1
    ----- stderr
    FILE                       SIZE  TYPE
    workspace://out/first.txt   6 B  text
    in [HOME]/.metier/workspaces/metier/local/one-0
    kept artifact://out/first.txt@0
    exit 0 · [TIME] · sandbox (full) · session one
    warning: stdout had 8000005 bytes, of which not all were kept: no space is left for the workspace: free some
    warning: the record of the run could not be written: no space is left for the workspace: free some
    exit 0, but not everything was kept · [TIME] · sandbox (full) · session one
    error: the workspace cannot be used: No space left on device (os error 28)
    hint: free some space in `[HOME]/.metier`; `metier gc` may help
    ");
}

#[test]
fn a_state_directory_that_is_read_only_can_be_read() {
    let outcome = with_mounts(
        r#"
        exec_demo one --save -- 'echo first > out/first.txt'
        mount --bind "$METIER_HOME" "$METIER_HOME"
        mount -o remount,bind,ro "$METIER_HOME"
        exec_demo one -- 'echo never'
        exec_demo two -- 'echo never'
        metier read artifact://out/first.txt
        metier read workspace://out/first.txt
        metier artifacts list
        metier gc | sed 's/[0-9]* runs/[N] runs/'; echo "code $?"
        "#,
    );
    // Runs that other tests killed are cleared away too.
    assert_snapshot!(outcome, @"
    exit 0
    ----- stdout
    code 0
    code 1
    code 1
    first
    first
    NAME           VERSION  SIZE  TYPE
    out/first.txt        0   6 B  text
    removed 0 workspaces, 0 staged skills, 0 fetched skills, [N] runs, 0 containers, 0 unfinished artifacts
    code 0
    ----- stderr
    FILE                       SIZE  TYPE
    workspace://out/first.txt   6 B  text
    in [HOME]/.metier/workspaces/metier/local/one-0
    kept artifact://out/first.txt@0
    exit 0 · [TIME] · sandbox (full) · session one
    error: the workspace cannot be used: Read-only file system (os error 30)
    hint: set METIER_HOME to a folder that you can write to
    error: the workspace cannot be used: Read-only file system (os error 30)
    hint: set METIER_HOME to a folder that you can write to
    1 artifact · session one
    ");
}

#[test]
fn a_state_directory_that_cannot_be_made_is_said() {
    let outcome = with_mounts(
        r#"
        mount -t tmpfs -o ro,mode=700 tmpfs "$METIER_HOME"
        exec_demo one -- 'echo never'
        "#,
    );
    assert_snapshot!(outcome, @"
    exit 0
    ----- stdout
    code 1
    ----- stderr
    error: the state directory `[HOME]/.metier` cannot be used: Read-only file system (os error 30)
    hint: set METIER_HOME to a folder that you can write to
    ");
}

/// Says something in one session to a model that is a script.
const RUN: &str = r#"
printf '%s\n' '{"text":"Said."}' > replies.jsonl
say() {
  metier run "$1" --session one --model scripted/replies.jsonl --skills-dir skills --no-default-sources
  echo "code $?"
}
"#;

/// Runs a script that may mount things and say something.
fn saying_with_mounts(script: &str) -> Outcome {
    with_mounts(&format!("{RUN}{script}"))
}

#[test]
fn no_space_for_what_is_said_is_told_and_the_session_goes_on() {
    let outcome = saying_with_mounts(
        r#"
        mount -t tmpfs -o size=6m,mode=700 tmpfs "$METIER_HOME"
        say first
        head -c 7000000 /dev/zero > "$METIER_HOME/filler" 2>/dev/null
        say second
        rm "$METIER_HOME/filler"
        say third
        metier sessions show one
        "#,
    );
    assert_snapshot!(outcome, @"
    exit 0
    ----- stdout
    Said.
    code 0
    code 1
    Said.
    code 0
    you
      first
    model
      Said.
    you
      third
    model
      Said.
    ----- stderr
    answered · [TIME] · scripted/replies.jsonl · session one
    error: no space is left for the database `[HOME]/.metier/metier.db`
    hint: free some space on that disk; `metier gc` may help
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
}

#[test]
fn a_state_folder_that_becomes_read_only_is_told_and_the_session_goes_on() {
    let outcome = saying_with_mounts(
        r#"
        mount -t tmpfs -o mode=700 tmpfs "$METIER_HOME"
        say first
        mount -o remount,ro "$METIER_HOME"
        say second
        metier sessions show one
        mount -o remount,rw "$METIER_HOME"
        say third
        "#,
    );
    assert_snapshot!(outcome, @"
    exit 0
    ----- stdout
    Said.
    code 0
    code 1
    Said.
    code 0
    ----- stderr
    answered · [TIME] · scripted/replies.jsonl · session one
    error: no access to the database `[HOME]/.metier/metier.db`: unable to open database file; check the permissions of it and its folder
    hint: METIER_HOME chooses another state directory
    error: no access to the database `[HOME]/.metier/metier.db`: unable to open database file; check the permissions of it and its folder
    hint: METIER_HOME chooses another state directory
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
}
