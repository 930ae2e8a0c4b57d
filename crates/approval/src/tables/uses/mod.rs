//! Uses of programs that an entry covers without saying anything about arguments.
//!
//! Programs of `tables/harmless.rs` do what they are called, whatever their arguments are. These here can also start
//! others, load code or write where nobody would look, by an option or a word; for them only what is listed is
//! covered. Of a program in no table nothing is.

mod awk;
mod builders;
mod files;
mod forge;
mod git;
mod inspect;
mod media;
mod network;
mod others;
mod projects;
mod sqlite;
mod system;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use super::kinds::{self, Kind};
use super::options::{Options, Order};
use super::wrappers::inner_of;
use super::writers::writes;
use super::{harmless, scripts};
use crate::facts::Executable;

pub(super) use files::{INSTALL, SORT, SPLIT};
pub(super) use media::{FFMPEG, PANDOC, PDF};

/// What is known about a program.
pub(super) struct Uses {
    /// What it is called.
    names: &'static [&'static str],
    /// What else it can do, for a sentence.
    because: &'static str,
    /// Its harmless uses.
    shapes: &'static [Shape],
}

/// A harmless use.
pub(super) struct Shape {
    /// The words it begins with.
    first: &'static [&'static str],
    /// Options that may follow.
    options: Options,
    /// Operands that may follow.
    operands: Operands,
    /// Whether it is harmless only where a person named the folder.
    is_for_folder: bool,
}

/// Operands of a harmless use.
pub(super) enum Operands {
    /// Any.
    Any,
    /// None.
    None,
    /// So many at most.
    AtMost(usize),
    /// Those of which this is true.
    Like(fn(&str) -> bool),
    /// One, of which this is true.
    One(fn(&str) -> bool),
}

/// A program of which arguments are checked by a function of its own.
struct Checked {
    names: &'static [&'static str],
    because: &'static str,
    is_harmless: fn(&[String]) -> bool,
}

const TABLES: [&[Uses]; 10] = [
    git::USES,
    files::USES,
    network::USES,
    builders::USES,
    others::USES,
    system::USES,
    inspect::USES,
    media::USES,
    forge::USES,
    projects::USES,
];
const CHECKED: &[Checked] = &[
    Checked {
        names: &["awk", "gawk", "mawk", "nawk", "original-awk"],
        because: "its scripts can run programs and write files",
        is_harmless: awk::is_harmless,
    },
    Checked {
        names: &["curl"],
        because: "with other options it can read, send and overwrite files and load code",
        is_harmless: network::is_harmless_curl,
    },
    Checked {
        names: &["find", "gfind", "bfs"],
        because: "it can run programs and delete files",
        is_harmless: files::is_harmless_find,
    },
    Checked {
        names: &["sed", "gsed"],
        because: "its scripts can run programs and write files",
        is_harmless: files::is_harmless_sed,
    },
    Checked {
        names: &["tar", "gtar", "bsdtar", "star"],
        because: "unless it only lists, it can run programs and overwrite files",
        is_harmless: files::is_harmless_tar,
    },
];

/// Programs of which the version can be asked anywhere. Others read files of the folder even then, and let them choose
/// what runs: `mvn`, `yarn`, `cargo` where it is a proxy.
const VERSIONED: &[&str] = &[
    "python",
    "node",
    "nodejs",
    "ruby",
    "perl",
    "php",
    "java",
    "bash",
    "zsh",
    "git",
    "make",
    "gcc",
    "g++",
    "clang",
    "cmake",
    "tar",
    "curl",
    "wget",
    "docker",
    "podman",
    "sed",
    "find",
    "sort",
    "rsync",
    "less",
    "npm",
    "npm-cli.js",
    "rg",
    "fd",
];

