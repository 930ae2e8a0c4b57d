//! Programs that do nothing but start another: where its name stands among their words.

use super::options::{NONE, Options, Order};

/// A program that starts another.
#[derive(Debug)]
pub(crate) struct Wrapper {
    name: &'static str,
    options: Options,
    /// What stands between its options and the program.
    between: Between,
}

#[derive(Debug)]
enum Between {
    /// Nothing.
    Nothing,
    /// Variables: `NAME=value`.
    Variables,
    /// One word of these characters.
    Word(&'static str),
}

/// What a wrapper starts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Inner {
    /// Which word names it.
    pub(crate) at: usize,
    /// Variables that it gets.
    pub(crate) variables: Vec<(String, String)>,
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper { name: "env", options: NONE, between: Between::Variables },
    Wrapper {
        name: "nice",
        options: Options {
            valued: "n",
            valued_words: &["--adjustment"],
            has_numbers: true,
            ..NONE
        },
        between: Between::Nothing,
    },
    Wrapper { name: "nohup", options: NONE, between: Between::Nothing },
    Wrapper {
        name: "timeout",
        options: Options {
            letters: "vpf",
            valued: "ks",
            words: &["--preserve-status", "--foreground", "--verbose"],
            valued_words: &["--kill-after", "--signal"],
            ..NONE
        },
        between: Between::Word("0123456789.smhd"),
    },
    Wrapper {
        name: "time",
        options: Options {
            letters: "pvq",
            words: &["--portability", "--verbose", "--quiet"],
            ..NONE
        },
        between: Between::Nothing,
    },
    Wrapper {
        name: "stdbuf",
        options: Options {
            valued: "ioe",
            valued_words: &["--input", "--output", "--error"],
            ..NONE
        },
        between: Between::Nothing,
    },
    Wrapper {
        name: "ionice",
        options: Options {
            letters: "t",
            valued: "cn",
            words: &["--ignore"],
            valued_words: &["--class", "--classdata"],
            ..NONE
        },
        between: Between::Nothing,
    },
    Wrapper {
        name: "taskset",
        options: Options { letters: "c", words: &["--cpu-list"], ..NONE },
        between: Between::Word("0123456789abcdefABCDEFx,-:"),
    },
    Wrapper {
        name: "caffeinate",
        options: Options { letters: "dimsu", valued: "t", ..NONE },
        between: Between::Nothing,
    },
];

/// All wrappers, with their names.
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static Wrapper)> {
    WRAPPERS.iter().map(|wrapper| (wrapper.name, wrapper))
}

/// What a wrapper starts; none if it starts nothing.
///
/// # Errors
///
/// The word of which it is not known what it does.
pub(crate) fn inner_of<'a>(
    wrapper: &Wrapper,
    words: &'a [String],
) -> Result<Option<Inner>, &'a str> {
    let arguments = words.get(1..).unwrap_or_default();
    let given = wrapper.options.read(arguments, Order::First)?;
    let mut at = 1 + given.before;
    let mut variables = Vec::new();
    match wrapper.between {
        Between::Nothing => {}
        Between::Variables => {
            while let Some((name, value)) = words.get(at).and_then(|word| word.split_once('=')) {
                variables.push((name.to_owned(), value.to_owned()));
                at += 1;
            }
        }
        Between::Word(characters) => {
            let Some(word) = words.get(at) else { return Ok(None) };
            if !word.chars().all(|character| characters.contains(character)) {
                return Err(word);
            }
            at += 1;
        }
    }
    match words.get(at) {
        // What is empty or begins with a dash is an option that the program reads and the table does not.
        Some(word) if word.is_empty() || word.starts_with('-') => Err(word),
        Some(_) => Ok(Some(Inner { at, variables })),
        None => Ok(None),
    }
}
