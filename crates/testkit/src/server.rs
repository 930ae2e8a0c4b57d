//! A small HTTP/1.1 server on the loopback interface, for tests of anything that downloads.
//!
//! Tests say what each path answers, including the ways in which real servers misbehave: late,
//! slow, too long, cut off in the middle, or not HTTP at all. The server remembers every request.
//! It speaks just enough HTTP for that, closes the connection after each answer, listens on a port
//! that the system picks, and is gone when the [`Server`] is dropped.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A running server.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// What a client sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The verb, such as `GET`.
    pub method: String,
    /// The target as it stood in the first line: path and query, or a whole URL at a proxy.
    pub target: String,
    /// The headers in order, names as they were spelled.
    pub headers: Vec<(String, String)>,
    /// The body, if its length was announced.
    pub body: Vec<u8>,
}

/// What the server answers.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    delay: Duration,
    delivery: Delivery,
    cut_after: Option<usize>,
    written: Option<(PathBuf, Vec<u8>)>,
}

#[derive(Clone, Debug)]
enum Delivery {
    /// With a `Content-Length`, unless the reply has one of its own.
    Whole,
    /// In chunks without a length, with a pause before each.
    Chunked { size: usize, pause: Duration },
    /// The body is everything that is sent.
    Raw,
}

impl Server {
    /// Starts a server that answers 404 to everything.
    ///
    /// # Panics
    ///
    /// Panics if the system has no free port.
    pub fn start() -> Self {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on the loopback");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared::default());
        let accepting = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Self { address, shared, accepting: Some(accepting) }
    }

    /// Answers requests for a path, with or without a query, always in the same way.
    pub fn reply(&self, path: &str, reply: Reply) {
        self.replies(path, [reply]);
    }

    /// Answers requests for a path with one reply after another; the last one stays.
    pub fn replies(&self, path: &str, replies: impl IntoIterator<Item = Reply>) {
        self.shared.lock().routes.insert(path.to_owned(), replies.into_iter().collect());
    }

    /// The address of a path on this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Everything that was asked so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// How many answers were not sent in full because the client hung up.
    pub fn abandoned(&self) -> usize {
        self.shared.lock().abandoned
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop();
        // Wakes the thread that waits for the next connection.
        let _ignored = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ignored = accepting.join();
        }
    }
}

impl Request {
    /// The value of a header, whatever the case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

impl Reply {
    /// An answer with a status and nothing else.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            delay: Duration::ZERO,
            delivery: Delivery::Whole,
            cut_after: None,
            written: None,
        }
    }

    /// A successful answer with a body.
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..Self::status(200) }
    }

    /// An answer that sends the client elsewhere.
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::status(status).header("Location", location)
    }

    /// Bytes that are sent as they are, HTTP or not.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self { delivery: Delivery::Raw, ..Self::ok(bytes) }
    }

    /// Adds a header. A `Content-Length` replaces the true one.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Gives the answer another status than the one it was made with.
    #[must_use]
    pub fn code(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Waits before the first byte of the answer.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sends the body in chunks of so many bytes, without telling its length, pausing before each.
    #[must_use]
    pub fn trickle(mut self, size: usize, pause: Duration) -> Self {
        self.delivery = Delivery::Chunked { size: size.max(1), pause };
        self
    }

    /// Writes a file before the first byte of the answer: what happens while a client waits.
    #[must_use]
    pub fn writing(mut self, file: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> Self {
        self.written = Some((file.into(), content.into()));
        self
    }

    /// Hangs up after so many bytes of the body.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.cut_after = Some(bytes);
        self
    }
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    stopped: Condvar,
}

#[derive(Debug, Default)]
struct State {
    routes: HashMap<String, VecDeque<Reply>>,
    requests: Vec<Request>,
    connections: Vec<TcpStream>,
    abandoned: usize,
    stopping: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends every pause and every connection.
    fn stop(&self) {
        let mut state = self.lock();
        state.stopping = true;
        for connection in &state.connections {
            let _ignored = connection.shutdown(Shutdown::Both);
        }
        self.stopped.notify_all();
    }

