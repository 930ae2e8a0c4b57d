//! What pages of help say beside arguments: how commands are grouped, examples that work, and exit codes.
//!
//! All of it is data about commands that are named by their path, such as `skills lint`. A command that is in no group is
//! listed after the others.

use clap::Command;

use super::examples::{EXAMPLES, Examples, REMARKS};
use crate::output::{style, styled};

/// Commands of a command, in the order in which people meet them.
type Groups = &'static [(&'static str, &'static [&'static str])];

/// The groups of the commands that have many.
const GROUPS: [(&str, Groups); 2] = [
    (
        "",
        &[
            ("Let a model work", &["run", "chat"]),
            ("Skills", &["skills", "exec", "setup", "trust"]),
            ("What was said and made", &["sessions", "read", "artifacts", "usage", "gc"]),
            ("Safety and settings", &["doctor", "approvals", "config"]),
            ("Other agents and shells", &["mcp", "completions", "man"]),
            ("Measure and compare", &["bench", "demo"]),
            ("The format's reference tool", &["validate", "read-properties", "to-prompt"]),
        ],
    ),
    (
        "skills",
        &[
            ("Find and understand", &["list", "search", "info", "explain", "docs"]),
            ("What a model sees", &["catalog", "tokens"]),
            ("Write and check", &["new", "lint"]),
            ("Make usable", &["install-deps", "trust"]),
        ],
    ),
];

/// What is told below the arguments of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    /// The command, without `metier`.
    pub path: &'static str,
    /// Command lines, each with what it does if that is not plain.
    pub examples: Examples,
    /// Exit codes with their meaning, where they are more than success and failure.
    pub codes: &'static [(&'static str, &'static str)],
}

/// The notes with exit codes, and those of the commands that people meet first. Plain examples are in `examples`.
pub(crate) const NOTES: &[Note] = &[
    Note {
        path: "",
        examples: &[
            ("metier run \"draw a chart of the sales by region\"", "needs no key"),
            ("metier skills list", "which skills there are"),
            ("metier skills explain csv-stats", "why one is used, or not"),
            ("metier exec number-lab -- 'ls scripts'", "run a skill's command"),
            ("metier help skills lint", "help on one command"),
        ],
        codes: &[
            ("0", "success"),
            ("1", "it failed, or the answer is no"),
            ("2", "the command line or a setting was not understood"),
            ("130", "stopped by Ctrl-C"),
        ],
    },
    Note {
        path: "run",
        examples: &[
            ("metier run \"draw a chart of the sales by region\"", ""),
            ("metier run \"which column has gaps?\" sales.csv", "bring a file"),
            ("metier run '$csv-stats profile this table' sales.csv", "name a skill"),
            ("metier run --session monday \"and by month?\"", "go on"),
        ],
        codes: &[
            ("0", "the task was answered"),
            ("1", "it was not"),
            ("2", "the command line was not understood"),
            ("130", "stopped by Ctrl-C; the session stays"),
        ],
    },
    Note {
        path: "chat",
        examples: &[
            ("metier chat", ""),
            ("metier chat --session monday", "go on with a session"),
            ("metier chat --model openai/gpt-5", "ask this model"),
        ],
        codes: &[
            ("0", "the conversation ended"),
            ("1", "a line failed that came from a pipe"),
            ("2", "the command line was not understood"),
            ("130", "stopped by Ctrl-C; the session stays"),
        ],
    },
    Note {
        path: "skills",
        examples: &[
            ("metier skills list", ""),
            ("metier skills explain csv-stats", ""),
            ("metier skills lint ./my-skills --fix", ""),
        ],
        codes: &[],
    },
    Note {
        path: "skills list",
        examples: &[
            ("metier skills list --all", "also what is switched off"),
            ("metier skills list --skills-dir ./my-skills", "with a folder of yours"),
            ("metier skills list --json", "for programs"),
        ],
        codes: &[],
    },
    Note {
        path: "skills search",
        examples: &[("metier skills search \"plot sales by month\" --limit 3", "")],
        codes: &[
            ("0", "something was found"),
            ("1", "nothing was found"),
            ("2", "the command line was not understood"),
        ],
    },
    Note {
        path: "skills lint",
        examples: &[
            ("metier skills lint", "all skills"),
            ("metier skills lint ./my-skills --fix", "fix what is safe to fix"),
            ("metier skills lint ./my-skills --format sarif", "for a code host"),
        ],
        codes: &[
            ("0", "no errors"),
            ("1", "an error was found"),
            ("2", "the command line was not understood"),
        ],
    },
    Note {
        path: "skills install-deps",
        examples: &[
            ("metier skills install-deps csv-stats --dry-run", "only look"),
            ("metier skills install-deps csv-stats", "show, ask, install"),
        ],
        codes: &[
            ("0", "no program is missing any more"),
            ("1", "one is, or something failed"),
            ("2", "nobody agreed, or there is no such option"),
        ],
    },
    Note {
        path: "exec",
        examples: &[
            ("metier exec number-lab -- 'ls scripts'", ""),
            ("metier exec csv-stats --input sales.csv --save -- 'wc inputs/* >out/wc'", ""),
            ("metier exec csv-stats --executor container -- 'ls'", ""),
        ],
        codes: &[
            ("N", "the exit code of the command, whatever it is"),
            ("1", "also when metier could not run it, or could not keep its files"),
            ("2", "also when the command line or the request was not understood"),
            ("124", "its time was up"),
            ("130", "stopped by Ctrl-C"),
        ],
    },
    Note {
        path: "trust",
        examples: &[
            ("metier trust", "the project you are in"),
            ("metier trust --list", ""),
            ("metier trust --revoke", ""),
        ],
        codes: &[("0", "done"), ("1", "it failed, or there was no trust to take back")],
    },
    Note {
        path: "approvals",
        examples: &[
            ("metier approvals add git --args 'status( --short)?'", ""),
            ("metier approvals check -- 'ls -la | wc -l'", ""),
            ("metier approvals list", ""),
        ],
        codes: &[],
    },
    Note {
        path: "approvals check",
        examples: &[("metier approvals check -- 'cd sub && make test'", "")],
        codes: &[
            ("0", "allowed"),
            ("2", "the command line was not understood"),
            ("3", "a person would be asked"),
            ("4", "refused"),
        ],
    },
    Note {
        path: "doctor",
        examples: &[("metier doctor", ""), ("metier doctor --json", "for programs")],
        codes: &[("0", "every promise is kept"), ("1", "one is not, or was not tried")],
    },
    Note {
        path: "mcp",
        examples: &[
            ("metier mcp install claude-code", "tell an agent of this server"),
            ("metier mcp", "what the agent then starts"),
            ("metier mcp --http 127.0.0.1:8700", "serve over HTTP"),
            ("metier mcp servers", "servers that metier itself uses"),
        ],
        codes: &[],
    },
    Note {
        path: "mcp install",
        examples: &[
            ("metier mcp install --list", "which agents there are"),
            ("metier mcp install claude-code --print", "only look"),
            ("metier mcp install codex", "show, ask, write"),
        ],
        codes: &[],
    },
    Note {
        path: "bench",
        examples: &[
            ("metier bench token-report", ""),
            ("metier bench prompt-cache --html page.html", ""),
        ],
        codes: &[],
    },
    Note {
        path: "completions",
        examples: &[
            ("source <(metier completions bash)", "Bash, in ~/.bashrc"),
            ("source <(metier completions zsh)", "Zsh: .zshrc after compinit"),
            ("metier completions fish | source", "fish, in config.fish"),
            ("eval (metier completions elvish | slurp)", "Elvish, in rc.elv"),
            ("metier completions powershell | Out-String | iex", "PowerShell, in $PROFILE"),
        ],
        codes: &[],
    },
    Note {
        path: "man",
        examples: &[
            ("metier man | man -l -", "read it"),
            ("metier man --dir ~/.local/share/man/man1", "install all pages"),
        ],
        codes: &[],
    },
];

