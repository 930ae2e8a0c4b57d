//! From the tree of a header to a [`Manifest`]: which fields there are, and their rules.

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Code, Diagnostic, Edit};
use crate::header::repair::quoted;
use crate::header::requirements::{BLOCKS, Gate, read_gate, switch};
use crate::header::yaml::{Kind, Node};
use crate::name::{self, NameFault, SkillName};
use crate::text::Span;

/// Longest description the format allows, in characters.
pub(crate) const MAX_DESCRIPTION_CHARS: usize = 1024;
/// Longest `compatibility` the format allows, in characters.
pub(crate) const MAX_COMPATIBILITY_CHARS: usize = 500;

/// The fields of the published format.
pub(crate) const FORMAT_FIELDS: [&str; 6] =
    ["allowed-tools", "compatibility", "description", "license", "metadata", "name"];

/// Fields other agents define; those with `-` may also be written with `_`.
const COMMON_FIELDS: [&str; 8] = [
    "argument-hint",
    "command-arg-mode",
    "command-dispatch",
    "command-tool",
    "disable-model-invocation",
    "homepage",
    "user-invocable",
    "version",
];

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The name, or the folder's when the header has none.
    pub name: SkillName,
    /// What the skill does and when to use it.
    pub description: String,
    /// The licence, or the file that has it.
    pub license: Option<String>,
    /// What it needs, in words.
    pub compatibility: Option<String>,
    /// Tools the skill would like to use without being asked.
    pub allowed_tools: Vec<String>,
    /// `metadata` as strings; a structured value is JSON text.
    pub metadata: Vec<(String, String)>,
    /// The version its author gave it.
    pub version: Option<String>,
    /// A page about the skill.
    pub homepage: Option<String>,
    /// What to type after the slash command.
    pub argument_hint: Option<String>,
    /// Who may start it, and how.
    pub invocation: Invocation,
    /// What it requires of the machine.
    pub gate: Gate,
    /// Fields nobody here knows.
    pub unknown_fields: Vec<String>,
}

/// Who may start a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// A person may, with a slash command.
    pub by_user: bool,
    /// A model may, on its own.
    pub by_model: bool,
    /// The slash command goes straight to a tool.
    pub dispatch: Option<Dispatch>,
}

/// A slash command that goes to a tool with its arguments as they were typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    /// The tool.
    pub tool: String,
}

impl Manifest {
    /// A manifest that says nothing but these two.
    pub fn bare(name: SkillName, description: String) -> Self {
        Self {
            name,
            description,
            license: None,
            compatibility: None,
            allowed_tools: Vec::new(),
            metadata: Vec::new(),
            version: None,
            homepage: None,
            argument_hint: None,
            invocation: Invocation { by_user: true, by_model: true, dispatch: None },
            gate: Gate::open(),
            unknown_fields: Vec::new(),
        }
    }
}

