//! Facts about files, remembered by file identity in a file that may be deleted at any time.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cache;
use crate::files::{Identity, open_regular};

/// Most remembered facts; a memo that outgrew this starts again.
const MAX_REMEMBERED: usize = 200_000;

/// What was found out about files, by their identity.
#[derive(Debug)]
pub struct Memo<T> {
    file: Option<PathBuf>,
    known: Mutex<Known<T>>,
}

#[derive(Debug)]
struct Known<T> {
    facts: HashMap<Identity, T>,
    grown: bool,
}

impl<T: Copy + Serialize + DeserializeOwned> Memo<T> {
    /// A memo that lasts as long as the value.
    pub fn in_memory() -> Self {
        let known = Known { facts: HashMap::new(), grown: false };
        Self { file: None, known: Mutex::new(known) }
    }

    /// The memo in a file; what cannot be read there is forgotten.
    pub fn open(file: PathBuf) -> Self {
        let facts = cache::load(&file).unwrap_or_default();
        Self { file: Some(file), known: Mutex::new(Known { facts, grown: false }) }
    }

    /// Writes the memo if it grew. A failure costs time at the next start, nothing else.
    pub fn save(&self) {
        let known = self.lock();
        if let (Some(file), true) = (&self.file, known.grown) {
            cache::store(file, &known.facts);
        }
    }

    /// The fact about a file that was listed with this identity; found out if it is not known.
    pub(crate) fn recall(
        &self,
        path: &Path,
        identity: &Identity,
        find_out: impl FnOnce(File) -> io::Result<T>,
    ) -> io::Result<T> {
        self.recall_if(path, identity, |_| true, find_out)
    }

    /// The same, of the very file that was listed: it is an error if there is another one now.
    pub(crate) fn recall_listed(
        &self,
        path: &Path,
        identity: &Identity,
        find_out: impl FnOnce(File) -> io::Result<T>,
    ) -> io::Result<T> {
        self.recall_if(path, identity, |read| read == identity, find_out)
    }

    fn recall_if(
        &self,
        path: &Path,
        identity: &Identity,
        is_accepted: impl FnOnce(&Identity) -> bool,
        find_out: impl FnOnce(File) -> io::Result<T>,
    ) -> io::Result<T> {
        if let Some(fact) = self.lock().facts.get(identity) {
            return Ok(*fact);
        }
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
        };
        let (file, metadata) = open_regular(path).map_err(named)?;
        let read = Identity::of(&metadata);
        if !is_accepted(&read) {
            return Err(named(io::Error::other("it changed while it was looked at")));
        }
        // Asked before reading: a file that was young then may have changed since.
        let settled = read.is_settled();
        let fact = find_out(file).map_err(named)?;
        if settled {
            let mut known = self.lock();
            if known.facts.len() >= MAX_REMEMBERED {
                known.facts.clear();
            }
            known.facts.insert(read, fact);
            known.grown = true;
        }
        Ok(fact)
    }

    fn lock(&self) -> MutexGuard<'_, Known<T>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
