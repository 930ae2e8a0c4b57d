//! Programs for files that can do more than that.

use super::{Operands, Shape, Uses};
use crate::tables::options::{NONE, Options, Order};

/// Sorting. Not `-o`, `-T`, `--compress-program`, `--files0-from`, `--random-source`.
pub(in crate::tables) const SORT: Options = Options {
    letters: "bdfgiMhnRrVcCusmz",
    valued: "ktS",
    words: &[
        "--ignore-leading-blanks",
        "--dictionary-order",
        "--ignore-case",
        "--general-numeric-sort",
        "--ignore-nonprinting",
        "--month-sort",
        "--human-numeric-sort",
        "--numeric-sort",
        "--random-sort",
        "--reverse",
        "--version-sort",
        "--unique",
        "--stable",
        "--merge",
        "--zero-terminated",
        "--debug",
    ],
    valued_words: &[
        "--key",
        "--field-separator",
        "--buffer-size",
        "--parallel",
        "--batch-size",
        "--sort",
    ],
    optional_words: &["--check"],
    ..NONE
};
pub(in crate::tables) const SPLIT: Options = Options {
    letters: "dexu",
    valued: "abClnt",
    words: &["--numeric-suffixes", "--hex-suffixes", "--elide-empty-files", "--verbose"],
    valued_words: &[
        "--lines",
        "--bytes",
        "--line-bytes",
        "--number",
        "--suffix-length",
        "--additional-suffix",
    ],
    ..NONE
};
pub(in crate::tables) const INSTALL: Options = Options {
    letters: "cCdDpTv",
    valued: "gmot",
    words: &["--directory", "--compare", "--preserve-timestamps", "--verbose"],
    valued_words: &["--mode", "--owner", "--group", "--target-directory"],
    ..NONE
};
const ZIP: Options = Options { letters: "rqjXyuv", has_numbers: true, ..NONE };
const UNIQ: Options = Options {
    letters: "cdDiuz",
    valued: "fsw",
    words: &["--count", "--repeated", "--ignore-case", "--unique", "--zero-terminated"],
    valued_words: &["--skip-fields", "--skip-chars", "--check-chars"],
    optional_words: &["--all-repeated", "--group"],
    has_numbers: true,
    ..NONE
};

const fn of(first: &'static [&'static str], options: Options, operands: Operands) -> Shape {
    Shape { first, options, operands, is_for_folder: false }
}

pub(super) const USES: &[Uses] = &[
    Uses {
        names: &["sort", "gsort"],
        because: "with other options it can write files and run programs",
        shapes: &[of(&[], SORT, Operands::Any)],
    },
    Uses {
        names: &["uniq", "guniq"],
        because: "its second file is overwritten",
        shapes: &[of(&[], UNIQ, Operands::AtMost(1))],
    },
    Uses {
        names: &["shuf", "gshuf"],
        because: "with other options it overwrites files",
        shapes: &[of(&[], Options { letters: "erz", valued: "in", ..NONE }, Operands::Any)],
    },
    Uses {
        names: &["split", "gsplit"],
        because: "it overwrites files, whose names its arguments do not say; with `--filter` it runs programs",
        shapes: &[],
    },
    Uses {
        names: &["install", "ginstall"],
        because: "with other options it runs programs",
        shapes: &[of(&[], INSTALL, Operands::Any)],
    },
    Uses {
        names: &["zip"],
        because: "with other options it runs programs",
        shapes: &[of(&[], ZIP, Operands::Any)],
    },
    Uses {
        names: &[
            "patch", "cpio", "pax", "ar", "rename", "prename", "mmv", "zipnote", "7z", "7za",
            "unrar", "rar",
        ],
        because: "it can overwrite files anywhere, or run programs",
        shapes: &[],
    },
    Uses {
        names: &["rg", "ripgrep"],
        because: "with other options it runs programs",
        shapes: &[of(&[], SEARCH, Operands::Any)],
    },
    Uses {
        names: &["fd", "fdfind"],
        because: "with other options it runs programs",
        shapes: &[of(&[], FD, Operands::Any)],
    },
    Uses {
        names: &["ack", "ag", "pt", "ugrep"],
        because: "with other options it runs programs",
        shapes: &[],
    },
];

