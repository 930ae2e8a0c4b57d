//! Programs that build: what they run is written in a folder.
//!
//! To allow one in a folder is to allow what that folder says, for plain targets.

use super::{Operands, Shape, Uses};
use crate::tables::options::{NONE, Options};

pub(super) const fn here(first: &'static [&'static str], options: Options) -> Shape {
    Shape { first, options, operands: Operands::Like(is_target), is_for_folder: true }
}

/// The name of something to build: no variable, no way to another folder, nothing for another program.
pub(super) fn is_target(word: &str) -> bool {
    word.chars()
        .all(|character| character.is_ascii_alphanumeric() || "_-.:/+@%".contains(character))
        && !word.split('/').any(|part| part == "..")
        && !word.starts_with('/')
        && !word.starts_with(['+', '-'])
}

const MAKE: Options = Options {
    letters: "BkniqrRsStw",
    valued: "",
    optional: "j",
    words: &[
        "--always-make",
        "--keep-going",
        "--dry-run",
        "--silent",
        "--quiet",
        "--no-print-directory",
    ],
    optional_words: &["--jobs"],
    ..NONE
};
const NINJA: Options = Options { letters: "vn", valued: "jk", words: &["--verbose"], ..NONE };
const JUST: Options = Options { letters: "nqv", words: &["--dry-run", "--quiet"], ..NONE };
const CARGO: Options = Options {
    letters: "vqr",
    valued: "pFj",
    words: &[
        "--release",
        "--all",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--no-default-features",
        "--locked",
        "--offline",
        "--frozen",
        "--verbose",
        "--quiet",
        "--lib",
        "--bins",
        "--tests",
        "--examples",
        "--no-run",
        "--check",
        "--no-deps",
        "--doc",
        "--keep-going",
    ],
    valued_words: &[
        "--package",
        "--features",
        "--bin",
        "--test",
        "--example",
        "--jobs",
        "--exclude",
        "--profile",
    ],
    ..NONE
};
const GO: Options = Options {
    letters: "v",
    words: &["-race", "-short", "-cover", "-x"],
    valued_words: &["-run", "-count", "-timeout"],
    ..NONE
};
const NPM: Options = Options { letters: "s", words: &["--silent", "--if-present"], ..NONE };

pub(super) const USES: &[Uses] = &[
    Uses {
        names: &["make", "gmake", "bmake"],
        because: "it runs what a file in its folder says (with `--dir`, an entry covers plain targets there)",
        shapes: &[here(&[], MAKE)],
    },
    Uses {
        names: &["ninja", "samu"],
        because: "it runs what a file in its folder says (with `--dir`, an entry covers plain targets there)",
        shapes: &[here(&[], NINJA)],
    },
    Uses {
        names: &["just"],
        because: "it runs what a file in its folder says (with `--dir`, an entry covers plain targets there)",
        shapes: &[here(&[], JUST)],
    },
    Uses {
        names: &["cargo"],
        because: "it runs what files in its folder say (with `--dir`, an entry covers building there)",
        shapes: &[
            here(&["build"], CARGO),
            here(&["check"], CARGO),
            here(&["clippy"], CARGO),
            here(&["test"], CARGO),
            here(&["doc"], CARGO),
            here(&["fmt"], CARGO),
            here(&["run"], CARGO),
            here(&["bench"], CARGO),
            here(&["tree"], CARGO),
        ],
    },
    Uses {
        names: &["go"],
        because: "it runs what files in its folder say (with `--dir`, an entry covers building there)",
        shapes: &[
            here(&["build"], GO),
            here(&["test"], GO),
            here(&["vet"], GO),
            here(&["list"], GO),
            here(&["fmt"], NONE),
            Shape {
                first: &["version"],
                options: NONE,
                operands: Operands::None,
                is_for_folder: false,
            },
        ],
    },
    Uses {
        names: &["npm", "pnpm", "yarn"],
        because: "it runs what packages say (with `--dir`, an entry covers their scripts there)",
        shapes: &[
            here(&["test"], NPM),
            here(&["run"], NPM),
            here(&["run-script"], NPM),
            here(&["start"], NPM),
        ],
    },
    Uses {
        names: &["pip", "pip3"],
        because: "it fetches programs and runs them",
        shapes: &[
            Shape {
                first: &["list"],
                options: NONE,
                operands: Operands::None,
                is_for_folder: false,
            },
            Shape {
                first: &["freeze"],
                options: NONE,
                operands: Operands::None,
                is_for_folder: false,
            },
            Shape {
                first: &["show"],
                options: NONE,
                operands: Operands::Any,
                is_for_folder: false,
            },
        ],
    },
    Uses {
        names: &[
            "gcc",
            "g++",
            "cc",
            "c++",
            "c89",
            "c99",
            "gnatmake",
            "gdc",
            "gccgo",
            "collect2",
            "lto-wrapper",
            "mold",
            "libtool",
            "libtoolize",
            "autoconf",
            "autoreconf",
            "automake",
            "aclocal",
            "clang-tidy",
            "rustdoc",
            "rustfmt",
            "rust-analyzer",
            "rust-gdb",
            "rust-lldb",
            "javac",
            "javadoc",
            "msbuild",
            "packer",
            "terragrunt",
            "serverless",
            "cdk",
            "clang",
            "clang++",
            "cpp",
            "ld",
            "lld",
            "gold",
            "as",
            "rustc",
            "tcc",
            "gfortran",
            "swiftc",
            "zig",
            "nasm",
            "meson",
            "bazel",
            "ant",
            "sbt",
            "scons",
            "tox",
            "nox",
            "mocha",
            "webpack",
            "vite",
            "rollup",
            "gulp",
            "grunt",
            "pre-commit",
            "phpunit",
            "terraform",
            "tofu",
            "pulumi",
            "rubocop",
            "stylelint",
            "babel",
            "next",
            "nuxt",
            "ng",
            "sphinx-build",
            "mkdocs",
            "rspec",
        ],
        because: "its options and the files it reads can run other programs",
        shapes: &[],
    },
];
