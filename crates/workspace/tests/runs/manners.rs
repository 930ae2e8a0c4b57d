//! Commands that no shell runs: one program with its arguments, or the programs of a plan.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;
use metier_sandbox::{Cancel, Descriptor, Joint, Pin, To, Walk, WalkStep, Walked};
use metier_workspace::executor::ExecuteError;
use metier_workspace::request::{Denial, DenialKind};
use metier_workspace::{Manner, RunError, RunOrder, RunOutput};
use serde_json::{Value, json};

use crate::Promise;
use crate::bench::{Bench, block_on};

pub(crate) const PROMISES: &[Promise] = &[
    ("arguments_are_not_read_by_a_shell", arguments),
    ("a_name_is_looked_for_in_the_path_of_the_run", looked_for),
    ("no_arguments_are_no_command", no_arguments),
    ("a_plan_runs_on_the_host_only", plan),
    ("a_plan_that_found_something_changed_says_so", changed),
    ("output_of_a_plan_is_cut_and_kept", large_output),
    ("a_command_starts_outside_on_the_host_only", outside),
];

/// An order for a command of the demo skill that is run in some manner.
fn order(bench: &Bench, manner: Manner) -> RunOrder {
    let request = json!({"skill": "demo", "command": "as it was asked for"});
    RunOrder { manner, ..bench.order(request) }
}

fn run(bench: &Bench, order: RunOrder) -> Result<RunOutput, RunError> {
    let live = Box::new(|_, _: &[u8]| {});
    block_on(bench.runner.run(order, live, Cancel::new().expect("an event")))
}

fn run_words(bench: &Bench, words: &[&str]) -> Result<RunOutput, RunError> {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    run(bench, order(bench, Manner::Arguments(words)))
}

