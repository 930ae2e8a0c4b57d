//! The programs that are started, each with a home of its own that has the same skills.
#![expect(clippy::disallowed_methods, reason = "other programs are looked for on the PATH")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use wait4::Wait4;

use crate::discovery::{Metier, Skills};
use crate::process::{Sample, measure, program};
use crate::start::server::{Arrival, Server};

/// What everybody is asked.
const TASK: &str = "How many pages does report.pdf have?";
/// A key that opens nothing.
const KEY: &str = "sk-nothing-0123456789";
/// A program that does nothing at all.
const EMPTY: &str = "fn main() {}\n";

/// The skills that a program finds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Collection<'a> {
    /// So many made by counting.
    Generated(usize),
    /// Those of a folder.
    Folder(&'a Path),
}

/// Homes for programs, with skills; removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Workshop<'a> {
    metier: &'a Metier,
    server: &'a Server,
    home: TempDir,
    /// Folders with skills in them.
    roots: Vec<PathBuf>,
    /// How many skills there are.
    pub(crate) count: usize,
}

/// What is kept from one start to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nothing: as after an installation.
    Nothing,
    /// What the last start left.
    Started,
}

/// Another program that does the same, if it is installed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    /// Its name, which is also that of its program.
    pub(crate) name: &'static str,
    /// Where it looks for skills, below its home.
    skills: &'static str,
    /// Its arguments; `URL` is the address of the server, `TASK` the task.
    arguments: &'static [&'static str],
    /// The variable with the address of the server.
    address: &'static str,
    key: &'static str,
}

/// Those that are looked for.
pub(crate) const PEERS: [Peer; 4] = [
    Peer {
        name: "codex",
        skills: ".codex/skills",
        arguments: &[
            "exec",
            "--skip-git-repo-check",
            "-c",
            "model_provider=\"bench\"",
            "-c",
            "model_providers.bench={name=\"bench\",base_url=\"URL/v1\",env_key=\"OPENAI_API_KEY\"}",
            "TASK",
        ],
        address: "OPENAI_BASE_URL",
        key: "OPENAI_API_KEY",
    },
    Peer {
        name: "claude",
        skills: ".claude/skills",
        arguments: &["-p", "TASK"],
        address: "ANTHROPIC_BASE_URL",
        key: "ANTHROPIC_API_KEY",
    },
    Peer {
        name: "kodelet",
        skills: ".kodelet/skills",
        arguments: &["run", "TASK"],
        address: "ANTHROPIC_BASE_URL",
        key: "ANTHROPIC_API_KEY",
    },
    Peer {
        name: "openclaw",
        skills: ".openclaw/skills",
        arguments: &["agent", "--local", "--message", "TASK"],
        address: "OPENAI_BASE_URL",
        key: "OPENAI_API_KEY",
    },
];

impl Peer {
    /// Where its program is.
    pub(crate) fn program(self) -> Option<PathBuf> {
        let path = env::var_os("PATH")?;
        env::split_paths(&path).map(|folder| folder.join(self.name)).find(|file| file.is_file())
    }
}

impl<'a> Workshop<'a> {
    /// Makes a home with skills.
    pub(crate) fn new(
        metier: &'a Metier,
        server: &'a Server,
        collection: Collection<'_>,
    ) -> Result<Self> {
        let home = TempDir::new()?;
        for folder in ["project", "state"] {
            fs::create_dir(home.path().join(folder))?;
        }
        let (roots, count) = match collection {
            Collection::Generated(count) => {
                let skills = Skills::generate(count, &home.path().join("skills"))?;
                (skills.roots, count)
            }
            Collection::Folder(folder) => {
                let folder = folder.canonicalize().context("there is no such folder of skills")?;
                let entries = fs::read_dir(&folder)?.collect::<Result<Vec<_>, _>>()?;
                let count = entries.iter().filter(|it| it.path().join("SKILL.md").is_file());
                (vec![folder], count.count())
            }
        };
        Ok(Self { metier, server, home, roots, count })
    }

