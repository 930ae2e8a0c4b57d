//! Words that stand for no program, and variables that the shell itself listens to.

/// Words that bash reads as part of its grammar where a command begins.
const RESERVED: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while", "{", "}",
];

/// Commands of bash that are no programs, or mean something else as programs. `cd` is not here, nor are `echo`,
/// `printf`, `test`, `[`, `true`, `false`, `pwd` and `kill`: there are programs that do the same.
const BUILTINS: &[&str] = &[
    ".",
    ":",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Variables that change what bash itself does with the command, that it does not let anybody set, or that it sets
/// to something else.
const VARIABLES: &[&str] = &[
    "COMP_WORDBREAKS",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "EXECIGNORE",
    "FUNCNAME",
    "FUNCNEST",
    "GLOBIGNORE",
    "GROUPS",
    "HISTCMD",
    "LINENO",
    "PATH",
    "POSIXLY_CORRECT",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SHELLOPTS",
    "SHLVL",
    "SRANDOM",
    "UID",
    "_",
];

/// Whether bash takes the word, without quotes, for a part of its grammar.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Whether bash runs the word itself, with or without quotes.
pub(super) fn is_builtin(word: &str) -> bool {
    BUILTINS.contains(&word)
}

/// Whether a variable means something to bash while it starts a program.
pub(super) fn is_of_the_shell(variable: &str) -> bool {
    variable.starts_with("BASH") || VARIABLES.contains(&variable)
}

/// Whether this is what a variable can be called.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
