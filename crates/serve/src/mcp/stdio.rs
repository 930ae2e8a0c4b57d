//! Requests over standard input and output.

use std::io;

use rmcp::{ServerHandler, serve_server};

/// Answers requests until the input ends or the process is told to stop.
///
/// # Errors
///
/// When whoever is at the other end does not speak the protocol.
pub async fn serve(handler: impl ServerHandler) -> io::Result<()> {
    let serving = serve_server(handler, rmcp::transport::io::stdio_pipes());
    let running = serving.await.map_err(io::Error::other)?;
    running.waiting().await.map_err(io::Error::other)?;
    Ok(())
}
