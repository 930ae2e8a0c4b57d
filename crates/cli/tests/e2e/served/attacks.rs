//! Requests over HTTP that nobody should make: each is refused as the protocol says, and the next good one answered.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use metier_testkit::TestEnv;
use serde_json::{Value, json};

use super::http::{Served, TOKEN};
use super::{initialize, request};
use crate::environment;

/// The largest message that is taken.
const MAX_MESSAGE: usize = 4 << 20;

fn served() -> (TestEnv, Served) {
    let env = environment();
    env.skill("project/skills", "greet", "Says hello.");
    let served = Served::start(&env, &[]);
    (env, served)
}

/// Sends bodies one after the other; how each was refused, and whether the server is well after it.
fn refusals(bodies: &[(&str, &[u8])]) -> String {
    let (_env, served) = served();
    let session = served.open();
    let refused = bodies.iter().map(|(name, body)| {
        let reply = served.send("POST", &[("Mcp-Session-Id", &session)], body);
        served.must_be_well(&session);
        format!("{name}: {}", reply.refusal())
    });
    refused.collect::<Vec<_>>().join("\n")
}

/// Sends headers that differ from good ones.
fn answers(served: &Served, method: &str, cases: &[&[(&str, &str)]]) -> String {
    let body = initialize().to_string();
    let answers = cases.iter().map(|headers| {
        let reply = served.send(method, headers, body.as_bytes());
        let (name, value) = headers.last().expect("a header");
        format!("{method} {name}: {value} → {}", reply.refusal())
    });
    answers.collect::<Vec<_>>().join("\n")
}