/// Reads the fields of a header. `folder` is the name of the folder the file is in, if known.
///
/// No manifest means that the skill cannot be used; an error among the diagnostics says why.
pub(crate) fn read_fields(
    root: &Node,
    folder: Option<&str>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Manifest> {
    let Kind::Mapping(entries) = &root.kind else {
        diagnostics.push(Diagnostic::new(
            Code::NotAMapping,
            root.span,
            format!("the header is {}, not a mapping of fields", root.type_name()),
        ));
        return None;
    };
    let mut fields = Fields { entries, span: root.span, folder, diagnostics };
    let name = fields.name();
    let description = fields.description();
    let gate = read_gate(fields.get("metadata"), fields.diagnostics);
    let manifest = Manifest {
        license: fields.string("license"),
        compatibility: fields.compatibility(),
        allowed_tools: fields.allowed_tools(),
        metadata: fields.metadata(),
        version: fields.string("version"),
        homepage: fields.string("homepage"),
        argument_hint: fields.string("argument-hint"),
        invocation: fields.invocation(),
        unknown_fields: fields.unknown(),
        gate,
        name: name?,
        description: description?,
    };
    Some(manifest)
}

struct Fields<'a> {
    entries: &'a [(Node, Node)],
    span: Span,
    folder: Option<&'a str>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Fields<'a> {
    /// The value of a field, which may have been written with `_` for `-`.
    fn get(&self, name: &str) -> Option<&'a Node> {
        self.entry(name).map(|(_, value)| value).filter(|value| value.kind != Kind::Null)
    }

    fn entry(&self, name: &str) -> Option<&'a (Node, Node)> {
        self.entries.iter().find(|(key, _)| {
            key.text().is_some_and(|key| {
                key == name || key.contains('_') && key.replace('_', "-") == name
            })
        })
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn name(&mut self) -> Option<SkillName> {
        let Some((key, value)) = self.entry("name") else {
            self.report_missing_name();
            return self.folder.and_then(|folder| SkillName::new(folder).ok());
        };
        let Some(text) = value.text().filter(|text| !text.trim().is_empty()) else {
            let message = "`name` is not a non-empty string";
            self.report(Diagnostic::new(Code::NameEmpty, key.span, message));
            return self.folder.and_then(|folder| SkillName::new(folder).ok());
        };
        match SkillName::new(text) {
            Ok(name) => {
                self.judge_name(text, value.span);
                Some(name)
            }
            Err(why) => {
                self.report(
                    Diagnostic::new(
                        Code::NameUnsafe,
                        value.span,
                        format!("`{}` cannot be a name: {why}", text.escape_debug()),
                    )
                    .help("use lowercase letters, digits and hyphens"),
                );
                None
            }
        }
    }

    fn report_missing_name(&mut self) {
        let mut diagnostic =
            Diagnostic::new(Code::NameMissing, Span::at(self.span.start), "`name` is missing");
        if let Some(folder) = self.folder {
            diagnostic = diagnostic.help(format!("the folder's name, `{folder}`, is used"));
            if name::faults(folder).is_empty() {
                let edit = Edit {
                    span: Span::at(self.span.start),
                    replacement: format!("name: {}\n", scalar(folder)),
                };
                diagnostic = diagnostic.fix("add the folder's name", vec![edit]);
            }
        }
        self.report(diagnostic);
    }

    fn judge_name(&mut self, name: &str, span: Span) {
        let faults = name::faults(name);
        let rename = if faults.is_empty() { None } else { self.safe_rename(name) };
        for (index, fault) in faults.iter().enumerate() {
            let (code, message) = describe(*fault, name);
            let mut diagnostic = Diagnostic::new(code, span, message);
            if let Some(better) = name::corrected(name) {
                diagnostic = diagnostic.help(format!("call it `{better}`, and the folder too"));
            }
            if let Some(better) = rename.as_ref().filter(|_| index == 0) {
                let edit = Edit { span, replacement: scalar(better) };
                diagnostic = diagnostic.fix(format!("rename to `{better}`"), vec![edit]);
            }
            self.report(diagnostic);
        }
        let Some(folder) = self.folder.filter(|folder| !name::matches_folder(name, folder)) else {
            return;
        };
        self.report(
            Diagnostic::new(
                Code::NameNotFolder,
                span,
                format!("the name `{name}` is not the name of the folder, `{folder}`"),
            )
            .help("rename one of the two"),
        );
    }

    /// The folder's name, when it is the same name written correctly: then nothing else changes.
    fn safe_rename(&self, name: &str) -> Option<String> {
        let folder = self.folder?;
        let same = name::corrected(name)? == folder && name::faults(folder).is_empty();
        (same && name.trim() != folder).then(|| folder.to_owned())
    }

    fn description(&mut self) -> Option<String> {
        let Some((key, value)) = self.entry("description") else {
            self.report(
                Diagnostic::new(
                    Code::DescriptionMissing,
                    Span::at(self.span.start),
                    "`description` is missing",
                )
                .help("say what the skill does and when to use it"),
            );
            return None;
        };
        let text = value.text().map(str::trim).filter(|text| !text.is_empty());
        let Some(text) = text else {
            let message = match value.kind {
                Kind::Sequence(_) | Kind::Mapping(_) => {
                    format!("`description` is {}, not a string", value.type_name())
                }
                _ => "`description` is empty".to_owned(),
            };
            self.report(
                Diagnostic::new(Code::DescriptionEmpty, key.span, message)
                    .help("say what the skill does and when to use it"),
            );
            return None;
        };
        let length = text.chars().count();
        if length > MAX_DESCRIPTION_CHARS {
            self.report(
                Diagnostic::new(
                    Code::DescriptionTooLong,
                    value.span,
                    format!(
                        "the description has {length} characters, {} more than the format allows",
                        length - MAX_DESCRIPTION_CHARS
                    ),
                )
                .help("move details into the body, which is read when the skill is used"),
            );
        }
        Some(text.to_owned())
    }

    /// A field that is a string; numbers and the like keep their text.
    fn string(&mut self, name: &str) -> Option<String> {
        let node = self.get(name)?;
        match node.text().map(str::trim) {
            Some(text) => (!text.is_empty()).then(|| text.to_owned()),
            None => {
                self.report(Diagnostic::new(
                    Code::FieldType,
                    node.span,
                    format!("`{name}` is {}, not a string", node.type_name()),
                ));
                Some(node.as_text().into_owned())
            }
        }
    }

    fn compatibility(&mut self) -> Option<String> {
        let text = self.string("compatibility");
        let (_, value) = self.entry("compatibility")?;
        let length = text.as_ref().map_or(0, |text| text.chars().count());
        if length == 0 || length > MAX_COMPATIBILITY_CHARS {
            self.report(Diagnostic::new(
                Code::CompatibilityLength,
                value.span,
                format!(
                    "`compatibility` has {length} characters; the format allows 1 to \
                     {MAX_COMPATIBILITY_CHARS}"
                ),
            ));
        }
        text
    }

    fn allowed_tools(&mut self) -> Vec<String> {
        let Some(node) = self.get("allowed-tools") else { return Vec::new() };
        match &node.kind {
            Kind::Scalar(text) => split_tools(text),
            Kind::Sequence(items) => {
                let tools: Vec<String> =
                    items.iter().map(|item| item.as_text().trim().to_owned()).collect();
                let joined = tools.join(" ");
                let mut diagnostic = Diagnostic::new(
                    Code::AllowedToolsList,
                    node.span,
                    "`allowed-tools` is a list; the format wants one string",
                );
                if split_tools(&joined) == tools {
                    let edit = Edit { span: node.span, replacement: quoted(&joined) };
                    diagnostic = diagnostic.fix("write it as one string", vec![edit]);
                }
                self.report(diagnostic);
                tools
            }
            _ => {
                let message = "`allowed-tools` is not a string, so no tool is allowed";
                self.report(Diagnostic::new(Code::FieldType, node.span, message));
                Vec::new()
            }
        }
    }

    fn metadata(&mut self) -> Vec<(String, String)> {
        let Some(node) = self.get("metadata") else { return Vec::new() };
        let Kind::Mapping(entries) = &node.kind else { return Vec::new() };
        let is_structured = |(key, value): &&(Node, Node)| {
            matches!(value.kind, Kind::Sequence(_) | Kind::Mapping(_))
                && !key.text().is_some_and(|key| BLOCKS.contains(&key))
        };
        if let Some((key, _)) = entries.iter().find(is_structured) {
            self.report(
                Diagnostic::new(
                    Code::MetadataNotStrings,
                    key.span,
                    format!("`metadata.{}` is not a string", key.as_text()),
                )
                .help("the format maps strings to strings; other agents read nested values too"),
            );
        }
        entries
            .iter()
            .map(|(key, value)| (key.as_text().into_owned(), value.as_text().into_owned()))
            .collect()
    }

    fn invocation(&mut self) -> Invocation {
        Invocation {
            by_user: self.switch("user-invocable", true, false),
            by_model: !self.switch("disable-model-invocation", false, true),
            dispatch: self.dispatch(),
        }
    }

    /// A switch with its value when it is absent, and the closed one when it cannot be read.
    fn switch(&mut self, name: &str, absent: bool, closed: bool) -> bool {
        let Some(node) = self.get(name) else { return absent };
        if let Some(value) = node.text().and_then(switch) {
            return value;
        }
        self.report(
            Diagnostic::new(
                Code::SwitchUnreadable,
                node.span,
                format!("`{name}` is neither true nor false"),
            )
            .help(format!("it is taken as `{closed}` until it can be read")),
        );
        closed
    }

    fn dispatch(&mut self) -> Option<Dispatch> {
        let node = self.get("command-dispatch")?;
        let tool = self.string("command-tool");
        let raw = self.string("command-arg-mode").is_none_or(|mode| mode == "raw");
        match (node.text().map(str::trim), tool, raw) {
            (Some("tool"), Some(tool), true) => Some(Dispatch { tool }),
            _ => {
                self.report(
                    Diagnostic::new(
                        Code::DispatchIncomplete,
                        node.span,
                        "the command does not say which tool it goes to",
                    )
                    .help("use `command-dispatch: tool`, `command-tool: NAME`, `command-arg-mode: raw`"),
                );
                None
            }
        }
    }

    fn unknown(&mut self) -> Vec<String> {
        let mut unknown = Vec::new();
        for (key, _) in self.entries {
            let name = key.as_text();
            if FORMAT_FIELDS.contains(&&*name) {
                continue;
            }
            let dashed = name.replace('_', "-");
            if !COMMON_FIELDS.contains(&&*dashed) && !FORMAT_FIELDS.contains(&&*dashed) {
                unknown.push(name.clone().into_owned());
            }
            self.diagnostics.push(
                Diagnostic::new(
                    Code::UnknownField,
                    key.span,
                    format!("`{}` is not a field of the format", name.escape_debug()),
                )
                .help("put fields of your own under `metadata`"),
            );
        }
        unknown
    }
}

