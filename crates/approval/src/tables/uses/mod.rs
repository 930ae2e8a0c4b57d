//! Uses of programs that an entry covers without saying anything about arguments.
//!
//! Most programs do what they are called, and whoever allows them allows that. These here can also start others,
//! load code or write where nobody would look, by an option or a word; for them only what is listed is covered.

mod builders;
mod files;
mod git;
mod network;
mod others;
mod system;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::kinds::{self, Kind};
use super::options::{Options, Order};
use super::wrappers::inner_of;
use crate::facts::Executable;

pub(super) use files::SORT;

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
}

/// A program of which arguments are checked by a function of its own.
struct Checked {
    names: &'static [&'static str],
    because: &'static str,
    is_harmless: fn(&[String]) -> bool,
}

const TABLES: [&[Uses]; 6] =
    [git::USES, files::USES, network::USES, builders::USES, others::USES, system::USES];
const CHECKED: &[Checked] = &[
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
    Checked {
        names: &[
            "convert",
            "magick",
            "identify",
            "mogrify",
            "composite",
            "montage",
            "compare",
            "display",
            "import",
            "animate",
            "stream",
            "sox",
            "soxi",
            "play",
            "rec",
        ],
        because: "some names of files make it run programs, load code or read scripts",
        is_harmless: others::are_plain_files,
    },
];

/// Programs of which the version can be asked anywhere. Others read files of the folder even then, and let them choose
/// what runs: `mvn`, `yarn`, `cargo` where it is a proxy.
const VERSIONED: &[&str] = &[
    "python", "node", "nodejs", "ruby", "perl", "php", "java", "bash", "zsh", "git", "make", "gcc",
    "g++", "clang", "cmake", "tar", "curl", "wget", "docker", "podman", "sed", "find", "sort",
    "rsync", "less", "npm", "rg", "fd",
];

/// What else a program can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Because {
    /// By what it is: the rest of a sentence about it.
    Kind(&'static str),
    /// In other uses: a sentence.
    Use(&'static str),
}

impl Because {
    /// As a sentence about a program.
    pub(crate) fn about(self, name: &str) -> String {
        match self {
            Self::Kind(words) => format!("`{name}` {words}"),
            Self::Use(words) => words.to_owned(),
        }
    }
}

/// Why a use of a program is not covered by an entry that says nothing about arguments; none if it is.
pub(crate) fn uncovered(
    words: &[String],
    (program, kind): (&Executable, Kind),
    is_for_folder: bool,
) -> Option<Because> {
    let (word, arguments) = words.split_first()?;
    if matches!(arguments, [only] if only == "--version") && can_say_version(word, program) {
        return None;
    }
    if let Kind::Wrapper(wrapper) = kind
        && inner_of(wrapper, words) == Ok(None)
    {
        return None;
    }
    let mut reason = kind.words().map(Because::Kind);
    for name in kinds::names(word, Some(program)) {
        let lower = name.to_ascii_lowercase();
        let Some(known) = kinds::forms(&lower).into_iter().find_map(|form| KNOWN.get(form)) else {
            continue;
        };
        let is_harmless = match known {
            Known::Checked(checked) => (checked.is_harmless)(arguments),
            Known::Uses(uses) => {
                uses.shapes.iter().any(|shape| shape.has(arguments, is_for_folder))
            }
        };
        if !is_harmless {
            return Some(Because::Use(known.because()));
        }
        reason = None;
    }
    reason
}

/// What a program can do beyond the uses that are known to be harmless; none if all of its uses are.
pub(crate) fn beyond(word: &str, program: &Executable) -> Option<Because> {
    let known = all_known(word, program).next().map(|known| Because::Use(known.because()));
    known.or_else(|| kinds::kind_of(word, Some(program)).words().map(Because::Kind))
}

/// Whether a program runs what files of its folder say.
pub(crate) fn is_ordered_by_folder(word: &str, program: &Executable) -> bool {
    all_known(word, program).any(|known| match known {
        Known::Checked(_) => false,
        Known::Uses(uses) => uses.shapes.iter().any(|shape| shape.is_for_folder),
    })
}

/// Whether files of its folder decide what a program loads or runs, even if it only looks.
pub(crate) fn is_configured_by_folder(word: &str, program: &Executable) -> bool {
    is_ordered_by_folder(word, program)
        || all_known(word, program)
            .any(|known| matches!(known, Known::Uses(uses) if uses.names.contains(&"git")))
}

fn all_known<'a>(
    word: &'a str,
    program: &'a Executable,
) -> impl Iterator<Item = &'static Known> + 'a {
    kinds::names(word, Some(program)).into_iter().filter_map(|name| {
        let lower = name.to_ascii_lowercase();
        kinds::forms(&lower).into_iter().find_map(|form| KNOWN.get(form))
    })
}

/// What is known by a name.
enum Known {
    Checked(&'static Checked),
    Uses(&'static Uses),
}

static KNOWN: LazyLock<HashMap<&'static str, Known>> = LazyLock::new(|| {
    let checked = CHECKED
        .iter()
        .flat_map(|checked| checked.names.iter().map(move |name| (*name, Known::Checked(checked))));
    let uses = TABLES
        .into_iter()
        .flatten()
        .flat_map(|uses| uses.names.iter().map(move |name| (*name, Known::Uses(uses))));
    checked.chain(uses).collect()
});

impl Known {
    const fn because(&self) -> &'static str {
        match self {
            Self::Checked(checked) => checked.because,
            Self::Uses(uses) => uses.because,
        }
    }
}

/// Whether a program says its version before it looks at anything else, by each name that means something.
fn can_say_version(word: &str, program: &Executable) -> bool {
    kinds::names(word, Some(program)).iter().all(|name| {
        let lower = name.to_ascii_lowercase();
        let is_known = |form: &&str| KNOWN.contains_key(form);
        kinds::forms(&lower).iter().any(|form| VERSIONED.contains(form))
            || (kinds::kind_of(name, None).is_ordinary()
                && !kinds::forms(&lower).iter().any(is_known))
    })
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
        }
    }
}
