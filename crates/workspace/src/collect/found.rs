//! A file that was found: what it is, its text, its digest.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::layout::{Moment, changed, open_regular};
use crate::mime::{self, is_textual, mime_type};
use crate::path::Inside;
use crate::record::RecordedFile;
use crate::request::OutputFile;

/// Most text that is given of one file, in bytes.
pub(super) const MAX_INLINE: u64 = 256 << 10;

/// Files up to this size are read once and kept, in bytes; larger ones are read where they are needed.
const SMALL: u64 = 64 << 10;

/// A file that a pattern found, open.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) place: Inside,
    file: File,
    pub(crate) size: u64,
    /// All of it, if it is small.
    content: Option<Vec<u8>>,
    /// Whether it changed since a moment.
    pub(crate) is_new: bool,
}

/// Opens what was found below the root of a workspace, without following a link that was put there since.
pub(crate) fn open(root: &File, place: &Inside, since: Moment) -> io::Result<Found> {
    let (file, metadata) = open_regular(root, place)?;
    let (size, is_new) = (metadata.len(), changed(&metadata) >= since);
    let content = if size <= SMALL { whole(&file, size)? } else { None };
    Ok(Found { place: place.clone(), file, size, content, is_new })
}

/// A whole file of a size; nothing if it has another one by now.
fn whole(file: &File, size: u64) -> io::Result<Option<Vec<u8>>> {
    let room = usize::try_from(size).unwrap_or_default() + 1;
    let mut content = Vec::with_capacity(room);
    file.take(room as u64).read_to_end(&mut content)?;
    Ok(Some(content).filter(|content| content.len() as u64 == size))
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
        let mut bytes = match &self.content {
            Some(content) => content[..content.len().min(wanted)].to_vec(),
            None => self.first(wanted)?,
        };
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
        let digest = match &self.content {
            Some(content) => blake3::hash(content),
            // Somebody may still write to it.
            None => {
                blake3::Hasher::new().update_reader(self.rewound()?.take(self.size))?.finalize()
            }
        };
        Ok(RecordedFile {
            name: self.place.to_string(),
            from,
            size_bytes: self.size,
            digest: digest.to_hex().to_string(),
        })
    }

    /// Its first bytes.
    fn first(&self, count: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.rewound()?.take(count as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
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
