//! The header of a `SKILL.md`: finding it, reading it, and what its fields say.
//!
//! Everything here is pure: text in, a [`Manifest`] and diagnostics out.

mod entries;
mod fields;
mod frame;
mod install;
mod json;
mod quick;
mod read;
mod repair;
mod requirements;
mod sandbox;
mod targets;
mod yaml;

#[cfg(test)]
mod tests;

pub use fields::{Dispatch, Invocation, Manifest};
pub use frame::{Frame, FrameError};
pub use install::{ArchiveKind, DownloadOption, InstallKind, InstallOption, RefusedOption};
pub use json::{Difference, FrontMatterError, difference, front_matter, read_front_matter};
pub use read::{ReadOptions, Reading, WithoutHeader, decode, read};
pub use requirements::{Gate, Requirements};
pub use sandbox::{NetworkRequest, SandboxRequest};
pub use yaml::yaml;

pub(crate) use fields::{FORMAT_FIELDS, MAX_COMPATIBILITY_CHARS, MAX_DESCRIPTION_CHARS};
pub(crate) use read::{Mending, Unread, header_tree};
pub(crate) use yaml::{Kind, Node};
