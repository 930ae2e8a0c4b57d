//! Programs that show what files, archives and this machine hold, and can do more than that.

use super::{Checked, Operands, Shape, Uses, sqlite};
use crate::tables::options::{NONE, OptionSyntax, Options, Order};

const fn of(options: Options, operands: Operands) -> Shape {
    Shape { first: &[], options, operands, is_for_folder: false }
}

const fn after(first: &'static [&'static str], options: Options, operands: Operands) -> Shape {
    Shape { first, options, operands, is_for_folder: false }
}

/// Comparing. Not `-l`, which starts `pr`.
const DIFF: Options = Options {
    letters: "qscuenyptTrNiEZbwBad",
    valued: "CUWFxXSID",
    words: &[
        "--normal",
        "--brief",
        "--report-identical-files",
        "--ed",
        "--rcs",
        "--side-by-side",
        "--left-column",
        "--suppress-common-lines",
        "--show-c-function",
        "--expand-tabs",
        "--initial-tab",
        "--recursive",
        "--no-dereference",
        "--new-file",
        "--ignore-case",
        "--ignore-trailing-space",
        "--ignore-space-change",
        "--ignore-all-space",
        "--ignore-blank-lines",
        "--text",
        "--strip-trailing-cr",
        "--minimal",
        "--speed-large-files",
    ],
    valued_words: &[
        "--width",
        "--label",
        "--exclude",
        "--exclude-from",
        "--from-file",
        "--to-file",
        "--ignore-matching-lines",
        "--line-format",
        "--old-line-format",
        "--new-line-format",
        "--unchanged-line-format",
    ],
    optional_words: &["--context", "--unified", "--color"],
    ..NONE
};
/// What kind a file is. Not `-C`, which writes, `-m`, `-z`, which starts programs, and `-S`.
const FILE: Options = Options {
    letters: "bhikLlNnpr0",
    valued: "eFf",
    words: &[
        "--brief",
        "--mime",
        "--mime-type",
        "--mime-encoding",
        "--extension",
        "--dereference",
        "--no-dereference",
        "--keep-going",
        "--no-pad",
        "--raw",
        "--print0",
    ],
    valued_words: &["--exclude", "--separator", "--files-from"],
    ..NONE
};
/// Symbols. Not `--plugin`.
const NM: Options = Options {
    letters: "aABCDgjlnopPrSsuUWV",
    valued: "ft",
    words: &[
        "--debug-syms",
        "--print-file-name",
        "--no-demangle",
        "--dynamic",
        "--extern-only",
        "--line-numbers",
        "--numeric-sort",
        "--no-sort",
        "--portability",
        "--reverse-sort",
        "--print-size",
        "--size-sort",
        "--undefined-only",
        "--defined-only",
    ],
    valued_words: &["--format", "--radix"],
    optional_words: &["--demangle"],
    ..NONE
};
/// Objects. Not `--plugin`.
const OBJDUMP: Options = Options {
    letters: "afphxdDSsgGtTrRCwzlF",
    valued: "jMbm",
    words: &[
        "--file-headers",
        "--section-headers",
        "--headers",
        "--all-headers",
        "--disassemble",
        "--disassemble-all",
        "--syms",
        "--dynamic-syms",
        "--reloc",
        "--wide",
        "--no-show-raw-insn",
        "--line-numbers",
    ],
    valued_words: &["--section", "--start-address", "--stop-address", "--architecture"],
    optional_words: &["--demangle"],
    ..NONE
};
const READELF: Options = Options {
    letters: "ahlSgtesnrudVAcDLIWTC",
    valued: "xpR",
    words: &[
        "--all",
        "--file-header",
        "--program-headers",
        "--segments",
        "--section-headers",
        "--sections",
        "--headers",
        "--syms",
        "--symbols",
        "--dyn-syms",
        "--notes",
        "--relocs",
        "--dynamic",
        "--version-info",
        "--wide",
    ],
    valued_words: &["--hex-dump", "--string-dump"],
    optional_words: &["--demangle"],
    ..NONE
};
const SIZE: Options = Options {
    letters: "ABGodxtf",
    words: &["--totals", "--common"],
    valued_words: &["--format", "--radix"],
    ..NONE
};
const STRINGS: Options = Options {
    letters: "adfwo",
    valued: "nte",
    words: &["--all", "--data", "--print-file-name"],
    valued_words: &["--bytes", "--radix", "--encoding"],
    has_numbers: true,
    ..NONE
};
/// The name of this machine. An operand sets it, and so does `-F`.
const HOSTNAME: Options = Options {
    letters: "AdfiIsy",
    words: &["--fqdn", "--long", "--short", "--domain", "--ip-address", "--all-ip-addresses"],
    ..NONE
};
/// Sockets. Not `-K`, which closes them, `-D`, which writes, and `-N`.
const SS: Options = Options {
    letters: "nraloempTisbEHO460tMSuwx",
    valued: "f",
    words: &[
        "--numeric",
        "--all",
        "--listening",
        "--processes",
        "--summary",
        "--tcp",
        "--udp",
        "--unix",
        "--no-header",
        "--oneline",
        "--ipv4",
        "--ipv6",
    ],
    valued_words: &["--family"],
    ..NONE
};
/// Open files. `+m` and `-D` write.
const LSOF: Options = Options { letters: "nPtailUNRX", valued: "pucd", ..NONE };
/// Messages of the kernel. Not `-H`, which starts a pager, `-C`, `-n`, `-D` and `-E`.
const DMESG: Options = Options {
    letters: "Ttkxrdeu",
    valued: "lf",
    words: &["--ctime", "--notime", "--kernel", "--decode", "--reltime", "--nopager"],
    valued_words: &["--level", "--facility", "--since", "--until"],
    ..NONE
};
/// Looking into an archive. Not `-T`, which sets its date, nor `-P`, behind whose value it goes on reading letters.
const UNZIP_LIST: Options = Options { letters: "qCvaL", syntax: OptionSyntax::Own, ..NONE };
/// Packing, to standard output or beside the file. Not `-d`, which can make a file of any name.
const PACK: Options = Options {
    letters: "cfklnqrtvze",
    words: &["--stdout", "--force", "--keep", "--list", "--test", "--verbose", "--quiet", "--best"],
    has_numbers: true,
    ..NONE
};
/// Unpacking to standard output: nothing is written.
const UNPACK: Options = Options { letters: "dfknqv", has_numbers: true, ..NONE };
/// Listing and testing. Not `-d`: of several modes the last counts.
const TEST: Options = Options { letters: "fknqv", has_numbers: true, ..NONE };
/// YAML. Not `-i`, which overwrites, `-s`, which splits into files, and `-f`. Two programs have the name.
const YQ: Options = Options {
    letters: "rycnMCPjeN",
    valued: "op",
    words: &["--raw-output", "--yaml-output", "--compact-output", "--null-input", "--prettyPrint"],
    valued_words: &["--output-format", "--input-format", "--width"],
    ..NONE
};
/// Whether a program of binutils is given nothing but these options. It takes every word that begins with `@`, also
/// the value of an option, for a file of further options.
fn is_without_lists(options: &Options, arguments: &[String]) -> bool {
    !arguments.iter().any(|word| word.starts_with('@'))
        && options.read(arguments, Order::Mixed).is_ok()
}