/// The note of a command.
pub(crate) fn note(path: &str) -> Option<Note> {
    let full = NOTES.iter().find(|note| note.path == path).copied();
    full.or_else(|| {
        let (path, examples) = EXAMPLES.iter().find(|(of, _)| *of == path)?;
        Some(Note { path, examples, codes: &[] })
    })
}

/// A sentence that the page of a command ends with.
pub(crate) fn remark(path: &str) -> Option<&'static str> {
    REMARKS.iter().find(|(of, _)| *of == path).map(|(_, text)| *text)
}

/// The commands of a command that are shown, in groups.
pub(crate) fn groups(command: &Command) -> Vec<(&'static str, Vec<&Command>)> {
    let is_shown = |it: &&Command| !it.is_hide_set() && it.get_name() != "help";
    let mut left: Vec<&Command> = command.get_subcommands().filter(is_shown).collect();
    let mut groups = Vec::new();
    for (heading, names) in groups_of(&path_of(command)) {
        let find = |name: &&str| {
            let at = left.iter().position(|it| it.get_name() == *name)?;
            Some(left.remove(at))
        };
        groups.push((*heading, names.iter().filter_map(find).collect()));
    }
    if !left.is_empty() {
        groups.push((if groups.is_empty() { "Commands" } else { "Further commands" }, left));
    }
    groups
}

/// What the options do for a command that only the page of the command above it tells; none if they do nothing.
pub(super) fn told_above(path: &str) -> Option<&'static str> {
    match path {
        // It writes a folder, wherever skills are looked for.
        "skills new" => None,
        "mcp install" => Some("are written down for the agent"),
        _ if path.starts_with("skills ") || path.starts_with("bench ") => {
            Some("choose which skills are meant")
        }
        _ => None,
    }
}

