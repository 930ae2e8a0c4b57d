//! The benchmark `run`: what a run costs beside starting the same shell without metier.
//!
//! Runs in process, so that only the run is measured, and the whole binary as people start it; staging
//! beside `cp -a`, collecting beside reading once, and the memory that a flood of output takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use metier_sandbox::Cancel;
use metier_workspace::artifact::MemoryStore;
use metier_workspace::executor::{Firmness, LocalExecutor};
use metier_workspace::request::OutputSpec;
use metier_workspace::{
    Manner, Redactor, RunOrder, RunOutput, RunRequest, RunSettings, Runner, Tree, TreeEntry,
    TreeKind, WorkspaceKey, Workspaces,
};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::discovery::Metier;
use crate::process::{measure, program};
use crate::statistics::Spread;
use crate::table::Table;

/// How to measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// Repeat less often
    #[arg(long)]
    quick: bool,
    /// Measure only what masking keys adds
    #[arg(long)]
    masking: bool,
    /// Measure this binary instead of building one
    #[arg(long, value_name = "FILE")]
    metier: Option<PathBuf>,
}

/// Files that are staged and collected.
const FILES: usize = 1_000;
/// Files of a skill that is large, but not unusual.
const MANY: usize = 200;
/// Bytes that are printed to see what memory that takes.
const FLOOD: &str = "head -c 1000000000 /dev/zero";

/// Prints 100 MB of text.
const TEXT: &str = "yes 'GET /api/v1/users?page=7&sort=name%20desc 200 \"ok\" in 12 ms {\"a\":1}' | head -c 100000000";

/// Measures and prints.
pub(crate) fn run(arguments: &RunArgs) -> Result<()> {
    let rounds = if arguments.quick { 9 } else { 41 };
    if arguments.masking {
        return masking(rounds.min(9));
    }
    let metier = Metier::find(arguments.metier.as_deref())?;
    let metier = metier.path();
    overhead(metier, rounds)?;
    skill_of_many_files(rounds)?;
    staging(rounds.min(9))?;
    collecting(rounds.min(9))?;
    masking(rounds.min(9))?;
    flood(metier)
}

/// A workspace with a skill, and somebody to run its commands.
struct Place {
    root: TempDir,
    runner: Runner,
    runtime: tokio::runtime::Runtime,
    tree: Tree,
}

impl Place {
    fn new(executor: LocalExecutor, files: usize) -> Result<Self> {
        let root = tempfile::tempdir()?;
        let folder = root.path().join("skill");
        fs::create_dir(&folder)?;
        let mut entries = Vec::new();
        for index in 0..files {
            let text = format!("File number {index}.\n").repeat(100);
            let path = format!("file-{index:04}.txt");
            fs::write(folder.join(&path), &text)?;
            let sha256 = Sha256::digest(&text).into();
            entries.push(TreeEntry { path, kind: TreeKind::File { sha256, executable: false } });
        }
        let state = root.path().join("state");
        let workspaces = Workspaces::open(&state.join("workspaces"), &state.join("content"))?;
        let artifacts = Arc::new(MemoryStore::new());
        Ok(Self {
            runner: Runner {
                workspaces,
                artifacts,
                executor: executor.into(),
                redactor: Redactor::default(),
            },
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build()?,
            tree: Tree { name: "bench".into(), folder, digest: "0".repeat(64), entries },
            root,
        })
    }

    fn run(&self, request: RunRequest) -> Result<RunOutput> {
        self.run_in("bench", request)
    }

    fn key(session: &str) -> WorkspaceKey {
        let [app, user, session] = ["bench", "bench", session].map(str::to_owned);
        WorkspaceKey { app, user, session, generation: 0 }
    }

    fn run_in(&self, session: &str, request: RunRequest) -> Result<RunOutput> {
        let key = Self::key(session);
        let settings = RunSettings::default();
        let order = RunOrder {
            key,
            request,
            trees: vec![self.tree.clone()],
            settings,
            manner: Manner::Shell,
            identity: None,
            outside: None,
        };
        let live = Box::new(|_, _: &[u8]| {});
        Ok(self.runtime.block_on(self.runner.run(order, live, Cancel::new()?))?)
    }

    fn sh(&self, command: &str) -> Result<RunOutput> {
        self.run(Self::request(command))
    }

    fn request(command: &str) -> RunRequest {
        RunRequest { skill: "bench".into(), command: command.into(), ..RunRequest::default() }
    }

    /// Runs `true` in a session of its own that is over then, as `metier exec` does.
    fn once(&self, session: &str) -> Result<()> {
        self.run_in(session, Self::request("true"))?;
        Ok(self.runner.workspaces.give_copies_back(&Self::key(session))?)
    }
}

const SANDBOX: LocalExecutor = LocalExecutor::Sandbox(Firmness::Full);

fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64() * 1_000.0)
}

fn shell() -> Command {
    let mut command = program("bash");
    command.args(["-c", "true"]);
    command
}

