//! One configuration file: TOML to a flat list of settings with their lines.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use toml::de::{DeTable, DeValue};

use crate::args::agent_id;
use crate::settings::convert::nearest_name;
use crate::settings::{Key, Value};

/// Largest configuration file that is read.
const MAX_BYTES: u64 = 4 << 20;
/// What stands around a key with a dot in the name of a setting for a skill.
const QUOTE: char = '"';
/// Longest name of a server.
const MAX_LABEL: usize = 32;

/// Why a configuration cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read the configuration `{}`", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("{}:{line}: not valid TOML: {message}", path.display())]
    Syntax {
        /// Which.
        path: PathBuf,
        /// Where.
        line: usize,
        /// What the reader says.
        message: String,
    },
    /// There is no such setting.
    #[error("{place}: there is no setting `{name}`")]
    Unknown {
        /// Where it was set.
        place: String,
        /// What was set.
        name: String,
        /// The setting that was probably meant.
        nearest: Option<String>,
    },
    /// No agent can have this name.
    #[error("{place}: `{name}` cannot be a setting of an agent: {rule}")]
    Agent {
        /// Where it was set.
        place: String,
        /// What was set.
        name: String,
        /// Why not.
        rule: &'static str,
    },
    /// No server can have this name.
    #[error("{place}: `{name}` cannot be a setting of a server: {rule}")]
    Server {
        /// Where it was set.
        place: String,
        /// What was set.
        name: String,
        /// Why not.
        rule: &'static str,
    },
    /// The key of an entry for a skill has a dot or a quote.
    #[error(
        "{place}: `{name}` cannot be used: keys below `skills.entries` have no dots and no quotes"
    )]
    DottedEntry {
        /// Where it was set.
        place: String,
        /// What was set, with quotes around the key.
        name: String,
    },
    /// A glob cannot be read.
    #[error("{place}: `{name}` has `{}`, which is not a name or a glob of names", glob.escape_debug())]
    Glob {
        /// Where it was set.
        place: String,
        /// What was set.
        name: String,
        /// The glob.
        glob: String,
    },
    /// The value is of another kind.
    #[error("{place}: `{name}` is not {wanted}")]
    WrongKind {
        /// Where it was set.
        place: String,
        /// What was set.
        name: String,
        /// What it must be.
        wanted: &'static str,
        /// The word that was probably meant.
        nearest: Option<&'static str>,
    },
}

/// A setting as a file has it.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) key: &'static Key,
    pub(crate) value: Value,
    pub(crate) line: usize,
}

/// A line, or why it cannot be used.
pub(crate) type ReadLine = Result<Line, SettingsError>;

/// Reads a file; an absent one has no lines. A line that cannot be used does not spoil the others.
pub(crate) fn read(path: &Path) -> Result<Vec<ReadLine>, SettingsError> {
    let unreadable = |source| SettingsError::Unreadable { path: path.to_owned(), source };
    let text = match fs::metadata(path) {
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Ok(metadata) if metadata.len() > MAX_BYTES => Err(io::ErrorKind::FileTooLarge.into()),
        // A pipe or a device may never end.
        Ok(metadata) if !metadata.is_file() => Err(io::Error::other("not a regular file")),
        _ => fs::read_to_string(path),
    }
    .map_err(unreadable)?;
    parse(path, &text)
}

/// Nothing is there, or what should be the folder above it is a file.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn parse(path: &Path, text: &str) -> Result<Vec<ReadLine>, SettingsError> {
    let line_of = |offset: usize| text[..offset.min(text.len())].matches('\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| SettingsError::Syntax {
        path: path.to_owned(),
        line: line_of(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let mut leaves = Vec::new();
    flatten(table.get_ref(), "", &mut leaves);
    let lines = leaves
        .into_iter()
        .map(|(name, value, offset)| {
            let line = line_of(offset);
            let place = format!("{}:{line}", path.display());
            check_agent(&name, &place)?;
            check_server(&name, &place)?;
            check_entry(&name, &place)?;
            let key = Key::find(&name).ok_or_else(|| SettingsError::Unknown {
                place: place.clone(),
                nearest: nearest_name(&name),
                name: name.clone(),
            })?;
            let Some(value) = key.read(value) else {
                let glob = key.unreadable_glob(value);
                return Err(match glob {
                    Some(glob) => SettingsError::Glob { place, name, glob },
                    None => SettingsError::WrongKind {
                        place,
                        name,
                        wanted: key.wanted(),
                        nearest: value.as_str().and_then(|word| key.nearest_word(word)),
                    },
                });
            };
            Ok(Line { name, key, value, line })
        })
        .collect();
    Ok(lines)
}

/// Checks the name of the agent that a setting is for.
fn check_agent(name: &str, place: &str) -> Result<(), SettingsError> {
    let Some((id, _)) = name.strip_prefix("agents.").and_then(|rest| rest.split_once('.')) else {
        return Ok(());
    };
    match agent_id(id) {
        Err(rule) if id != "defaults" => {
            Err(SettingsError::Agent { place: place.to_owned(), name: name.to_owned(), rule })
        }
        _ => Ok(()),
    }
}

/// Checks the key of an entry for a skill: with a dot it would be read as the entry of another skill.
fn check_entry(name: &str, place: &str) -> Result<(), SettingsError> {
    if is_of_entry(name) && name.contains(QUOTE) {
        return Err(SettingsError::DottedEntry { place: place.to_owned(), name: name.to_owned() });
    }
    Ok(())
}

/// Returns whether a dotted name is that of a setting for a skill, also where a part of it stands in quotes.
fn is_of_entry(name: &str) -> bool {
    name.replace(QUOTE, "").starts_with("skills.entries.")
}

/// Checks what a server is called: its name becomes part of names of tools.
fn check_server(name: &str, place: &str) -> Result<(), SettingsError> {
    let Some(rest) = name.strip_prefix("mcp.servers.") else { return Ok(()) };
    let label = rest.split('.').next().unwrap_or_default();
    match server_label(label) {
        Err(rule) => {
            Err(SettingsError::Server { place: place.to_owned(), name: name.to_owned(), rule })
        }
        Ok(()) => Ok(()),
    }
}

/// Whether a server can be called so.
pub(crate) fn server_label(label: &str) -> Result<(), &'static str> {
    let is_fine = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    if label.is_empty() || label.len() > MAX_LABEL || !label.chars().all(is_fine) {
        return Err("a name is up to 32 letters, digits, `-` and `_`");
    }
    Ok(())
}

/// A text with nothing in it.
static NOTHING: DeValue<'static> = DeValue::String(Cow::Borrowed(""));

fn flatten<'a>(
    table: &'a DeTable<'_>,
    prefix: &str,
    leaves: &mut Vec<(String, &'a DeValue<'a>, usize)>,
) {
    for (key, value) in table {
        let join = |key: &str| {
            if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
        };
        let mut name = join(key.get_ref());
        if key.get_ref().contains('.') && is_of_entry(&name) {
            name = join(&format!("{QUOTE}{}{QUOTE}", key.get_ref()));
        }
        match value.get_ref() {
            // A server of which nothing is said is one that lacks its command.
            DeValue::Table(inner) if inner.is_empty() && prefix == "mcp.servers" => {
                leaves.push((format!("{name}.command"), &NOTHING, key.span().start));
            }
            DeValue::Table(inner) => flatten(inner, &name, leaves),
            leaf => leaves.push((name, leaf, key.span().start)),
        }
    }
}
