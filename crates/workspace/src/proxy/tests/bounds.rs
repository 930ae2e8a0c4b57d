//! Time, numbers and sizes; the end; and whatever else may arrive.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::{Proxy, ProxyOptions};
use super::{Harness, allow, echo, is_hang, outcome, serve};

const SHORT: Duration = Duration::from_millis(300);

/// Longer than a busy machine lets a test wait.
const IDLE: Duration = Duration::from_millis(1200);

#[test]
fn the_documented_bounds() {
    insta::assert_debug_snapshot!(ProxyOptions::STANDARD, @"
    ProxyOptions {
        max_connections: 64,
        max_bytes: None,
        request_timeout: 10s,
        connect_timeout: 10s,
        idle_timeout: 120s,
    }
    ");
}

#[test]
fn the_system_knows_localhost() {
    let port = echo().port();
    let list = allow(&[&format!("localhost:{port}")]).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let _inside = runtime.enter();
    let _proxy = Proxy::start(listener, list, ProxyOptions::STANDARD).unwrap();
    let mut client = std::net::TcpStream::connect(address).unwrap();
    write!(client, "CONNECT localhost:{port} HTTP/1.1\r\n\r\nping").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\nping"), "{answer}");
}

#[test]
fn a_request_that_trickles_in_is_cut_off() {
    let harness =
        Harness::with(&[], ProxyOptions { request_timeout: SHORT, ..ProxyOptions::STANDARD });
    for first in [&b""[..], b"GET http", b"\x05", b"\x05\x01\x00\x05\x01"] {
        let start = Instant::now();
        let mut client = harness.connect();
        client.write_all(first).unwrap();
        let mut reader = client.try_clone().unwrap();
        let trickle = thread::spawn(move || {
            while client.write_all(b"a").is_ok() && start.elapsed() < 20 * SHORT {
                thread::sleep(SHORT / 10);
            }
        });
        // Those that say nothing at first go on with `a`, which is no request.
        let ended = reader.read_to_end(&mut Vec::new());
        assert!(!is_hang(&ended));
        assert!(start.elapsed() < 10 * SHORT, "{first:?} took {:?}", start.elapsed());
        reader.shutdown(Shutdown::Both).ok();
        trickle.join().unwrap();
    }
}

#[test]
fn a_client_that_does_not_finish_its_request_is_closed() {
    let harness =
        Harness::with(&[], ProxyOptions { request_timeout: SHORT, ..ProxyOptions::STANDARD });
    assert_eq!(harness.send(""), b"");
    insta::assert_snapshot!(
        outcome(&harness.send("GET http://a.example/")),
        @"408 Request Timeout | metier does not pass `http://a.example/`: the request did not arrive in time"
    );
}

#[test]
fn headers_have_a_bound() {
    let harness = Harness::new(&[]);
    let answer =
        harness.send(format!("GET http://a.example/ HTTP/1.1\r\nX: {}", "x".repeat(100_000)));
    insta::assert_snapshot!(outcome(&answer), @"431 Request Header Fields Too Large | metier does not pass `http://a.example/`: its headers are too long");
}

#[test]
fn a_refused_body_does_not_hide_the_refusal() {
    let harness = Harness::new(&[]);
    let body = "x".repeat(500_000);
    let head = format!("POST http://a.example/ HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
    insta::assert_snapshot!(outcome(&harness.send(head + &body)), @"403 Forbidden | metier does not pass `http://a.example/`: it is not in the list of allowed addresses");
}

#[test]
fn a_connection_on_which_nothing_moves_is_closed() {
    let address = echo();
    let options = ProxyOptions { idle_timeout: IDLE, ..ProxyOptions::STANDARD };
    let harness = Harness::with(&[&address.to_string()], options);
    let mut client = harness.tunnel(&address.to_string()).unwrap();
    let start = Instant::now();
    for _ in 0..6 {
        thread::sleep(IDLE / 4);
        client.write_all(b"x").unwrap();
    }
    let mut received = Vec::new();
    let ended = client.read_to_end(&mut received);
    assert!(!is_hang(&ended));
    assert_eq!(received, b"xxxxxx");
    assert!(start.elapsed() >= 2 * IDLE);
}

#[test]
fn a_download_keeps_the_silent_way_alive() {
    let server = serve(|mut client| {
        for _ in 0..6 {
            thread::sleep(IDLE / 4);
            client.write_all(b"x").unwrap();
        }
    });
    let options = ProxyOptions { idle_timeout: IDLE, ..ProxyOptions::STANDARD };
    let harness = Harness::with(&[&server.to_string()], options);
    let mut client = harness.tunnel(&server.to_string()).unwrap();
    let mut received = Vec::new();
    client.read_to_end(&mut received).unwrap();
    assert_eq!(received, b"xxxxxx");
}

#[test]
fn two_hundred_connections_are_served_a_few_at_a_time() {
    let address = echo();
    let harness = Harness::new(&[&address.to_string()]);
    thread::scope(|scope| {
        for number in 0..200_u32 {
            let harness = &harness;
            scope.spawn(move || {
                let mut client = harness.tunnel(&address.to_string()).unwrap();
                client.write_all(&number.to_be_bytes()).unwrap();
                client.shutdown(Shutdown::Write).unwrap();
                let mut answer = Vec::new();
                client.read_to_end(&mut answer).unwrap();
                assert_eq!(answer, number.to_be_bytes());
            });
        }
    });
    assert_eq!(harness.refused(), "");
}

#[test]
fn one_more_connection_waits_until_there_is_room() {
    let address = echo();
    let options = ProxyOptions { max_connections: 2, ..ProxyOptions::STANDARD };
    let harness = Harness::with(&[&address.to_string()], options);
    let first = harness.tunnel(&address.to_string()).unwrap();
    let _second = harness.tunnel(&address.to_string()).unwrap();
    let mut third = harness.connect();
    third.set_read_timeout(Some(SHORT)).unwrap();
    write!(third, "CONNECT {address} HTTP/1.1\r\n\r\n").unwrap();
    assert!(is_hang(&third.read(&mut [0])));
    drop(first);
    third.set_read_timeout(Some(super::PATIENCE)).unwrap();
    assert_eq!(third.read(&mut [0]).unwrap(), 1);
}

#[test]
fn bytes_have_a_bound_over_all_connections() {
    let address = echo();
    let options = ProxyOptions { max_bytes: Some(50_000), ..ProxyOptions::STANDARD };
    let harness = Harness::with(&[&address.to_string()], options);
    let mut client = harness.tunnel(&address.to_string()).unwrap();
    let mut received = Vec::new();
    let mut writer = client.try_clone().unwrap();
    let writing = thread::spawn(move || writer.write_all(&[7; 1_000_000]));
    let ended = client.read_to_end(&mut received);
    assert!(!is_hang(&ended));
    let _cut_off = writing.join().unwrap();
    assert!(received.len() <= 50_000);
    assert_eq!(harness.tunnel(&address.to_string()).map(drop), Err("403 Forbidden".to_owned()));
    insta::assert_snapshot!(harness.refused().replace(&address.port().to_string(), "PORT"), @"2 × 127.0.0.1:PORT: the program has moved all the bytes it may");
}

#[test]
fn refusals_are_counted_escaped_and_bounded() {
    let harness = Harness::new(&[]);
    for _ in 0..3 {
        harness.send("CONNECT a.example:443 HTTP/1.1\r\n\r\n");
    }
    harness.send(format!("CONNECT {}\u{1b}[31m HTTP/1.1\r\n\r\n", "\u{202e}".repeat(200)));
    for number in 0..150 {
        harness.send(format!("CONNECT a{number}.example:443 HTTP/1.1\r\n\r\n"));
    }
    let refused = harness.proxy.refused();
    assert_eq!(refused.len(), 101);
    assert_eq!((refused[0].target.as_str(), refused[0].count), ("a.example:443", 3));
    assert_eq!(refused[1].target.len(), 300);
    assert!(refused[1].target.starts_with("\\xe2\\x80\\xae"));
    insta::assert_snapshot!(harness.refused().lines().last().unwrap(), @"52 × …: there were more refusals than are remembered");
}

#[test]
fn stopping_ends_every_connection_at_once() {
    let address = echo();
    let harness = Harness::new(&[&address.to_string()]);
    let mut tunnel = harness.tunnel(&address.to_string()).unwrap();
    let mut waiting = harness.connect();
    let start = Instant::now();
    let refused = harness.runtime.block_on(harness.proxy.stop());
    assert_eq!(refused, []);
    assert!(!is_hang(&tunnel.read(&mut [0])));
    assert!(!is_hang(&waiting.read(&mut [0])));
    assert!(std::net::TcpStream::connect(harness.address).is_err());
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn dropping_ends_every_connection_at_once() {
    let address = echo();
    let Harness { proxy, address: front, runtime } = Harness::new(&[&address.to_string()]);
    let mut client = std::net::TcpStream::connect(front).unwrap();
    client.set_read_timeout(Some(super::PATIENCE)).unwrap();
    write!(client, "CONNECT {address} HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(client.read(&mut [0]).unwrap(), 1);
    drop(proxy);
    assert!(!is_hang(&client.read_to_end(&mut Vec::new())));
    drop(runtime);
}

/// Bytes of all kinds, with a bias to what gets past the first checks.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let bytes = proptest::collection::vec(any::<u8>(), 0..400);
    let socks = proptest::collection::vec(any::<u8>(), 0..40)
        .prop_map(|rest| [&[5, 1, 0, 5, 1, 0][..], &rest].concat());
    let pieces = [
        "GET ",
        "CONNECT ",
        "POST ",
        "http://",
        "127.0.0.1:1",
        "@",
        "/",
        "?",
        "#",
        "[::1]",
        ":",
        " HTTP/1.1",
        "\r\n",
        "\r\n\r\n",
        "\n",
        "\r",
        "\0",
        "Host: a",
        "Content-Length: ",
        "9",
        "Transfer-Encoding: x",
        "Connection: close",
        "\t",
        " ",
        "é",
        "*",
    ];
    let http = proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..30);
    prop_oneof![bytes, socks, http.prop_map(|parts| parts.concat().into_bytes())]
}

#[test]
fn no_bytes_make_it_hang_or_fall() {
    let options = ProxyOptions { request_timeout: SHORT / 10, ..ProxyOptions::STANDARD };
    let harness = Harness::with(&["127.0.0.1:1"], options);
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }, |(bytes in noise())| {
        let mut client = harness.connect();
        let _cut_off = client.write_all(&bytes);
        let ended = client.read_to_end(&mut Vec::new());
        prop_assert!(!is_hang(&ended));
    });
    assert_eq!(
        harness.send("CONNECT a.example:1 HTTP/1.1\r\n\r\n").get(..12),
        Some(&b"HTTP/1.1 403"[..])
    );
}