fn namespaces() -> Command {
    let mut command = program("unshare");
    command.args(["-Urmpnf", "--mount-proc", "bash", "-c", "true"]);
    command
}

fn overhead(metier: &Path, rounds: usize) -> Result<()> {
    let (host, sandbox) = (Place::new(LocalExecutor::Host, 1)?, Place::new(SANDBOX, 1)?);
    let home = tempfile::tempdir()?;
    let exec = || {
        let mut command = program(metier);
        command.args(["-q", "exec", "number-lab", "--session", "bench", "--", "true"]);
        command.env("METIER_HOME", home.path()).current_dir(home.path());
        command
    };
    let mut times: [Vec<f64>; 6] = Default::default();
    for round in 0..=rounds {
        let samples = [
            timed(|| measure(&mut shell()).map(|_| ()))?,
            timed(|| host.sh("true").map(|_| ()))?,
            timed(|| measure(&mut namespaces()).map(|_| ()))?,
            timed(|| sandbox.sh("true").map(|_| ()))?,
            timed(|| measure(&mut exec()).map(|_| ()))?,
            fsync(home.path())?,
        ];
        // The first round stages and fills caches.
        if round > 0 {
            times.iter_mut().zip(samples).for_each(|(times, sample)| times.push(sample));
        }
    }
    let [shell, host, namespaces, sandbox, exec, fsync] = times.map(Spread::of);
    let mut table =
        Table::new(&["what", "ms, median (minimum)", "ratio", "ratio without the fsync"]);
    let mut row = |what: &str, it: Spread, floor: Option<Spread>| {
        let ratio = floor.map(|floor| shown(it.over(floor))).unwrap_or_default();
        let bare = Spread { median: it.median - fsync.median, min: it.min - fsync.min };
        let bare = floor.map(|floor| shown(bare.over(floor))).unwrap_or_default();
        table.row(vec![what.to_owned(), shown(it), ratio, bare]);
    };
    row("`bash -c true`", shell, None);
    row("run on the host ÷ `bash -c true`", host, Some(shell));
    row("`unshare -Urmpnf --mount-proc bash -c true`", namespaces, None);
    row("run in the sandbox ÷ `unshare …`", sandbox, Some(namespaces));
    row("`metier exec` in the sandbox ÷ `unshare …`", exec, Some(namespaces));
    row("fsync of a record", fsync, None);
    print("An already staged run of `true`", &table);
    Ok(())
}

/// What a run costs of a skill with many files, all of which are compared with their digests before it: in one session,
/// in a session that is new each time and gives its copies back, and on the host also in one that keeps them.
fn skill_of_many_files(rounds: usize) -> Result<()> {
    let (host, sandbox) = (Place::new(LocalExecutor::Host, MANY)?, Place::new(SANDBOX, MANY)?);
    let mut times: [Vec<f64>; 5] = Default::default();
    for round in 0..=rounds {
        let (once, kept) = (format!("once-{round}"), format!("kept-{round}"));
        let samples = [
            timed(|| sandbox.sh("true").map(|_| ()))?,
            timed(|| host.sh("true").map(|_| ()))?,
            timed(|| sandbox.once(&once))?,
            timed(|| host.once(&once))?,
            {
                // Without a copy that was given back, one is made.
                let spare = host.root.path().join("state/workspaces/.spare");
                fs::rename(&spare, spare.with_extension("away"))?;
                let time = timed(|| host.run_in(&kept, Place::request("true")).map(|_| ()))?;
                fs::rename(spare.with_extension("away"), spare)?;
                time
            },
        ];
        if round > 0 {
            times.iter_mut().zip(samples).for_each(|(times, sample)| times.push(sample));
        }
    }
    let [sandbox, host, sandbox_once, host_once, host_kept] = times.map(Spread::of);
    let mut table = Table::new(&["what", "ms, median (minimum)", "÷ sandbox"]);
    let mut row = |what: &str, it: Spread, floor: Option<Spread>| {
        let ratio = floor.map(|floor| shown(it.over(floor))).unwrap_or_default();
        table.row(vec![what.to_owned(), shown(it), ratio]);
    };
    row("in one session, sandbox", sandbox, None);
    row("in one session, host", host, Some(sandbox));
    row("in a new session, sandbox", sandbox_once, None);
    row("in a new session, host", host_once, Some(sandbox_once));
    row("in a new session, host, first copy", host_kept, Some(sandbox_once));
    print("A run of `true` of a skill of 200 files", &table);
    Ok(())
}

/// What writing a record to disk takes by itself.
fn fsync(folder: &Path) -> Result<f64> {
    timed(|| {
        let path = folder.join("record");
        let file = fs::File::create(&path)?;
        std::io::Write::write_all(&mut &file, &[b'x'; 2_000])?;
        file.sync_all()?;
        Ok(fs::rename(path, folder.join("renamed"))?)
    })
}

