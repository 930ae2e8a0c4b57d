//! Servers at an address.

use libtest_mimic::Failed;
use metier_mcp::{McpClientError, McpConnection};
use metier_testkit::server::{Reply, Server};
use serde_json::json;

use crate::bench::{
    Promise, SLOWLY, Web, at, block_on, causes, echo, has, hurried, many_calls, options, refusal,
    same,
};

pub(crate) const PROMISES: &[Promise] = &[
    ("a_session_is_kept_and_ended", session),
    ("an_answer_may_be_events", events),
    ("events_that_break_off_are_taken_up_again", resumed),
    ("events_that_break_off_for_good_are_told", broken),
    ("statuses_are_told_apart", statuses),
    ("secrets_go_nowhere_else", redirected),
    ("secrets_do_not_go_in_the_open", unprotected),
    ("what_is_no_message_is_quoted", no_message),
    ("nobody_at_an_address_is_told", nobody),
    ("a_silent_address_is_not_waited_for", silent),
    ("answers_are_bounded", bounded),
    ("streams_that_say_too_much_are_asked_for_once", once),
    ("calls_over_http_are_not_mixed_up", not_mixed_up),
];

fn session() -> Result<(), Failed> {
    let web = Web::start("");
    block_on(async {
        let peer = web.peer(&[("Authorization", "Bearer secret"), ("Mcp-Session-Id", "forged")]);
        same(format!("{peer:?}").contains("secret"), false)?;
        let connection = McpConnection::open(&peer, &options()).await?;
        same(format!("{connection:?}").contains("secret"), false)?;
        same(connection.tools().await?.tools.len(), 1)?;
        connection.close().await;
        let mut asked = web.asked(&["authorization", "mcp-session-id"]).await;
        asked.retain(|line| !line.starts_with("GET"));
        let should = [
            "POST server/discover Bearer secret forged",
            "POST initialize Bearer secret forged",
            "POST notifications/initialized Bearer secret session-1",
            "POST tools/list Bearer secret session-1",
            "DELETE - Bearer secret session-1",
        ];
        same(asked, should.map(str::to_owned).to_vec())
    })
}

fn events() -> Result<(), Failed> {
    let web = Web::start(
        r#"
def respond(handler, message):
    reply = answer(message, None)
    if reply is None:
        return send(handler, 202, {}, b"")
    token = message["params"].get("_meta", {}).get("progressToken", 0)
    sign = {"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": token, "progress": 1, "message": "half"}}
    def pieces():
        yield from [": hello\n\n", event(sign), "event: other\ndata: x\n\n"]
        # Time to look at the sign: nobody waits for one that comes with the answer.
        time.sleep(0.5)
        yield event(reply)
    events(handler, pieces())
"#,
    );
    block_on(async {
        let connection = McpConnection::open(&web.peer(&[]), &options()).await?;
        let mut told = Vec::new();
        let mut tell = |progress: metier_mcp::McpCallProgress| told.push(progress.message);
        let arguments = serde_json::Map::from_iter([("value".to_owned(), json!(1))]);
        let reply = connection.call("echo", arguments, std::future::pending(), &mut tell).await?;
        same(reply.text.as_str(), r#"{"value": 1}"#)?;
        same(told, vec![Some("half".to_owned())])?;
        same(connection.skills().await?.skills.len(), 0)?;
        connection.close().await;
        Ok(())
    })
}

fn resumed() -> Result<(), Failed> {
    let web = Web::start(
        r#"
LATER = {}
plain = respond

def respond(handler, message):
    if message.get("method") != "tools/call":
        return plain(handler, message)
    LATER["call-7"] = answer(message, None)
    events(handler, ["id: call-7\nretry: 10\ndata:\n\n"])

def stream(handler):
    reply = LATER.get(handler.headers.get("Last-Event-Id"))
    if reply is None:
        return send(handler, 405, {}, b"")
    events(handler, [event(reply, "call-8")])
"#,
    );
    block_on(async {
        let connection = McpConnection::open(&web.peer(&[]), &options()).await?;
        same(echo(&connection, json!(1)).await?.text.as_str(), r#"{"value": 1}"#)?;
        connection.close().await;
        let asked = web.asked(&["last-event-id", "mcp-session-id"]).await;
        same(asked.contains(&"GET - call-7 session-1".to_owned()), true)
    })
}

fn broken() -> Result<(), Failed> {
    let web = Web::start(
        r#"
plain = respond

def respond(handler, message):
    if message.get("method") != "tools/call":
        return plain(handler, message)
    events(handler, ["data: {\"json"])
"#,
    );
    block_on(async {
        let connection = McpConnection::open(&web.peer(&[]), &hurried()).await?;
        let error = echo(&connection, json!(1)).await.expect_err("no answer");
        has(&causes(&error), "ended the connection")?;
        // It is still there for everything else.
        same(connection.tools().await?.tools.len(), 1)?;
        connection.close().await;
        Ok(())
    })
}

fn statuses() -> Result<(), Failed> {
    let server = Server::start();
    block_on(async {
        for (status, what) in [
            (401, "does not let us in (status 401)"),
            (403, "does not let us in (status 403)"),
            (404, "answers with status 404"),
            (429, "answers with status 429"),
            (500, "answers with status 500"),
            (503, "answers with status 503"),
        ] {
            server.reply("/mcp", Reply::status(status));
            has(&refusal(&at(&server.url("/mcp"), &[]), &options()).await, what)?;
        }
        let reason =
            r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32000,"message":"too busy"}}"#;
        server
            .reply("/mcp", Reply::ok(reason).code(400).header("Content-Type", "application/json"));
        has(
            &refusal(&at(&server.url("/mcp"), &[]), &options()).await,
            "refuses: too busy (code -32000)",
        )
    })
}

