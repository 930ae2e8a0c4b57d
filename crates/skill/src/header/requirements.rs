//! What a skill asks of the machine: `metadata.metier`, `metadata.openclaw` and the legacy
//! `metadata.clawdbot`.
//!
//! These fields decide whether a skill may be offered, so reading them fails closed: what cannot
//! be read makes the gate [`Gate::Unreadable`], never an open one.

use std::borrow::Cow;
use std::fmt::Display;

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Code, Diagnostic};
use crate::header::install::{InstallOption, RefusedOption, read_options};
use crate::header::repair;
use crate::header::sandbox::{SandboxRequest, read_request};
use crate::header::yaml::{Kind, Node};
use crate::text::Span;

/// The names of the block under `metadata`; the first that is there wins.
pub(crate) const BLOCKS: [&str; 3] = ["metier", "openclaw", "clawdbot"];
const LEGACY_BLOCK: &str = "clawdbot";

/// Requirements, or the reason why they are not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gate {
    /// They could be read.
    Readable(Box<Requirements>),
    /// They could not; the skill is not eligible.
    Unreadable(String),
}

/// What must be there for a skill to be eligible, and how it wants to be shown and run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirements {
    /// Skips every requirement but `os`.
    pub always: bool,
    /// Shown beside the name.
    pub emoji: Option<String>,
    /// A page about the skill.
    pub homepage: Option<String>,
    /// The key of the skill in `skills.entries`, when it is not the name.
    pub skill_key: Option<String>,
    /// The variable that `skills.entries.<key>.api_key` fills.
    pub primary_env: Option<String>,
    /// Systems it works on; any when empty.
    pub os: Vec<String>,
    /// Programs that must all be there.
    pub bins: Vec<String>,
    /// Programs of which one must be there.
    pub any_bins: Vec<String>,
    /// Variables that must be set.
    pub env: Vec<String>,
    /// Settings that must be true.
    pub config: Vec<String>,
    /// Other servers that must be there.
    pub servers: Vec<String>,
    /// Tools of other servers that must not be switched off, as `server/tool`.
    pub tools: Vec<String>,
    /// Ways to get the programs.
    pub install: Vec<InstallOption>,
    /// Ways that are not offered, and why.
    pub refused: Vec<RefusedOption>,
    /// What it asks of the sandbox.
    pub sandbox: SandboxRequest,
}

/// Reads the requirements of a skill from its `metadata`.
pub(crate) fn read_gate(metadata: Option<&Node>, diagnostics: &mut Vec<Diagnostic>) -> Gate {
    let Some(metadata) = metadata else { return Gate::open() };
    let mut reader = Reader { diagnostics };
    match reader.requirements(metadata) {
        Ok(requirements) => Gate::Readable(Box::new(requirements)),
        Err(unreadable) => {
            reader.diagnostics.push(
                Diagnostic::new(
                    Code::GateUnreadable,
                    unreadable.span,
                    format!("what the skill requires cannot be read: {}", unreadable.reason),
                )
                .help("the skill stays switched off until this can be read"),
            );
            Gate::Unreadable(unreadable.reason)
        }
    }
}

impl Gate {
    /// No requirements.
    pub fn open() -> Self {
        Self::Readable(Box::default())
    }

    /// The requirements, if they could be read.
    pub fn requirements(&self) -> Option<&Requirements> {
        match self {
            Self::Readable(requirements) => Some(requirements),
            Self::Unreadable(_) => None,
        }
    }
}

/// Loose booleans as people write them.
pub(crate) fn switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

pub(super) struct Unreadable {
    pub(super) span: Span,
    pub(super) reason: String,
}

pub(super) type Read<T> = Result<T, Unreadable>;

