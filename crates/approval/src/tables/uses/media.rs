//! Programs for documents, pictures, sound and film: reading them, and writing new ones beside.
//!
//! What these write is a file of the folder of the command or below that is not hidden, and of a kind that no program
//! takes orders from. Where it is, and where links lead, is looked at as for all that is written (`tables::outputs`).

use super::inspect::is_plain_relative;
use super::{Checked, Operands, Shape, Uses};
use crate::tables::options::{NONE, OptionSyntax, Options, Order};

const fn of(options: Options, operands: Operands) -> Shape {
    Shape { first: &[], options, operands, is_for_folder: false }
}

/// Words of the programs of poppler without a value. None of them writes or runs anything by itself.
const PDF_WORDS: &[&str] = &[
    "-layout",
    "-raw",
    "-nodiag",
    "-htmlmeta",
    "-tsv",
    "-listenc",
    "-nopgbrk",
    "-bbox",
    "-bbox-layout",
    "-cropbox",
    "-box",
    "-meta",
    "-custom",
    "-js",
    "-struct",
    "-struct-text",
    "-isodates",
    "-rawdates",
    "-dests",
    "-url",
    "-singlefile",
    "-mono",
    "-gray",
    "-png",
    "-jpeg",
    "-tiff",
    "-forcenum",
    "-progress",
    "-list",
    "-all",
    "-subst",
    "-q",
    "-p",
    "-j",
];
const PDF_VALUED: &[&str] = &[
    "-f",
    "-l",
    "-r",
    "-rx",
    "-ry",
    "-x",
    "-y",
    "-W",
    "-H",
    "-enc",
    "-eol",
    "-upw",
    "-opw",
    "-scale-to",
    "-scale-to-x",
    "-scale-to-y",
    "-fixed",
];
/// Reading a document. What it makes of it goes to standard output, or to a file of the folder.
pub(in crate::tables) const PDF: Options =
    Options { words: PDF_WORDS, valued_words: PDF_VALUED, syntax: OptionSyntax::Own, ..NONE };
/// Looking at a recording.
const FFPROBE: Options = Options {
    words: &[
        "-hide_banner",
        "-show_format",
        "-show_streams",
        "-show_chapters",
        "-count_frames",
        "-count_packets",
        "-pretty",
    ],
    valued_words: &[
        "-v",
        "-loglevel",
        "-show_entries",
        "-select_streams",
        "-of",
        "-print_format",
        "-i",
    ],
    syntax: OptionSyntax::Own,
    ..NONE
};
/// Converting a recording. No filter that loads code, no other protocol, no list of files.
pub(in crate::tables) const FFMPEG: Options = Options {
    words: &["-y", "-n", "-hide_banner", "-nostdin", "-vn", "-an", "-sn", "-nostats", "-shortest"],
    valued_words: &[
        "-i",
        "-ss",
        "-to",
        "-t",
        "-c",
        "-c:v",
        "-c:a",
        "-codec",
        "-vcodec",
        "-acodec",
        "-b:v",
        "-b:a",
        "-q:v",
        "-q:a",
        "-r",
        "-s",
        "-ar",
        "-ac",
        "-crf",
        "-preset",
        "-pix_fmt",
        "-vframes",
        "-frames:v",
        "-map",
        "-movflags",
        "-threads",
        "-v",
        "-loglevel",
        "-vf",
        "-af",
    ],
    syntax: OptionSyntax::Own,
    ..NONE
};
pub(in crate::tables) const PANDOC: Options = Options {
    letters: "sN",
    valued: "ftrwo",
    words: &["--standalone", "--toc", "--table-of-contents", "--number-sections"],
    valued_words: &["--from", "--to", "--output", "--wrap", "--columns", "--toc-depth"],
    ..NONE
};

/// Filters of `ffmpeg` that take numbers and words, and neither files nor libraries.
const FILM_FILTERS: &[&str] = &[
    "scale",
    "fps",
    "crop",
    "transpose",
    "format",
    "hflip",
    "vflip",
    "pad",
    "setpts",
    "thumbnail",
    "tile",
    "volume",
    "atempo",
    "aresample",
    "afade",
    "fade",
];
/// What names of new recordings and pictures end with.
const MEDIA: &[&str] = &[
    "mp4", "m4a", "m4v", "mkv", "webm", "mov", "avi", "mp3", "wav", "flac", "ogg", "opus", "aac",
    "gif", "png", "jpg", "jpeg", "webp",
];
/// What names of new documents end with.
const DOCUMENTS: &[&str] =
    &["html", "htm", "md", "txt", "rst", "docx", "odt", "epub", "pptx", "tex"];

