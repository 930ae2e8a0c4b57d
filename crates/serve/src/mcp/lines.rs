//! Messages as lines of JSON.
//!
//! A line has a bound, and what is no message is answered as JSON-RPC says. The transport of the protocol's crate
//! drops such lines without a word, so that whoever sent them would wait for ever.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::error::Category;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::MAX_MESSAGE;
use super::calls::Calls;

/// Room that a buffer keeps between lines.
const USUAL_LINE: usize = 64 << 10;
/// What some programs put before their first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Lines that are read and written.
pub(crate) struct Lines<R, W> {
    reader: BufReader<R>,
    /// What there is of a line that has not ended.
    line: Vec<u8>,
    /// Whether the line is too long, and is skipped to its end.
    is_skipped: bool,
    writer: Arc<Mutex<Option<W>>>,
    /// A refusal that is being written, in a task of its own: reading may be dropped at any point, and half a line
    /// would spoil the output. Nothing is read before it is written.
    refusing: Option<JoinHandle<()>>,
    calls: Calls,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Lines<R, W> {
    pub(crate) fn new(reader: R, writer: W, calls: Calls) -> Self {
        let reader = BufReader::new(reader);
        let writer = Arc::new(Mutex::new(Some(writer)));
        Self { reader, line: Vec::new(), is_skipped: false, writer, refusing: None, calls }
    }

    /// Reads up to the end of a line; whether there was one. What was read is kept when this is dropped.
    async fn fill(&mut self) -> io::Result<bool> {
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                return Ok(false);
            }
            let end = read.iter().position(|&byte| byte == b'\n');
            let part = &read[..end.unwrap_or(read.len())];
            if self.line.len() + part.len() > MAX_MESSAGE {
                self.is_skipped = true;
                self.line.clear();
            }
            if !self.is_skipped {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// The message of a line that was read; none in an empty one.
    fn parse(&mut self) -> Result<Option<ClientJsonRpcMessage>, ErrorData> {
        if std::mem::take(&mut self.is_skipped) {
            let text = format!("a message has at most {MAX_MESSAGE} bytes");
            return Err(ErrorData::invalid_request(text, None));
        }
        let text = self.line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.line);
        if text.trim_ascii().is_empty() {
            return Ok(None);
        }
        let message: ClientJsonRpcMessage =
            serde_json::from_slice(text).map_err(|error| refusal(&error))?;
        if let JsonRpcMessage::Request(request) = &message {
            self.calls.open(&request.id).map_err(|error| {
                ErrorData::invalid_request(format!("{}: {error}", request.id), None)
            })?;
        }
        Ok(Some(message))
    }
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
        async move { write(&writer, &item).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                let _written = refusing.await;
                self.refusing = None;
            }
            match self.fill().await {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    tracing::warn!(%error, "the input cannot be read");
                    return None;
                }
            }
            let parsed = self.parse();
            self.line.clear();
            self.line.shrink_to(USUAL_LINE);
            match parsed {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(error) => {
                    let sending = self.send(JsonRpcMessage::error(error, None));
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

async fn write<W: AsyncWrite + Unpin>(
    writer: &Mutex<Option<W>>,
    item: &ServerJsonRpcMessage,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(item)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    writer.write_all(&line).await?;
    writer.flush().await
}
