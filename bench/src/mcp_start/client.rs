//! A client that starts the server, asks for `initialize`, and leaves when it has the answer.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use wait4::Wait4;

use crate::discovery::{Metier, Skills};
use crate::process::{Sample, measure, program};

/// What a client sends first.
const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#
);

/// What the last start left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caches {
    /// Nothing: as after an installation.
    Gone,
    /// All of it.
    There,
}

/// A home with skills; removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Client<'a> {
    metier: &'a Metier,
    home: TempDir,
    roots: Vec<PathBuf>,
}

impl<'a> Client<'a> {
    /// Makes a home with so many skills.
    pub(crate) fn new(metier: &'a Metier, skills: usize) -> Result<Self> {
        let home = TempDir::new()?;
        for folder in ["project", "state"] {
            fs::create_dir(home.path().join(folder))?;
        }
        let roots = Skills::generate(skills, &home.path().join("skills"))?.roots;
        Ok(Self { metier, home, roots })
    }

    /// Starts the server up to its answer, which must have the catalog.
    pub(crate) fn start(&self, caches: Caches) -> Result<Sample> {
        let state = self.home.path().join("state");
        if caches == Caches::Gone {
            fs::remove_dir_all(&state)?;
            fs::create_dir(&state)?;
        }
        let mut command = self.command("mcp");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let began = Instant::now();
        let mut child = command.spawn().context("cannot start metier")?;
        let mut input = child.stdin.take().context("no input")?;
        let mut output = BufReader::new(child.stdout.take().context("no output")?);
        let mut answer = String::new();
        input.write_all(format!("{INITIALIZE}\n").as_bytes())?;
        output.read_line(&mut answer)?;
        let wall = began.elapsed();
        drop(input);
        let end = child.wait4()?;
        ensure!(end.status.success(), "`metier mcp` ended with {}", end.status);
        let answer: serde_json::Value = serde_json::from_str(&answer)?;
        let told = answer["result"]["instructions"].as_str().unwrap_or_default();
        ensure!(self.roots.is_empty() || told.contains("Available skills"), "no catalog: {answer}");
        let cpu = end.rusage.utime + end.rusage.stime;
        Ok(Sample { wall, cpu, peak_bytes: end.rusage.maxrss })
    }

    /// The binary doing nothing.
    pub(crate) fn version(&self) -> Result<Sample> {
        measure(self.bare().arg("--version"))
    }

    /// The binary listing the same skills, which is what finding them costs.
    pub(crate) fn list(&self) -> Result<Sample> {
        measure(self.command("skills list").arg("--json"))
    }

    fn command(&self, words: &str) -> Command {
        let mut command = self.bare();
        command.args(words.split(' ')).arg("--no-default-sources");
        for root in &self.roots {
            command.arg("--skills-dir").arg(root);
        }
        command
    }

    fn bare(&self) -> Command {
        let mut command = program(self.metier.path());
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home.path())
            .env("METIER_HOME", self.home.path().join("state"))
            .current_dir(self.home.path().join("project"));
        command
    }
}
