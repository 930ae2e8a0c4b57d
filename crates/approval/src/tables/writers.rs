//! Programs that write files, and where: from their arguments alone.
//!
//! A program of this table whose arguments do not say where it writes is not covered by an entry without
//! arguments. What is made of a destination (links, folders, protected places) is decided in `judge::destination`.

use super::kinds;
use super::options::{Given, NONE, OptionSyntax, Options, Order};
use super::outputs::OUTPUTS;
use super::packers::PACKERS;
use crate::facts::Executable;

/// What a program with its arguments writes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// Nothing that this table knows of.
    Unknown,
    /// Somewhere, but its arguments do not say where.
    Untold,
    /// To these destinations and no others.
    To(Vec<Destination>),
}

/// A place that a program writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    /// As it is written, seen from the folder of the program.
    pub(crate) path: String,
    /// How much of it is written.
    pub(crate) extent: Extent,
}

/// How much of a destination is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The file itself.
    File,
    /// A file that is made empty if it is not there, and whose times change.
    Touched,
    /// A folder that is made.
    Folder,
    /// A file or folder whose rights or owner change.
    Rights,
    /// The same, with everything below it.
    AllRights,
    /// A file that is removed.
    Gone,
    /// A folder that is removed once it is empty.
    GoneFolder,
    /// What is removed or moved away with everything below it.
    GoneTree,
    /// Files whose names begin so and go on in a way that the arguments do not say.
    Beginning,
    /// A file of this name in it if it is a folder, else it.
    Into {
        /// The name of the source.
        name: String,
        /// What the source may be.
        source: Source,
    },
    /// It, whatever is there.
    Itself(Source),
    /// Nothing of it: it is read, and copied or linked.
    Nothing,
    /// Whatever is written by the link that is made to it.
    LinkTarget,
    /// The same, where the link is another name of the file.
    HardLink,
}

/// What is put into a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// One file.
    File,
    /// A file, a folder or a link, which is moved and never joined with what is there.
    Moved,
    /// A link.
    Link,
    /// A folder with everything in it, which may be joined with what is there.
    Copied,
}

/// A program that writes.
pub(super) struct Writer {
    pub(super) names: &'static [&'static str],
    pub(super) options: Options,
    pub(super) write: fn(&Given<'_>) -> Option<Vec<Destination>>,
}

impl Writes {
    /// Whether each file that is written is known by its name.
    pub(super) fn is_told(&self) -> bool {
        match self {
            Self::Unknown => true,
            Self::Untold => false,
            Self::To(written) => written.iter().all(|it| it.extent != Extent::Beginning),
        }
    }
}