/// A file that is read: no protocol, no pipe, no list.
fn is_plain_input(word: &str) -> bool {
    !word.is_empty() && !word.starts_with(['-', '@']) && !word.contains([':', '|', '%', '\n'])
}

/// A document or its text in the folder, or standard output.
fn is_page_file(word: &str) -> bool {
    word == "-" || is_new_file(word, &["pdf", "txt", "html", "tsv"])
}

fn is_new_file(word: &str, endings: &[&str]) -> bool {
    let ending = word.rsplit_once('.').map(|(_, ending)| ending);
    is_plain_relative(word) && ending.is_some_and(|ending| endings.contains(&ending))
}

/// Whether `ffmpeg` is told nothing but to convert files into files of the folder.
fn is_harmless_ffmpeg(arguments: &[String]) -> bool {
    let Ok(given) = FFMPEG.read(arguments, Order::Mixed) else { return false };
    let are_values_plain = given.options.iter().all(|(name, value)| match (*name, value) {
        ("i", Some(input)) => is_plain_input(input),
        ("vf" | "af", Some(filters)) => filters.split(',').all(is_plain_filter),
        (_, Some(value)) => !value.contains(['/', '|']),
        (_, None) => true,
    });
    are_values_plain && given.operands.iter().all(|output| is_new_file(output, MEDIA))
}

/// Whether a filter is one of the list, with numbers and words.
fn is_plain_filter(filter: &str) -> bool {
    let (name, values) = filter.split_once('=').unwrap_or((filter, ""));
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || ":=._*/()+-".contains(sign);
    FILM_FILTERS.contains(&name) && values.chars().all(is_plain)
}

/// Whether `ffprobe` is told nothing but to look at files.
fn is_harmless_ffprobe(arguments: &[String]) -> bool {
    let Ok(given) = FFPROBE.read(arguments, Order::Mixed) else { return false };
    let inputs = given.options.iter().filter(|(name, _)| *name == "i");
    let mut inputs = inputs.filter_map(|(_, input)| *input).chain(given.operands.iter().copied());
    inputs.all(is_plain_input)
}

/// Whether `pandoc` is told nothing but to convert. A format with a dot would be a script.
fn is_harmless_pandoc(arguments: &[String]) -> bool {
    let Ok(given) = PANDOC.read(arguments, Order::Mixed) else { return false };
    let is_format = |value: &str| {
        value.chars().all(|sign| sign.is_ascii_alphanumeric() || "+-_".contains(sign))
            && !matches!(value, "pdf" | "chunkedhtml")
    };
    let are_values_plain = given.options.iter().all(|(name, value)| match (*name, value) {
        ("o" | "output", Some(output)) => is_new_file(output, DOCUMENTS),
        (_, Some(value)) => is_format(value),
        (_, None) => true,
    });
    // These are no files but subcommands, which run scripts and answer over the network.
    let is_file = |input: &&str| is_plain_input(input) && !matches!(*input, "lua" | "server");
    are_values_plain && given.operands.iter().all(is_file)
}

pub(super) const CHECKED: &[Checked] = &[
    Checked {
        names: &["ffmpeg"],
        because: "with other options it loads code, reads lists of files and overwrites files",
        is_harmless: is_harmless_ffmpeg,
    },
    Checked {
        names: &["ffprobe"],
        because: "with other options it loads code and reads from elsewhere",
        is_harmless: is_harmless_ffprobe,
    },
    Checked {
        names: &["pandoc"],
        because: "with other options it runs filters, scripts and other programs",
        is_harmless: is_harmless_pandoc,
    },
];

pub(super) const USES: &[Uses] = &[
    Uses {
        names: &["pdfinfo", "pdffonts"],
        because: "with other options it is not known what it does",
        shapes: &[of(PDF, Operands::Like(is_plain_input))],
    },
    Uses {
        names: &["pdftotext", "pdfunite"],
        because: "with other options or files it overwrites what is elsewhere",
        shapes: &[of(PDF, Operands::Like(is_page_file))],
    },
    Uses {
        names: &["pdftoppm", "pdfimages"],
        because: "with other options or files it overwrites what is elsewhere",
        shapes: &[of(PDF, Operands::Like(is_plain_relative))],
    },
    Uses {
        names: &["pandoc-lua", "pandoc-server"],
        because: "it runs scripts, or answers over the network",
        shapes: &[],
    },
];
