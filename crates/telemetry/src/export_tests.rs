//! Spans on their way to receivers that do not behave.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use metier_testkit::server::{Reply, Server};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use tracing::info_span;

use crate::collector::Collector;
use crate::export::{MAX_BATCH, MAX_WAITING, Outbox};
use crate::settings::Settings;
use crate::telemetry::Telemetry;

/// Longer than any test should take, shorter than anybody waits.
const LONG: Duration = Duration::from_secs(60);

fn settings(endpoint: &str) -> Settings {
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20secret"),
    ];
    let read = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1);
    Settings::read(read).unwrap().unwrap()
}

/// Sends some spans; gives what is said at the end, and how long that took.
fn send(settings: Settings, count: usize, patience: Duration) -> (String, Duration) {
    let (outbox, queue) = Outbox::new();
    let collector = Collector::new(outbox.clone(), None);
    let telemetry = Telemetry::begin(settings, outbox, queue).unwrap();
    tracing::subscriber::with_default(collector, || {
        (0..count).for_each(|_| drop(info_span!("step")));
    });
    let started = Instant::now();
    let told = match telemetry.finish_within(patience) {
        Ok(()) => "delivered".to_owned(),
        Err(error) => format!("{error}: {}", error.cause),
    };
    (told, started.elapsed())
}

fn received(server: &Server) -> Vec<usize> {
    let spans = |body: &[u8]| {
        let request = ExportTraceServiceRequest::decode(body).unwrap();
        let scopes = request.resource_spans.iter().flat_map(|it| &it.scope_spans);
        scopes.map(|it| it.spans.len()).sum()
    };
    server.requests().iter().map(|request| spans(&request.body)).collect()
}

fn receiver(replies: impl IntoIterator<Item = Reply>) -> Server {
    let server = Server::start();
    server.replies("/v1/traces", replies);
    server
}

#[test]
fn spans_arrive_with_the_headers_that_were_set() {
    let server = receiver([Reply::ok("")]);
    assert_eq!(send(settings(&server.url("")), 3, LONG).0, "delivered");
    assert_eq!(received(&server), [3]);
    let request = &server.requests()[0];
    assert_eq!((&*request.method, &*request.target), ("POST", "/v1/traces"));
    assert_eq!(request.header("content-type"), Some("application/x-protobuf"));
    assert_eq!(request.header("authorization"), Some("Bearer secret"));
}

#[test]
fn many_spans_are_sent_in_batches() {
    let server = receiver([Reply::ok("")]);
    assert_eq!(send(settings(&server.url("")), MAX_BATCH + 1, LONG).0, "delivered");
    assert_eq!(received(&server), [MAX_BATCH, 1]);
}

#[test]
fn without_spans_nobody_is_asked() {
    let server = receiver([Reply::ok("")]);
    assert_eq!(send(settings(&server.url("")), 0, LONG).0, "delivered");
    assert!(server.requests().is_empty());
}

#[test]
fn a_receiver_that_asks_for_time_gets_it() {
    let seconds = Reply::status(503).header("Retry-After", "1");
    let date = Reply::status(503)
        .header("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
        .header("Retry-After", "Sun, 06 Nov 1994 08:49:38 GMT");
    for busy in [seconds, date] {
        let server = receiver([busy, Reply::ok("")]);
        let (told, took) = send(settings(&server.url("")), 1, LONG);
        assert_eq!(told, "delivered");
        assert!(took >= Duration::from_secs(1), "{took:?}");
        assert_eq!(received(&server), [1, 1]);
    }
}

#[test]
fn a_receiver_that_asks_for_more_time_than_there_is_does_not_get_it() {
    let server = receiver([Reply::status(429).header("Retry-After", "20")]);
    let (told, took) = send(settings(&server.url("")), 1, Duration::from_secs(15));
    let told = told.replace(&server.url(""), "http://receiver");
    assert_snapshot!(told, @"spans were not delivered to `http://receiver/v1/traces`: it answered with status 429");
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(received(&server), [1]);
}

#[test]
fn what_a_receiver_does_not_want_is_not_sent_again() {
    for status in [400, 401, 404, 500] {
        let server = receiver([Reply::status(status)]);
        let (told, _) = send(settings(&server.url("")), 1, LONG);
        assert!(told.ends_with(&format!("it answered with status {status}")), "{told}");
        assert_eq!(received(&server), [1]);
    }
}

#[test]
fn the_end_waits_only_so_long_for_a_slow_receiver() {
    let server = receiver([Reply::ok("").delay(LONG)]);
    let (told, took) = send(settings(&server.url("")), 1, Duration::from_millis(300));
    assert!(told.ends_with("it did not answer in time"), "{told}");
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn the_end_does_not_wait_for_a_receiver_that_is_not_there() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let (told, took) = send(settings(&format!("http://{address}")), 1, LONG);
    let told = told.replace(&address.to_string(), "receiver");
    assert_snapshot!(told, @"spans were not delivered to `http://receiver/v1/traces`: cannot connect to `receiver`");
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn whoever_ends_a_span_never_waits_and_what_is_too_much_is_dropped() {
    let server = receiver([Reply::ok("").delay(Duration::from_secs(2)), Reply::ok("")]);
    let (told, _) = send(settings(&server.url("")), 2 * MAX_WAITING, LONG);
    assert!(told.ends_with("there were more than it took"), "{told}");
    let arrived: usize = received(&server).iter().sum();
    assert!((MAX_WAITING..2 * MAX_WAITING).contains(&arrived), "{arrived}");
}

#[test]
fn secrets_in_an_address_are_not_told() {
    let endpoint = "http://ada:secret@127.0.0.1:1/?key=secret".to_owned();
    let settings = Settings { endpoint, ..settings("http://127.0.0.1:1") };
    assert!(!format!("{settings:?}").contains("secret"), "{settings:?}");
    let (told, _) = send(settings, 1, LONG);
    assert!(!told.contains("secret"), "{told}");
}
