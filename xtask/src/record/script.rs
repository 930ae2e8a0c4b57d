//! The session: its commands, the home they run in, and what is made the same in every run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use regex_lite::Regex;

use super::pty::{self, Size};
use super::screen::{Run, Screen};
use super::timeline;

/// The terminal, as large as it is drawn.
pub(super) const SIZE: Size = Size { columns: 80, rows: 24 };

/// What is typed, and the exit code it has.
const COMMANDS: &[(&str, i32)] = &[
    ("metier skills list", 0),
    ("metier run \"draw a chart of the sales by region\"", 0),
    ("metier skills lint release-notes", 0),
    ("metier skills lint release-notes --fix", 0),
];

/// A skill whose header YAML does not understand.
const SKILL: (&str, &str) = (
    "release-notes/SKILL.md",
    "---\nname: release-notes\ndescription: Write release notes. Use when: a version is tagged\n---\n\n# Release notes\n\nList what changed for users, newest first.\n",
);

const PROMPT: &str = "\u{1b}[1;32m$\u{1b}[0m ";
/// Columns that the prompt takes.
pub(super) const PROMPT_WIDTH: usize = 2;
/// The home of whoever looks at it.
const HOME: &str = "/home/you";

/// A session, played to its end.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) rows: Vec<Vec<Run>>,
    pub(super) commands: Vec<timeline::Command>,
}

/// The commands as they are typed.
pub(super) fn typed() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|(command, _)| *command)
}

/// Plays the session with a binary.
pub(super) fn play(binary: &str) -> Result<Session> {
    let root = tempfile::tempdir().context("there is no place for temporary files")?;
    let home = root.path().canonicalize()?.join("home");
    let (skill, text) = SKILL;
    let skill = home.join(skill);
    fs::create_dir_all(skill.parent().unwrap_or(&home))?;
    fs::write(&skill, text)?;
    symlink(binary, root.path().join("metier")).context("the binary cannot be named `metier`")?;
    let mut screen = Screen::new(SIZE.columns)?;
    let mut commands = Vec::new();
    for (position, (typed, expected)) in COMMANDS.iter().enumerate() {
        let keys = typed.chars().count();
        if keys + PROMPT_WIDTH >= usize::from(SIZE.columns) {
            bail!("`{typed}` does not fit into a line");
        }
        commands.push(timeline::Command { row: screen.row(), keys });
        screen.write(&format!("{PROMPT}{typed}\r\n"));
        let (written, code) = pty::run(command(root.path(), &home, typed), SIZE)?;
        let written =
            String::from_utf8(written).with_context(|| format!("`{typed}` writes no text"))?;
        if code != *expected {
            bail!("`{typed}` ended with {code}, not {expected}:\n{written}");
        }
        screen.write(&same(&written, &home, position));
    }
    screen.write(PROMPT);
    Ok(Session { rows: screen.rows()?, commands })
}

fn command(root: &Path, home: &Path, typed: &str) -> Command {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", root.display());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", typed]).current_dir(home).env_clear();
    command
        .env("HOME", home)
        .env("PATH", path)
        .env("TERM", "xterm-256color")
        .env("LANG", "C.UTF-8");
    command
}

/// What a command wrote, with fixed values for what differs from run to run and between machines.
fn same(written: &str, home: &Path, position: usize) -> String {
    let mut text = written.replace(&*home.to_string_lossy(), HOME);
    let rules = [
        (r"\b\d+\.\d+ s\b", format!("0.{}4 s", position + 2)),
        (r"\bs-[0-9a-f]{12}\b", "s-5d1f0c2a9b73".to_owned()),
    ];
    for (pattern, value) in rules {
        if let Ok(pattern) = Regex::new(pattern) {
            text = pattern.replace_all(&text, value.as_str()).into_owned();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_sessions_and_folders_are_the_same_in_every_run() {
        let written = "in /tmp/x1/home/.metier/s-0123456789ab-1 · 12.29 s";
        assert_eq!(
            same(written, Path::new("/tmp/x1/home"), 1),
            "in /home/you/.metier/s-5d1f0c2a9b73-1 · 0.34 s"
        );
    }
}
