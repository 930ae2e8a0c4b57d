//! What this machine offers, and a trial of every promise.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cancel::Cancel;
use crate::cgroup::Group;
use crate::limits::{Limit, Limits};
use crate::policy::{Access, Level, Policy};
use crate::program::{Job, Program};
use crate::run::{Observer, Outcome, Stream, run};
use crate::spawn::{SpawnError, unprivileged_owner};

/// What the system offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What it is.
    pub name: &'static str,
    /// What there is of it, or why there is none.
    pub found: Result<String, String>,
}

/// A promise that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The promise.
    pub promise: &'static str,
    /// Whether it was kept; else what happened.
    pub kept: Result<(), String>,
}

/// What an examination found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What the system offers.
    pub offers: Vec<Offer>,
    /// The best level there is, if there is one.
    pub level: Option<Level>,
    /// Promises of that level, tried.
    pub trials: Vec<Trial>,
}

/// Looks at the system and tries every promise, with a folder of the caller's to work in and one that must stay unread.
pub fn examine(folder: &Path, private: &Path) -> Report {
    let place = Place { folder: folder.to_owned(), private: private.to_owned() };
    let full = place.start(Level::Full);
    let landlock = place.start(Level::Landlock);
    let level = match (&full, &landlock) {
        (Ok(()), _) => Some(Level::Full),
        (_, Ok(())) => Some(Level::Landlock),
        _ => None,
    };
    let group = Group::new(&Limits::default());
    let user = match unprivileged_owner() {
        Some((user, _)) => format!("root; programs run as user {user}"),
        None => "an ordinary user; programs run as the same".to_owned(),
    };
    let group = group.map(|group| group.version().to_owned());
    let offers = vec![
        Offer { name: "kernel", found: Ok(kernel()) },
        Offer { name: "user", found: Ok(user) },
        Offer { name: "namespaces", found: full.map(|()| "yes".to_owned()) },
        Offer { name: "landlock", found: landlock.map(|()| "with scopes".to_owned()) },
        Offer {
            name: "control groups",
            found: group.ok_or_else(|| "cannot be made; limits are per process".to_owned()),
        },
    ];
    let trials = level.map(|level| place.try_all(level)).unwrap_or_default();
    Report { offers, level, trials }
}

fn kernel() -> String {
    let name = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    format!("{} {}", text(name.sysname()), text(name.release()))
}

struct Place {
    folder: PathBuf,
    private: PathBuf,
}

impl Place {
    /// Whether a program starts at a level.
    fn start(&self, level: Level) -> Result<(), String> {
        match self.sh(level, "true", Limits::default()) {
            Ok(tried) if tried.outcome.ended.code == Some(0) => Ok(()),
            Ok(tried) => Err(tried.error),
            Err(error) => Err(error.to_string()),
        }
    }

    fn sh(&self, level: Level, script: &str, limits: Limits) -> Result<Tried, SpawnError> {
        let target =
            if level == Level::Full { PathBuf::from("/work") } else { self.folder.clone() };
        let program = Program {
            arguments: ["sh", "-c", script].map(Into::into).into(),
            environment: vec![("PATH".into(), "/usr/bin:/bin:/usr/sbin:/sbin".into())],
            directory: target.clone(),
        };
        let policy = Policy::deny_all(level).with_system();
        let policy = policy.grant(&self.folder, &target, Access::Write);
        let limits = Limits { wall: Duration::from_secs(10), ..limits };
        let mut text = Text::default();
        let cancel = Cancel::new().map_err(SpawnError::Helper)?;
        let outcome = run(&Job { program, policy, limits }, b"", &mut text, &cancel)?;
        Ok(Tried {
            outcome,
            output: String::from_utf8_lossy(&text.output).into_owned(),
            error: String::from_utf8_lossy(&text.error).into_owned(),
        })
    }

    fn try_all(&self, level: Level) -> Vec<Trial> {
        let mut trials = vec![
            Trial {
                promise: "cannot read the home directory",
                kept: self.refused(level, &format!("ls -A {}", quoted(&self.private))),
            },
            Trial {
                promise: "cannot write outside its folder",
                kept: self.refused(level, &format!("echo x > {}/x", quoted(&self.private))),
            },
            Trial { promise: "cannot connect", kept: self.cannot_connect(level) },
            Trial { promise: "cannot gain rights", kept: self.refused(level, "unshare -Ur true") },
            Trial { promise: "memory is bounded", kept: self.memory_is_bounded(level) },
            Trial { promise: "cannot fork past the limit", kept: self.forks_are_bounded(level) },
        ];
        if level == Level::Full {
            let kept = self.cannot_see_others(level);
            trials.insert(3, Trial { promise: "cannot see other processes", kept });
        }
        trials
    }

    /// Whether a script fails and says nothing on its output.
    fn refused(&self, level: Level, script: &str) -> Result<(), String> {
        let tried = self.sh(level, script, Limits::default()).map_err(|error| error.to_string())?;
        let failed = tried.outcome.ended.code != Some(0) && tried.output.is_empty();
        if failed { Ok(()) } else { Err(format!("it worked: {}", first_line(&tried.output))) }
    }

    fn cannot_connect(&self, level: Level) -> Result<(), String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        self.refused(level, &format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'"))
    }

    fn cannot_see_others(&self, level: Level) -> Result<(), String> {
        let own = std::process::id();
        let script = format!("ls /proc | grep -x {own}; ls /proc | grep -c '^[0-9]*$'");
        let tried =
            self.sh(level, &script, Limits::default()).map_err(|error| error.to_string())?;
        let few = tried.output.trim().parse::<u32>().is_ok_and(|count| count < 8);
        if few { Ok(()) } else { Err(format!("it saw: {}", first_line(&tried.output))) }
    }

    fn memory_is_bounded(&self, level: Level) -> Result<(), String> {
        let limits = Limits { memory: 32 << 20, ..Limits::default() };
        // The shell itself keeps what it reads.
        let script = "x=$(head -c 200000000 /dev/zero | tr '\\0' x); echo ${#x}";
        let tried = self.sh(level, script, limits).map_err(|error| error.to_string())?;
        let met = tried.outcome.ended.limits.contains(&Limit::Memory);
        let kept = met || !tried.output.contains("200000000");
        if kept { Ok(()) } else { Err("200 MB fitted into 32 MiB".to_owned()) }
    }

    fn forks_are_bounded(&self, level: Level) -> Result<(), String> {
        let limits = Limits { processes: 16, ..Limits::default() };
        let script = "i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; echo $i";
        let tried = self.sh(level, script, limits).map_err(|error| error.to_string())?;
        let all = tried.output.trim() == "60" && tried.error.is_empty();
        if all { Err("60 processes were started".to_owned()) } else { Ok(()) }
    }
}

struct Tried {
    outcome: Outcome,
    output: String,
    error: String,
}

#[derive(Default)]
struct Text {
    output: Vec<u8>,
    error: Vec<u8>,
}

/// Most that is kept of what a trial writes, in bytes.
const MAX_TEXT: usize = 64 << 10;

impl Observer for Text {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let text = match stream {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        };
        let room = MAX_TEXT.saturating_sub(text.len()).min(bytes.len());
        text.extend_from_slice(&bytes[..room]);
    }
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Makes the folder that [`examine`] works in, for whoever programs run as.
///
/// # Errors
///
/// When it cannot be made.
pub fn make_folder(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    match unprivileged_owner() {
        Some((user, group)) => std::os::unix::fs::chown(folder, Some(user), Some(group)),
        None => Ok(()),
    }
}
