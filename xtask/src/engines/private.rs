//! A Docker and a Podman that nobody else uses, gone when the tests are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::api::Api;
use super::images;
use super::kind::Kind;
use crate::project::Project;

/// Starts the engines and ends them.
const KEEPER: &str = include_str!("keeper.sh");

/// How long an engine may take to answer; here it takes one second.
const START: Duration = Duration::from_secs(15);

/// How long they may take to end, with what runs in them; `keeper.sh` kills them after
/// twenty seconds.
const END: Duration = Duration::from_secs(30);

const PAUSE: Duration = Duration::from_millis(50);

/// Running engines. They end when this is dropped, and also when this tool is killed.
#[derive(Debug)]
pub(crate) struct Engines {
    folder: PathBuf,
    keeper: Child,
}

impl Engines {
    /// Starts both engines, puts the test images in, and tells the programs that `project` starts.
    pub(crate) fn start(project: &mut Project) -> Result<Self> {
        let start = Instant::now();
        let engines = Self::keep(project)?;
        images::make(project, &engines.folder)?;
        let answering = |kind: Kind| {
            let api = engines.answering(kind)?;
            images::import(&api, &engines.folder)?;
            Ok((kind, api.address()))
        };
        for (kind, address) in Kind::ALL.into_iter().map(answering).collect::<Result<Vec<_>>>()? {
            println!("{} listens at {address}", kind.name());
            project.set(kind.variable(), address);
        }
        println!("engines and images took {:.1} s", start.elapsed().as_secs_f64());
        Ok(engines)
    }

    fn keep(project: &Project) -> Result<Self> {
        // The name is short because a socket's path must be.
        let folder = tempfile::Builder::new().prefix("metier-").tempdir();
        let folder = folder.context("cannot create a folder for the container engines")?;
        let mut command = project.command("sh");
        command.args(["-c", KEEPER, "keeper.sh"]).arg(folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        apart(&mut command);
        let keeper = command.spawn().context("cannot start `sh`")?;
        // From here on the keeper removes it.
        Ok(Self { folder: folder.keep(), keeper })
    }

    /// The engine, as soon as it is there.
    fn answering(&self, kind: Kind) -> Result<Api> {
        let api = Api::new(self.folder.join(kind.private_socket()));
        let start = Instant::now();
        while !api.answers() {
            if start.elapsed() > START {
                let log = self.folder.join(kind.private_socket()).with_extension("log");
                bail!("{} does not answer; it said: {}", kind.name(), last_lines(&log));
            }
            thread::sleep(PAUSE);
        }
        Ok(api)
    }
}

impl Drop for Engines {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let start = Instant::now();
        while start.elapsed() < END {
            if !matches!(self.keeper.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(PAUSE);
        }
        eprintln!("the container engines in {} do not end", self.folder.display());
    }
}

/// A group of its own keeps the keeper from an interrupt that is meant for this tool.
#[cfg(unix)]
fn apart(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn apart(_command: &mut std::process::Command) {}

fn last_lines(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines = text.lines().rev().take(3).collect::<Vec<_>>();
    if lines.is_empty() { "nothing".to_owned() } else { lines.join("; ") }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A project whose `dockerd` and `podman` only write down how they fared.
    fn project(root: &Path) -> Project {
        let bin = root.join("bin");
        fs::create_dir(&bin).unwrap();
        let said = root.join("said").display().to_string();
        let engine = format!(
            "#!/bin/sh\ncase \"$*\" in *rm\\ --all*) echo \"remove containers\" >>{said}; exit;; esac\n\
             trap 'echo \"end ${{0##*/}}\" >>{said}; exit' TERM\n\
             echo \"start ${{0##*/}}\" >>{said}\nwhile :; do sleep 0.05; done\n"
        );
        for name in ["dockerd", "podman"] {
            fs::write(bin.join(name), &engine).unwrap();
            fs::set_permissions(bin.join(name), PermissionsExt::from_mode(0o755)).unwrap();
        }
        let system = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(bin).chain(std::env::split_paths(&system));
        Project::at(root.into(), std::env::join_paths(path).unwrap())
    }

    /// What the engines wrote, as soon as it has as many lines.
    fn said(root: &Path, lines: usize) -> Vec<String> {
        let start = Instant::now();
        loop {
            let text = fs::read_to_string(root.join("said")).unwrap_or_default();
            if text.lines().count() >= lines || start.elapsed() > END {
                return text.lines().map(str::to_owned).collect();
            }
            thread::sleep(PAUSE);
        }
    }

    #[test]
    fn engines_end_and_their_folder_goes_with_the_one_who_started_them() {
        let root = tempfile::tempdir().unwrap();
        let engines = Engines::keep(&project(root.path())).unwrap();
        let folder = engines.folder.clone();
        let mut started = said(root.path(), 2);
        started.sort();
        assert_eq!(started, ["start dockerd", "start podman"]);
        assert!(folder.exists());
        drop(engines);
        let mut all = said(root.path(), 5);
        all[3..].sort();
        assert_eq!(all[2..], ["remove containers", "end dockerd", "end podman"]);
        assert!(!folder.exists());
    }

    #[test]
    fn an_engine_that_does_not_start_is_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("docker.log");
        assert_eq!(last_lines(&log), "nothing");
        fs::write(&log, "one\ntwo\nthree\nfour\n").unwrap();
        assert_eq!(last_lines(&log), "four; three; two");
    }
}