/// Words that begin with a dash are options of these programs also behind `--`.
fn is_no_option(word: &str) -> bool {
    !word.starts_with('-')
}

/// What begins so is an option of `lsof`.
fn is_no_switch(word: &str) -> bool {
    !word.starts_with('+')
}

/// A file in the folder of the command or below, neither hidden nor of a skill: nothing looks there for orders.
pub(super) fn is_plain_relative(word: &str) -> bool {
    let is_ordering = |part: &str| {
        (part.starts_with('.') && part != ".")
            || part.eq_ignore_ascii_case("skills")
            || part.eq_ignore_ascii_case("SKILL.md")
    };
    !word.is_empty()
        && !word.starts_with(['/', '~', '-', '@'])
        && !word.contains(['|', ':', '%', '\\', '\n'])
        && !word.split('/').any(is_ordering)
}

const BINUTILS: &str = "with `--plugin` or a file of options it loads code";
const PACKERS: &str = "with other options it makes files of any name";

pub(super) const CHECKED: &[Checked] = &[
    Checked {
        names: &["nm"],
        because: BINUTILS,
        is_harmless: |arguments| is_without_lists(&NM, arguments),
    },
    Checked {
        names: &["objdump"],
        because: BINUTILS,
        is_harmless: |arguments| is_without_lists(&OBJDUMP, arguments),
    },
    Checked {
        names: &["readelf"],
        because: BINUTILS,
        is_harmless: |arguments| is_without_lists(&READELF, arguments),
    },
    Checked {
        names: &["size"],
        because: BINUTILS,
        is_harmless: |arguments| is_without_lists(&SIZE, arguments),
    },
    Checked {
        names: &["strings"],
        because: BINUTILS,
        is_harmless: |arguments| is_without_lists(&STRINGS, arguments),
    },
    Checked {
        names: &["sqlite3"],
        because: "unless it begins with `-safe -readonly` and has `-init /dev/null`, a database and SQL, it can run programs and write files",
        is_harmless: sqlite::is_harmless,
    },
];

