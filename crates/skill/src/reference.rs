//! The judgements of the format's reference tool, in its words.
//!
//! `metier validate`, `read-properties` and `to-prompt` stand in for that tool, so their messages
//! are its messages. The checks are those of the rest of this crate; only the words differ.

use thiserror::Error;

use crate::header::{
    FORMAT_FIELDS, FrameError, Kind, MAX_COMPATIBILITY_CHARS, MAX_DESCRIPTION_CHARS, Mending, Node,
    Unread, header_tree,
};
use crate::name::{self, MAX_NAME_CHARS, NameFault};

/// The error of a header that the reference tool does not read, in that tool's words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// There is no frontmatter.
    #[error("SKILL.md must start with YAML frontmatter (---)")]
    NoHeader,
    /// The frontmatter does not end.
    #[error("SKILL.md frontmatter not properly closed with ---")]
    Unclosed,
    /// A value needs quotes.
    #[error("Invalid YAML in frontmatter: {message}; put quotes around the value")]
    Unquoted {
        /// What the reader of YAML said.
        message: String,
    },
    /// The frontmatter is not YAML.
    #[error("Invalid YAML in frontmatter: {message}")]
    Yaml {
        /// What the reader of YAML said.
        message: String,
    },
    /// The frontmatter has no fields.
    #[error("SKILL.md frontmatter must be a YAML mapping")]
    NotAMapping,
    /// A required field is missing.
    #[error("Missing required field in frontmatter: {field}")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// A required field is not a text, or an empty one.
    #[error("Field '{field}' must be a non-empty string")]
    Empty {
        /// The field.
        field: &'static str,
    },
}

/// The properties the reference tool prints, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The licence.
    pub license: Option<String>,
    /// What the skill needs, in words.
    pub compatibility: Option<String>,
    /// The tools, as one string.
    pub allowed_tools: Option<String>,
    /// The metadata; a structured value is JSON text.
    pub metadata: Vec<(String, String)>,
}

/// Everything the reference tool would object to in a skill in a folder of this name.
pub fn validate(text: &str, folder: &str) -> Vec<String> {
    let entries = match entries(text, Mending::Refused) {
        Ok(entries) => entries,
        Err(error) => return vec![error.to_string()],
    };
    let mut errors = Vec::new();
    errors.extend(unexpected_fields(&entries));
    match required(&entries, "name") {
        Ok(name) => errors.extend(name_errors(&name, folder)),
        Err(error) => errors.push(error.to_string()),
    }
    match required(&entries, "description") {
        Ok(description) => {
            let length = description.chars().count();
            if length > MAX_DESCRIPTION_CHARS {
                errors.push(format!(
                    "Description exceeds {MAX_DESCRIPTION_CHARS} character limit ({length} chars)"
                ));
            }
        }
        Err(error) => errors.push(error.to_string()),
    }
    errors.extend(compatibility_error(&entries));
    errors
}

/// The properties of a skill.
///
/// # Errors
///
/// When the header cannot be read or lacks what it must have.
pub fn properties(text: &str) -> Result<Properties, ReferenceError> {
    let entries = entries(text, Mending::Allowed)?;
    Ok(Properties {
        name: required(&entries, "name")?,
        description: required(&entries, "description")?,
        license: optional(&entries, "license"),
        compatibility: optional(&entries, "compatibility"),
        allowed_tools: allowed_tools(&entries),
        metadata: metadata(&entries),
    })
}

type Entries = Vec<(Node, Node)>;

fn entries(text: &str, mending: Mending) -> Result<Entries, ReferenceError> {
    let root = header_tree(text, mending).map_err(|unread| match unread {
        Unread::Frame(FrameError::NoHeader) => ReferenceError::NoHeader,
        Unread::Frame(FrameError::Unclosed) => ReferenceError::Unclosed,
        Unread::Yaml(message) if header_tree(text, Mending::Allowed).is_ok() => {
            ReferenceError::Unquoted { message }
        }
        Unread::Yaml(message) => ReferenceError::Yaml { message },
    })?;
    match root.kind {
        Kind::Mapping(entries) => Ok(entries),
        _ => Err(ReferenceError::NotAMapping),
    }
}

fn get<'a>(entries: &'a Entries, name: &str) -> Option<&'a Node> {
    entries.iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value)
}

fn required(entries: &Entries, name: &'static str) -> Result<String, ReferenceError> {
    let value = get(entries, name).ok_or(ReferenceError::Missing { field: name })?;
    value
        .text()
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .ok_or(ReferenceError::Empty { field: name })
}

fn optional(entries: &Entries, name: &str) -> Option<String> {
    get(entries, name)
        .filter(|node| node.kind != Kind::Null)
        .map(|node| node.as_text().into_owned())
}

fn allowed_tools(entries: &Entries) -> Option<String> {
    match &get(entries, "allowed-tools")?.kind {
        Kind::Sequence(items) => {
            Some(items.iter().map(Node::as_text).collect::<Vec<_>>().join(" "))
        }
        _ => optional(entries, "allowed-tools"),
    }
}

fn metadata(entries: &Entries) -> Vec<(String, String)> {
    match get(entries, "metadata").map(|node| &node.kind) {
        Some(Kind::Mapping(entries)) => entries
            .iter()
            .map(|(key, value)| (key.as_text().into_owned(), value.as_text().into_owned()))
            .collect(),
        _ => Vec::new(),
    }
}

fn unexpected_fields(entries: &Entries) -> Option<String> {
    let mut unexpected: Vec<_> = entries
        .iter()
        .map(|(key, _)| key.as_text())
        .filter(|key| !FORMAT_FIELDS.contains(&&**key))
        .collect();
    unexpected.sort();
    let allowed = FORMAT_FIELDS.map(|field| format!("'{field}'")).join(", ");
    (!unexpected.is_empty()).then(|| {
        format!(
            "Unexpected fields in frontmatter: {}. Only [{allowed}] are allowed.",
            unexpected.join(", ")
        )
    })
}

fn name_errors(name: &str, folder: &str) -> Vec<String> {
    let mut errors: Vec<String> = name::faults(name)
        .into_iter()
        .map(|fault| match fault {
            NameFault::TooLong(length) => format!(
                "Skill name '{name}' exceeds {MAX_NAME_CHARS} character limit ({length} chars)"
            ),
            NameFault::NotLowercase => format!("Skill name '{name}' must be lowercase"),
            NameFault::EdgeHyphen => "Skill name cannot start or end with a hyphen".to_owned(),
            NameFault::DoubleHyphen => "Skill name cannot contain consecutive hyphens".to_owned(),
            NameFault::InvalidCharacters => format!(
                "Skill name '{name}' contains invalid characters. Only letters, digits, and \
                 hyphens are allowed."
            ),
        })
        .collect();
    if !name::matches_folder(name, folder) {
        errors.push(format!("Directory name '{folder}' must match skill name '{name}'"));
    }
    errors
}

fn compatibility_error(entries: &Entries) -> Option<String> {
    let node = get(entries, "compatibility").filter(|node| node.kind != Kind::Null)?;
    let Some(text) = node.text() else {
        return Some("Field 'compatibility' must be a string".to_owned());
    };
    let length = text.chars().count();
    (length > MAX_COMPATIBILITY_CHARS).then(|| {
        format!("Compatibility exceeds {MAX_COMPATIBILITY_CHARS} character limit ({length} chars)")
    })
}
