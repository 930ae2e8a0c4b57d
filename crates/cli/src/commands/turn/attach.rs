//! Files that come with a task.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use metier_session::content::Attachment;
use metier_workspace::Workspace;
use metier_workspace::input::upload as put;

use crate::context::Context;
use crate::failure::Failure;

/// Largest file, in bytes. It is in memory for a moment.
const MAX_BYTES: u64 = 256 << 20;

/// A file that was read.
pub(in crate::commands) struct Attached {
    name: String,
    content: Vec<u8>,
}

/// Reads the files that a person named, before anything else happens.
pub(in crate::commands) fn read(
    files: &[PathBuf],
    context: &Context,
) -> Result<Vec<Attached>, Failure> {
    files.iter().map(|file| read_one(file, &context.environment.folder)).collect()
}

fn read_one(file: &Path, folder: &Path) -> Result<Attached, Failure> {
    let shown = file.display();
    let unreadable =
        |why: &dyn std::fmt::Display| Failure::usage(format!("`{shown}` cannot be read: {why}"));
    let path = folder.join(file);
    let kind = std::fs::metadata(&path).map_err(|error| match error.kind() {
        // It may be a word of the task.
        ErrorKind::NotFound => {
            unreadable(&error).hint("the task is one argument in quotes; the files come after it")
        }
        _ => unreadable(&error),
    })?;
    if !kind.is_file() {
        return Err(unreadable(&"it is not a file"));
    }
    if kind.len() > MAX_BYTES {
        return Err(Failure::usage(format!("`{shown}` has more than {} MiB", MAX_BYTES >> 20))
            .hint("attach a part of it"));
    }
    let mut content = Vec::new();
    let opened = File::open(&path).and_then(|it| it.take(MAX_BYTES).read_to_end(&mut content));
    opened.map_err(|error| unreadable(&error))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Attached { name, content })
}

/// Puts files into the workspace of a session.
pub(in crate::commands) fn upload(
    files: &[Attached],
    workspace: &Workspace,
) -> Result<Vec<Attachment>, Failure> {
    let put = |file: &Attached| {
        let place = put(workspace, &file.name, &file.content).map_err(|error| {
            Failure::new(format!("`{}` cannot be put into the workspace: {error}", file.name))
                .hint("set METIER_HOME to a folder that you can write to")
                .unless_full(&error)
        })?;
        let reference = format!("workspace://{}", place.as_str());
        Ok(Attachment { name: file.name.clone(), reference, ..Attachment::default() })
    };
    files.iter().map(put).collect()
}
