//! The programs that are measured, and the place they are run in.
//!
//! Every run has an empty home and an empty working directory, so that only the generated skills
//! are found. The cold run has a state directory of its own, whose content is deleted each time.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tempfile::TempDir;

use crate::cargo;
use crate::discovery::skills::Skills;
use crate::floor::Floor;
use crate::process::program;

/// Where the only program that generated skills need is found.
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The reference tool of the format.
const REFERENCE_TOOL: &str = "agentskills";

/// What is run in each round, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The binary doing nothing: what starting it costs.
    Start,
    /// A listing without a cache.
    Cold,
    /// Every file opened and read once.
    FloorRead,
    /// A listing with the cache of an earlier one.
    Warm,
    /// Every file looked up once.
    FloorStat,
}

impl Subject {
    pub(crate) const ALL: [Self; 5] =
        [Self::Start, Self::Cold, Self::FloorRead, Self::Warm, Self::FloorStat];
}

/// The binary that is measured.
#[derive(Clone, Debug)]
pub(crate) struct Metier {
    binary: PathBuf,
}

impl Metier {
    /// The binary that was named, or else one that is built for release first.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self> {
        let binary = match named {
            Some(binary) => binary.to_owned(),
            None => cargo::build(&["--release"].map(OsString::from))?,
        };
        let binary = fs::canonicalize(&binary)
            .with_context(|| format!("there is no binary {}", binary.display()))?;
        Ok(Self { binary })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.binary
    }

    /// What the binary says about itself.
    pub(crate) fn version(&self) -> Result<String> {
        let output = program(&self.binary).arg("--version").output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

/// Skills, and a home for the programs that look for them; removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Workshop<'a> {
    metier: &'a Metier,
    skills: Skills,
    home: TempDir,
    this_program: PathBuf,
}

impl<'a> Workshop<'a> {
    /// Makes the home and so many skills.
    pub(crate) fn new(metier: &'a Metier, count: usize) -> Result<Self> {
        let home = TempDir::new()?;
        for folder in ["project", "cold", "warm", "skills"] {
            fs::create_dir(home.path().join(folder))?;
        }
        let skills = Skills::generate(count, &home.path().join("skills"))?;
        Ok(Self { metier, skills, home, this_program: env::current_exe()? })
    }

    /// The skills.
    pub(crate) fn skills(&self) -> &Skills {
        &self.skills
    }

    /// The command for a subject, ready to run.
    pub(crate) fn command(&self, subject: Subject) -> Result<Command> {
        Ok(match subject {
            Subject::Start => {
                let mut command = self.metier("warm");
                command.arg("--version");
                command
            }
            Subject::Cold => {
                let state = self.home.path().join("cold");
                fs::remove_dir_all(&state)?;
                fs::create_dir(&state)?;
                self.list("cold")
            }
            Subject::Warm => self.list("warm"),
            Subject::FloorRead => self.floor(Floor::Read),
            Subject::FloorStat => self.floor(Floor::Stat),
        })
    }

    /// The prompt for all skills, by the binary.
    pub(crate) fn prompt(&self) -> Command {
        let mut command = self.metier("warm");
        command.arg("to-prompt").args(&self.skills.folders);
        command
    }

    /// The same by the reference tool.
    pub(crate) fn reference_prompt(&self) -> Command {
        let mut command = program(REFERENCE_TOOL);
        command.arg("to-prompt").args(&self.skills.folders).current_dir(self.home.path());
        command
    }

    /// Makes sure that what is measured does its work: every skill is found and usable, with and
    /// without a cache, and the floors see every byte.
    pub(crate) fn check(&self) -> Result<()> {
        let mut listings = Vec::new();
        for (name, subject) in
            [("first", Subject::Cold), ("fill", Subject::Warm), ("again", Subject::Warm)]
        {
            let file = self.home.path().join(name);
            let mut command = self.command(subject)?;
            let status = command.stdin(Stdio::null()).stdout(File::create(&file)?).status()?;
            ensure!(status.success(), "the listing ended with {status}");
            let listing: Listing = serde_json::from_reader(BufReader::new(File::open(&file)?))?;
            let usable = listing.skills.iter().filter(|skill| skill.eligible).count();
            ensure!(
                usable == self.skills.count,
                "{usable} of {} skills are usable",
                self.skills.count
            );
            listings.push(file);
        }
        ensure!(same(&listings[0], &listings[2])?, "the cache changes the listing");
        for floor in [Floor::Read, Floor::Stat] {
            let seen = floor.run(&self.skills.roots)?;
            ensure!(seen == self.skills.bytes, "{floor:?} sees {seen} bytes");
        }
        Ok(())
    }

    fn list(&self, state: &str) -> Command {
        let mut command = self.metier(state);
        command.args(["skills", "list", "--json", "--no-default-sources"]);
        for root in &self.skills.roots {
            command.arg("--skills-dir").arg(root);
        }
        command
    }

    fn metier(&self, state: &str) -> Command {
        let mut command = program(&self.metier.binary);
        command
            .env_clear()
            .env("PATH", SEARCH_PATH)
            .env("HOME", self.home.path())
            .env("METIER_HOME", self.home.path().join(state))
            .current_dir(self.home.path().join("project"));
        command
    }

    fn floor(&self, floor: Floor) -> Command {
        let mut command = program(&self.this_program);
        command.env_clear().arg(floor.argument()).args(&self.skills.roots);
        command
    }
}

/// The version of the reference tool, if it is installed.
pub(crate) fn reference_tool() -> Option<String> {
    let output = program(REFERENCE_TOOL).arg("--version").output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !version.is_empty()).then_some(version)
}

/// What is looked at of a listing.
#[derive(Deserialize)]
struct Listing {
    skills: Vec<ListedSkill>,
}

#[derive(Deserialize)]
struct ListedSkill {
    eligible: bool,
}

/// Compares two files piece by piece, to keep this process small.
fn same(left: &Path, right: &Path) -> Result<bool> {
    let mut left = BufReader::new(File::open(left)?);
    let mut right = BufReader::new(File::open(right)?);
    loop {
        let (ours, theirs) = (left.fill_buf()?, right.fill_buf()?);
        let length = ours.len().min(theirs.len());
        if ours[..length] != theirs[..length] || (length == 0 && ours.len() != theirs.len()) {
            return Ok(false);
        }
        if length == 0 {
            return Ok(true);
        }
        left.consume(length);
        right.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_the_same_byte_for_byte() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let long = "skill ".repeat(5_000);
        let (one, two) = (file("one", &long), file("two", &long));
        assert!(same(&one, &two).unwrap());
        assert!(!same(&one, &file("longer", &format!("{long}!"))).unwrap());
        assert!(!same(&one, &file("other", &long.replace("skill", "skull"))).unwrap());
        assert!(!same(&one, &file("empty", "")).unwrap());
    }

    #[test]
    fn the_floors_see_every_file() {
        let home = tempfile::tempdir().unwrap();
        let skills = Skills::generate(25, home.path()).unwrap();
        assert_eq!(Floor::Read.run(&skills.roots).unwrap(), skills.bytes);
        assert_eq!(Floor::Stat.run(&skills.roots).unwrap(), skills.bytes);
    }
}
