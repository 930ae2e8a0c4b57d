//! Calls of tools, and what they answer.

use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, RequestId,
    ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use rmcp::{Peer, RoleClient};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use super::handler;
use super::text::{bounded, excerpt, size};
use super::{
    McpAnswerFault, McpCallProgress, McpClientError, McpConnection, McpToolResult, messages,
};

/// How much of an answer is kept, in bytes.
const MAX_REPLY: usize = 1 << 20;
/// How long it may take to tell a server that nobody waits any more.
const TO_TELL: Duration = Duration::from_secs(2);

impl McpConnection {
    /// Calls a tool until `stopped` is ready. What goes wrong within the tool is a reply.
    ///
    /// # Errors
    ///
    /// When there is no reply, or the call was stopped; the server is told then.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        stopped: impl Future<Output = ()> + Send,
        progress: &mut (dyn FnMut(McpCallProgress) + Send),
    ) -> Result<McpToolResult, McpClientError> {
        self.needs(self.server().has_tools, "tools")?;
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let peer = self.service.peer();
        let (sender, mut signs) = handler::progress();
        // The clock is ours: that of the crate tells the server first, which may not read what it is told.
        let limit = self.timeouts.call;
        let mut late = std::pin::pin!(sleep(limit));
        let mut stopped = std::pin::pin!(stopped);
        let sending = async {
            let mut calls = self.service.service().calls.lock().await;
            let options = PeerRequestOptions::no_options();
            let handle = peer.send_request_with_option(request, options).await?;
            // Those whose calls were dropped are told nothing any more.
            calls.retain(|_, it| !it.is_closed());
            calls.insert(handle.progress_token.clone(), sender);
            Ok(handle)
        };
        let handle = tokio::select! {
            biased;
            () = &mut stopped => return Err(self.stopped()),
            handle = sending => handle,
            () = &mut late => return Err(self.trouble.silent(limit)),
        };
        let handle = match handle {
            Ok(handle) => handle,
            Err(error) => return Err(self.trouble.asking(error).await),
        };
        let token = handle.progress_token.clone();

        let mut abandoned = Abandoned { peer, id: Some(handle.id.clone()) };
        let mut answer = std::pin::pin!(handle.await_response());
        let outcome = loop {
            tokio::select! {
                biased;
                () = &mut stopped => break Outcome::Stopped,
                answer = &mut answer => break Outcome::Answered(Box::new(answer)),
                Some(sign) = signs.recv() => progress(sign),
                () = &mut late => break Outcome::Late,
            }
        };
        while let Ok(sign) = signs.try_recv() {
            progress(sign);
        }
        self.service.service().calls.lock().await.remove(&token);
        match outcome {
            Outcome::Answered(answer) => {
                abandoned.id = None;
                match *answer {
                    Ok(answer) => {
                        reply(&messages::unboxed(answer)).map_err(|fault| self.strange(fault))
                    }
                    Err(error) => Err(self.trouble.asking(error).await),
                }
            }
            Outcome::Late => {
                abandoned.tell().await;
                Err(self.trouble.silent(limit))
            }
            Outcome::Stopped => {
                abandoned.tell().await;
                Err(self.stopped())
            }
        }
    }

    fn stopped(&self) -> McpClientError {
        McpClientError::Stopped { server: self.trouble.server.clone() }
    }
}

/// What became of waiting for an answer.
enum Outcome {
    Answered(Box<Result<ServerResult, ServiceError>>),
    /// It did not come in time.
    Late,
    Stopped,
}

/// A call that nobody waits for any more; the server is told.
struct Abandoned<'a> {
    peer: &'a Peer<RoleClient>,
    /// The call, unless it is over.
    id: Option<RequestId>,
}

impl Abandoned<'_> {
    /// Tells the server now, if that does not take long.
    async fn tell(mut self) {
        if let Some(id) = self.id.take() {
            // A server that does not hear it has other troubles.
            let _unheard = timeout(TO_TELL, self.peer.notify_cancelled(notice(id))).await;
        }
    }
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        if let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) {
            let peer = self.peer.clone();
            runtime.spawn(async move { peer.notify_cancelled(notice(id)).await });
        }
    }
}

fn notice(id: RequestId) -> CancelledNotificationParam {
    CancelledNotificationParam::new(Some(id), Some("nobody waits for it any more".to_owned()))
}

