//! What is known of one `SKILL.md` without its body: read from the beginning of the file.

use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::catalog::HeaderTokens;
use crate::diagnostic::Code;
use crate::discover::walk::Candidate;
use crate::files::{Digest, Identity, boundary_before, open_without_waiting};
use crate::header::{self, Frame, FrameError, Manifest, ReadOptions, WithoutHeader};
use crate::problem::Problem;
use crate::text::LineIndex;

/// Largest `SKILL.md` that is read.
pub(crate) const MAX_SKILL_FILE_BYTES: u64 = 1 << 20;
/// How much is read at first; nearly every header ends before it.
const FIRST_READ_BYTES: usize = 8 << 10;

/// How much of a `SKILL.md` is read for its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderReading {
    /// The beginning, up to the end of the header.
    Beginning,
    /// The whole file, with its digest: whether the header is trusted depends on it.
    Digested,
}

/// What a header said when it was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) identity: Identity,
    /// The digest of the file whose bytes the header was parsed from, if it was asked for. What the state of the file
    /// says is not enough: a write through a shared mapping may leave the state as it was.
    pub(crate) digest: Option<Digest>,
    pub(crate) manifest: Option<Box<Manifest>>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) tokens: HeaderTokens,
}

impl Record {
    /// Reads the header of a file that was found in a state, with a buffer to read into.
    ///
    /// The record carries the state in which the file was found. If it was replaced since, the
    /// next scan sees another state and reads it again.
    pub(crate) fn read(
        candidate: &Candidate,
        reading: HeaderReading,
        buffer: &mut Vec<u8>,
    ) -> Result<Self, Problem> {
        let Candidate { file, identity, .. } = candidate;
        if identity.size() > MAX_SKILL_FILE_BYTES {
            let message = format!("the file has {} bytes and was not read", identity.size());
            return Err(Problem::new(Code::FileTooLarge, file, message)
                .help("move details into other files of the skill"));
        }
        let (header, digest) =
            read_part(file, identity.size(), reading, buffer).map_err(|error| {
                let message = format!("`SKILL.md` cannot be read: {error}");
                Problem::new(Code::NotAFile, file, message)
            })?;
        Ok(Self { digest, ..Self::of_bytes(header, file, *identity) })
    }

    /// Returns whether this is what a reading of a file in a state would give.
    pub(crate) fn is_current(&self, identity: &Identity, reading: HeaderReading) -> bool {
        let is_digested = self.digest.is_some() || reading == HeaderReading::Beginning;
        self.identity == *identity && is_digested
    }

    /// Makes the record of a header that was read.
    fn of_bytes(bytes: &[u8], file: &Path, identity: Identity) -> Self {
        let folder = file.parent().and_then(Path::file_name);
        let name = folder.and_then(|name| name.to_str());
        let (manifest, problems) = judge(bytes, file, name);
        let tokens = manifest.as_ref().map(HeaderTokens::of).unwrap_or_default();
        Self { identity, digest: None, manifest: manifest.map(Box::new), problems, tokens }
    }
}

/// Reads the header of a file of a size, and the digest of the file if that is asked for.
fn read_part<'a>(
    file: &Path,
    size: u64,
    reading: HeaderReading,
    buffer: &'a mut Vec<u8>,
) -> io::Result<(&'a [u8], Option<Digest>)> {
    let opened = open_without_waiting(file)?;
    if reading == HeaderReading::Beginning {
        return Ok((read_header(opened, size, buffer)?, None));
    }
    let mut whole = Vec::new();
    // One byte more than the largest: a file that has grown past that has a digest that nobody trusted.
    opened.take(MAX_SKILL_FILE_BYTES + 1).read_to_end(&mut whole)?;
    let header = read_header(whole.as_slice(), whole.len() as u64, buffer)?;
    Ok((header, Some(Digest::of_bytes(&whole))))
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
    let diagnostics = undecodable.iter().chain(&reading.diagnostics);
    if diagnostics.clone().next().is_none() {
        return (reading.manifest, Vec::new());
    }
    let lines = LineIndex::new(&text);
    let problems = diagnostics.map(|it| Problem::in_file(file, &lines, it)).collect();
    (reading.manifest, problems)
}

/// The beginning of a file up to the end of its header; the whole file if it has none.
///
/// A file of the size it said is not asked for more, which saves a call a file.
fn read_header(mut file: impl Read, size: u64, buffer: &mut Vec<u8>) -> io::Result<&[u8]> {
    buffer.resize(buffer.len().max(FIRST_READ_BYTES), 0);
    let mut wanted = FIRST_READ_BYTES;
    let mut filled = 0;
    loop {
        let count = file.read(&mut buffer[filled..wanted])?;
        filled += count;
        let ended = count == 0 || filled as u64 >= size;
        if !ended && filled < wanted {
            continue;
        }
        let end = match Frame::find(&buffer[..filled]) {
            // What looks like the closing line may be the beginning of another one.
            Ok(frame) if ended || buffer[frame.body.start - 1] == b'\n' => frame.body.start,
            Err(_) if ended => filled,
            Err(FrameError::NoHeader) => last_line_end(&buffer[..filled]),
            _ if filled as u64 > MAX_SKILL_FILE_BYTES => filled,
            Ok(_) | Err(FrameError::Unclosed) => {
                wanted *= 8;
                buffer.resize(buffer.len().max(wanted), 0);
                continue;
            }
        };
        return Ok(&buffer[..end]);
    }
}

/// Text without a header is cut at a line, or else between two characters.
fn last_line_end(bytes: &[u8]) -> usize {
    match bytes.iter().rposition(|&byte| byte == b'\n') {
        Some(at) => at + 1,
        None => boundary_before(bytes, bytes.len().saturating_sub(1)),
    }
}