/// What else a program can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Because {
    /// By what it is: the rest of a sentence about it.
    Kind(&'static str),
    /// In other uses: a sentence.
    Use(&'static str),
    /// No table describes it.
    Unknown,
}

impl Because {
    /// As a sentence about a program.
    pub(crate) fn about(self, name: &str) -> String {
        match self {
            Self::Kind(words) => format!("`{name}` {words}"),
            Self::Use(words) => words.to_owned(),
            Self::Unknown => {
                format!("no table says what the arguments of `{name}` can make it do")
            }
        }
    }

    /// Returns the same with what an entry must say to cover it.
    pub(crate) fn with_remedy(self, name: &str) -> String {
        let about = self.about(name);
        let remedy = if self.is_unknown() { "`--args` or `--any-arguments`" } else { "`--args`" };
        format!("{about}; it needs an entry with {remedy}")
    }

    /// Whether nothing at all is known about the program.
    pub(crate) fn is_unknown(self) -> bool {
        self == Self::Unknown || Some(self) == Kind::Script.words().map(Self::Kind)
    }
}

/// Why a use of a program is not covered by an entry that says nothing about arguments; none if it is.
pub(crate) fn uncovered(
    words: &[String],
    (program, kind): (&Executable, Kind),
    is_for_folder: bool,
) -> Option<Because> {
    let (word, arguments) = words.split_first()?;
    if matches!(kind, Kind::Script) {
        return kind.words().map(Because::Kind);
    }
    if matches!(arguments, [only] if only == "--version") && can_say_version(word, Some(program)) {
        return None;
    }
    if let Kind::Wrapper(wrapper) = kind
        && inner_of(wrapper, words) == Ok(None)
    {
        return None;
    }
    // Each name must be harmless, and the last, which says what the program really is, must be known.
    let mut is_described = false;
    for name in kinds::names(word, Some(program)) {
        let Some(known) = known_by(&name) else {
            if let Some(words) = kinds::by_name(&name).words() {
                return Some(Because::Kind(words));
            }
            is_described = harmless::is_harmless(&name);
            continue;
        };
        if !known.is_harmless(arguments, is_for_folder) {
            return Some(Because::Use(known.because()));
        }
        is_described = true;
    }
    let unknown = (kind.is_ordinary() && !is_described).then_some(Because::Unknown);
    let untold = Because::Use("where it writes cannot be told from its arguments");
    unknown.or_else(|| (!writes(words, program).is_told()).then_some(untold))
}

/// What a program can do beyond the uses that are known to be harmless; none if all of its uses are.
pub(crate) fn beyond(
    word: &str,
    program: Option<&Executable>,
    trusted_folders: &[PathBuf],
) -> Option<Because> {
    let kind = match program {
        Some(program) => scripts::kind_in(word, program, trusted_folders),
        None => kinds::kind_of(word, None),
    };
    if let Kind::Script = kind {
        return kind.words().map(Because::Kind);
    }
    let known = all_known(word, program).next().map(|known| Because::Use(known.because()));
    let reason = known.or_else(|| kind.words().map(Because::Kind));
    let last = kinds::names(word, program).pop();
    let is_harmless = last.is_some_and(|name| harmless::is_harmless(&name));
    reason.or((!is_harmless).then_some(Because::Unknown))
}

/// Whether there is any use of a program that an entry for its name covers.
pub(crate) fn has_covered_use(
    word: &str,
    program: Option<&Executable>,
    trusted_folders: &[PathBuf],
) -> bool {
    let Some(because) = beyond(word, program, trusted_folders) else { return true };
    let is_covered = |name: &str| match known_by(name) {
        Some(Known::Checked(_)) => true,
        Some(Known::Uses(uses)) => !uses.shapes.is_empty(),
        None => matches!(kinds::by_name(name), Kind::Ordinary | Kind::Wrapper(_)),
    };
    !because.is_unknown()
        && (can_say_version(word, program)
            || kinds::names(word, program).iter().all(|name| is_covered(name)))
}

/// Whether one of its names stands in the tables of uses.
pub(crate) fn has_row(word: &str, program: &Executable) -> bool {
    all_known(word, Some(program)).next().is_some()
}

/// Whether the tables describe a program by what it really is.
pub(crate) fn is_described(word: &str, program: &Executable) -> bool {
    let last = kinds::names(word, Some(program)).pop();
    last.is_some_and(|name| harmless::is_harmless(&name) || known_by(&name).is_some())
}

/// Whether a program runs what files of its folder say.
pub(crate) fn is_ordered_by_folder(word: &str, program: &Executable) -> bool {
    all_known(word, Some(program)).any(|known| match known {
        Known::Checked(_) => false,
        Known::Uses(uses) => uses.shapes.iter().any(|shape| shape.is_for_folder),
    })
}

/// Whether files of its folder decide what a program loads or runs, even if it only looks.
pub(crate) fn is_configured_by_folder(word: &str, program: &Executable) -> bool {
    is_ordered_by_folder(word, program) || is_git(word, program)
}

/// Whether a program is git.
pub(crate) fn is_git(word: &str, program: &Executable) -> bool {
    all_known(word, Some(program))
        .any(|known| matches!(known, Known::Uses(uses) if uses.names.contains(&"git")))
}

fn all_known<'a>(
    word: &'a str,
    program: Option<&'a Executable>,
) -> impl Iterator<Item = &'static Known> + 'a {
    kinds::names(word, program).into_iter().filter_map(|name| known_by(&name))
}

