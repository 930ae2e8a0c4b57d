//! Programs that write new files beside what they read, change rights or make temporary files: where.

use super::options::{Given, NONE, Options};
use super::uses::{FFMPEG, PANDOC, PDF, SPLIT};
use super::writers::{Destination, Extent, Writer, each, each_file, file, has};

/// What cuts by patterns. Not `-b`, a format that can lead to any folder.
const CSPLIT: Options = Options {
    letters: "ksqz",
    valued: "fn",
    words: &["--keep-files", "--quiet", "--silent", "--elide-empty-files"],
    valued_words: &["--prefix", "--digits"],
    ..NONE
};
/// Rights and owners. A mode that takes rights away looks like an option. Not `-L`, which follows links below a folder.
const RIGHTS: Options = Options {
    letters: "cfhvRHPrwxXstugoa",
    words: &[
        "--changes",
        "--quiet",
        "--silent",
        "--verbose",
        "--recursive",
        "--dereference",
        "--no-dereference",
        "--preserve-root",
    ],
    valued_words: &["--reference", "--from"],
    ..NONE
};
const TEMPORARY: Options = Options {
    letters: "dqtu",
    valued: "p",
    words: &["--directory", "--quiet", "--dry-run"],
    valued_words: &["--suffix"],
    optional_words: &["--tmpdir"],
    ..NONE
};
/// What pictures of pages end with.
const PICTURES: [&str; 6] = ["png", "jpg", "tif", "ppm", "pgm", "pbm"];

pub(super) const OUTPUTS: &[Writer] = &[
    Writer {
        names: &["split", "gsplit"],
        options: SPLIT,
        write: |given| Some(vec![beginning(given.operands.get(1).unwrap_or(&"x"))]),
    },
    Writer { names: &["csplit", "gcsplit"], options: CSPLIT, write: cut },
    Writer { names: &["pdftotext"], options: PDF, write: text_of_pages },
    Writer {
        names: &["pdfunite"],
        options: PDF,
        write: |given| Some(given.operands.last().map(|path| file(path)).into_iter().collect()),
    },
    Writer { names: &["pdftoppm", "pdfimages"], options: PDF, write: pictures_of_pages },
    Writer { names: &["ffmpeg"], options: FFMPEG, write: each_file },
    Writer { names: &["pandoc"], options: PANDOC, write: document },
    Writer {
        names: &["chmod", "gchmod", "chown", "gchown", "chgrp", "gchgrp"],
        options: RIGHTS,
        write: rights,
    },
    Writer { names: &["mktemp", "gmktemp"], options: TEMPORARY, write: temporary },
];

fn beginning(path: &str) -> Destination {
    Destination { path: path.to_owned(), extent: Extent::Beginning }
}

/// The value that an option was given last.
fn last_value<'a>(given: &Given<'a>, names: &[&str]) -> Option<&'a str> {
    let mut named = given.options.iter().filter(|(name, _)| names.contains(name));
    named.next_back().and_then(|(_, value)| *value)
}

fn cut(given: &Given<'_>) -> Option<Vec<Destination>> {
    Some(vec![beginning(last_value(given, &["f", "prefix"]).unwrap_or("xx"))])
}

/// Without a second file, the text goes beside the document.
fn text_of_pages(given: &Given<'_>) -> Option<Vec<Destination>> {
    Some(match given.operands.as_slice() {
        [] | [_, "-", ..] => Vec::new(),
        [document] => {
            let stem = document.strip_suffix(".pdf").or(document.strip_suffix(".PDF"));
            let stem = stem.unwrap_or(document);
            ["txt", "html"].map(|ending| file(&format!("{stem}.{ending}"))).to_vec()
        }
        [_, text, ..] => vec![file(text)],
    })
}

/// How many pictures there are, and so what they are called, is in the document.
fn pictures_of_pages(given: &Given<'_>) -> Option<Vec<Destination>> {
    let root = given.operands.get(1).filter(|_| !has(given, &["list"]));
    Some(match root {
        None => Vec::new(),
        Some(root) if has(given, &["singlefile"]) => {
            PICTURES.map(|ending| file(&format!("{root}.{ending}"))).to_vec()
        }
        Some(root) => vec![beginning(root)],
    })
}

fn document(given: &Given<'_>) -> Option<Vec<Destination>> {
    Some(last_value(given, &["o", "output"]).map(file).into_iter().collect())
}

/// The mode or owner is looked at like a file, which costs nothing: it may stand in an option instead.
fn rights(given: &Given<'_>) -> Option<Vec<Destination>> {
    let is_recursive = has(given, &["R", "recursive"]);
    Some(each(given, if is_recursive { &Extent::AllRights } else { &Extent::Rights }))
}

/// A template in a folder that is named, or in the folder of the command. Without any, the system's folder is used.
fn temporary(given: &Given<'_>) -> Option<Vec<Destination>> {
    let folder = last_value(given, &["p", "tmpdir"]);
    let template = given.operands.first().copied();
    Some(match (folder, template) {
        (None, None) => Vec::new(),
        (None, Some(template)) => vec![file(template)],
        (Some(folder), template) => vec![file(&format!("{folder}/{}", template.unwrap_or("_")))],
    })
}
