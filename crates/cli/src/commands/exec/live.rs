//! What a person sees while a command runs: what it writes, as it comes, and a sign of life when it
//! writes nothing.
//!
//! Into files and pipes everything goes as it is. A terminal gets what [`Screen`] lets pass; where
//! both streams go to one, lines of standard error have a bar in front of them.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use metier_sandbox::Stream;
use metier_workspace::executor::{self, Teller};

use super::bar::{BarTerminal, BarredLines, UNKNOWN_WIDTH};
use crate::context::Context;
use crate::output::{Abilities, ERASE, Output, Screen, Ticker, line, plain, room, style, styled};
use crate::reporter::preparing_words;

/// How long a command is silent before there is a sign of life.
const SILENCE: Duration = Duration::from_secs(1);

/// Shows what a command writes.
#[derive(Debug)]
pub(super) struct Live {
    view: Arc<Mutex<View>>,
    ticker: Option<Ticker>,
}

/// What is on the terminal.
#[derive(Debug)]
struct View {
    /// The streams that go to a terminal.
    output: Option<Screen>,
    error: Option<Screen>,
    /// Puts bars in front of lines of standard error, where both streams are on one terminal.
    barred: BarredLines,
    /// Whether standard error has ended its last line, wherever it goes.
    error_has_ended_line: bool,
    /// The stream that wrote last.
    last: Stream,
    is_colored: bool,
    /// Whether a line can be erased.
    moves: bool,
    /// Whether metier has no lines of its own.
    is_quiet: bool,
    /// Whose command it is, and which.
    doing: String,
    /// What has to be done first.
    instead: Option<String>,
    /// Knows how wide the terminal is.
    window: Output,
    started: Instant,
    silent_since: Instant,
    /// Whether the sign of life is there.
    is_status_shown: bool,
}

impl Live {
    /// Gets ready for a command to begin.
    pub(super) fn begin(context: &Context, doing: &str) -> Self {
        let output = &context.output;
        let moves = context.app.environment.variable("TERM").is_some_and(|it| it != "dumb");
        let screen = |is_terminal: bool, colors: bool| {
            is_terminal.then(|| Screen::new(Abilities { colors: colors && moves, moves }))
        };
        let view = View {
            output: screen(io::stdout().is_terminal(), output.is_colored()),
            error: screen(io::stderr().is_terminal(), output.is_error_colored()),
            barred: BarredLines::default(),
            error_has_ended_line: true,
            last: Stream::Output,
            is_colored: output.is_error_colored(),
            moves,
            is_quiet: output.is_quiet(),
            doing: plain(doing),
            instead: None,
            window: *output,
            started: Instant::now(),
            silent_since: Instant::now(),
            is_status_shown: false,
        };
        let has_status = moves && view.error.is_some() && !view.is_quiet;
        let view = Arc::new(Mutex::new(view));
        let ticking = Arc::clone(&view);
        let ticker = has_status.then(|| Ticker::start(move || lock(&ticking).show_status()));
        Self { view, ticker }
    }

    /// What takes the output of the command.
    pub(super) fn taker(&self) -> executor::Live {
        let view = Arc::clone(&self.view);
        Box::new(move |stream, bytes| lock(&view).take(stream, bytes))
    }

    /// What is told what has to be done before the command.
    pub(super) fn teller(&self) -> Teller {
        let view = Arc::clone(&self.view);
        Arc::new(move |preparing| lock(&view).instead = preparing_words(preparing))
    }

    /// Leaves the terminal as metier's own lines need it: at the beginning of a line, in its own
    /// colours.
    pub(super) fn end(self) {
        if let Some(ticker) = self.ticker {
            ticker.stop();
        }
        lock(&self.view).end();
    }
}

fn lock(view: &Mutex<View>) -> MutexGuard<'_, View> {
    view.lock().unwrap_or_else(PoisonError::into_inner)
}

impl View {
    /// Whether both streams are on one terminal.
    fn is_shared(&self) -> bool {
        self.output.is_some() && self.error.is_some()
    }

