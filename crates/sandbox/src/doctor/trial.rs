//! Trials of promises.

use std::fs::{self, File};
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use rustix::process::Uid;

use super::attempt::{Attempt, Tried};
use super::error::TrialError;
use crate::helper::tasks_of;
use crate::limits::{Limit, Limits};
use crate::policy::{Access, Level, Network};
use crate::spawn::unprivileged_owner;

/// Processes beyond those that may be started that a shell starts if it is not stopped.
const MORE_PROCESSES: u64 = 40;
/// Most other processes of the user that make room for as many more in the trial: starting them all takes too long.
const MAX_OTHERS: u64 = 500;
/// Processes that show that it could start some.
const SOME_PROCESSES: u64 = 3;

/// Files that a shell writes if nobody stops it.
const MANY_FILES: u64 = 200;

/// Where promises are tried.
#[derive(Clone, Debug)]
pub struct Place {
    /// A folder for programs to work in, of [`make_folder`](super::make_folder).
    pub folder: PathBuf,
    /// A folder that they must neither read nor write, and the caller can.
    pub private: PathBuf,
    /// Where programs find others, as their `PATH`.
    pub path: String,
}

/// What programs are given in the trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// What they may do with [`Place::private`].
    pub private: Option<Access>,
    /// What network they have.
    pub network: Network,
    /// How much memory, in bytes.
    pub memory: u64,
    /// How many processes.
    pub processes: u64,
    /// How much of the disk, in bytes.
    pub disk: u64,
}

impl Bounds {
    /// What is promised. Trials with more than this find promises broken.
    pub const PROMISED: Self = Self {
        private: None,
        network: Network::None,
        memory: 32 << 20,
        processes: 16,
        disk: 1 << 20,
    };
}

/// A promise that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The promise.
    pub promise: &'static str,
    /// How it went.
    pub verdict: Verdict,
}

/// How a trial went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The attack was made and failed.
    Kept,
    /// The attack was made and had success: what happened.
    Broken(String),
    /// There was no attack that could have had success: why not.
    Untried(String),
}

/// Tries every promise of a level.
pub fn try_promises(place: &Place, level: Level, bounds: Bounds) -> Vec<Trial> {
    let attack = Attack { place, level, bounds };
    let mut trials = vec![
        trial("cannot read the home directory", attack.reads()),
        trial("cannot write outside its folder", attack.writes()),
        trial("cannot connect", attack.connects()),
        trial("cannot gain rights", attack.gains_rights()),
        trial("memory is bounded", attack.fills_memory()),
        trial("memory of all processes is bounded", attack.fills_memory_together()),
        trial("cannot fork past the limit", attack.forks()),
        trial("cannot fill the disk", attack.fills_disk()),
        trial("ends when its helper is killed", attack.outlives_its_helper()),
    ];
    if attack.has_tool("python3") {
        trials.insert(6, trial("shared memory is bounded", attack.fills_shared_memory()));
    }
    let others = if level == Level::Landlock {
        trial("cannot slow other processes down", attack.slows_others())
    } else {
        trial("cannot see other processes", attack.sees_others())
    };
    trials.insert(3, others);
    trials
}

/// A trial that could not even begin was none.
fn trial(promise: &'static str, tried: Result<Verdict, TrialError>) -> Trial {
    let verdict = tried.unwrap_or_else(|error| Verdict::Untried(error.to_string()));
    Trial { promise, verdict }
}

impl Place {
    /// A folder to work in and one that must stay as it is, with the programs of the system.
    pub fn new(folder: &Path, private: &Path) -> Self {
        let path = "/usr/bin:/bin:/usr/sbin:/sbin".to_owned();
        Self { folder: folder.to_owned(), private: private.to_owned(), path }
    }
}

pub(super) struct Attack<'a> {
    pub(super) place: &'a Place,
    level: Level,
    pub(super) bounds: Bounds,
}

