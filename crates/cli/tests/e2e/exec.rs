//! `metier exec`, `read`, `artifacts`, `gc` and `doctor`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use insta::assert_snapshot;
use metier_testkit::{Outcome, TestEnv, as_root_of_a_container};

use crate::{compact, environment, json, run, without_times, write_skill};

/// An environment with a skill of its own.
fn with_skill() -> TestEnv {
    let env = environment();
    write_skill(&env, "demo", "name: demo\ndescription: Demo. Use when testing.");
    env.write("project/skills/demo/scripts/count.sh", "wc -l < \"$1\"\n");
    env
}

fn exec(env: &TestEnv, rest: &[&str]) -> Outcome {
    let skills = ["--skills-dir", "skills", "--no-default-sources"];
    env.run(["exec", "demo", "--session", "one"].iter().chain(&skills).chain(rest))
}

/// The outcome without what differs from run to run.
fn steady(outcome: &Outcome) -> String {
    without_times(&outcome.to_string())
}

#[test]
fn a_command_runs_and_its_files_are_listed() {
    let env = with_skill();
    env.write("project/notes.txt", "one\ntwo\n");
    let command = "sh scripts/count.sh inputs/notes.txt; echo a,b > out/t.csv";
    let outcome = exec(&env, &["--input", "notes.txt", "--", command]);
    assert_snapshot!(steady(&outcome), @"
    exit 0
    ----- stdout
    2
    ----- stderr
    FILE                   SIZE  TYPE
    workspace://out/t.csv   4 B  CSV table
    in [HOME]/.metier/workspaces/metier/local/one-0
    exit 0 · [TIME] · sandbox (full) · session one
    ");
}

#[test]
fn a_file_is_kept_and_read_again() {
    let env = with_skill();
    let outcome =
        exec(&env, &["--save", "--output", "out/*.txt", "--", "printf '1\\n2\\n3\\n' > out/n.txt"]);
    assert_snapshot!(steady(&outcome), @"
    exit 0
    ----- stdout

    ----- stderr
    FILE                   SIZE  TYPE
    workspace://out/n.txt   6 B  text
    in [HOME]/.metier/workspaces/metier/local/one-0
    kept artifact://out/n.txt@0
    exit 0 · [TIME] · sandbox (full) · session one
    ");
    assert_snapshot!(run(&env, "read artifact://out/n.txt --lines 2-3"), @"
    exit 0
    ----- stdout
    2
    3
    ----- stderr
    ");
    assert_snapshot!(run(&env, "read workspace://out/n.txt --session one --lines 1"), @"
    exit 0
    ----- stdout
    1
    ----- stderr
    ");
    assert_snapshot!(run(&env, "artifacts list"), @"
    exit 0
    ----- stdout
    NAME       VERSION  SIZE  TYPE
    out/n.txt        0   6 B  text
    ----- stderr
    1 artifact · session one
    ");
    assert_snapshot!(run(&env, "artifacts rm out/n.txt@0"), @"
    exit 0
    ----- stdout

    ----- stderr
    removed out/n.txt@0
    ");
    assert_snapshot!(run(&env, "artifacts get out/n.txt"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: there is no artifact `out/n.txt`
    hint: `metier artifacts list` shows those there are; `--session` names the session
    ");
}

#[test]
fn lines_backwards_are_refused_and_a_program_is_told_what_was_removed() {
    let env = with_skill();
    exec(&env, &["--save", "--output", "out/*.txt", "--", "echo 1 > out/n.txt"]);
    assert_snapshot!(compact(&run(&env, "read artifact://out/n.txt --lines 3-2")), @"2 |  | error: `--lines 3-2` is not a range / hint: write FROM-TO, such as 1-20");
    assert_snapshot!(compact(&run(&env, "artifacts rm out/n.txt@0 --json")), @r#"0 | {"name":"out/n.txt","version":0} |"#);
}

#[test]
fn a_request_in_json_is_taken_as_it_is() {
    let env = with_skill();
    env.write(
        "project/good.json",
        r#"{"skill": "demo", "command": "mkdir -p out; echo hi > out/a.txt",
        "output_files": ["out/*.txt"], "omit_inline_content": true}"#,
    );
    env.write(
        "project/bad.json",
        r#"{"skill": "demo", "command": "ls", "outputs": {"max_files": "ten"}}"#,
    );
    let answer = json(&run(&env, "exec --request good.json --json --skills-dir skills"));
    assert_eq!(answer["output_files"][0]["ref"], "workspace://out/a.txt");
    assert_eq!(answer["output_files"][0].get("content"), None);
    assert_eq!(answer["confinement"]["executor"], "sandbox");
    assert_snapshot!(run(&env, "exec --request bad.json"), @r#"
    exit 2
    ----- stdout

    ----- stderr
    error: bad.json is not a request: `outputs.max_files`: invalid type: string "ten", expected usize at line 1 column 65
    "#);
    assert_snapshot!(run(&env, "exec --request absent.json"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: absent.json cannot be read: No such file or directory (os error 2)
    hint: check its path
    ");
}

#[test]
fn what_is_wrong_is_said_in_one_line_and_nothing_runs() {
    let env = with_skill();
    let said = |rest: &[&str]| exec(&env, rest).stderr;
    let cases = [
        said(&["--cwd", "../..", "--", "ls"]),
        said(&["--env", "LD_PRELOAD=x", "--", "ls"]),
        said(&["--env", "HOME=x", "--", "ls"]),
        said(&["--input", "absent.txt", "--", "ls"]),
        said(&["--input", "host:///etc/passwd", "--", "ls"]),
        said(&["--input", "artifact://nothing", "--", "ls"]),
        said(&["--output", "/etc/*", "--", "ls"]),
        said(&["--timeout", "0", "--", "ls"]),
        said(&["--timeout", "999999", "--", "ls"]),
        run(&env, "exec nobody -- ls").stderr,
    ];
    assert_snapshot!(cases.join("\n"), @"
    error: `cwd`: `../..` has `..`; write a path inside the workspace without it

    error: `env`: `LD_PRELOAD` may not be set for a run; it decides what programs load or where they look

    error: `env`: `HOME` is set by metier or the configuration and may not be changed by a call

    error: `absent.txt` cannot be read: No such file or directory (os error 2)
    hint: check the path

    error: input `host:///etc/passwd` is not in a folder that runs may read; add its folder to `exec.host_inputs`
    hint: settings go into `[HOME]/.metier/config.toml`

    error: input `artifact://nothing`: there is no artifact `nothing`: look for its name in the list of artifacts
    hint: `metier artifacts list` shows those there are

    error: `outputs`: `/etc/*` is absolute; write a path inside the workspace, such as `out/x` or `$WORK_DIR/x`

    error: `timeout`: 0 is not a number of seconds

    error: `timeout`: at most 3600 seconds are allowed (`exec.max_timeout`)
    hint: settings go into `[HOME]/.metier/config.toml`

    error: there is no skill `nobody`
    hint: `metier skills list --all` shows every skill that was found
    ");
}

#[test]
fn a_container_engine_that_is_not_there_is_said() {
    let env = with_skill().with_variable("DOCKER_HOST", "unix:///nowhere/docker.sock");
    assert_snapshot!(exec(&env, &["--executor", "container", "--", "ls"]), @"
    exit 1
    ----- stdout

    ----- stderr
    error: no container engine answers at `unix:///nowhere/docker.sock`: No such file or directory (os error 2); start it, or name another socket (`exec.container.socket`, `DOCKER_HOST`)
    hint: settings go into `[HOME]/.metier/config.toml`
    ");
}

#[test]
fn exit_codes_are_those_of_the_command() {
    let env = with_skill();
    assert_eq!(exec(&env, &["--", "exit 7"]).code, 7);
    assert_eq!(exec(&env, &["--", "kill -9 $$"]).code, 137);
    assert_eq!(exec(&env, &["--timeout", "0.3", "--", "sleep 9"]).code, 124);
    let words = exec(&env, &["--", "printf", "%s|", "a b", "c'd", "$HOME"]);
    assert_eq!((words.code, words.stdout.as_str()), (0, "a b|c'd|$HOME|"));
}

#[test]
fn a_skill_is_given_its_own_variables_and_no_others() {
    let env = with_skill();
    env.write(
        "home/.metier/config.toml",
        "[skills.entries.demo.env]\nTOKEN = \"secret\"\n[skills.entries.other.env]\nOTHER = \"x\"\n",
    );
    let outcome = exec(&env, &["--", "echo $TOKEN/$OTHER/$USER"]);
    assert_eq!(outcome.stdout, "secret//\n");
    assert_snapshot!(exec(&env, &["--env", "TOKEN=mine", "--", "true"]).stderr, @"error: `env`: `TOKEN` is set by metier or the configuration and may not be changed by a call");
}

#[test]
fn a_state_directory_that_cannot_be_used_is_said() {
    let env = with_skill();
    fs::create_dir_all(env.home().join(".metier")).expect("a folder");
    env.write("home/.metier/workspaces", "in the way");
    assert_snapshot!(exec(&env, &["--", "ls"]), @"
    exit 1
    ----- stdout

    ----- stderr
    error: the state directory `[HOME]/.metier` cannot be used: File exists (os error 17)
    hint: set METIER_HOME to a folder that you can write to
    ");
}

#[test]
fn the_doctor_tries_every_promise() {
    let report = json(&run(&environment(), "doctor --json"));
    let trials = report["trials"].as_array().expect("trials");
    assert!(trials.len() >= 6 && trials.iter().all(|trial| trial["kept"] == true), "{report:#}");
}

#[test]
fn what_the_doctor_could_not_try_is_no_success() {
    let env = environment();
    let nowhere = env.home().join("nowhere").display().to_string();
    let env = env.with_variable("HOME", &nowhere);
    let outcome = run(&env, "doctor");
    assert_eq!(outcome.code, 1, "{outcome}");
    let tried: Vec<&str> =
        outcome.stdout.lines().filter(|line| line.starts_with("not tried ")).collect();
    assert_snapshot!(tried.join("\n"), @"
    not tried       cannot read the home directory: `[HOME]/nowhere`: No such file or directory (os error 2)
    not tried       cannot write outside its folder: `[HOME]/nowhere`: No such file or directory (os error 2)
    ");
    let outcome = run(&env, "doctor --json");
    assert!(outcome.code == 1 && json(&outcome)["trials"][0]["kept"].is_null(), "{outcome}");
}

#[test]
fn the_example_of_the_guide_runs_as_it_says() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/running-safely.md");
    let guide = fs::read_to_string(guide).expect("the guide");
    let example = guide.lines().find(|line| line.starts_with("metier exec csv-stats"));
    let env = environment().with_variable("PATH", "/usr/local/bin:/usr/bin:/bin");
    if !run(&env, "skills explain csv-stats").stdout.contains("yes") {
        return metier_testkit::skip("the example of the guide", "there is no python3");
    }
    env.write("project/sales.csv", "region,amount\nnorth,10\nsouth,20\n");
    let mut shell = env.command("/bin/sh");
    let script =
        format!("metier() {{ {} \"$@\"; }}; {}", env.binary().display(), example.expect("it"));
    shell.args(["-c", &script]);
    let outcome = env.finish(shell, "");
    assert_eq!(outcome.code, 0, "{outcome}");
    let said: Vec<&str> = outcome.stderr.lines().collect();
    assert!(said[0].starts_with("FILE ") && said[1].starts_with("workspace://out/summary.txt "));
    assert!(said[2].starts_with("in ") && said[3] == "kept artifact://out/summary.txt@0");
    assert!(said[4].starts_with("exit 0 · ") && said.len() == 5, "{outcome}");
}

#[test]
fn nothing_in_use_is_removed() {
    let env = with_skill();
    exec(&env, &["--", "echo text > out/a.txt"]);
    let outcome = run(&env, "gc");
    // What other tests left behind on the machine is removed too.
    assert!(outcome.stdout.starts_with("removed 0 workspaces, 0 staged skills, "), "{outcome}");
    assert_eq!(run(&env, "read workspace://out/a.txt").stdout, "text\n");
}

#[test]
fn references_read_work_out_and_streams_of_runs_alone() {
    let env = with_skill();
    let outcome = exec(&env, &["--json", "--", "echo said; echo x > $HOME/x"]);
    let id = json(&outcome)["run"].as_str().expect("an id").to_owned();
    assert_eq!(run(&env, &format!("read workspace://runs/{id}/stdout")).stdout, "said\n");
    let record = format!("runs/{id}/record.json");
    for place in [&record, "metadata.json", ".homes/demo-skill/x", "skills/demo-skill/SKILL.md"] {
        let outcome = run(&env, &format!("read workspace://{place}"));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome}");
        assert!(outcome.stderr.contains("neither in `work/` or `out/` nor"), "{outcome}");
    }
}

/// Root of a container may not mount, and its home is closed to the user that programs run as.
#[test]
fn commands_of_root_in_a_container_run_as_nobody() {
    if metier_sandbox::unprivileged_owner().is_none() {
        return;
    }
    let env = with_skill().through(&as_root_of_a_container());
    fs::set_permissions(env.home(), fs::Permissions::from_mode(0o700)).expect("a folder of ours");
    let outcome = exec(&env, &["--", "id -u; cat \"$HOME\"/../../metadata.json; echo x > out/x"]);
    let usual = env.home().join(".metier/workspaces").display().to_string();
    let folder = Path::new("/var/lib/metier").join(usual.replace('/', "%2f"));
    assert!(folder.is_dir(), "{outcome}");
    assert_eq!(run(&env, "read workspace://out/x").stdout, "x\n");
    fs::remove_dir_all(&folder).expect("a folder of this test");
    let _used_by_others = fs::remove_dir("/var/lib/metier");
    assert_eq!(outcome.stdout, "65534\n", "{outcome}");
    assert!(outcome.stderr.contains("sandbox (landlock)"), "{outcome}");
}

#[test]
fn workspaces_are_where_the_settings_say() {
    let env = with_skill();
    let folder = env.root().join("elsewhere");
    let env = env.with_variable("METIER_WORKSPACE_FOLDER", &folder.display().to_string());
    exec(&env, &["--", "echo text > out/a.txt"]);
    assert_eq!(run(&env, "read workspace://out/a.txt").stdout, "text\n");
    assert!(folder.join("metier/local/one-0/out/a.txt").is_file());
    assert!(!env.home().join(".metier/workspaces").exists());
    let closed = env.write("closed", "a file");
    let env = env.with_variable("METIER_WORKSPACE_FOLDER", &closed.display().to_string());
    assert_snapshot!(exec(&env, &["--", "ls"]), @"
    exit 1
    ----- stdout

    ----- stderr
    error: `[ROOT]/closed` cannot be used: File exists (os error 17)
    hint: set `workspace.folder` to a folder that you can write to; settings go into `[HOME]/.metier/config.toml`
    ");
}
