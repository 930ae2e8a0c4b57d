//! Calls that wait for an answer, and their end when nobody waits any more.
//!
//! The crate of the protocol lets calls run on for a while when their client has gone. [`Leash`] goes between it and
//! whatever carries the messages: it knows which calls are open, and says on behalf of a client that has gone that
//! they are cancelled, which is what stops their programs.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
    ClientRequest, ErrorData, Extensions, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use thiserror::Error;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::memory::AnswerMemory;

/// Calls of one client that may wait for an answer at a time: whoever sends requests and reads no answers fills no
/// memory.
pub(crate) const MAX_OPEN: usize = 256;

/// The calls of one client that wait for an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls(Arc<Shared>);

/// The calls that several clients may have open together.
#[derive(Clone, Debug)]
pub(crate) struct CallBudget {
    open: Arc<AtomicUsize>,
    most: usize,
}

impl CallBudget {
    pub(crate) fn new(most: usize) -> Self {
        Self { open: Arc::default(), most }
    }

    /// Takes a place that is given back when the last copy of it is dropped.
    ///
    /// # Errors
    ///
    /// When none is free.
    pub(crate) fn reserve(&self) -> Result<ReservedCall, CallError> {
        let one_more = |open: usize| (open < self.most).then_some(open + 1);
        match self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more) {
            Ok(_) => Ok(ReservedCall { _place: Arc::new(ReservedPlace(self.clone())) }),
            Err(_) => Err(CallError::TokenHasTooMany(self.most)),
        }
    }
}

/// A place in a [`CallBudget`]. The call has it until it is answered, and what handles the call until it has ended, which
/// is later where a call is cancelled.
#[derive(Clone, Debug)]
pub(crate) struct ReservedCall {
    _place: Arc<ReservedPlace>,
}

#[derive(Debug)]
struct ReservedPlace(CallBudget);

impl Drop for ReservedPlace {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a request over HTTP takes of the share of its token: kept by its handler, by its call in a session and by the body
/// of its answer, whichever is there longest.
#[derive(Clone, Debug)]
pub(crate) struct RequestShare {
    _reserved: ReservedCall,
    pub(crate) memory: AnswerMemory,
}

impl RequestShare {
    pub(crate) fn new(reserved: ReservedCall, memory: AnswerMemory) -> Self {
        Self { _reserved: reserved, memory }
    }

    /// Returns the share of a request, which one over pipes has not.
    pub(crate) fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get::<Parts>()?.extensions.get()
    }
}

/// What an open call has.
#[derive(Debug)]
struct OpenCall {
    /// Its place among the calls of all sessions of its token.
    _reserved: Option<ReservedCall>,
    /// What its request has.
    share: Option<RequestShare>,
    /// Whether its answer is being sent.
    is_answered: bool,
}

/// Why a call cannot be opened.
#[derive(Debug, Error)]
pub(crate) enum CallError {
    /// Answers could not be told apart.
    #[error("a call with this id waits for its answer")]
    InUse,
    /// See [`MAX_OPEN`].
    #[error("{MAX_OPEN} calls wait for their answers")]
    TooMany,
    /// See [`CallBudget`].
    #[error("{0} calls of this token wait for their answers")]
    TokenHasTooMany(usize),
}

#[derive(Debug, Default)]
struct Shared {
    open: Mutex<HashMap<RequestId, OpenCall>>,
    ended: Notify,
    abandoned: Notify,
    /// What the calls count against beside their own bound.
    budget: Option<CallBudget>,
}

impl Calls {
    /// No calls yet, which will count against a budget.
    pub(crate) fn within(budget: CallBudget) -> Self {
        Self(Arc::new(Shared { budget: Some(budget), ..Shared::default() }))
    }

    /// Opens a call. What handles it has to keep the place that is noted in its extensions.
    pub(crate) fn open(
        &self,
        id: &RequestId,
        extensions: &mut Extensions,
    ) -> Result<(), CallError> {
        let mut open = self.lock();
        if open.contains_key(id) {
            return Err(CallError::InUse);
        }
        if open.len() >= MAX_OPEN {
            return Err(CallError::TooMany);
        }
        let reserved = self.0.budget.as_ref().map(CallBudget::reserve).transpose()?;
        if let Some(reserved) = &reserved {
            extensions.insert(reserved.clone());
        }
        let share = RequestShare::of(extensions).cloned();
        let call = OpenCall { _reserved: reserved, share, is_answered: false };
        open.insert(id.clone(), call);
        Ok(())
    }

    /// Notes that the answer to a call is about to be sent.
    fn answer(&self, id: &RequestId) {
        if let Some(call) = self.lock().get_mut(id) {
            call.is_answered = true;
        }
    }

    /// Notes that a call was answered, or that nobody waits for its answer.
    pub(crate) fn end(&self, id: &RequestId) {
        if self.lock().remove(id).is_some() {
            self.0.ended.notify_one();
        }
    }

    /// Whether no call is open.
    pub(crate) fn are_over(&self) -> bool {
        self.lock().is_empty()
    }

    /// Cancels what is open.
    pub(crate) fn abandon(&self) {
        self.0.abandoned.notify_one();
    }

    async fn over(&self) {
        while !self.are_over() {
            self.0.ended.notified().await;
        }
    }

    fn take(&self) -> VecDeque<RequestId> {
        self.lock().drain().map(|(id, _)| id).collect()
    }

    /// Returns what the requests of open calls have, for a stream on which their answers may come.
    pub(crate) fn shares(&self) -> Vec<RequestShare> {
        self.lock().values().filter_map(|call| call.share.clone()).collect()
    }