/// What is known by a name, in any of its forms.
fn known_by(name: &str) -> Option<&'static Known> {
    let lower = name.to_ascii_lowercase();
    kinds::forms(&lower).into_iter().find_map(|form| KNOWN.get(form))
}

/// What is known by a name.
enum Known {
    Checked(&'static Checked),
    Uses(&'static Uses),
}

static KNOWN: LazyLock<HashMap<&'static str, Known>> = LazyLock::new(|| {
    let checked =
        CHECKED.iter().chain(inspect::CHECKED).chain(media::CHECKED).flat_map(|checked| {
            checked.names.iter().map(move |name| (*name, Known::Checked(checked)))
        });
    let uses = TABLES
        .into_iter()
        .flatten()
        .flat_map(|uses| uses.names.iter().map(move |name| (*name, Known::Uses(uses))));
    checked.chain(uses).collect()
});

impl Known {
    fn is_harmless(&self, arguments: &[String], is_for_folder: bool) -> bool {
        match self {
            Self::Checked(checked) => (checked.is_harmless)(arguments),
            Self::Uses(uses) => uses.shapes.iter().any(|shape| shape.has(arguments, is_for_folder)),
        }
    }

    const fn because(&self) -> &'static str {
        match self {
            Self::Checked(checked) => checked.because,
            Self::Uses(uses) => uses.because,
        }
    }
}

/// All names, each as often as a table has it.
#[cfg(test)]
pub(super) fn all_names() -> impl Iterator<Item = &'static str> {
    let uses = TABLES.into_iter().flatten().flat_map(|uses| uses.names);
    let checked = CHECKED
        .iter()
        .chain(inspect::CHECKED)
        .chain(media::CHECKED)
        .flat_map(|checked| checked.names);
    uses.chain(checked).copied()
}

/// Whether a program says its version before it looks at anything else, by each name that means something.
fn can_say_version(word: &str, program: Option<&Executable>) -> bool {
    let names = kinds::names(word, program);
    let is_versioned = |name: &str| {
        let lower = name.to_ascii_lowercase();
        kinds::forms(&lower).iter().any(|form| VERSIONED.contains(form))
    };
    let means_nothing =
        |name: &str| kinds::kind_of(name, None).is_ordinary() && known_by(name).is_none();
    names.iter().all(|name| is_versioned(name) || means_nothing(name))
        && names.last().is_some_and(|name| is_versioned(name))
}

impl Shape {
    fn has(&self, arguments: &[String], is_for_folder: bool) -> bool {
        if self.is_for_folder && !is_for_folder {
            return false;
        }
        let begins = arguments.len() >= self.first.len()
            && self.first.iter().zip(arguments).all(|(first, argument)| first == argument);
        let Some(rest) = arguments.get(self.first.len()..).filter(|_| begins) else { return false };
        let Ok(given) = self.options.read(rest, Order::Mixed) else { return false };
        match self.operands {
            Operands::Any => true,
            Operands::None => given.operands.is_empty(),
            Operands::AtMost(most) => given.operands.len() <= most,
            Operands::Like(is_fine) => given.operands.iter().all(|operand| is_fine(operand)),
            Operands::One(is_fine) => matches!(given.operands[..], [only] if is_fine(only)),
        }
    }
}
