//! Messages as lines of JSON.
//!
//! A line has a bound, and what is no message is answered as JSON-RPC says. The transport of the protocol's crate
//! drops such lines without a word, so that whoever sent them would wait for ever.

use std::io;
use std::sync::Arc;

use metier_mcp::line::{MessageEnvelope, MessageLine, MessageLineReader, write_message_line};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, GetExtensions as _, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::error::Category;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::bounds::{MESSAGE, MessageTooLarge};
use super::calls::{CallError, Calls};

/// What some programs put before their first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Lines that are read and written.
pub(crate) struct Lines<R, W> {
    reader: MessageLineReader<R>,
    writer: Arc<Mutex<Option<W>>>,
    /// A refusal that is being written, in a task of its own: reading may be dropped at any point, and half a line
    /// would spoil the output. Nothing is read before it is written.
    refusing: Option<JoinHandle<()>>,
    calls: Calls,
}

/// What is answered instead.
pub(crate) type Refusal = Box<ServerJsonRpcMessage>;

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Lines<R, W> {
    pub(crate) fn new(reader: R, writer: W, calls: Calls) -> Self {
        let reader = MessageLineReader::new(reader, MESSAGE.bytes);
        Self { reader, writer: Arc::new(Mutex::new(Some(writer))), refusing: None, calls }
    }

    /// The message of the line that was read; none in an empty one.
    fn parse(&self) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
        let line = self.reader.text();
        let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        if text.trim_ascii().is_empty() {
            return Ok(None);
        }
        MESSAGE.check(text).map_err(refused_message)?;
        let mut message: ClientJsonRpcMessage = serde_json::from_slice(text).map_err(|error| {
            let envelope = serde_json::from_slice::<MessageEnvelope>(text).ok();
            let id = envelope.and_then(|envelope| envelope.request_id());
            Box::new(JsonRpcMessage::error(refusal(&error), id))
        })?;
        if let JsonRpcMessage::Request(request) = &mut message {
            let opened = self.calls.open(&request.id, request.request.extensions_mut());
            opened.map_err(|error| refused_call(&error, &request.id))?;
        }
        Ok(Some(message))
    }
}

/// Refuses a message that is too large to be parsed, so that its id is not known.
fn refused_message(error: MessageTooLarge) -> Refusal {
    Box::new(JsonRpcMessage::error(ErrorData::invalid_request(error.to_string(), None), None))
}

/// What is said of a call that cannot be opened. The answer to one whose id is in use would be taken for that of the
/// other.
pub(crate) fn refused_call(error: &CallError, id: &RequestId) -> Refusal {
    let data = ErrorData::invalid_request(format!("{id}: {error}"), None);
    let id = match error {
        CallError::InUse => None,
        CallError::TooMany | CallError::TokenHasTooMany(_) => Some(id.clone()),
    };
    Box::new(JsonRpcMessage::error(data, id))
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        async move { write_message_line(&writer, &item).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                let _written = refusing.await;
                self.refusing = None;
            }
            let parsed = match self.reader.next().await {
                Ok(MessageLine::Whole) => self.parse(),
                Ok(MessageLine::TooLong) => {
                    Err(refused_message(MessageTooLarge::Bytes(MESSAGE.bytes)))
                }
                Ok(MessageLine::End) => return None,
                Err(error) => {
                    tracing::warn!(%error, "the input cannot be read");
                    return None;
                }
            };
            match parsed {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refusal) => {
                    let sending = self.send(*refusal);
                    self.refusing = Some(tokio::spawn(async move {
                        if let Err(error) = sending.await {
                            tracing::debug!(%error, "a refusal was not written");
                        }
                    }));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.take();
        Ok(())
    }
}

/// What is said of text that is no message.
pub(crate) fn refusal(error: &serde_json::Error) -> ErrorData {
    match error.classify() {
        Category::Data => ErrorData::invalid_request("this is no message of the protocol", None),
        Category::Syntax | Category::Eof | Category::Io => {
            ErrorData::new(ErrorCode::PARSE_ERROR, format!("this is not JSON: {error}"), None)
        }
    }
}
