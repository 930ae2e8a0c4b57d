//! Why an archive was not unpacked.
//!
//! Names of entries come from the archive, so they are kept in a form that is safe to show: lossy
//! UTF-8, control characters escaped, and cut when absurdly long.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::Format;

/// Why an archive was not unpacked; in every case nothing was left on disk.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// Neither the name nor the first bytes tell what this is.
    #[error("`{name}` is not a zip, tar or tar.gz archive, nor a `SKILL.md`")]
    UnknownFormat {
        /// The name that was given for the archive.
        name: String,
    },
    /// The archive cannot be read at all.
    #[error("cannot read `{name}`")]
    Unreadable {
        /// The name that was given for the archive.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// The archive cannot be parsed, or ends too early.
    #[error("the {format} archive is damaged or incomplete")]
    Damaged {
        /// What it was read as.
        format: Format,
        /// Where reading failed.
        source: io::Error,
    },
    /// The archive holds something that is never unpacked.
    #[error("the archive holds `{entry}`, which is refused: {reason}")]
    Refused {
        /// The name of the entry, made safe to show.
        entry: String,
        /// The rule it breaks.
        reason: Refusal,
    },
    /// The archive itself is too large.
    #[error("the archive has {bytes} bytes, more than the {limit} allowed")]
    ArchiveTooLarge {
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
    /// More files, folders and links than allowed.
    #[error("the archive holds more than {limit} entries")]
    TooManyEntries {
        /// How many there may be.
        limit: usize,
    },
    /// One file is too large.
    #[error("`{entry}` unpacks to more than {limit} bytes")]
    FileTooLarge {
        /// The name of the entry, made safe to show.
        entry: String,
        /// How large it may be.
        limit: u64,
    },
    /// All files together are too large.
    #[error("the archive unpacks to more than {limit} bytes, reached in `{entry}`")]
    TotalTooLarge {
        /// The entry that crossed the line, made safe to show.
        entry: String,
        /// How large all files may be.
        limit: u64,
    },
    /// The archive grows too much while unpacking.
    #[error("the archive unpacks to more than {ratio} times its size, reached in `{entry}`")]
    RatioTooHigh {
        /// The entry that crossed the line, made safe to show.
        entry: String,
        /// How many times its own size it may unpack to.
        ratio: u64,
    },
    /// Headers between the files are too large to be honest.
    #[error("the archive has headers of more than {limit} bytes")]
    HeadersTooLarge {
        /// How large the headers may be.
        limit: u64,
    },
    /// Something is already where the folder should go.
    #[error("`{}` already exists", path.display())]
    TargetExists {
        /// The folder that was to be made.
        path: PathBuf,
    },
    /// The folder cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file or folder concerned.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The rule that an entry of an archive breaks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The path begins with a slash.
    #[error("its path is absolute")]
    Absolute,
    /// A part of the path is `..`.
    #[error("its path contains `..`")]
    ParentFolder,
    /// The path begins like `C:`.
    #[error("its path begins with a drive letter")]
    DriveLetter,
    /// The path contains `\`, which some systems take for a separator.
    #[error("its path contains a backslash")]
    Backslash,
    /// The path contains NUL, a line break or another control character.
    #[error("its path contains a control character")]
    ControlCharacter,
    /// The path is not UTF-8.
    #[error("its path is not UTF-8")]
    NotUtf8,
    /// Nothing is left of the path.
    #[error("it has no name")]
    NoName,
    /// Too many parts.
    #[error("its path has more than {limit} parts")]
    TooDeep {
        /// How many parts a path may have.
        limit: usize,
    },
    /// One part is too long.
    #[error("a part of its path is longer than {limit} bytes")]
    NameTooLong {
        /// How long a part may be.
        limit: usize,
    },
    /// Another entry has the same path.
    #[error("another entry has the same path")]
    Duplicate,
    /// Another path differs only in upper and lower case or in Unicode form.
    #[error("its path cannot be told from `{other}` on every system")]
    Collision {
        /// The path that was there first.
        other: String,
    },
    /// A file or link stands where a folder is needed.
    #[error("`{parent}` is not a folder")]
    NotInFolder {
        /// The path that should be a folder.
        parent: String,
    },
    /// A symbolic link that does not provably stay inside the archive.
    #[error("it links to `{target}`, which may lead out of the archive")]
    EscapingLink {
        /// Where the link points, made safe to show.
        target: String,
    },
    /// A symbolic link where there may be none.
    #[error("it is a link")]
    Link,
    /// A second name for another file.
    #[error("it is a hard link")]
    HardLink,
    /// A character or block device.
    #[error("it is a device")]
    Device,
    /// A named pipe.
    #[error("it is a named pipe")]
    NamedPipe,
    /// A sparse file, a volume label or another rarity.
    #[error("it is neither a file, a folder nor a link")]
    OtherKind,
    /// A folder that has contents of its own.
    #[error("it is named like a folder but has the contents of a file")]
    FolderWithContents,
    /// A password would be needed.
    #[error("it is encrypted")]
    Encrypted,
    /// Packed with something else than deflate.
    #[error("its compression method is not supported")]
    Compression,
}

/// Makes the name of an entry safe to show.
pub(super) fn shown(name: &[u8]) -> String {
    const LONGEST: usize = 200;
    let text = String::from_utf8_lossy(name);
    let mut shown = String::new();
    for character in text.chars() {
        if shown.len() >= LONGEST {
            shown.push('…');
            break;
        }
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}
