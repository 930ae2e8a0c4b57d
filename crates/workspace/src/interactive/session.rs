//! One session: a run with somebody to talk to.
//!
//! The thread that reads the program's output writes it down and wakes those who wait; nobody looks
//! again and again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metier_sandbox::{Cancel, Console, Stream};
use metier_secrets::{RedactionStream, Redactor};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

use super::answer::{EndStatus, Entry, InteractiveError, Listed, Progress, SessionStatus};
use super::prompt::MAX_HINT;
use super::transcript::{Bounds, Taken, Transcript};
use crate::layout::WorkspaceKey;
use crate::order::RunError;
use crate::request::RunOutput;

/// What a session is, from its beginning on.
#[derive(Debug)]
pub(super) struct About {
    pub(super) id: String,
    pub(super) key: WorkspaceKey,
    pub(super) skill: String,
    pub(super) command: String,
    pub(super) has_terminal: bool,
    /// How long a program is silent that waits for somebody.
    pub(super) settle: Duration,
    pub(super) console: Console,
    pub(super) cancel: Cancel,
    /// Masks the values of keys that only come together when control sequences are taken out.
    pub(super) redactor: Redactor,
}

/// A session, shared by its task, the thread that reads its output and those who ask for it.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) about: About,
    since: Instant,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct State {
    transcript: Transcript,
    masked: MaskedText,
    phase: Phase,
    /// When something was last written.
    heard: Instant,
    was_killed: bool,
    task: Option<AbortHandle>,
}

/// The text of a session as it is given: without the values of keys, wherever it is cut.
#[derive(Debug)]
struct MaskedText {
    stream: RedactionStream,
    /// Where the next text begins in what was written, and in what is given.
    written: u64,
    given: u64,
}

impl MaskedText {
    /// Masks the next text. After the last one nothing is held back.
    fn take(&mut self, taken: &Taken, is_last: bool) -> Taken {
        let mut text = self.stream.push_text(&taken.text);
        if is_last {
            text.push_str(&self.stream.finish_text());
        }
        // What nobody took in time is skipped.
        let offset = self.given + (taken.offset - self.written);
        self.written = taken.next_offset;
        self.given = offset + text.len() as u64;
        Taken { text, offset, next_offset: self.given, dropped_lines: taken.dropped_lines }
    }
}

impl State {
    /// Whether there is something new that seems to wait for an answer.
    fn asks(&mut self) -> bool {
        self.transcript.has_any() && self.transcript.interaction().is_some()
    }
}

/// How far a session is.
#[derive(Debug)]
enum Phase {
    /// Nothing runs yet.
    Preparing,
    Running,
    /// The run is over and what it made was collected.
    Exited(Result<Box<RunOutput>, RunError>),
    /// It never began, and whoever started it knows why.
    Failed,
}

impl Phase {
    fn is_over(&self) -> bool {
        matches!(self, Self::Exited(_) | Self::Failed)
    }
}

/// How long to wait for output, and how much of it to take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) time: Duration,
    pub(super) most: Bounds,
}

impl Session {
    pub(super) fn new(about: About, bounds: Bounds) -> Arc<Self> {
        let state = State {
            transcript: Transcript::new(bounds),
            masked: MaskedText { stream: about.redactor.stream(), written: 0, given: 0 },
            phase: Phase::Preparing,
            heard: Instant::now(),
            was_killed: false,
            task: None,
        };
        let (since, changed) = (Instant::now(), watch::Sender::new(()));
        Arc::new(Self { about, since, state: Mutex::new(state), changed })
    }

    /// Remembers the task that sees the session through.
    pub(super) fn belongs_to(&self, task: AbortHandle) {
        self.state().task = Some(task);
    }

    /// The program runs.
    pub(super) fn started(&self) {
        self.state().phase = Phase::Running;
        self.changed.send_replace(());
    }

    /// The program wrote something.
    pub(super) fn heard(&self, stream: Stream, bytes: &[u8]) {
        let mut state = self.state();
        state.transcript.write(stream, bytes);
        state.heard = Instant::now();
        drop(state);
        self.changed.send_replace(());
    }

    /// The run is over, or never began.
    pub(super) fn finished(&self, result: Result<RunOutput, RunError>) {
        let mut state = self.state();
        state.transcript.end();
        state.phase = Phase::Exited(result.map(|output| Box::new(self.made_plain(output))));
        drop(state);
        self.changed.send_replace(());
    }

    fn made_plain(&self, mut output: RunOutput) -> RunOutput {
        if self.about.has_terminal {
            let plain = Transcript::plain(&output.stdout);
            output.stdout = self.about.redactor.redact(&plain).into_owned();
        }
        output
    }

