//! Git: what looks at a repository and changes nothing.
//!
//! Nothing but `--no-pager` may stand before the subcommand, where `-c` and `--exec-path` decide what git runs. What a repository's own
//! settings make git start is turned off when it runs (`metier_agent::host`); `describe --dirty` is not here because it looks
//! into submodules and has no option against that.

use super::{Operands, Shape, Uses};
use crate::tables::options::{NONE, Options};

/// Options of what shows changes. Not `--ext-diff`, `--textconv`, `--output`, `--show-signature`, `-O`; nor `--submodule` and
/// `--ignore-submodules`, which make git look into submodules by the settings that those have.
const SHOWING: Options = Options {
    letters: "abcimpqrstuvwzCDERMW",
    valued: "nGSL",
    optional: "UX",
    words: &[
        "--oneline",
        "--graph",
        "--all",
        "--stat",
        "--shortstat",
        "--numstat",
        "--name-only",
        "--name-status",
        "--patch",
        "--no-patch",
        "--raw",
        "--summary",
        "--cached",
        "--staged",
        "--merge-base",
        "--no-color",
        "--reverse",
        "--first-parent",
        "--merges",
        "--no-merges",
        "--follow",
        "--full-history",
        "--topo-order",
        "--date-order",
        "--no-renames",
        "--check",
        "--quiet",
        "--exit-code",
        "--word-diff",
        "--text",
        "--no-pager",
        "--ignore-all-space",
        "--ignore-space-change",
        "--ignore-blank-lines",
        "--minimal",
        "--patience",
        "--histogram",
        "--no-ext-diff",
        "--no-textconv",
        "--abbrev-commit",
        "--no-abbrev-commit",
        "--no-decorate",
        "--branches",
        "--tags",
        "--remotes",
        "--left-right",
        "--cherry-pick",
        "--cherry-mark",
        "--boundary",
        "--relative-date",
        "--compact-summary",
        "--no-prefix",
        "--function-context",
        "--full-index",
        "--source",
        "--no-notes",
        "--cc",
        "--root",
        "--count",
        "--no-commit-id",
    ],
    valued_words: &[
        "--since",
        "--after",
        "--until",
        "--before",
        "--author",
        "--committer",
        "--grep",
        "--max-count",
        "--skip",
        "--diff-filter",
        "--inter-hunk-context",
        "--date",
        "--format",
        "--diff-algorithm",
        "--word-diff-regex",
    ],
    optional_words: &[
        "--pretty",
        "--color",
        "--decorate",
        "--abbrev",
        "--unified",
        "--dirstat",
        "--find-renames",
        "--find-copies",
        "--color-words",
        "--relative",
    ],
    has_numbers: true,
    ..NONE
};
/// Not `-v`, which shows changes by the text conversions of the repository.
const STATUS: Options = Options {
    letters: "sbz",
    optional: "u",
    words: &[
        "--short",
        "--branch",
        "--long",
        "--show-stash",
        "--ahead-behind",
        "--no-ahead-behind",
        "--renames",
        "--no-renames",
        "--null",
    ],
    optional_words: &["--porcelain", "--untracked-files", "--ignored", "--column"],
    ..NONE
};
/// What lists branches. A name that could be made needs `--list`.
const BRANCHES: Options = Options {
    letters: "arvqi",
    words: &[
        "--all",
        "--remotes",
        "--list",
        "--show-current",
        "--verbose",
        "--ignore-case",
        "--no-color",
    ],
    valued_words: &[
        "--format",
        "--sort",
        "--contains",
        "--no-contains",
        "--merged",
        "--no-merged",
        "--points-at",
    ],
    optional_words: &["--color", "--column", "--abbrev"],
    ..NONE
};
const REFS: Options = Options {
    words: &["--ignore-case"],
    valued_words: &["--format", "--sort", "--count", "--contains", "--merged", "--points-at"],
    ..NONE
};
/// What moved where. No changes: only behind `show` git is told to run no text conversion.
const REFLOG: Options = Options {
    valued: "n",
    words: &["--oneline", "--all"],
    valued_words: &["--max-count", "--date"],
    has_numbers: true,
    ..NONE
};
const NAMING: Options = Options {
    letters: "q",
    optional: "",
    words: &[
        "--verify",
        "--show-toplevel",
        "--is-inside-work-tree",
        "--is-bare-repository",
        "--git-dir",
        "--quiet",
        "--symbolic",
        "--symbolic-full-name",
        "--show-prefix",
        "--show-cdup",
        "--all",
        "--branches",
        "--tags",
        "--always",
        "--long",
        "--contains",
        "--exact-match",
        "--first-parent",
        "--is-ancestor",
    ],
    valued_words: &["--match", "--exclude", "--candidates"],
    optional_words: &["--short", "--abbrev-ref", "--abbrev"],
    ..NONE
};
const SHORTLOG: Options = Options {
    letters: "cens",
    words: &["--numbered", "--summary", "--email", "--committer", "--all", "--no-merges"],
    valued_words: &["--since", "--until", "--author"],
    ..NONE
};
const TREE: Options = Options {
    letters: "drtlz",
    words: &["--name-only", "--name-status", "--object-only", "--long", "--full-name"],
    valued_words: &["--format"],
    optional_words: &["--abbrev"],
    ..NONE
};
const FILES: Options = Options {
    letters: "cdmosuktvzi",
    words: &[
        "--cached",
        "--deleted",
        "--modified",
        "--others",
        "--ignored",
        "--stage",
        "--unmerged",
        "--killed",
        "--exclude-standard",
        "--full-name",
        "--error-unmatch",
        "--directory",
        "--eol",
    ],
    valued_words: &["--format"],
    optional_words: &["--abbrev"],
    ..NONE
};
const TAGS: Options = Options {
    letters: "i",
    optional: "n",
    valued_words: &["--format", "--sort", "--points-at", "--contains", "--merged", "--no-merged"],
    ..NONE
};
const BLAME: Options = Options {
    letters: "wcltfnseMCpb",
    valued: "L",
    words: &[
        "--porcelain",
        "--line-porcelain",
        "--show-email",
        "--show-name",
        "--root",
        "--show-number",
    ],
    valued_words: &["--since", "--date"],
    optional_words: &["--abbrev"],
    ..NONE
};
const GREP: Options = Options {
    letters: "aiIwvhHEGPFnlLzcopWq",
    valued: "eABCm",
    words: &[
        "--cached",
        "--untracked",
        "--ignore-case",
        "--word-regexp",
        "--invert-match",
        "--count",
        "--line-number",
        "--files-with-matches",
        "--name-only",
        "--files-without-match",
        "--fixed-strings",
        "--extended-regexp",
        "--perl-regexp",
        "--show-function",
        "--heading",
        "--break",
        "--and",
        "--or",
        "--not",
        "--all-match",
    ],
    valued_words: &["--max-depth", "--context", "--after-context", "--before-context"],
    optional_words: &["--color"],
    has_numbers: true,
    ..NONE
};

