//! What the sources say: which errors are declared, and how commands word their failures.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// An error that is declared somewhere; that of a struct has the struct's name twice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Variant {
    /// The crate.
    pub(super) of: String,
    /// The type.
    pub(super) kind: String,
    /// The variant.
    pub(super) name: String,
}

/// The folder of the whole project.
pub(super) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every variant with an `#[error(…)]` below `crates/*/src`.
pub(super) fn variants() -> BTreeSet<Variant> {
    let crates = fs::read_dir(repository().join("crates")).unwrap().map(|it| it.unwrap().path());
    let mut found = BTreeSet::new();
    for folder in crates {
        let of = folder.file_name().unwrap().to_string_lossy().into_owned();
        for file in rust_files(&folder.join("src")) {
            found.extend(declared(&of, &fs::read_to_string(file).unwrap()));
        }
    }
    found
}

fn declared(of: &str, text: &str) -> Vec<Variant> {
    let mut found = Vec::new();
    let (mut kind, mut is_open, mut is_pending) = (String::new(), false, false);
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[error(") {
            (is_open, is_pending) = (true, true);
        }
        if is_open {
            is_open = !line.ends_with(")]");
            continue;
        }
        let words: Vec<&str> =
            line.split([' ', '(', '{', '<', ',', ';']).filter(|it| !it.is_empty()).collect();
        let is_type = words.iter().take(3).any(|it| *it == "enum" || *it == "struct");
        if is_type && !line.starts_with("//") {
            let at =
                words.iter().position(|it| *it == "enum" || *it == "struct").unwrap_or_default();
            kind = words.get(at + 1).unwrap_or(&"").to_string();
        }
        if is_pending && !line.starts_with("//") && !line.starts_with("#[") {
            is_pending = false;
            let name =
                if is_type { kind.clone() } else { words.first().unwrap_or(&"").to_string() };
            found.push(Variant { of: of.to_owned(), kind: kind.clone(), name });
        }
    }
    found
}

/// The failures that commands make of words, by file, as the sources have them.
pub(super) fn worded_by_commands() -> String {
    let root = repository().join("crates/cli/src");
    let mut text = String::new();
    for file in rust_files(&root) {
        let inside = file.strip_prefix(&root).unwrap().display().to_string();
        // Those are shown with the errors that they are about.
        if ["failure/app.rs", "failure/remedies.rs", "failure/runs.rs", "failure/place.rs"]
            .contains(&&*inside)
        {
            continue;
        }
        let source = fs::read_to_string(&file).unwrap();
        let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let worded = worded(source);
        if !worded.is_empty() {
            text.push_str(&format!("## cli: {inside}\n\n{worded}\n"));
        }
    }
    text
}

/// What is before a message or hint in a source, and what is before it when it is shown.
const BEGINNINGS: [(&str, &str); 6] = [
    ("Failure::new(", "(exit code 1)\n    error: "),
    ("Failure::usage(", "(exit code 2)\n    error: "),
    ("Self::new(", "(exit code 1)\n    error: "),
    ("Self::usage(", "(exit code 2)\n    error: "),
    (".within(", "(before another)\n    error: "),
    (".hint(", "    hint: "),
];

fn worded(source: &str) -> String {
    let has_failures = source.contains("Failure::") || source.contains("impl Failure");
    let mut text = String::new();
    if !has_failures {
        return text;
    }
    let mut at = 0;
    loop {
        let next = BEGINNINGS.iter().filter_map(|(before, shown)| {
            source[at..].find(before).map(|it| (at + it, at + it + before.len(), *before, *shown))
        });
        let Some((_, inner, before, shown)) = next.min() else { break };
        at = inner;
        // Others have constructors too.
        if before.starts_with("Self") && !source.contains("impl Failure") {
            continue;
        }
        let argument = argument(&source[inner..]);
        if argument.is_empty() || (argument == "message" && source.contains("impl Failure {")) {
            continue;
        }
        text.push_str(&format!("{shown}{}\n", template(argument)));
    }
    text
}

/// What stops nothing and is said all the same: the beginning in the source, the beginning when it is shown, and which of
/// the arguments has the words.
const NOTICED: [(&str, &str, usize); 3] = [
    ("Problem::new(", "    problem: ", 2),
    (".help(", "    help: ", 0),
    (".note(style::WARN, ", "    note: ", 1),
];

