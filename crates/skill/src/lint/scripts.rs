//! Scripts: whether it can be told what runs them. Archives lose the executable bit, so only the
//! first line and the name count.

use std::io::Read;

use crate::diagnostic::{Code, Diagnostic};
use crate::files::{FileKind, Tree, open_regular};
use crate::lint::Remark;
use crate::text::Span;

const FOLDERS: [&str; 2] = ["scripts/", "bin/"];

/// Endings by which an interpreter is known, and those of data that scripts bring along.
const KNOWN: &[&str] = &[
    "awk", "bash", "bat", "cjs", "cmd", "css", "csv", "go", "html", "jar", "java", "jq", "js",
    "json", "lua", "md", "mjs", "php", "pl", "ps1", "py", "r", "rb", "rs", "sed", "sh", "sql",
    "swift", "toml", "ts", "tsx", "txt", "xml", "xsd", "yaml", "yml", "zsh",
];

pub(crate) fn check(tree: &Tree) -> Vec<Remark> {
    let is_script = |path: &str| FOLDERS.iter().any(|folder| path.starts_with(folder));
    let unknown = tree.entries.iter().filter(|entry| {
        matches!(entry.kind, FileKind::File { .. })
            && is_script(&entry.path)
            && !has_known_ending(&entry.path)
            && !has_interpreter(tree, &entry.path)
    });
    unknown
        .map(|entry| Remark {
            path: tree.root.join(&entry.path),
            diagnostic: Diagnostic::new(
                Code::ScriptRunner,
                Span::at(0),
                "nothing says what runs this script",
            )
            .help("start it with a line like `#!/usr/bin/env python3`, or give it an ending"),
        })
        .collect()
}

fn has_known_ending(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    name.starts_with('.') || ending.is_some_and(|ending| KNOWN.contains(&ending.as_str()))
}

/// A `#!` line, or the first bytes of a compiled program.
fn has_interpreter(tree: &Tree, path: &str) -> bool {
    let mut start = Vec::new();
    let read = open_regular(&tree.root.join(path))
        .and_then(|(file, _)| file.take(4).read_to_end(&mut start));
    read.is_ok() && (start.starts_with(b"#!") || start.starts_with(b"\x7fELF"))
}
