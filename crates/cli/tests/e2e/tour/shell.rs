//! A shell at a terminal, in a home of its own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use metier_testkit::{Terminal, TestEnv};

use super::page::Step;
use crate::environment;

/// As wide as the page can be read without scrolling.
const COLUMNS: u16 = 100;
/// The home of whoever reads the page.
const HOME: &str = "/home/you";
const CTRL_D: &str = "\u{4}";

/// Runs a command in a folder, with `$?` from the last one, and writes down where it ends.
const SCRIPT: &str =
    r#"cd "$1" || exit 99; (exit "$2"); eval "$3"; code=$?; pwd > "$4"; exit $code"#;

pub(super) struct Shell {
    env: TestEnv,
    folder: PathBuf,
    code: i32,
}

impl Shell {
    /// A shell in an empty home, which finds the binary of this build as `metier`.
    pub(super) fn new() -> Self {
        let env = environment();
        let programs = env.root().join("bin");
        symlink(env.binary(), programs.join("metier")).expect("a name for the binary");
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
        let env = env.with_variable("PATH", &path).with_variable("TERM", "xterm-256color");
        let folder = env.home();
        Self { env, folder, code: 0 }
    }

    /// Runs a command; gives its exit code and what is to be seen of it.
    pub(super) fn run(&mut self, step: &Step) -> (i32, Vec<String>) {
        let ending = self.env.root().join("folder");
        let mut command = self.env.command("/usr/bin/setsid");
        command.args(["--ctty", "--wait", "/bin/sh", "-c", SCRIPT, "sh"]);
        command.arg(&self.folder).arg(self.code.to_string()).arg(&step.command).arg(&ending);
        let mut terminal = Terminal::start(command, COLUMNS);
        let talks = step.command.starts_with("metier chat");
        if talks {
            talk(&mut terminal, &step.shown);
        }
        let (code, _, seen) = if talks { terminal.finish_editing() } else { terminal.finish() };
        let folder = fs::read_to_string(&ending).expect("the shell wrote down where it is");
        self.folder = folder.trim_end().into();
        self.code = code;
        let home = self.env.home();
        let seen = seen.trim_end().replace(&*home.to_string_lossy(), HOME);
        (code, seen.lines().map(str::to_owned).collect())
    }
}

/// Says what the page shows behind `> `, and leaves.
fn talk(terminal: &mut Terminal, shown: &[String]) {
    let said = shown.iter().filter_map(|line| line.strip_prefix("> "));
    for message in said {
        terminal.wait_for_next("> ");
        terminal.write(&format!("{message}\r"));
        // The line editor draws the line again for every key; the answer begins below it.
        terminal.wait_for_next("\n");
    }
    terminal.wait_for_next("> ");
    terminal.write(CTRL_D);
}
