//! A provider on this machine that notes when the first byte of a request arrives.
//!
//! It speaks just enough HTTP to be answered: each connection carries one request, and the reply
//! is always the same few words. A connection over TLS is noted and closed.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// What TLS begins with.
const TLS_HANDSHAKE: u8 = 0x16;
/// Longer than any program takes that works.
const PATIENCE: Duration = Duration::from_secs(30);
/// One reply in chat completions, as a stream.
const REPLY: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Done.\"}}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
    data: [DONE]\n\n";

/// The server; it lives as long as this program.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    arrivals: Receiver<Arrival>,
}

/// A request that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// When its first byte was there.
    pub(crate) at: Instant,
    /// The body; empty when it was not HTTP.
    pub(crate) body: Vec<u8>,
}

impl Server {
    /// Listens on a port of its own.
    pub(crate) fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (sender, arrivals) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sender = sender.clone();
                thread::spawn(move || {
                    // One that hangs up has nothing to be answered.
                    let _hung_up = serve(stream, &sender);
                });
            }
        });
        Ok(Self { address, arrivals })
    }

    /// Where it is.
    pub(crate) fn url(&self, scheme: &str) -> String {
        format!("{scheme}://{}", self.address)
    }

    /// Forgets what came so far.
    pub(crate) fn forget(&self) {
        while self.arrivals.try_recv().is_ok() {}
    }

    /// The next request.
    pub(crate) fn arrival(&self) -> Result<Arrival> {
        self.arrivals.recv_timeout(PATIENCE).context("no request came")
    }
}

fn serve(mut stream: TcpStream, arrivals: &Sender<Arrival>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = vec![0; 64 * 1024];
    let mut length = stream.read(&mut request)?;
    let at = Instant::now();
    if length == 0 {
        return Ok(());
    }
    if request[0] == TLS_HANDSHAKE {
        // Nobody may listen any more.
        let _unheard = arrivals.send(Arrival { at, body: Vec::new() });
        return Ok(());
    }
    let body = loop {
        if let Some(body) = body_of(&request[..length]) {
            break body.to_vec();
        }
        if length == request.len() {
            request.resize(2 * length, 0);
        }
        match stream.read(&mut request[length..])? {
            0 => return Ok(()),
            more => length += more,
        }
    };
    let _unheard = arrivals.send(Arrival { at, body });
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{REPLY}",
        REPLY.len()
    )
}

/// The body of a request, once all of it is there.
fn body_of(request: &[u8]) -> Option<&[u8]> {
    let head = request.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let lines = String::from_utf8_lossy(&request[..head]).to_lowercase();
    let length = lines.lines().find_map(|line| line.strip_prefix("content-length:"))?;
    let length: usize = length.trim().parse().ok()?;
    request.get(head..head + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_there_when_all_of_it_is() {
        let head = "POST / HTTP/1.1\r\ncontent-Length: 5\r\n\r\n";
        let body = |rest: &str| body_of(format!("{head}{rest}").as_bytes()).map(<[u8]>::to_vec);
        assert_eq!(body("1234"), None);
        assert_eq!(body("12345"), Some(b"12345".to_vec()));
        assert_eq!(body_of(&head.as_bytes()[..20]), None);
    }

    #[test]
    fn a_request_is_noted_and_answered() {
        let server = Server::start().unwrap();
        let began = Instant::now();
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n").unwrap();
        stream.write_all(b"{}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with(REPLY), "{answer}");
        let arrival = server.arrival().unwrap();
        assert!(arrival.at > began && arrival.body == b"{}");
    }
}
