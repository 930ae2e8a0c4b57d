//! The record of a run: what ran, on what, under which policy, and how it went.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use metier_secrets::Redactor;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::layout::create_private;
use crate::manner::PlannedProgram;
use crate::request::RunOutput;

/// The file in the folder of a run.
const FILE: &str = "record.json";

/// What is written down of a run. It has no names of fields but these: they are not masked.
#[derive(Debug, Serialize)]
pub(crate) struct Record<'a> {
    /// Nothing for a command of no skill in particular.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) skill: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) skill_digest: &'a str,
    /// The digests of all skills that the run saw, by name.
    pub(crate) skills: &'a BTreeMap<String, String>,
    pub(crate) command: &'a str,
    /// What was started; nothing if that was a plan.
    pub(crate) arguments: &'a [String],
    /// What was started, if it was a plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) plan: Vec<PlannedProgram>,
    pub(crate) directory: &'a str,
    pub(crate) inputs: &'a [RecordedFile],
    pub(crate) outputs: &'a [RecordedFile],
    /// When it began, in seconds since 1970.
    pub(crate) started: String,
    #[serde(flatten, serialize_with = "without_contents")]
    pub(crate) answer: &'a RunOutput,
}

/// A file that went in or came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RecordedFile {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    pub(crate) size_bytes: u64,
    /// BLAKE3 of the content.
    pub(crate) digest: String,
}

/// The answer without what programs wrote, which is in files of its own.
fn without_contents<S: Serializer>(answer: &RunOutput, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("run", &answer.run)?;
    map.serialize_entry("exit_code", &answer.exit_code)?;
    map.serialize_entry("signal", &answer.signal)?;
    map.serialize_entry("timed_out", &answer.timed_out)?;
    map.serialize_entry("cancelled", &answer.cancelled)?;
    map.serialize_entry("duration_ms", &answer.duration_ms)?;
    map.serialize_entry("artifacts", &answer.artifact_files)?;
    map.serialize_entry("denials", &answer.denials)?;
    map.serialize_entry("confinement", &answer.confinement)?;
    map.end()
}

impl Record<'_> {
    /// Writes the record without the values of keys; it is on disk when this returns.
    pub(crate) fn write(&self, folder: &Path, redactor: &Redactor) -> io::Result<()> {
        let beside = folder.join(".record");
        let mut file = create_private(&beside)?;
        let record = redactor.redact_values(serde_json::to_value(self)?);
        file.write_all(&serde_json::to_vec_pretty(&record)?)?;
        file.sync_all()?;
        fs::rename(beside, folder.join(FILE))
    }
}
