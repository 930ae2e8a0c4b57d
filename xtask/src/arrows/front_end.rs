//! The check that libraries decide and front ends speak.
//!
//! A crate below `cli` may be used by a server, a page or another program, so it names no command line and no setting,
//! prints nothing and reads no variables. Its sources are read without comments and tests; explanations that are files
//! of text are documents, and not looked at.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::house::{HOUSE, Role};
use super::lexer::{ShippedSource, SourceToken, TokenKind};
use super::metadata::{Dependency, Kind, Package};

/// The crate that speaks.
const FRONT_END: &str = "cli";
/// The parser of command lines.
const COMMAND_LINE: &str = "clap";
/// Tables of the configuration whose settings are recognised in texts.
const SECTIONS: &[&str] = &[
    "agent",
    "agents",
    "approvals",
    "context",
    "exec",
    "mcp",
    "models",
    "skill_run",
    "skills",
    "workspace",
];
const PRINTING: &[&str] = &["dbg", "eprint", "eprintln", "print", "println"];
const STREAMS: &[&str] = &["stderr", "stdout"];
const VARIABLES: &[&str] = &["var", "var_os", "vars", "vars_os"];

/// A thing that only a front end does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FrontEndRule {
    /// A text names a command of `metier`.
    Command,
    /// A text names a setting.
    Setting,
    /// Something is printed, or a standard stream used.
    Output,
    /// A variable is read.
    Variable,
    /// A command line is parsed.
    CommandLine,
}

/// A crate that may do one of these things, with the reason.
pub(super) struct Exemption {
    pub(super) of: &'static str,
    pub(super) rule: FrontEndRule,
    pub(super) reason: &'static str,
}

const fn exempt(of: &'static str, rule: FrontEndRule, reason: &'static str) -> Exemption {
    Exemption { of, rule, reason }
}

/// The crates that may. An exemption that is of no use any more fails the check too.
pub(super) const EXEMPTIONS: &[Exemption] = &[
    exempt(
        "config",
        FrontEndRule::Command,
        "the reference and the sample that it makes are documents",
    ),
    exempt("config", FrontEndRule::Setting, "settings are what it is about"),
    exempt("sandbox", FrontEndRule::Output, "a child may inherit the streams of the program"),
    exempt("serve", FrontEndRule::Output, "it asks whether its output is read"),
    exempt("agent", FrontEndRule::Command, "its advice is still in words"),
    exempt("agent", FrontEndRule::Setting, "its advice is still in words"),
];

/// A thing that a crate does and may not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FrontEndBreach {
    /// The crate.
    pub(super) of: &'static str,
    /// The file and line; none if it is about the manifest.
    pub(super) place: Option<(PathBuf, usize)>,
    pub(super) rule: FrontEndRule,
}

impl fmt::Display for FrontEndBreach {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some((file, line)) => write!(formatter, "{}:{line}: ", file.display())?,
            None => write!(formatter, "crates/{}/Cargo.toml: ", self.of)?,
        }
        let (what, instead) = match self.rule {
            FrontEndRule::Command => {
                ("names a command of `metier`", "advice is data, which front ends word")
            }
            FrontEndRule::Setting => ("names a setting", "advice is data, which front ends word"),
            FrontEndRule::Output => ("uses a standard stream", "libraries return values"),
            FrontEndRule::Variable => ("reads a variable", "libraries take values"),
            FrontEndRule::CommandLine => ("depends on `clap`", "libraries take values"),
        };
        write!(formatter, "`{}` {what}; {instead}", self.of)
    }
}

/// Looks through all crates below the front end, and returns what is wrong, a line each.
pub(super) fn look(root: &Path, packages: &[Package]) -> Result<Vec<String>> {
    let mut breaches = Vec::new();
    let shipped = HOUSE.iter().filter(|it| matches!(it.role, Role::Shipped { .. }));
    for entry in shipped.filter(|it| it.name != FRONT_END) {
        let package = format!("metier-{}", entry.name);
        let is_parser = |it: &Dependency| it.name == COMMAND_LINE && it.kind != Kind::Dev;
        if packages.iter().any(|it| it.name == package && it.external.iter().any(is_parser)) {
            let rule = FrontEndRule::CommandLine;
            breaches.push(FrontEndBreach { of: entry.name, place: None, rule });
        }
        let folder = Path::new("crates").join(entry.name).join("src");
        let sources = sources(root, &folder)?;
        breaches.extend(breaches_of(entry.name, &sources));
    }
    Ok(judged(&breaches, EXEMPTIONS))
}