const fn of(first: &'static [&'static str], options: Options, operands: Operands) -> Shape {
    Shape { first, options, operands, is_for_folder: false }
}

/// Whether a word names a setting, and is no subcommand of `git config`. With a second word it would be set.
fn is_setting(word: &str) -> bool {
    word.contains('.')
}

pub(super) const USES: &[Uses] = &[
    Uses {
        names: &["git"],
        because: "with other options or subcommands it can run programs and change files",
        shapes: &[
            of(&["status"], STATUS, Operands::Any),
            of(&["diff"], SHOWING, Operands::Any),
            of(&["log"], SHOWING, Operands::Any),
            of(&["show"], SHOWING, Operands::Any),
            of(&["shortlog"], SHORTLOG, Operands::Any),
            of(&["rev-list"], SHOWING, Operands::Any),
            of(&["diff-tree"], SHOWING, Operands::Any),
            of(&["branch"], BRANCHES, Operands::None),
            of(&["branch", "--list"], BRANCHES, Operands::Any),
            of(&["tag"], TAGS, Operands::None),
            of(&["tag", "-l"], TAGS, Operands::Any),
            of(&["tag", "--list"], TAGS, Operands::Any),
            of(&["remote"], Options { letters: "v", ..NONE }, Operands::None),
            of(
                &["remote", "get-url"],
                Options { words: &["--push", "--all"], ..NONE },
                Operands::AtMost(1),
            ),
            of(&["--no-pager", "status"], STATUS, Operands::Any),
            of(&["--no-pager", "diff"], SHOWING, Operands::Any),
            of(&["--no-pager", "log"], SHOWING, Operands::Any),
            of(&["--no-pager", "show"], SHOWING, Operands::Any),
            of(&["--no-pager", "branch"], BRANCHES, Operands::None),
            of(&["for-each-ref"], REFS, Operands::Any),
            of(&["reflog"], REFLOG, Operands::None),
            of(&["reflog", "show"], SHOWING, Operands::Any),
            of(&["stash", "list"], SHOWING, Operands::None),
            of(&["stash", "show"], SHOWING, Operands::AtMost(1)),
            of(&["worktree", "list"], Options { words: &["--porcelain"], ..NONE }, Operands::None),
            of(&["rev-parse"], NAMING, Operands::Any),
            of(&["describe"], NAMING, Operands::Any),
            of(&["merge-base"], NAMING, Operands::Any),
            of(&["ls-files"], FILES, Operands::Any),
            of(&["ls-tree"], TREE, Operands::Any),
            of(&["blame"], BLAME, Operands::Any),
            of(&["grep"], GREP, Operands::Any),
            of(&["cat-file"], Options { letters: "pte", ..NONE }, Operands::Any),
            of(&["count-objects"], Options { letters: "vH", ..NONE }, Operands::None),
            of(&["check-ignore"], Options { letters: "vnq", ..NONE }, Operands::Any),
            of(&["config"], NONE, Operands::One(is_setting)),
            of(&["config", "--get"], NONE, Operands::Any),
            of(&["config", "--list"], NONE, Operands::None),
            of(&["version"], NONE, Operands::None),
        ],
    },
    Uses {
        names: &["hg", "svn", "bzr", "brz", "fossil", "jj", "cvs", "p4"],
        because: "with other options or subcommands it can run programs and change files",
        shapes: &[],
    },
];
