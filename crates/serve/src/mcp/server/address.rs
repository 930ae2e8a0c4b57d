//! Addresses of what is served: `skill://<skill>/<path>` and `artifact://<name>[@version]`.
//!
//! An address names something that is listed, or nothing: it is never turned into a path of this machine. Still,
//! whatever could be one that leads elsewhere is refused here, before anybody looks.
//!
//! The skill of a plugin, `plugin:name`, is at `skill://plugin/name`, so that the last part of its folder is what its
//! header calls it. Where a skill is called like the plugin, that would be a file of this skill, and it is at
//! `skill://plugin%3Aname` instead.

use std::fmt::Write as _;

use metier_skill::library::Snapshot;
use metier_skill::remote::decoded;
use metier_workspace::artifact::ArtifactRef;
use thiserror::Error;

/// Longest address that is read, in bytes.
const MAX_BYTES: usize = 4096;
/// How addresses in skills begin.
const SKILL: &str = "skill://";
/// How addresses of artifacts begin.
const ARTIFACT: &str = "artifact://";
/// The file that every skill has.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// What an address means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// A file or folder of a skill; the path is empty for the skill's own folder.
    Skill {
        /// The skill.
        name: String,
        /// The path inside, with slashes.
        path: String,
    },
    /// An artifact.
    Artifact(ArtifactRef),
}

/// Why a text is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub(super) enum AddressError {
    /// It is too long.
    #[error("it is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// It begins with neither scheme.
    #[error("it begins with neither `{SKILL}` nor `{ARTIFACT}`")]
    Scheme,
    /// A part is empty, `.` or `..`, or has a character that no path of a skill has.
    #[error("a part of it is empty, `.` or `..`, or has a character that is not allowed")]
    Part,
    /// No artifact is called so.
    #[error("no artifact can have this name")]
    Artifact,
}

impl Address {
    /// Reads an address. Which of its parts are the name depends on the skills there are.
    pub(super) fn parse(text: &str, skills: &Snapshot) -> Result<Self, AddressError> {
        if text.len() > MAX_BYTES {
            return Err(AddressError::TooLong);
        }
        if let Some(rest) = text.strip_prefix(ARTIFACT) {
            let name = parts(rest)?.join("/");
            let reference = ArtifactRef::parse(&format!("{ARTIFACT}{name}"));
            return reference.map(Self::Artifact).map_err(|_| AddressError::Artifact);
        }
        let parts = parts(text.strip_prefix(SKILL).ok_or(AddressError::Scheme)?)?;
        let [first, rest @ ..] = parts.as_slice() else { return Err(AddressError::Part) };
        if skills.find(first).is_none()
            && let [second, rest @ ..] = rest
            && let name = format!("{first}:{second}")
            && skills.find(&name).is_some()
        {
            return Ok(Self::Skill { name, path: rest.join("/") });
        }
        Ok(Self::Skill { name: first.clone(), path: rest.join("/") })
    }
}

/// The address of the folder of a skill.
pub(super) fn of_skill(name: &str, skills: &Snapshot) -> String {
    match name.split_once(':') {
        Some((plugin, own)) if skills.find(plugin).is_none() && !own.is_empty() => {
            format!("{SKILL}{}/{}", encoded(plugin), encoded(own))
        }
        _ => format!("{SKILL}{}", encoded(name)),
    }
}

/// Whether an address is that of an artifact.
pub(super) fn is_of_artifact(uri: &str) -> bool {
    uri.starts_with(ARTIFACT)
}

/// The address of something in a folder that has one.
pub(super) fn inside(folder: &str, path: &str) -> String {
    let parts: Vec<String> = path.split('/').map(encoded).collect();
    format!("{folder}/{}", parts.join("/"))
}

/// Whether the last part of an address is a name.
pub(super) fn ends_with(folder: &str, name: &str) -> bool {
    folder.rsplit('/').next() == Some(&encoded(name))
}

/// The address of an artifact.
pub(super) fn of_artifact(reference: &ArtifactRef) -> String {
    let parts: Vec<String> = reference.name().as_str().split('/').map(encoded).collect();
    let version = reference.version().map(|it| format!("@{it}")).unwrap_or_default();
    format!("{ARTIFACT}{}{version}", parts.join("/"))
}

/// A part of a path as addresses have it: what RFC 3986 reserves, and everything beyond ASCII, becomes bytes.
fn encoded(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    for byte in part.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte));
            }
            _ => {
                let _infallible = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

/// The parts of a path, each decoded once and judged afterwards.
fn parts(text: &str) -> Result<Vec<String>, AddressError> {
    let parts = text.split('/').map(|part| {
        let part = decoded(part).ok_or(AddressError::Part)?;
        let is_bad = |it: char| it.is_control() || matches!(it, '/' | '\\');
        let leads_on = matches!(part.as_str(), "" | "." | "..");
        if leads_on || part.contains(is_bad) { Err(AddressError::Part) } else { Ok(part) }
    });
    parts.collect()
}
