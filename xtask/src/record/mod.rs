//! `docs/session.svg`: a session at a terminal, recorded from the real program.
//!
//! The commands of [`script`] run one after the other on a pseudo-terminal, in a home that is
//! empty and goes away. What they write is shown as a terminal would show it, and becomes a picture
//! that types, scrolls and begins again. The words are the program's own. The pace is not: lines
//! come at an even rate, and what differs from run to run (times, sessions, folders) is given fixed
//! values, so that the same program makes the same file. That is also the check: a recording that
//! today's program would not make is stale.

mod pty;
mod screen;
mod script;
mod svg;
mod timeline;

use std::fs;

use anyhow::{Context, Result, bail};

use crate::docs;
use crate::project::Project;

const FILE: &str = "docs/session.svg";
/// Larger pictures are slow to load at the top of a page.
const LARGEST: usize = 150 * 1024;

/// What `cargo xtask record` was asked to do.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Write nothing; fail when the recording is not what the program prints today
    #[arg(long)]
    check: bool,
}

/// Does what the options ask for.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let binary = docs::build(project)?;
    if options.check {
        return check(project, &binary);
    }
    let picture = make(&binary)?;
    fs::write(project.file(FILE), &picture).with_context(|| format!("cannot write `{FILE}`"))?;
    println!("{FILE}: {} KiB", picture.len().div_ceil(1024));
    Ok(())
}

/// Fails, with the lines that differ, when the recording is not what the program prints today.
pub(crate) fn check(project: &Project, binary: &str) -> Result<()> {
    let recorded = fs::read_to_string(project.file(FILE)).unwrap_or_default();
    let fresh = make(binary)?;
    if recorded.replace("\r\n", "\n") == fresh {
        return Ok(());
    }
    let (old, new) = (svg::words(&recorded), svg::words(&fresh));
    for line in new.iter().filter(|line| !old.contains(line)) {
        eprintln!("+ {line}");
    }
    for line in old.iter().filter(|line| !new.contains(line)) {
        eprintln!("- {line}");
    }
    bail!(
        "out of date: {FILE}; look at what changed, run `cargo xtask record` and commit the result"
    )
}

fn make(binary: &str) -> Result<String> {
    let session = script::play(binary)?;
    let picture = svg::render(&session);
    if picture.len() > LARGEST {
        bail!("{FILE} would have {} bytes, and {LARGEST} are the limit", picture.len());
    }
    Ok(picture)
}
