//! Programs that few think of as starting others or writing where nobody would look.

use super::{Operands, Shape, Uses};
use crate::tables::options::{NONE, OptionSyntax, Options};

const fn of(options: Options, operands: Operands) -> Shape {
    Shape { first: &[], options, operands, is_for_folder: false }
}

/// Comparing three files. Not `--diff-program`.
const DIFF3: Options = Options { letters: "aAeEimTxX3", valued: "L", ..NONE };
/// Comparing side by side. Not `-o`, which starts an editor, nor `--diff-program`.
const SDIFF: Options = Options { letters: "siEbWBaltdH", valued: "wI", ..NONE };
const ICONV: Options = Options {
    letters: "cls",
    valued: "ft",
    words: &["--list", "--silent"],
    valued_words: &["--from-code", "--to-code"],
    ..NONE
};
/// Showing bytes. Not `-r`.
const XXD: Options =
    Options { letters: "abCeEipu", valued: "cglnos", syntax: OptionSyntax::OwnLeading, ..NONE };
const TREE: Options = Options {
    letters: "adfilxphDFrtcUsugnCAJXvNQ",
    valued: "LPI",
    // Of levels, versions read the digit behind `-L`, or end at it.
    words: &[
        "--noreport",
        "--dirsfirst",
        "--gitignore",
        "--prune",
        "-L1",
        "-L2",
        "-L3",
        "-L4",
        "-L5",
        "-L6",
        "-L7",
        "-L8",
        "-L9",
    ],
    syntax: OptionSyntax::Own,
    ..NONE
};
const XMLLINT: Options = Options {
    words: &["--noout", "--format", "--nonet", "--html", "--recover"],
    valued_words: &["--xpath"],
    syntax: OptionSyntax::Own,
    ..NONE
};

/// For a program that may not end its options at two dashes.
fn is_no_option(word: &str) -> bool {
    !word.starts_with('-')
}

pub(super) const USES: &[Uses] = &[
    Uses {
        names: &["diff3"],
        because: "with other options it runs programs",
        shapes: &[of(DIFF3, Operands::Any)],
    },
    Uses {
        names: &["sdiff"],
        because: "with other options it runs programs and overwrites files",
        shapes: &[of(SDIFF, Operands::Any)],
    },
    Uses {
        names: &["iconv"],
        because: "with other options it overwrites files",
        shapes: &[of(ICONV, Operands::Any)],
    },
    Uses {
        names: &["xxd"],
        because: "its second file is overwritten",
        shapes: &[of(XXD, Operands::AtMost(1))],
    },
    Uses {
        names: &["tree"],
        because: "with other options it overwrites files",
        shapes: &[of(TREE, Operands::Any)],
    },
    Uses {
        names: &["csplit", "gcsplit"],
        because: "it overwrites files, whose names its arguments do not say",
        shapes: &[],
    },
    Uses {
        names: &["xmllint"],
        because: "with other options it takes commands and overwrites files",
        shapes: &[of(XMLLINT, Operands::Like(is_no_option))],
    },
    Uses {
        names: &[
            "convert",
            "convert-im",
            "identify-im",
            "mogrify-im",
            "composite-im",
            "montage-im",
            "compare-im",
            "display-im",
            "import-im",
            "animate-im",
            "stream-im",
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
        because: "names, options and contents of files make it run programs, load code and overwrite files",
        shapes: &[],
    },
    Uses {
        names: &[
            "gpg",
            "gpg2",
            "gpgsm",
            "gpgconf",
            "gpgv",
            "gpg-connect-agent",
            "age",
            "pass",
            "gopass",
            "yt-dlp",
            "youtube-dl",
            "gallery-dl",
            "tcpdump",
            "tshark",
            "wireshark",
            "dumpcap",
            "ctags",
            "sendmail",
            "msmtp",
            "protoc",
            "bison",
            "yacc",
            "flex",
            "hugo",
            "jekyll",
            "git-shell",
            "git-upload-pack",
            "git-receive-pack",
            "git-upload-archive",
            "scalar",
        ],
        because: "its options can run programs, load code or overwrite files",
        shapes: &[],
    },
];
