//! Messages as lines over pipes.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::net::unix::pipe;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::messages;
use super::program::Notes;
use crate::line::{MessageLine, MessageLineReader, write_message_line};

/// How long a message may be, in bytes: a file of a skill may have 16 MiB, and is a third longer in letters.
pub(super) const MAX_MESSAGE: usize = 32 << 20;
/// Lines that are no messages, after which the program is not listened to any more. Some write a banner.
const MAX_NONSENSE: usize = 1_000;
/// How long a message that is being written is waited for when the connection is closed.
const TO_FINISH: Duration = Duration::from_secs(1);

/// Talks to a program.
#[derive(Debug)]
pub(super) struct Lines {
    output: MessageLineReader<pipe::Receiver>,
    nonsense: usize,
    input: Arc<Mutex<Option<pipe::Sender>>>,
    notes: Arc<Notes>,
}

impl Lines {
    pub(super) fn new(output: pipe::Receiver, input: pipe::Sender, notes: Arc<Notes>) -> Self {
        Self {
            output: MessageLineReader::new(output, MAX_MESSAGE),
            nonsense: 0,
            input: Arc::new(Mutex::new(Some(input))),
            notes,
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
        async move { write_message_line(&input, &message).await }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            match self.output.next().await {
                Ok(MessageLine::Whole) => {}
                Ok(MessageLine::End) | Err(_) => return None,
                Ok(MessageLine::TooLong) => {
                    self.notes.is_too_much("a message of more than 32 MiB");
                    return None;
                }
            }
            let line = self.output.text();
            match messages::read(line) {
                Ok(message) => return Some(message),
                Err(_) if line.trim_ascii().is_empty() => {}
                Err(_) => {
                    self.notes.is_nonsense(line);
                    self.nonsense += 1;
                }
            }
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
