//! Requests with a body and a secret, to servers that stream, stall, redirect and hang up.

use std::time::Duration;

use metier_testkit::server::{Reply, Server};

use crate::{BareRequest, Client, ClientOptions, NetError, PostRequest, keeps_secrets};

const KEY: &str = "sk-very-secret";

/// Sends a body with a key and renders the answer, or why there is none.
fn outcome(server: &Server, path: &str) -> String {
    outcome_within(server, path, Duration::from_secs(60), 1024)
}

fn outcome_within(server: &Server, path: &str, idle: Duration, max_bytes: u64) -> String {
    let shown = match block_on(ask(&server.url(path), idle, max_bytes)) {
        Ok((status, body)) => format!("{status} {body}"),
        Err(error) => {
            assert!(!format!("{error:?}").contains(KEY));
            std::error::Error::source(&error)
                .filter(|source| source.is::<crate::RedirectFault>())
                .map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
        }
    };
    shown.replace(server.url("").trim_start_matches("http://"), "server")
}

async fn ask(url: &str, idle: Duration, max_bytes: u64) -> Result<(u16, String), NetError> {
    let client = Client::new(&ClientOptions::STANDARD).unwrap();
    let mut answer = client.post(request(url, idle, max_bytes)).await?;
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        body.extend(chunk);
    }
    Ok((answer.status(), String::from_utf8_lossy(&body).into_owned()))
}

fn request(url: &str, idle_timeout: Duration, max_bytes: u64) -> PostRequest<'_> {
    let headers = &[("authorization", KEY), ("content-type", "application/json")];
    PostRequest { url, headers, body: b"{}".to_vec(), idle_timeout, max_bytes }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[test]
fn a_body_goes_out_with_its_headers_and_pieces_come_back() {
    let server = Server::start();
    server.reply("/a", Reply::ok("one two").trickle(3, Duration::ZERO));
    assert_eq!(outcome(&server, "/a"), "200 one two");
    let asked = &server.requests()[0];
    assert_eq!((asked.method.as_str(), asked.body.as_slice()), ("POST", b"{}".as_slice()));
    assert_eq!(asked.header("authorization"), Some(KEY));
}

#[test]
fn an_error_is_an_answer_with_headers_and_a_bounded_body() {
    let server = Server::start();
    let reply = Reply::ok("too many requests, try later").code(429).header("Retry-After", "7");
    server.reply("/a", reply);
    let url = server.url("/a");
    block_on(async {
        let client = Client::new(&ClientOptions::STANDARD).unwrap();
        let answer = client.post(request(&url, Duration::from_secs(60), 1024)).await.unwrap();
        assert_eq!((answer.status(), answer.header("retry-after")), (429, Some("7")));
        assert_eq!(answer.retry_after(), Some(Duration::from_secs(7)));
        assert_eq!(answer.beginning(8).await, b"too many");
    });
}

#[test]
fn credentials_are_not_sent_on_to_where_a_redirect_points() {
    let (server, other) = (Server::start(), Server::start());
    for status in [301, 302, 303, 307, 308] {
        server.reply("/a", Reply::redirect(status, &other.url("/b")));
        assert_eq!(
            outcome(&server, "/a"),
            "the redirect of `http://server/a` is refused: \
             the request carries credentials, which are not sent on"
        );
    }
    assert!(other.requests().is_empty());
}

#[test]
fn requests_without_a_body_keep_the_same_rules() {
    let (server, other) = (Server::start(), Server::start());
    server.reply("/a", Reply::ok("one two").header("Mcp-Session-Id", "7"));
    server.reply("/b", Reply::redirect(307, &other.url("/c")));
    let headers = &[("authorization", KEY)];
    let (a, b) = (server.url("/a"), server.url("/b"));
    let bare =
        |url| BareRequest { url, headers, idle_timeout: Duration::from_secs(60), max_bytes: 4 };
    assert!(!format!("{:?}", bare(&a)).contains(KEY));
    block_on(async {
        let client = Client::new(&ClientOptions::STANDARD).unwrap();
        let mut answer = client.get(bare(&a)).await.unwrap();
        assert_eq!(answer.header("mcp-session-id"), Some("7"));
        assert!(matches!(answer.chunk().await, Err(NetError::TooLarge { limit: 4, .. })));
        assert_eq!(client.delete(bare(&a)).await.unwrap().status(), 200);
        assert!(matches!(client.get(bare(&b)).await, Err(NetError::Redirect { .. })));
        assert!(matches!(client.delete(bare(&b)).await, Err(NetError::Redirect { .. })));
    });
    let requests = server.requests();
    let shown = requests.iter().map(|it| (it.method.as_str(), it.header("content-length")));
    let get_and_delete = [("GET", None), ("DELETE", None)];
    assert_eq!(shown.collect::<Vec<_>>(), [get_and_delete, get_and_delete].concat());
    assert!(requests.iter().all(|it| it.header("authorization") == Some(KEY)));
    assert!(other.requests().is_empty());
}

#[test]
fn secrets_are_kept_by_https_and_by_this_machine_only() {
    for address in
        ["https://a.example/", "http://localhost:1/", "http://127.9.9.9/", "http://[::1]:8/x"]
    {
        assert!(keeps_secrets(address), "{address}");
    }
    for address in [
        "http://a.example/",
        "http://10.0.0.1/",
        "http://localhost.a.example/",
        "http://127.0.0.1.a.example/",
        "http://localhost@a.example/",
        "ftp://localhost/",
        "localhost",
    ] {
        assert!(!keeps_secrets(address), "{address}");
    }
}

#[test]
fn silence_is_bounded_and_the_whole_is_not() {
    let server = Server::start();
    let (short, long) = (Duration::from_millis(200), Duration::from_millis(2500));
    server.reply("/late", Reply::ok("").delay(Duration::from_secs(60)));
    server.reply("/stalls", Reply::ok("abc").trickle(1, Duration::from_secs(60)));
    server.reply("/slow", Reply::ok("abcdefgh").trickle(1, Duration::from_millis(400)));
    assert_eq!(outcome_within(&server, "/late", short, 10), "`server` was silent for 0.2 s");
    assert_eq!(outcome_within(&server, "/stalls", short, 10), "`server` was silent for 0.2 s");
    assert_eq!(outcome_within(&server, "/slow", long, 10), "200 abcdefgh");
}

#[test]
fn an_answer_that_is_too_large_is_given_up() {
    let server = Server::start();
    server.reply("/a", Reply::ok("x".repeat(100)).trickle(10, Duration::ZERO));
    assert_eq!(
        outcome_within(&server, "/a", Duration::from_secs(60), 99),
        "`http://server/a` is larger than 99 bytes"
    );
}

#[test]
fn a_connection_that_breaks_is_not_an_end() {
    let server = Server::start();
    server.reply("/a", Reply::ok("abcdef").trickle(2, Duration::ZERO).cut_after(4));
    assert_eq!(outcome(&server, "/a"), "the answer of `http://server/a` is broken or incomplete");
}

#[test]
fn a_secret_that_fits_no_header_is_named_and_not_shown() {
    let client = Client::new(&ClientOptions::STANDARD).unwrap();
    let headers = &[("authorization", "sk-very-secret\r\nX: y")];
    let url = "http://127.0.0.1:1/";
    let idle_timeout = Duration::from_secs(1);
    let request = PostRequest { url, headers, body: Vec::new(), idle_timeout, max_bytes: 1 };
    assert!(!format!("{request:?}").contains(KEY));
    let error = block_on(client.post(request)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the header `authorization` cannot be sent: it has characters that headers may not have"
    );
    assert!(!format!("{error:?}").contains(KEY));
}
