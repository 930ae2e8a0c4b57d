//! Which skill it is, of all that have its name.
//!
//! A name is not enough to remember something of a skill: a project's skill hides the person's own of that name, and
//! when it goes, the own one has the name again. The source and the place tell them apart. The content does not count:
//! a skill that changes is the same skill.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::discover::{Root, Source};
use crate::files::Digest;
use crate::library::Place;

/// How much of a digest is written, in hexadecimal digits.
const WRITTEN: usize = 32;

/// The source and the place of a skill, which no other skill has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SkillIdentity(String);

impl SkillIdentity {
    /// Returns the identity of a skill that is in no root.
    pub(super) fn of_place(source: Source, place: &Place) -> Self {
        Self::new(source, &place.file())
    }

    /// Returns the identity of a skill in a root. The root of an archive has the archive's address as its place, since
    /// the folder in which it is unpacked changes with the content.
    pub(super) fn in_root(root: &Root, file: &Path) -> Self {
        match (&root.address, file.strip_prefix(&root.path)) {
            (Some(address), Ok(inside)) => Self::new(root.source, &Path::new(address).join(inside)),
            _ => Self::new(root.source, file),
        }
    }

    fn new(source: Source, place: &Path) -> Self {
        let shown = place.display();
        Self(match place.to_str() {
            Some(_) => format!("{source}:{shown}"),
            // Paths that are no text may look alike.
            None => {
                let digest = Digest::of_bytes(place.as_os_str().as_bytes());
                format!("{source}:{shown}#{digest}")
            }
        })
    }

    /// Returns the source and the place as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Written as hexadecimal digits, which say nothing of folders of this machine.
impl fmt::Display for SkillIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = Digest::of_bytes(self.0.as_bytes()).to_string();
        formatter.write_str(&digest[..WRITTEN])
    }
}
