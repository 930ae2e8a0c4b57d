//! Programs that test, check and build a project: what they run is written in its folder.
//!
//! As with `make`, to allow one in a folder is to allow what that folder says.

use super::builders::{here, is_target};
use super::{Operands, Shape, Uses};
use crate::tables::options::{NONE, Options};

/// Not `-p`, `-c`, `-o`, `--rootdir`, `--junitxml` and the like: other code, other settings, other files.
const PYTEST: Options = Options {
    letters: "vqxsl",
    valued: "kmn",
    words: &["--lf", "--ff", "--exitfirst", "--no-header", "--collect-only", "--no-cov"],
    valued_words: &["--maxfail", "--tb", "--durations"],
    ..NONE
};
const MYPY: Options = Options {
    words: &["--strict", "--ignore-missing-imports", "--no-error-summary", "--pretty"],
    ..NONE
};
const FLAKE8: Options = Options {
    valued_words: &["--max-line-length", "--select", "--ignore", "--extend-ignore"],
    ..NONE
};
const RUFF: Options = Options {
    letters: "q",
    words: &["--fix", "--quiet", "--no-cache", "--check", "--diff", "--statistics"],
    valued_words: &["--select", "--ignore", "--output-format", "--line-length"],
    ..NONE
};
const BLACK: Options = Options {
    letters: "q",
    words: &["--check", "--diff", "--quiet"],
    valued_words: &["--line-length"],
    ..NONE
};
const TSC: Options = Options { words: &["--noEmit", "--pretty", "--strict"], ..NONE };
const ESLINT: Options =
    Options { words: &["--fix", "--quiet"], valued_words: &["--ext", "--max-warnings"], ..NONE };
const PRETTIER: Options =
    Options { letters: "clw", words: &["--check", "--write", "--list-different"], ..NONE };
const JEST: Options = Options {
    valued: "t",
    words: &["--ci", "--coverage", "--silent", "--verbose", "--run", "--runInBand"],
    valued_words: &["--testNamePattern"],
    ..NONE
};
const MAVEN: Options =
    Options { letters: "qBoe", words: &["--quiet", "--batch-mode", "--offline"], ..NONE };
const GRADLE: Options = Options {
    letters: "qis",
    words: &["--quiet", "--info", "--stacktrace", "--offline", "--no-daemon"],
    ..NONE
};
const CMAKE: Options = Options {
    letters: "v",
    valued: "jt",
    words: &["--verbose"],
    valued_words: &["--target", "--config", "--parallel"],
    ..NONE
};
const CTEST: Options =
    Options { letters: "VQ", valued: "jR", words: &["--output-on-failure", "--verbose"], ..NONE };

/// A step of a build in Maven. Whatever has a colon could be a plugin from elsewhere.
fn is_phase(word: &str) -> bool {
    matches!(word, "clean" | "validate" | "compile" | "test" | "package" | "verify")
}

/// A task of Gradle, of any of the projects of the folder.
fn is_task(word: &str) -> bool {
    is_target(word) && !word.contains(['/', '.', '@'])
}

const BECAUSE: &str =
    "it runs what files in its folder say (with `--dir`, an entry covers plain targets there)";

pub(super) const USES: &[Uses] = &[
    Uses { names: &["pytest", "py.test"], because: BECAUSE, shapes: &[here(&[], PYTEST)] },
    Uses { names: &["mypy"], because: BECAUSE, shapes: &[here(&[], MYPY)] },
    Uses { names: &["flake8", "pylint"], because: BECAUSE, shapes: &[here(&[], FLAKE8)] },
    Uses {
        names: &["ruff"],
        because: BECAUSE,
        shapes: &[here(&["check"], RUFF), here(&["format"], RUFF)],
    },
    Uses { names: &["black"], because: BECAUSE, shapes: &[here(&[], BLACK)] },
    Uses { names: &["tsc"], because: BECAUSE, shapes: &[here(&[], TSC)] },
    Uses { names: &["eslint", "eslint.js"], because: BECAUSE, shapes: &[here(&[], ESLINT)] },
    Uses {
        names: &["prettier", "bin-prettier.js"],
        because: BECAUSE,
        shapes: &[here(&[], PRETTIER)],
    },
    Uses {
        names: &["jest", "jest.js", "vitest", "vitest.mjs"],
        because: BECAUSE,
        shapes: &[here(&[], JEST)],
    },
    Uses {
        names: &["mvn"],
        because: BECAUSE,
        shapes: &[Shape { operands: Operands::Like(is_phase), ..here(&[], MAVEN) }],
    },
    Uses {
        names: &["gradle", "gradlew"],
        because: BECAUSE,
        shapes: &[Shape { operands: Operands::Like(is_task), ..here(&[], GRADLE) }],
    },
    Uses {
        names: &["cmake"],
        because: BECAUSE,
        shapes: &[
            here(&["--build"], CMAKE),
            Shape { operands: Operands::None, ..here(&["-S", ".", "-B", "build"], NONE) },
            Shape { operands: Operands::None, ..here(&["-B", "build"], NONE) },
        ],
    },
    Uses {
        names: &["ctest"],
        because: BECAUSE,
        shapes: &[here(&["--test-dir", "build"], CTEST), here(&[], CTEST)],
    },
];