    fn is_at_start(&self) -> bool {
        if !self.is_shared() {
            return [&self.output, &self.error].into_iter().flatten().all(Screen::is_at_start);
        }
        let last = if self.last == Stream::Output { &self.output } else { &self.error };
        last.as_ref().is_none_or(Screen::is_at_start)
    }

    fn take(&mut self, stream: Stream, bytes: &[u8]) {
        self.silent_since = Instant::now();
        if stream == Stream::Error {
            self.error_has_ended_line = bytes.ends_with(b"\n");
        }
        self.pass(stream, bytes, |screen| screen.pass(bytes));
    }

    /// Shows what the screen of a stream lets pass; without one, all there is.
    fn pass(&mut self, stream: Stream, bytes: &[u8], pass: impl FnOnce(&mut Screen) -> String) {
        let (is_shared, is_new) = (self.is_shared(), self.last != stream);
        // A line belongs to one stream.
        let end_of_line = if is_new && !self.is_at_start() { "\n" } else { "" };
        let Some(screen) = self.screen(stream) else { return write(stream, bytes) };
        let text = pass(screen);
        if text.is_empty() {
            return;
        }
        self.erase_status();
        if !is_shared {
            return write(stream, text.as_bytes());
        }
        self.last = stream;
        if is_new {
            self.barred.begin_line();
        }
        let text = match stream {
            Stream::Output => text,
            Stream::Error => {
                let terminal = BarTerminal { width: terminal_width(), has_colors: self.is_colored };
                self.barred.mark(&text, terminal)
            }
        };
        write(stream, format!("{end_of_line}{text}").as_bytes());
    }

    fn screen(&mut self, stream: Stream) -> Option<&mut Screen> {
        match stream {
            Stream::Output => self.output.as_mut(),
            Stream::Error => self.error.as_mut(),
        }
    }

    fn show_status(&mut self) {
        // Nothing is written into a line that the command has begun.
        if !self.is_at_start() || self.silent_since.elapsed() < SILENCE {
            return;
        }
        let text = self.instead.as_ref().unwrap_or(&self.doing);
        let text = line(text, self.started.elapsed(), room(self.window.error_width()));
        let text = if self.is_colored { styled(style::DIM, text) } else { text };
        write(Stream::Error, format!("{ERASE}{text}").as_bytes());
        self.barred.begin_line();
        self.is_status_shown = true;
    }

    fn erase_status(&mut self) {
        if std::mem::take(&mut self.is_status_shown) {
            write(Stream::Error, ERASE.as_bytes());
            self.barred.begin_line();
        }
    }

    fn end(&mut self) {
        self.erase_status();
        for stream in [Stream::Output, Stream::Error] {
            self.pass(stream, b"", Screen::end);
            if self.screen(stream).is_some_and(|screen| screen.is_colored()) {
                write(stream, b"\x1b[0m");
            }
        }
        let is_at_start =
            if self.is_shared() { self.is_at_start() } else { self.error_has_ended_line };
        if is_at_start && self.is_shared() && self.moves {
            // Where a Ctrl-C may have been echoed.
            write(Stream::Error, ERASE.as_bytes());
        }
        if !is_at_start && !self.is_quiet {
            write(Stream::Error, b"\n");
        }
    }
}

/// Returns the columns of the terminal at this moment; [`UNKNOWN_WIDTH`] if it does not say.
fn terminal_width() -> usize {
    let size = terminal_size::terminal_size_of(io::stderr());
    size.map(|(width, _)| usize::from(width.0)).filter(|it| *it > 0).unwrap_or(UNKNOWN_WIDTH)
}

/// Writes where the command's output would go. A reader that has seen enough is no error.
fn write(stream: Stream, bytes: &[u8]) {
    let _closed = match stream {
        Stream::Output => io::stdout().write_all(bytes).and_then(|()| io::stdout().flush()),
        Stream::Error => io::stderr().write_all(bytes),
    };
}
