//! HTTP/1: `CONNECT`, and plain requests for `http://…`.
//!
//! One request per connection, and not a byte after its body. What a request means is decided in
//! `request`.

use std::future::pending;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::timeout;

use super::refusal::{Reason, shown};
use super::relay::{Relay, linger};
use super::request::{METHODS, Plain, Request, malformed};
use super::server::{Shared, Trouble};

/// The longest header block, as most servers have it.
const MAX_HEAD: usize = 16 * 1024;

pub(super) async fn serve(client: &mut TcpStream, shared: &Shared) {
    let mut received = Vec::new();
    if let Err(trouble) = exchange(client, shared, &mut received).await {
        let asked = asked(&received);
        shared.remember(asked, &trouble);
        let _gone = client.write_all(refusal(asked, &trouble).as_bytes()).await;
    }
    linger(client).await;
}

/// A trouble that is returned has yet to be answered.
async fn exchange(
    client: &mut TcpStream,
    shared: &Shared,
    received: &mut Vec<u8>,
) -> Result<(), Trouble> {
    let head = timeout(shared.options.request_timeout, read_head(client, received));
    let end = head.await.map_err(|_| Trouble::Late)??;
    let (head, rest) = received.split_at(end);
    let request = Request::parse(head)?;
    let mut server = shared.connect(&request.target).await?;
    let relay = Relay::new(shared, &request.target);
    let _ended = match &request.plain {
        None => tunnel(client, &mut server, rest, &relay).await,
        Some(plain) => forward(client, &mut server, plain, rest, &relay).await,
    };
    Ok(())
}

async fn tunnel(
    client: &mut TcpStream,
    server: &mut TcpStream,
    rest: &[u8],
    relay: &Relay<'_>,
) -> io::Result<()> {
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
    relay.copy(rest, server).await?;
    relay.both_ways(client, server).await
}

/// Sends the request, and meanwhile passes on the answer: a server may answer before it has seen
/// the whole body.
async fn forward(
    client: &mut TcpStream,
    server: &mut TcpStream,
    plain: &Plain,
    rest: &[u8],
    relay: &Relay<'_>,
) -> io::Result<()> {
    server.write_all(plain.head.as_bytes()).await?;
    if plain.expects_continue {
        client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let (from_client, to_client) = client.split();
    let (from_server, mut to_server) = server.split();
    let body = rest.chain(from_client).take(plain.length);
    let send = async {
        if relay.copy(body, &mut to_server).await.ok() != Some(plain.length) {
            let _already_closed = to_server.shutdown().await;
        }
        pending().await
    };
    tokio::select! {
        answered = answer(from_server, to_client, relay) => answered,
        never = send => never,
    }
}

/// Passes on the answer, and says in it that the connection ends.
async fn answer(
    mut server: ReadHalf<'_>,
    mut client: WriteHalf<'_>,
    relay: &Relay<'_>,
) -> io::Result<()> {
    let mut received = Vec::new();
    loop {
        let read = relay.patiently(read_head(&mut server, &mut received)).await;
        let Ok(Ok(end)) = read else {
            return client.write_all(refusal(b"", &Trouble::Answer).as_bytes()).await;
        };
        let rest = received.split_off(end);
        if !is_interim(&received) {
            relay.copy(closing(&received).as_slice(), &mut client).await?;
            relay.copy(rest.chain(server), &mut client).await?;
            return Ok(());
        }
        relay.copy(received.as_slice(), &mut client).await?;
        received = rest;
    }
}

/// Reads up to the empty line; `received` may then have more. Returns where that begins.
async fn read_head(
    from: &mut (impl AsyncRead + Unpin),
    received: &mut Vec<u8>,
) -> Result<usize, Trouble> {
    let mut seen = 0;
    loop {
        if let Some(end) = head_end(received, seen)? {
            return Ok(end);
        }
        seen = received.len();
        let room = MAX_HEAD.saturating_sub(seen);
        if room == 0 {
            return Err(Reason::TooLong.into());
        }
        received.reserve(room.min(1024));
        let mut limited = from.take(room as u64);
        if limited.read_buf(received).await.map_err(|_| Trouble::Broken)? == 0 {
            return Err(if seen == 0 {
                Trouble::Broken
            } else {
                malformed("it is cut off").into()
            });
        }
    }
}

/// Where the header block ends, if it does. What cannot be one is refused without waiting for more.
fn head_end(received: &[u8], seen: usize) -> Result<Option<usize>, Reason> {
    if received.first().is_some_and(|first| !first.is_ascii_uppercase()) {
        return Err(malformed("it begins neither like HTTP nor like SOCKS5"));
    }
    for at in seen..received.len() {
        let line_end = received[at] == b'\n';
        if line_end && !received[..at].ends_with(b"\r") {
            return Err(malformed("a line ends in a bare line feed"));
        }
        if line_end && received[..at].ends_with(b"\r\n\r") {
            return Ok(Some(at + 1));
        }
    }
    Ok(None)
}

/// The head of an answer, with the connection's end announced.
fn closing(head: &[u8]) -> Vec<u8> {
    let about_connection = |line: &&[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        ["connection", "keep-alive", "proxy-connection", "upgrade"]
            .iter()
            .any(|other| name.eq_ignore_ascii_case(other.as_bytes()))
    };
    let lines = head.split_inclusive(|byte| *byte == b'\n').filter(|line| !about_connection(line));
    let mut text = lines.collect::<Vec<_>>().concat();
    text.truncate(text.len().saturating_sub("\r\n".len()));
    text.extend(b"Connection: close\r\n\r\n");
    text
}

/// Whether another answer follows: `HTTP/1.1 103 Early Hints`.
fn is_interim(head: &[u8]) -> bool {
    let status = head.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    status.starts_with(b"1") && status != b"101"
}

/// What a client seems to ask for. A query may hold secrets, so it is left out.
fn asked(received: &[u8]) -> &[u8] {
    let line = received.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let target = line.split(|byte| *byte == b' ').nth(1).unwrap_or(line);
    target.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default()
}

fn refusal(asked: &[u8], trouble: &Trouble) -> String {
    let status = match trouble {
        Trouble::Refused(Reason::NotListed | Reason::NotPublic(_) | Reason::Bytes) => {
            "403 Forbidden"
        }
        Trouble::Refused(Reason::Method) => "405 Method Not Allowed",
        Trouble::Refused(Reason::NoLength) => "411 Length Required",
        Trouble::Refused(Reason::TooLong) => "431 Request Header Fields Too Large",
        Trouble::Refused(_) | Trouble::Broken => "400 Bad Request",
        Trouble::UnknownName | Trouble::Unreachable | Trouble::Answer => "502 Bad Gateway",
        Trouble::Late => "408 Request Timeout",
        Trouble::TooSlow => "504 Gateway Timeout",
    };
    let allowed = METHODS.join(", ");
    let words = format!("metier does not pass `{}`: {trouble}\n", shown(asked));
    let length = words.len();
    format!(
        "HTTP/1.1 {status}\r\nAllow: CONNECT, {allowed}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{words}"
    )
}
