//! The difference that a change makes to an entry, as lines that go and lines that come.
//!
//! Only the entry is shown, wherever it is written: a configuration may hold keys of other servers, also on the
//! same line.

use std::ops::Range;

/// The change of an entry, as lines that go and lines that come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryDiff {
    /// The places that change: first where lines go, then where others come.
    pub hunks: Vec<EntryHunk>,
}

/// A place in a file that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryHunk {
    /// The number of the first line, in the text that has it.
    pub line: usize,
    /// Lines of the old text.
    pub removed: Vec<String>,
    /// Lines of the new text.
    pub added: Vec<String>,
}

/// A text, and the places of the entry in it.
pub(crate) struct EntryText<'a> {
    pub(crate) text: &'a str,
    pub(crate) places: Vec<Range<usize>>,
}

/// Compares an entry in two texts.
pub(crate) fn entry_diff(old: &EntryText<'_>, new: &EntryText<'_>) -> EntryDiff {
    let (mut gone, mut come) = (old.parts(), new.parts());
    let all = gone.clone();
    gone.retain(|part| come.iter().all(|it| it.lines != part.lines));
    come.retain(|part| all.iter().all(|it| it.lines != part.lines));
    if let ([gone], [come]) = (&mut gone[..], &mut come[..]) {
        return EntryDiff { hunks: vec![leave_out_equal(gone, come)] };
    }
    let gone = gone.iter().map(|part| part.hunk(&part.lines, &[]));
    let come = come.iter().map(|part| part.hunk(&[], &part.lines));
    EntryDiff { hunks: gone.chain(come).collect() }
}

fn leave_out_equal(gone: &mut EntryLines<'_>, come: &mut EntryLines<'_>) -> EntryHunk {
    while gone.lines.len().min(come.lines.len()) > 1 && gone.lines.last() == come.lines.last() {
        gone.lines.pop();
        come.lines.pop();
    }
    let pairs = gone.lines.iter().zip(&come.lines);
    let top = pairs.take_while(|(old, new)| old == new).count();
    gone.lines.drain(..top);
    come.lines.drain(..top);
    gone.line += top;
    gone.hunk(&gone.lines, &come.lines)
}

/// Lines of an entry.
#[derive(Clone)]
struct EntryLines<'a> {
    /// The number of the first.
    line: usize,
    lines: Vec<&'a str>,
}

impl<'a> EntryText<'a> {
    fn parts(&self) -> Vec<EntryLines<'a>> {
        let part = |place: &Range<usize>| {
            let text = &self.text[place.clone()];
            let shown = text.trim_start_matches(['\r', '\n']);
            let start = place.start + (text.len() - shown.len());
            let line = self.text[..start].matches('\n').count() + 1;
            EntryLines { line, lines: shown.lines().collect() }
        };
        self.places.iter().map(part).collect()
    }
}

impl EntryLines<'_> {
    fn hunk(&self, removed: &[&str], added: &[&str]) -> EntryHunk {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        EntryHunk { line: self.line, removed: owned(removed), added: owned(added) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::format::DocumentFormat;

    /// The differences when an entry is written, and when it is removed again.
    fn shown(format: DocumentFormat, path: &[&str], text: &str) -> String {
        let entry = json!({ "command": "/bin/metier", "args": ["mcp"] });
        let new = format.renew(text, path, &entry, &["url"]).expect("it is understood");
        let rest = format.remove(&new, path).expect("it is understood");
        let side = |text| EntryText { text, places: format.places(text, path) };
        let (added, removed) =
            (entry_diff(&side(text), &side(&new)), entry_diff(&side(&new), &side(&rest)));
        rendered(&added) + &rendered(&removed)
    }

    fn rendered(diff: &EntryDiff) -> String {
        let hunks = diff.hunks.iter().map(|hunk| {
            let removed = hunk.removed.iter().map(|line| format!("- {line}\n"));
            let lines = removed.chain(hunk.added.iter().map(|line| format!("+ {line}\n")));
            format!("line {}:\n{}", hunk.line, lines.collect::<String>())
        });
        hunks.collect()
    }

    #[test]
    fn what_other_servers_have_beside_the_entry_is_not_shown() {
        let json = |text| shown(DocumentFormat::Json, &["mcpServers", "metier"], text);
        let toml = |text| shown(DocumentFormat::Toml, &["mcp_servers", "metier"], text);
        insta::assert_snapshot!(json(r#"{"mcpServers":{"a":{"key":"secret"}},"b":"secret"}"#), @r#"
        line 1:
        + "metier":{"command":"/bin/metier","args":["mcp"]}
        line 1:
        - "metier":{"command":"/bin/metier","args":["mcp"]}
        "#);
        insta::assert_snapshot!(json("{\n  \"mcpServers\": {\n    \"a\": {\"key\": \"secret\"} // secret\n  }\n}\n"), @r#"
        line 4:
        +     "metier": {
        +       "command": "/bin/metier",
        +       "args": ["mcp"]
        +     }
        line 4:
        -     "metier": {
        -       "command": "/bin/metier",
        -       "args": ["mcp"]
        -     }
        "#);
        insta::assert_snapshot!(json("{\"mcpServers\": {\"metier\": {\"command\": \"old\", \"url\": \"u\"}, \"a\": \"secret\"}}"), @r#"
        line 1:
        - "metier": {"command": "old", "url": "u"}
        + "metier": {"command": "/bin/metier", "args": ["mcp"]}
        line 1:
        - "metier": {"command": "/bin/metier", "args": ["mcp"]}
        "#);
        insta::assert_snapshot!(toml("[mcp_servers.metier]\ncommand = 'old'\n\n[mcp_servers.a]\nkey = 'secret'\n\n[mcp_servers.metier.tools.x]\na = 1\n"), @r#"
        line 2:
        - command = 'old'
        + command = "/bin/metier"
        + args = ["mcp"]
        line 1:
        - [mcp_servers.metier]
        - command = "/bin/metier"
        - args = ["mcp"]
        line 8:
        - [mcp_servers.metier.tools.x]
        - a = 1
        "#);
    }

    #[test]
    fn of_an_entry_that_is_replaced_the_lines_that_change_are_shown() {
        let yaml = |text| shown(DocumentFormat::Yaml, &["extensions", "metier"], text);
        insta::assert_snapshot!(yaml("a: 1\nextensions:\n  metier:\n    command: \"/bin/metier\"\n    args: [\"old\"]\n  other:\n    key: secret\n"), @r#"
        line 5:
        -     args: ["old"]
        +     args: ["mcp"]
        line 3:
        -   metier:
        -     command: "/bin/metier"
        -     args: ["mcp"]
        "#);
    }
}
