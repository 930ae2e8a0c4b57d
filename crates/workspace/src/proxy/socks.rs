//! SOCKS5 (RFC 1928), as far as a program needs it to connect: no authentication, no `BIND`, no UDP.

use std::io;
use std::net::IpAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::refusal::Reason;
use super::relay::{Relay, linger};
use super::server::{Shared, Trouble};
use super::target::{Host, Target, TargetFault};

/// The first byte of whatever a client says.
pub(super) const VERSION: u8 = 5;

const NO_AUTHENTICATION: u8 = 0;
const NO_ACCEPTABLE_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
const SUCCEEDED: u8 = 0;

/// What a client asked for: as text, and read.
type Asked = (Vec<u8>, Result<Target, Reason>);

pub(super) async fn serve(client: &mut TcpStream, shared: &Shared) {
    let Ok(Ok((text, target))) = timeout(shared.options.request_timeout, asked(client)).await
    else {
        return linger(client).await;
    };
    let connected = match &target {
        Ok(target) => shared.connect(target).await,
        Err(reason) => Err(reason.clone().into()),
    };
    match (connected, target) {
        (Ok(mut server), Ok(target)) => {
            if reply(client, SUCCEEDED).await.is_ok() {
                let _ended = Relay::new(shared, &target).both_ways(client, &mut server).await;
            }
        }
        (Err(trouble), _) => {
            shared.remember(&text, &trouble);
            let _gone = reply(client, code(&trouble)).await;
            linger(client).await;
        }
        (Ok(_), Err(_)) => {}
    }
}

/// Agrees on a method and reads the request.
async fn asked(client: &mut TcpStream) -> io::Result<Asked> {
    let [_, count] = read(client).await?;
    let mut methods = vec![0; count.into()];
    client.read_exact(&mut methods).await?;
    if !methods.contains(&NO_AUTHENTICATION) {
        client.write_all(&[VERSION, NO_ACCEPTABLE_METHOD]).await?;
        return Err(io::ErrorKind::Unsupported.into());
    }
    client.write_all(&[VERSION, NO_AUTHENTICATION]).await?;
    let [version, command, _, kind] = read(client).await?;
    if version != VERSION {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let (text, target) = address(client, kind).await?;
    Ok((text, if command == CONNECT { target } else { Err(Reason::Method) }))
}

async fn address(client: &mut TcpStream, kind: u8) -> io::Result<Asked> {
    let address = match kind {
        1 => IpAddr::from(read::<4>(client).await?),
        4 => IpAddr::from(read::<16>(client).await?),
        3 => return named(client).await,
        _ => {
            let reason = Reason::Malformed("its kind of address is unknown");
            return Ok((format!("SOCKS5 address of kind {kind}").into(), Err(reason)));
        }
    };
    let target = Target { host: Host::Ip(address), port: client.read_u16().await? };
    Ok((target.to_string().into(), Ok(target)))
}

async fn named(client: &mut TcpStream) -> io::Result<Asked> {
    let mut text = vec![0; client.read_u8().await?.into()];
    client.read_exact(&mut text).await?;
    text.extend(format!(":{}", client.read_u16().await?).bytes());
    let target = match str::from_utf8(&text) {
        Ok(text) => Target::parse(text, None).map_err(Reason::from),
        Err(_) => Err(TargetFault::NotAscii.into()),
    };
    Ok((text, target))
}

async fn read<const COUNT: usize>(client: &mut TcpStream) -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// The address in a reply, ours towards the server, is of no use to anyone.
async fn reply(client: &mut TcpStream, code: u8) -> io::Result<()> {
    client.write_all(&[VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]).await
}

fn code(trouble: &Trouble) -> u8 {
    match trouble {
        Trouble::Refused(Reason::NotListed | Reason::NotPublic(_) | Reason::Bytes) => 2,
        Trouble::Refused(Reason::Method) => 7,
        Trouble::Refused(Reason::Malformed(_)) => 8,
        Trouble::UnknownName | Trouble::TooSlow => 4,
        Trouble::Unreachable => 5,
        _ => 1,
    }
}
