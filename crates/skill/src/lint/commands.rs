//! Programs that the body tells people to run and the header does not ask for.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Diagnostic};
use crate::examples::{is_assignment, is_program, shell_code};
use crate::header::Manifest;
use crate::text::Span;

/// What every system has, what shells are made of, and what stands for a program.
const EVERYWHERE: &[&str] = &[
    ".", "[", "[[", "alias", "awk", "basename", "bash", "break", "case", "cat", "cd", "chmod",
    "chown", "cmp", "command", "continue", "cp", "cut", "date", "declare", "df", "diff", "dirname",
    "do", "done", "du", "echo", "elif", "else", "env", "esac", "eval", "exec", "exit", "export",
    "expr", "false", "fi", "find", "for", "function", "grep", "head", "hostname", "id", "if",
    "kill", "ln", "local", "ls", "mkdir", "mktemp", "mv", "nl", "paste", "printf", "ps", "pwd",
    "read", "readlink", "readonly", "realpath", "return", "rm", "rmdir", "sed", "select", "seq",
    "set", "sh", "shift", "sleep", "sort", "source", "split", "stat", "sudo", "tail", "tar", "tee",
    "test", "then", "time", "touch", "tr", "trap", "true", "type", "uname", "uniq", "unset",
    "until", "wait", "wc", "which", "while", "xargs", "zsh",
];

pub(crate) fn check(text: &str, body: Span, manifest: &Manifest) -> Vec<Diagnostic> {
    let Some(requirements) = manifest.gate.requirements() else { return Vec::new() };
    let declared = |program: &str| {
        let named = requirements.bins.iter().chain(&requirements.any_bins);
        named.clone().any(|bin| bin == program)
            || requirements.install.iter().any(|it| it.bins.iter().any(|bin| bin == program))
    };
    let mut seen = BTreeSet::new();
    let mut diagnostics = Vec::new();
    for (program, span) in programs(text, body) {
        if EVERYWHERE.binary_search(&program).is_err() && !declared(program) && seen.insert(program)
        {
            let message = format!("`{program}` is run here, and is not in `requires.bins`");
            diagnostics.push(
                Diagnostic::new(Code::UndeclaredBinary, span, message)
                    .help("declare it, so that the skill is offered only where it works"),
            );
        }
    }
    diagnostics
}

/// The first word of each command in shell code, with its place.
fn programs(text: &str, body: Span) -> Vec<(&str, Span)> {
    let mut programs = Vec::new();
    for code in shell_code(text, body) {
        commands_in(code.span.slice(text), code.span.start, &mut programs);
    }
    programs
}

fn commands_in<'a>(code: &'a str, start: usize, programs: &mut Vec<(&'a str, Span)>) {
    let mut offset = 0;
    let mut continues = false;
    for line in code.split_inclusive('\n') {
        let at = offset;
        offset += line.len();
        let continued = std::mem::replace(&mut continues, line.trim_end().ends_with('\\'));
        if continued {
            continue;
        }
        let command = line.trim_start().trim_start_matches("$ ");
        let begins = at + line.len() - command.len();
        let word = command.split_whitespace().find(|word| !is_assignment(word));
        let Some(word) = word.filter(|word| is_program(word)) else { continue };
        let place = begins + command.find(word).unwrap_or_default();
        programs.push((word, Span::new(start + place, start + place + word.len())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_the_search() {
        assert!(EVERYWHERE.is_sorted());
    }
}
