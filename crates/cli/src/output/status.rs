//! A line at the bottom of the terminal that says what is going on, and goes without a trace.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::output::{Output, plain, style, styled};

/// How often a sign of life changes.
pub(crate) const TICK: Duration = Duration::from_millis(100);
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
    shared: Arc<Shared>,
    ticker: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    line: Mutex<Line>,
    /// Is told when there is nothing to wait for any more.
    ended: Condvar,
}

#[derive(Debug)]
struct Line {
    text: String,
    since: Instant,
    is_colored: bool,
    width: usize,
    is_shown: bool,
    has_ended: bool,
}

impl Status {
    /// Begins to wait; `term` is the terminal there is.
    pub(crate) fn begin(output: Output, term: Option<&str>) -> Self {
        let line = Line {
            text: String::new(),
            since: Instant::now(),
            is_colored: output.is_error_colored(),
            width: output.width(),
            is_shown: false,
            has_ended: false,
        };
        let shared = Arc::new(Shared { line: Mutex::new(line), ended: Condvar::new() });
        let can_erase = term.is_some_and(|it| it != "dumb");
        let is_wanted = can_erase && io::stderr().is_terminal() && !output.is_quiet();
        let ticking = Arc::clone(&shared);
        let ticker = is_wanted.then(|| thread::spawn(move || ticking.tick()));
        Self { shared, ticker: Mutex::new(ticker) }
    }

    /// Says what is going on from now.
    pub(crate) fn set(&self, text: &str) {
        let mut line = self.shared.lock();
        line.text = plain(text);
        line.since = Instant::now();
    }

    /// Says something above the line.
    pub(crate) fn above(&self, say: impl FnOnce()) {
        let mut line = self.shared.lock();
        line.erase();
        say();
    }

    /// Takes the line away for good.
    pub(crate) fn end(&self) {
        self.shared.lock().has_ended = true;
        self.shared.ended.notify_all();
        let ticker = self.ticker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ticker) = ticker {
            // It has nothing to say.
            let _panicked = ticker.join();
        }
        self.shared.lock().erase();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick(&self) {
        let mut line = self.lock();
        while !line.has_ended {
            let waited = self.ended.wait_timeout(line, TICK);
            line = waited.unwrap_or_else(PoisonError::into_inner).0;
            line.show();
        }
    }
}

impl Line {
    fn show(&mut self) {
        if self.has_ended || self.text.is_empty() {
            return;
        }
        let elapsed = self.since.elapsed();
        let text: String = self.text.chars().take(self.width.saturating_sub(AROUND)).collect();
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
