//! Messages as lines over pipes.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::messages;
use super::program::Notes;

/// How long a message may be, in bytes: a file of a skill may have 16 MiB, and is a third longer in letters.
pub(super) const MAX_MESSAGE: usize = 32 << 20;
/// Lines that are no messages, after which the program is not listened to any more. Some write a banner.
const MAX_NONSENSE: usize = 1_000;
/// How long a message that is being written is waited for when the connection is closed.
const TO_FINISH: Duration = Duration::from_secs(1);

/// Talks to a program.
#[derive(Debug)]
pub(super) struct Lines {
    output: BufReader<pipe::Receiver>,
    line: Vec<u8>,
    nonsense: usize,
    input: Arc<Mutex<Option<pipe::Sender>>>,
    notes: Arc<Notes>,
}

/// What was read.
enum Read {
    Line,
    TooLong,
    End,
}

impl Lines {
    pub(super) fn new(output: pipe::Receiver, input: pipe::Sender, notes: Arc<Notes>) -> Self {
        Self {
            output: BufReader::with_capacity(64 << 10, output),
            line: Vec::new(),
            nonsense: 0,
            input: Arc::new(Mutex::new(Some(input))),
            notes,
        }
    }

    /// Reads a line. What was read of it stays when this is dropped, so it can be called again.
    async fn read_line(&mut self) -> Read {
        loop {
            let Ok(piece) = self.output.fill_buf().await else { return Read::End };
            if piece.is_empty() {
                return Read::End;
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let count = end.map_or(piece.len(), |end| end + 1);
            if self.line.len() + count > MAX_MESSAGE {
                return Read::TooLong;
            }
            self.line.extend_from_slice(&piece[..count]);
            self.output.consume(count);
            if end.is_some() {
                return Read::Line;
            }
        }
    }
}

impl Transport<RoleClient> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let input = Arc::clone(&self.input);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            match &mut *input.lock().await {
                Some(input) => input.write_all(&line).await,
                None => Err(io::ErrorKind::NotConnected.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            match self.read_line().await {
                Read::Line => {}
                Read::End => return None,
                Read::TooLong => {
                    self.notes.is_too_much("a message of more than 32 MiB");
                    return None;
                }
            }
            let message = messages::read(&self.line);
            let is_blank = self.line.trim_ascii().is_empty();
            match message {
                Err(_) if is_blank => {}
                Err(_) => {
                    self.notes.is_nonsense(&self.line);
                    self.nonsense += 1;
                }
                Ok(message) => {
                    self.line.clear();
                    return Some(message);
                }
            }
            self.line.clear();
            if self.nonsense > MAX_NONSENSE {
                return None;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A program that does not read keeps whoever writes; it is ended soon.
        if let Ok(mut input) = timeout(TO_FINISH, self.input.lock()).await {
            drop(input.take());
        }
        Ok(())
    }
}
