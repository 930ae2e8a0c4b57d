//! A line at the bottom of the terminal that says what is going on, and goes without a trace.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::output::table::{fit, fit_end};
use crate::output::ticker::TICK;
use crate::output::{Output, Ticker, plain, style, styled};

/// The sign of life.
const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/// Goes to the beginning of the line and erases it.
pub(crate) const ERASE: &str = "\r\u{1b}[K";
/// Columns that the line needs besides its text.
const AROUND: usize = 30;

/// The sign of life after some time.
pub(crate) fn frame(elapsed: Duration) -> char {
    let frame = elapsed.as_millis() / TICK.as_millis() % FRAMES.len() as u128;
    FRAMES[usize::try_from(frame).unwrap_or_default()]
}

/// The line. Where there is no terminal that can erase one, it is never shown.
#[derive(Debug)]
pub(crate) struct Status {
    line: Arc<Mutex<Line>>,
    ticker: Option<Ticker>,
}

#[derive(Debug)]
struct Line {
    text: String,
    since: Instant,
    is_colored: bool,
    width: usize,
    is_shown: bool,
}

impl Status {
    /// Begins to wait; `term` is the terminal there is.
    pub(crate) fn begin(output: Output, term: Option<&str>) -> Self {
        let line = Line {
            text: String::new(),
            since: Instant::now(),
            is_colored: output.is_error_colored(),
            width: output.error_width(),
            is_shown: false,
        };
        let line = Arc::new(Mutex::new(line));
        let can_erase = term.is_some_and(|it| it != "dumb");
        let is_wanted = can_erase && io::stderr().is_terminal() && !output.is_quiet();
        let ticking = Arc::clone(&line);
        let ticker = is_wanted.then(|| Ticker::start(move || lock(&ticking).show()));
        Self { line, ticker }
    }

    /// Says what is going on from now.
    pub(crate) fn set(&self, text: &str) {
        let mut line = lock(&self.line);
        line.text = plain(text);
        line.since = Instant::now();
    }

    /// Says how what is going on goes on: the end of a text, as far as it fits.
    pub(crate) fn follow(&self, text: &str) {
        let mut line = lock(&self.line);
        let most = line.width.saturating_sub(AROUND);
        // More characters than columns are never shown.
        let start = text.char_indices().rev().nth(most).map_or(0, |(start, _)| start);
        line.text = fit_end(&plain(&text[start..]), most);
    }

    /// Says something above the line.
    pub(crate) fn above(&self, say: impl FnOnce()) {
        let mut line = lock(&self.line);
        line.erase();
        say();
    }

    /// Takes the line away until there is something to say again.
    pub(crate) fn rest(&self) {
        let mut line = lock(&self.line);
        line.erase();
        line.text.clear();
    }

    /// Takes the line away for good.
    pub(crate) fn end(&self) {
        if let Some(ticker) = &self.ticker {
            ticker.stop();
        }
        lock(&self.line).erase();
    }
}

fn lock(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    fn show(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let elapsed = self.since.elapsed();
        let text = fit(&self.text, self.width.saturating_sub(AROUND));
        let text = format!("{} {text} · {} s · Ctrl-C ends it", frame(elapsed), elapsed.as_secs());
        let text = if self.is_colored { styled(style::DIM, text) } else { text };
        write(&format!("{ERASE}{text}"));
        self.is_shown = true;
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            write(ERASE);
        }
    }
}

fn write(text: &str) {
    // Nobody may be looking any more.
    let _closed = io::stderr().write_all(text.as_bytes());
}