    /// Waits until the program runs, or gives the reason why it never will.
    pub(super) async fn begun(&self) -> Result<(), RunError> {
        let mut changed = self.changed.subscribe();
        loop {
            {
                let mut state = self.state();
                match std::mem::replace(&mut state.phase, Phase::Failed) {
                    Phase::Preparing => state.phase = Phase::Preparing,
                    Phase::Exited(Err(error)) => return Err(error),
                    other => {
                        state.phase = other;
                        return Ok(());
                    }
                }
            }
            if changed.changed().await.is_err() {
                return Ok(());
            }
        }
    }

    /// Types something.
    pub(super) fn type_in(&self, entry: Entry<'_>) -> Result<(), InteractiveError> {
        let mut state = self.state();
        if state.phase.is_over() {
            return Err(InteractiveError::Ended(self.about.id.clone()));
        }
        let mut text = entry.chars.to_owned();
        if entry.submit {
            text.push('\n');
        }
        let closes = !self.about.has_terminal && text.ends_with('\x04');
        let bytes = if closes { &text.as_bytes()[..text.len() - 1] } else { text.as_bytes() };
        self.about.console.write(bytes)?;
        if closes {
            self.about.console.close();
        }
        if text.contains(['\n', '\r', '\x03', '\x04']) {
            state.transcript.answered();
        }
        Ok(())
    }

    /// Waits until the program ended, seems to wait for somebody or has written enough, or until
    /// time is up; then takes what it wrote.
    pub(super) async fn progress(&self, patience: Patience) -> Progress {
        let deadline = Instant::now() + patience.time;
        let mut changed = self.changed.subscribe();
        loop {
            let wake = {
                let mut state = self.state();
                let settled = state.heard + self.about.settle;
                let now = Instant::now();
                let enough = state.phase.is_over() || state.transcript.has(patience.most);
                if enough || now >= deadline || (now >= settled && state.asks()) {
                    return self.report(&mut state, patience.most);
                }
                if now < settled { settled.min(deadline) } else { deadline }
            };
            // Whether time was up or something happened, the next look tells.
            let _either = timeout_at(wake, changed.changed()).await;
        }
    }

    fn report(&self, state: &mut State, most: Bounds) -> Progress {
        let taken = state.transcript.take(most);
        let more = state.transcript.has_any();
        let taken = state.masked.take(&taken, state.phase.is_over() && !more);
        let mut progress = Progress {
            status: SessionStatus::Running,
            session_id: self.about.id.clone(),
            output: taken.text,
            offset: taken.offset,
            next_offset: taken.next_offset,
            dropped_lines: taken.dropped_lines,
            more,
            exit_code: None,
            interaction: None,
            result: None,
            error: None,
        };
        match &state.phase {
            Phase::Exited(Ok(result)) => {
                progress.exit_code = result.exit_code;
                progress.result = Some(result.clone());
            }
            Phase::Exited(Err(error)) => {
                let text = error.to_string();
                progress.error = Some(self.about.redactor.redact(&text).into_owned());
            }
            Phase::Failed => {}
            Phase::Preparing | Phase::Running => {
                let is_silent = state.heard.elapsed() >= self.about.settle;
                let asks = is_silent && !more;
                progress.interaction = asks.then(|| state.transcript.interaction()).flatten();
                if let Some(interaction) = &mut progress.interaction {
                    interaction.hint = self.masked_hint(&interaction.hint);
                }
                return progress;
            }
        }
        progress.status = SessionStatus::Exited;
        progress
    }

    fn masked_hint(&self, hint: &str) -> String {
        match hint.chars().count() < MAX_HINT {
            true => self.about.redactor.redact(hint).into_owned(),
            // It was cut.
            false => self.about.redactor.redact_beginning(hint),
        }
    }

    /// Asks the program to end; it is ended a little later if it does not.
    pub(super) fn stop(&self) -> EndStatus {
        let mut state = self.state();
        if state.phase.is_over() {
            return if state.was_killed { EndStatus::Killed } else { EndStatus::Exited };
        }
        state.was_killed = true;
        self.about.cancel.cancel();
        EndStatus::Killed
    }

    /// Waits for the end of the run, but not for ever.
    pub(super) async fn ended(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let mut changed = self.changed.subscribe();
        while !self.is_over() {
            let waited = timeout_at(deadline, changed.changed()).await;
            if !matches!(waited, Ok(Ok(()))) {
                break;
            }
        }
        self.is_over()
    }

    /// Ends the program at once and forgets about the run.
    pub(super) fn abandon(&self) {
        self.about.cancel.cancel();
        self.about.console.kill();
        if let Some(task) = self.state().task.take() {
            task.abort();
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.state().phase.is_over()
    }

    pub(super) fn listed(&self) -> Listed {
        let is_over = self.is_over();
        Listed {
            session_id: self.about.id.clone(),
            key: self.about.key.clone(),
            skill: self.about.skill.clone(),
            command: self.about.redactor.redact(&self.about.command).into_owned(),
            tty: self.about.has_terminal,
            status: if is_over { SessionStatus::Exited } else { SessionStatus::Running },
            age_seconds: self.since.elapsed().as_secs(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
