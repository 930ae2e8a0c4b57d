//! Network: none, unless it was granted, and then only so much.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::thread;

use libtest_mimic::Failed;
use metier_sandbox::{Level, Network, Stdio, spawn};

use crate::bench::Bench;
use crate::{CONFINED, FULL, Promise};

pub(crate) const PROMISES: &[Promise] = &[
    ("nobody_can_be_reached", nobody_can_be_reached, CONFINED),
    ("no_name_can_be_resolved", no_name_can_be_resolved, CONFINED),
    ("sockets_of_others_cannot_be_reached", sockets_of_others, CONFINED),
    ("the_host_can_be_granted", the_host_can_be_granted, CONFINED),
    ("a_proxy_is_all_that_can_be_reached", a_proxy_is_all, FULL),
];

/// Connects by TCP and sends by UDP to an address, in Python; prints what worked.
fn reach(port: u16) -> String {
    format!(
        "exec python3 -c \"
import socket
for kind, name in ((socket.SOCK_STREAM, 'tcp'), (socket.SOCK_DGRAM, 'udp')):
    try:
        s = socket.socket(socket.AF_INET, kind); s.settimeout(1)
        s.connect(('127.0.0.1', {port})); s.send(b'x'); print(name)
    except OSError as e: pass
\""
    )
}

fn nobody_can_be_reached(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let tcp = TcpListener::bind("127.0.0.1:0")?;
    let udp = UdpSocket::bind(tcp.local_addr()?)?;
    udp.set_nonblocking(true)?;
    let port = tcp.local_addr()?.port();
    let tried = bench.sh(&reach(port));
    // Sending into an empty network may look as if it worked.
    assert!(!tried.output.contains("tcp"), "{tried:?}");
    assert!(udp.recv(&mut [0; 8]).is_err(), "a datagram arrived");
    Ok(())
}

fn no_name_can_be_resolved(level: Level) -> Result<(), Failed> {
    let tried = Bench::new(level).sh("getent hosts example.com");
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", Some(2)));
    Ok(())
}

fn sockets_of_others(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let name = format!("metier-test-{level}-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
    let path = bench.path("socket");
    let _named = UnixListener::bind(&path)?;
    let script = format!(
        "exec python3 -c \"
import socket
for address in ('\\\\0{name}', '{}'):
    try: s = socket.socket(socket.AF_UNIX); s.connect(address); print('reached', address[1:])
    except OSError: pass
\"",
        path.display()
    );
    let tried = bench.sh(&script);
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", Some(0)), "{}", tried.error);
    Ok(())
}

fn the_host_can_be_granted(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.network = Network::Host;
    let tcp = TcpListener::bind("127.0.0.1:0")?;
    let tried = bench.sh(&reach(tcp.local_addr()?.port()));
    assert_eq!(tried.output, "tcp\nudp\n");
    Ok(())
}

fn a_proxy_is_all(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.network = Network::Proxy;
    let outside = TcpListener::bind("127.0.0.1:0")?;
    let script = format!(
        "exec python3 -c \"
import socket, sys
port = int(sys.stdin.readline())
s = socket.create_connection(('127.0.0.1', port), 5); s.send(b'ping'); print(s.recv(9).decode())
try: socket.create_connection(('127.0.0.1', {}), 1); print('escaped')
except OSError: pass
\"",
        outside.local_addr()?.port()
    );
    let (their_input, input) = rustix_pipe()?;
    let (output, their_output) = rustix_pipe()?;
    let error = their_output.try_clone()?;
    let stdio = Stdio {
        input: their_input.into(),
        output: their_output.into(),
        error: error.into(),
        terminal: false,
    };
    let mut child = spawn(&bench.job(&script), &stdio).map_err(|error| error.to_string())?;
    drop(stdio);
    let listener = child.take_listener().ok_or("a listener")?;
    writeln!(&input, "{}", listener.local_addr()?.port())?;
    let server = thread::spawn(move || -> std::io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        let mut request = [0; 4];
        stream.read_exact(&mut request)?;
        stream.write_all(b"pong")
    });
    let mut text = String::new();
    (&output).read_to_string(&mut text)?;
    server.join().map_err(|_panic| "the server failed")??;
    assert_eq!(text, "pong\n");
    assert_eq!(child.wait()?.code, Some(0));
    Ok(())
}

/// Two ends of a pipe.
fn rustix_pipe() -> std::io::Result<(std::fs::File, std::fs::File)> {
    let (reader, writer) = std::io::pipe()?;
    Ok((std::os::fd::OwnedFd::from(reader).into(), std::os::fd::OwnedFd::from(writer).into()))
}