    /// Starts the binary, and gives what it took to its first byte and to its end.
    pub(crate) fn start(&self, before: Before) -> Result<(Sample, Arrival)> {
        let state = self.home.path().join("state");
        if before == Before::Nothing {
            fs::remove_dir_all(&state)?;
            fs::create_dir(&state)?;
        }
        self.server.forget();
        let began = Instant::now();
        let sample = measure(&mut self.run("http"))?;
        let arrival = self.server.arrival()?;
        Ok((Sample { wall: arrival.at - began, ..sample }, arrival))
    }

    /// Starts it for a server that speaks TLS, up to the first byte of the connection.
    pub(crate) fn start_tls(&self) -> Result<Sample> {
        self.until_first_byte(&mut self.run("https"))
    }

    /// The binary doing nothing.
    pub(crate) fn version(&self) -> Result<Sample> {
        measure(self.metier_command().arg("--version"))
    }

    /// Starts a peer, up to its first byte.
    pub(crate) fn start_peer(&self, peer: Peer, binary: &Path) -> Result<Sample> {
        let home = self.home.path().join(peer.name);
        let skills = home.join(peer.skills);
        if !skills.exists() {
            fs::create_dir_all(&skills)?;
            for root in &self.roots {
                for entry in fs::read_dir(root)? {
                    let entry = entry?;
                    std::os::unix::fs::symlink(entry.path(), skills.join(entry.file_name()))?;
                }
            }
        }
        let url = self.server.url("http");
        let words = peer.arguments.iter();
        let words = words.map(|word| word.replace("URL", &url).replace("TASK", TASK));
        let mut command = program(binary);
        command
            .args(words)
            .env("HOME", &home)
            .env(peer.address, &url)
            .env(peer.key, KEY)
            .current_dir(self.home.path().join("project"))
            .stderr(Stdio::null());
        self.until_first_byte(&mut command)
    }

    /// Makes sure that the task and the catalog are in a request that was sent.
    pub(crate) fn check(&self, arrival: &Arrival) -> Result<()> {
        let body: serde_json::Value = serde_json::from_slice(&arrival.body)?;
        let system = body["messages"][0]["content"].as_str().unwrap_or_default();
        ensure!(body.to_string().contains(TASK), "the request has no task: {body}");
        ensure!(
            self.count == 0 || system.contains("Available skills:"),
            "the request has no catalog: {system}"
        );
        Ok(())
    }

    /// Ends a program when its first byte is there: what it would do next is not measured.
    fn until_first_byte(&self, command: &mut Command) -> Result<Sample> {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        self.server.forget();
        let began = Instant::now();
        let mut child = command.spawn()?;
        let arrival = self.server.arrival();
        child.kill()?;
        let end = child.wait4()?;
        let cpu = end.rusage.utime + end.rusage.stime;
        Ok(Sample { wall: arrival?.at - began, cpu, peak_bytes: end.rusage.maxrss })
    }

    fn run(&self, scheme: &str) -> Command {
        let mut command = self.metier_command();
        command
            .args(["run", TASK, "--model", "openai/test", "--quiet", "--no-default-sources"])
            .env("OPENAI_BASE_URL", format!("{}/v1", self.server.url(scheme)))
            .env("OPENAI_API_KEY", KEY)
            .stderr(Stdio::null());
        for root in &self.roots {
            command.arg("--skills-dir").arg(root);
        }
        command
    }

    fn metier_command(&self) -> Command {
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

/// An empty Rust program: the least that starting one costs.
#[derive(Debug)]
pub(crate) struct Empty {
    folder: TempDir,
}

impl Empty {
    /// Compiles it.
    pub(crate) fn build() -> Result<Self> {
        let folder = TempDir::new()?;
        let source = folder.path().join("empty.rs");
        fs::write(&source, EMPTY)?;
        let status = program("rustc").arg("-O").arg(&source).current_dir(folder.path()).status();
        ensure!(status.context("cannot start rustc")?.success(), "rustc cannot compile `{EMPTY}`");
        Ok(Self { folder })
    }

    /// Runs it.
    pub(crate) fn start(&self) -> Result<Sample> {
        measure(program(self.folder.path().join("empty")).env_clear())
    }
}
