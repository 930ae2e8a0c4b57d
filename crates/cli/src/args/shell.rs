//! The command line of what shells are told.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

/// A shell whose command line can be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellName {
    /// GNU Bash.
    Bash,
    /// Zsh.
    Zsh,
    /// fish.
    Fish,
    /// PowerShell.
    Powershell,
    /// Elvish.
    Elvish,
}

/// `metier __complete`, which the scripts of `metier completions` run.
#[derive(Debug, Args)]
pub(crate) struct CompleteArgs {
    /// Who asks
    pub shell: ShellName,
    /// The word at the cursor; of Bash the part of it that Bash replaces
    #[arg(long, allow_hyphen_values = true, default_value = "")]
    pub current: OsString,
    /// The words before it, the name of the program first; of Bash the line up to the cursor
    #[arg(last = true)]
    pub before: Vec<OsString>,
}
