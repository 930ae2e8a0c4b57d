//! The versions of one artifact in a folder store.
//!
//! A version is a folder with two files, `content` and `record.json`. It is filled elsewhere and
//! renamed to its number. A folder cannot be renamed onto one that has files, so a number goes to
//! one saver only, whoever else tries and from whatever process. Deleting takes the content and
//! renames the record, but the folder stays and so does its number: nobody gets it again.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::folder::{Folder, present};
use super::store::from_milliseconds;
use super::verified::Verified;
use super::{ArtifactError, ArtifactKey, Listed, Loaded, VersionInfo};
use crate::encode::file_name;

/// The bytes of a version.
pub(super) const CONTENT: &str = "content";
/// What is known about a version. It is there if and only if the version is.
const RECORD: &str = "record.json";
/// The record of a version that was deleted.
const BURIED: &str = "deleted.json";
/// Longest record; the fields are bounded to less.
const MAX_RECORD_BYTES: u64 = 16 * 1024;
/// Most versions of one artifact, deleted ones included: each save reads the list of them.
const MAX_VERSIONS: u64 = 100_000;

/// What is written beside the content.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) digest: String,
    pub(super) mime_type: String,
    pub(super) created_ms: u64,
}

/// The folder of an artifact.
pub(super) struct Versions<'a> {
    /// The folder of the store, for errors.
    pub(super) store: &'a Path,
    /// The name in errors.
    pub(super) name: &'a str,
    /// The name of the folder in the one above.
    pub(super) file_name: String,
    pub(super) folder: Folder,
}

impl Record {
    /// Puts the record into the folder of its version.
    pub(super) fn write(&self, folder: &Folder) -> io::Result<()> {
        let mut file = folder.make_file(RECORD)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_all()
    }

    pub(super) fn info(self, version: u64) -> VersionInfo {
        let Self { size, digest, mime_type, created_ms, .. } = self;
        VersionInfo { version, size, digest, mime_type, created: from_milliseconds(created_ms) }
    }
}

impl Versions<'_> {
    /// Moves a folder from staging to the next number, and returns that when it is on disk.
    pub(super) fn claim(&self, staging: &Folder, entry: &str) -> Result<u64, ArtifactError> {
        let mut number = self.numbers()?.last().map_or(0, |last| last + 1);
        while number < MAX_VERSIONS {
            match staging.rename(entry, &self.folder, &number.to_string()) {
                Err(error) if is_taken(&error) => number += 1,
                moved => {
                    self.checked(moved.and_then(|()| self.folder.sync()))?;
                    return Ok(number);
                }
            }
        }
        Err(ArtifactError::TooManyVersions { name: self.name.to_owned(), limit: MAX_VERSIONS })
    }

    /// Opens a version, if it is there.
    ///
    /// Content is opened before the record. Deleting goes the other way, so content that is missing
    /// although there is a record afterwards was not deleted.
    pub(super) fn open(&self, number: u64) -> Result<Option<Loaded>, ArtifactError> {
        let Some(folder) = self.checked(present(self.folder.open(&number.to_string())))? else {
            return Ok(None);
        };
        let content = self.checked(present(folder.open_file(CONTENT)))?;
        let Some(record) = self.record(&folder, number)? else { return Ok(None) };
        let content = content.ok_or_else(|| self.damaged(number, "its content is missing"))?;
        if self.checked(content.metadata())?.len() != record.size {
            return Err(self.damaged(number, "its size has changed"));
        }
        let name = record.name.clone();
        let info = record.info(number);
        let content = Box::new(Verified::new(content, &name, info.clone()));
        Ok(Some(Loaded { info, content }))
    }

    /// Opens the newest version there is.
    pub(super) fn open_newest(&self) -> Result<Option<Loaded>, ArtifactError> {
        let mut numbers = self.numbers()?.into_iter().rev();
        numbers.find_map(|number| self.open(number).transpose()).transpose()
    }

    /// All versions there are, ascending.
    pub(super) fn all(&self) -> Result<Vec<VersionInfo>, ArtifactError> {
        let records = self.records();
        Ok(records?.into_iter().map(|(number, record)| record.info(number)).collect())
    }

    /// The artifact as an item of a list, if it has versions.
    pub(super) fn listed(&self) -> Result<Option<Listed>, ArtifactError> {
        let mut records = self.records()?;
        let versions = records.len();
        Ok(records.pop().map(|(number, record)| {
            let name = record.name.clone();
            Listed { name, newest: record.info(number), versions }
        }))
    }

    /// Deletes a version and says whether it was there.
    pub(super) fn bury(&self, number: u64) -> Result<bool, ArtifactError> {
        let Some(folder) = self.checked(present(self.folder.open(&number.to_string())))? else {
            return Ok(false);
        };
        let renamed = self.checked(present(folder.rename(RECORD, &folder, BURIED)))?;
        // Also if it was deleted before: whoever did may have been stopped here.
        let removed = self.checked(present(folder.remove_file(CONTENT)))?;
        if renamed.or(removed).is_some() {
            self.checked(folder.sync())?;
        }
        Ok(renamed.is_some())
    }

    /// All numbers that were ever given, ascending.
    pub(super) fn numbers(&self) -> Result<Vec<u64>, ArtifactError> {
        let mut numbers = Vec::new();
        for name in self.checked(self.folder.names())? {
            let name = self.checked(name)?;
            let number: Option<u64> = name.parse().ok().filter(|number| *number < MAX_VERSIONS);
            numbers.extend(number.filter(|number| number.to_string() == name));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Says what is not there: this version, or any.
    pub(super) fn missing(
        &self,
        key: &ArtifactKey,
        version: Option<u64>,
    ) -> Result<ArtifactError, ArtifactError> {
        let has_some = !self.records()?.is_empty();
        Ok(ArtifactError::missing(key, version.filter(|_| has_some)))
    }

    fn records(&self) -> Result<Vec<(u64, Record)>, ArtifactError> {
        let record = |number: u64| {
            let folder = self.checked(self.folder.open(&number.to_string()))?;
            Ok(self.record(&folder, number)?.map(|record| (number, record)))
        };
        self.numbers()?.into_iter().filter_map(|number| record(number).transpose()).collect()
    }

    fn record(&self, folder: &Folder, number: u64) -> Result<Option<Record>, ArtifactError> {
        let Some(file) = self.checked(present(folder.open_file(RECORD)))? else { return Ok(None) };
        let record = self.checked(read(file))?;
        match record.filter(|record| file_name(&record.name) == self.file_name) {
            Some(record) => Ok(Some(record)),
            None => Err(self.damaged(number, "its record makes no sense")),
        }
    }

    fn checked<T>(&self, result: io::Result<T>) -> Result<T, ArtifactError> {
        result.map_err(|error| ArtifactError::storage(self.store, error))
    }

    fn damaged(&self, version: u64, fault: &'static str) -> ArtifactError {
        ArtifactError::Damaged { name: self.name.to_owned(), version, fault }
    }
}

/// Reads a record, if the file is one.
fn read(file: File) -> io::Result<Option<Record>> {
    let mut text = Vec::new();
    file.take(MAX_RECORD_BYTES).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text).ok())
}

fn is_taken(error: &io::Error) -> bool {
    use ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory)
}