    /// Waits, but not longer than the server lives.
    fn pause(&self, duration: Duration) {
        if !duration.is_zero() {
            let state = self.lock();
            let _waited = self.stopped.wait_timeout_while(state, duration, |state| !state.stopping);
        }
    }

    fn remember(&self, connection: &TcpStream) -> io::Result<bool> {
        let mut state = self.lock();
        state.connections.push(connection.try_clone()?);
        Ok(!state.stopping)
    }

    /// Records a request and picks its answer.
    fn answer(&self, request: Request) -> Reply {
        let mut state = self.lock();
        let path = request.target.split('?').next().unwrap_or_default().to_owned();
        state.requests.push(request);
        match state.routes.get_mut(&path) {
            Some(replies) if replies.len() > 1 => replies.pop_front(),
            Some(replies) => replies.front().cloned(),
            None => None,
        }
        .unwrap_or_else(|| Reply::status(404))
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut serving = Vec::new();
    for connection in listener.incoming().flatten() {
        if !shared.remember(&connection).unwrap_or(false) {
            break;
        }
        let shared = Arc::clone(shared);
        // A client that hangs up early is part of many tests, not a failure of the server.
        serving.push(std::thread::spawn(move || drop(serve(&connection, &shared))));
    }
    shared.stop();
    for thread in serving {
        let _ignored = thread.join();
    }
}

fn serve(connection: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut reader = BufReader::new(connection);
    let reply = match reader.fill_buf()?.first() {
        Some(byte) if byte.is_ascii_alphabetic() => shared.answer(read_request(&mut reader)?),
        // Someone tries TLS or worse; real servers answer so, too.
        _ => Reply::status(400),
    };
    shared.pause(reply.delay);
    if let Some((file, content)) = &reply.written {
        std::fs::write(file, content)?;
    }
    let outcome = write_reply(connection, &reply, shared);
    if outcome.is_err() {
        shared.lock().abandoned += 1;
    }
    connection.shutdown(Shutdown::Write)?;
    // Closing with unread bytes would reset the connection and could swallow the answer.
    io::copy(&mut reader, &mut io::sink())?;
    outcome
}

fn read_request(reader: &mut impl BufRead) -> io::Result<Request> {
    let first = read_line(reader)?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut request = Request { method, target, headers: Vec::new(), body: Vec::new() };
    loop {
        let line = read_line(reader)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        request.headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok());
    reader.take(length.unwrap_or(0)).read_to_end(&mut request.body)?;
    Ok(request)
}

fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    const LONGEST: u64 = 64 * 1024;
    let mut line = String::new();
    reader.take(LONGEST).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn write_reply(mut connection: &TcpStream, reply: &Reply, shared: &Shared) -> io::Result<()> {
    let body = &reply.body[..reply.cut_after.unwrap_or(usize::MAX).min(reply.body.len())];
    if !matches!(reply.delivery, Delivery::Raw) {
        connection.write_all(head(reply).as_bytes())?;
    }
    let Delivery::Chunked { size, pause } = reply.delivery else {
        return connection.write_all(body);
    };
    for chunk in body.chunks(size) {
        shared.pause(pause);
        connection.write_all(format!("{:x}\r\n", chunk.len()).as_bytes())?;
        connection.write_all(chunk)?;
        connection.write_all(b"\r\n")?;
    }
    if reply.cut_after.is_none() {
        connection.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}

fn head(reply: &Reply) -> String {
    let mut head = format!("HTTP/1.1 {} Scripted\r\nConnection: close\r\n", reply.status);
    let has_length = reply.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(LENGTH));
    match reply.delivery {
        Delivery::Whole if !has_length => {
            head.push_str(&format!("{LENGTH}: {}\r\n", reply.body.len()));
        }
        Delivery::Chunked { .. } => head.push_str("Transfer-Encoding: chunked\r\n"),
        Delivery::Whole | Delivery::Raw => {}
    }
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    head
}

const LENGTH: &str = "Content-Length";

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn ask(server: &Server, request: &str) -> String {
        let mut connection = TcpStream::connect(server.address).unwrap();
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(server: &Server, path: &str) -> String {
        ask(server, &format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n"))
    }

    #[test]
    fn a_route_answers_with_its_length() {
        let server = Server::start();
        server.reply("/a", Reply::ok("body").header("ETag", "\"1\""));
        assert_eq!(
            get(&server, "/a?query=1"),
            "HTTP/1.1 200 Scripted\r\nConnection: close\r\nContent-Length: 4\r\nETag: \"1\"\r\n\r\nbody"
        );
        assert!(get(&server, "/b").starts_with("HTTP/1.1 404 "));
    }

    #[test]
    fn replies_come_in_order_and_the_last_one_stays() {
        let server = Server::start();
        server.replies("/a", [Reply::ok("one"), Reply::status(304)]);
        assert!(get(&server, "/a").ends_with("\r\n\r\none"));
        assert!(get(&server, "/a").starts_with("HTTP/1.1 304 "));
        assert!(get(&server, "/a").starts_with("HTTP/1.1 304 "));
    }

    #[test]
    fn requests_are_remembered_with_headers_and_body() {
        let server = Server::start();
        let request = "POST /a?b=c HTTP/1.1\r\nX-One: 1\r\ncontent-length: 4\r\n\r\nbody";
        ask(&server, request);
        let requests = server.requests();
        assert_eq!(requests.len(), 1);
        assert_eq!((requests[0].method.as_str(), requests[0].target.as_str()), ("POST", "/a?b=c"));
        assert_eq!(requests[0].header("x-one"), Some("1"));
        assert_eq!(requests[0].body, b"body");
    }

    #[test]
    fn a_body_trickles_in_chunks() {
        let server = Server::start();
        server.reply("/a", Reply::ok("abc").trickle(2, Duration::ZERO));
        assert!(get(&server, "/a").ends_with("\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"));
    }

    #[test]
    fn a_body_can_be_cut_off() {
        let server = Server::start();
        server.reply("/length", Reply::ok("abc").cut_after(1));
        server.reply("/chunks", Reply::ok("abc").trickle(1, Duration::ZERO).cut_after(1));
        assert!(get(&server, "/length").ends_with("Content-Length: 3\r\n\r\na"));
        assert!(get(&server, "/chunks").ends_with("\r\n\r\n1\r\na\r\n"));
    }

    #[test]
    fn an_answer_that_nobody_waits_for_is_counted() {
        let server = Server::start();
        let reply = Reply::ok("x".repeat(1000)).code(500).trickle(1, Duration::from_millis(10));
        server.reply("/a", reply);
        let mut connection = TcpStream::connect(server.address).unwrap();
        connection.write_all(b"GET /a HTTP/1.1\r\n\r\n").unwrap();
        let mut first = [0; 12];
        connection.read_exact(&mut first).unwrap();
        assert_eq!((&first, server.abandoned()), (b"HTTP/1.1 500", 0));
        drop(connection);
        let patience = Instant::now() + Duration::from_secs(60);
        while server.abandoned() == 0 {
            assert!(Instant::now() < patience);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_reply_need_not_be_http() {
        let server = Server::start();
        server.reply("/a", Reply::raw("SSH-2.0"));
        assert_eq!(get(&server, "/a"), "SSH-2.0");
    }

    #[test]
    fn a_request_that_is_not_http_is_answered_and_not_remembered() {
        let server = Server::start();
        assert!(ask(&server, "\u{16}\u{3}\u{1}").starts_with("HTTP/1.1 400 "));
        assert!(server.requests().is_empty());
    }

    #[test]
    fn dropping_ends_pauses_and_idle_connections() {
        let server = Server::start();
        server.reply("/late", Reply::ok("").delay(Duration::from_secs(600)));
        let mut late = TcpStream::connect(server.address).unwrap();
        late.write_all(b"GET /late HTTP/1.1\r\n\r\n").unwrap();
        let _idle = TcpStream::connect(server.address).unwrap();
        while server.requests().is_empty() {
            std::thread::yield_now();
        }
        let started = Instant::now();
        drop(server);
        assert!(started.elapsed() < Duration::from_secs(60));
    }
}