/// What is noticed about skills, settings and servers, by file, as the sources have it. Words that are put together
/// elsewhere are not in it.
pub(super) fn noticed() -> String {
    let root = repository().join("crates");
    let mut text = String::new();
    for file in ["app/src", "cli/src", "skill/src"].iter().flat_map(|it| rust_files(&root.join(it)))
    {
        let inside = file.strip_prefix(&root).unwrap().display().to_string();
        // Helps of arguments are on the pages of help.
        if inside.starts_with("cli/src/args/") {
            continue;
        }
        let source = fs::read_to_string(&file).unwrap();
        let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let mut found: Vec<(usize, String)> = Vec::new();
        for (before, shown, which) in NOTICED {
            for (at, _) in source.match_indices(before) {
                let all = argument(&source[at + before.len()..]);
                let words = parts(all).get(which).map(|it| it.trim_start_matches('&'));
                let template = words.map(|it| template(bound(&source[..at], it).unwrap_or(it)));
                let template = template.filter(|it| !it.starts_with('{') || !it.ends_with('}'));
                found.extend(template.map(|it| (at, format!("{shown}{it}\n"))));
            }
        }
        found.sort();
        if !found.is_empty() {
            let found: String = found.into_iter().map(|(_, line)| line).collect();
            text.push_str(&format!("## noticed: {inside}\n\n{found}\n"));
        }
    }
    text
}

/// What a name was last set to.
fn bound<'a>(before: &'a str, name: &str) -> Option<&'a str> {
    let is_name = !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || it == '_');
    let start = format!("let {name} =");
    let at = before.rfind(&start).filter(|_| is_name)? + start.len();
    Some(before[at..].split(";\n").next()?.trim())
}

/// The arguments of a call.
fn parts(arguments: &str) -> Vec<&str> {
    let (mut depth, mut is_text, mut start, mut parts) = (0, false, 0, Vec::new());
    let bytes = arguments.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' if at == 0 || bytes[at - 1] != b'\\' => is_text = !is_text,
            b'(' | b'[' | b'{' if !is_text => depth += 1,
            b')' | b']' | b'}' if !is_text => depth -= 1,
            b',' if !is_text && depth == 0 => {
                parts.push(arguments[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(arguments[start..].trim());
    parts
}

/// The text up to the parenthesis that closes what was opened before it.
fn argument(source: &str) -> &str {
    let (mut depth, mut is_text, mut is_escaped) = (0, false, false);
    let bytes = source.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            // A quote between apostrophes is a character.
            b'"' if is_text || at == 0 || bytes[at - 1] != b'\'' => is_text = !is_text,
            b'(' if !is_text => depth += 1,
            b')' if !is_text && depth == 0 => return source[..at].trim(),
            b')' if !is_text => depth -= 1,
            _ => {}
        }
    }
    source
}

/// A message as the source has it, with `{…}` for what is put in.
fn template(argument: &str) -> String {
    let (Some(start), Some(literal)) = (argument.find('"'), literal(argument)) else {
        return format!("{{{}}}", one_line(argument));
    };
    let is_whole = start == 0 || argument.starts_with("format!(");
    if !is_whole {
        return format!("{{{}}}", one_line(argument));
    }
    let rest = &argument[start + 1..];
    let rest = rest.find("\",").map_or("", |it| &rest[it + 2..]);
    let mut values = rest.trim_end_matches(')').split(',').map(str::trim);
    let mut text = String::new();
    let mut pieces = literal.split("{}");
    text.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let value = values.next().unwrap_or_default();
        let value = value.trim_start_matches('&').trim_start_matches("self.");
        let value = value.split(['(', ')']).next().unwrap_or_default();
        let value = value.trim_end_matches(".display").trim_end_matches(".as_secs");
        text.push_str(&format!("{{{value}}}{piece}"));
    }
    text
}

/// The first literal of an expression.
fn literal(argument: &str) -> Option<String> {
    let inner = &argument[argument.find('"')? + 1..];
    let mut text = String::new();
    let mut characters = inner.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => return Some(text),
            '\\' => match characters.next()? {
                '\n' => while characters.next_if(|it| it.is_whitespace()).is_some() {},
                'n' => text.push('\n'),
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
    None
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a line is a message of the program.
pub(super) fn is_message(line: &str) -> bool {
    ["error: ", "warning: ", "hint: "].iter().any(|it| line.trim_start().starts_with(it))
}

/// Whether a message is one that a template has.
pub(super) fn fits(template: &str, message: &str) -> bool {
    // What begins with something that is put in could be anything.
    let is_worded = template.split_once(": ").is_some_and(|(_, text)| !text.starts_with('{'));
    if !is_message(template) || !is_worded {
        return false;
    }
    let mut pieces = template.split('{').enumerate().map(|(at, piece)| match at {
        0 => piece,
        _ => piece.split_once('}').map_or(piece, |(_, rest)| rest),
    });
    let Some(mut rest) = pieces.next().and_then(|piece| message.trim().strip_prefix(piece)) else {
        return false;
    };
    let mut last = None;
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
        last = Some(piece);
    }
    rest.is_empty() || last == Some("")
}

/// Files of the program, without tests.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.map(|it| it.unwrap().path()) {
        let name = path.file_stem().unwrap_or_default();
        if path.is_dir() && name != "tests" {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|it| it == "rs") && name != "tests" {
            found.push(path);
        }
    }
    found.sort();
    found
}