fn describe(fault: NameFault, name: &str) -> (Code, String) {
    match fault {
        NameFault::TooLong(length) => {
            (Code::NameTooLong, format!("the name has {length} characters, more than 64"))
        }
        NameFault::NotLowercase => (Code::NameNotLowercase, format!("`{name}` is not lowercase")),
        NameFault::EdgeHyphen => {
            (Code::NameEdgeHyphen, format!("`{name}` starts or ends with a hyphen"))
        }
        NameFault::DoubleHyphen => {
            (Code::NameDoubleHyphen, format!("`{name}` has two hyphens in a row"))
        }
        NameFault::InvalidCharacters => (
            Code::NameCharacters,
            format!("`{name}` has characters other than letters, digits and hyphens"),
        ),
    }
}

/// Splits at blanks outside parentheses, so that `Bash(git log:*)` is one tool.
fn split_tools(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut tools = vec![String::new()];
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (character.is_whitespace() || character == ',') {
            tools.push(String::new());
        } else if let Some(tool) = tools.last_mut() {
            tool.push(character);
        }
    }
    tools.retain(|tool| !tool.is_empty());
    tools
}

/// A name as YAML: plain unless YAML would read a number, a switch or nothing.
fn scalar(name: &str) -> String {
    let ambiguous = name.parse::<f64>().is_ok() || switch(name).is_some() || name == "null";
    if ambiguous { quoted(name) } else { name.to_owned() }
}