/// Reads the answer of a tool.
fn reply(answer: &Value) -> Result<McpToolResult, McpAnswerFault> {
    let kind = answer.get("resultType").and_then(Value::as_str).unwrap_or("complete");
    match kind {
        "complete" => {}
        "input_required" => return Err(McpAnswerFault::InputRequired),
        other => return Err(McpAnswerFault::UnknownKind { kind: excerpt(other) }),
    }
    let content = answer.get("content").and_then(Value::as_array);
    let structured = answer.get("structuredContent").filter(|it| !it.is_null());
    if content.is_none() && structured.is_none() {
        return Err(McpAnswerFault::NoContent);
    }
    let mut text = content.into_iter().flatten().map(part).collect::<Vec<_>>().join("\n");
    // What is for programs says the same, and is read where there is nothing else.
    if let Some(structured) = structured.filter(|_| text.trim().is_empty()) {
        text = structured.to_string();
    }
    let is_error = answer.get("isError").and_then(Value::as_bool).unwrap_or_default();
    Ok(McpToolResult { text: bounded(&text, MAX_REPLY), is_error })
}

/// A part of an answer in words. What has none is named.
fn part(part: &Value) -> String {
    let field = |name: &str| part.get(name).and_then(Value::as_str);
    match field("type").unwrap_or_default() {
        "text" => field("text").unwrap_or_default().to_owned(),
        kind @ ("image" | "audio") => named(kind, field("mimeType"), field("data")),
        "resource" => part.get("resource").map(resource).unwrap_or_default(),
        "resource_link" => {
            let description = field("description").map(|it| format!(": {it}")).unwrap_or_default();
            format!(
                "[{} {}{description}]",
                field("name").unwrap_or("file"),
                field("uri").unwrap_or_default()
            )
        }
        other => format!("[content of the kind `{}`]", excerpt(other)),
    }
}

/// A file within an answer.
fn resource(resource: &Value) -> String {
    let field = |name: &str| resource.get(name).and_then(Value::as_str);
    let uri = excerpt(field("uri").unwrap_or("file"));
    match field("text") {
        Some(text) => format!("[{uri}]\n{text}"),
        None => named(&uri, field("mimeType"), field("blob")),
    }
}

/// What is no text: what it is, and how large.
fn named(what: &str, kind: Option<&str>, data: Option<&str>) -> String {
    let letters = data.unwrap_or_default().trim_end_matches('=').len() as u64;
    let kind = kind.map(|kind| format!(" {}", excerpt(kind))).unwrap_or_default();
    format!("[{what}{kind}, {}]", size(letters * 3 / 4))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(answer: &Value) -> String {
        reply(answer).map_or_else(|fault| format!("strange: {fault}"), |reply| reply.text)
    }

    #[test]
    fn every_kind_of_content_is_said_in_words() {
        insta::assert_snapshot!(text(&json!({"content": [
            {"type": "text", "text": "one"},
            {"type": "image", "mimeType": "image/png", "data": "A".repeat(16_000)},
            {"type": "audio", "mimeType": "audio/wav", "data": "QUI="},
            {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "two"}},
            {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "x/y", "blob": "QUJD"}},
            {"type": "resource_link", "uri": "file:///c", "name": "c", "description": "the third"},
            {"type": "hologram"},
            7,
        ]})), @r"
        one
        [image image/png, 12 kB]
        [audio audio/wav, 2 bytes]
        [file:///a.txt]
        two
        [file:///b x/y, 3 bytes]
        [c file:///c: the third]
        [content of the kind `hologram`]
        [content of the kind ``]
        ");
    }

    #[test]
    fn an_answer_for_programs_is_read_by_people_where_there_is_no_other() {
        let only = reply(&json!({"structuredContent": {"a": 1}})).unwrap();
        assert_eq!(only.text, r#"{"a":1}"#);
        let both = json!({"content": [{"type": "text", "text": "one"}], "structuredContent": [1], "isError": true});
        let both = reply(&both).unwrap();
        assert_eq!((both.text.as_str(), both.is_error), ("one", true));
    }

    #[test]
    fn what_is_too_much_is_left_out_and_said() {
        let long = "x".repeat(MAX_REPLY + 5);
        let said = text(&json!({"content": [{"type": "text", "text": long}]}));
        assert!(said.ends_with("x\n[… 5 bytes more]"));
        let structured = reply(&json!({"content": [], "structuredContent": long})).unwrap();
        assert!(structured.text.ends_with("more]"), "{}", structured.text.len());
    }

    #[test]
    fn what_is_no_answer_is_strange() {
        assert_eq!(text(&json!({})), "strange: it has no content");
        assert_eq!(text(&json!([])), "strange: it has no content");
        let asks = json!({"resultType": "input_required", "inputRequests": {}});
        assert_eq!(text(&asks), "strange: it asks for more, which nobody can give");
        let task = json!({"resultType": "task", "taskId": "1"});
        assert_eq!(text(&task), "strange: an answer of the kind `task`");
    }
}
