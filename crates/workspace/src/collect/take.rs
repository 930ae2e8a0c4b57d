//! Taking the files of a run: described, kept if that was asked, remembered for the record.

use std::fs::File;
use std::io;
use std::sync::Arc;

use thiserror::Error;
use tokio::task::spawn_blocking;

use super::found::{self, Found, MAX_INLINE};
use super::look::look;
use super::pattern::Patterns;
use super::whole::Whole;
use crate::artifact::{About, ArtifactError, ArtifactKey, ArtifactStore, Owner};
use crate::layout::{Moment, Workspace};
use crate::record::RecordedFile;
use crate::request::{ArtifactFile, OutputFile, OutputSpec};
use crate::space::DiskReserve;

/// Most bytes of the texts of all files together; they are in one answer, however many files a call asks for.
const MAX_INLINE_TOTAL: u64 = 8 << 20;
/// Files of a run that named none that are shown.
const MAX_SHOWN_FILES: usize = 20;
/// Largest text that can be the primary output, in bytes.
const MAX_PRIMARY: u64 = 32 << 10;

/// The reason that a file does not become an artifact.
#[derive(Debug, Error)]
enum KeepError {
    /// It is larger than the run asked for.
    #[error("it has {bytes} bytes, more than `max_file_bytes`")]
    TooLarge {
        /// How large it is.
        bytes: u64,
    },
    /// It cannot be read, or the disk has no room for it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It cannot be stored.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
}

/// What was collected.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) files: Vec<OutputFile>,
    pub(crate) primary: Option<OutputFile>,
    pub(crate) artifacts: Vec<ArtifactFile>,
    pub(crate) records: Vec<RecordedFile>,
    /// Whether something was not kept that was to be.
    pub(crate) incomplete: bool,
    pub(crate) warnings: Vec<String>,
    /// Bytes of the texts of files.
    text_bytes: u64,
}

/// Collects the files of one run.
#[derive(Debug)]
pub(crate) struct Collector<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) artifacts: &'a dyn ArtifactStore,
    /// Whose artifacts they become.
    pub(crate) owner: &'a Owner,
    pub(crate) patterns: &'a Arc<Patterns>,
    pub(crate) spec: &'a OutputSpec,
    /// Whether no text is given, whatever the spec says.
    pub(crate) omit_content: bool,
    /// What must stay free of the disk.
    pub(crate) reserve: DiskReserve,
}

/// What there is to know of a run whose files are collected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ran<'a> {
    pub(crate) failed: bool,
    /// The moment before it.
    pub(crate) since: Moment,
    /// What was brought in.
    pub(crate) inputs: &'a [RecordedFile],
}

impl Collector<'_> {
    /// Collects what is asked for, within the limits.
    pub(crate) async fn collect(&self, ran: Ran<'_>) -> io::Result<Collected> {
        let asked = !self.spec.globs.is_empty();
        let (workspace, patterns) = (self.workspace.clone(), Arc::clone(self.patterns));
        // There may be very many files.
        let looking = spawn_blocking(move || look(&workspace, &patterns));
        let looked = looking.await.map_err(io::Error::other)??;
        let mut collected = Collected { warnings: looked.warnings, ..Collected::default() };
        let limit = if asked { self.spec.max_files } else { MAX_SHOWN_FILES };
        let root = File::open(self.workspace.root())?;
        let (mut total, mut left_out) = (0, 0);
        for place in &looked.places {
            let Ok(mut found) = found::open(&root, place, ran.since) else {
                collected.warnings.push(format!("`{place}` went away before it was collected"));
                continue;
            };
            found.is_new = found.is_new && !is_untouched(&found, ran.inputs);
            if !asked && !found.is_new {
                continue;
            }
            if ran.failed && found.size == 0 {
                collected.warnings.push(format!("`{place}` is empty and was left out"));
                continue;
            }
            let fits = found.size <= self.spec.max_total_bytes.saturating_sub(total);
            if collected.files.len() >= limit || !fits {
                left_out += 1;
                continue;
            }
            total += found.size;
            self.take(&found, &mut collected).await?;
        }
        if left_out > 0 {
            collected.warnings.push(format!("{left_out} more files were left out by the limits"));
        }
        Ok(collected)
    }

    /// Describes a file, keeps it if that was asked, and remembers it for the record.
    async fn take(&self, found: &Found, collected: &mut Collected) -> io::Result<()> {
        let wants_text = self.spec.inline && !self.omit_content;
        let room = MAX_INLINE_TOTAL.saturating_sub(collected.text_bytes);
        let inline = wants_text.then_some(self.spec.max_file_bytes.min(MAX_INLINE).min(room));
        let described =
            tracing::info_span!("workspace.inline").in_scope(|| found.describe(inline))?;
        collected.text_bytes += described.content.as_ref().map_or(0, |it| it.len() as u64);
        collected.records.push(found.record(None)?);
        if collected.primary.is_none() {
            collected.primary = self.primary(found)?;
        }
        if self.spec.save {
            match self.keep(found, &described).await {
                Ok(kept) => collected.artifacts.push(kept),
                Err(why) => {
                    collected.incomplete = true;
                    collected.warnings.push(format!("`{}` was not kept: {why}", found.place));
                }
            }
        }
        collected.files.push(described);
        Ok(())
    }

    /// The file as the primary output, if it can be that: a small text that this run wrote.
    fn primary(&self, found: &Found) -> io::Result<Option<OutputFile>> {
        if !found.is_new || found.size == 0 || found.size > MAX_PRIMARY {
            return Ok(None);
        }
        let mut primary = found.describe(Some(MAX_PRIMARY))?;
        let says_something = primary.content.as_ref().is_some_and(|it| !it.trim().is_empty());
        primary.content = primary.content.filter(|_| !self.omit_content);
        Ok(says_something.then_some(primary))
    }

    /// Keeps a file as an artifact: all of it, or nothing.
    async fn keep(&self, found: &Found, described: &OutputFile) -> Result<ArtifactFile, KeepError> {
        if found.size > self.spec.max_file_bytes {
            return Err(KeepError::TooLarge { bytes: found.size });
        }
        // Workspaces and artifacts are on one disk, unless somebody set that up otherwise.
        self.reserve.check(self.workspace.root(), found.size)?;
        let name = format!("{}{}", self.spec.name_template, found.place);
        let key = ArtifactKey::new(self.owner, &name)?;
        let file = found.rewound().and_then(File::try_clone)?;
        let mut content = Whole::new(tokio::fs::File::from_std(file), found.size);
        let about = About::new(&described.mime_type)?;
        let saved = match self.artifacts.save(&key, &mut content, &about).await {
            Err(ArtifactError::Content { source, .. }) => return Err(source.into()),
            saved => saved?,
        };
        let reference = format!("artifact://{name}@{}", saved.version);
        Ok(ArtifactFile { name, version: saved.version, reference })
    }
}

