//! The reasons that a program of a plan is not allowed, and their words.
//!
//! Whatever comes from a command or a file is shortened before it is put into a reason.

use thiserror::Error;

use super::repository::ForeignPrograms;
use crate::tables::Because;

/// The reason that a program may not be what its name says, as the rest of a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum ProgramDoubt {
    /// It is in a folder that is not trusted.
    #[error("is `{0}`, which is in none of the trusted folders")]
    Elsewhere(String),
    /// It is where commands write.
    #[error("is `{0}`, which commands could have written")]
    Writable(String),
    /// Other people may write to it or to a folder above it.
    #[error("could be replaced by others, because they may write to it or to a folder above it")]
    Replaceable,
}

/// The reason that no entry, table or skill allows a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum ProgramMiss {
    /// One that is not put into words, because there are enough of them.
    #[error("it is not allowed")]
    Untold,
    /// The program may be another one than it is called.
    #[error("`{program}` {doubt}")]
    Doubtful {
        /// The program.
        program: String,
        /// Why.
        doubt: ProgramDoubt,
    },
    /// There is no file at a path.
    #[error("there is no program `{0}`")]
    NoFile(String),
    /// There is no program of a name.
    #[error("`{0}` is not installed")]
    NotInstalled(String),
    /// Nothing is about the program.
    #[error("nobody allowed `{0}`")]
    Unknown(String),
    /// The program can start others, and no entry says with which arguments it may be used.
    #[error("`{program}` {words}; it needs an entry with `--args`")]
    Unlisted {
        /// The program.
        program: String,
        /// What it does.
        words: &'static str,
    },
    /// A wrapper has an argument that no table knows.
    #[error("what `{program}` does with `{word}` is not known")]
    WrapperArgument {
        /// The wrapper.
        program: String,
        /// The argument.
        word: String,
    },
    /// Too many wrappers start each other.
    #[error("more than {limit} programs start each other")]
    TooDeep {
        /// Most programs.
        limit: usize,
    },
    /// A wrapper sets too many variables.
    #[error("`{program}` sets more than {limit} variables")]
    TooManyVariables {
        /// The wrapper.
        program: String,
        /// Most variables.
        limit: usize,
    },
    /// A script that each process sees differently.
    #[error("`{0}` is another file for each process")]
    MovingScript(String),
    /// The program is called like a filter and is something else.
    #[error("`{program}` {words}")]
    NoFilter {
        /// The program.
        program: String,
        /// What it does.
        words: &'static str,
    },
    /// A filter has an option that is not known to be harmless.
    #[error("as a filter `{program}` may not have the option `{word}`; it needs an entry")]
    FilterOption {
        /// The filter.
        program: String,
        /// The option.
        word: String,
    },
    /// A filter has an operand.
    #[error(
        "as a filter `{program}` reads only what is piped into it, not `{word}`; it needs an entry"
    )]
    FilterOperand {
        /// The filter.
        program: String,
        /// The operand.
        word: String,
    },
    /// A filter has too few arguments.
    #[error("`{0}` lacks an argument")]
    FilterArgument(String),
    /// A skill has a program of the name, and this is another one.
    #[error("`{program}` is `{real}`, not the program that the skill `{skill}` means")]
    OtherProgram {
        /// The name.
        program: String,
        /// The file.
        real: String,
        /// The skill.
        skill: String,
    },
    /// A skill brings the program, and not for such a use.
    #[error(
        "`{command}` is not covered by the skill `{skill}`: {}",
        because.with_remedy(program)
    )]
    BeyondSkill {
        /// The command.
        command: String,
        /// The skill.
        skill: String,
        /// The program.
        program: String,
        /// What else the program can do.
        because: Because,
    },
    /// A skill brings the program, and the repository has programs of its own for it.
    #[error(transparent)]
    Repository(#[from] ForeignPrograms),
    /// An entry names a link.
    #[error("the entry `{entry}` is a link; the program is `{real}`, which an entry must name")]
    EntryLink {
        /// The entry.
        entry: String,
        /// The file that the link leads to.
        real: String,
    },
    /// An entry is for another folder.
    #[error("the entry `{entry}` is for `{folder}` alone")]
    EntryFolder {
        /// The entry.
        entry: String,
        /// Its folder.
        folder: String,
    },
    /// An entry does not cover such a use.
    #[error(
        "`{command}` is not covered by the entry `{entry}`: {}",
        because.map(|because| because.with_remedy(program)).unwrap_or_default()
    )]
    BeyondEntry {
        /// The command.
        command: String,
        /// The entry.
        entry: String,
        /// The program.
        program: String,
        /// What else the program can do.
        because: Option<Because>,
    },
    /// An entry names no folder, and the repository has programs of its own.
    #[error(
        "`{command}` is not covered by the entry `{entry}`: {because}; it needs an entry with `--dir`"
    )]
    EntryRepository {
        /// The command.
        command: String,
        /// The entry.
        entry: String,
        /// The programs.
        because: ForeignPrograms,
    },
    /// The script that the program runs lies where commands may write.
    #[error(
        "`{command}` is not covered by the entry `{entry}`: `{script}` is in a folder that commands may write; it needs an entry with `--dir`"
    )]
    EntryScript {
        /// The command.
        command: String,
        /// The entry.
        entry: String,
        /// The script.
        script: String,
    },
    /// The pattern of an entry for arguments cannot be read.
    #[error(
        "the entry `{entry}` matches nothing: `{arguments}` is not a valid pattern for arguments"
    )]
    EntryPattern {
        /// The entry.
        entry: String,
        /// The pattern.
        arguments: String,
    },
    /// The arguments are not those of an entry.
    #[error(
        "`{command}` is not covered by the entry `{entry}`: its arguments must be like `{arguments}`"
    )]
    EntryArguments {
        /// The command.
        command: String,
        /// The entry.
        entry: String,
        /// The pattern of the entry.
        arguments: String,
    },
}
