//! Requests over standard input and output.

use std::io;
use std::time::Duration;

use rmcp::service::ServerInitializeError;
use rmcp::{ServerHandler, serve_server};

use super::calls::{Calls, Leash};
use super::lines::Lines;
use super::stuck::{WatchedWriter, WriteProgress};

/// How long calls may go on after the end of the input: a script that sends its requests and closes the pipe wants
/// their answers; a client that has gone wants nothing.
const GRACE: Duration = Duration::from_secs(2);

/// Why serving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServingEnd {
    /// The input ended, or it was told to stop.
    Done,
    /// The input was closed, and nothing was taken from the output any more. Answers were lost, and a thread may still
    /// wait to write one.
    OutputStuck,
}

/// Answers requests until the input ends or it is told to stop. What runs then is ended.
///
/// # Errors
///
/// When whoever is at the other end does not speak the protocol.
pub async fn serve(
    handler: impl ServerHandler,
    stop: impl Future<Output = ()>,
) -> io::Result<ServingEnd> {
    let progress = WriteProgress::default();
    tokio::select! {
        served = serve_until(handler, stop, progress.clone()) => served.map(|()| ServingEnd::Done),
        () = progress.stuck_after_the_input() => Ok(ServingEnd::OutputStuck),
    }
}

async fn serve_until(
    handler: impl ServerHandler,
    stop: impl Future<Output = ()>,
    progress: WriteProgress,
) -> io::Result<()> {
    let calls = Calls::default();
    let (reader, writer) = rmcp::transport::io::stdio_pipes();
    let writer = WatchedWriter::new(writer, progress);
    let carrier = Leash::new(Lines::new(reader, writer, calls.clone()), calls, GRACE);
    let carrier = carrier.read_to_the_end();
    let mut stop = std::pin::pin!(stop);
    let running = tokio::select! {
        running = serve_server(handler, carrier) => match running {
            Ok(running) => running,
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(io::Error::other(error)),
        },
        () = &mut stop => return Ok(()),
    };
    let token = running.cancellation_token();
    let mut waiting = std::pin::pin!(running.waiting());
    tokio::select! {
        ended = &mut waiting => return ended.map(drop).map_err(io::Error::other),
        () = stop => token.cancel(),
    }
    waiting.await.map(drop).map_err(io::Error::other)
}