/// Whether a file is an input as it came in.
fn is_untouched(found: &Found, inputs: &[RecordedFile]) -> bool {
    let name = found.place.to_string();
    let input = inputs.iter().rfind(|input| input.name == name);
    let same = |it: &RecordedFile| found.record(None).is_ok_and(|now| now.digest == it.digest);
    input.is_some_and(same)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;
    use crate::artifact::MemoryStore;
    use crate::layout::{WorkspaceKey, Workspaces};
    use crate::path::Inside;

    /// Keeps a file of ten bytes that somebody changes after it was found; gives what is stored.
    async fn kept_after(change: impl FnOnce(&mut File)) -> (Result<ArtifactFile, String>, usize) {
        kept_within(DiskReserve::new(0), change).await
    }

    async fn kept_within(
        reserve: DiskReserve,
        change: impl FnOnce(&mut File),
    ) -> (Result<ArtifactFile, String>, usize) {
        let state = tempfile::tempdir().unwrap();
        let folder = |name: &str| state.path().join(name);
        let workspaces = Workspaces::open(&folder("workspaces"), &folder("content")).unwrap();
        let [app, user, session] = ["app", "user", "session"].map(str::to_owned);
        let owner = Owner::new(&app, &user, &session).unwrap();
        let workspace =
            workspaces.workspace(&WorkspaceKey { app, user, session, generation: 0 }).unwrap();
        let place = Inside::known("out/log");
        fs::write(workspace.root().join("out/log"), "0123456789").unwrap();
        let spec = OutputSpec { save: true, max_file_bytes: 10, ..OutputSpec::default() };
        let artifacts = MemoryStore::new();
        let patterns = Patterns::parse(&["out/*".to_owned()], &Inside::default()).unwrap();
        let collector = Collector {
            workspace: &workspace,
            artifacts: &artifacts,
            owner: &owner,
            patterns: &Arc::new(patterns),
            spec: &spec,
            omit_content: false,
            reserve,
        };
        let found = found::open(&File::open(workspace.root()).unwrap(), &place, (0, 0)).unwrap();
        let described = found.describe(None).unwrap();
        change(&mut File::options().append(true).open(workspace.root().join("out/log")).unwrap());
        let kept = collector.keep(&found, &described).await;
        let stored = artifacts.list(&owner.session_scope()).await.unwrap();
        (kept.map_err(|error| error.to_string()), stored.len())
    }

    #[tokio::test]
    async fn what_is_saved_leaves_what_must_stay_free() {
        let (kept, stored) = kept_within(DiskReserve::whole_disk(), |_| ()).await;
        assert!(kept.is_err_and(|why| why.contains("must stay free")));
        assert_eq!(stored, 0);
    }

    #[tokio::test]
    async fn a_file_that_changes_its_length_while_it_is_saved_is_not_kept() {
        let (kept, stored) = kept_after(|_| ()).await;
        assert_eq!((kept.map(|it| it.reference), stored), (Ok("artifact://out/log@0".into()), 1));
        for change in [
            |file: &mut File| file.write_all(b"more").unwrap(),
            |file: &mut File| file.set_len(1 << 30).unwrap(),
            |file: &mut File| file.set_len(9).unwrap(),
            |file: &mut File| file.set_len(0).unwrap(),
        ] {
            let (kept, stored) = kept_after(change).await;
            assert_eq!((kept, stored), (Err("it changed while it was read".to_owned()), 0));
        }
    }
}
