//! What may differ between the page and a run, by name.

use regex_lite::Regex;

/// A part of a line that is compared by its form alone.
struct Rule {
    /// What stands in its place when lines are compared.
    name: &'static str,
    pattern: &'static str,
}

const RULES: &[Rule] = &[
    Rule { name: "[TIME]", pattern: r"\b\d+(\.\d+)? (s|ms)\b" },
    Rule { name: "[SESSION]", pattern: r"\bs-[0-9a-f]{12}\b" },
    // How far the kernel of this machine confines.
    Rule { name: "sandbox ([LEVEL])", pattern: r"sandbox \([a-z]+\)" },
    Rule { name: "[DATE]", pattern: r"\b20\d\d-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?" },
];

/// What `exec` says of a promise that the kernel of this machine cannot keep.
const NOT_PROMISED: &str = "not promised: ";

/// Lines in the form in which they are compared.
pub(super) fn same(lines: &[String]) -> Vec<String> {
    let rules: Vec<(Regex, &str)> = RULES
        .iter()
        .map(|rule| (Regex::new(rule.pattern).expect("a pattern"), rule.name))
        .collect();
    let line = |line: &String| {
        let mut line = line.clone();
        for (pattern, name) in &rules {
            line = pattern.replace_all(&line, *name).into_owned();
        }
        line
    };
    lines.iter().filter(|line| !line.starts_with(NOT_PROMISED)).map(line).collect()
}

/// What is written to the page: lines that say what the page shows already stay as they are.
pub(super) fn kept(shown: &[String], mut printed: Vec<String>) -> Vec<String> {
    printed.retain(|line| !line.starts_with(NOT_PROMISED));
    let forms = same(shown);
    let mut old: Vec<_> = shown.iter().zip(&forms).collect();
    let new = same(&printed);
    let choose =
        |(line, form): (String, &String)| match old.iter().position(|(_, known)| *known == form) {
            Some(at) => old.remove(at).0.clone(),
            None => line,
        };
    printed.into_iter().zip(&new).map(choose).collect()
}

#[test]
fn a_line_that_differs_in_its_time_alone_stays_as_it_was() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let shown = lines("ran a · 0.12 s\nsession s-0123456789ab\nold");
    let printed = lines("ran a · 7 ms\nsession s-ffffffffffff\nnew");
    assert_eq!(kept(&shown, printed), lines("ran a · 0.12 s\nsession s-0123456789ab\nnew"));
}
