//! What a server says on standard error, on a thread of its own.
//!
//! Whoever started the server may not read that. Then the thread waits, for ever if it must, and requests are answered all
//! the same.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use anstyle::Style;
use metier_skill::diagnostic::Severity;
use metier_skill::problem::Problem;

use crate::output::Output;

/// Most problems that are named. They are from files that anybody may have written.
const MAX_PROBLEMS: usize = 20;
/// How long the last of what is said may take.
const LAST_REPORTS: Duration = Duration::from_millis(300);

type Report = Box<dyn FnOnce(&Output) + Send>;

/// Says things in their order, whenever they are read.
pub(super) struct Reports {
    waiting: Sender<Report>,
    /// Closed when everything was said.
    told: Receiver<()>,
}

/// Whether everything was said when a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportsEnd {
    Told,
    /// Standard error is full, and saying more would take for ever.
    Unread,
}

impl Reports {
    pub(super) fn begin(output: Output) -> Self {
        let (waiting, reports) = channel::<Report>();
        let (telling, told) = channel::<()>();
        // It ends with the process if nobody reads.
        let begun = thread::Builder::new().name("reports".to_owned()).spawn(move || {
            reports.into_iter().for_each(|report| report(&output));
            drop(telling);
        });
        if let Err(error) = begun {
            tracing::warn!(%error, "nothing can be said on standard error");
        }
        Self { waiting, told }
    }

    /// Says what is wrong, unless it is only worth a note.
    pub(super) fn problems(&self, problems: &[Problem]) {
        let mut grave: Vec<Problem> =
            problems.iter().filter(|it| it.severity > Severity::Note).cloned().collect();
        let more = grave.len().saturating_sub(MAX_PROBLEMS);
        grave.truncate(MAX_PROBLEMS);
        self.add(move |output| {
            output.problems(&grave);
            if more > 0 {
                output.say(&format!("and {more} more; `metier skills list` names all"));
            }
        });
    }

    /// Says something that is not the answer.
    pub(super) fn say(&self, text: &str) {
        let text = text.to_owned();
        self.add(move |output| output.say(&text));
    }

    /// Says something that a person must see, quiet or not.
    pub(super) fn insist(&self, text: &str) {
        let text = text.to_owned();
        self.add(move |output| output.insist(&text));
    }

    /// Says something in a row that begins with a word of ours, quiet or not.
    pub(super) fn row(&self, style: Style, word: &'static str, text: &'static str) {
        self.add(move |output| output.row(style, word, text));
    }

    fn add(&self, report: impl FnOnce(&Output) + Send + 'static) {
        // Without its thread there is nobody to tell.
        let _sent = self.waiting.send(Box::new(report));
    }

    /// Waits for what was not said yet, but not for long.
    pub(super) fn end(self) -> ReportsEnd {
        drop(self.waiting);
        match self.told.recv_timeout(LAST_REPORTS) {
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => ReportsEnd::Unread,
            Ok(()) | Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => ReportsEnd::Told,
        }
    }
}
