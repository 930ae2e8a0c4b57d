//! Adds one header to every request on the way to a server, and changes nothing else.
//!
//! For clients that cannot be told to send a token.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

/// Listens on the loopback for as long as the process lives, and passes requests on to `server`
/// with a line more in their heads. Returns where it listens.
///
/// # Panics
///
/// Panics if the system has no free port.
pub fn add_header(server: SocketAddr, line: &str) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    let line = format!("{line}\r\n");
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let line = line.clone();
            // Whoever hangs up first ends both directions.
            thread::spawn(move || drop(connect(&client, server, &line)));
        }
    });
    address
}

fn connect(client: &TcpStream, server: SocketAddr, line: &str) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    let (mut answers, mut back) = (server.try_clone()?, client.try_clone()?);
    let answering = thread::spawn(move || {
        let _hung_up = io::copy(&mut answers, &mut back);
        let _gone = back.shutdown(Shutdown::Both);
    });
    let mut reader = BufReader::new(client);
    while pass_request(&mut reader, &server, line)? {}
    let _gone = server.shutdown(Shutdown::Both);
    let _ended = answering.join();
    Ok(())
}

/// Passes one request on. There is none when the client has hung up.
fn pass_request(
    reader: &mut BufReader<&TcpStream>,
    mut server: &TcpStream,
    line: &str,
) -> io::Result<bool> {
    let mut head = String::new();
    let mut length = 0;
    loop {
        let start = head.len();
        if reader.read_line(&mut head)? == 0 {
            return Ok(false);
        }
        if start == 0 {
            head.push_str(line);
            continue;
        }
        let (name, value) = head[start..].split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        if head[start..].trim_end().is_empty() {
            break;
        }
    }
    server.write_all(head.as_bytes())?;
    io::copy(&mut reader.take(length), &mut server)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::{Reply, Server};

    #[test]
    fn a_request_has_one_line_more() {
        let server = Server::start();
        server.reply("/a", Reply::ok("answer"));
        let url = server.url("");
        let address = url.strip_prefix("http://").unwrap().parse().unwrap();
        let mut client = TcpStream::connect(add_header(address, "X-More: 1")).unwrap();
        client.write_all(b"POST /a HTTP/1.1\r\nHost: b\r\ncontent-length: 4\r\n\r\nbody").unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("answer"), "{answer}");
        let requests = server.requests();
        let headers = [("X-More", "1"), ("Host", "b"), ("content-length", "4")];
        assert_eq!(requests[0].headers, headers.map(|(name, value)| (name.into(), value.into())));
        assert_eq!(requests[0].body, b"body");
    }
}
