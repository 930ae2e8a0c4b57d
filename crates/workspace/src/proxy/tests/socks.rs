//! SOCKS5.

use std::io::{Read, Write};

use super::{Harness, echo};

const HELLO: &[u8] = &[5, 2, 0, 2];

/// A request for a name.
fn named(name: &str, port: u16) -> Vec<u8> {
    [&[5, 1, 0, 3, u8::try_from(name.len()).unwrap()], name.as_bytes(), &port.to_be_bytes()]
        .concat()
}

/// The code in the reply to a request; 0 is success, and then the connection must work.
fn code(harness: &Harness, request: &[u8]) -> u8 {
    let mut client = harness.connect();
    client.write_all(&[HELLO, request].concat()).unwrap();
    let mut reply = [0; 12];
    client.read_exact(&mut reply).unwrap();
    assert_eq!(reply[..3], [5, 0, 5]);
    if reply[3] == 0 {
        client.write_all(b"ping").unwrap();
        let mut pong = [0; 4];
        client.read_exact(&mut pong).unwrap();
        assert_eq!(&pong, b"ping");
    }
    reply[3]
}

#[test]
fn names_and_addresses_that_are_listed_pass() {
    let port = echo().port();
    let list = [format!("localhost:{port}"), format!("127.0.0.1:{port}")];
    let harness = Harness::new(&list.each_ref().map(String::as_str));
    assert_eq!(code(&harness, &named("LOCALHOST.", port)), 0);
    assert_eq!(code(&harness, &named("127.0.0.1", port)), 0);
    let address = [&[5, 1, 0, 1, 127, 0, 0, 1], &port.to_be_bytes()[..]].concat();
    assert_eq!(code(&harness, &address), 0);
    assert_eq!(harness.refused(), "");
}

#[test]
fn an_ipv6_address_passes_where_there_is_ipv6() {
    let Ok(listener) = std::net::TcpListener::bind("[::1]:0") else {
        return metier_testkit::skip("proxy::tests::socks::ipv6", "no IPv6 on this machine");
    };
    let port = listener.local_addr().unwrap().port();
    let harness = Harness::new(&[&format!("[::1]:{port}")]);
    let mut request = vec![5, 1, 0, 4];
    request.extend([0; 15]);
    request.push(1);
    request.extend(port.to_be_bytes());
    let mut client = harness.connect();
    client.write_all(&[HELLO, &request].concat()).unwrap();
    let mut reply = [0; 12];
    client.read_exact(&mut reply).unwrap();
    assert_eq!(reply[3], 0);
}

#[test]
fn everything_else_is_refused_with_a_code() {
    let port = echo().port();
    let list =
        [format!("localhost:{port}"), format!("rebound.example:{port}"), "127.0.0.2:1".into()];
    let harness = Harness::new(&list.each_ref().map(String::as_str));
    let mut bind = named("localhost", port);
    bind[1] = 2;
    let mut udp = named("localhost", port);
    udp[1] = 3;
    let mapped =
        [&[5, 1, 0, 4][..], &[0; 10], &[255, 255, 127, 0, 0, 1], &port.to_be_bytes()].concat();
    for (expected, request) in [
        (7, bind),
        (7, udp),
        (8, vec![5, 1, 0, 9, 0, 0]),
        (2, named("evil.example", port)),
        (2, named("localhost", 1)),
        (2, named("rebound.example", port)),
        (2, named("127.0.0.1", port)),
        (2, [&[5, 1, 0, 1, 127, 0, 0, 1], &port.to_be_bytes()[..]].concat()),
        (2, mapped),
        (1, named("127.1", port)),
        (1, named("localhost\0.evil", port)),
        (1, named("me@localhost", port)),
        (1, named("", port)),
        (5, [5, 1, 0, 1, 127, 0, 0, 2, 0, 1].to_vec()),
    ] {
        assert_eq!(code(&harness, &request), expected, "{request:?}");
    }
    insta::assert_snapshot!(harness.refused().replace(&port.to_string(), "PORT"), @r"
    2 × localhost:PORT: only plain HTTP requests and connections are passed
    1 × SOCKS5 address of kind 9: the request is not well-formed: its kind of address is unknown
    1 × evil.example:PORT: it is not in the list of allowed addresses
    1 × localhost:1: it is not in the list of allowed addresses
    1 × rebound.example:PORT: it leads to 127.0.0.1, which is not a public address and not in the list itself
    2 × 127.0.0.1:PORT: it is not in the list of allowed addresses
    1 × [::ffff:127.0.0.1]:PORT: it is not in the list of allowed addresses
    1 × 127.1:PORT: it ends in a number, but is not an IPv4 address of four plain numbers
    1 × localhost\x00.evil:PORT: its host is not a name, an IPv4 address, or an IPv6 address in brackets
    1 × ****@localhost:PORT: it has a user name
    1 × :PORT: its host is not a name, an IPv4 address, or an IPv6 address in brackets
    ");
}

#[test]
fn a_client_that_insists_on_a_password_is_turned_away() {
    assert_eq!(Harness::new(&[]).send([5, 1, 2]), [5, 255]);
}

#[test]
fn a_request_of_another_version_ends_the_connection() {
    assert_eq!(Harness::new(&[]).send([5, 1, 0, 4, 1, 0, 1]), [5, 0]);
}
