//! What a skill asks of the machine: `metadata.metier`, `metadata.openclaw` and the legacy
//! `metadata.clawdbot`.
//!
//! These fields decide whether a skill may be offered, so reading them fails closed: what cannot
//! be read makes the gate [`Gate::Unreadable`], never an open one.

use std::borrow::Cow;
use std::fmt::Display;

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Code, Diagnostic};
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
    /// Ways to get the programs.
    pub install: Vec<InstallOption>,
    /// What it asks of the sandbox.
    pub sandbox: SandboxRequest,
}

/// One way to install what a skill needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallOption {
    /// Names the option on the command line.
    pub id: String,
    /// The package manager.
    pub kind: InstallKind,
    /// What people read.
    pub label: Option<String>,
    /// The package, formula, module or address.
    pub target: String,
    /// Programs it brings.
    pub bins: Vec<String>,
    /// Systems it is for; any when empty.
    pub os: Vec<String>,
    /// The digest of a download.
    pub sha256: Option<String>,
}

/// A package manager, or a plain download.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variants are the names of the managers")]
pub enum InstallKind {
    Apt,
    Brew,
    Cargo,
    Download,
    Go,
    Node,
    Pip,
    Uv,
}

impl InstallKind {
    const ALL: [(&'static str, Self, &'static [&'static str]); 8] = [
        ("apt", Self::Apt, &["package"]),
        ("brew", Self::Brew, &["formula", "cask"]),
        ("cargo", Self::Cargo, &["package"]),
        ("download", Self::Download, &["url"]),
        ("go", Self::Go, &["module"]),
        ("node", Self::Node, &["package"]),
        ("pip", Self::Pip, &["package"]),
        ("uv", Self::Uv, &["package"]),
    ];

    /// The name in `install[].kind`.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind, _)| *kind == self).map_or("", |(name, ..)| name)
    }

    /// Whether a target is written in the narrow grammar its manager needs, so that it can never
    /// be taken for an option, a path or a second address.
    fn accepts(self, target: &str) -> bool {
        let word = |extra: &str| {
            let first = target.chars().next();
            first.is_some_and(|first| first.is_ascii_alphanumeric() || first == '@')
                && target.chars().all(|it| it.is_ascii_alphanumeric() || extra.contains(it))
                && !target.contains("..")
        };
        match self {
            Self::Apt => word("+.-:=~"),
            Self::Brew => word("@+._/-"),
            Self::Cargo => word("_-@.") && !target.starts_with('@'),
            Self::Go => word("._~+-/@") && target.contains('.') && !target.starts_with('@'),
            Self::Node => word("@/._^~>=<*-") && target.matches('/').count() <= 1,
            Self::Pip | Self::Uv => word("._-[]=<>!~+,") && !target.starts_with('@'),
            Self::Download => {
                let rest = target.strip_prefix("https://").or(target.strip_prefix("http://"));
                rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
                    && !target.contains(|it: char| it.is_whitespace() || it.is_control())
            }
        }
    }
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
    span: Span,
    reason: String,
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
            install: self.install(get(block, "install"))?,
            ..Requirements::default()
        };
        if let Some(requires) = get(block, "requires") {
            let requires = object(requires, "requires")?;
            requirements.bins = list(&requires, "bins")?;
            requirements.any_bins = list(&requires, "anyBins")?;
            requirements.env = list(&requires, "env")?;
            requirements.config = list(&requires, "config")?;
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
            if !["bins", "anyBins", "env", "config"].contains(&&*name) {
                self.diagnostics.push(
                    Diagnostic::new(
                        Code::UnknownField,
                        key.span,
                        format!("`requires.{name}` is not a requirement that can be checked"),
                    )
                    .help("the requirements are `bins`, `anyBins`, `env` and `config`"),
                );
            }
        }
    }

    fn install(&mut self, node: Option<&Node>) -> Read<Vec<InstallOption>> {
        let Some(node) = node else { return Ok(Vec::new()) };
        let Kind::Sequence(items) = &node.kind else {
            return Err(unreadable(node, "`install` is not a list"));
        };
        let mut options = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match install_option(index, item) {
                Ok(option) => options.push(option),
                Err(refused) => self.diagnostics.push(
                    Diagnostic::new(
                        Code::InstallRefused,
                        refused.span,
                        format!("this install option is not offered: {}", refused.reason),
                    )
                    .help("an option has a `kind`, its package and the `bins` it brings"),
                ),
            }
        }
        Ok(options)
    }
}

fn install_option(index: usize, node: &Node) -> Read<InstallOption> {
    let entries = object(node, "an install option")?;
    let name = match text(&entries, "kind")? {
        Some(kind) => kind,
        None => text(&entries, "type")?.unwrap_or_default(),
    };
    let Some(&(name, kind, keys)) = InstallKind::ALL.iter().find(|(known, ..)| *known == name)
    else {
        return Err(unreadable(node, &format!("`{name}` is not a kind of installer")));
    };
    let mut target = None;
    for key in keys {
        target = target.or(text(&entries, key)?);
    }
    let target = target.ok_or_else(|| unreadable(node, &format!("`{}` is missing", keys[0])))?;
    if !kind.accepts(&target) {
        return Err(unreadable(node, &format!("`{target}` is not a target for `{name}`")));
    }
    let sha256 = text(&entries, "sha256")?;
    let well_formed =
        |digest: &String| digest.len() == 64 && digest.bytes().all(|it| it.is_ascii_hexdigit());
    if sha256.as_ref().is_some_and(|digest| !well_formed(digest)) {
        return Err(unreadable(node, "`sha256` is not a digest"));
    }
    Ok(InstallOption {
        id: text(&entries, "id")?.unwrap_or_else(|| format!("{name}-{index}")),
        kind,
        label: text(&entries, "label")?,
        target,
        bins: list(&entries, "bins")?,
        os: list(&entries, "os")?,
        sha256: sha256.map(|digest| digest.to_ascii_lowercase()),
    })
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

fn text(entries: &Entries, name: &str) -> Read<Option<String>> {
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

/// JSON as a tree whose every part stands where the text stands.
fn from_json(json: serde_json::Value, span: Span) -> Node {
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
                .map(|(key, value)| {
                    (Node { span, kind: Kind::Scalar(key) }, from_json(value, span))
                })
                .collect(),
        ),
    };
    Node { span, kind }
}
