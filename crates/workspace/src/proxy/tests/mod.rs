//! The proxy between real clients and real servers on the loopback interface.

mod bounds;
mod http;
mod list;
mod socks;

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use tokio::runtime::Runtime;

use super::server::Resolver;
use super::{AllowList, Proxy, ProxyOptions};

/// A client that waits longer than this has met a hang.
const PATIENCE: Duration = Duration::from_secs(20);

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Names for tests, and where they lead.
fn names() -> Vec<(&'static str, IpAddr)> {
    let cloud = IpAddr::from([169, 254, 169, 254]);
    let mapped = IpAddr::V6(Ipv4Addr::LOCALHOST.to_ipv6_mapped());
    vec![
        ("inside.example", LOOPBACK),
        ("a.inside.example", LOOPBACK),
        ("rebound.example", LOOPBACK),
        ("cloud.example", cloud),
        ("mapped.example", mapped),
        ("both.example", cloud),
        ("both.example", LOOPBACK),
        ("localhost", LOOPBACK),
    ]
}

struct Harness {
    proxy: Proxy,
    address: SocketAddr,
    runtime: Runtime,
}

impl Harness {
    fn new(list: &[&str]) -> Self {
        Self::with(list, ProxyOptions::STANDARD)
    }

    fn with(list: &[&str], options: ProxyOptions) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let list = allow(list).unwrap();
        let proxy = {
            let _inside = runtime.enter();
            Proxy::start_with(listener, list, options, Resolver::Table(names())).unwrap()
        };
        Self { proxy, address, runtime }
    }

    fn connect(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.set_write_timeout(Some(PATIENCE)).unwrap();
        client
    }

    /// What comes back until the proxy closes the connection.
    fn send(&self, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        let mut client = self.connect();
        client.write_all(bytes.as_ref()).unwrap();
        let mut answer = Vec::new();
        let ended = client.read_to_end(&mut answer);
        assert!(!is_hang(&ended), "the proxy hangs");
        answer
    }

    /// A tunnel, or the answer instead of one.
    fn tunnel(&self, target: &str) -> Result<TcpStream, String> {
        let mut client = self.connect();
        write!(client, "CONNECT {target} HTTP/1.1\r\nHost: other.example\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte).unwrap();
            answer.extend(byte);
        }
        let answer = String::from_utf8(answer).unwrap();
        let status = answer.lines().next().unwrap().trim_start_matches("HTTP/1.1 ").to_owned();
        if status.starts_with("200 ") { Ok(client) } else { Err(status) }
    }

    /// What was refused, a line each.
    fn refused(&self) -> String {
        let refused = self.proxy.refused();
        let lines = refused
            .iter()
            .map(|refusal| format!("{} × {}: {}\n", refusal.count, refusal.target, refusal.reason));
        lines.collect()
    }
}

fn allow(list: &[&str]) -> Result<AllowList, super::ParseError> {
    AllowList::parse(&list.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>())
}

fn is_hang<T>(result: &std::io::Result<T>) -> bool {
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    result.as_ref().is_err_and(|error| matches!(error.kind(), TimedOut | WouldBlock))
}

/// The status and the words of an answer.
fn outcome(answer: &[u8]) -> String {
    let answer = String::from_utf8_lossy(answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.lines().next().unwrap_or("nothing").trim_start_matches("HTTP/1.1 ");
    format!("{status} | {}", body.trim_end())
}

/// A server that sends back what it gets, and then that there is no more.
fn echo() -> SocketAddr {
    serve(|mut client| {
        let mut writer = client.try_clone().unwrap();
        let _ended = std::io::copy(&mut client, &mut writer);
        let _ended = writer.shutdown(Shutdown::Write);
    })
}

/// A server that does this with every connection.
fn serve(with: fn(TcpStream)) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            thread::spawn(move || with(client));
        }
    });
    address
}
