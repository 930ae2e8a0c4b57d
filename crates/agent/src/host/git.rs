//! Settings with which git runs in a plan, so that a repository cannot choose what git starts.
//!
//! A repository's own configuration names monitors, hooks, pagers, editors, signature programs, credential helpers
//! and transports. Every program of a plan that is git, or is told to start git, gets variables that outrank that
//! configuration. Commands that compare also get options, because no variable turns off external diffs, text
//! conversion and looking into submodules. Drivers by name (`filter.NAME`, `merge.NAME`, aliases) cannot be turned
//! off; `metier_approval` asks a person where a repository has such.

use metier_approval::{Executable, Judged};

/// Settings that outrank those of a repository. Programs that are needed for work a person approved, such as signing, are
/// those of `PATH`.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.alternateRefsCommand", "true"),
    ("credential.helper", ""),
    // Other values compare inside of submodules, with settings of their own.
    ("diff.submodule", "short"),
    ("fetch.recurseSubmodules", "false"),
    ("gc.auto", "0"),
    ("gpg.program", "gpg"),
    ("gpg.openpgp.program", "gpg"),
    ("gpg.ssh.program", "ssh-keygen"),
    ("gpg.ssh.defaultKeyCommand", "false"),
    ("gpg.x509.program", "gpgsm"),
    ("init.templateDir", ""),
    ("interactive.diffFilter", "cat"),
    ("log.showSignature", "false"),
    ("maintenance.auto", "false"),
    ("push.recurseSubmodules", "no"),
    ("safe.bareRepository", "explicit"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
];
/// Variables that do the same. `:` is an editor that git does not start. The home directory of commands is not the
/// person's, and earlier commands may have put settings into it.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_ASKPASS", ""),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_EDITOR", ":"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    // `core.pager` does not outrank `pager.COMMAND`.
    ("GIT_PAGER", "cat"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("GIT_SSH_COMMAND", "ssh"),
    ("GIT_TERMINAL_PROMPT", "0"),
];
/// Commands that reach other repositories, and how they may.
///
/// Not `ext`, which runs a command; nor `git`, which has a proxy program; nor `file` beyond a clone, whose
/// `uploadpack` program the repository names.
const TRANSPORTS: &[(&[&str], &str)] = &[
    (&["clone"], "file:http:https:ssh"),
    (&["archive", "fetch", "ls-remote", "pull", "push", "remote", "submodule"], "http:https:ssh"),
];
/// Transports where the subcommand cannot be told.
const UNTOLD_TRANSPORTS: &str = "http:https:ssh";

/// Options that commands get which compare or show.
const COMPARING: &[(&[&str], &[&str])] = &[
    (&["status"], &["--ignore-submodules=dirty"]),
    (&["diff"], &["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"]),
    (&["stash", "list"], &["--no-ext-diff", "--no-textconv"]),
    (&["stash", "show"], &["--no-ext-diff", "--no-textconv"]),
    (&["blame"], &["--no-textconv"]),
    (&["log"], &["--no-ext-diff", "--no-textconv"]),
    (&["reflog", "show"], &["--no-ext-diff", "--no-textconv"]),
    (&["show"], &["--no-ext-diff", "--no-textconv"]),
    (&["whatchanged"], &["--no-ext-diff", "--no-textconv"]),
    (&["diff-tree"], &["--no-ext-diff", "--no-textconv"]),
    (&["diff-index"], &["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"]),
    (&["diff-files"], &["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"]),
];

/// Options before the subcommand that take no further word, and those that take one.
const GLOBAL: &[&str] = &["-p", "-P", "--paginate", "--no-pager", "--no-optional-locks", "--bare"];
const GLOBAL_VALUED: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// The use of git in a program of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GitUse {
    /// The place of the subcommand among the words, where it can be told.
    subcommand: Option<usize>,
}

impl GitUse {
    /// Returns how a program of a plan uses git; none if none of its words speaks of git.
    pub(super) fn of(words: &[String], judged: &Judged) -> Option<Self> {
        let inner = judged.inner.iter().map(|(at, program)| (*at, program));
        let mut programs = [(0, &judged.program)].into_iter().chain(inner);
        let by_program = programs.rfind(|(_, program)| is_git(program)).map(|(at, _)| at);
        let by_word = || words.iter().position(|word| base_name(word) == "git");
        match by_program.or_else(by_word) {
            Some(at) => Some(Self { subcommand: subcommand(words, at + 1) }),
            None => {
                words.iter().any(|word| speaks_of_git(word)).then_some(Self { subcommand: None })
            }
        }
    }

    /// Returns how a text for a shell uses git; none if it does not speak of git.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        speaks_of_git(text).then_some(Self { subcommand: None })
    }

    /// Returns the variables for it.
    pub(super) fn variables(self, words: &[String]) -> Vec<(String, String)> {
        let mut variables: Vec<(String, String)> = Vec::new();
        let mut set = |name: &str, value: &str| variables.push((name.to_owned(), value.to_owned()));
        set("GIT_CONFIG_COUNT", &SETTINGS.len().to_string());
        for (number, (name, value)) in SETTINGS.iter().enumerate() {
            set(&format!("GIT_CONFIG_KEY_{number}"), name);
            set(&format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        for (name, value) in VARIABLES {
            set(name, value);
        }
        set("GIT_ALLOW_PROTOCOL", self.transports(words));
        variables
    }

    /// Returns where options are put among the words, and which.
    pub(super) fn options(self, words: &[String]) -> Option<(usize, &'static [&'static str])> {
        let at = self.subcommand?;
        let begins = |first: &&[&str]| {
            let given = words[at..].iter().map(String::as_str);
            given.take(first.len()).eq(first.iter().copied())
        };
        let (first, options) = COMPARING.iter().find(|(first, _)| begins(first))?;
        Some((at + first.len(), options))
    }

    fn transports(self, words: &[String]) -> &'static str {
        let Some(subcommand) = self.subcommand.and_then(|at| words.get(at)) else {
            return UNTOLD_TRANSPORTS;
        };
        let known = TRANSPORTS.iter().find(|(names, _)| names.contains(&subcommand.as_str()));
        known.map_or("", |(_, transports)| transports)
    }
}

/// Whether a program is git, by the name it was found by or by what it really is.
fn is_git(program: &Executable) -> bool {
    let names = [&program.path, &program.file.real].map(|path| path.file_name());
    names.into_iter().flatten().any(|name| name == "git")
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether a text has the name of git in it: `git` as a word, or `git-…`.
fn speaks_of_git(text: &str) -> bool {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    text.split(|character| !is_part(character)).any(|part| part == "git")
}

/// The place of the subcommand, from the first word behind `git` on.
fn subcommand(words: &[String], mut at: usize) -> Option<usize> {
    loop {
        let word = words.get(at)?.as_str();
        if !word.starts_with('-') {
            return Some(at);
        }
        let is_attached =
            word.split_once('=').is_some_and(|(name, _)| GLOBAL_VALUED.contains(&name));
        at += match word {
            _ if GLOBAL.contains(&word) || is_attached => 1,
            _ if GLOBAL_VALUED.contains(&word) => 2,
            _ => return None,
        };
    }
}
