//! Scripts: programs whose first line names the interpreter that runs them.
//!
//! A script in a trusted folder that has a row in the tables is what that row says, like any program there: `npm` and
//! `zcat` are scripts. Every other script is code for its interpreter, which no table has read.

use std::path::PathBuf;

use super::kinds::{self, Kind, base_name, by_name};
use super::uses;
use crate::facts::Executable;

/// Returns what kind of program a word stands for where these folders are trusted.
pub(crate) fn kind_in(word: &str, program: &Executable, trusted_folders: &[PathBuf]) -> Kind {
    let kind = kinds::kind_of(word, Some(program));
    let Some(line) = &program.interpreter else { return kind };
    let folder = program.path.parent();
    let is_trusted = folder.is_some_and(|folder| trusted_folders.iter().any(|it| it == folder));
    match interpreter_kind(line) {
        Kind::Privilege => Kind::Privilege,
        _ if is_trusted && (!kind.is_ordinary() || uses::is_described(word, program)) => kind,
        // No row of the tables counts for it, so its name can only tell what it is.
        _ if !kind.is_ordinary() && !uses::has_row(word, program) => kind,
        _ => Kind::Script,
    }
}

/// Returns the kind of the interpreter that the first line of a script names.
fn interpreter_kind(line: &[String]) -> Kind {
    let is_env = line.first().is_some_and(|word| base_name(word) == "env");
    let is_command = |word: &&String| !word.starts_with('-') && !word.contains('=');
    let command = if is_env { line[1..].iter().find(is_command) } else { line.first() };
    command.map_or(Kind::Interpreter, |word| by_name(base_name(word)))
}
