//! An output that nobody reads, noticed when the input is closed.
//!
//! A client that has gone may leave a full pipe behind: it closed our input and holds our output, or somebody else
//! does. Whatever waits for that pipe waits for ever. A client that only reads slowly makes progress, and one that
//! has not closed the input may read again.

use std::io;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use metier_sandbox::unread_output;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use tokio::io::AsyncWrite;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

/// How long nothing may be taken from the output when the input is closed.
const STUCK: Duration = Duration::from_millis(1200);
/// How often that is looked at.
const GLANCE: Duration = Duration::from_millis(50);
/// Bytes that are written at once. A thread that waits in a write of more would not be seen to make progress.
const PIECE: usize = 16 << 10;

/// Since when a write waits for whoever should read; none while none does.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteProgress(Arc<Mutex<Option<Instant>>>);

impl WriteProgress {
    /// Waits until the input is closed and the output takes nothing more.
    pub(super) async fn stuck_after_the_input(&self) {
        input_closed().await;
        let (mut taken, mut unread) = (Instant::now(), 0);
        loop {
            sleep(GLANCE).await;
            // Long before there is room for more, some may have been read. An output without a queue is a file.
            let left = unread_output(io::stdout()).unwrap_or_default();
            if left < unread {
                taken = Instant::now();
            }
            unread = left;
            let waiting = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if waiting.is_some_and(|since| since.max(taken).elapsed() >= STUCK) {
                return;
            }
        }
    }

    fn note<T>(&self, polled: Poll<T>) -> Poll<T> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &polled {
            Poll::Ready(_) => *waiting = None,
            Poll::Pending => {
                waiting.get_or_insert_with(Instant::now);
            }
        }
        polled
    }
}

/// Waits until standard input is closed at its other end, whatever is left to read in it. A file, which has no other end,
/// counts as closed.
async fn input_closed() {
    let (closed, seen) = oneshot::channel();
    // A thread of its own, since the runtime waits for those it knows. It ends with the process.
    let watching = thread::Builder::new().name("input".to_owned()).spawn(move || {
        wait_for_close(io::stdin());
        let _nobody_waits = closed.send(());
    });
    if let Err(error) = watching {
        tracing::warn!(%error, "nobody notices when the input is closed");
        std::future::pending::<()>().await;
    }
    let _closed = seen.await;
}

fn wait_for_close(input: impl AsFd) {
    if fstat(&input).is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::RegularFile) {
        return;
    }
    // What is there to read does not matter; that nobody writes any more is always told.
    let mut asked = [PollFd::new(&input, PollFlags::RDHUP)];
    while poll(&mut asked, None) == Err(Errno::INTR) {}
}

/// A writer that notes whether it makes progress.
pub(super) struct WatchedWriter<W> {
    inner: W,
    progress: WriteProgress,
}

impl<W> WatchedWriter<W> {
    pub(super) fn new(inner: W, progress: WriteProgress) -> Self {
        Self { inner, progress }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for WatchedWriter<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let piece = &bytes[..bytes.len().min(PIECE)];
        let polled = Pin::new(&mut self.inner).poll_write(context, piece);
        self.progress.note(polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_flush(context);
        self.progress.note(polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_shutdown(context);
        self.progress.note(polled)
    }
}
