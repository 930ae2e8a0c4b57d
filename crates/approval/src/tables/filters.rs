//! Programs that only turn what comes in into what goes out, and the arguments with which they do.
//!
//! As a filter a program reads what is piped into it. Files are for whoever has an entry.

use super::options::{NONE, Options, Order};

/// A program that can be a filter.
struct Filter {
    name: &'static str,
    options: Options,
    operands: Operands,
}

/// What the operands of a filter are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// Files; only `-` is none.
    Files,
    /// Text, so many at most.
    Text(usize),
    /// A pattern, unless an option has one; then files.
    Pattern,
    /// A format that begins with `+`.
    Format,
}

/// Why arguments are not those of a filter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault<'a> {
    /// An option that is not known to be harmless.
    Option(&'a str),
    /// An operand that is a file, or does something.
    Operand(&'a str),
    /// Operands are missing.
    Missing,
}

const FILTERS: &[Filter] = &[
    Filter {
        name: "cut",
        options: Options {
            letters: "nswz",
            valued: "bcdf",
            words: &["--complement", "--only-delimited", "--zero-terminated"],
            valued_words: &[
                "--bytes",
                "--characters",
                "--delimiter",
                "--fields",
                "--output-delimiter",
            ],
            ..NONE
        },
        operands: Operands::Files,
    },
    Filter {
        name: "uniq",
        options: Options {
            letters: "cdDiuz",
            valued: "fsw",
            words: &["--count", "--repeated", "--ignore-case", "--unique", "--zero-terminated"],
            valued_words: &["--skip-fields", "--skip-chars", "--check-chars"],
            optional_words: &["--all-repeated", "--group"],
            has_numbers: true,
            ..NONE
        },
        operands: Operands::Files,
    },
    Filter {
        name: "head",
        options: Options {
            letters: "qvz",
            valued: "cn",
            words: &["--quiet", "--silent", "--verbose", "--zero-terminated"],
            valued_words: &["--bytes", "--lines"],
            has_numbers: true,
            ..NONE
        },
        operands: Operands::Files,
    },
    Filter {
        name: "tail",
        options: Options {
            letters: "qvzr",
            valued: "cn",
            words: &["--quiet", "--silent", "--verbose", "--zero-terminated"],
            valued_words: &["--bytes", "--lines"],
            has_numbers: true,
            ..NONE
        },
        operands: Operands::Files,
    },
    Filter {
        name: "tr",
        options: Options {
            letters: "cCdstu",
            words: &["--complement", "--delete", "--squeeze-repeats", "--truncate-set1"],
            ..NONE
        },
        operands: Operands::Text(2),
    },
    Filter {
        name: "wc",
        options: Options {
            letters: "clmwL",
            words: &["--bytes", "--chars", "--lines", "--words", "--max-line-length"],
            valued_words: &["--total"],
            ..NONE
        },
        operands: Operands::Files,
    },
    Filter { name: "sort", options: super::uses::SORT, operands: Operands::Files },
    Filter {
        name: "grep",
        options: Options {
            letters: "EFGPivwxcnolLqhHsbzyaUI",
            valued: "eABCm",
            words: &[
                "--extended-regexp",
                "--fixed-strings",
                "--basic-regexp",
                "--perl-regexp",
                "--ignore-case",
                "--no-ignore-case",
                "--invert-match",
                "--word-regexp",
                "--line-regexp",
                "--count",
                "--line-number",
                "--only-matching",
                "--files-with-matches",
                "--files-without-match",
                "--quiet",
                "--silent",
                "--no-filename",
                "--with-filename",
                "--no-messages",
                "--byte-offset",
                "--null-data",
                "--text",
                "--null",
                "--line-buffered",
                "--initial-tab",
            ],
            valued_words: &[
                "--regexp",
                "--after-context",
                "--before-context",
                "--context",
                "--max-count",
                "--label",
                "--binary-files",
            ],
            optional_words: &["--color", "--colour"],
            has_numbers: true,
            ..NONE
        },
        operands: Operands::Pattern,
    },
    Filter {
        name: "cat",
        options: Options {
            letters: "AbeEnstTuv",
            words: &[
                "--show-all",
                "--number-nonblank",
                "--show-ends",
                "--number",
                "--squeeze-blank",
                "--show-tabs",
                "--show-nonprinting",
            ],
            ..NONE
        },
        operands: Operands::Files,
    },
    Filter {
        name: "basename",
        options: Options {
            letters: "az",
            valued: "s",
            words: &["--multiple", "--zero"],
            valued_words: &["--suffix"],
            ..NONE
        },
        operands: Operands::Text(usize::MAX),
    },
    Filter {
        name: "dirname",
        options: Options { letters: "z", words: &["--zero"], ..NONE },
        operands: Operands::Text(usize::MAX),
    },
    Filter {
        name: "date",
        options: Options {
            letters: "uR",
            valued: "d",
            optional: "I",
            words: &["--utc", "--universal", "--rfc-email"],
            valued_words: &["--date", "--rfc-3339"],
            optional_words: &["--iso-8601"],
            ..NONE
        },
        operands: Operands::Format,
    },
];

/// Looks at arguments as those of a filter. None if no such filter is known.
pub(crate) fn filter<'a>(name: &str, arguments: &'a [String]) -> Option<Result<(), Fault<'a>>> {
    match name {
        // Everything is text to it.
        "echo" => Some(Ok(())),
        "printf" => Some(printf(arguments)),
        _ => {
            let filter = FILTERS.iter().find(|filter| filter.name == name)?;
            Some(filter.check(arguments))
        }
    }
}

fn printf(arguments: &[String]) -> Result<(), Fault<'_>> {
    match arguments.first() {
        Some(first) if first != "--" && first.starts_with('-') => Err(Fault::Option(first)),
        Some(_) => Ok(()),
        None => Err(Fault::Missing),
    }
}

impl Filter {
    fn check<'a>(&self, arguments: &'a [String]) -> Result<(), Fault<'a>> {
        let given = self.options.read(arguments, Order::Mixed).map_err(Fault::Option)?;
        let has_pattern = given.options.iter().any(|(name, _)| matches!(*name, "e" | "regexp"));
        let (texts, is_text_needed) = match self.operands {
            Operands::Files => (0, false),
            Operands::Format => (1, false),
            Operands::Text(most) => (most, true),
            Operands::Pattern => (usize::from(!has_pattern), !has_pattern),
        };
        if is_text_needed && given.operands.is_empty() {
            return Err(Fault::Missing);
        }
        let (texts, files) = given.operands.split_at(texts.min(given.operands.len()));
        if self.operands == Operands::Format
            && let Some(text) = texts.iter().find(|text| !text.starts_with('+'))
        {
            return Err(Fault::Operand(text));
        }
        match files.iter().find(|file| self.operands == Operands::Format || **file != "-") {
            Some(file) => Err(Fault::Operand(file)),
            None => Ok(()),
        }
    }
}
