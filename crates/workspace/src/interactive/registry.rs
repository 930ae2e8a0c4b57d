//! All sessions of a process: started, found again, forgotten some time after their end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use metier_sandbox::{Cancel, Console, Size};

use super::answer::{Entry, InteractiveError, Killed, Listed, Progress};
use super::session::{About, Patience, Session};
use super::transcript::Bounds;
use crate::executor::{Dialogue, Watch};
use crate::layout::WorkspaceKey;
use crate::order::RunOrder;
use crate::run::Runner;

/// Most output that is given at once, in bytes: what a model can be shown.
const MAX_OUTPUT: usize = 32 << 10;
/// Longest time that output is waited for.
const MAX_YIELD: Duration = Duration::from_mins(5);
/// How long the end of a program is waited for: the two seconds it has to end by itself, what is
/// left of a tree that resists, and the collecting.
const MAX_ENDING: Duration = Duration::from_secs(30);

/// Bounds of all sessions of a registry.
#[derive(Clone, Copy, Debug)]
pub struct InteractiveOptions {
    /// Sessions at a time. Ended ones make room for new ones.
    pub max_sessions: usize,
    /// Lines of a session that are kept until they are taken; older ones are dropped.
    pub max_lines: usize,
    /// Bytes of them.
    pub max_bytes: usize,
    /// How long a program is silent that waits for somebody.
    pub settle: Duration,
    /// How long a session can be asked for after its end.
    pub retention: Duration,
}

impl Default for InteractiveOptions {
    fn default() -> Self {
        Self {
            max_sessions: 16,
            max_lines: 20_000,
            max_bytes: 4 << 20,
            settle: Duration::from_millis(75),
            retention: Duration::from_mins(30),
        }
    }
}

/// How a session begins.
#[derive(Clone, Copy, Debug)]
pub struct StartOptions {
    /// The size of its terminal; pipes if it has none.
    pub terminal: Option<Size>,
    /// How long its first output is waited for.
    pub waiting: Waiting,
}

impl Default for StartOptions {
    fn default() -> Self {
        Self { terminal: Some(Size::default()), waiting: Waiting::FIRST }
    }
}

/// How long to wait for output and how much of it to take.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// How long at most. A program that ended or asks something is not waited for.
    pub time: Duration,
    /// Lines at most; the others are given the next time.
    pub lines: usize,
}

impl Waiting {
    /// For a program that begins.
    pub const FIRST: Self = Self { time: Duration::from_secs(1), lines: 40 };
    /// For a program that was given input, or is looked at.
    pub const NEXT: Self = Self { time: Duration::from_millis(400), lines: 40 };

    fn patience(self) -> Patience {
        let most = Bounds { lines: self.lines.max(1), bytes: MAX_OUTPUT };
        Patience { time: self.time.min(MAX_YIELD), most }
    }
}

/// Commands that are talked to. Each is run by the runner that it is started with.
///
/// Dropped, it ends all of them at once. Its sessions live on the runtime in which they were
/// started.
///
/// ```standalone_crate
/// use metier_workspace::interactive::{Entry, InteractiveOptions, StartOptions, Waiting};
/// use metier_workspace::{Interactive, RunOrder, RunRequest, Runner, WorkspaceKey, Tree};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let state = folder.path().join("state");
/// let runner = Runner::sandboxed(&state)?;
/// let sessions = Interactive::new(InteractiveOptions::default());
/// // A skill without any file, of which a command is talked to.
/// let tree = Tree::new("talk", folder.path().to_owned(), vec![]);
/// let request =
///     RunRequest { skill: "talk".to_owned(), command: "cat".to_owned(), ..RunRequest::default() };
/// # let (app, user, session) = ("docs".to_owned(), "ada".to_owned(), "talk".to_owned());
/// # let key = WorkspaceKey { app, user, session, generation: 0 };
/// let order = RunOrder::new(key, request, vec![tree]);
/// // On pipes instead of a terminal, which would show what is typed.
/// let options = StartOptions { terminal: None, waiting: Waiting::NEXT };
/// let begun = sessions.start(&runner, order, options).await?;
///
/// let hello = Entry { chars: "hello", submit: true };
/// let answered = sessions.write(&begun.session_id, hello, Waiting::FIRST).await?;
/// assert_eq!(answered.output, "hello\n");
///
/// sessions.kill(&begun.session_id).await?;
/// let last = sessions.poll(&begun.session_id, Waiting::NEXT).await?;
/// assert!(last.result.is_some_and(|output| output.cancelled));
/// # Ok(())
/// # }
/// #
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// #     metier_workspace::helper();
/// #     run()
/// # }
/// ```
#[derive(Debug)]
pub struct Interactive {
    options: InteractiveOptions,
    sessions: Arc<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    /// By id; ids are in the order of time.
    all: Mutex<BTreeMap<String, Arc<Session>>>,
}

impl Interactive {
    /// Without any session yet.
    pub fn new(options: InteractiveOptions) -> Self {
        Self { options, sessions: Arc::default() }
    }

