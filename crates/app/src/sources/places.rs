//! Places with skills as `skills.extra_dirs` and `SKILLS_ROOT` name them: addresses, and paths of folders and archives.
//!
//! Whether a path depends on the working directory is decided here, where it is resolved: what a project has there must be
//! trusted like the project. [`super::roots`] does that.

use std::path::{Component, Path, PathBuf};

use metier_skill::diagnostic::Code;
use metier_skill::files::Digest;
use metier_skill::problem::Problem;

use super::archives::shown;
use crate::environment::Environment;

/// The folder at which a relative path of a setting starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathBase {
    /// The state directory, for what a configuration file says.
    StateDirectory,
    /// Where the command runs, for what a variable says.
    WorkingDirectory,
}

/// A place with skills.
#[derive(Debug)]
pub struct SkillPlace<'a> {
    /// What the setting says, without the digest.
    pub address: &'a str,
    /// The digest that the content must have.
    pub pin: Option<Digest>,
    path: Option<ResolvedPath>,
}

/// A path of a setting as an absolute one.
#[derive(Debug)]
struct ResolvedPath {
    path: PathBuf,
    /// Whether it was made of the working directory.
    is_relative: bool,
}

impl<'a> SkillPlace<'a> {
    /// Reads what a setting says.
    ///
    /// # Errors
    ///
    /// When its digest is none, or it names a home directory that is not known.
    pub fn parse(
        text: &'a str,
        base: PathBase,
        environment: &Environment,
    ) -> Result<Self, Box<Problem>> {
        let (address, pin) = split_pin(text)?;
        let is_remote = address.starts_with("https://") || address.starts_with("http://");
        let path = if is_remote { None } else { Some(resolve(address, base, environment)?) };
        Ok(Self { address, pin, path })
    }

    /// Returns the path, unless the place is an address on the network.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_ref().map(|resolved| resolved.path.as_path())
    }

    /// Returns the address of the archive that the place names, if it names one.
    pub fn archive_address(&self) -> Option<String> {
        match self.path() {
            None => Some(self.address.to_owned()),
            Some(path) => path.is_file().then(|| path.to_string_lossy().into_owned()),
        }
    }

    /// Returns the path if what is there depends on the working directory: a relative path does, unless a digest pins the
    /// content.
    pub fn relative_path(&self) -> Option<&Path> {
        let resolved = self.path.as_ref().filter(|it| it.is_relative && self.pin.is_none())?;
        Some(&resolved.path)
    }
}

/// Makes a path absolute. `~` is the home directory.
fn resolve(
    address: &str,
    base: PathBase,
    environment: &Environment,
) -> Result<ResolvedPath, Box<Problem>> {
    let written = address.strip_prefix("file://").unwrap_or(address);
    let path = match (written.strip_prefix('~'), base) {
        (Some(rest), _) => home_path(address, rest, environment)?,
        (None, PathBase::StateDirectory) => environment.state().join(written),
        (None, PathBase::WorkingDirectory) => PathBuf::from(written),
    };
    let is_relative = !path.is_absolute();
    let path = if is_relative { without_dots(&environment.folder.join(path)) } else { path };
    Ok(ResolvedPath { path, is_relative })
}

/// Returns a path below the home directory; `rest` is what follows `~`.
fn home_path(
    address: &str,
    rest: &str,
    environment: &Environment,
) -> Result<PathBuf, Box<Problem>> {
    let unknown =
        |message| Box::new(Problem::new(Code::RootUnreadable, Path::new(address), message));
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err(unknown("the home directory of another user is not looked up; write its path"));
    }
    let home = environment.home.as_ref();
    let home = home.ok_or_else(|| unknown("HOME is not set, so there is no `~`"))?;
    Ok(home.join(rest.trim_start_matches('/')))
}

/// Takes `.` and `..` out of a path by its text alone, so that no link of a project is followed for them.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Takes `#sha256=…` off an address.
fn split_pin(place: &str) -> Result<(&str, Option<Digest>), Box<Problem>> {
    let Some((address, pin)) = place.split_once("#sha256=") else { return Ok((place, None)) };
    match Digest::from_hex(pin) {
        Some(digest) => Ok((address, Some(digest))),
        None => Err(Box::new(Problem::new(
            Code::ArchiveRefused,
            Path::new(&shown(address)),
            "what follows `#sha256=` is not a digest of 64 hexadecimal digits",
        ))),
    }
}
