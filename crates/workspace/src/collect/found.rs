//! A file that was found: what it is, its text, its digest.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::layout::{Moment, Workspace, changed};
use crate::mime::{self, is_textual, mime_type};
use crate::path::Inside;
use crate::record::RecordedFile;
use crate::request::OutputFile;

/// Most text that is given of one file, in bytes.
pub(super) const MAX_INLINE: u64 = 256 << 10;

/// A file that a pattern found, open.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) place: Inside,
    file: File,
    pub(crate) size: u64,
    /// Whether it changed since a moment.
    pub(crate) is_new: bool,
}

/// Opens what was found, without following a link that was put there since.
pub(crate) fn open(workspace: &Workspace, place: &Inside, since: Moment) -> io::Result<Found> {
    let file = workspace.open_file(place)?;
    let metadata = file.metadata()?;
    let is_new = changed(&metadata) >= since;
    Ok(Found { place: place.clone(), file, size: metadata.len(), is_new })
}

impl Found {
    /// The file, to be read from its beginning.
    pub(crate) fn rewound(&self) -> io::Result<&File> {
        (&self.file).seek(SeekFrom::Start(0))?;
        Ok(&self.file)
    }

    /// Describes the file, with its text up to a limit if that is wanted.
    pub(crate) fn describe(&self, inline: Option<u64>) -> io::Result<OutputFile> {
        let wanted = inline.unwrap_or_default().min(MAX_INLINE).min(self.size);
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX).max(mime::ENOUGH);
        let mut bytes = Vec::new();
        self.rewound()?.take(wanted as u64).read_to_end(&mut bytes)?;
        let mime_type = mime_type(self.place.file_name(), &bytes[..bytes.len().min(mime::ENOUGH)]);
        let mut content = None;
        let mut truncated = inline.is_some_and(|limit| self.size > limit.min(MAX_INLINE));
        if let Some(limit) = inline.filter(|_| is_textual(mime_type)) {
            let limit = usize::try_from(limit.min(MAX_INLINE)).unwrap_or(usize::MAX);
            bytes.truncate(limit);
            match text_of(bytes) {
                Some(text) => content = Some(text),
                None => truncated = false,
            }
        }
        Ok(OutputFile {
            name: self.place.to_string(),
            reference: format!("workspace://{}", self.place),
            mime_type: mime_type.to_owned(),
            size_bytes: self.size,
            content,
            truncated,
        })
    }

    /// For the record: size and digest of what there was when it was found.
    pub(crate) fn record(&self, from: Option<String>) -> io::Result<RecordedFile> {
        let mut hasher = blake3::Hasher::new();
        // Somebody may still write to it.
        hasher.update_reader(self.rewound()?.take(self.size))?;
        Ok(RecordedFile {
            name: self.place.to_string(),
            from,
            size_bytes: self.size,
            digest: hasher.finalize().to_hex().to_string(),
        })
    }
}

/// Bytes as text, without a character that was cut at the end.
fn text_of(bytes: Vec<u8>) -> Option<String> {
    match String::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(end);
            String::from_utf8(bytes).ok()
        }
        Err(_) => None,
    }
}
