//! Asking the person at the terminal.

use std::io::{self, BufRead, IsTerminal, Read};

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use crate::failure::Failure;
use crate::output::{Output, plain};

/// What a terminal sends for Ctrl-C.
const INTERRUPT: u8 = 3;

/// Whether there is somebody to ask.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Asks a question that is answered by yes or no; anything else is no.
///
/// # Errors
///
/// When nothing can be read.
pub(crate) fn confirm(output: &Output, question: &str) -> Result<bool, Failure> {
    let answer = line(output, &format!("{question} [y/N] "))?;
    Ok(answer.is_some_and(|it| matches!(it.to_lowercase().as_str(), "y" | "yes")))
}

/// Asks for a line; `None` when nothing was said.
///
/// # Errors
///
/// When nothing can be read.
pub(crate) fn line(output: &Output, question: &str) -> Result<Option<String>, Failure> {
    output.prompt(&plain(question));
    let mut answer = String::new();
    if io::stdin().lock().read_line(&mut answer).map_err(|error| Failure::of_input(&error))? == 0 {
        output.prompt("\n");
    }
    Ok(said(&answer))
}

/// Asks for a line that is not shown while it is typed; `None` when nothing was said.
///
/// # Errors
///
/// When nothing can be read, the terminal cannot hide it, or the person pressed Ctrl-C.
pub(crate) fn secret(output: &Output, question: &str) -> Result<Option<String>, Failure> {
    let hidden = Hidden::begin().map_err(|error| Failure::of_input(&error))?;
    output.prompt(&plain(question));
    let mut answer = Vec::new();
    for byte in io::stdin().lock().bytes() {
        match byte.map_err(|error| Failure::of_input(&error))? {
            b'\n' => break,
            INTERRUPT => {
                drop(hidden);
                output.prompt("\n");
                return Err(Failure::interrupted());
            }
            byte => answer.push(byte),
        }
    }
    drop(hidden);
    output.prompt("\n");
    Ok(said(&String::from_utf8_lossy(&answer)))
}

fn said(answer: &str) -> Option<String> {
    Some(answer.trim().to_owned()).filter(|answer| !answer.is_empty())
}

/// While it lives, the terminal does not show what is typed. Ctrl-C then ends the line: it would else
/// end the program, and leave the terminal so.
struct Hidden(Termios);

impl Hidden {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut modes = before.clone();
        modes.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
        modes.special_codes[SpecialCodeIndex::VEOL] = INTERRUPT;
        tcsetattr(io::stdin(), OptionalActions::Flush, &modes)?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // Nobody is left to whom it could be told.
        let _gone = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}