/// A command with its note, its commands in their order, and so all below it.
pub(super) fn annotated(command: Command, path: &[&str]) -> Command {
    let path_text = path.join(" ");
    let parts = [note(&path_text).map(text), remark(&path_text).map(str::to_owned)];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|it| !it.is_empty()).collect();
    let names: Vec<&str> = groups_of(&path_text).iter().flat_map(|it| it.1).copied().collect();
    let command = command.mut_subcommands(|inner| {
        let name = inner.get_name().to_owned();
        let order = names.iter().position(|it| *it == name).unwrap_or(names.len());
        annotated(inner.display_order(order), &[path, &[name.as_str()]].concat())
    });
    if parts.is_empty() { command } else { command.after_help(parts.join("\n\n")) }
}

/// The few lines for whoever types `metier` and nothing else.
pub(crate) fn overview() -> String {
    let examples = note("").map(|note| listed("Start here:", note.examples, "# "));
    format!(
        "metier lets a model use Agent Skills: folders with a SKILL.md that teach a job.\n\n\
         {}\n\n`metier --help` lists all commands.\n",
        examples.unwrap_or_default()
    )
}

/// A note as it is below the arguments.
fn text(note: Note) -> String {
    let mut parts = Vec::new();
    if !note.examples.is_empty() {
        parts.push(listed("Examples:", note.examples, "# "));
    }
    if !note.codes.is_empty() {
        parts.push(listed("Exit codes:", note.codes, ""));
    }
    parts.join("\n\n")
}

fn listed(heading: &str, rows: &[(&str, &str)], mark: &str) -> String {
    let commented = rows.iter().filter(|(_, comment)| !comment.is_empty());
    let column = commented.map(|(term, _)| term.chars().count()).max().unwrap_or_default();
    let mut text = styled(style::HEADING, heading);
    for (term, comment) in rows {
        let row = match *comment {
            "" => (*term).to_owned(),
            comment => {
                format!("{term:<column$}  {}", styled(style::DIM, format!("{mark}{comment}")))
            }
        };
        text.push_str(&format!("\n  {row}"));
    }
    text
}

fn groups_of(path: &str) -> Groups {
    GROUPS.iter().find(|(of, _)| *of == path).map_or(&[], |(_, groups)| groups)
}

fn path_of(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or_default();
    name.strip_prefix("metier").unwrap_or_default().trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tree;
    use metier_app::sources::remote::server_command as words;

    fn at(path: &str) -> Option<Command> {
        let mut command = tree();
        for name in path.split_whitespace() {
            command = command.find_subcommand(name)?.clone();
        }
        Some(command)
    }

    #[test]
    fn groups_and_notes_are_of_commands_that_exist() {
        for (path, groups) in GROUPS {
            let command = at(path).unwrap_or_else(|| panic!("there is no `{path}`"));
            for name in groups.iter().flat_map(|(_, names)| *names) {
                assert!(command.find_subcommand(name).is_some(), "there is no `{path} {name}`");
            }
        }
        let noted = || NOTES.iter().map(|it| it.path).chain(EXAMPLES.iter().map(|it| it.0));
        for path in noted().chain(REMARKS.iter().map(|it| it.0)) {
            assert!(at(path).is_some(), "there is no `{path}`");
            assert!(noted().filter(|it| *it == path).count() <= 1, "`{path}` has two notes");
        }
    }

    #[test]
    fn every_page_that_leads_to_no_other_has_an_example() {
        fn without(command: &Command, path: &str, found: &mut Vec<String>) {
            let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
            let inner: Vec<&Command> = shown.filter(|it| it.get_name() != "help").collect();
            if inner.is_empty() && note(path).is_none_or(|it| it.examples.is_empty()) {
                found.push(path.to_owned());
            }
            for command in inner {
                without(command, format!("{path} {}", command.get_name()).trim_start(), found);
            }
        }
        let mut found = Vec::new();
        without(&tree(), "", &mut found);
        assert!(found.is_empty(), "these have none: {found:#?}");
    }

    #[test]
    fn every_command_of_the_first_page_is_in_a_group() {
        let mut command = tree();
        command.build();
        assert!(groups(&command).iter().all(|(heading, _)| *heading != "Further commands"));
    }

    #[test]
    fn every_example_is_a_command_line_that_is_understood() {
        let own = EXAMPLES.iter().flat_map(|(_, examples)| *examples);
        for (example, _) in NOTES.iter().flat_map(|note| note.examples).chain(own) {
            // What is around it is the shell's.
            let line = example.find("metier").map(|at| &example[at..]).unwrap();
            let line = line.split(" | ").next().unwrap_or(line);
            let line = line.split(" >").next().unwrap_or(line);
            let line =
                if example.starts_with("metier") { line } else { line.trim_end_matches(')') };
            let line = if line.matches('\'').count() % 2 == 1 { example } else { line };
            let read = tree().try_get_matches_from(words(line).unwrap());
            let is_help = |error: &clap::Error| error.kind() == clap::error::ErrorKind::DisplayHelp;
            if let Err(error) = read {
                assert!(is_help(&error), "{example}: {error}");
            }
        }
    }
}
