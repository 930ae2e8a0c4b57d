//! What is known of one `SKILL.md` without its body: read from the beginning of the file.

use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::catalog::HeaderTokens;
use crate::diagnostic::Code;
use crate::files::{Identity, open_regular};
use crate::header::{self, Frame, FrameError, Manifest, ReadOptions, WithoutHeader};
use crate::problem::Problem;
use crate::text::LineIndex;

/// Largest `SKILL.md` that is read.
pub(crate) const MAX_SKILL_FILE_BYTES: u64 = 1 << 20;
/// How much is read at first; nearly every header ends before it.
const FIRST_READ_BYTES: usize = 8 << 10;

/// What a header said when it was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) identity: Identity,
    pub(crate) manifest: Option<Manifest>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) tokens: HeaderTokens,
}

impl Record {
    /// Reads the header of a file.
    pub(crate) fn read(file: &Path, folder: &Path) -> Result<Self, Problem> {
        let unreadable = |error: io::Error| {
            let message = format!("`SKILL.md` cannot be read: {error}");
            Problem::new(Code::NotAFile, file, message)
        };
        let (opened, metadata) = open_regular(file).map_err(unreadable)?;
        if metadata.len() > MAX_SKILL_FILE_BYTES {
            let message = format!("the file has {} bytes and was not read", metadata.len());
            return Err(Problem::new(Code::FileTooLarge, file, message)
                .help("move details into other files of the skill"));
        }
        let bytes = read_header(opened).map_err(unreadable)?;
        Ok(Self::of_bytes(&bytes, file, folder, Identity::of(&metadata)))
    }

    /// Makes the record of a header that was read.
    pub(crate) fn of_bytes(bytes: &[u8], file: &Path, folder: &Path, identity: Identity) -> Self {
        let name = folder.file_name().and_then(|name| name.to_str());
        let (manifest, problems) = judge(bytes, file, name);
        let tokens = manifest.as_ref().map(HeaderTokens::of).unwrap_or_default();
        Self { identity, manifest, problems, tokens }
    }
}

/// Reads a header and says what was noticed, for a file in a folder of a name.
pub(crate) fn judge(
    bytes: &[u8],
    file: &Path,
    folder: Option<&str>,
) -> (Option<Manifest>, Vec<Problem>) {
    let (text, undecodable) = header::decode(bytes);
    let options = ReadOptions { folder, without_header: WithoutHeader::FirstParagraph };
    let reading = header::read(&text, &options);
    let lines = LineIndex::new(&text);
    let diagnostics = undecodable.iter().chain(&reading.diagnostics);
    let problems = diagnostics.map(|it| Problem::in_file(file, &lines, it)).collect();
    (reading.manifest, problems)
}

/// The beginning of a file up to the end of its header; the whole file if it has none.
fn read_header(mut file: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(FIRST_READ_BYTES);
    let mut wanted = FIRST_READ_BYTES;
    loop {
        let missing = (wanted - bytes.len()) as u64;
        let read = file.by_ref().take(missing).read_to_end(&mut bytes)? as u64;
        let ended = read < missing;
        match Frame::find(&bytes) {
            Ok(frame) => {
                bytes.truncate(frame.body.start);
                return Ok(bytes);
            }
            Err(FrameError::NoHeader) | Err(FrameError::Unclosed) if ended => return Ok(bytes),
            Err(FrameError::NoHeader) => {
                bytes.truncate(last_line_end(&bytes));
                return Ok(bytes);
            }
            Err(FrameError::Unclosed) => wanted = wanted.saturating_mul(8),
        }
        if wanted as u64 > MAX_SKILL_FILE_BYTES * 8 {
            return Ok(bytes);
        }
    }
}

/// Text without a header is cut at a line, so that no character is.
fn last_line_end(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(bytes.len(), |at| at + 1)
}
