//! Programs of a plan, or elsewhere, are talked to like those of a shell.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;
use metier_sandbox::{Joint, Walk, WalkStep, Walked};
use metier_workspace::interactive::{InteractiveError, Progress, SessionStatus, StartOptions};
use metier_workspace::{Manner, RunOrder};
use serde_json::json;

use crate::Promise;
use crate::bench::{Bench, Who};

pub(crate) const PROMISES: &[Promise] = &[
    ("arguments_are_talked_to", arguments),
    ("a_plan_is_talked_to_on_a_terminal", plan_on_a_terminal),
    ("a_plan_is_talked_to_on_pipes", plan_on_pipes),
    ("ctrl_c_ends_a_plan", interrupt),
];

fn start(
    bench: &Bench,
    manner: Manner,
    outside: Option<PathBuf>,
    options: StartOptions,
) -> Result<Progress, InteractiveError> {
    let request = json!({"skill": "demo", "command": "as it was asked for"});
    let order = RunOrder { manner, outside, ..bench.order(request) };
    bench.wait(bench.interactive.start(&bench.runner, order, options))
}

const PIPES: StartOptions =
    StartOptions { terminal: None, waiting: metier_workspace::interactive::Waiting::FIRST };

/// A pipeline, and a step after it.
fn plan(folder: &Path, pipeline: &[&[&str]], after: &[&str]) -> Manner {
    let walked = |words: &[&str]| Walked {
        executable: Path::new("/usr/bin").join(words[0]).canonicalize().expect("it is installed"),
        arguments: words.iter().map(Into::into).collect(),
        environment: Vec::new(),
        directory: folder.to_owned(),
        redirections: Vec::new(),
        pins: Vec::new(),
        places: Vec::new(),
    };
    let programs = pipeline.iter().map(|words| walked(words)).collect();
    Manner::Plan(Walk {
        steps: vec![
            WalkStep { joint: Joint::Always, programs },
            WalkStep { joint: Joint::Always, programs: vec![walked(after)] },
        ],
    })
}

fn folder(bench: &Bench) -> Result<PathBuf, Failed> {
    let folder = bench.root.path().canonicalize()?.join("elsewhere");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Starts a plan elsewhere; nothing where that is refused.
fn start_plan(
    bench: &Bench,
    manner: Manner,
    options: StartOptions,
) -> Result<Option<Progress>, Failed> {
    let started = start(bench, manner, Some(folder(bench)?), options);
    if bench.who == Who::Sandbox {
        let error = started.expect_err("it is not confined").to_string();
        assert!(error.contains("use `host`"), "{error}");
        return Ok(None);
    }
    Ok(Some(started?))
}

fn arguments(bench: &Bench) -> Result<(), Failed> {
    let words = ["sh", "-c", "read x; echo \"got $x $1\"", "-", "$(id)"].map(str::to_owned);
    let manner = Manner::Arguments(words.into());
    let first = start(bench, manner, None, StartOptions::default())?;
    let ends = bench.to_the_end(bench.submit(&first.session_id, "it"));
    assert!(ends.output.ends_with("got it $(id)\n"), "{ends:?}");
    Ok(())
}

fn plan_on_a_terminal(bench: &Bench) -> Result<(), Failed> {
    let reader = ["sh", "-c", "test -t 0 && read x; echo $x"];
    let manner = plan(&folder(bench)?, &[&reader, &["tr", "a-z", "A-Z"]], &["pwd"]);
    let Some(first) = start_plan(bench, manner, StartOptions::default())? else { return Ok(()) };
    let ends = bench.to_the_end(bench.submit(&first.session_id, "line"));
    let expected = format!("LINE\n{}\n", folder(bench)?.display());
    assert!(ends.output.ends_with(&expected), "{ends:?}");
    assert_eq!((ends.status, ends.exit_code), (SessionStatus::Exited, Some(0)));
    Ok(())
}

fn plan_on_pipes(bench: &Bench) -> Result<(), Failed> {
    let manner = plan(&folder(bench)?, &[&["cat"], &["wc", "-l"]], &["echo", "after"]);
    let Some(first) = start_plan(bench, manner, PIPES)? else { return Ok(()) };
    let ends = bench.to_the_end(bench.press(&first.session_id, "one\ntwo\n\x04"));
    assert_eq!((ends.output.as_str(), ends.exit_code), ("2\nafter\n", Some(0)), "{ends:?}");
    Ok(())
}

fn interrupt(bench: &Bench) -> Result<(), Failed> {
    let ready = ["sh", "-c", "echo ready >&2; exec cat"];
    let manner = plan(&folder(bench)?, &[&["sleep", "60"], &ready], &["echo", "after"]);
    let Some(first) = start_plan(bench, manner, StartOptions::default())? else { return Ok(()) };
    let first = bench.until(first, |it| it.output.contains("ready"));
    let ends = bench.to_the_end(bench.press(&first.session_id, "\x03"));
    assert!(!ends.output.contains("after"), "{ends:?}");
    let result = ends.result.ok_or("a result")?;
    assert_eq!((result.exit_code, result.signal), (None, Some(2)), "{result:?}");
    Ok(())
}
