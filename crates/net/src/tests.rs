//! Downloads from a server that behaves, and from one that does not.

use std::error::Error;
use std::fmt::Write;
use std::io;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use metier_testkit::server::{Reply, Server};

use crate::{Client, ClientOptions, Download, DownloadRequest, NetError};

/// Downloads with the standard bounds and renders what happened.
fn outcome(server: &Server, path: &str) -> String {
    outcome_within(&ClientOptions::STANDARD, server, path)
}

fn outcome_within(options: &ClientOptions<'_>, server: &Server, path: &str) -> String {
    let shown = render(options, &server.url(path));
    shown.replace(server.url("").trim_start_matches("http://"), "server")
}

fn render(options: &ClientOptions<'_>, url: &str) -> String {
    let mut body = Vec::new();
    let request = DownloadRequest { url, etag: None, last_modified: None };
    match Client::new(options).unwrap().download_blocking(&request, &mut body) {
        Ok(Download::NotModified) => "not modified".to_owned(),
        Ok(Download::Fetched(file)) => {
            assert_eq!(file.bytes, body.len() as u64);
            format!("{} from {}", String::from_utf8_lossy(&body), file.url)
        }
        Err(error) => chain(&error),
    }
}

/// The messages of this crate; what the libraries below say is theirs to change.
fn chain(error: &NetError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source.filter(|cause| is_ours(*cause)) {
        write!(text, "\n  because: {cause}").unwrap();
        source = cause.source();
    }
    text
}

fn is_ours(error: &(dyn Error + 'static)) -> bool {
    error.is::<crate::UrlFault>() || error.is::<crate::RedirectFault>()
}

fn impatient(limit: Duration) -> ClientOptions<'static> {
    ClientOptions { total_timeout: limit, ..ClientOptions::STANDARD }
}

