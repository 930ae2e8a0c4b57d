//! Passes bytes on, counts them, and notices when nothing moves any more.

use std::io;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::server::{Shared, Trouble};
use super::target::Target;

/// What is in memory for each way of a connection.
const BUFFER: usize = 16 * 1024;

/// How long and how much a client may go on sending after it got its answer. Closing at once, with
/// bytes unread, would make the system throw away the answer as well.
const LINGER: Duration = Duration::from_secs(1);
const MAX_LINGER: u64 = 1024 * 1024;

/// A connection that was allowed.
pub(super) struct Relay<'a> {
    shared: &'a Shared,
    target: &'a Target,
    /// When something moved, in whatever direction.
    moved: Mutex<Instant>,
}

impl<'a> Relay<'a> {
    pub(super) fn new(shared: &'a Shared, target: &'a Target) -> Self {
        Self { shared, target, moved: Mutex::new(Instant::now()) }
    }

    /// Passes everything both ways, until both sides are done or one is broken.
    pub(super) async fn both_ways(
        &self,
        client: &mut TcpStream,
        server: &mut TcpStream,
    ) -> io::Result<()> {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        tokio::try_join!(
            self.one_way(from_client, to_server),
            self.one_way(from_server, to_client)
        )?;
        Ok(())
    }

    /// Passes everything, and then that there is no more.
    async fn one_way(
        &self,
        from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
    ) -> io::Result<()> {
        self.copy(from, &mut to).await?;
        let _already_closed = to.shutdown().await;
        Ok(())
    }

    /// Passes everything; the count is what it was.
    pub(super) async fn copy(
        &self,
        mut from: impl AsyncRead + Unpin,
        to: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<u64> {
        let mut buffer = vec![0; BUFFER];
        let mut passed = 0;
        loop {
            let count = self.patiently(from.read(&mut buffer)).await??;
            if count == 0 {
                return Ok(passed);
            }
            if let Err(reason) = self.shared.pass(count) {
                let target = self.target.to_string();
                self.shared.remember(target.as_bytes(), &Trouble::Refused(reason));
                return Err(io::ErrorKind::QuotaExceeded.into());
            }
            self.patiently(to.write_all(&buffer[..count])).await??;
            passed += count as u64;
        }
    }

    /// Waits as long as something moves in the one direction or the other.
    pub(super) async fn patiently<T>(&self, work: impl Future<Output = T>) -> io::Result<T> {
        let mut work = pin!(work);
        let moved = || *self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let deadline = moved() + self.shared.options.idle_timeout;
            if let Ok(done) = timeout_at(deadline, &mut work).await {
                *self.moved.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
                return Ok(done);
            }
            if moved() + self.shared.options.idle_timeout <= deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

/// Closes a connection in a way that lets the other side read what was sent last.
pub(super) async fn linger(client: &mut TcpStream) {
    let _already_closed = client.shutdown().await;
    let mut unread = client.take(MAX_LINGER);
    let _whatever = timeout(LINGER, tokio::io::copy(&mut unread, &mut tokio::io::sink())).await;
}
