//! Questions to a database of SQLite, which `sqlite3` answers without running or writing anything.
//!
//! Its safe mode refuses what SQL can do outside of the database, but not all commands of the shell: `.trace` and
//! `.testcase` write files. So there must be a database and SQL as arguments, because without SQL it reads
//! commands from standard input, and none of the arguments may be a command. Before anything else it takes commands
//! from a hidden file of the home directory, which an earlier run may have made, unless `-init` names another file.

use crate::tables::options::{NONE, OptionSyntax, Options, Order};

/// How answers are printed, and the file of commands. Not `-cmd` and `-nonce`.
const SQLITE: Options = Options {
    words: &[
        "-json",
        "-csv",
        "-header",
        "-noheader",
        "-column",
        "-line",
        "-list",
        "-markdown",
        "-table",
        "-box",
        "-batch",
        "-bail",
    ],
    valued_words: &["-init"],
    syntax: OptionSyntax::Own,
    ..NONE
};
/// A file without commands.
const NO_COMMANDS: &str = "/dev/null";
/// Statements that make another file.
const FILE_STATEMENTS: [&str; 2] = ["attach", "vacuum"];

/// Whether `sqlite3` is told nothing but to answer questions about one database.
pub(super) fn is_harmless(arguments: &[String]) -> bool {
    let Some((modes, rest)) = arguments.split_at_checked(2) else { return false };
    let is_safe = modes == ["-safe", "-readonly"] || modes == ["-readonly", "-safe"];
    let Ok(given) = SQLITE.read(rest, Order::Mixed) else { return false };
    let Some((database, questions)) = given.operands.split_first() else { return false };
    let mut files = given.options.iter().filter_map(|(_, value)| *value).peekable();
    let has_no_commands = files.peek().is_some() && files.all(|file| file == NO_COMMANDS);
    // A word that begins with a dash is an option also behind `--`.
    is_safe
        && has_no_commands
        && !database.starts_with('-')
        && !questions.is_empty()
        && questions.iter().all(|question| is_question(question))
}

/// Whether a text is SQL that neither makes a file nor has a line that is a command.
fn is_question(text: &str) -> bool {
    let is_sql = |line: &str| !line.trim_start().starts_with(['.', '-', '#', '/']);
    let lower = text.to_ascii_lowercase();
    text.lines().all(is_sql) && !FILE_STATEMENTS.iter().any(|word| lower.contains(word))
}