const COPY: Options = Options {
    letters: "adfHiLnPprRTuvx",
    valued: "t",
    words: &[
        "--archive",
        "--dereference",
        "--force",
        "--interactive",
        "--no-clobber",
        "--no-dereference",
        "--no-target-directory",
        "--one-file-system",
        "--recursive",
        "--verbose",
    ],
    valued_words: &["--target-directory"],
    optional_words: &["--preserve", "--reflink", "--update"],
    ..NONE
};
const MOVE: Options = Options {
    letters: "finTuv",
    valued: "t",
    words: &["--force", "--interactive", "--no-clobber", "--no-target-directory", "--verbose"],
    valued_words: &["--target-directory"],
    optional_words: &["--update"],
    ..NONE
};
const LINK: Options = Options {
    letters: "finsTvLP",
    valued: "t",
    words: &[
        "--force",
        "--interactive",
        "--no-dereference",
        "--no-target-directory",
        "--symbolic",
        "--verbose",
    ],
    valued_words: &["--target-directory"],
    ..NONE
};
const REMOVE: Options = Options {
    letters: "dfiIrRv",
    words: &["--dir", "--force", "--recursive", "--verbose", "--one-file-system"],
    optional_words: &["--interactive", "--preserve-root"],
    ..NONE
};
const TOUCH: Options = Options {
    letters: "acfhm",
    valued: "drt",
    words: &["--no-create", "--no-dereference"],
    valued_words: &["--date", "--reference", "--time"],
    ..NONE
};
const FOLDER: Options = Options {
    letters: "pvZ",
    valued: "m",
    words: &["--ignore-fail-on-non-empty", "--parents", "--verbose"],
    valued_words: &["--mode"],
    ..NONE
};
const WRITERS: &[Writer] = &[
    Writer {
        names: &["tee", "gtee", "sponge"],
        options: Options {
            letters: "aip",
            words: &["--append", "--ignore-interrupts"],
            optional_words: &["--output-error"],
            ..NONE
        },
        write: each_file,
    },
    Writer { names: &["cp", "gcp"], options: COPY, write: copy },
    Writer { names: &["mv", "gmv"], options: MOVE, write: shift },
    Writer { names: &["ln", "gln", "link"], options: LINK, write: link },
    Writer { names: &["rm", "grm", "unlink", "shred", "gshred"], options: REMOVE, write: remove },
    Writer { names: &["install", "ginstall"], options: super::uses::INSTALL, write: install },
    Writer {
        names: &["truncate", "gtruncate"],
        options: Options {
            letters: "co",
            valued: "rs",
            words: &["--io-blocks", "--no-create"],
            valued_words: &["--reference", "--size"],
            ..NONE
        },
        write: each_file,
    },
    Writer {
        names: &["touch", "gtouch"],
        options: TOUCH,
        write: |given| Some(each(given, &Extent::Touched)),
    },
    Writer {
        names: &["mkdir", "gmkdir"],
        options: FOLDER,
        write: |given| Some(each(given, &Extent::Folder)),
    },
    Writer {
        names: &["rmdir", "grmdir"],
        options: FOLDER,
        write: |given| Some(each(given, &Extent::GoneFolder)),
    },
    Writer {
        names: &["mkfifo", "gmkfifo"],
        options: Options { valued: "m", valued_words: &["--mode"], ..NONE },
        write: each_file,
    },
    Writer { names: &["dd", "gdd"], options: NONE, write: convert },
    Writer {
        names: &["xxd"],
        options: Options {
            letters: "abCdeEipruv",
            valued: "cglnos",
            words: &["-ps", "-plain", "-revert"],
            syntax: OptionSyntax::OwnLeading,
            ..NONE
        },
        write: |given| Some(given.operands.iter().skip(1).map(|path| file(path)).collect()),
    },
];

/// Returns what a program with its arguments writes.
pub(crate) fn writes(words: &[String], program: &Executable) -> Writes {
    let Some((word, arguments)) = words.split_first() else { return Writes::Unknown };
    let mut known = None;
    for name in kinds::names(word, Some(program)) {
        let lower = name.to_ascii_lowercase();
        let forms = kinds::forms(&lower);
        known = known.or_else(|| {
            WRITERS
                .iter()
                .chain(PACKERS)
                .chain(OUTPUTS)
                .find(|writer| forms.iter().any(|form| writer.names.contains(form)))
        });
    }
    let Some(writer) = known else { return Writes::Unknown };
    if matches!(arguments, [only] if only == "--version" || only == "--help") {
        return Writes::To(Vec::new());
    }
    let given = writer.options.read(arguments, Order::Mixed).ok();
    given.and_then(|given| (writer.write)(&given)).map_or(Writes::Untold, Writes::To)
}

pub(super) fn file(path: &str) -> Destination {
    Destination { path: path.to_owned(), extent: Extent::File }
}

pub(super) fn each(given: &Given<'_>, extent: &Extent) -> Vec<Destination> {
    let to = |path: &&str| Destination { path: (*path).to_owned(), extent: extent.clone() };
    given.operands.iter().map(to).collect()
}

pub(super) fn each_file(given: &Given<'_>) -> Option<Vec<Destination>> {
    Some(each(given, &Extent::File))
}

pub(super) fn has(given: &Given<'_>, names: &[&str]) -> bool {
    given.options.iter().any(|(name, _)| names.contains(name))
}

/// Sources, and the folder or file that they go to.
fn sources_and_target<'a>(given: &Given<'a>) -> Option<(Vec<&'a str>, &'a str)> {
    let mut named =
        given.options.iter().filter(|(name, _)| matches!(*name, "t" | "target-directory"));
    match named.next_back() {
        Some((_, target)) => Some((given.operands.clone(), (*target)?)),
        None => {
            let (target, sources) = given.operands.split_last()?;
            (!sources.is_empty()).then(|| (sources.to_vec(), *target))
        }
    }
}

