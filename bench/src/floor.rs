//! The floors: the least that finding the same skills could cost, as plain loops.
//!
//! A floor is a run of this program with `floor-read` or `floor-stat` and some roots, so that it
//! pays for starting a process as well. It is recognised before anything else is set up, and what
//! cannot be read ends it: a floor that skips files would flatter whoever is compared with it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::{env, hint};

/// A plain loop over the `SKILL.md` of every folder of some roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Floor {
    /// Opens and reads each file once.
    Read,
    /// Asks for the metadata of each file once.
    Stat,
}

impl Floor {
    /// The argument that asks for it.
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Self::Read => "floor-read",
            Self::Stat => "floor-stat",
        }
    }

    /// Runs the loop and returns the bytes of the files it saw.
    pub(crate) fn run(self, roots: &[PathBuf]) -> io::Result<u64> {
        let mut bytes = 0;
        for root in roots {
            for entry in fs::read_dir(root)? {
                bytes += self.look(&entry?.path().join("SKILL.md"))?;
            }
        }
        Ok(bytes)
    }

    fn look(self, file: &Path) -> io::Result<u64> {
        match self {
            Self::Read => Ok(hint::black_box(fs::read(file)?).len() as u64),
            Self::Stat => Ok(hint::black_box(fs::symlink_metadata(file)?).len()),
        }
    }
}

/// Runs a floor if the first argument asks for one.
pub(crate) fn run_if_asked() -> bool {
    let mut arguments = env::args_os().skip(1);
    let Some(first) = arguments.next() else { return false };
    let Some(floor) = [Floor::Read, Floor::Stat].into_iter().find(|it| first == it.argument())
    else {
        return false;
    };
    let roots: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    floor.run(&roots).expect("the benchmark made these folders");
    true
}