/// What is left of breaches after exemptions, and the exemptions that nothing needs.
pub(super) fn judged(breaches: &[FrontEndBreach], exemptions: &[Exemption]) -> Vec<String> {
    let covers =
        |it: &Exemption, breach: &FrontEndBreach| it.of == breach.of && it.rule == breach.rule;
    let idle = exemptions.iter().filter(|it| !breaches.iter().any(|breach| covers(it, breach)));
    let idle = idle.map(|Exemption { of, rule, reason }| {
        format!("`{of}` needs no exemption from `{rule:?}` any more ({reason}): take it out")
    });
    let idle: Vec<String> = idle.collect();
    let left = breaches.iter().filter(|breach| !exemptions.iter().any(|it| covers(it, breach)));
    left.map(ToString::to_string).chain(idle).collect()
}

/// The sources of a crate, by their place in the repository.
fn sources(root: &Path, folder: &Path) -> Result<Vec<(PathBuf, ShippedSource)>> {
    let mut sources = Vec::new();
    let full = root.join(folder);
    let entries = fs::read_dir(&full).with_context(|| format!("cannot read {}", full.display()))?;
    for entry in entries {
        let entry = entry?;
        let place = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            sources.extend(self::sources(root, &place)?);
        } else if place.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(entry.path())
                .with_context(|| format!("cannot read {}", entry.path().display()))?;
            sources.push((place, ShippedSource::of(&text)));
        }
    }
    Ok(sources)
}

/// What a crate with these sources does and may not.
pub(super) fn breaches_of(
    of: &'static str,
    sources: &[(PathBuf, ShippedSource)],
) -> Vec<FrontEndBreach> {
    let test_modules = sources.iter().flat_map(|(file, source)| {
        source.test_modules.iter().map(|name| module_folder(file).join(name))
    });
    let test_modules: Vec<PathBuf> = test_modules.collect();
    let is_test = |file: &Path| {
        test_modules
            .iter()
            .any(|module| file.starts_with(module) || file == module.with_extension("rs"))
    };
    let mut breaches = BTreeSet::new();
    for (file, source) in sources.iter().filter(|(file, _)| !is_test(file)) {
        for (line, rule) in breaches_in(&source.tokens) {
            breaches.insert(FrontEndBreach { of, place: Some((file.clone(), line)), rule });
        }
    }
    breaches.into_iter().collect()
}

/// The folder of the modules of a file.
fn module_folder(file: &Path) -> PathBuf {
    let is_root = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| file.ends_with(name));
    if is_root { file.parent().unwrap_or(file).to_owned() } else { file.with_extension("") }
}

fn breaches_in(tokens: &[SourceToken]) -> Vec<(usize, FrontEndRule)> {
    let mut breaches = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let rest = &tokens[at + 1..];
        let rule = match &token.kind {
            TokenKind::Text(text) if names_command(text) => FrontEndRule::Command,
            TokenKind::Text(text) if names_setting(text) => FrontEndRule::Setting,
            TokenKind::Word(word) if PRINTING.contains(&&**word) && is_call(rest) => {
                FrontEndRule::Output
            }
            TokenKind::Word(word) if word == "io" && names_one_of(rest, STREAMS) => {
                FrontEndRule::Output
            }
            TokenKind::Word(word) if word == "env" && names_one_of(rest, VARIABLES) => {
                FrontEndRule::Variable
            }
            _ => continue,
        };
        breaches.push((token.line, rule));
    }
    breaches
}

/// Whether a text has a command of ours in backticks.
fn names_command(text: &str) -> bool {
    let mut quoted = text.match_indices("`metier ").map(|(at, start)| &text[at + start.len()..]);
    quoted.any(|rest| rest.starts_with(|it: char| it.is_ascii_lowercase() || it == '{'))
}

/// Whether a text has a setting in backticks, or the beginning of one.
fn names_setting(text: &str) -> bool {
    text.match_indices('`').any(|(at, _)| {
        let name = text[at + 1..].trim_start_matches('[');
        name.split_once('.').is_some_and(|(section, rest)| {
            SECTIONS.contains(&section)
                && rest.starts_with(|it: char| it.is_ascii_lowercase() || it == '{')
        })
    })
}

/// Whether a macro is called.
fn is_call(rest: &[SourceToken]) -> bool {
    rest.first().is_some_and(|it| it.is_sign('!'))
}

/// Whether a path goes on with one of these names, or with a group that has one.
fn names_one_of(rest: &[SourceToken], names: &[&str]) -> bool {
    let [first, second, rest @ ..] = rest else { return false };
    if !first.is_sign(':') || !second.is_sign(':') {
        return false;
    }
    let is_name = |it: &SourceToken| names.iter().any(|name| it.is_word(name));
    match rest.first() {
        Some(open) if open.is_sign('{') => {
            rest.iter().take_while(|it| !it.is_sign('}') && !it.is_sign(';')).any(is_name)
        }
        Some(word) => is_name(word),
        None => false,
    }
}
