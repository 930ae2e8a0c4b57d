//! `CONNECT` and plain requests.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;

use metier_testkit::server::{Reply, Server};

use super::{Harness, echo, outcome, serve};

/// The port of a test server.
fn port(server: &Server) -> String {
    server.url("").rsplit(':').next().unwrap().to_owned()
}

/// A server with a page, and a proxy that lets through to it as `inside.example`.
fn page() -> (Server, String, Harness) {
    let server = Server::start();
    server.reply("/page", Reply::ok("hello"));
    let port = port(&server);
    let list = [format!("inside.example:{port}"), format!("127.0.0.1:{port}")];
    let harness = Harness::new(&list.each_ref().map(String::as_str));
    (server, port, harness)
}

/// What becomes of a request, with the port of the server written as `PORT`.
fn asked(request: &str) -> String {
    let (_server, port, harness) = page();
    let answer = harness.send(request.replace("PORT", &port));
    format!("{}\n{}", outcome(&answer), harness.refused()).replace(&port, "PORT")
}

fn everything(mut stream: &TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_tunnel_passes_large_bodies_and_half_closes_both_ways() {
    let port = echo().port();
    let harness = Harness::new(&[&format!("localhost:{port}")]);
    let client = harness.tunnel(&format!("LocalHost.:{port}")).unwrap();
    let sent = (0..8_000_000_u32).map(|number| number.to_le_bytes()[0] ^ 7).collect::<Vec<_>>();
    let received = thread::scope(|scope| {
        scope.spawn(|| {
            (&client).write_all(&sent).unwrap();
            client.shutdown(Shutdown::Write).unwrap();
        });
        everything(&client)
    });
    assert!(received == sent, "{} bytes came back", received.len());
    assert_eq!(harness.refused(), "");
}

#[test]
fn a_server_that_is_done_first_still_gets_the_rest() {
    let greeter = serve(|mut client| {
        client.write_all(b"done").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut text = String::new();
        client.read_to_string(&mut text).unwrap();
        assert_eq!(text, "still here");
    });
    let harness = Harness::new(&[&greeter.to_string()]);
    let mut client = harness.tunnel(&greeter.to_string()).unwrap();
    assert_eq!(everything(&client), b"done");
    client.write_all(b"still here").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
}

#[test]
fn bytes_right_after_a_connect_are_not_lost() {
    let address = echo();
    let harness = Harness::new(&[&address.to_string()]);
    let mut client = harness.connect();
    write!(client, "CONNECT {address} HTTP/1.1\r\n\r\nearly").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let answer = String::from_utf8(everything(&client)).unwrap();
    assert_eq!(answer, "HTTP/1.1 200 Connection established\r\n\r\nearly");
}

#[test]
fn tunnels_lead_only_where_the_list_says() {
    let port = echo().port();
    let listed = [format!("inside.example:{port}"), format!("127.0.0.1:{port}")];
    let harness = Harness::new(&listed.each_ref().map(String::as_str));
    let mut lines = String::new();
    for target in [
        "inside.example:PORT",
        "INSIDE.example.:PORT",
        "127.0.0.1:PORT",
        "a.inside.example:PORT",
        "inside.example:1",
        "localhost:PORT",
        "inside.example",
        "inside.example:PORT@evil.example",
        "inside.example:PORT@evil.example:443",
        "http://inside.example:PORT",
        "[::ffff:127.0.0.1]:PORT",
        "[::1]:PORT",
        "0x7f.1:PORT",
        "127.1:PORT",
        "2130706433:PORT",
        "0177.0.0.1:PORT",
        "inside.example:PORT/",
        "inside.example:PORT#evil",
        "inside.example\\:PORT",
        "*:PORT",
    ] {
        let status = harness.tunnel(&target.replace("PORT", &port.to_string())).map(drop);
        lines += &format!("{target} | {}\n", status.err().unwrap_or("passed".into()));
    }
    insta::assert_snapshot!(lines, @r"
    inside.example:PORT | passed
    INSIDE.example.:PORT | passed
    127.0.0.1:PORT | passed
    a.inside.example:PORT | 403 Forbidden
    inside.example:1 | 403 Forbidden
    localhost:PORT | 403 Forbidden
    inside.example | 400 Bad Request
    inside.example:PORT@evil.example | 400 Bad Request
    inside.example:PORT@evil.example:443 | 400 Bad Request
    http://inside.example:PORT | 400 Bad Request
    [::ffff:127.0.0.1]:PORT | 403 Forbidden
    [::1]:PORT | 403 Forbidden
    0x7f.1:PORT | 400 Bad Request
    127.1:PORT | 400 Bad Request
    2130706433:PORT | 400 Bad Request
    0177.0.0.1:PORT | 400 Bad Request
    inside.example:PORT/ | 400 Bad Request
    inside.example:PORT#evil | 400 Bad Request
    inside.example\:PORT | 400 Bad Request
    *:PORT | 400 Bad Request
    ");
    insta::assert_snapshot!(harness.refused().replace(&port.to_string(), "PORT"), @r"
    1 × a.inside.example:PORT: it is not in the list of allowed addresses
    1 × inside.example:1: it is not in the list of allowed addresses
    1 × localhost:PORT: it is not in the list of allowed addresses
    1 × inside.example: its port is not a number from 1 to 65535
    1 × ****@evil.example: it has a user name
    1 × ****@evil.example:443: it has a user name
    1 × http://inside.example:PORT: it has a scheme or a path where only `host:port` may stand
    1 × [::ffff:127.0.0.1]:PORT: it is not in the list of allowed addresses
    1 × [::1]:PORT: it is not in the list of allowed addresses
    1 × 0x7f.1:PORT: it ends in a number, but is not an IPv4 address of four plain numbers
    1 × 127.1:PORT: it ends in a number, but is not an IPv4 address of four plain numbers
    1 × 2130706433:PORT: it ends in a number, but is not an IPv4 address of four plain numbers
    1 × 0177.0.0.1:PORT: it ends in a number, but is not an IPv4 address of four plain numbers
    1 × inside.example:PORT/: it has a scheme or a path where only `host:port` may stand
    1 × inside.example:PORT: it has a scheme or a path where only `host:port` may stand
    1 × inside.example\\:PORT: it has a scheme or a path where only `host:port` may stand
    1 × *:PORT: its host is not a name, an IPv4 address, or an IPv6 address in brackets
    ");
}

#[test]
fn a_name_that_leads_to_a_private_address_is_refused() {
    let port = echo().port();
    let names = ["rebound.example", "cloud.example", "mapped.example", "*.inside.example"];
    let listed = names.map(|name| format!("{name}:{port}"));
    let harness = Harness::new(&listed.each_ref().map(String::as_str));
    for name in ["rebound.example", "cloud.example", "mapped.example", "a.inside.example"] {
        let refused = harness.tunnel(&format!("{name}:{port}")).map(drop);
        assert_eq!(refused, Err("403 Forbidden".to_owned()), "{name}");
    }
    insta::assert_snapshot!(harness.refused().replace(&port.to_string(), "PORT"), @"
    1 × rebound.example:PORT: it leads to 127.0.0.1, which is not a public address and not in the list itself
    1 × cloud.example:PORT: it leads to 169.254.169.254, which is not a public address and not in the list itself
    1 × mapped.example:PORT: it leads to ::ffff:127.0.0.1, which is not a public address and not in the list itself
    1 × a.inside.example:PORT: it leads to 127.0.0.1, which is not a public address and not in the list itself
    ");
}

#[test]
fn of_several_addresses_only_the_permitted_are_used() {
    let port = echo().port();
    let listed = [format!("both.example:{port}"), format!("127.0.0.1:{port}")];
    let harness = Harness::new(&listed.each_ref().map(String::as_str));
    harness.tunnel(&format!("both.example:{port}")).unwrap();
}

#[test]
fn what_cannot_be_reached_is_no_refusal() {
    let harness = Harness::new(&["127.0.0.1:1", "unknown.example:443"]);
    assert_eq!(harness.tunnel("127.0.0.1:1").map(drop), Err("502 Bad Gateway".to_owned()));
    assert_eq!(harness.tunnel("unknown.example:443").map(drop), Err("502 Bad Gateway".to_owned()));
    assert_eq!(harness.refused(), "");
}

#[test]
fn a_plain_request_is_passed_and_its_answer_closes() {
    let (_server, port, harness) = page();
    let request = format!("GET http://Inside.Example:{port}/page HTTP/1.1\r\n\r\n");
    let answer = String::from_utf8(harness.send(request)).unwrap();
    assert_eq!(answer.matches("onnection: close").count(), 1, "{answer}");
    assert_eq!(outcome(answer.as_bytes()), "200 Scripted | hello");
}

#[test]
fn the_server_gets_the_host_of_the_url_and_no_headers_for_the_proxy() {
    let (server, port, harness) = page();
    harness.send(format!(
        "POST http://inside.example:{port}?a=b HTTP/1.1\r\nHost: evil.example\r\nHOST: twice\r\n\
         Proxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\n\
         Connection: X-Hop, content-length,host\r\nX-Hop: 1\r\nX-End: 2\r\nUpgrade: h2c\r\n\
         Content-Length: 4\r\nExpect: 100-continue\r\n\r\nbody"
    ));
    let request = server.requests().remove(0);
    let headers = request.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
    let text = format!("{} {}\n{}", request.method, request.target, headers.collect::<String>());
    insta::assert_snapshot!(text.replace(&port, "PORT"), @"
    POST /?a=b
    Host: inside.example:PORT
    X-End: 2
    Content-Length: 4
    Connection: close
    ");
    assert_eq!(request.body, b"body");
}

#[test]
fn a_large_plain_body_is_passed_whole() {
    let (server, port, harness) = page();
    let body = "x".repeat(3_000_000);
    server.reply("/upload", Reply::ok(body.clone()));
    let length = body.len();
    let head =
        format!("PUT http://127.0.0.1:{port}/upload HTTP/1.1\r\nContent-Length: {length}\r\n\r\n");
    let answer = harness.send(head + &body);
    assert!(answer.ends_with(body.as_bytes()));
    assert_eq!(server.requests()[0].body.len(), length);
}

#[test]
fn a_second_request_never_reaches_the_server() {
    let (server, port, harness) = page();
    let first = format!("GET http://127.0.0.1:{port}/page HTTP/1.1\r\n\r\n");
    let second = "GET /secret HTTP/1.1\r\nHost: other.example\r\n\r\n";
    assert_eq!(outcome(&harness.send(first + second)), "200 Scripted | hello");
    let with_body =
        format!("POST http://127.0.0.1:{port}/page HTTP/1.1\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(outcome(&harness.send(with_body + "ab" + second)), "200 Scripted | hello");
    let seen = server.requests();
    assert_eq!(
        seen.iter().map(|request| request.target.as_str()).collect::<Vec<_>>(),
        ["/page"; 2]
    );
    assert_eq!(seen[1].body, b"ab");
}

#[test]
fn interim_answers_are_passed_before_the_answer() {
    let server = serve(|mut client| {
        let mut bytes = [0; 4096];
        let _count = client.read(&mut bytes).unwrap();
        let hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        client.write_all(hints).unwrap();
        let answer =
            b"HTTP/1.1 204 No Content\r\nconnection: keep-alive\r\nKeep-Alive: 5\r\nA: b\r\n\r\n";
        client.write_all(answer).unwrap();
    });
    let harness = Harness::new(&[&server.to_string()]);
    let answer = harness.send(format!("GET http://{server}/ HTTP/1.1\r\n\r\n"));
    insta::assert_snapshot!(String::from_utf8(answer).unwrap(), @"
    HTTP/1.1 103 Early Hints
    Link: </a>

    HTTP/1.1 204 No Content
    A: b
    Connection: close
    ");
}

#[test]
fn a_server_that_does_not_speak_http_is_a_bad_gateway() {
    let server = serve(|mut client| {
        let mut bytes = [0; 4096];
        let _count = client.read(&mut bytes).unwrap();
        client.write_all(b"220 mail.example ESMTP\r\n").unwrap();
    });
    let harness = Harness::new(&[&server.to_string()]);
    let answer = harness.send(format!("GET http://{server}/ HTTP/1.1\r\n\r\n"));
    insta::assert_snapshot!(outcome(&answer), @"502 Bad Gateway | metier does not pass ``: its answer is not HTTP/1");
}

#[test]
fn a_user_name_before_another_host_does_not_help() {
    insta::assert_snapshot!(asked("GET http://inside.example:PORT@evil.example/page HTTP/1.1\r\n\r\n"), @"
    400 Bad Request | metier does not pass `http://inside.example:PORT@evil.example/page`: it has a user name
    1 × http://****@evil.example/page: it has a user name
    ");
}

#[test]
fn the_host_header_does_not_help() {
    insta::assert_snapshot!(
        asked("GET http://evil.example/page?token=1 HTTP/1.1\r\nHost: inside.example:PORT\r\n\r\n"),
        @"
    403 Forbidden | metier does not pass `http://evil.example/page`: it is not in the list of allowed addresses
    1 × http://evil.example/page: it is not in the list of allowed addresses
    "
    );
}

#[test]
fn plain_requests_are_for_http_urls() {
    insta::assert_snapshot!(asked("GET /page HTTP/1.1\r\nHost: inside.example:PORT\r\n\r\n"), @"
    400 Bad Request | metier does not pass `/page`: the request is not well-formed: its target is not a whole URL, as a proxy needs it
    1 × /page: the request is not well-formed: its target is not a whole URL, as a proxy needs it
    ");
    insta::assert_snapshot!(asked("GET https://inside.example:PORT/page HTTP/1.1\r\n\r\n"), @"
    400 Bad Request | metier does not pass `https://inside.example:PORT/page`: the request is not well-formed: only `http` URLs are asked for directly; others need `CONNECT`
    1 × https://inside.example:PORT/page: the request is not well-formed: only `http` URLs are asked for directly; others need `CONNECT`
    ");
    insta::assert_snapshot!(asked("GET http://inside.example:PORT/#a HTTP/1.1\r\n\r\n"), @"
    400 Bad Request | metier does not pass `http://inside.example:PORT/`: the request is not well-formed: its target has a fragment
    1 × http://inside.example:PORT/: the request is not well-formed: its target has a fragment
    ");
    insta::assert_snapshot!(asked("TRACE http://inside.example:PORT/page HTTP/1.1\r\n\r\n"), @"
    405 Method Not Allowed | metier does not pass `http://inside.example:PORT/page`: only plain HTTP requests and connections are passed
    1 × http://inside.example:PORT/page: only plain HTTP requests and connections are passed
    ");
}

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    let mut lines = String::new();
    for request in [
        "POST URL HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody",
        "POST URL HTTP/1.1\r\nContent-Length: 4\r\ncontent-length: 0\r\n\r\nbody",
        "POST URL HTTP/1.1\r\nContent-Length: 4, 4\r\n\r\nbody",
        "POST URL HTTP/1.1\r\nContent-Length: +4\r\n\r\nbody",
        "POST URL HTTP/1.1\r\nContent-Length: \r\n\r\nbody",
        "POST URL HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\nbody",
        "POST URL HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST URL HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST URL HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "POST URL HTTP/1.1\r\nX: a\r\n Transfer-Encoding: chunked\r\n\r\n",
        "GET URL HTTP/1.1\r\nX: a\r\n\tfolded\r\n\r\n",
        "GET URL HTTP/1.1\r\nX: a\nY: b\r\n\r\n",
        "GET URL HTTP/1.1\nX: a\n\n",
        "GET URL HTTP/1.1\r\nX: a\rY: b\r\n\r\n",
        "GET URL HTTP/1.1\r\nX: a\0b\r\n\r\n",
        "GET URL\0 HTTP/1.1\r\n\r\n",
        "GET URL\tx HTTP/1.1\r\n\r\n",
        "GET URL x HTTP/1.1\r\n\r\n",
        "GET  URL HTTP/1.1\r\n\r\n",
        "GET URL\r\n\r\n",
        "GET URL HTTP/2.0\r\n\r\n",
        "get URL HTTP/1.1\r\n\r\n",
        "GET URL HTTP/1.1\r\nno colon\r\n\r\n",
        "GET URL HTTP/1.1\r\n: empty\r\n\r\n",
        "\r\nGET URL HTTP/1.1\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}",
        "\u{4}\u{1}\u{0}\u{50}",
    ] {
        let (server, port, harness) = page();
        let url = format!("http://inside.example:{port}/page");
        let answer = outcome(&harness.send(request.replace("URL", &url)));
        let words = answer.split_once("`: ").map_or(answer.as_str(), |(_, words)| words);
        lines += &format!("{:?} | {} | {words}\n", request, &answer[..3]);
        assert_eq!(server.requests(), []);
        assert_eq!(harness.proxy.refused().len(), 1);
    }
    insta::assert_snapshot!(lines, @r#"
    "POST URL HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody" | 400 | the request is not well-formed: it has two headers `Content-Length`
    "POST URL HTTP/1.1\r\nContent-Length: 4\r\ncontent-length: 0\r\n\r\nbody" | 400 | the request is not well-formed: it has two headers `Content-Length`
    "POST URL HTTP/1.1\r\nContent-Length: 4, 4\r\n\r\nbody" | 400 | the request is not well-formed: its `Content-Length` is not a number
    "POST URL HTTP/1.1\r\nContent-Length: +4\r\n\r\nbody" | 400 | the request is not well-formed: its `Content-Length` is not a number
    "POST URL HTTP/1.1\r\nContent-Length: \r\n\r\nbody" | 400 | the request is not well-formed: its `Content-Length` is not a number
    "POST URL HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\nbody" | 400 | the request is not well-formed: its `Content-Length` is not a number
    "POST URL HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" | 400 | the request is not well-formed: it has a `Content-Length` and a `Transfer-Encoding`
    "POST URL HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" | 411 | a body without a `Content-Length` is not passed; use `https`
    "POST URL HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" | 400 | the request is not well-formed: the name of a header is not a word
    "POST URL HTTP/1.1\r\nX: a\r\n Transfer-Encoding: chunked\r\n\r\n" | 400 | the request is not well-formed: the name of a header is not a word
    "GET URL HTTP/1.1\r\nX: a\r\n\tfolded\r\n\r\n" | 400 | the request is not well-formed: a header has no colon
    "GET URL HTTP/1.1\r\nX: a\nY: b\r\n\r\n" | 400 | the request is not well-formed: a line ends in a bare line feed
    "GET URL HTTP/1.1\nX: a\n\n" | 400 | the request is not well-formed: a line ends in a bare line feed
    "GET URL HTTP/1.1\r\nX: a\rY: b\r\n\r\n" | 400 | the request is not well-formed: a header has a control character
    "GET URL HTTP/1.1\r\nX: a\0b\r\n\r\n" | 400 | the request is not well-formed: a header has a control character
    "GET URL\0 HTTP/1.1\r\n\r\n" | 400 | the request is not well-formed: its first line has a control character
    "GET URL\tx HTTP/1.1\r\n\r\n" | 400 | the request is not well-formed: its first line has a control character
    "GET URL x HTTP/1.1\r\n\r\n" | 400 | the request is not well-formed: its first line is not a method, a target and a version
    "GET  URL HTTP/1.1\r\n\r\n" | 400 | the request is not well-formed: its first line is not a method, a target and a version
    "GET URL\r\n\r\n" | 400 | the request is not well-formed: its first line is not a method, a target and a version
    "GET URL HTTP/2.0\r\n\r\n" | 400 | the request is not well-formed: its version is neither HTTP/1.1 nor HTTP/1.0
    "get URL HTTP/1.1\r\n\r\n" | 400 | the request is not well-formed: it begins neither like HTTP nor like SOCKS5
    "GET URL HTTP/1.1\r\nno colon\r\n\r\n" | 400 | the request is not well-formed: a header has no colon
    "GET URL HTTP/1.1\r\n: empty\r\n\r\n" | 400 | the request is not well-formed: the name of a header is not a word
    "\r\nGET URL HTTP/1.1\r\n\r\n" | 400 | the request is not well-formed: it begins neither like HTTP nor like SOCKS5
    "\u{16}\u{3}\u{1}\u{2}" | 400 | the request is not well-formed: it begins neither like HTTP nor like SOCKS5
    "\u{4}\u{1}\0P" | 400 | the request is not well-formed: it begins neither like HTTP nor like SOCKS5
    "#);
}
