//! A line at the bottom of the terminal that says what is going on, and goes without a trace.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::interrupt;
use crate::masking::masked;
use crate::output::table::{fit, fit_end};
use crate::output::ticker::TICK;
use crate::output::{Output, Ticker, plain, style, styled};

/// The sign of life.
const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/// Goes to the beginning of the line and erases it.
pub(crate) const ERASE: &str = "\r\u{1b}[K";
/// Columns that the line needs besides its text and what Ctrl-C does: the sign of life, the seconds.
const AROUND: usize = 16;

/// The sign of life after some time.
fn frame(elapsed: Duration) -> char {
    let frame = elapsed.as_millis() / TICK.as_millis() % FRAMES.len() as u128;
    FRAMES[usize::try_from(frame).unwrap_or_default()]
}

/// Columns for the text of a line in a window of so many.
pub(crate) fn room(width: usize) -> usize {
    width.saturating_sub(AROUND + interrupt::advice().len())
}

/// What a line says that is not wider than the window.
pub(crate) fn line(text: &str, elapsed: Duration, room: usize) -> String {
    let (frame, seconds) = (frame(elapsed), elapsed.as_secs());
    format!("{frame} {} · {seconds} s · {}", fit(text, room), interrupt::advice())
}

/// Takes the line away before the program ends, unless somebody is just writing it.
pub(crate) fn forget_line() {
    let lines = LINES.try_lock().map(|lines| lines.clone()).unwrap_or_default();
    for mut line in lines.iter().filter_map(|line| line.try_lock().ok()) {
        line.erase();
    }
}

/// What takes less is not worth a line that comes and goes.
const HARDLY_ANY_TIME: Duration = Duration::from_millis(400);

/// The lines there are: what goes on, and what goes on within it. A terminal has room for the last one.
static LINES: Mutex<Vec<Arc<Mutex<Line>>>> = Mutex::new(Vec::new());

thread_local! {
    /// Whether this thread is saying something above the line.
    static IS_ABOVE: Cell<bool> = const { Cell::new(false) };
}

/// Writes something with the line out of the way; it comes back by itself.
pub(super) fn aside<T>(write: impl FnOnce() -> T) -> T {
    if IS_ABOVE.get() {
        return write();
    }
    let lines = lock(&LINES).clone();
    let mut held: Vec<_> = lines.iter().map(|line| lock(line)).collect();
    held.iter_mut().for_each(|line| line.erase());
    IS_ABOVE.set(true);
    let written = write();
    IS_ABOVE.set(false);
    written
}

/// The line. Where there is no terminal that can erase one it is never shown, and not while there is one within it.
#[derive(Debug)]
pub(crate) struct Status {
    line: Arc<Mutex<Line>>,
    ticker: Option<Ticker>,
}

/// The line of something that takes its time, as long as the value is there.
#[derive(Debug)]
pub(crate) struct Working(Status);

impl Working {
    /// Begins to wait.
    pub(super) fn begin(output: Output, text: &str) -> Self {
        let status = Status::after(output, HARDLY_ANY_TIME);
        status.set(text);
        Self(status)
    }

    /// Says which part of it is going on.
    pub(crate) fn set(&self, text: &str) {
        lock(&self.0.line).text = plain(text);
    }
}

#[derive(Debug)]
struct Line {
    text: String,
    since: Instant,
    not_before: Instant,
    /// What is shown instead of the text, for a while.
    instead: Option<String>,
    output: Output,
    is_shown: bool,
}

impl Status {
    /// Begins to wait.
    pub(crate) fn begin(output: Output) -> Self {
        Self::after(output, Duration::ZERO)
    }

    /// The same, with nothing to see for some time.
    fn after(output: Output, delay: Duration) -> Self {
        let now = Instant::now();
        let line = Line {
            text: String::new(),
            since: now,
            not_before: now + delay,
            instead: None,
            output,
            is_shown: false,
        };
        let line = Arc::new(Mutex::new(line));
        let is_wanted =
            output.terminal.can_erase && io::stderr().is_terminal() && !output.is_quiet();
        if is_wanted {
            lock(&LINES).push(Arc::clone(&line));
        }
        let ticking = Arc::clone(&line);
        let ticker = is_wanted.then(|| Ticker::start(move || show(&ticking)));
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
        let most = line.room();
        // More characters than columns are never shown.
        let start = text.char_indices().rev().nth(most).map_or(0, |(start, _)| start);
        line.text = fit_end(&plain(&text[start..]), most);
    }

    /// Says in plain text what has to be done first, until that is over; whatever was going on then goes on.
    pub(crate) fn instead(&self, text: Option<String>) {
        lock(&self.line).instead = text;
    }

    /// Says something above the line.
    pub(crate) fn above(&self, say: impl FnOnce()) {
        aside(say);
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
        lock(&LINES).retain(|line| !Arc::ptr_eq(line, &self.line));
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.end();
    }
}

/// Shows a line, unless there is one within it.
fn show(line: &Arc<Mutex<Line>>) {
    // Held meanwhile, so that none begins.
    let lines = lock(&LINES);
    if lines.last().is_some_and(|last| Arc::ptr_eq(last, line)) {
        lock(line).show();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    fn show(&mut self) {
        let text = self.instead.as_ref().unwrap_or(&self.text);
        if text.is_empty() || Instant::now() < self.not_before {
            return;
        }
        let text = line(text, self.since.elapsed(), self.room());
        let is_colored = self.output.is_error_colored();
        let text = if is_colored { styled(style::DIM, text) } else { text };
        write(&format!("{ERASE}{text}"));
        self.is_shown = true;
    }

    /// Columns for the text, in a window that may have changed.
    fn room(&self) -> usize {
        room(self.output.error_width())
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            write(ERASE);
        }
    }
}

fn write(text: &str) {
    // Nobody may be looking any more.
    let _closed = io::stderr().write_all(masked(text).as_bytes());
}
