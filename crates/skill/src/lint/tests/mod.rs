//! Each rule over whole skills: what breaks it, and what does not.

mod body;
mod collisions;
mod files;
mod references;

use crate::diagnostic::Diagnostic;
use crate::lint::{Linted, lint_skill};
use crate::scratch::Scratch;
use crate::text::LineIndex;

/// A skill in the folder `ship` whose header is in order.
fn ship(body: &str) -> Scratch {
    let scratch = Scratch::new();
    write(&scratch, body);
    scratch
}

fn write(scratch: &Scratch, body: &str) {
    let header = "---\nname: ship\ndescription: Ships. Use when asked to.\n---\n";
    scratch.write("ship/SKILL.md", format!("{header}{body}"));
}

fn lint(scratch: &Scratch) -> Linted {
    lint_skill(&scratch.path("ship/SKILL.md")).unwrap()
}

/// Everything that is noticed, with its place and, if there is one, its fix.
fn outcome(scratch: &Scratch) -> String {
    let linted = lint(scratch);
    let lines = LineIndex::new(&linted.text);
    let in_file = linted.diagnostics.iter().map(|it| {
        let place = lines.position(it.span.start);
        format!("{}:{} {}", place.line, place.column, render(it))
    });
    let elsewhere = linted.remarks.iter().map(|remark| {
        let path = scratch.shorten(&remark.path.display().to_string());
        format!("{path} {}", render(&remark.diagnostic))
    });
    scratch.shorten(&in_file.chain(elsewhere).collect::<Vec<_>>().join("\n"))
}

fn render(diagnostic: &Diagnostic) -> String {
    let fix = diagnostic.fix.as_ref().map_or(String::new(), |fix| format!(" (fix: {})", fix.title));
    format!("{} {}{fix}", diagnostic.code, diagnostic.message)
}

#[test]
fn a_skill_in_order_has_nothing_to_say() {
    let scratch = ship("# Ship\n\nRead [how](docs/how.md), then run `scripts/run.sh`.\n");
    scratch.write("ship/docs/how.md", "How.");
    scratch.program("ship/scripts/run.sh");
    assert_eq!(outcome(&scratch), "");
}

#[test]
fn a_file_that_is_no_skill_file_or_too_large_is_an_error() {
    let scratch = Scratch::new();
    scratch.fifo("pipe/SKILL.md");
    scratch.write("large/SKILL.md", vec![b'x'; (1 << 20) + 1]);
    for path in ["pipe/SKILL.md", "large/SKILL.md", "missing/SKILL.md"] {
        assert!(lint_skill(&scratch.path(path)).is_err(), "{path}");
    }
}

#[test]
fn a_file_in_another_case_or_encoding_is_judged_with_a_remark() {
    let scratch = Scratch::new();
    let text = b"---\nname: ship\ndescription: Ships when asked.\n---\nCaf\xe9.\n";
    let file = scratch.write("ship/skill.md", text);
    let codes: Vec<&str> =
        lint_skill(&file).unwrap().diagnostics.iter().map(|it| it.code.as_str()).collect();
    assert_eq!(codes, ["M014", "M008"]);
}
