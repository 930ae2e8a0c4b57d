//! The benchmark `trust`: what the trust of a project's skills costs at the start of `metier run`.
//!
//! The same skills are those of a trusted project, those of a project that is trusted for one run, and a folder of the
//! user's own, which needs no trust. An older binary may take turns with this one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, ensure};
use tempfile::TempDir;

use super::server::Server;
use super::{println, shown};
use crate::discovery::{Metier, Skills};
use crate::process::{Sample, measure, program};
use crate::statistics::Cost;
use crate::table::Table;

/// How to measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Repeat less often
    #[arg(long)]
    quick: bool,
    /// Measure this binary instead of building one
    #[arg(long, value_name = "FILE")]
    metier: Option<PathBuf>,
    /// Compare with this binary of an earlier version
    #[arg(long, value_name = "FILE")]
    before: Option<PathBuf>,
}

const SKILLS: usize = 1_000;
/// Rounds that are counted; one before them is not.
const ROUNDS: usize = 31;
const QUICK_ROUNDS: usize = 9;

/// How the skills come to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SkillsBy {
    /// They are the user's own.
    Folder,
    /// `metier trust` was run.
    Trust,
    /// `--trust-project` is given.
    Flag,
}

impl SkillsBy {
    const ALL: [Self; 3] = [Self::Folder, Self::Trust, Self::Flag];

    fn name(self) -> &'static str {
        match self {
            Self::Folder => "a folder of one's own",
            Self::Trust => "a trusted project",
            Self::Flag => "`--trust-project`",
        }
    }

    /// The state directory of its starts.
    fn state(self) -> &'static str {
        match self {
            Self::Folder => "state-folder",
            Self::Trust => "state-trust",
            Self::Flag => "state-flag",
        }
    }
}

/// A home with a project, for one binary.
struct ProjectHome<'a> {
    binary: &'a Path,
    server: &'a Server,
    home: TempDir,
}

/// Measures and prints.
pub(crate) fn run(arguments: &TrustArgs) -> Result<()> {
    let metier = Metier::find(arguments.metier.as_deref())?;
    let before = arguments.before.as_deref().map(|file| Metier::find(Some(file))).transpose()?;
    let rounds = if arguments.quick { QUICK_ROUNDS } else { ROUNDS };
    let server = Server::start()?;
    let now = ProjectHome::new(metier.path(), &server)?;
    let then = before.as_ref().map(|it| ProjectHome::new(it.path(), &server)).transpose()?;
    let homes: Vec<&ProjectHome<'_>> = [&now].into_iter().chain(&then).collect();
    let mut samples = vec![Vec::new(); homes.len() * SkillsBy::ALL.len()];
    for round in 0..=rounds {
        let subjects = homes.iter().flat_map(|home| SkillsBy::ALL.map(|by| (home, by)));
        for ((home, by), samples) in subjects.zip(&mut samples) {
            let sample = home.start(by)?;
            if round > 0 {
                samples.push(sample);
            }
        }
    }
    let costs: Vec<Cost> = samples.iter().map(|samples| Cost::of(samples)).collect();
    println(&format!("{}, {SKILLS} skills, {rounds} rounds\n", metier.version()?));
    println("Milliseconds to the first byte of the first request, median (minimum):\n");
    println(&table(&costs));
    Ok(())
}

fn table(costs: &[Cost]) -> String {
    let mut table =
        Table::new(&["skills are those of", "now", "÷ a folder", "before", "now ÷ before"]);
    let (now, before) = costs.split_at(SkillsBy::ALL.len());
    for (index, by) in SkillsBy::ALL.into_iter().enumerate() {
        let mut row =
            vec![by.name().to_owned(), shown(now[index].wall_ms), ratio(now[index], now[0])];
        if let Some(before) = before.get(index) {
            row.extend([shown(before.wall_ms), ratio(now[index], *before)]);
        }
        table.row(row);
    }
    table.render()
}

fn ratio(cost: Cost, over: Cost) -> String {
    let ratio = cost.wall_ms.over(over.wall_ms);
    format!("{:.2} ({:.2})", ratio.median, ratio.min)
}

impl<'a> ProjectHome<'a> {
    /// Makes a project with skills, and trusts it.
    fn new(binary: &'a Path, server: &'a Server) -> Result<Self> {
        let it = Self { binary, server, home: TempDir::new()? };
        fs::create_dir_all(it.home.path().join("project/.metier"))?;
        fs::create_dir(it.home.path().join("project/.git"))?;
        let made = Skills::generate(SKILLS, &it.home.path().join("made"))?;
        ensure!(made.roots.len() == 1, "the skills are in one folder");
        fs::rename(&made.roots[0], it.skills())?;
        for by in SkillsBy::ALL {
            fs::create_dir(it.home.path().join(by.state()))?;
        }
        measure(it.command(SkillsBy::Trust).arg("trust"))?;
        Ok(it)
    }

    fn skills(&self) -> PathBuf {
        self.home.path().join("project/.metier/skills")
    }

    /// Starts a task, and gives what it took to the first byte of its first request.
    fn start(&self, by: SkillsBy) -> Result<Sample> {
        let mut command = self.command(by);
        command
            .args(["run", "How many?", "--model", "openai/test", "--quiet"])
            .env("OPENAI_BASE_URL", format!("{}/v1", self.server.url("http")))
            .env("OPENAI_API_KEY", "sk-nothing-0123456789")
            .stderr(Stdio::null());
        match by {
            SkillsBy::Folder => {
                command.arg("--no-default-sources").arg("--skills-dir").arg(self.skills());
            }
            SkillsBy::Trust => {}
            SkillsBy::Flag => drop(command.arg("--trust-project")),
        }
        self.server.forget();
        let began = Instant::now();
        let sample = measure(&mut command)?;
        let arrival = self.server.arrival()?;
        let body = String::from_utf8_lossy(&arrival.body);
        ensure!(body.contains("- weather-"), "the request with {by:?} has no catalog");
        Ok(Sample { wall: arrival.at - began, ..sample })
    }

    fn command(&self, by: SkillsBy) -> Command {
        let mut command = program(self.binary);
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home.path())
            .env("METIER_HOME", self.home.path().join(by.state()))
            .current_dir(self.home.path().join("project"));
        command
    }
}