#[test]
fn bodies_that_are_no_message_are_refused() {
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let nested = json!({"name": "skill_search", "arguments": {"query": "REPLACED"}});
    let nested = request(7, "tools/call", &nested).to_string().replace("\"REPLACED\"", &deep);
    let batch = json!([request(1, "ping", &json!({})), request(2, "ping", &json!({}))]).to_string();
    insta::assert_snapshot!(refusals(&[
        ("nothing", b""),
        ("half of it", br#"{"jsonrpc":"2.0","id":1,"method":"pi"#),
        ("not JSON", b"hello"),
        ("invalid UTF-8", b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\xfe\"}"),
        ("zero bytes", &[0; 100]),
        ("a number", b"7"),
        ("null", b"null"),
        ("another version", br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#),
        ("no method", br#"{"jsonrpc":"2.0","id":1}"#),
        ("a method that is a number", br#"{"jsonrpc":"2.0","id":1,"method":7}"#),
        ("an id that is an object", br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#),
        ("a huge number for an id", format!(r#"{{"jsonrpc":"2.0","id":1{},"method":"ping"}}"#, "0".repeat(400)).as_bytes()),
        ("a batch", batch.as_bytes()),
        ("brackets without end", "[".repeat(10_000).as_bytes()),
        ("arguments without bottom", nested.as_bytes()),
        ("an unknown method", br#"{"jsonrpc":"2.0","id":1,"method":"skills/destroy"}"#),
    ]), @"
    nothing: 400 -32700
    half of it: 400 -32700
    not JSON: 400 -32700
    invalid UTF-8: 400 -32700
    zero bytes: 400 -32700
    a number: 400 -32600
    null: 400 -32600
    another version: 400 -32600
    no method: 400 -32600
    a method that is a number: 400 -32600
    an id that is an object: 400 -32600
    a huge number for an id: 400 -32700
    a batch: 400 -32600
    brackets without end: 400 -32600
    arguments without bottom: 400 -32600
    an unknown method: 200 -32601
    ");
}

#[test]
fn a_long_id_comes_back_as_it_was() {
    let (_env, served) = served();
    let session = served.open();
    let id = "9".repeat(100_000);
    let reply = served.post(Some(&session), &request(id.clone(), "ping", &Value::Null));
    assert_eq!(reply.message()["id"], id);
    served.must_be_well(&session);
}

#[test]
fn without_the_token_nothing_is_looked_at() {
    let (_env, served) = served();
    let long = format!("Bearer {}", "x".repeat(8_000));
    let prefix = format!("Bearer {}", &TOKEN[..31]);
    let twice = format!("Bearer {TOKEN}, Bearer {TOKEN}");
    insta::assert_snapshot!(answers(&served, "POST", &[
        &[("Authorization", "")],
        &[("Authorization", "Bearer")],
        &[("Authorization", "Basic dXNlcjpwYXNz")],
        &[("Authorization", &prefix)],
        &[("Authorization", &twice)],
        &[("Authorization", ""), (":path", "/elsewhere")],
        &[("Authorization", ""), ("Host", "evil.example")],
        &[("Authorization", ""), ("Mcp-Session-Id", "anything")],
    ]), @"
    POST Authorization:  → 401
    POST Authorization: Bearer → 401
    POST Authorization: Basic dXNlcjpwYXNz → 401
    POST Authorization: Bearer 0123456789abcdef0123456789abcde → 401
    POST Authorization: Bearer 0123456789abcdef0123456789abcdef, Bearer 0123456789abcdef0123456789abcdef → 401
    POST :path: /elsewhere → 401
    POST Host: evil.example → 401
    POST Mcp-Session-Id: anything → 401
    ");
    assert_eq!(served.send("POST", &[("Authorization", &long)], b"{}").status, 401);
    let reply = served.send("GET", &[("Authorization", "")], b"");
    assert_eq!((reply.status, reply.header("www-authenticate")), (401, Some("Bearer")));
    served.must_be_well(&served.open());
}

#[test]
fn other_hosts_origins_paths_and_methods_are_refused() {
    let (_env, served) = served();
    let port = served.address.port();
    let (named, local) = (format!("localhost:{port}"), format!("http://localhost:{port}"));
    let without_port = |text: String| text.replace(&port.to_string(), "PORT");
    insta::assert_snapshot!(without_port(answers(&served, "POST", &[
        &[("Host", &named)],
        &[("Host", "evil.example")],
        &[("Host", "127.0.0.1.evil.example")],
        &[("Host", "")],
        &[("Origin", "http://evil.example")],
        &[("Origin", &local)],
        &[("Origin", "null")],
        &[(":path", "/")],
        &[(":path", "/mcp/../mcp")],
        &[("Accept", "text/html")],
        &[("Content-Type", "text/plain")],
        &[("MCP-Protocol-Version", "1999-01-01")],
    ])), @"
    POST Host: localhost:PORT → 200
    POST Host: evil.example → 403
    POST Host: 127.0.0.1.evil.example → 403
    POST Host:  → 400
    POST Origin: http://evil.example → 403
    POST Origin: http://localhost:PORT → 403
    POST Origin: null → 403
    POST :path: / → 404
    POST :path: /mcp/../mcp → 404
    POST Accept: text/html → 406
    POST Content-Type: text/plain → 415
    POST MCP-Protocol-Version: 1999-01-01 → 400
    ");
    for method in ["PUT", "OPTIONS", "PATCH", "HEAD", "TRACE", "BREW"] {
        assert_eq!(served.send(method, &[], b"").status, 405, "{method}");
    }
    served.must_be_well(&served.open());
}

#[test]
fn a_request_names_one_host_and_no_user() {
    let (_env, served) = served();
    let port = served.address.port();
    let good = format!("127.0.0.1:{port}");
    let (target, elsewhere) = (format!("http://{good}/mcp"), "http://evil.example/mcp".to_owned());
    let with_user = format!("http://evil.example@{good}/mcp");
    let user = format!("evil.example@{good}");
    let userless = format!("{good}@evil.example");
    let body = initialize().to_string();
    let status = |headers: &[(&str, &str)]| served.send("POST", headers, body.as_bytes()).status;
    assert_eq!(status(&[(":path", &target)]), 200);
    assert_eq!(status(&[("Host", &good), ("Host", &good)]), 400);
    assert_eq!(status(&[("Host", &good), ("Host", "evil.example")]), 400);
    assert_eq!(status(&[("Host", "evil.example"), ("host", &good)]), 400);
    assert_eq!(status(&[("Host", &user)]), 400);
    assert_eq!(status(&[("Host", &userless)]), 400);
    for host in ["[::1].evil.example", "localhost:abc", "localhost:80.evil.example"] {
        assert_eq!(status(&[("Host", host)]), 400, "{host}");
    }
    assert_eq!(status(&[("Host", "127.0.0.1"), (":path", "http://127.0.0.1:abc/mcp")]), 421);
    assert_eq!(status(&[(":path", &elsewhere)]), 421);
    assert_eq!(status(&[(":path", &elsewhere), ("Host", "evil.example")]), 403);
    assert_eq!(status(&[(":path", &with_user)]), 421);
    assert_eq!(status(&[(":path", &target), ("Host", "evil.example")]), 421);
    assert_eq!(status(&[("Host", "")]), 400);
    // Without the token nobody learns any of this.
    for host in [good.as_str(), "evil.example", &user] {
        let nobody = [("Authorization", "Bearer nobody"), ("Host", host), ("Host", &good)];
        assert_eq!(status(&nobody), 401, "{host}");
    }
    assert_eq!(status(&[("Authorization", ""), (":path", &elsewhere)]), 401);
    served.must_be_well(&served.open());
}

#[test]
fn hosts_and_origins_can_be_allowed() {
    let env = environment();
    let allowed = ["--allow-host", "box.example", "--allow-origin", "https://page.example:443"];
    let served = Served::start(&env, &allowed);
    insta::assert_snapshot!(answers(&served, "POST", &[
        &[("Host", "box.example")],
        &[("Host", "other.example")],
        &[("Origin", "https://page.example")],
        &[("Origin", "http://page.example")],
        &[("Origin", "https://page.example:444")],
    ]), @"
    POST Host: box.example → 200
    POST Host: other.example → 403
    POST Origin: https://page.example → 200
    POST Origin: http://page.example → 403
    POST Origin: https://page.example:444 → 403
    ");
}

#[test]
fn a_browser_is_told_which_pages_may_ask() {
    let env = environment();
    let served = Served::start(&env, &["--allow-origin", "https://page.example:443"]);
    let asks = |origin| {
        let headers =
            [("Authorization", ""), ("Origin", origin), ("Access-Control-Request-Method", "POST")];
        let reply = served.send("OPTIONS", &headers, b"");
        (reply.status, reply.header("access-control-allow-origin").map(str::to_owned))
    };
    assert_eq!(asks("https://page.example"), (204, Some("https://page.example".to_owned())));
    assert_eq!(asks("https://evil.example"), (401, None));
    let body = initialize().to_string();
    let reply = served.send("POST", &[("Origin", "https://page.example")], body.as_bytes());
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://page.example"));
    let reply = served.send("POST", &[("Origin", "https://evil.example")], body.as_bytes());
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (403, None));
    let strange = [("Authorization", ""), ("Origin", "https://page.example")];
    assert_eq!(served.send("POST", &strange, body.as_bytes()).status, 401);
}

#[test]
fn what_is_too_large_is_refused() {
    let (_env, served) = served();
    let session = served.open();
    let fits = request(1, "ping", &json!({"x": "y".repeat(MAX_MESSAGE - 200)}));
    assert_eq!(served.post(Some(&session), &fits).status, 200);
    let large = request(1, "ping", &json!({"x": "y".repeat(MAX_MESSAGE)}));
    assert_eq!(served.post(Some(&session), &large).status, 413);
    let values = vec![json!([]); 20_000];
    let reply = served.post(Some(&session), &request(1, "ping", &json!({"x": values})));
    assert_eq!((reply.status, reply.body.trim()), (413, "a message has at most 20000 values"));
    let mut opening = initialize();
    opening["params"]["capabilities"]["experimental"] = json!({"x": {"y": "z".repeat(64 << 10)}});
    assert_eq!(served.post(None, &opening).status, 413, "it would be kept with the session");
    let announced = format!("{}Content-Length: 999999999999\r\n\r\n", served.head("POST", &[]));
    assert!(matches!(served.raw(announced.as_bytes()).status, 400 | 413));
    let mut chunked = format!("{}Transfer-Encoding: chunked\r\n\r\n", served.head("POST", &[]));
    for _ in 0..80 {
        chunked += &format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    }
    assert_eq!(served.raw(chunked.as_bytes()).status, 413);
    let long = "x".repeat(100_000);
    assert_eq!(served.send("POST", &[("X-Long", &long)], b"{}").status, 431);
    let many = (0..200).map(|it| format!("X-{it}: y\r\n")).collect::<String>();
    let many = format!("{}{many}\r\n", served.head("POST", &[]));
    assert_eq!(served.raw(many.as_bytes()).status, 431);
    let path = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(100_000));
    assert!(matches!(served.raw(path.as_bytes()).status, 414 | 431));
    assert_eq!(served.raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n").status, 400);
    served.must_be_well(&session);
}

#[test]
fn whoever_is_refused_before_the_body_is_told_that_the_connection_ends() {
    let (_env, served) = served();
    let kept = ("Connection", "keep-alive");
    for wrong in [("Authorization", "Bearer nobody"), ("Host", "evil.example"), (":path", "/other")]
    {
        let head = served.head("POST", &[kept, wrong]);
        let reply = served.raw(format!("{head}Content-Length: 2\r\n\r\n").as_bytes());
        assert!(matches!(reply.status, 401 | 403 | 404), "{reply}");
        assert!(reply.to_string().contains("connection: close"), "{wrong:?}: {reply}");
    }
}

#[test]
fn a_session_is_known_only_with_its_token() {
    let env = environment();
    let other = "ffffffffffffffffffffffffffffffff";
    let file = env.write("tokens", format!("{TOKEN}\n{other}\n"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("its mode");
    let file = file.to_str().expect("text");
    let served = Served::start_with(&env, &["--token-file", file], "");
    let session = served.open();
    let theirs = format!("Bearer {other}");
    let headers = [("Authorization", theirs.as_str()), ("Mcp-Session-Id", &session)];
    let ping = request(1, "ping", &Value::Null).to_string();
    assert_eq!(served.send("POST", &headers, ping.as_bytes()).status, 404);
    assert_eq!(served.send("GET", &headers, b"").status, 404);
    served.send("DELETE", &headers, b"");
    served.must_be_well(&session);
    for id in ["", "nobody", "00000000-0000-0000-0000-000000000000", "../..", &"x".repeat(4_000)] {
        let reply = served.post(Some(id), &request(1, "ping", &Value::Null));
        assert_eq!(reply.status, if id.is_empty() { 400 } else { 404 }, "{id}: {reply}");
    }
    let headers = [("Mcp-Session-Id", session.as_str())];
    assert_eq!(served.send("DELETE", &headers, b"").status, 202);
    assert_eq!(served.send("POST", &headers, ping.as_bytes()).status, 404);
}

#[test]
fn calls_without_a_session_are_refused() {
    let (_env, served) = served();
    let call = request(1, "tools/call", &json!({"name": "skill_search", "arguments": {}}));
    assert_eq!(served.post(None, &call).status, 400);
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(served.post(None, &told).status, 400);
    served.must_be_well(&served.open());
}

#[test]
fn half_a_request_and_silence_keeps_nobody_out() {
    let (_env, served) = served();
    let session = served.open();
    let halves = [
        "POST /mcp HT".to_owned(),
        served.head("POST", &[]),
        format!("{}Content-Length: 100\r\n\r\n{{", served.head("POST", &[])),
    ];
    let _silent: Vec<_> = halves
        .iter()
        .map(|half| {
            let mut stream = served.connect();
            stream.write_all(half.as_bytes()).expect("half");
            stream
        })
        .collect();
    served.must_be_well(&session);
}

#[test]
fn a_thousand_connections_of_strangers_keep_nobody_out() {
    let (_env, served) = served();
    let session = served.open();
    let mut silent = Vec::new();
    for number in 0..1_000 {
        let mut stream = served.connect();
        if number % 2 == 0 {
            let _closed = stream.write_all(b"GET /mcp HTTP/1.1\r\nX: ");
        }
        silent.push(stream);
    }
    let begun = Instant::now();
    served.must_be_well(&session);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    // The first of them has made room for the others.
    assert!(matches!(silent[0].read(&mut [0]), Ok(0) | Err(_)));
}

#[test]
fn a_call_with_many_patterns_keeps_nobody_waiting() {
    let (_env, served) = served();
    let (session, other) = (served.open(), served.open());
    let load = super::call(1, "skill_load", &json!({"skill": "greet"}));
    served.post(Some(&session), &load);
    let globs: Vec<_> = (0..500).map(|it| format!("out/{}{it}", "?".repeat(3_980))).collect();
    let run = json!({"skill": "greet", "command": "true", "outputs": {"globs": globs}});
    let many = super::call(2, "skill_run", &run);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let calling = scope.spawn(|| served.post(Some(&session), &many));
        std::thread::sleep(Duration::from_millis(100));
        served.must_be_well(&other);
        let refused = calling.join().expect("no panic").message()["result"].to_string();
        assert!(refused.contains("the limit is 100 patterns of 16384 bytes together"), "{refused}");
    });
    // Reading that many would take as long on its own.
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}
