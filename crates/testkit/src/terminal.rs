//! A terminal that a test reads and types at.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::str::Chars;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Whatever a test waits for comes sooner, or never.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command at a terminal.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    keyboard: File,
    pieces: Receiver<Vec<u8>>,
    written: Vec<u8>,
    /// How far a test has looked.
    looked: usize,
    columns: usize,
}

/// What a terminal may be told beside text and colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moves {
    /// To rewrite the last line.
    LastLine,
    /// All that a line editor needs.
    Editing,
}

impl Terminal {
    /// Starts a command whose standard streams are a terminal of so many columns.
    pub fn start(mut command: Command, columns: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).expect("a terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("its other end");
        let theirs = ioctl_tiocgptpeer(&ours, flags).expect("its other end");
        let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&ours, size).expect("a size");
        let end = || OwnedFd::try_clone(&theirs).expect("a file");
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn();
        let child = child.expect("the command starts");
        let keyboard = File::from(ours);
        let screen = keyboard.try_clone().expect("a file");
        let (sender, pieces) = channel();
        thread::spawn(move || {
            let mut screen = screen;
            let mut piece = vec![0; 4096];
            // The terminal says with an error that nobody has it open any more.
            while let Ok(count @ 1..) = screen.read(&mut piece) {
                if sender.send(piece[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let (written, columns) = (Vec::new(), usize::from(columns));
        Self { child, keyboard, pieces, written, looked: 0, columns }
    }

    /// Waits until a text has been written.
    pub fn wait_for(&mut self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.written.windows(text.len()).any(|it| it == text.as_bytes()) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(piece) = self.pieces.recv_timeout(left) else {
                panic!("{text:?} never came:\n{}", String::from_utf8_lossy(&self.written));
            };
            self.written.extend(piece);
        }
    }

    /// Waits until a text has been written after the one that was waited for last in this way.
    pub fn wait_for_next(&mut self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut places = self.written[self.looked..].windows(text.len());
            if let Some(at) = places.position(|it| it == text.as_bytes()) {
                self.looked += at + text.len();
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(piece) = self.pieces.recv_timeout(left) else {
                let (before, after) = self.written.split_at(self.looked);
                let [before, after] = [before, after].map(String::from_utf8_lossy);
                panic!("{text:?} did not come again:\n{before:?}\nand since then\n{after:?}");
            };
            self.written.extend(piece);
        }
    }

    /// Types something.
    pub fn write(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).expect("somebody has the terminal open");
    }

    /// Waits for the end; gives the exit code, everything that was written, and what is to be seen
    /// of it.
    pub fn finish(self) -> (i32, String, String) {
        self.finish_with(Moves::LastLine)
    }

    /// The same for a command that has a line editor.
    pub fn finish_editing(self) -> (i32, String, String) {
        self.finish_with(Moves::Editing)
    }

    fn finish_with(mut self, moves: Moves) -> (i32, String, String) {
        let status = self.child.wait().expect("the command ends");
        let deadline = Instant::now() + PATIENCE;
        while let Ok(piece) =
            self.pieces.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            self.written.extend(piece);
        }
        let written = String::from_utf8_lossy(&self.written).into_owned();
        let seen = seen(&written, self.columns, moves);
        (status.code().unwrap_or(-1), written, seen)
    }
}

/// What a person sees: colours left out, lines as they have become.
///
/// # Panics
///
/// When something would do more to a terminal than it may.
fn seen(written: &str, columns: usize, moves: Moves) -> String {
    let mut lines = vec![Vec::new()];
    let (mut row, mut column): (usize, usize) = (0, 0);
    let mut characters = written.chars();
    while let Some(character) = characters.next() {
        match character {
            '\n' => row += 1,
            '\r' => column = 0,
            '\u{8}' => column = column.saturating_sub(1),
            '\t' => column = (column / 8 + 1) * 8,
            '\u{1b}' => match (sequence(&mut characters).as_str(), moves) {
                ("[K", _) => lines[row].truncate(column),
                (color, _) if color.starts_with('[') && color.ends_with('m') => {}
                // Pasting and drawing at once are switched on and off.
                ("[?2004h" | "[?2004l" | "[?2026h" | "[?2026l", Moves::Editing) => {}
                (other, Moves::Editing) if other.ends_with(['A', 'B', 'C', 'D']) => {
                    let count = other[1..other.len() - 1].parse().unwrap_or(1);
                    match other.as_bytes().last() {
                        Some(b'A') => row = row.saturating_sub(count),
                        Some(b'B') => row += count,
                        Some(b'C') => column += count,
                        _ => column = column.saturating_sub(count),
                    }
                }
                (other, _) => panic!("the terminal is told {other:?}:\n{written:?}"),
            },
            _ => {
                if column >= columns {
                    row += 1;
                    column = 0;
                }
                lines.resize_with(lines.len().max(row + 1), Vec::new);
                let line: &mut Vec<char> = &mut lines[row];
                if line.len() <= column {
                    line.resize(column + 1, ' ');
                }
                line[column] = character;
                column += 1;
            }
        }
        lines.resize_with(lines.len().max(row + 1), Vec::new);
    }
    let lines = lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// A sequence after its escape character.
fn sequence(characters: &mut Chars<'_>) -> String {
    let mut sequence = String::new();
    for character in characters {
        sequence.push(character);
        if character.is_ascii_alphabetic() {
            break;
        }
    }
    sequence
}