fn redirected() -> Result<(), Failed> {
    let (server, other) = (Server::start(), Server::start());
    for status in [301, 302, 303, 307, 308] {
        server.reply("/mcp", Reply::redirect(status, &other.url("/mcp")));
        let peer = at(&server.url("/mcp"), &[("Authorization", "Bearer secret")]);
        has(&block_on(refusal(&peer, &options())), "is refused: the request carries credentials")?;
    }
    same(other.requests().len(), 0)
}

fn unprotected() -> Result<(), Failed> {
    let peer = at("http://server.invalid/mcp", &[("Authorization", "Bearer secret")]);
    let error = block_on(McpConnection::open(&peer, &options())).expect_err("refused");
    same(matches!(error, McpClientError::Unprotected { .. }), true)?;
    same(format!("{error:?}").contains("secret"), false)
}

fn no_message() -> Result<(), Failed> {
    let server = Server::start();
    server.reply("/mcp", Reply::ok("<html>Welcome</html>").header("Content-Type", "text/html"));
    let shown = block_on(refusal(&at(&server.url("/mcp"), &[]), &options()));
    has(&shown, "it answers with <html>Welcome</html>")?;
    server.reply("/mcp", Reply::ok("{]").header("Content-Type", "application/json"));
    let shown = block_on(refusal(&at(&server.url("/mcp"), &[]), &options()));
    has(&shown, "it answers with {]")
}

fn nobody() -> Result<(), Failed> {
    let address = Server::start().url("/mcp");
    has(
        &block_on(refusal(&at(&address, &[]), &options())),
        "cannot be reached: cannot connect to",
    )?;
    let shown = block_on(refusal(&at("ftp://localhost/", &[]), &options()));
    has(&shown, "neither http nor https")
}

fn silent() -> Result<(), Failed> {
    let server = Server::start();
    let long = std::time::Duration::from_secs(600);
    server.reply("/mcp", Reply::ok("").delay(long));
    let shown = block_on(refusal(&at(&server.url("/mcp"), &[]), &hurried()));
    has(&shown, "silent").or_else(|_| has(&shown, "did not answer within 4 s"))?;
    let slowly =
        Reply::ok("data: x\n\n".repeat(10_000)).header("Content-Type", "text/event-stream");
    server.reply("/mcp", slowly.trickle(1, std::time::Duration::from_millis(100)));
    let shown = block_on(refusal(&at(&server.url("/mcp"), &[]), &hurried()));
    has(&shown, "did not answer within 4 s")
}

fn bounded() -> Result<(), Failed> {
    let web = Web::start(
        r#"
plain = respond

def respond(handler, message):
    method = message.get("method")
    if method == "tools/list":
        return send(handler, 200, {"Content-Type": "application/json"}, b" " * (33 << 20))
    if method == "tools/call":
        # A good answer but for its length.
        content = [{"type": "text", "text": "x" * (33 << 20)}]
        return events(handler, [event(result(message, {"content": content}))])
    plain(handler, message)
"#,
    );
    block_on(async {
        let connection = McpConnection::open(&web.peer(&[]), &options()).await?;
        let error = connection.tools().await.expect_err("too much");
        has(&causes(&error), "a message of more than 32 MiB")?;
        let error = echo(&connection, json!(1)).await.expect_err("too much");
        has(&causes(&error), "ended the connection")?;
        connection.close().await;
        Ok(())
    })
}

fn once() -> Result<(), Failed> {
    let web = Web::start(
        r#"
def stream(handler):
    events(handler, ["data: " + "x" * (33 << 20)])
"#,
    );
    block_on(async {
        let connection = McpConnection::open(&web.peer(&[]), &options()).await?;
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        same(echo(&connection, json!(1)).await?.text.as_str(), r#"{"value": 1}"#)?;
        connection.close().await;
        let asked = web.asked(&[]).await;
        same(asked.iter().filter(|line| line.starts_with("GET")).count(), 1)
    })
}

fn not_mixed_up() -> Result<(), Failed> {
    let web = Web::start(SLOWLY);
    block_on(many_calls(&web.peer(&[])))
}
