//! Looking at the system.

use std::fs;
use std::path::Path;

use super::attempt::Attempt;
use super::error::{OfferError, TrialError};
use super::trial::{Bounds, Place, Trial, try_promises};
use crate::cgroup::Group;
use crate::limits::{Limits, UNGROUPED};
use crate::policy::Level;
use crate::spawn::unprivileged_owner;

/// What the system offers.
#[derive(Debug)]
pub struct Offer {
    /// What it is.
    pub name: &'static str,
    /// What there is of it, or why there is none.
    pub found: Result<String, OfferError>,
}

/// What an examination found.
#[derive(Debug)]
pub struct Report {
    /// What the system offers.
    pub offers: Vec<Offer>,
    /// The best level there is, if there is one.
    pub level: Option<Level>,
    /// What that level does not promise here, in words.
    pub not_promised: Vec<&'static str>,
    /// Promises of that level, tried.
    pub trials: Vec<Trial>,
}

/// Looks at the system and tries every promise.
pub fn examine(place: &Place) -> Report {
    let full = start(place, Level::Full);
    let landlock = start(place, Level::Landlock);
    let (level, not_promised) = match (&full, &landlock) {
        (Ok(lacks), _) => (Some(Level::Full), lacks.clone()),
        (_, Ok(lacks)) => (Some(Level::Landlock), lacks.clone()),
        _ => (None, Vec::new()),
    };
    let group = Group::new(&Limits::default());
    let user = match unprivileged_owner() {
        Some((user, _)) => format!("root; programs run as user {user}"),
        None => "an ordinary user; programs run as the same".to_owned(),
    };
    let group = match group {
        Some(_) if not_promised.contains(&UNGROUPED) => Err(OfferError::GroupNotJoined),
        Some(group) => Ok(group.version().to_owned()),
        None => Err(OfferError::NoGroup),
    };
    let offers = vec![
        Offer { name: "kernel", found: Ok(kernel()) },
        Offer { name: "user", found: Ok(user) },
        Offer { name: "namespaces", found: told(full, "yes") },
        Offer { name: "landlock", found: told(landlock, "with scopes") },
        Offer { name: "control groups", found: group },
    ];
    let trials = level.map(|level| try_promises(place, level, Bounds::PROMISED));
    Report { offers, level, not_promised, trials: trials.unwrap_or_default() }
}

/// Whether a program starts at a level, and what is not promised then.
fn start(place: &Place, level: Level) -> Result<Vec<&'static str>, TrialError> {
    let tried = Attempt::new(place, level).sh("true")?;
    let works = tried.outcome.ended.code == Some(0);
    if works { Ok(tried.outcome.not_promised) } else { Err(tried.fault().into()) }
}

/// Returns what there is of a level if programs start at it.
fn told<T>(started: Result<T, TrialError>, found: &str) -> Result<String, OfferError> {
    started.map(|_lacks| found.to_owned()).map_err(OfferError::from)
}

fn kernel() -> String {
    let name = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    format!("{} {}", text(name.sysname()), text(name.release()))
}

/// Makes the folder that trials work in, for whoever programs run as.
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
