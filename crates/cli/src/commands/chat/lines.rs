//! Where the lines of a chat come from: the line editor on a terminal that can move its cursor, else
//! standard input as it is.

use std::io::{self, BufRead, ErrorKind, IsTerminal};
use std::sync::Arc;
use std::thread;

use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio::sync::mpsc::{Receiver, channel};

use super::editor::Editor;
use crate::context::Context;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::Output;
use metier_app::turn::SkillCommands;

/// What a person is asked with.
pub(super) const PROMPT: &str = "> ";

/// Something that a person did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Said something.
    Text(String),
    /// Pressed Ctrl-C.
    Interrupted,
    /// Left.
    End,
}

/// Where lines come from.
pub(super) enum Lines {
    /// A line editor.
    Editor(Box<Editor>),
    /// Standard input.
    Plain(Plain),
}

/// Standard input, read beside everything else so that waiting for it can be interrupted.
pub(super) struct Plain {
    lines: Receiver<io::Result<String>>,
    /// How many have come.
    count: usize,
    output: Output,
    is_terminal: bool,
}

impl Lines {
    /// Finds out what the terminal can do.
    ///
    /// # Errors
    ///
    /// When it cannot be used.
    pub(super) fn open(context: &Context) -> Result<Self, Failure> {
        if Self::can_edit(context) {
            return Ok(Self::Editor(Box::new(Editor::open(context)?)));
        }
        let is_terminal = io::stdin().is_terminal();
        Ok(Self::Plain(Plain { lines: stdin(), count: 0, output: context.output, is_terminal }))
    }

    /// Whether lines come from a line editor, which reads only when it is asked to.
    pub(super) fn can_edit(context: &Context) -> bool {
        let can_move = context.app.environment.variable("TERM").is_some_and(|it| it != "dumb");
        can_move && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Waits for the next message.
    ///
    /// # Errors
    ///
    /// When nothing can be read.
    pub(super) fn next(
        &mut self,
        names: &SkillCommands,
        runtime: &Runtime,
    ) -> Result<Line, Failure> {
        let line = match self {
            Self::Editor(editor) => editor.next(names)?,
            Self::Plain(plain) => runtime.block_on(plain.next())?,
        };
        Ok(match line {
            Line::Text(text) => Line::Text(text.replace("\\\n", "\n")),
            line => line,
        })
    }
}

impl Plain {
    async fn next(&mut self) -> Result<Line, Failure> {
        self.ask(PROMPT);
        let pressed = Arc::new(Notify::new());
        let pressing = Arc::clone(&pressed);
        let _listener = interrupt::listen(move || pressing.notify_one());
        let mut message = String::new();
        loop {
            let line = tokio::select! {
                line = self.lines.recv() => line,
                () = pressed.notified() => {
                    self.ask("\n");
                    return Ok(Line::Interrupted);
                }
            };
            self.count += 1;
            match line {
                Some(line) => message.push_str(&line.map_err(|error| self.unreadable(&error))?),
                None if message.is_empty() => {
                    self.ask("\n");
                    return Ok(Line::End);
                }
                None => return Ok(Line::Text(message)),
            }
            if !goes_on(&message) {
                return Ok(Line::Text(message));
            }
            message.push('\n');
        }
    }

    fn unreadable(&self, error: &io::Error) -> Failure {
        match error.kind() {
            ErrorKind::InvalidData => {
                Failure::new(format!("line {} of standard input is not UTF-8", self.count))
            }
            _ => Failure::of_input(error),
        }
    }

    /// Writes something for whoever types.
    fn ask(&self, text: &str) {
        if self.is_terminal {
            self.output.prompt(text);
        }
    }
}

/// Whether a message goes on in the next line: it ends with a backslash that is not written twice.
pub(super) fn goes_on(message: &str) -> bool {
    let backslashes = message.bytes().rev().take_while(|it| *it == b'\\').count();
    backslashes % 2 == 1
}

/// The lines of standard input. Reading cannot be ended, so the thread is left to itself.
fn stdin() -> Receiver<io::Result<String>> {
    let (sender, lines) = channel(1);
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    lines
}