/// Finding. Not `-x`, `-X`, `--exec`, `--exec-batch`.
const FD: Options = Options {
    letters: "HIusigFaLpq01",
    valued: "dtecEjSo",
    words: &["--hidden", "--no-ignore", "--glob", "--absolute-path", "--full-path", "--follow"],
    valued_words: &["--max-depth", "--type", "--extension", "--exclude", "--color", "--size"],
    ..NONE
};

/// Searching. Not `--pre`, `--hostname-bin`, `-z`.
const SEARCH: Options = Options {
    letters: "aiFnNlcovwsSHIuqpU0xLP",
    valued: "ABCdegmtTrMfj",
    words: &[
        "--hidden",
        "--no-ignore",
        "--ignore-case",
        "--case-sensitive",
        "--smart-case",
        "--fixed-strings",
        "--files",
        "--files-with-matches",
        "--files-without-match",
        "--count",
        "--line-number",
        "--no-heading",
        "--heading",
        "--word-regexp",
        "--only-matching",
        "--invert-match",
        "--multiline",
        "--json",
        "--no-filename",
        "--no-messages",
        "--stats",
        "--trim",
        "--count-matches",
        "--type-list",
    ],
    valued_words: &[
        "--glob",
        "--type",
        "--type-not",
        "--max-depth",
        "--max-count",
        "--context",
        "--after-context",
        "--before-context",
        "--regexp",
        "--color",
        "--sort",
        "--iglob",
        "--replace",
        "--max-columns",
    ],
    has_numbers: true,
    ..NONE
};

/// Whether `tar` is told nothing but to list. Its `f` takes the next word, whatever that is, so no word behind may
/// look like an option, nor name another machine, which it would reach by starting a program.
pub(super) fn is_harmless_tar(arguments: &[String]) -> bool {
    let Some((letters, words)) = arguments.split_first() else { return false };
    let letters = letters.strip_prefix('-').unwrap_or(letters);
    let Some((archive, members)) = words.split_first() else { return false };
    matches!(letters, "tf" | "tvf" | "tzf" | "tzvf" | "tjf" | "tJf")
        && (archive == "-" || !archive.starts_with('-'))
        && !members.iter().any(|member| member.starts_with('-'))
        && !words.iter().any(|word| word.contains(':'))
}

/// Tests and actions of `find` that only look, without a value.
const FIND_ALONE: &[&str] = &[
    "-print",
    "-print0",
    "-ls",
    "-not",
    "!",
    "-a",
    "-and",
    "-o",
    "-or",
    "(",
    ")",
    ",",
    "-prune",
    "-quit",
    "-empty",
    "-true",
    "-false",
    "-readable",
    "-writable",
    "-executable",
    "-xdev",
    "-mount",
    "-depth",
    "-d",
    "-daystart",
    "-L",
    "-H",
    "-P",
    "-E",
    "-nouser",
    "-nogroup",
    "-follow",
    "-noleaf",
    "-ignore_readdir_race",
    "-warn",
    "-nowarn",
];
/// The same with a value.
const FIND_VALUED: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-maxdepth",
    "-mindepth",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-newermt",
    "-size",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-perm",
    "-links",
    "-inum",
    "-samefile",
    "-lname",
    "-ilname",
    "-fstype",
    "-used",
    "-printf",
];

/// Whether `find` is told nothing but to look.
pub(super) fn is_harmless_find(arguments: &[String]) -> bool {
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if FIND_VALUED.contains(&word) {
            if words.next().is_none_or(is_like_action) {
                return false;
            }
        } else if word.starts_with('-') && !FIND_ALONE.contains(&word) {
            return false;
        }
    }
    true
}

/// Whether a value looks like something else that `find` is told, so that it matters who counts values right.
fn is_like_action(value: &str) -> bool {
    value.strip_prefix('-').is_some_and(|rest| {
        rest.starts_with(|first: char| first.is_ascii_alphabetic()) && !rest.contains(['+', '='])
    })
}

