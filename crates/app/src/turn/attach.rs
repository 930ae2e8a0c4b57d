//! Files that come with a task.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use metier_session::content::Attachment;
use metier_workspace::Workspace;
use metier_workspace::input::upload as put;
use thiserror::Error;

use crate::app::App;
use crate::error::AppError;

/// Largest file, in bytes. It is in memory for a moment.
const MAX_BYTES: u64 = 256 << 20;

/// A file that was read, to be attached to a message.
#[derive(Clone, Debug)]
pub struct AttachedFile {
    name: String,
    content: Vec<u8>,
}

/// A file that cannot be attached.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AttachmentError {
    /// It cannot be read.
    #[error("`{file}` cannot be read")]
    Unreadable {
        /// The file as it was named.
        file: String,
        /// The reason.
        source: AttachmentFault,
    },
    /// It is larger than files may be.
    #[error("`{file}` has more than {} MiB", limit >> 20)]
    TooLarge {
        /// The file as it was named.
        file: String,
        /// The largest file, in bytes.
        limit: u64,
    },
    /// It cannot be put into the workspace.
    #[error("`{name}` cannot be put into the workspace")]
    NotStored {
        /// The name of the file.
        name: String,
        /// The reason.
        source: io::Error,
    },
}

/// The reason why a file cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AttachmentFault {
    /// The system says so.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is a folder or a device.
    #[error("it is not a file")]
    NotAFile,
}

impl App {
    /// Reads the files that a person named, before anything else happens.
    ///
    /// # Errors
    ///
    /// When one cannot be read, or is too large.
    pub fn read_attachments(
        &self,
        files: &[PathBuf],
    ) -> Result<Vec<AttachedFile>, AttachmentError> {
        files.iter().map(|file| read(file, &self.environment.folder)).collect()
    }
}

fn read(file: &Path, folder: &Path) -> Result<AttachedFile, AttachmentError> {
    let shown = file.display().to_string();
    let unreadable = |source: AttachmentFault| {
        let file = shown.clone();
        AttachmentError::Unreadable { file, source }
    };
    let path = folder.join(file);
    let kind = std::fs::metadata(&path).map_err(|error| unreadable(error.into()))?;
    if !kind.is_file() {
        return Err(unreadable(AttachmentFault::NotAFile));
    }
    if kind.len() > MAX_BYTES {
        return Err(AttachmentError::TooLarge { file: shown, limit: MAX_BYTES });
    }
    let mut content = Vec::new();
    let opened = File::open(&path).and_then(|it| it.take(MAX_BYTES).read_to_end(&mut content));
    opened.map_err(|error| unreadable(error.into()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(AttachedFile { name, content })
}

/// Puts files into the workspace of a session.
pub(super) fn upload(
    files: &[AttachedFile],
    workspace: &Workspace,
) -> Result<Vec<Attachment>, AppError> {
    let put = |file: &AttachedFile| {
        let name = file.name.clone();
        let place = put(workspace, &name, &file.content).map_err(|source| {
            let name = name.clone();
            AttachmentError::NotStored { name, source }
        })?;
        let reference = format!("workspace://{}", place.as_str());
        Ok(Attachment { name, reference, ..Attachment::default() })
    };
    files.iter().map(put).collect()
}
