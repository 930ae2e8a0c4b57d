//! A diagnostic with the file it is in, ready for a list.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Code, Diagnostic, Level, Severity};
use crate::text::LineIndex;

/// What was noticed in a file, or about a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// The file or folder.
    pub path: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The rule.
    pub code: Code,
    /// How much it matters when skills are loaded.
    pub severity: Severity,
    /// What is wrong, as a clause.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Problem {
    /// Something about a file or folder as a whole.
    pub fn new(code: Code, path: &Path, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: 1,
            column: 1,
            code,
            severity: code.severity(Level::Lenient),
            message: message.into(),
            help: None,
        }
    }

    /// A diagnostic in a file.
    pub fn in_file(path: &Path, lines: &LineIndex<'_>, diagnostic: &Diagnostic) -> Self {
        let place = lines.position(diagnostic.span.start);
        Self {
            line: place.line,
            column: place.column,
            help: diagnostic.help.clone(),
            ..Self::new(diagnostic.code, path, diagnostic.message.clone())
        }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