const SED: Options = Options {
    letters: "nErsuz",
    valued: "e",
    words: &[
        "--quiet",
        "--silent",
        "--regexp-extended",
        "--separate",
        "--unbuffered",
        "--null-data",
        "--posix",
    ],
    valued_words: &["--expression"],
    ..NONE
};

/// Whether `sed` is told nothing but to print, leave out and replace.
pub(super) fn is_harmless_sed(arguments: &[String]) -> bool {
    let Ok(given) = SED.read(arguments, Order::Mixed) else { return false };
    let mut scripts: Vec<&str> = given
        .options
        .iter()
        .filter(|(name, _)| matches!(*name, "e" | "expression"))
        .filter_map(|(_, script)| *script)
        .collect();
    if scripts.is_empty() {
        scripts.extend(given.operands.first());
    }
    !scripts.is_empty() && scripts.into_iter().all(is_harmless_script)
}

/// Whether a script of `sed` is a single command of the simplest sort: `5,10p`, `$d`, `/x/d`, `s/a/b/g`.
fn is_harmless_script(script: &str) -> bool {
    let mut rest = script;
    for _ in 0..2 {
        rest = match address(rest) {
            Some(after) => after,
            None => return false,
        };
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None => break,
        }
    }
    match rest {
        "p" | "d" | "q" | "=" => true,
        _ => rest.strip_prefix('s').is_some_and(is_harmless_replacement),
    }
}

/// What follows an address, if there is one that can be read.
fn address(text: &str) -> Option<&str> {
    if let Some(after) = text.strip_prefix('$') {
        return Some(after);
    }
    if let Some(pattern) = text.strip_prefix('/') {
        let end = pattern.find(['/', '\\', '\n'])?;
        // Where a bracket is open, systems differ in where the pattern ends.
        return pattern[end..].strip_prefix('/').filter(|_| are_brackets_closed(&pattern[..end]));
    }
    Some(text.trim_start_matches(|character: char| character.is_ascii_digit()))
}

/// Whether each bracket of a pattern ends in it.
fn are_brackets_closed(mut pattern: &str) -> bool {
    while let Some((_, inside)) = pattern.split_once('[') {
        let Some(behind) = behind_bracket(inside) else { return false };
        pattern = behind;
    }
    true
}

/// What follows a bracket in which letters, digits and classes such as `[:space:]` stand.
fn behind_bracket(inside: &str) -> Option<&str> {
    let mut rest = inside.strip_prefix('^').unwrap_or(inside);
    // One that begins with its end goes on.
    if rest.starts_with(']') {
        return None;
    }
    loop {
        let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-_., ".contains(sign);
        rest = rest.trim_start_matches(is_plain);
        if let Some(behind) = rest.strip_prefix(']') {
            return Some(behind);
        }
        let (name, behind) = rest.strip_prefix("[:")?.split_once(":]")?;
        rest = name.bytes().all(|sign| sign.is_ascii_lowercase()).then_some(behind)?;
    }
}

/// Whether what follows `s` replaces and does nothing else. A `\` may hide the delimiter only before other signs.
fn is_harmless_replacement(text: &str) -> bool {
    let mut characters = text.chars();
    let Some(delimiter) = characters.next().filter(char::is_ascii_punctuation) else {
        return false;
    };
    if delimiter == '\\' {
        return false;
    }
    let mut parts = 0;
    while parts < 2 {
        match characters.next() {
            Some('\\') => match characters.next() {
                Some(escaped) if escaped != '\n' => {}
                _ => return false,
            },
            // A bracket may hold a delimiter that ends nothing.
            Some('[') if parts == 0 => return is_simple_bracket(text, delimiter),
            Some('\n') | None => return false,
            Some(character) if character == delimiter => parts += 1,
            Some(_) => {}
        }
    }
    characters.all(|flag| flag.is_ascii_digit() || "gpiI".contains(flag))
}

/// The same where brackets stand in the pattern: delimiters may then only be where they end a part.
fn is_simple_bracket(text: &str, delimiter: char) -> bool {
    let parts: Vec<&str> = text.split(delimiter).collect();
    parts.len() == 4
        && !text.contains(['\\', '\n'])
        && parts[3].chars().all(|flag| flag.is_ascii_digit() || "gpiI".contains(flag))
}
