//! The streams of a run: all of each to a file, its beginning and end in memory.

use std::collections::VecDeque;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use metier_sandbox::Stream;
use metier_secrets::{RedactionStream, Redactor};

use crate::executor::Live;

use crate::layout::create_private;

/// What is kept in memory of a stream, in bytes; half for its beginning, half for its end.
pub const SHOWN: usize = 16 << 10;
/// What is kept on disk of a stream, in bytes.
pub const KEPT: u64 = 64 << 20;

/// The files with the streams of a run, in its folder: standard output, then standard error.
pub(crate) const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// Both streams of a run.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) output: Taken,
    pub(crate) error: Taken,
}

impl Default for Streams {
    fn default() -> Self {
        Self { output: Taken::to(None), error: Taken::to(None) }
    }
}

impl Streams {
    /// Streams whose files are in the folder of a run, which is made if need be. One of which nothing
    /// comes has no file.
    pub(crate) fn in_folder(folder: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let [output, error] = STREAMS.map(|name| Taken::to(Some(folder.join(name))));
        Ok(Self { output, error })
    }

    /// What of them is nowhere.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let both = [(&self.output, "stdout"), (&self.error, "stderr")];
        let lost = both.into_iter().filter(|(taken, _)| {
            taken.failure().is_some() || (taken.is_cut() && !taken.is_on_disk())
        });
        lost.map(|(taken, name)| {
            let why = taken.failure().map(|it| format!(": {}", advised(it))).unwrap_or_default();
            format!("{name} had {} bytes, of which not all were kept{why}", taken.total())
        })
        .collect()
    }

    /// Whether something could not be written down.
    pub(crate) fn is_incomplete(&self) -> bool {
        [&self.output, &self.error].into_iter().any(|taken| taken.failure().is_some())
    }

    pub(crate) fn take(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Output => self.output.take(bytes),
            Stream::Error => self.error.take(bytes),
        }
    }
}

/// The streams of a run on their way to files, memory and whoever watches: the values of keys are masked before
/// any of them.
pub(crate) struct MaskedStreams {
    output: RedactionStream,
    error: RedactionStream,
    streams: Streams,
    live: Live,
}

impl MaskedStreams {
    pub(crate) fn new(redactor: &Redactor, streams: Streams, live: Live) -> Self {
        Self { output: redactor.stream(), error: redactor.stream(), streams, live }
    }

    pub(crate) fn take(&mut self, stream: Stream, bytes: &[u8]) {
        let masked = match stream {
            Stream::Output => self.output.push(bytes),
            Stream::Error => self.error.push(bytes),
        };
        pass_on(&mut self.streams, &mut self.live, (stream, &masked));
    }

    /// Passes on what was held back, and gives the streams.
    pub(crate) fn end(&mut self) -> Streams {
        let rest = [(Stream::Output, self.output.finish()), (Stream::Error, self.error.finish())];
        for (stream, bytes) in rest {
            pass_on(&mut self.streams, &mut self.live, (stream, &bytes));
        }
        std::mem::take(&mut self.streams)
    }
}

fn pass_on(streams: &mut Streams, live: &mut Live, (stream, bytes): (Stream, &[u8])) {
    if !bytes.is_empty() {
        streams.take(stream, bytes);
        live(stream, bytes);
    }
}

/// Takes a stream in whatever amount it comes.
#[derive(Debug)]
pub(crate) struct Taken {
    /// Where it goes.
    place: Option<PathBuf>,
    file: Option<File>,
    /// Why the file does not have all of it.
    failure: Option<io::Error>,
    total: u64,
    head: Vec<u8>,
    tail: VecDeque<u8>,
}

impl Taken {
    pub(crate) fn to(place: Option<PathBuf>) -> Self {
        let (head, tail) = (Vec::new(), VecDeque::new());
        Self { place, file: None, failure: None, total: 0, head, tail }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let room = usize::try_from(KEPT.saturating_sub(self.total)).unwrap_or_default();
        if let Err(error) = self.write(&bytes[..bytes.len().min(room)]) {
            // The disk is full, say; what is shown does not depend on it.
            self.failure = Some(error);
            self.file = None;
        }
        self.total += bytes.len() as u64;
        let free = (SHOWN / 2).saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(free);
        self.head.extend_from_slice(first);
        let last = &rest[rest.len().saturating_sub(SHOWN / 2)..];
        self.tail.extend(last);
        let excess = self.tail.len().saturating_sub(SHOWN / 2);
        self.tail.drain(..excess);
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(place) = self.place.as_ref().filter(|_| self.failure.is_none()) else {
            return Ok(());
        };
        if bytes.is_empty() {
            return Ok(());
        }
        if self.file.is_none() {
            self.file = Some(create_private(place)?);
        }
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
    }

    /// All bytes there were.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Why the file does not have all of it, if not because it was too much.
    pub(crate) fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    /// Whether the file has all of it.
    pub(crate) fn is_on_disk(&self) -> bool {
        self.file.is_some() && self.total <= KEPT
    }

    /// Where all of it is, when the text is not.
    pub(crate) fn reference(&self, run: &str, name: &str) -> Option<String> {
        let elsewhere = self.is_cut() && self.is_on_disk();
        elsewhere.then(|| format!("workspace://runs/{run}/{name}"))
    }

    /// Whether the text is not all of it.
    pub(crate) fn is_cut(&self) -> bool {
        self.total > (self.head.len() + self.tail.len()) as u64
    }

    /// The text: whole, or its beginning and end with a remark between them.
    pub(crate) fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if !self.is_cut() {
            return String::from_utf8_lossy(&[&self.head[..], &tail].concat()).into_owned();
        }
        let head = &self.head[..last_boundary(&self.head)];
        let start = tail.iter().position(|byte| (byte & 0xc0) != 0x80).unwrap_or_default();
        let tail = &tail[start..];
        // In bytes as they came: what is no text takes more room once it is shown.
        let omitted = self.total - (head.len() + tail.len()) as u64;
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        format!("{head}\n… {omitted} bytes left out …\n{tail}")
    }
}

/// Where the last whole character ends.
fn last_boundary(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

/// Why something could not be written, and what to do if that is known.
pub(crate) fn advised(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "no space is left for the workspace: free some".to_owned()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_and_end_are_kept_whatever_the_pieces() {
        for piece in [1, 7, 4096, 100_000, 1_000_000] {
            let all: Vec<u8> = (0..1_000_000_u32).map(|it| b'a' + (it % 26) as u8).collect();
            let mut taken = Taken::to(None);
            all.chunks(piece).for_each(|chunk| taken.take(chunk));
            let text = taken.text();
            assert!(text.starts_with(std::str::from_utf8(&all[..SHOWN / 2]).unwrap()));
            assert!(text.ends_with(std::str::from_utf8(&all[all.len() - SHOWN / 2..]).unwrap()));
            assert!(text.contains("… 983616 bytes left out …"), "{piece}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_counted_as_they_came() {
        let mut taken = Taken::to(None);
        taken.take(&vec![0xff; SHOWN + 100]);
        assert!(taken.text().contains("… 100 bytes left out …"));
    }

    #[test]
    fn what_fits_is_whole_and_characters_are_not_cut() {
        let mut taken = Taken::to(None);
        taken.take("é".repeat(SHOWN / 2).as_bytes());
        assert!(!taken.is_cut());
        assert_eq!(taken.text(), "é".repeat(SHOWN / 2));
        taken.take("é".repeat(SHOWN).as_bytes());
        assert!(!taken.text().contains('\u{fffd}'));
    }
}
