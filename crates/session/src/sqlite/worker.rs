//! A thread that has a connection, and does with it what it is asked.
//!
//! The writer takes all that waits, does each in a savepoint of one transaction, and answers after
//! the commit. So many appends share one wait for the disk, and one that fails does not spoil
//! the others. A session that was begun and has no event yet is not worth a wait of its own: it is
//! on disk when its first event is.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::database::Place;
use super::problem::Problem;
use crate::SessionError;

/// How much waits before those who ask have to.
const QUEUE: usize = 1024;
/// How much is committed together, so that the first of them does not wait long for the last.
const GROUP: usize = 256;

/// A thread, and the way to it. It ends, after what waits is done, when this is dropped.
#[derive(Debug)]
pub(super) struct Worker {
    place: Arc<Place>,
    jobs: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

/// When what was done is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasting {
    /// Before the outcome is told.
    Now,
    /// With the next thing that is so at once. Other processes see it, and it outlives this one,
    /// but not the power.
    Later,
}

/// Something to do with a connection.
trait Job: Send {
    fn lasting(&self) -> Lasting;

    /// Does it, and keeps the outcome. An error means that what it changed has to be undone.
    fn run(&mut self, connection: &Connection) -> Result<(), SessionError>;

    /// Tells the outcome to the one who asked: what it was, or why it is lost.
    fn finish(self: Box<Self>, lost: Option<&SessionError>);
}

struct Task<T, W> {
    place: Arc<Place>,
    lasting: Lasting,
    work: Option<W>,
    outcome: Option<Result<T, SessionError>>,
    answer: oneshot::Sender<Result<T, SessionError>>,
}

impl Worker {
    /// A thread that commits.
    pub(super) fn writer(place: &Arc<Place>, connection: Connection) -> Result<Self, SessionError> {
        let for_thread = Arc::clone(place);
        Self::start(place, "session-writer", move |jobs| write(&for_thread, connection, jobs))
    }

    /// A thread that only reads.
    pub(super) fn reader(place: &Arc<Place>, connection: Connection) -> Result<Self, SessionError> {
        Self::start(place, "session-reader", move |mut jobs| {
            while let Some(mut job) = jobs.blocking_recv() {
                // The outcome is told by the job itself.
                let _outcome = job.run(&connection);
                job.finish(None);
            }
        })
    }

    fn start(
        place: &Arc<Place>,
        name: &str,
        serve: impl FnOnce(mpsc::Receiver<Box<dyn Job>>) + Send + 'static,
    ) -> Result<Self, SessionError> {
        let (jobs, waiting) = mpsc::channel(QUEUE);
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || serve(waiting));
        let thread = thread.map_err(|error| Problem::File(error).explain(place))?;
        Ok(Self { place: Arc::clone(place), jobs: Some(jobs), thread: Some(thread) })
    }

    /// Has something done, and waits for the outcome.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, SessionError> {
        self.ask_lasting(Lasting::Now, work).await
    }

    /// The same, and says when it has to be on disk.
    pub(super) async fn ask_lasting<T: Send + 'static>(
        &self,
        lasting: Lasting,
        work: impl FnOnce(&Connection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, SessionError> {
        let closed = || SessionError::Closed { database: self.place.path.clone() };
        let (answer, answered) = oneshot::channel();
        let place = Arc::clone(&self.place);
        let task = Box::new(Task { place, lasting, work: Some(work), outcome: None, answer });
        let jobs = self.jobs.as_ref().ok_or_else(closed)?;
        jobs.send(task).await.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been seen by those who asked.
            let _panicked = thread.join();
        }
    }
}

impl<T: Send, W: FnOnce(&Connection) -> Result<T, Problem> + Send> Job for Task<T, W> {
    fn lasting(&self) -> Lasting {
        self.lasting
    }

    fn run(&mut self, connection: &Connection) -> Result<(), SessionError> {
        // Nobody waits any more: then it is not done at all.
        let work = self.work.take().filter(|_| !self.answer.is_closed());
        let Some(work) = work else { return Ok(()) };
        let outcome = work(connection).map_err(|problem| problem.explain(&self.place));
        let done = outcome.as_ref().map(|_| ()).map_err(Clone::clone);
        self.outcome = Some(outcome);
        done
    }

    fn finish(self: Box<Self>, lost: Option<&SessionError>) {
        let outcome = match (self.outcome, lost) {
            (Some(Err(error)), _) => Err(error),
            (_, Some(error)) => Err(error.clone()),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => return,
        };
        // Whoever asked may have given up.
        let _unheard = self.answer.send(outcome);
    }
}

fn write(place: &Place, mut connection: Connection, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
    let mut group = Vec::new();
    while let Some(first) = jobs.blocking_recv() {
        group.push(first);
        while group.len() < GROUP
            && let Ok(next) = jobs.try_recv()
        {
            group.push(next);
        }
        let lost =
            commit(place, &mut connection, &mut group).err().map(|problem| problem.explain(place));
        group.drain(..).for_each(|job| job.finish(lost.as_ref()));
    }
}

/// Does all of a group in one transaction.
fn commit(
    place: &Place,
    connection: &mut Connection,
    group: &mut [Box<dyn Job>],
) -> Result<(), Problem> {
    let is_now = group.iter().any(|job| job.lasting() == Lasting::Now);
    // This is a setting of the connection, and cannot be changed inside a transaction.
    let synchronous = if is_now { "FULL" } else { "NORMAL" };
    connection.pragma_update(None, "synchronous", synchronous)?;
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    place.check(&transaction)?;
    for job in group {
        let savepoint = transaction.savepoint()?;
        match job.run(&savepoint) {
            Ok(()) => savepoint.commit()?,
            // On a full disk, for one, SQLite gives up the transaction by itself.
            Err(error) if savepoint.is_autocommit() => return Err(error.into()),
            Err(_) => savepoint.finish()?,
        }
    }
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::database;
    use super::*;

    #[test]
    fn a_group_waits_for_the_disk_if_one_of_its_jobs_has_to_last() {
        let folder = tempfile::tempdir().unwrap();
        let opened = database::open(&folder.path().join("metier.db"), Duration::ZERO);
        let (place, mut connection, _reader) = opened.unwrap();
        let place = Arc::new(place);
        let job = |lasting| -> Box<dyn Job> {
            let (answer, _) = oneshot::channel::<Result<(), SessionError>>();
            let work = |_: &Connection| Ok(());
            let place = Arc::clone(&place);
            Box::new(Task { place, lasting, work: Some(work), outcome: None, answer })
        };
        let mut synchronous = |group: &[Lasting]| -> i64 {
            let mut group: Vec<_> = group.iter().copied().map(job).collect();
            assert!(commit(&place, &mut connection, &mut group).is_ok());
            connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap()
        };
        let (normal, full) = (1, 2);
        assert_eq!(synchronous(&[Lasting::Later, Lasting::Later]), normal);
        assert_eq!(synchronous(&[Lasting::Later, Lasting::Now, Lasting::Later]), full);
        assert_eq!(synchronous(&[Lasting::Later]), normal);
        assert_eq!(synchronous(&[Lasting::Now]), full);
    }
}
