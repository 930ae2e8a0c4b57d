//! A place to try programs in.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::time::Duration;

use metier_sandbox::{
    Access, Cancel, Command, Job, Level, Limits, Network, Observer, Outcome, Policy, Program,
    SpawnError, Stream, run, unprivileged_owner,
};
use tempfile::TempDir;

/// A temporary folder with something to write to and something that must stay as it is.
pub(crate) struct Bench {
    root: TempDir,
    pub(crate) level: Level,
    pub(crate) network: Network,
    pub(crate) limits: Limits,
}

/// What a program did.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) outcome: Outcome,
    pub(crate) output: String,
    pub(crate) error: String,
}

impl Bench {
    pub(crate) fn new(level: Level) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o711)).expect("ours");
        let bench = Self {
            root,
            level,
            network: Network::None,
            limits: Limits { wall: Duration::from_secs(20), ..Limits::default() },
        };
        for folder in ["work", "private"] {
            fs::create_dir(bench.path(folder)).expect("a folder");
        }
        fs::write(bench.path("private/secret"), "secret").expect("a file");
        if let Some((user, group)) = unprivileged_owner() {
            chown(bench.path("work"), Some(user), Some(group)).expect("root may");
        }
        bench
    }

    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.root.path().canonicalize().expect("it is there").join(inside)
    }

    /// Where the program finds its folder.
    pub(crate) fn work(&self) -> PathBuf {
        if self.level == Level::Full { "/work".into() } else { self.path("work") }
    }

    pub(crate) fn policy(&self) -> Policy {
        Policy::deny_all(self.level)
            .with_system()
            .grant(&self.path("work"), &self.work(), Access::Write)
            .network(self.network)
    }

    pub(crate) fn job(&self, script: &str) -> Job {
        let environment = vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".into()),
            ("ROOT".into(), self.path("").into()),
        ];
        let command = arguments(["sh", "-c", script]);
        let program = Program { command, environment, directory: self.work() };
        Job { program, policy: self.policy(), limits: self.limits }
    }

    pub(crate) fn try_job(&self, job: &Job) -> Result<Tried, SpawnError> {
        let mut text = Text::default();
        let outcome = run(job, b"", &mut text, &Cancel::new().expect("an event"))?;
        let read = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Tried { outcome, output: read(text.output), error: read(text.error) })
    }

    /// Runs a Python script.
    pub(crate) fn python(&self, script: &str) -> Tried {
        let mut job = self.job("");
        job.program.command = arguments(["python3", "-c", script]);
        self.try_job(&job).expect("it starts")
    }

    /// Runs a shell script.
    pub(crate) fn sh(&self, script: &str) -> Tried {
        self.try_job(&self.job(script)).expect("it starts")
    }
}

/// A program with its arguments.
pub(crate) fn arguments<T: Into<OsString>>(arguments: impl IntoIterator<Item = T>) -> Command {
    Command::Arguments(arguments.into_iter().map(Into::into).collect())
}

#[derive(Default)]
pub(crate) struct Text {
    pub(crate) output: Vec<u8>,
    pub(crate) error: Vec<u8>,
}

impl Observer for Text {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Output => self.output.extend_from_slice(bytes),
            Stream::Error => self.error.extend_from_slice(bytes),
        }
    }
}