fn staging(rounds: usize) -> Result<()> {
    let (mut copies, mut first, mut second) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let place = Place::new(SANDBOX, FILES)?;
        let mut copy = program("cp");
        copy.arg("-a").arg(&place.tree.folder).arg(place.root.path().join("copy"));
        copies.push(timed(|| measure(&mut copy).map(|_| ()))?);
        let stage = || metier_workspace::stage::stage(&place.runner.workspaces, &place.tree);
        first.push(timed(|| Ok(stage().map(|_| ())?))?);
        second.push(timed(|| Ok(stage().map(|_| ())?))?);
    }
    let [copies, first, second] = [copies, first, second].map(Spread::of);
    let mut table = Table::new(&["what", "ms, median (minimum)", "÷ `cp -a`"]);
    table.row(vec!["`cp -a`".into(), shown(copies)]);
    table.row(vec!["first time, verified".into(), shown(first), shown(first.over(copies))]);
    table.row(vec!["second time".into(), shown(second), shown(second.over(copies))]);
    print("Staging a skill of 1 000 files", &table);
    Ok(())
}

fn collecting(rounds: usize) -> Result<()> {
    let place = Place::new(SANDBOX, 1)?;
    place.sh("for i in $(seq 1000); do head -c 2000 /dev/zero | tr '\\0' x > out/$i.txt; done")?;
    let request = || RunRequest {
        skill: "bench".into(),
        command: "true".into(),
        outputs: Some(OutputSpec {
            globs: vec!["out/**".into()],
            max_files: FILES,
            ..OutputSpec::default()
        }),
        ..RunRequest::default()
    };
    let out = find_out(place.root.path()).context("the folder of outputs")?;
    let (mut reading, mut plain, mut collecting) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..=rounds {
        reading.push(timed(|| {
            for entry in fs::read_dir(&out)? {
                std::hint::black_box(fs::read(entry?.path())?);
            }
            Ok(())
        })?);
        plain.push(timed(|| place.sh("true").map(|_| ()))?);
        collecting.push(timed(|| {
            let output = place.run(request())?;
            ensure!(output.output_files.len() == FILES, "not all files were collected");
            Ok(())
        })?);
    }
    let [reading, plain, collecting] = [reading, plain, collecting].map(Spread::of);
    let alone =
        Spread { median: collecting.median - plain.median, min: collecting.min - plain.min };
    let mut table = Table::new(&["what", "ms, median (minimum)", "÷ reading"]);
    table.row(vec!["reading every file once".into(), shown(reading)]);
    table.row(vec![
        "collecting, the run itself apart".into(),
        shown(alone),
        shown(alone.over(reading)),
    ]);
    print("Collecting 1 000 files of 2 kB", &table);
    Ok(())
}

/// What masking keys adds to a run that prints much.
fn masking(rounds: usize) -> Result<()> {
    let keys = |count: usize| (0..count).map(|it| format!("sk-{it:04}-aB3dE5gH7jK9mN1pQ3sT5vW7"));
    let mut places = Vec::new();
    for count in [0, 1, 20] {
        let mut place = Place::new(SANDBOX, 1)?;
        place.runner.redactor = Redactor::new(keys(count))?;
        places.push((count, place, Vec::new()));
    }
    for _ in 0..rounds {
        for (_, place, times) in &mut places {
            times.push(timed(|| place.sh(TEXT).map(|_| ()))?);
        }
    }
    let mut table = Table::new(&["keys", "ms, median (minimum)", "÷ without keys"]);
    let floor = Spread::of(places[0].2.clone());
    for (count, _, times) in places {
        let spread = Spread::of(times);
        table.row(vec![count.to_string(), shown(spread), shown(spread.over(floor))]);
    }
    print("A run that prints 100 MB of text", &table);
    Ok(())
}

fn find_out(root: &Path) -> Option<PathBuf> {
    let user = root.join("state/workspaces/bench/bench");
    let session = fs::read_dir(user).ok()?.filter_map(Result::ok).next()?;
    Some(session.path().join("out"))
}

fn flood(metier: &Path) -> Result<()> {
    let home = tempfile::tempdir()?;
    let mut command = program(metier);
    command.args(["-q", "exec", "number-lab", "--json", "--", FLOOD]);
    command.env("METIER_HOME", home.path()).current_dir(home.path());
    let sample = measure(&mut command)?;
    let mebibytes = sample.peak_bytes as f64 / f64::from(1 << 20);
    let seconds = Duration::as_secs_f64(&sample.wall);
    println(&format!(
        "A program that prints 1 GB: {mebibytes:.1} MiB at the most, {seconds:.1} s.\n"
    ));
    Ok(())
}

fn shown(spread: Spread) -> String {
    format!("{:.2} ({:.2})", spread.median, spread.min)
}

fn print(title: &str, table: &Table) {
    println(&format!("{title}:\n\n{}", table.render()));
}

#[expect(clippy::print_stdout, reason = "a benchmark reports to the terminal")]
fn println(text: &str) {
    println!("{text}");
}
