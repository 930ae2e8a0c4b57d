//! Files of clients that cannot be used, in words.

use std::fmt::Display;

use metier_clients::ClientConfigError;

use crate::failure::Failure;

/// A file that cannot be read.
pub(super) fn unreadable(error: &ClientConfigError) -> Failure {
    let failed = |file: &std::path::Path, why: &dyn Display| {
        Failure::new(format!("cannot read `{}`: {why}", file.display()))
            .hint("make it a file of text that you can read")
    };
    match error {
        ClientConfigError::Read { path, source } => failed(path, source),
        ClientConfigError::NotText { path } => failed(path, &"it is no file of text"),
        error => Failure::of(error),
    }
}

/// A file whose place cannot be used.
pub(super) fn misplaced(error: &ClientConfigError) -> Failure {
    match error {
        ClientConfigError::Write { path, source: error } => {
            let shown = path.display();
            Failure::new(format!("cannot write `{shown}`: {error}"))
                .hint("`--print` shows what to write there yourself")
        }
        ClientConfigError::OutsideProject { location } => {
            let (shown, place) = (location.path.display(), location.real_path.display());
            Failure::new(format!("`{shown}` leads out of the project, to `{place}`"))
                .hint("put a file in place of the link, or leave out `--scope project`")
        }
        error => Failure::of(error),
    }
}

/// A file that cannot be written.
pub(super) fn unwritable(error: &ClientConfigError) -> Failure {
    match error {
        ClientConfigError::Write { path: file, source: error } => {
            Failure::new(format!("cannot write `{}`: {error}", file.display()))
                .hint("`--print` shows what to write there yourself")
        }
        error => unreadable(error),
    }
}