fn record(bench: &Bench, output: &RunOutput) -> Result<Value, Failed> {
    let file = bench.workspace().join("runs").join(&output.run).join("record.json");
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

fn arguments(bench: &Bench) -> Result<(), Failed> {
    let odd = "$HOME `id` $(id); id | cat > /tmp/x && 'a\" *\n";
    let output = run_words(bench, &["printf", "%s|%s", odd, ""])?;
    assert_eq!((output.stdout.as_str(), output.exit_code), (format!("{odd}|").as_str(), Some(0)));
    let record = record(bench, &output)?;
    assert_eq!(record["arguments"], json!(["printf", "%s|%s", odd, ""]));
    assert_eq!(record["command"], "as it was asked for");
    assert_eq!(record.get("plan"), None);
    assert_eq!(run_words(bench, &["sh", "-c", "exit 7"])?.exit_code, Some(7));
    Ok(())
}

fn looked_for(bench: &Bench) -> Result<(), Failed> {
    use std::os::unix::fs::PermissionsExt;
    let own = bench.write("skills/demo/bin/own-tool", "#!/bin/sh\necho own $1\n");
    fs::set_permissions(own, fs::Permissions::from_mode(0o755))?;
    assert_eq!(run_words(bench, &["own-tool", "x"])?.stdout, "own x\n");
    assert_eq!(run_words(bench, &["./bin/own-tool", "y"])?.stdout, "own y\n");
    // Engines start something of their own that fails.
    let missing = run_words(bench, &["no-such-program; true"]);
    assert!(!matches!(missing, Ok(RunOutput { exit_code: Some(0), .. })), "{missing:?}");
    Ok(())
}

fn no_arguments(bench: &Bench) -> Result<(), Failed> {
    for words in [&[][..], &[""], &["echo", "a\0b"]] {
        let refused = run_words(bench, words);
        assert!(matches!(refused, Err(RunError::Command(_))), "{words:?} {refused:?}");
    }
    Ok(())
}

/// A program that is somewhere in the system.
fn walked(directory: &Path, words: &[&str]) -> Walked {
    let found = ["/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(words[0]));
    let real = found.filter_map(|path| path.canonicalize().ok()).next();
    Walked {
        executable: real.expect("it is installed"),
        arguments: words.iter().map(Into::into).collect(),
        environment: Vec::new(),
        directory: directory.to_owned(),
        redirections: Vec::new(),
        pins: Vec::new(),
        places: Vec::new(),
    }
}

fn folder(bench: &Bench) -> Result<PathBuf, Failed> {
    let folder = bench.path("elsewhere");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn is_refused(refused: &Result<RunOutput, RunError>) -> bool {
    matches!(refused, Err(RunError::Execute(ExecuteError::HostOnly(_))))
}

fn plan(bench: &Bench) -> Result<(), Failed> {
    let folder = folder(bench)?;
    let mut first = walked(&folder, &["sh", "-c", "echo $A $SKILL_NAME; echo lost >&2"]);
    first.environment.push(("A".into(), "own".into()));
    first.redirections.push((Descriptor::Error, To::Nothing));
    let second = walked(&folder, &["tr", "a-z", "A-Z"]);
    let mut third = walked(&folder, &["pwd"]);
    third.redirections.push((Descriptor::Output, To::Append(folder.join("log"))));
    let walk = Walk {
        steps: vec![
            WalkStep { joint: Joint::Always, programs: vec![first, second] },
            WalkStep { joint: Joint::Success, programs: vec![third] },
        ],
    };
    let ran = run(bench, order(bench, Manner::Plan(walk)));
    if bench.who.confines() {
        assert!(is_refused(&ran));
        assert!(!folder.join("log").exists());
        return Ok(());
    }
    let output = ran?;
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("OWN DEMO\n", ""));
    assert_eq!(output.exit_code, Some(0));
    assert_eq!(fs::read_to_string(folder.join("log"))?, format!("{}\n", folder.display()));
    let record = record(bench, &output)?;
    assert_eq!(record["arguments"], json!([]));
    let planned = record["plan"].as_array().ok_or("a list")?;
    assert_eq!(planned.len(), 3, "{record}");
    assert_eq!(planned[0]["arguments"][0], "sh");
    assert_eq!(planned[0]["environment"], json!(["A=own"]));
    assert_eq!((&planned[1]["step"], &planned[2]["step"]), (&json!(0), &json!(1)));
    assert_eq!(planned[2]["joint"], "success");
    assert_eq!(planned[2]["directory"], folder.display().to_string());
    let log = format!("1>>{}", folder.join("log").display());
    assert_eq!(planned[2]["redirections"], json!([log]));
    Ok(())
}

fn changed(bench: &Bench) -> Result<(), Failed> {
    let folder = folder(bench)?;
    let script = bench.write("elsewhere/script.sh", "echo approved\n");
    let name = script.display().to_string();
    let mut program = walked(&folder, &["sh", &name]);
    program.pins = vec![Pin::of(&script)?, Pin::of(&folder)?];
    let step = WalkStep { joint: Joint::Always, programs: vec![program] };
    let walk = Walk { steps: vec![step] };
    if bench.who.confines() {
        assert!(is_refused(&run(bench, order(bench, Manner::Plan(walk)))));
        return Ok(());
    }
    let output = run(bench, order(bench, Manner::Plan(walk.clone())))?;
    assert_eq!((output.stdout.as_str(), output.denials.len()), ("approved\n", 0));
    bench.write("elsewhere/script.sh", "echo something else\n");
    let output = run(bench, order(bench, Manner::Plan(walk)))?;
    assert_eq!((output.stdout.as_str(), output.exit_code), ("", Some(126)));
    assert_eq!(output.denials, [Denial { kind: DenialKind::Changed, what: name.clone() }]);
    assert!(output.stderr.ends_with("changed since it was approved\n"), "{output:?}");
    Ok(())
}

fn large_output(bench: &Bench) -> Result<(), Failed> {
    let folder = folder(bench)?;
    let programs = vec![walked(&folder, &["yes"]), walked(&folder, &["head", "-c", "3000000"])];
    let walk = Walk { steps: vec![WalkStep { joint: Joint::Always, programs }] };
    let ran = run(bench, order(bench, Manner::Plan(walk)));
    if bench.who.confines() {
        assert!(is_refused(&ran));
        return Ok(());
    }
    let output = ran?;
    assert!(output.stdout.len() < 20_000 && output.stdout_ref.is_some(), "it is cut");
    let whole = bench.workspace().join("runs").join(&output.run).join("stdout");
    assert_eq!(fs::metadata(whole)?.len(), 3_000_000);
    Ok(())
}

fn outside(bench: &Bench) -> Result<(), Failed> {
    let folder = folder(bench)?;
    let start = |manner, text: &str, folder: PathBuf| {
        let mut order = order(bench, manner);
        text.clone_into(&mut order.request.command);
        run(bench, RunOrder { outside: Some(folder), ..order })
    };
    let ran = start(Manner::Shell, "pwd; echo $HOME; touch made", folder.clone());
    if bench.who.confines() {
        assert!(is_refused(&ran));
        assert!(!folder.join("made").exists());
        return Ok(());
    }
    let output = ran?;
    let home = output.stdout.strip_prefix(&format!("{}\n", folder.display()));
    let home = home.ok_or("it starts there")?.trim();
    assert!(Path::new(home).starts_with(bench.workspace()), "{home}");
    assert!(folder.join("made").exists() && output.output_files.is_empty(), "{output:?}");
    let record = record(bench, &output)?;
    assert_eq!(record["directory"], folder.display().to_string());
    let words = Manner::Arguments(vec!["ls".to_owned()]);
    assert_eq!(start(words, "ls", folder)?.stdout, "made\n");
    for nowhere in ["elsewhere".into(), bench.path("nowhere")] {
        let refused = start(Manner::Shell, "pwd", nowhere).map(|it| it.stdout);
        let error = refused.expect_err("there is no such folder").to_string();
        assert!(error.contains("cannot be entered"), "{error}");
    }
    Ok(())
}
