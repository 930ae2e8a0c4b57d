//! Values as files and variables have them, and where each came from.

use std::fmt;
use std::path::PathBuf;

/// A value of a setting.
#[derive(Clone, PartialEq, Eq)]
pub enum SettingValue {
    /// `true` or `false`.
    Switch(bool),
    /// A number.
    Count(usize),
    /// Text.
    Text(String),
    /// Text that is never shown.
    Secret(String),
    /// Texts.
    List(Vec<String>),
}

impl SettingValue {
    /// The text, if it is one that may be shown.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether it says yes: set, and neither empty, zero nor false.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Switch(value) => *value,
            Self::Count(value) => *value != 0,
            Self::Text(value) | Self::Secret(value) => !value.trim().is_empty(),
            Self::List(values) => !values.is_empty(),
        }
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(value) => write!(formatter, "{value}"),
            Self::Count(value) => write!(formatter, "{value}"),
            Self::Text(value) => write!(formatter, "{value:?}"),
            Self::Secret(_) => write!(formatter, "\"****\""),
            Self::List(values) => write!(formatter, "{values:?}"),
        }
    }
}

impl fmt::Debug for SettingValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// Nobody set it.
    Default,
    /// A file, and the line in it.
    File {
        /// The path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// An environment variable.
    Variable(String),
    /// An option of the command line.
    Flag(&'static str),
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => write!(formatter, "default"),
            Self::File { path, line } => write!(formatter, "{}:{line}", path.display()),
            Self::Variable(name) => write!(formatter, "${name}"),
            Self::Flag(flag) => write!(formatter, "{flag}"),
        }
    }
}
