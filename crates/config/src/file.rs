//! Reads one configuration file: TOML to a flat list of settings with their lines.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use crate::convert::{nearest_name, read_toml, unreadable_glob, wanted};
use crate::error::{ConfigError, check_agent_id, check_mcp_server_name};
use crate::key::SettingKey;
use crate::value::SettingValue;

/// What stands around a key with a dot in the name of a setting for a skill.
const QUOTE: char = '"';
/// Largest configuration file that is read.
const MAX_BYTES: u64 = 4 << 20;

/// A setting as a file has it.
#[derive(Debug)]
pub(crate) struct FileSetting {
    pub(crate) name: String,
    pub(crate) key: &'static SettingKey,
    pub(crate) value: SettingValue,
    pub(crate) line: usize,
}

/// A setting of a file, or why it cannot be used, with its line.
pub(crate) type FileSettingResult = Result<FileSetting, (ConfigError, usize)>;

/// Reads a file; an absent one has no settings. A setting that cannot be used does not spoil the others.
pub(crate) fn read_file(path: &Path) -> Result<Vec<FileSettingResult>, ConfigError> {
    parse(path, &read_text(path)?.unwrap_or_default())
}

/// Reads the text of a file; none if there is no file.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, ConfigError> {
    let text = match fs::metadata(path) {
        Err(error) if is_absent(&error) => return Ok(None),
        Ok(metadata) if metadata.len() > MAX_BYTES => Err(io::ErrorKind::FileTooLarge.into()),
        // A pipe or a device may never end.
        Ok(metadata) if !metadata.is_file() => Err(io::Error::other("not a regular file")),
        _ => fs::read_to_string(path),
    };
    text.map(Some).map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })
}

/// Nothing is there, or what should be the folder above it is a file.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Parses the text of a file.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Vec<FileSettingResult>, ConfigError> {
    let line_of = |offset: usize| text[..offset.min(text.len())].matches('\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        path: path.to_owned(),
        line: line_of(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let mut leaves = Vec::new();
    flatten(table.get_ref(), "", &mut leaves);
    let settings = leaves.into_iter().map(|(name, value, offset)| {
        let line = line_of(offset);
        let place = format!("{}:{line}", path.display());
        read_setting(name, value, place)
            .map(|(name, key, value)| FileSetting { name, key, value, line })
            .map_err(|error| (error, line))
    });
    Ok(settings.collect())
}

fn read_setting(
    name: String,
    value: &DeValue<'_>,
    place: String,
) -> Result<(String, &'static SettingKey, SettingValue), ConfigError> {
    if let Some((id, _)) = name.strip_prefix("agents.").and_then(|rest| rest.split_once('.'))
        && let Err(rule) = check_agent_id(id)
        && id != "defaults"
    {
        return Err(ConfigError::Agent { place, name, rule });
    }
    if let Some(rest) = name.strip_prefix("mcp.servers.")
        && let Err(rule) = check_mcp_server_name(rest.split('.').next().unwrap_or_default())
    {
        return Err(ConfigError::Server { place, name, rule });
    }
    if is_of_entry(&name) && name.contains(QUOTE) {
        return Err(ConfigError::DottedEntry { place, name });
    }
    let Some(key) = SettingKey::find(&name) else {
        return Err(ConfigError::Unknown { place, nearest: nearest_name(&name), name });
    };
    match (read_toml(key, value), unreadable_glob(key, value)) {
        (Some(value), _) => Ok((name, key, value)),
        (None, Some(glob)) => Err(ConfigError::Glob { place, name, glob }),
        (None, None) => {
            let nearest = value.as_str().and_then(|word| key.nearest_word(word));
            Err(ConfigError::WrongKind { place, name, wanted: wanted(key), nearest })
        }
    }
}

/// Returns whether a dotted name is that of a setting for a skill, also where a part of it stands in quotes.
fn is_of_entry(name: &str) -> bool {
    name.replace(QUOTE, "").starts_with("skills.entries.")
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
        // With a dot it would be read as the entry of another skill.
        if key.get_ref().contains('.') && is_of_entry(&name) {
            name = join(&format!("{QUOTE}{}{QUOTE}", key.get_ref()));
        }
        match value.get_ref() {
            // A server with nothing in its table is one that lacks its command.
            DeValue::Table(inner) if inner.is_empty() && prefix == "mcp.servers" => {
                leaves.push((format!("{name}.command"), &NOTHING, key.span().start));
            }
            DeValue::Table(inner) => flatten(inner, &name, leaves),
            leaf => leaves.push((name, leaf, key.span().start)),
        }
    }
}