struct Reader<'a> {
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn requirements(&mut self, metadata: &Node) -> Read<Requirements> {
        let metadata = object(metadata, "metadata")?;
        let Some((name, block)) =
            BLOCKS.iter().find_map(|name| Some((*name, get(&metadata, name)?)))
        else {
            return Ok(Requirements::default());
        };
        if name == LEGACY_BLOCK {
            self.diagnostics.push(
                Diagnostic::new(Code::LegacyKey, block.span, "`clawdbot` is a legacy key")
                    .help("call it `metier` or `openclaw`"),
            );
        }
        self.block(&object(block, format_args!("metadata.{name}"))?)
    }

    fn block(&mut self, block: &Entries) -> Read<Requirements> {
        let mut requirements = Requirements {
            always: self.always(get(block, "always"))?,
            emoji: text(block, "emoji")?,
            homepage: text(block, "homepage")?,
            skill_key: text(block, "skillKey")?,
            primary_env: text(block, "primaryEnv")?,
            os: list(block, "os")?,
            sandbox: match get(block, "sandbox") {
                Some(node) => read_request(node, self.diagnostics)?,
                None => SandboxRequest::default(),
            },
            ..Requirements::default()
        };
        if let Some(node) = get(block, "install") {
            (requirements.install, requirements.refused) = read_options(node, self.diagnostics)?;
        }
        if let Some(requires) = get(block, "requires") {
            let requires = object(requires, "requires")?;
            requirements.bins = list(&requires, "bins")?;
            requirements.any_bins = list(&requires, "anyBins")?;
            requirements.env = list(&requires, "env")?;
            requirements.config = list(&requires, "config")?;
            requirements.servers = list(&requires, "mcp")?;
            requirements.tools = tools(&requires)?;
            self.note_unknown(&requires);
        }
        Ok(requirements)
    }

    fn always(&self, node: Option<&Node>) -> Read<bool> {
        let Some(node) = node else { return Ok(false) };
        node.text().and_then(switch).ok_or_else(|| unreadable(node, "`always` is not a switch"))
    }

    fn note_unknown(&mut self, requires: &Entries) {
        for (key, _) in requires {
            let name = key.as_text();
            if !["bins", "anyBins", "env", "config", "mcp", "tools"].contains(&&*name) {
                self.diagnostics.push(
                    Diagnostic::new(
                        Code::UnknownField,
                        key.span,
                        format!("`requires.{name}` is not a requirement that can be checked"),
                    )
                    .help("the requirements are `bins`, `anyBins`, `env`, `config`, `mcp` and `tools`"),
                );
            }
        }
    }
}

pub(super) type Entries = [(Node, Node)];

pub(super) fn get<'a>(entries: &'a Entries, name: &str) -> Option<&'a Node> {
    entries
        .iter()
        .find(|(key, _)| key.text() == Some(name))
        .map(|(_, value)| value)
        .filter(|value| value.kind != Kind::Null)
}

pub(super) fn unreadable(node: &Node, reason: &str) -> Unreadable {
    Unreadable { span: node.span, reason: reason.to_owned() }
}

/// A mapping, written as one or as JSON5 text.
pub(super) fn object(node: &Node, what: impl Display) -> Read<Cow<'_, Entries>> {
    match &node.kind {
        Kind::Null => Ok(Cow::Borrowed(&[])),
        Kind::Mapping(entries) => Ok(Cow::Borrowed(entries)),
        Kind::Scalar(text) => match repair::json5(text).map(|json| from_json(json, node.span)) {
            Some(Node { kind: Kind::Mapping(entries), .. }) => Ok(Cow::Owned(entries)),
            _ => Err(unreadable(node, &format!("`{what}` is text, and not a JSON object"))),
        },
        Kind::Sequence(_) => Err(unreadable(node, &format!("`{what}` is a list"))),
    }
}

pub(super) fn text(entries: &Entries, name: &str) -> Read<Option<String>> {
    let Some(node) = get(entries, name) else { return Ok(None) };
    match node.text().map(str::trim) {
        Some(text) => Ok((!text.is_empty()).then(|| text.to_owned())),
        None => Err(unreadable(node, &format!("`{name}` is {}", node.type_name()))),
    }
}

/// A list of strings, or one string with commas.
pub(super) fn list(entries: &Entries, name: &str) -> Read<Vec<String>> {
    let Some(node) = get(entries, name) else { return Ok(Vec::new()) };
    let words = match &node.kind {
        Kind::Scalar(text) => text.split(',').map(str::to_owned).collect(),
        Kind::Sequence(items) => items
            .iter()
            .map(|item| item.text().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| unreadable(node, &format!("`{name}` has an entry that is no string")))?,
        _ => return Err(unreadable(node, &format!("`{name}` is {}", node.type_name()))),
    };
    Ok(words
        .iter()
        .map(|word| word.trim())
        .filter(|word| !word.is_empty())
        .map(Into::into)
        .collect())
}

/// Tools of other servers, each with its server.
fn tools(requires: &Entries) -> Read<Vec<String>> {
    let tools = list(requires, "tools")?;
    let is_whole = |tool: &String| {
        tool.split_once('/').is_some_and(|(server, tool)| !server.is_empty() && !tool.is_empty())
    };
    match (tools.iter().all(is_whole), get(requires, "tools")) {
        (false, Some(node)) => {
            Err(unreadable(node, "`tools` has an entry that is not `server/tool`"))
        }
        _ => Ok(tools),
    }
}

/// JSON as a tree whose every part stands where the text stands.
pub(super) fn from_json(json: serde_json::Value, span: Span) -> Node {
    use serde_json::Value;
    let kind = match json {
        Value::Null => Kind::Null,
        Value::Bool(value) => Kind::Scalar(value.to_string()),
        Value::Number(value) => Kind::Scalar(value.to_string()),
        Value::String(value) => Kind::Scalar(value),
        Value::Array(items) => {
            Kind::Sequence(items.into_iter().map(|item| from_json(item, span)).collect())
        }
        Value::Object(entries) => Kind::Mapping(
            entries
                .into_iter()
                .map(|(key, value)| (Node::new(span, Kind::Scalar(key)), from_json(value, span)))
                .collect(),
        ),
    };
    Node::new(span, kind)
}
