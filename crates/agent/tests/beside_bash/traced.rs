//! What the kernel says was started.
//!
//! This binary runs again below `strace`, which writes down every program that any process of its tree
//! becomes. A folder that is not there is removed before each run, so that its name marks where the run begins.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::Failed;
use metier_approval::Approved;
use metier_testkit::skip;

use crate::bench::Bench;
use crate::compare::{Known, is_a_race, known};
use crate::generate::{Chance, command};

pub(crate) const NAME: &str = "the_kernel_sees_no_program_that_is_not_in_the_plan";

/// Names the place in which the traced process runs commands.
const PLACE: &str = "METIER_TRACED_PLACE";
/// How many commands are traced.
const COMMANDS: usize = 300;
/// Where their seeds begin; others are compared in the other tests.
const FIRST: u64 = 1_000_000;
/// What the names of marks begin with.
const MARK: &str = "/metier-mark-";

/// A program that a process became. Only root sees what a walker starts; others see that it does, without words.
#[derive(Debug)]
struct Started {
    path: PathBuf,
    words: Vec<String>,
}

/// Runs the commands, if this is the process that is traced.
pub(crate) fn run_if_asked() -> Option<ExitCode> {
    let place = std::env::var_os(PLACE)?;
    let bench = Bench::at(Path::new(&place));
    bench.reset();
    // Whatever is started once and for all is started here.
    bench.bash("ok");
    for (seed, text, _) in allowed(&bench) {
        bench.reset();
        // What was pinned before is another file by now.
        let approved = bench.allowed(&text).unwrap();
        mark(&format!("{seed}-plan"));
        bench.walk(&approved);
        bench.reset();
        mark(&format!("{seed}-bash"));
        bench.bash(&text);
    }
    mark("end");
    Some(ExitCode::SUCCESS)
}

pub(crate) fn commands() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.reset();
    let trace = bench.root().join("trace");
    let mut strace = Command::new("strace");
    strace.args([
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-xx",
        "-s",
        "65536",
        "-e",
        "trace=execve,execveat,rmdir",
        "-o",
    ]);
    strace.arg(&trace).arg(std::env::current_exe()?).env(PLACE, bench.root());
    let Ok(output) = strace.output() else {
        skip(NAME, "`strace` is not installed");
        return Ok(());
    };
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => {}
        false if said.contains("ptrace") && said.contains("not permitted") => {
            skip(NAME, "nobody may trace processes here");
            return Ok(());
        }
        false => return Err(said.into_owned().into()),
    }
    let mut runs = runs(&fs::read_to_string(trace)?)?;
    bench.reset();
    for (seed, text, approved) in allowed(&bench) {
        let mut run = |how| runs.remove(&format!("{seed}-{how}")).ok_or("it was not traced");
        let (walked, mut bash) = (run("plan")?, run("bash")?);
        if bash.is_empty() || !bash.remove(0).path.ends_with("bash") {
            return Err(format!("bash was not the first program of {bash:?}").into());
        }
        let known = known(&approved);
        let (hidden, walked): (Vec<_>, Vec<_>) =
            walked.into_iter().partition(|started| started.words.is_empty());
        let told = |why: String| format!("seed {seed}: {text:?}: {why}");
        let walked = in_plan(&walked, &known, |known| &known.called).map_err(told)?;
        let bash = in_plan(&bash, &known, |known| &known.written).map_err(told)?;
        let is_same = match hidden.len() {
            0 => walked == bash,
            hidden => hidden + walked.len() == bash.len(),
        };
        if !is_same {
            return Err(format!("seed {seed}: {text:?}\nplan: {walked:?}\nbash: {bash:?}").into());
        }
    }
    Ok(())
}

/// The commands that may run. Each place gives the same ones.
fn allowed(bench: &Bench) -> Vec<(u64, String, Approved)> {
    let texts = (FIRST..).map(|seed| (seed, command(&mut Chance::new(seed))));
    bench.reset();
    let allowed = texts.filter_map(|(seed, text)| {
        let approved = bench.allowed(&text).filter(|approved| !is_a_race(approved))?;
        Some((seed, text, approved))
    });
    allowed.take(COMMANDS).collect()
}

fn mark(name: &str) {
    let _not_there = fs::remove_dir(format!("{MARK}{name}"));
}

/// Which programs of a plan were started: their words as they are written, and what they are.
///
/// # Errors
///
/// What was started that is not in the plan.
fn in_plan<'a>(
    started: &[Started],
    known: &'a [Known],
    words: fn(&Known) -> &Vec<String>,
) -> Result<Vec<(&'a [String], &'a Path)>, String> {
    let find = |started: &Started| {
        let is_it = |known: &&Known| {
            let real = known.folder.join(&started.path).canonicalize();
            words(known) == &started.words && real.is_ok_and(|real| real == known.real)
        };
        let found = known.iter().find(is_it);
        let found = found.ok_or_else(|| format!("{started:?} is not in the plan"))?;
        Ok((found.written.as_slice(), found.real.as_path()))
    };
    let mut found = started.iter().map(find).collect::<Result<Vec<_>, String>>()?;
    found.sort_unstable();
    Ok(found)
}

/// What was started after each mark.
fn runs(trace: &str) -> Result<HashMap<String, Vec<Started>>, Failed> {
    let mut runs: HashMap<String, Vec<Started>> = HashMap::new();
    let mut mark = String::new();
    let mut unfinished: HashMap<&str, &str> = HashMap::new();
    for line in trace.lines() {
        let (process, call) = line.split_once(' ').unwrap_or_default();
        let call = call.trim_start();
        if call.ends_with("<unfinished ...>") {
            unfinished.insert(process, call);
            continue;
        }
        let begun = if call.starts_with("<...") { unfinished.remove(process) } else { Some(call) };
        let Some(begun) = begun else { continue };
        if begun.starts_with("rmdir(") {
            let name = texts(begun).pop().unwrap_or_default();
            if let Some(name) = name.strip_prefix(MARK) {
                mark = name.to_owned();
                runs.entry(mark.clone()).or_default();
            }
        } else if begun.starts_with("exec") && call.ends_with("= 0") {
            let mut words = texts(begun);
            let is_hidden = begun.starts_with("execve(0x");
            if words.is_empty() != is_hidden || begun.contains("...]") {
                return Err(format!("what was started cannot be told: {begun}").into());
            }
            let path = if is_hidden { PathBuf::new() } else { words.remove(0).into() };
            runs.entry(mark.clone()).or_default().push(Started { path, words });
        }
    }
    Ok(runs)
}

/// The texts of a call, all of whose bytes are written as numbers.
fn texts(call: &str) -> Vec<String> {
    let quoted = call.split('"').skip(1).step_by(2);
    let bytes = quoted.map(|text| {
        let numbers = text.split("\\x").skip(1);
        numbers.map(|number| u8::from_str_radix(number, 16).unwrap()).collect::<Vec<_>>()
    });
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}