/// A destination for each source, and the sources themselves; none where the name that a source gets is not its own.
fn placed(
    given: &Given<'_>,
    sources: &[&str],
    target: &str,
    source: Source,
) -> Option<Vec<Destination>> {
    let to = |extent| Destination { path: target.to_owned(), extent };
    let place = |path: &&str| {
        let name = path.trim_end_matches('/').rsplit('/').next()?;
        // What is in `.` goes into the target itself.
        let is_content = name == "." && source == Source::Copied;
        if is_content || has(given, &["T", "no-target-directory"]) {
            return Some(to(Extent::Itself(source)));
        }
        // Of a link, what it leads to decides.
        let is_name = !matches!(name, "" | "." | "..") || source == Source::Link;
        is_name.then(|| to(Extent::Into { name: name.to_owned(), source }))
    };
    let mut written: Vec<Destination> = sources.iter().map(place).collect::<Option<_>>()?;
    let read = |path: &&str| Destination { path: (*path).to_owned(), extent: Extent::Nothing };
    written.extend(sources.iter().map(read));
    Some(written)
}

fn copy(given: &Given<'_>) -> Option<Vec<Destination>> {
    let (sources, target) = sources_and_target(given)?;
    let is_recursive = has(given, &["a", "r", "R", "archive", "recursive"]);
    let keeps_links = has(given, &["d", "P", "no-dereference"]);
    let source = match (is_recursive, keeps_links) {
        (true, _) => Source::Copied,
        (false, true) => Source::Link,
        (false, false) => Source::File,
    };
    placed(given, &sources, target, source)
}

fn shift(given: &Given<'_>) -> Option<Vec<Destination>> {
    let (sources, target) = sources_and_target(given)?;
    let mut written = placed(given, &sources, target, Source::Moved)?;
    let gone = |path: &&str| Destination { path: (*path).to_owned(), extent: Extent::GoneTree };
    written.extend(sources.iter().map(gone));
    Some(written)
}

fn link(given: &Given<'_>) -> Option<Vec<Destination>> {
    // One operand alone is linked to by its own name, in the folder.
    let (sources, target) = match given.operands.as_slice() {
        [only] if !has(given, &["t", "target-directory"]) => (vec![*only], "."),
        _ => sources_and_target(given)?,
    };
    let mut written = placed(given, &sources, target, Source::Link)?;
    if has(given, &["n", "no-dereference"]) {
        // A link to a folder is replaced, and a folder is not.
        let extent = Extent::Itself(Source::Link);
        written.push(Destination { path: target.to_owned(), extent });
    }
    let is_symbolic = has(given, &["s", "symbolic"]);
    for source in sources {
        // What a symbolic link says is seen from the link.
        let is_seen_from_link = is_symbolic && !source.starts_with('/');
        let folder = match target.trim_end_matches('/').rsplit_once('/') {
            Some((folder, _)) => folder,
            None => ".",
        };
        if is_seen_from_link {
            for base in [folder, target] {
                let path = format!("{base}/{source}");
                written.push(Destination { path, extent: Extent::LinkTarget });
            }
        } else {
            let extent = if is_symbolic { Extent::LinkTarget } else { Extent::HardLink };
            written.push(Destination { path: source.to_owned(), extent });
        }
    }
    Some(written)
}

fn remove(given: &Given<'_>) -> Option<Vec<Destination>> {
    let is_recursive = has(given, &["r", "R", "recursive"]);
    Some(each(given, if is_recursive { &Extent::GoneTree } else { &Extent::Gone }))
}

fn install(given: &Given<'_>) -> Option<Vec<Destination>> {
    if has(given, &["d", "directory"]) {
        return Some(each(given, &Extent::Folder));
    }
    let (sources, target) = sources_and_target(given)?;
    placed(given, &sources, target, Source::File)
}

fn convert(given: &Given<'_>) -> Option<Vec<Destination>> {
    let mut written = Vec::new();
    for operand in &given.operands {
        match operand.split_once('=')? {
            ("of", path) => written.push(file(path)),
            (
                "if" | "bs" | "cbs" | "count" | "conv" | "ibs" | "iflag" | "obs" | "oflag" | "seek"
                | "skip" | "status",
                _,
            ) => {}
            _ => return None,
        }
    }
    Some(written)
}
