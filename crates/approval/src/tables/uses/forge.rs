//! The command line of a code forge: looking at what it has.
//!
//! Whatever else `gh` is told may be an alias or an extension, which are programs. `--web` starts a browser.

use super::{Operands, Shape, Uses};
use crate::tables::options::{NONE, Options};

const fn of(first: &'static [&'static str], options: Options) -> Shape {
    Shape { first, options, operands: Operands::Any, is_for_folder: false }
}

/// Lists. Not `-w`, which is `--web`, nor `--help`, which starts a pager.
const LIST: Options = Options {
    letters: "d",
    valued: "aABHqlLSsRmtbu",
    words: &["--draft", "--archived", "--no-archived", "--fork", "--source"],
    valued_words: &[
        "--app",
        "--assignee",
        "--author",
        "--base",
        "--head",
        "--jq",
        "--json",
        "--label",
        "--limit",
        "--search",
        "--state",
        "--template",
        "--repo",
        "--milestone",
        "--mention",
        "--branch",
        "--user",
        "--workflow",
        "--language",
        "--topic",
        "--visibility",
        "--owner",
        "--sort",
        "--order",
        "--created",
        "--updated",
        "--status",
    ],
    ..NONE
};
/// One thing.
const VIEW: Options = Options {
    letters: "cv",
    valued: "qtRbji",
    words: &[
        "--comments",
        "--log",
        "--log-failed",
        "--verbose",
        "--exit-status",
        "--required",
        "--name-only",
        "--patch",
        "--conflict-status",
    ],
    valued_words: &["--jq", "--json", "--template", "--repo", "--branch", "--job", "--color"],
    ..NONE
};

pub(super) const USES: &[Uses] = &[Uses {
    names: &["gh"],
    because: "with other words it changes what is there, and runs aliases, extensions and other programs",
    shapes: &[
        of(&["pr", "list"], LIST),
        of(&["pr", "view"], VIEW),
        of(&["pr", "diff"], VIEW),
        of(&["pr", "checks"], VIEW),
        of(&["pr", "status"], VIEW),
        of(&["issue", "list"], LIST),
        of(&["issue", "view"], VIEW),
        of(&["issue", "status"], VIEW),
        of(&["run", "list"], LIST),
        of(&["run", "view"], VIEW),
        of(&["repo", "view"], VIEW),
        of(&["repo", "list"], LIST),
        of(&["release", "list"], LIST),
        of(&["release", "view"], VIEW),
        of(&["workflow", "list"], LIST),
        of(&["label", "list"], LIST),
        of(&["search", "issues"], LIST),
        of(&["search", "prs"], LIST),
        of(&["search", "repos"], LIST),
        of(&["search", "code"], LIST),
    ],
}];