    /// Starts a command that is talked to and waits for its first output.
    ///
    /// # Errors
    ///
    /// When the run cannot be made, as [`Runner::run`] says, or there are too many sessions.
    pub async fn start(
        &self,
        runner: &Runner,
        order: RunOrder,
        options: StartOptions,
    ) -> Result<Progress, InteractiveError> {
        let console = Console::new()?;
        console.write(order.request.stdin.as_deref().unwrap_or_default().as_bytes())?;
        let about = About {
            id: uuid::Uuid::now_v7().simple().to_string(),
            key: order.key.clone(),
            skill: order.request.skill.clone(),
            command: order.request.command.clone(),
            has_terminal: options.terminal.is_some(),
            settle: self.options.settle,
            console,
            cancel: Cancel::new()?,
            redactor: runner.redactor.clone(),
        };
        let bounds = Bounds { lines: self.options.max_lines, bytes: self.options.max_bytes };
        let session = Session::new(about, bounds);
        self.sessions.add(&session, self.options.max_sessions)?;
        let mut unannounced =
            Unannounced { sessions: &self.sessions, session: Some(Arc::clone(&session)) };
        self.launch(&session, runner.clone(), order, options.terminal);
        session.begun().await?;
        let progress = session.progress(options.waiting.patience()).await;
        unannounced.session = None;
        Ok(progress)
    }

    /// Has a session seen through by a task of its own.
    fn launch(
        &self,
        session: &Arc<Session>,
        runner: Runner,
        order: RunOrder,
        terminal: Option<Size>,
    ) {
        let retention = self.options.retention;
        let sessions = Arc::downgrade(&self.sessions);
        let seen = Arc::clone(session);
        let task = tokio::spawn(async move {
            let guard = EndsWithTask(seen);
            let watch = watch(&guard.0, terminal);
            guard.0.finished(runner.see_through(order, watch).await);
            tokio::time::sleep(retention).await;
            if let Some(sessions) = Weak::upgrade(&sessions) {
                sessions.all().remove(&guard.0.about.id);
            }
        });
        session.belongs_to(task.abort_handle());
    }

    /// Types something and waits for what comes of it.
    ///
    /// # Errors
    ///
    /// When there is no such session, its program has ended, or does not read its input.
    pub async fn write(
        &self,
        id: &str,
        entry: Entry<'_>,
        waiting: Waiting,
    ) -> Result<Progress, InteractiveError> {
        let session = self.sessions.find(id)?;
        session.type_in(entry)?;
        Ok(session.progress(waiting.patience()).await)
    }

    /// Waits for output.
    ///
    /// # Errors
    ///
    /// When there is no such session.
    pub async fn poll(&self, id: &str, waiting: Waiting) -> Result<Progress, InteractiveError> {
        let session = self.sessions.find(id)?;
        Ok(session.progress(waiting.patience()).await)
    }

    /// Ends a program: asked to, it has two seconds. What it wrote and made can be polled after.
    ///
    /// # Errors
    ///
    /// When there is no such session, or its program resists.
    pub async fn kill(&self, id: &str) -> Result<Killed, InteractiveError> {
        let session = self.sessions.find(id)?;
        let status = session.stop();
        if !session.ended(MAX_ENDING).await {
            return Err(InteractiveError::Lingers { id: id.to_owned(), waited: MAX_ENDING });
        }
        Ok(Killed { ok: true, session_id: id.to_owned(), status })
    }

    /// Changes the size of a terminal.
    ///
    /// # Errors
    ///
    /// When there is no such session.
    pub fn resize(&self, id: &str, size: Size) -> Result<(), InteractiveError> {
        self.sessions.find(id)?.about.console.resize(size);
        Ok(())
    }

    /// All sessions, oldest first; ended ones among them, as long as they can be asked for.
    pub fn list(&self) -> Vec<Listed> {
        let all: Vec<Arc<Session>> = self.sessions.all().values().cloned().collect();
        all.iter().map(|session| session.listed()).collect()
    }

    /// Ends everything that belongs to a workspace, at once, and forgets it.
    pub fn end_all(&self, key: &WorkspaceKey) {
        self.sessions.all().retain(|_, session| {
            let is_other = session.about.key != *key;
            if !is_other {
                session.abandon();
            }
            is_other
        });
    }
}

impl Drop for Interactive {
    fn drop(&mut self) {
        self.sessions.all().values().for_each(|session| session.abandon());
    }
}

impl Sessions {
    /// Takes in a session; one that has ended makes room for it, if there is none.
    fn add(&self, session: &Arc<Session>, most: usize) -> Result<(), InteractiveError> {
        let mut all = self.all();
        if all.len() >= most {
            let ended = all.values().find(|session| session.is_over());
            let ended = ended.cloned().ok_or(InteractiveError::TooMany(most))?;
            all.remove(&ended.about.id);
            ended.abandon();
        }
        all.insert(session.about.id.clone(), Arc::clone(session));
        Ok(())
    }

    fn find(&self, id: &str) -> Result<Arc<Session>, InteractiveError> {
        let found = self.all().get(id).cloned();
        found.ok_or_else(|| InteractiveError::Unknown(id.to_owned()))
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Session>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session whose id nobody has been told. Nobody could end it, so it ends with whoever waits.
struct Unannounced<'a> {
    sessions: &'a Sessions,
    session: Option<Arc<Session>>,
}

impl Drop for Unannounced<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.sessions.all().remove(&session.about.id);
            session.abandon();
        }
    }
}

/// Ends a program whose task is gone, as it is when its runtime shuts down.
struct EndsWithTask(Arc<Session>);

impl Drop for EndsWithTask {
    fn drop(&mut self) {
        self.0.about.console.kill();
    }
}

/// What a session sees of its run.
fn watch(session: &Arc<Session>, terminal: Option<Size>) -> Watch {
    let (hearing, starting) = (Arc::clone(session), Arc::clone(session));
    Watch {
        cancel: session.about.cancel.clone(),
        output: Box::new(move |stream, bytes| hearing.heard(stream, bytes)),
        dialogue: Some(Dialogue {
            console: session.about.console.clone(),
            terminal,
            started: Box::new(move || starting.started()),
        }),
    }
}
