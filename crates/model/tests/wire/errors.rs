//! What goes wrong, in words that help, and never with the key in them.

use std::time::Duration;

use metier_model::{Format, Message, ModelSettings, Provider, Request, Secret, open};
use metier_testkit::server::{Reply, Server};

use crate::replay::{
    FOLDERS, KEY, block_on, chain, model, path, provider, recorded, replay, request, settings,
    story,
};

const CHAT: Format = Format::ChatCompletions;

/// What a server's answers lead to.
fn told(answers: impl IntoIterator<Item = Reply>) -> String {
    let server = Server::start();
    server.replies(path(CHAT), answers);
    let told =
        block_on(async { story(model(&server, CHAT).stream(&request()).await.unwrap()).await });
    assert!(!told.contains(KEY));
    told.replace(server.url("").trim_start_matches("http://"), "server")
}

/// Why a model cannot be opened.
fn refused(name: &str, settings: &ModelSettings) -> String {
    chain(&open(name, settings).unwrap_err())
}

#[test]
fn what_keeps_a_model_from_being_opened_is_named() {
    let openai = || Provider::openai(CHAT, None);
    let set = |provider| ModelSettings::new([("openai".to_owned(), provider)]);
    let odd = Provider { base_url: "localhost".to_owned(), ..Provider::compatible("") };
    let mut greedy = Provider::compatible("http://localhost");
    greedy.parameters.insert("messages".to_owned(), serde_json::json!([]));
    let lines = [
        refused("gpt-5", &set(openai())),
        refused("open/gpt-5", &set(openai())),
        refused("openai/gpt-5", &set(openai())),
        refused("openai/gpt-5", &set(Provider { key: Some(Secret::new(" ")), ..openai() })),
        refused("openai/gpt-5", &set(odd)),
        refused("openai/gpt-5", &set(greedy)),
    ];
    insta::assert_snapshot!(lines.join("\n"), @"
    `gpt-5` does not name a model: write it as `provider/name`
    there is no provider `open`; there are `openai`, `scripted`
    no key for `openai`: set `OPENAI_API_KEY`
    no key for `openai`: set `OPENAI_API_KEY`
    the base URL of `openai` cannot be used: it does not begin with `https://` or `http://`
    the parameter `messages` of `openai` cannot be set: every request has its own
    ");
}

#[test]
fn a_key_that_a_server_quotes_is_taken_out() {
    let quoted = format!("{{\"error\":{{\"message\":\"bad key {KEY}\"}}}}");
    insta::assert_snapshot!(told([Reply::ok(quoted).code(401)]), @"error: `server` does not accept the key: bad key ****");
    insta::assert_snapshot!(told([Reply::ok(format!("<p>{KEY}</p>"))]), @"error: `server` did not answer in the expected format; the answer begins with `<p>****</p>`");
    insta::assert_snapshot!(told([Reply::ok(format!("{{\"echo\":\"{KEY}\"}}"))]), @r#"error: `server` did not answer in the expected format; the answer begins with `{"echo":"****"}`"#);
}

#[test]
fn a_key_that_fits_no_header_is_not_shown() {
    let server = Server::start();
    let key = Some(Secret::new(format!("{KEY}\nx")));
    let model = open("p/m", &settings(Provider { key, ..provider(&server, CHAT) })).unwrap();
    let told = block_on(async { story(model.stream(&request()).await.unwrap()).await });
    insta::assert_snapshot!(told, @"error: requests to models cannot be made: the header `authorization` cannot be sent: it has characters that headers may not have");
}

#[test]
fn a_pause_that_is_asked_for_is_made_and_the_request_sent_again() {
    let limited =
        Reply::ok(r#"{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}"#)
            .code(429)
            .header("Retry-After", "0");
    insta::assert_snapshot!(told([limited, recorded("chat/odd-hangs-up.sse")]), @r#"
    + again: `server` asks to slow down: Rate limit reached
    + text "All said."
    text "All said."
    stop End; tokens in 0 (cached 0, written 0) out 0 (thought 0); cmpl-1 qwen3-4b
    "#);
}

#[test]
fn an_error_without_end_is_read_only_so_far() {
    let server = Server::start();
    let endless = Reply::ok("no ".repeat(1 << 20)).code(400).trickle(1 << 14, Duration::ZERO);
    server.reply(path(CHAT), endless);
    let told =
        block_on(async { story(model(&server, CHAT).stream(&request()).await.unwrap()).await });
    assert!(told.contains("(status 400): no no") && told.len() < 1000, "{told}");
}

#[test]
fn every_attempt_sends_the_same_bytes() {
    let server = Server::start();
    server
        .replies(path(CHAT), [Reply::status(500), Reply::status(503), recorded("chat/plain.sse")]);
    block_on(async {
        model(&server, CHAT).stream(&request()).await.unwrap().finish().await.unwrap()
    });
    let bodies: Vec<_> = server.requests().into_iter().map(|asked| asked.body).collect();
    assert_eq!(bodies.len(), 3);
    assert!(bodies.iter().all(|body| *body == bodies[0]));
}

#[test]
fn what_is_not_the_format_is_shown_safely() {
    let page = "<!DOCTYPE html>\u{1b}[2J<title>Captive portal</title>";
    insta::assert_snapshot!(told([Reply::ok(page)]), @r"error: `server` did not answer in the expected format; the answer begins with `<!DOCTYPE html>\u{1b}[2J<title>Captive portal</title>`");
    insta::assert_snapshot!(told([Reply::ok("{\"status\":\"ok\"}")]), @r#"error: `server` did not answer in the expected format; the answer begins with `{"status":"ok"}`"#);
    insta::assert_snapshot!(told([Reply::ok("data: {oops}\n\n")]), @"error: `server` did not answer in the expected format; the answer begins with `{oops}`");
    insta::assert_snapshot!(told([Reply::ok("{\"choices\": [")]), @"
    + again: the reply broke off before its end
    + again: the reply broke off before its end
    error: the reply broke off before its end
    ");
    insta::assert_snapshot!(told([Reply::ok("")]), @"
    + again: the reply broke off before its end
    + again: the reply broke off before its end
    error: the reply broke off before its end
    ");
}

#[test]
fn a_stream_that_breaks_is_an_error_after_all_attempts() {
    for (folder, _) in FOLDERS {
        insta::allow_duplicates! {
            insta::assert_snapshot!(replay(&format!("{folder}/broken.sse")), @r#"
            + text "Half a"
            + again: the reply broke off before its end
            + text "Half a"
            + again: the reply broke off before its end
            + text "Half a"
            error: the reply broke off before its end
            "#);
        }
    }
}

#[test]
fn a_connection_that_breaks_within_a_stream_is_tried_again() {
    let cut = recorded("chat/plain.sse").trickle(50, Duration::ZERO).cut_after(700);
    insta::assert_snapshot!(told([cut, recorded("chat/plain.sse")]), @r#"
    + text "Grüße"
    + again: the reply broke off before its end
    + text "Grüße"
    + text ", 世界 🦀"
    + text "!"
    text "Grüße, 世界 🦀!"
    stop End; tokens in 1203 (cached 1024, written 0) out 57 (thought 32); chatcmpl-B7x gpt-5-mini-2026-08-07
    "#);
}

#[test]
fn a_server_that_falls_silent_is_given_up() {
    let server = Server::start();
    server.reply(path(CHAT), Reply::ok("").delay(Duration::from_secs(60)));
    let mut settings = settings(provider(&server, CHAT));
    settings.idle_timeout = Duration::from_millis(200);
    settings.retries.attempts = 1;
    let model = open("p/m", &settings).unwrap();
    let told = block_on(async { story(model.stream(&request()).await.unwrap()).await });
    let told = told.replace(server.url("").trim_start_matches("http://"), "server");
    insta::assert_snapshot!(told, @"error: cannot reach `server`: `server` was silent for 0.2 s");
}

#[test]
fn a_server_that_does_not_run_is_named() {
    let server = Server::start();
    let provider = provider(&server, CHAT);
    let address = server.url("").trim_start_matches("http://").to_owned();
    drop(server);
    let mut settings = settings(provider);
    settings.retries.attempts = 1;
    let model = open("p/m", &settings).unwrap();
    let told = block_on(async { story(model.stream(&request()).await.unwrap()).await });
    insta::assert_snapshot!(told.replace(&address, "server"), @"error: cannot reach `server`: cannot connect to `server`");
}

#[test]
fn a_redirect_is_not_followed_with_the_key() {
    let other = Server::start();
    let told = told([Reply::redirect(307, &other.url("/v1/chat/completions"))]);
    assert!(other.requests().is_empty());
    insta::assert_snapshot!(told, @"error: cannot reach `server`: the redirect of `http://server/v1/chat/completions` is refused");
}

#[test]
fn dropping_a_reply_ends_its_connection() {
    let server = Server::start();
    let said = "data: {\"choices\":[{\"delta\":{\"content\":\"hello\"}}]}\n\n";
    let endless = format!("{said}{}", ": ping\n\n".repeat(100_000));
    server.reply(path(CHAT), Reply::ok(endless).trickle(80, Duration::from_millis(20)));
    block_on(async {
        let mut replies = model(&server, CHAT).stream(&request()).await.unwrap();
        let first = replies.next().await;
        assert!(matches!(first, Some(Ok(_))), "{first:?}");
        assert_eq!(server.abandoned(), 0);
        drop(replies);
        let hung_up = async {
            while server.abandoned() == 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), hung_up).await.unwrap();
    });
}

#[test]
fn an_endless_line_is_given_up() {
    let endless = format!("data: {}", "x".repeat(9 * 1024 * 1024));
    insta::assert_snapshot!(told([Reply::ok(endless)]), @"error: the reply is larger than 8388608 bytes");
}

#[test]
fn a_conversation_can_be_stored_and_read_again() {
    let server = Server::start();
    server.reply(path(CHAT), recorded("chat/details.sse"));
    let reply = block_on(async {
        model(&server, CHAT).stream(&request()).await.unwrap().finish().await.unwrap()
    });
    let mut request = request();
    request.messages.push(Message::Assistant(reply.parts));
    let stored = serde_json::to_value(&request).unwrap();
    assert_eq!(serde_json::from_value::<Request>(stored).unwrap(), request);
}
