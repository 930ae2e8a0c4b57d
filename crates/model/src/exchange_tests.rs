//! Attempts, waits and cancellation, with a clock that does not take time.
//!
//! The answers come from a list instead of the network, because the paused clock does not wait for
//! sockets. What really goes over a socket is tested in `tests/`.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use metier_net::NetError;
use tokio::time::Instant;

use crate::exchange::{Incoming, Subject, Transport, exchange};
use crate::{Format, Replies, ReplyEvent, Retries};

const GREETING: &str =
    "data: {\"choices\":[{\"delta\":{\"content\":\"hello\"}}]}\n\ndata: [DONE]\n\n";
const HALF: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\n\n";
const CALLS: &str = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[\
    {\"index\":0,\"id\":\"1\",\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}},\
    {\"index\":1,\"id\":\"2\",\"function\":{\"name\":\"a\",\"arguments\":\"{\"}}]}}]}\n\n";

/// Answers that come one after another.
#[derive(Debug, Default)]
struct Canned {
    answers: Mutex<VecDeque<CannedAnswer>>,
    sent: AtomicUsize,
}

#[derive(Clone, Debug)]
struct CannedAnswer {
    status: u16,
    retry_after: Option<Duration>,
    body: Option<&'static str>,
    silence: Duration,
    /// Whether the connection stays open after the body.
    lingers: bool,
}

fn answer(status: u16, body: &'static str) -> CannedAnswer {
    let silence = Duration::ZERO;
    CannedAnswer { status, retry_after: None, body: Some(body), silence, lingers: false }
}

#[async_trait]
impl Transport for Canned {
    async fn send(&self) -> Result<Box<dyn Incoming>, NetError> {
        self.sent.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers.lock().unwrap().pop_front().expect("one more answer");
        Ok(Box::new(answer))
    }
}

#[async_trait]
impl Incoming for CannedAnswer {
    fn status(&self) -> u16 {
        self.status
    }

    fn header(&self, _name: &str) -> Option<&str> {
        None
    }

    fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, NetError> {
        tokio::time::sleep(self.silence).await;
        if self.body.is_none() && self.lingers {
            std::future::pending::<()>().await;
        }
        Ok(self.body.take().map(|body| body.as_bytes().to_vec()))
    }

    async fn beginning(self: Box<Self>, _max_bytes: usize) -> Vec<u8> {
        self.body.unwrap_or_default().as_bytes().to_vec()
    }
}

fn begin(
    answers: impl IntoIterator<Item = CannedAnswer>,
    retries: Retries,
) -> (Arc<Canned>, Replies) {
    let canned = Canned { answers: Mutex::new(answers.into_iter().collect()), ..Canned::default() };
    let canned = Arc::new(canned);
    let subject = Subject {
        host: "host".to_owned(),
        model: "m".to_owned(),
        secrets: Vec::new(),
        format: Format::ChatCompletions,
        tools: vec!["a".to_owned()],
        seed: 1,
    };
    let replies = exchange(Arc::clone(&canned) as Arc<dyn Transport>, subject, retries);
    (canned, replies)
}

/// What happens, a word an event, and how many times it was sent.
async fn story(answers: impl IntoIterator<Item = CannedAnswer>, retries: Retries) -> String {
    let (canned, mut replies) = begin(answers, retries);
    let mut words = Vec::new();
    while let Some(event) = replies.next().await {
        words.push(match event {
            Ok(ReplyEvent::Text(text)) => text,
            Ok(ReplyEvent::Retrying { cause, .. }) => format!("again({cause})"),
            Ok(ReplyEvent::Done(reply)) => format!("done({})", reply.text()),
            Ok(ReplyEvent::CallBegun { name, .. }) => format!("call({name})"),
            Ok(_) => continue,
            Err(error) => format!("error({error})"),
        });
    }
    format!("{} sent {}", words.join(" "), canned.sent.load(Ordering::SeqCst))
}

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_tried_again() {
    let answers = [answer(500, ""), answer(529, ""), answer(408, ""), answer(200, GREETING)];
    insta::assert_snapshot!(
        story(answers, Retries::STANDARD).await,
        @"again(`host` failed (status 500)) again(`host` failed (status 529)) again(`host` failed (status 408)) hello done(hello) sent 4"
    );
}

#[tokio::test(start_paused = true)]
async fn attempts_are_bounded() {
    let answers = vec![answer(503, ""); 9];
    let told = story(answers, Retries::STANDARD).await;
    assert!(told.ends_with("error(`host` failed (status 503)) sent 5"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn what_will_not_pass_is_not_tried_again() {
    for status in [400, 401, 402, 403, 404, 413, 422] {
        let told = story([answer(status, "")], Retries::STANDARD).await;
        assert!(told.ends_with("sent 1"), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_a_pause_gets_it() {
    let started = Instant::now();
    let limited = CannedAnswer { retry_after: Some(Duration::from_secs(60)), ..answer(429, "") };
    let told = story([limited, answer(200, GREETING)], Retries::STANDARD).await;
    assert!(told.ends_with("done(hello) sent 2"), "{told}");
    let waited = started.elapsed();
    assert!((60..=90).contains(&waited.as_secs()), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_is_too_long_is_told_instead() {
    let limited = CannedAnswer { retry_after: Some(Duration::from_secs(3600)), ..answer(429, "") };
    let (_, replies) = begin([limited], Retries::STANDARD);
    let error = replies.finish().await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_is_read_again_from_the_start() {
    let answers = [answer(200, HALF), answer(200, GREETING)];
    insta::assert_snapshot!(
        story(answers, Retries::STANDARD).await,
        @"hel again(the reply broke off before its end) hello done(hello) sent 2"
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_again_after_a_call_was_complete() {
    let answers = [answer(200, CALLS), answer(200, GREETING)];
    insta::assert_snapshot!(
        story(answers, Retries::STANDARD).await,
        @"call(a) call(a) error(the reply broke off before its end) sent 1"
    );
}

#[tokio::test(start_paused = true)]
async fn an_error_within_a_stream_is_judged_like_any_other() {
    let overloaded = "data: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n";
    let told = story([answer(200, overloaded), answer(200, GREETING)], Retries::STANDARD).await;
    insta::assert_snapshot!(told, @"again(`host` failed: busy) hello done(hello) sent 2");
    let overflow = "data: {\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"x\"}}\n\n";
    let told = story([answer(200, overflow)], Retries::STANDARD).await;
    insta::assert_snapshot!(told, @"error(the conversation is too long for the model: x) sent 1");
}

#[tokio::test(start_paused = true)]
async fn dropping_ends_it_while_it_waits_for_the_next_attempt() {
    let limited = CannedAnswer { retry_after: Some(Duration::from_secs(60)), ..answer(429, "") };
    let (canned, mut replies) = begin([limited, answer(200, GREETING)], Retries::STANDARD);
    assert!(matches!(replies.next().await, Some(Ok(ReplyEvent::Retrying { .. }))));
    let waiting = tokio::time::timeout(Duration::from_secs(10), replies.next()).await;
    assert!(waiting.is_err());
    drop(replies);
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(canned.sent.load(Ordering::SeqCst), 1);
    // The transport is not held by anything that still runs.
    assert_eq!(Arc::strong_count(&canned), 1);
}

#[tokio::test(start_paused = true)]
async fn dropping_ends_it_in_the_middle_of_a_stream() {
    let slow = CannedAnswer { silence: Duration::from_secs(60), ..answer(200, GREETING) };
    let (canned, mut replies) = begin([slow], Retries::STANDARD);
    assert!(tokio::time::timeout(Duration::from_secs(1), replies.next()).await.is_err());
    drop(replies);
    assert_eq!(Arc::strong_count(&canned), 1);
}

#[tokio::test(start_paused = true)]
async fn giving_up_on_an_event_loses_nothing() {
    let slow = CannedAnswer { silence: Duration::from_secs(60), ..answer(200, GREETING) };
    let (_, mut replies) = begin([slow], Retries::STANDARD);
    for _ in 0..5 {
        assert!(tokio::time::timeout(Duration::from_secs(10), replies.next()).await.is_err());
    }
    assert_eq!(replies.finish().await.unwrap().text(), "hello");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_before_someone_listens() {
    let (canned, replies) = begin([answer(200, GREETING)], Retries::NEVER);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(canned.sent.load(Ordering::SeqCst), 0);
    assert_eq!(replies.finish().await.unwrap().text(), "hello");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_ends_its_stream_is_not_waited_for_long() {
    let said =
        "data: {\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\n";
    let lingering = CannedAnswer { lingers: true, ..answer(200, said) };
    let started = Instant::now();
    assert_eq!(story([lingering], Retries::NEVER).await, "hello done(hello) sent 1");
    assert!(started.elapsed() < Duration::from_secs(10));
}