pub(super) const USES: &[Uses] = &[
    Uses {
        names: &["diff", "gdiff"],
        because: "with `-l` it starts another program",
        shapes: &[of(DIFF, Operands::Any)],
    },
    Uses {
        names: &["file"],
        because: "with other options it writes files and starts programs that unpack",
        shapes: &[of(FILE, Operands::Any)],
    },
    Uses {
        names: &["hostname"],
        because: "with other arguments it changes the name of this machine",
        shapes: &[of(HOSTNAME, Operands::None)],
    },
    Uses {
        names: &["getconf"],
        because: "with other options it starts another program",
        shapes: &[of(Options { letters: "a", ..NONE }, Operands::AtMost(2))],
    },
    Uses {
        names: &["ss"],
        because: "with other options it closes sockets and writes files",
        shapes: &[of(SS, Operands::Any)],
    },
    Uses {
        names: &["lsof"],
        because: "with other options it writes files",
        shapes: &[of(LSOF, Operands::Like(is_no_switch))],
    },
    Uses {
        names: &["dmesg"],
        because: "with other options it starts a pager and deletes messages",
        shapes: &[of(DMESG, Operands::None)],
    },
    Uses {
        names: &["unzip"],
        because: "unless it only lists or prints, its archive decides which files are overwritten",
        shapes: &[
            after(&["-l"], UNZIP_LIST, Operands::Like(is_no_option)),
            after(&["-v"], UNZIP_LIST, Operands::Like(is_no_option)),
            after(&["-t"], UNZIP_LIST, Operands::Like(is_no_option)),
            after(&["-z"], UNZIP_LIST, Operands::Like(is_no_option)),
            after(&["-p"], UNZIP_LIST, Operands::Like(is_no_option)),
            after(&["-c"], UNZIP_LIST, Operands::Like(is_no_option)),
            after(&["-Z1"], NONE, Operands::Like(is_no_option)),
        ],
    },
    Uses {
        names: &["gzip", "bzip2", "xz", "lzma", "zstd"],
        because: PACKERS,
        shapes: &[
            of(PACK, Operands::Any),
            after(&["-dc"], UNPACK, Operands::Any),
            after(&["-cd"], UNPACK, Operands::Any),
        ],
    },
    Uses {
        names: &["gunzip", "bunzip2", "unxz", "unlzma", "unzstd"],
        because: PACKERS,
        shapes: &[
            after(&["-c"], UNPACK, Operands::Any),
            after(&["-t"], TEST, Operands::Any),
            after(&["-l"], TEST, Operands::Any),
        ],
    },
    Uses {
        names: &["yq"],
        because: "with other options it overwrites files",
        shapes: &[of(YQ, Operands::Any)],
    },
];
