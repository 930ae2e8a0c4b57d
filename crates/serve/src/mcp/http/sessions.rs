//! Sessions of clients that open one, as those before 2026-07-28 do.
//!
//! Each token has sessions of its own: with another token the id of a session is unknown. A connection that breaks
//! ends no call, by the protocol, as its client may come back for the answer. A session to which no connection is
//! open for [`ABANDONED`] has lost its client: its calls are cancelled, and after [`IDLE`] it is forgotten.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{Stream, StreamExt as _, stream};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetExtensions as _, JsonRpcMessage, JsonRpcRequest,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::WorkerTransport;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use thiserror::Error;
use tokio::time::timeout;

use crate::mcp::calls::{CallBudget, Calls, Leash};
use crate::mcp::lines::{Refusal, refused_call};

/// How long calls go on without a connection of their client, which is told to come back after three seconds.
const ABANDONED: Duration = Duration::from_secs(10);
/// How long a session is kept without a connection of its client.
const IDLE: Duration = Duration::from_secs(60 * 60);
/// How long closing a session is waited for.
const CLOSING: Duration = Duration::from_secs(1);
/// Sessions of a token. When there are more, the one that was left alone for the longest goes.
const MAX_SESSIONS: usize = 64;

/// The sessions of one token.
#[derive(Debug)]
pub(super) struct Sessions {
    inner: LocalSessionManager,
    known: Mutex<HashMap<SessionId, Session>>,
    /// Calls of all these sessions together.
    budget: CallBudget,
}

#[derive(Clone, Debug)]
struct Session {
    calls: Calls,
    attendance: Arc<Mutex<Attendance>>,
}

/// Who listens to a session.
#[derive(Debug)]
struct Attendance {
    connections: usize,
    /// When the last connection ended, or the last message came.
    left: Instant,
}

/// Why a session cannot be used.
#[derive(Debug, Error)]
pub(super) enum SessionsError {
    /// All of them are in use.
    #[error("{MAX_SESSIONS} sessions are in use")]
    Full,
    /// What the crate of the protocol says.
    #[error(transparent)]
    Protocol(#[from] LocalSessionManagerError),
}

impl Sessions {
    /// No sessions yet, in which at most this many calls may be open at a time.
    pub(super) fn new(max_calls: usize) -> Self {
        let mut inner = LocalSessionManager::default();
        // It counts from the last message, also while a client waits for the next one.
        inner.session_config.keep_alive = None;
        Self { inner, known: Mutex::default(), budget: CallBudget::new(max_calls) }
    }

    /// Whether one more session fits in.
    pub(super) fn have_room(&self) -> bool {
        let known = self.lock();
        known.len() < MAX_SESSIONS || known.values().any(|it| it.left().is_some())
    }

    /// Cancels the calls of clients that have gone, and forgets sessions that are of no use.
    pub(super) async fn sweep(&self) {
        let mut old = Vec::new();
        for (id, session) in &*self.lock() {
            let Some(left) = session.left() else { continue };
            if left.elapsed() >= ABANDONED && !session.calls.are_over() {
                session.calls.abandon();
            }
            if left.elapsed() >= IDLE {
                old.push(id.clone());
            }
        }
        self.close(old).await;
    }

    /// Closes all of them.
    pub(super) async fn close_all(&self) {
        let all = self.lock().keys().cloned().collect();
        self.close(all).await;
    }

    async fn close(&self, ids: Vec<SessionId>) {
        for id in ids {
            match timeout(CLOSING, self.close_session(&id)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "a session cannot be closed"),
                // It was let go of all the same, and ends when whoever does not read from it does.
                Err(_) => tracing::warn!("a session takes long to close"),
            }
        }
    }

    async fn make_room(&self) -> Result<(), SessionsError> {
        let oldest = {
            let known = self.lock();
            if known.len() < MAX_SESSIONS {
                return Ok(());
            }
            let left = known.iter().filter_map(|(id, it)| Some((it.left()?, id.clone())));
            left.min_by_key(|(left, _)| *left).ok_or(SessionsError::Full)?.1
        };
        self.close_session(&oldest).await
    }

    fn attend(&self, id: &SessionId) -> Option<Attending> {
        self.lock().get(id).map(Session::attend)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = Leash<WorkerTransport<LocalSessionWorker>>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        self.make_room().await?;
        let (id, transport) = self.inner.create_session().await?;
        let session = Session::new(&self.budget);
        let leash = Leash::new(transport, session.calls.clone(), Duration::ZERO);
        self.lock().insert(id.clone(), session);
        Ok((id, leash))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        Ok(self.inner.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.inner.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        self.lock().remove(id);
        Ok(self.inner.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let session = self.lock().get(id).cloned();
        let attending = session.as_ref().map(Session::attend);
        let opened = match (&session, &mut message) {
            (Some(session), JsonRpcMessage::Request(call)) => Some(session.open(call)),
            _ => None,
        };
        let opening = match opened.transpose() {
            Ok(opening) => opening,
            Err(refusal) => {
                let refusal = ServerSseMessage::from_message(*refusal);
                return Ok(stream::iter([refusal]).left_stream());
            }
        };
        let answers = self.inner.create_stream(id, message).await?;
        opening.into_iter().for_each(Opening::deliver);
        Ok(attended(answers, attending).right_stream())
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionsError> {
        let _attending = self.attend(id);
        Ok(self.inner.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let attending = self.attend(id);
        Ok(attended(self.inner.create_standalone_stream(id).await?, attending))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        // An answer that comes on this stream takes memory until it is read here.
        let shares = self.lock().get(id).map(|session| session.calls.shares());
        let kept = (self.attend(id), shares);
        Ok(attended(self.inner.resume(id, last_event_id).await?, kept))
    }
}

impl Session {
    fn new(budget: &CallBudget) -> Self {
        let attendance = Attendance { connections: 0, left: Instant::now() };
        Self { calls: Calls::within(budget.clone()), attendance: Arc::new(Mutex::new(attendance)) }
    }

    /// Since when there is no connection.
    fn left(&self) -> Option<Instant> {
        let attendance = self.attendance.lock().unwrap_or_else(PoisonError::into_inner);
        (attendance.connections == 0).then_some(attendance.left)
    }

    fn open(&self, call: &mut JsonRpcRequest<ClientRequest>) -> Result<Opening, Refusal> {
        let opened = self.calls.open(&call.id, call.request.extensions_mut());
        opened.map_err(|error| refused_call(&error, &call.id))?;
        Ok(Opening { calls: self.calls.clone(), call: Some(call.id.clone()) })
    }

    fn attend(&self) -> Attending {
        self.attendance.lock().unwrap_or_else(PoisonError::into_inner).connections += 1;
        Attending(Arc::clone(&self.attendance))
    }
}

/// A call that is open, but has not reached its session yet: whoever sent it may go before that.
struct Opening {
    calls: Calls,
    call: Option<RequestId>,
}

impl Opening {
    /// From now on the session ends the call.
    fn deliver(mut self) {
        self.call = None;
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if let Some(call) = &self.call {
            self.calls.end(call);
        }
    }
}

/// A connection to a session.
struct Attending(Arc<Mutex<Attendance>>);

impl Drop for Attending {
    fn drop(&mut self) {
        let mut attendance = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        attendance.connections -= 1;
        attendance.left = Instant::now();
    }
}

/// A stream that counts as a connection, and keeps what its answers take, for as long as it is there.
fn attended<S: Stream>(stream: S, kept: impl Sized) -> impl Stream<Item = S::Item> {
    stream.map(move |message| {
        let _kept = &kept;
        message
    })
}
