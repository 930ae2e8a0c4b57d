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
    columns: usize,
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
        Self { child, keyboard, pieces, written: Vec::new(), columns: usize::from(columns) }
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

    /// Types something.
    pub fn write(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).expect("somebody has the terminal open");
    }

    /// Waits for the end; gives the exit code, everything that was written, and what is to be seen
    /// of it.
    pub fn finish(mut self) -> (i32, String, String) {
        let status = self.child.wait().expect("the command ends");
        let deadline = Instant::now() + PATIENCE;
        while let Ok(piece) =
            self.pieces.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            self.written.extend(piece);
        }
        let written = String::from_utf8_lossy(&self.written).into_owned();
        let seen = seen(&written, self.columns);
        (status.code().unwrap_or(-1), written, seen)
    }
}

/// What a person sees: colours left out, lines as they have become.
///
/// # Panics
///
/// When something would do more to a terminal than colour text and rewrite the last line.
fn seen(written: &str, columns: usize) -> String {
    let mut lines = vec![Vec::new()];
    let mut column: usize = 0;
    let mut characters = written.chars();
    while let Some(character) = characters.next() {
        let line: &mut Vec<char> = lines.last_mut().expect("there is always a line");
        match character {
            '\n' => lines.push(Vec::new()),
            '\r' => column = 0,
            '\u{8}' => column = column.saturating_sub(1),
            '\t' => column = (column / 8 + 1) * 8,
            '\u{1b}' => match sequence(&mut characters).as_str() {
                "[K" => line.truncate(column),
                color if color.starts_with('[') && color.ends_with('m') => {}
                other => panic!("the terminal is told {other:?}:\n{written:?}"),
            },
            _ => {
                if column >= columns {
                    lines.push(Vec::new());
                    column = 0;
                }
                let line = lines.last_mut().expect("there is always a line");
                if line.len() <= column {
                    line.resize(column + 1, ' ');
                }
                line[column] = character;
                column += 1;
            }
        }
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
