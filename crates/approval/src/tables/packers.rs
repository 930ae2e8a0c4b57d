//! Programs that pack and unpack: where they write.

use super::options::{Given, NONE, Options};
use super::writers::{Destination, Writer, file, has};

/// Not `-N`, which takes a name from the file, `-r`, `-S` and `-o`.
const COMPRESS: Options = Options {
    letters: "cdfklqtvz",
    words: &[
        "--best",
        "--compress",
        "--decompress",
        "--fast",
        "--force",
        "--keep",
        "--list",
        "--quiet",
        "--stdout",
        "--test",
        "--to-stdout",
        "--uncompress",
        "--verbose",
    ],
    has_numbers: true,
    ..NONE
};
/// What packed files end with.
const PACKED: [&str; 6] = [".gz", ".bz2", ".xz", ".lzma", ".Z", ".zst"];
/// Not what unpacks: the names are in the archive.
const UNZIP: Options = Options { letters: "lqtvzpcZ1", ..NONE };

pub(super) const PACKERS: &[Writer] = &[
    Writer {
        names: &[
            "gzip",
            "gunzip",
            "bzip2",
            "bunzip2",
            "xz",
            "unxz",
            "lzma",
            "unlzma",
            "compress",
            "uncompress",
            "zstd",
            "unzstd",
        ],
        options: COMPRESS,
        write: compress,
    },
    Writer { names: &["unzip"], options: UNZIP, write: unpack },
    Writer {
        names: &["zip"],
        options: Options { letters: "jqruvXy", has_numbers: true, ..NONE },
        write: pack,
    },
];

/// Files are replaced by ones with another ending. Of several modes the last counts, for most of these programs, so no
/// mode that only looks stands beside one that writes.
fn compress(given: &Given<'_>) -> Option<Vec<Destination>> {
    if has(given, &["c", "stdout", "to-stdout"]) {
        return Some(Vec::new());
    }
    if has(given, &["l", "t", "list", "test"]) {
        let writes = has(given, &["d", "z", "compress", "decompress", "uncompress"]);
        return (!writes).then(Vec::new);
    }
    let both = given.operands.iter().flat_map(|path| {
        // Endings are `.gz`, and for some programs `-gz` and `_z`.
        let stem = path.rfind(['.', '-', '_']).filter(|end| !path[*end..].contains('/'));
        let packed = PACKED.iter().map(move |ending| Some(file(&format!("{path}{ending}"))));
        [Some(file(path)), stem.map(|end| file(&path[..end]))].into_iter().chain(packed)
    });
    Some(both.flatten().collect())
}

/// Only what looks into an archive or prints what is in it.
fn unpack(given: &Given<'_>) -> Option<Vec<Destination>> {
    has(given, &["l", "t", "v", "z", "p", "c", "Z"]).then(Vec::new)
}

fn pack(given: &Given<'_>) -> Option<Vec<Destination>> {
    let archive = given.operands.first()?;
    Some(vec![file(archive), file(&format!("{archive}.zip"))])
}