#[test]
fn the_standard_bounds_are_those_of_the_documentation() {
    insta::assert_debug_snapshot!(ClientOptions::STANDARD, @r"
    ClientOptions {
        connect_timeout: 30s,
        total_timeout: 300s,
        max_bytes: 67108864,
        max_redirects: 5,
        proxy: None,
    }
    ");
}

#[test]
fn a_file_comes_with_all_that_is_needed_to_ask_again() {
    let server = Server::start();
    let reply = Reply::ok("hello").header("ETag", "\"1\"").header("Last-Modified", "yesterday");
    server.reply("/skills.zip", reply);
    let client = Client::new(&ClientOptions::STANDARD).unwrap();
    let url = server.url("/skills.zip?token=1#sha256=2");
    let request = DownloadRequest { url: &url, etag: None, last_modified: None };
    let mut body = Vec::new();
    let Download::Fetched(file) = client.download_blocking(&request, &mut body).unwrap() else {
        panic!("there was no copy at hand");
    };
    assert_eq!(body, b"hello");
    insta::assert_debug_snapshot!((file.etag, file.last_modified, file.sha256, file.bytes), @r#"
    (
        Some(
            "\"1\"",
        ),
        Some(
            "yesterday",
        ),
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        5,
    )
    "#);
    assert_eq!(server.requests()[0].target, "/skills.zip?token=1");
}

#[test]
fn a_request_says_who_asks_and_nothing_more() {
    let server = Server::start();
    outcome(&server, "/");
    let mut headers = server.requests().remove(0).headers;
    headers.retain(|(name, _)| !name.eq_ignore_ascii_case("host"));
    assert!(
        headers
            .contains(&("user-agent".to_owned(), format!("metier/{}", env!("CARGO_PKG_VERSION"))))
    );
    headers.retain(|(name, _)| name != "user-agent");
    insta::assert_debug_snapshot!(headers, @r#"
    [
        (
            "accept",
            "*/*",
        ),
    ]
    "#);
}

#[test]
fn a_copy_at_hand_is_not_fetched_again() {
    let server = Server::start();
    server.reply("/a", Reply::status(304));
    let client = Client::new(&ClientOptions::STANDARD).unwrap();
    let url = server.url("/a");
    let request =
        DownloadRequest { url: &url, etag: Some("W/\"1\""), last_modified: Some("yesterday") };
    let mut body = Vec::new();
    let download = client.download_blocking(&request, &mut body).unwrap();
    assert_eq!((download, body.len()), (Download::NotModified, 0));
    let asked = &server.requests()[0];
    assert_eq!(asked.header("if-none-match"), Some("W/\"1\""));
    assert_eq!(asked.header("if-modified-since"), Some("yesterday"));
}

#[test]
fn a_condition_that_fits_no_header_is_left_out() {
    let server = Server::start();
    server.reply("/a", Reply::status(304));
    let client = Client::new(&ClientOptions::STANDARD).unwrap();
    let url = server.url("/a");
    let request = DownloadRequest { url: &url, etag: Some("1\r\nX: y"), last_modified: None };
    let error = client.download_blocking(&request, &mut io::sink()).unwrap_err();
    assert!(matches!(error, NetError::Status { status: 304, .. }), "{error:?}");
    assert_eq!(server.requests()[0].header("x"), None);
}

#[test]
fn a_client_can_be_used_again() {
    let server = Server::start();
    server.reply("/a", Reply::ok("hello"));
    let client = Client::new(&ClientOptions::STANDARD).unwrap();
    let url = server.url("/a");
    let request = DownloadRequest { url: &url, etag: None, last_modified: None };
    for _ in 0..3 {
        client.download_blocking(&request, &mut io::sink()).unwrap();
    }
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn asynchronous_callers_write_to_asynchronous_files() {
    let server = Server::start();
    server.reply("/a", Reply::ok("hello"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = Client::new(&ClientOptions::STANDARD).unwrap();
    let url = server.url("/a");
    let request = DownloadRequest { url: &url, etag: None, last_modified: None };
    let mut body = Vec::new();
    runtime.block_on(client.download(&request, &mut body)).unwrap();
    assert_eq!(body, b"hello");
}

#[test]
fn a_body_is_stored_as_it_was_sent() {
    let server = Server::start();
    let packed = Reply::ok(&b"\x1f\x8bnot really"[..]).header("Content-Encoding", "gzip");
    server.reply("/a", packed);
    assert!(outcome(&server, "/a").contains("not really"));
}

#[test]
fn a_body_that_is_announced_as_too_large_is_not_read() {
    let server = Server::start();
    let reply = Reply::ok("x").header("Content-Length", "67108865").delay(Duration::ZERO);
    server.reply("/a", reply);
    insta::assert_snapshot!(outcome(&server, "/a"), @"`http://server/a` is larger than 67108864 bytes");
}

#[test]
fn a_body_that_turns_out_too_large_is_cut_short() {
    let server = Server::start();
    let options = ClientOptions { max_bytes: 1000, ..ClientOptions::STANDARD };
    server.reply("/exact", Reply::ok(vec![b'x'; 1000]).trickle(100, Duration::ZERO));
    server.reply("/more", Reply::ok(vec![b'x'; 1001]).trickle(100, Duration::ZERO));
    assert!(outcome_within(&options, &server, "/exact").starts_with("xxx"));
    insta::assert_snapshot!(outcome_within(&options, &server, "/more"), @"`http://server/more` is larger than 1000 bytes");
}

#[test]
fn a_slow_body_hits_the_total_limit() {
    let server = Server::start();
    let slow = Reply::ok(vec![b'x'; 10_000]).trickle(1, Duration::from_millis(20));
    server.reply("/slow", slow);
    server.reply("/late", Reply::ok("").delay(Duration::from_secs(600)));
    let options = impatient(Duration::from_millis(250));
    let started = Instant::now();
    insta::assert_snapshot!(outcome_within(&options, &server, "/slow"), @"`http://server/slow` did not answer in full within 0.25 s");
    insta::assert_snapshot!(outcome_within(&options, &server, "/late"), @"`http://server/late` did not answer in full within 0.25 s");
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn the_total_limit_covers_all_redirects() {
    let server = Server::start();
    for step in 0..5 {
        let to = format!("/{}", step + 1);
        let reply = Reply::redirect(302, &to).delay(Duration::from_millis(200));
        server.reply(&format!("/{step}"), reply);
    }
    let options = impatient(Duration::from_millis(500));
    insta::assert_snapshot!(outcome_within(&options, &server, "/0"), @"`http://server/0` did not answer in full within 0.5 s");
}

#[test]
fn redirects_are_followed() {
    let server = Server::start();
    for (step, status) in [301, 302, 303, 307, 308].into_iter().enumerate() {
        server.reply(&format!("/{step}"), Reply::redirect(status, &format!("{}?q", step + 1)));
    }
    server.reply("/5", Reply::ok("hello"));
    insta::assert_snapshot!(outcome(&server, "/0"), @"hello from http://server/5?q");
}

#[test]
fn too_many_redirects_are_refused() {
    let server = Server::start();
    server.reply("/a", Reply::redirect(302, "/b"));
    server.reply("/b", Reply::redirect(302, "/a"));
    insta::assert_snapshot!(outcome(&server, "/a"), @r"
    the redirect of `http://server/b` is refused
      because: there were 5 redirects before it
    ");
    assert_eq!(server.requests().len(), 6);
    let none = ClientOptions { max_redirects: 0, ..ClientOptions::STANDARD };
    insta::assert_snapshot!(outcome_within(&none, &server, "/a"), @r"
    the redirect of `http://server/a` is refused
      because: there were 0 redirects before it
    ");
}

#[test]
fn a_redirect_cannot_lead_just_anywhere() {
    let server = Server::start();
    let mut table = String::new();
    let places = [
        "file:///etc/passwd",
        "ftp://example.org/",
        "data:text/plain,hello",
        "//user:secret@example.org/a?b",
        "http://",
        "http://[",
    ];
    for place in places {
        server.reply("/a", Reply::redirect(302, place));
        writeln!(table, "{}", outcome(&server, "/a")).unwrap();
    }
    server.reply("/a", Reply::status(302));
    writeln!(table, "{}", outcome(&server, "/a")).unwrap();
    insta::assert_snapshot!(table, @r"
    the redirect of `http://server/a` is refused
      because: it leads to `file:///etc/passwd`
      because: its scheme `file` is neither http nor https
    the redirect of `http://server/a` is refused
      because: it leads to `ftp://example.org/`
      because: its scheme `ftp` is neither http nor https
    the redirect of `http://server/a` is refused
      because: it leads to `data:text/plain,hello`
      because: its scheme `data` is neither http nor https
    the redirect of `http://server/a` is refused
      because: it leads to `…@example.org/a`
      because: it contains a user name or password
    the redirect of `http://server/a` is refused
      because: it leads to `http://`
      because: it is not a valid URL
    the redirect of `http://server/a` is refused
      because: it leads to `http://[`
      because: it is not a valid URL
    the redirect of `http://server/a` is refused
      because: it does not say where to
    ");
}

#[test]
fn a_redirect_never_leaves_https() {
    let from = reqwest::Url::parse("https://example.org/a").unwrap();
    let step = |location| match crate::location::follow(&from, location) {
        Ok(url) => url.to_string(),
        Err(fault) => fault.to_string(),
    };
    insta::assert_snapshot!(step("http://example.org/b"), @"it leads from https to http");
    insta::assert_snapshot!(step("https://other.example/b"), @"https://other.example/b");
    insta::assert_snapshot!(step("b"), @"https://example.org/b");
}

#[test]
fn only_some_urls_are_asked() {
    let mut table = String::new();
    let urls = [
        "file:///etc/passwd",
        "ftp://example.org/a.zip",
        "skills.zip",
        "http://",
        "https://user@example.org/a.zip",
        "https://user:secret@example.org/a.zip?token=secret",
        "",
    ];
    for url in urls {
        writeln!(table, "{}", render(&ClientOptions::STANDARD, url)).unwrap();
    }
    insta::assert_snapshot!(table, @r"
    the address `file:///etc/passwd` cannot be used
      because: its scheme `file` is neither http nor https
    the address `ftp://example.org/a.zip` cannot be used
      because: its scheme `ftp` is neither http nor https
    the address `skills.zip` cannot be used
      because: it is not a valid URL
    the address `http://` cannot be used
      because: it is not a valid URL
    the address `…@example.org/a.zip` cannot be used
      because: it contains a user name or password
    the address `…@example.org/a.zip` cannot be used
      because: it contains a user name or password
    the address `` cannot be used
      because: it is not a valid URL
    ");
}

#[test]
fn a_body_that_is_cut_off_is_an_error() {
    let server = Server::start();
    let whole = Reply::ok(vec![b'x'; 100_000]);
    server.reply("/length", whole.clone().cut_after(50_000));
    server.reply("/chunks", whole.trickle(1000, Duration::ZERO).cut_after(50_000));
    server.reply("/nothing", Reply::ok("x").cut_after(0));
    insta::assert_snapshot!(outcome(&server, "/length"), @"the answer of `http://server/length` is broken or incomplete");
    insta::assert_snapshot!(outcome(&server, "/chunks"), @"the answer of `http://server/chunks` is broken or incomplete");
    insta::assert_snapshot!(outcome(&server, "/nothing"), @"the answer of `http://server/nothing` is broken or incomplete");
}

#[test]
fn an_answer_that_is_not_http_is_an_error() {
    let server = Server::start();
    server.reply("/a", Reply::raw("SSH-2.0-server\r\n"));
    server.reply("/b", Reply::raw(""));
    insta::assert_snapshot!(outcome(&server, "/a"), @"the answer of `http://server/a` is broken or incomplete");
    insta::assert_snapshot!(outcome(&server, "/b"), @"the answer of `http://server/b` is broken or incomplete");
}

#[test]
fn every_other_status_is_an_error() {
    let server = Server::start();
    let mut table = String::new();
    for status in [204, 206, 300, 304, 403, 404, 500] {
        server.reply("/a", Reply::status(status));
        writeln!(table, "{}", outcome(&server, "/a?token=secret")).unwrap();
    }
    insta::assert_snapshot!(table, @r"
    `http://server/a` answered with status 204
    `http://server/a` answered with status 206
    `http://server/a` answered with status 300
    `http://server/a` answered with status 304
    `http://server/a` answered with status 403
    `http://server/a` answered with status 404
    `http://server/a` answered with status 500
    ");
}

#[test]
fn a_closed_port_cannot_be_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let shown = render(&ClientOptions::STANDARD, &format!("http://{address}/a"));
    insta::assert_snapshot!(shown.replace(&address, "closed"), @"cannot connect to `closed`");
}

/// No name server is asked for a name with such a long part.
#[test]
fn an_unknown_name_is_told_from_a_closed_port() {
    let name = "a".repeat(64);
    let shown = render(&ClientOptions::STANDARD, &format!("http://{name}.invalid/a"));
    insta::assert_snapshot!(shown.replace(&name, "long"), @"cannot find the server `long.invalid`");
}

#[test]
fn a_server_without_tls_is_told_from_a_closed_port() {
    let server = Server::start();
    let url = server.url("/a").replace("http:", "https:");
    let shown = render(&ClientOptions::STANDARD, &url);
    insta::assert_snapshot!(shown.replace(&server.url("")["http://".len()..], "server"), @"cannot make a secure connection to `server`");
}

#[test]
fn a_proxy_is_used_when_given() {
    let proxy = Server::start();
    proxy.reply("http://example.invalid/a", Reply::ok("hello"));
    let address = proxy.url("");
    let options = ClientOptions { proxy: Some(&address), ..ClientOptions::STANDARD };
    insta::assert_snapshot!(render(&options, "http://example.invalid/a"), @"hello from http://example.invalid/a");
    let options = ClientOptions { proxy: Some("not a url"), ..ClientOptions::STANDARD };
    insta::assert_snapshot!(Client::new(&options).unwrap_err(), @"the proxy is not a valid URL");
}

#[test]
fn a_full_disk_is_not_blamed_on_the_server() {
    let server = Server::start();
    server.reply("/a", Reply::ok("hello"));
    let client = Client::new(&ClientOptions::STANDARD).unwrap();
    let url = server.url("/a");
    let request = DownloadRequest { url: &url, etag: None, last_modified: None };
    let mut full: &mut [u8] = &mut [0; 2];
    let error = client.download_blocking(&request, &mut full).unwrap_err();
    insta::assert_snapshot!(error, @"cannot write what was downloaded");
}
