//! The skills of this machine, as the agent asks for them.

use std::sync::Arc;

use metier_agent::{Library, LibraryError};
use metier_skill::files::DigestCache;
use metier_skill::library::{Entry, Snapshot};
use metier_workspace::{RunSettings, Tree};

use crate::args::SourceArgs;
use crate::context::Context;
use crate::failure::Failure;

/// The skills as they were when a command began.
#[derive(Debug)]
pub(crate) struct Skills {
    context: Context,
    snapshot: Arc<Snapshot>,
    digests: DigestCache,
}

impl Skills {
    /// Looks for them.
    ///
    /// # Errors
    ///
    /// When a filter cannot be read.
    pub(crate) fn find(context: &Context, sources: &SourceArgs) -> Result<Self, Failure> {
        let snapshot = Arc::new(context.library(sources)?);
        Ok(Self { context: context.clone(), snapshot, digests: context.digests() })
    }

    /// Keeps what was learned of files, which saves time.
    pub(crate) fn save(&self) {
        self.digests.save();
    }
}

impl Library for Skills {
    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    fn tree(&self, entry: &Entry) -> Result<Tree, LibraryError> {
        self.context.tree_of(entry, &self.digests).map_err(|failure| in_words(&failure))
    }

    fn run_settings(&self, entry: &Entry) -> Result<RunSettings, LibraryError> {
        self.context.run_settings(entry).map_err(|failure| in_words(&failure))
    }
}

/// A failure as a model is told of it.
fn in_words(failure: &Failure) -> LibraryError {
    LibraryError::new(match &failure.hint {
        Some(hint) => format!("{failure}; {hint}"),
        None => failure.to_string(),
    })
}