impl Attack<'_> {
    pub(super) fn attempt(&self) -> Attempt<'_> {
        let mut attempt = Attempt::new(self.place, self.level);
        attempt.granted = self.bounds.private.map(|access| (&*self.place.private, access));
        attempt.network = self.bounds.network;
        attempt
    }

    /// Runs an attack after a permitted use of the same tool.
    pub(super) fn after(&self, permitted: &str, attack: &str) -> Result<Tried, TrialError> {
        let script = format!("{permitted} && echo ready || exit 1; {attack} && echo done");
        let tried = self.attempt().sh(&script)?;
        if tried.says("ready") { Ok(tried) } else { Err(tried.fault().into()) }
    }

    /// Whether programs find a tool.
    fn has_tool(&self, name: &str) -> bool {
        self.place.path.split(':').any(|folder| Path::new(folder).join(name).exists())
    }

    fn reads(&self) -> Result<Verdict, TrialError> {
        let private = &self.place.private;
        fs::read_dir(private).map_err(|source| about(private, source))?;
        let attack = format!("ls -A {} > /dev/null", quoted(private));
        let tried = self.after("ls -A . > /dev/null", &attack)?;
        let read = tried.says("done");
        Ok(broken_if(read, || format!("it listed `{}`", private.display())))
    }

    fn writes(&self) -> Result<Verdict, TrialError> {
        let name = format!(".metier-doctor-{}", std::process::id());
        let private = &self.place.private;
        // Where nobody can write there is nothing to be kept.
        let path = private.join(name);
        let made = File::create_new(&path).and_then(|_empty| fs::remove_file(&path));
        made.map_err(|source| about(private, source))?;
        let file = Left(path);
        let attack = format!("echo x > {}", quoted(&file.0));
        self.after("echo x > probe && rm probe", &attack)?;
        let written = fs::symlink_metadata(&file.0).is_ok();
        Ok(broken_if(written, || format!("it wrote `{}`", file.0.display())))
    }

    fn connects(&self) -> Result<Verdict, TrialError> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let script = format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
        let mut free = self.attempt();
        free.network = Network::Host;
        let permitted = free.sh(&script)?;
        if listener.accept().is_err() {
            return Err(permitted.fault().into());
        }
        self.attempt().sh(&script)?;
        let reached = listener.accept().is_ok();
        Ok(broken_if(reached, || format!("it reached port {port} of this machine")))
    }

    /// `/proc` shows processes of one namespace: that of the program, or ours.
    fn sees_others(&self) -> Result<Verdict, TrialError> {
        let ours = fs::read_link("/proc/self/ns/pid")?;
        let tried = self.attempt().sh("readlink /proc/self/ns/pid")?;
        let theirs = tried.output.trim();
        if !theirs.starts_with("pid:[") {
            return Err(tried.fault().into());
        }
        Ok(broken_if(ours == Path::new(theirs), || "it saw those of this machine".to_owned()))
    }

    fn gains_rights(&self) -> Result<Verdict, TrialError> {
        let tried = self.after("unshare --version > /dev/null", "unshare -Ur true")?;
        if tried.says("done") {
            return Ok(Verdict::Broken("it became root of its own".to_owned()));
        }
        if tried.outcome.ended.refused.contains(&"unshare") {
            return Ok(Verdict::Kept);
        }
        // Nobody was seen refusing it; perhaps it never works here.
        let free = Attempt::new(self.place, Level::None).sh("unshare -Ur true")?;
        let works = free.outcome.ended.code == Some(0);
        if works { Ok(Verdict::Kept) } else { Err(free.fault().into()) }
    }

    /// Where no control group counts the processes, the kernel counts all of the user: each that ends meanwhile makes
    /// room for another.
    fn forks(&self) -> Result<Verdict, TrialError> {
        let others = self.others();
        let mut attempt = self.attempt();
        attempt.limits = Limits { processes: self.bounds.processes, ..attempt.limits };
        let many = Bounds::PROMISED.processes + others.min(MAX_OTHERS) + MORE_PROCESSES;
        let tried = attempt.sh(&format!(
            "sleep 0 || exit 1; i=0; \
             while [ $i -lt {many} ]; do sleep 5 & i=$((i+1)); echo $!; done"
        ))?;
        let started = tried.distinct_lines();
        let met = tried.outcome.ended.limits.contains(&Limit::Processes);
        if started < SOME_PROCESSES || !met && tried.error.is_empty() && started < many {
            let what = "processes were started";
            return Err(TrialError::Early { count: started, what, fault: tried.fault() });
        }
        let most = Bounds::PROMISED.processes + if met { 0 } else { others };
        if !met && started >= many && started <= most {
            return Err(TrialError::Unjudged { started, others });
        }
        Ok(broken_if(started > most, || {
            format!("{started} processes were started with a limit of {}", self.bounds.processes)
        }))
    }

    /// The processes and threads of the user that programs run as, if the kernel counts them together with new ones.
    fn others(&self) -> u64 {
        let owner = unprivileged_owner().filter(|_| self.level != Level::None);
        match owner {
            Some((user, _)) => tasks_of(Uid::from_raw(user)),
            None if self.level == Level::Full => 0,
            None => tasks_of(rustix::process::getuid()),
        }
    }

    fn fills_disk(&self) -> Result<Verdict, TrialError> {
        let mut attempt = self.attempt();
        attempt.limits = Limits { disk_bytes: self.bounds.disk, ..attempt.limits };
        let tried = attempt.sh(&format!(
            "i=0; while [ $i -lt {MANY_FILES} ]; do head -c 50000 /dev/zero > file-$i || exit 1; \
             i=$((i+1)); echo $i; sleep 0.02 || exit 1; done"
        ))?;
        let written = tried.count();
        if tried.outcome.ended.limits.contains(&Limit::Disk) {
            return Ok(Verdict::Kept);
        }
        let what = "files of 50 kB were written";
        if written < MANY_FILES {
            return Err(TrialError::Early { count: written, what, fault: tried.fault() });
        }
        Ok(Verdict::Broken(format!("{written} {what}")))
    }
}

/// A file that is removed in the end, whoever made it.
pub(super) struct Left(pub(super) PathBuf);

impl Drop for Left {
    fn drop(&mut self) {
        // Mostly it was never made.
        let _not_there = fs::remove_file(&self.0);
    }
}

pub(super) fn broken_if(is_broken: bool, what: impl FnOnce() -> String) -> Verdict {
    if is_broken { Verdict::Broken(what()) } else { Verdict::Kept }
}

fn about(path: &Path, source: io::Error) -> TrialError {
    TrialError::Place { path: path.to_owned(), source }
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}