    /// Takes the calls whose answers are not being sent.
    fn take_unanswered(&self) -> VecDeque<RequestId> {
        self.lock().extract_if(|_, call| !call.is_answered).map(|(id, _)| id).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, OpenCall>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What carries messages, with an eye on calls.
pub(crate) struct Leash<T> {
    inner: T,
    calls: Calls,
    /// How long calls may go on when the client has said its last.
    grace: Duration,
    /// Calls that are about to be cancelled.
    cancelled: VecDeque<RequestId>,
    /// Whether the client has opened with a request, as it must.
    is_opened: bool,
    /// Whether a client that has said its last is waited for until it has read all answers.
    is_read_to_the_end: bool,
    end: End,
}

/// Whether more is to come from a client.
#[derive(Clone, Copy)]
enum End {
    Open,
    Closing(Instant),
    /// Nothing runs any more. Answers are sent for as long as they are read.
    Sending,
    Closed,
}

impl<T> Leash<T> {
    pub(crate) fn new(inner: T, calls: Calls, grace: Duration) -> Self {
        let cancelled = VecDeque::new();
        let (is_opened, is_read_to_the_end) = (false, false);
        Self { inner, calls, grace, cancelled, is_opened, is_read_to_the_end, end: End::Open }
    }

    /// Waits until a client that has said its last has read all answers, however slowly. What carries them has to notice
    /// when it reads nothing any more.
    pub(crate) fn read_to_the_end(self) -> Self {
        Self { is_read_to_the_end: true, ..self }
    }

    /// Takes note of a message; one that nobody can follow is dropped.
    fn heed(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &message {
            JsonRpcMessage::Request(request) => {
                self.is_opened |= !matches!(request.request, ClientRequest::PingRequest(_));
            }
            JsonRpcMessage::Notification(told) => {
                if let ClientNotification::CancelledNotification(told) = &told.notification
                    && let Some(id) = &told.params.request_id
                {
                    self.calls.end(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        let is_request = matches!(message, JsonRpcMessage::Request(_));
        (self.is_opened || is_request).then_some(message)
    }
}

impl<T: Transport<RoleServer>> Leash<T> {
    /// Answers what is cancelled: a client that comes back after all would wait for an answer that never comes.
    fn tell(&mut self) {
        for id in &self.cancelled {
            let data =
                ErrorData::internal_error("the call was cancelled: its client had gone", None);
            let telling = self.inner.send(JsonRpcMessage::error(data, Some(id.clone())));
            tokio::spawn(async move {
                if let Err(error) = telling.await {
                    tracing::debug!(%error, "nobody can be told of a cancelled call");
                }
            });
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Leash<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &item {
            JsonRpcMessage::Response(answer) => Some(answer.id.clone()),
            JsonRpcMessage::Error(answer) => answer.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        answered.iter().for_each(|id| self.calls.answer(id));
        let calls = self.calls.clone();
        let sending = self.inner.send(item);
        async move {
            let sent = sending.await;
            answered.iter().for_each(|id| calls.end(id));
            sent
        }
    }

    /// Nothing is lost when this is dropped: what was begun is kept in `self`.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(id) = self.cancelled.pop_front() {
                return Some(cancellation(id));
            }
            match self.end {
                End::Closed => return None,
                End::Closing(deadline) => {
                    tokio::select! {
                        () = sleep_until(deadline) => {}
                        () = self.calls.over() => {}
                    }
                    self.cancelled = self.calls.take_unanswered();
                    self.end = if self.is_read_to_the_end { End::Sending } else { End::Closed };
                }
                End::Sending => {
                    self.calls.over().await;
                    self.end = End::Closed;
                }
                End::Open => tokio::select! {
                    message = self.inner.receive() => match message {
                        Some(message) => {
                            if let Some(message) = self.heed(message) {
                                return Some(message);
                            }
                        }
                        None => self.end = End::Closing(Instant::now() + self.grace),
                    },
                    () = self.calls.0.abandoned.notified() => {
                        self.cancelled = self.calls.take();
                        self.tell();
                    }
                },
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

fn cancellation(id: RequestId) -> ClientJsonRpcMessage {
    let reason = Some("the client has gone".to_owned());
    let told = CancelledNotification::new(CancelledNotificationParam::new(Some(id), reason));
    JsonRpcMessage::notification(ClientNotification::CancelledNotification(told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_call_has_its_place_for_as_long_as_it_is_handled() {
        let calls = Calls::within(CallBudget::new(1));
        let [first, second] = [1, 2].map(RequestId::Number);
        let mut handled = Extensions::new();
        calls.open(&first, &mut handled).expect("a place");
        calls.end(&first);
        assert!(calls.are_over());
        let refused = calls.open(&second, &mut Extensions::new());
        assert!(matches!(refused, Err(CallError::TokenHasTooMany(1))), "{refused:?}");
        drop(handled);
        calls.open(&second, &mut Extensions::new()).expect("a place");
    }

    #[test]
    fn an_answered_call_has_its_place_until_its_answer_is_sent() {
        let calls = Calls::within(CallBudget::new(1));
        let [first, second] = [1, 2].map(RequestId::Number);
        calls.open(&first, &mut Extensions::new()).expect("a place");
        assert!(calls.open(&second, &mut Extensions::new()).is_err(), "it waits for its answer");
        calls.end(&first);
        calls.open(&second, &mut Extensions::new()).expect("a place");
    }
}
