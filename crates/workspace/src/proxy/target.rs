//! `host:port`, read strictly.
//!
//! Whatever another program might read as something else (a user name, an address in an odd
//! notation, letters that look alike) is refused, so that what is judged is what is reached.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use thiserror::Error;

/// Where a program wants to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Host {
    /// In lower case, without a dot at the end.
    Name(String),
    /// As it was written: an IPv4 address inside an IPv6 one stays there.
    Ip(IpAddr),
}

/// What is wrong with a `host:port`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TargetFault {
    /// A letter that DNS does not have.
    #[error("letters outside ASCII are not understood; write the name in its `xn--` form")]
    NotAscii,
    /// `user@host`.
    #[error("it has a user name")]
    User,
    /// `http://…` or `…/path`.
    #[error("it has a scheme or a path where only `host:port` may stand")]
    NotOnlyHost,
    /// No port, or none that exists.
    #[error("its port is not a number from 1 to 65535")]
    Port,
    /// Numbers that some programs read as an IPv4 address.
    #[error("it ends in a number, but is not an IPv4 address of four plain numbers")]
    OddAddress,
    /// A `*` that does not stand for the sub-domains of a domain.
    #[error("a `*` may only stand before a domain, as in `*.example.com:443`")]
    Wildcard,
    /// Nothing of the above, and no host.
    #[error("its host is not a name, an IPv4 address, or an IPv6 address in brackets")]
    Host,
    /// One more entry than a list may have.
    #[error("there are too many entries before it")]
    TooMany,
}

impl Target {
    /// Reads `host:port`, or only `host` where there is a usual port.
    pub(super) fn parse(text: &str, usual_port: Option<u16>) -> Result<Self, TargetFault> {
        let (host, port) = split(text)?;
        let port = match (port, usual_port) {
            (Some(digits), _) => parse_port(digits)?,
            (None, Some(usual)) => usual,
            (None, None) => return Err(TargetFault::Port),
        };
        Ok(Self { host: Host::parse(host)?, port })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

impl Host {
    /// Reads a name or an address; IPv6 stands in brackets.
    pub(super) fn parse(text: &str) -> Result<Self, TargetFault> {
        if let Some(inner) = text.strip_prefix('[') {
            let address = inner.strip_suffix(']').and_then(|inner| inner.parse::<Ipv6Addr>().ok());
            return address.map(|address| Self::Ip(address.into())).ok_or(TargetFault::Host);
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if ends_in_number(&name) {
            let address = text.parse::<Ipv4Addr>().map_err(|_| TargetFault::OddAddress)?;
            return Ok(Self::Ip(address.into()));
        }
        if is_name(&name) { Ok(Self::Name(name)) } else { Err(TargetFault::Host) }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Ip(IpAddr::V4(address)) => write!(formatter, "{address}"),
            Self::Ip(IpAddr::V6(address)) => write!(formatter, "[{address}]"),
        }
    }
}

/// Separates host and port, after what never belongs there has been refused.
pub(super) fn split(text: &str) -> Result<(&str, Option<&str>), TargetFault> {
    if !text.is_ascii() {
        return Err(TargetFault::NotAscii);
    }
    if text.contains('@') {
        return Err(TargetFault::User);
    }
    if text.contains(['/', '\\', '?', '#']) {
        return Err(TargetFault::NotOnlyHost);
    }
    let after_brackets = text.rfind(']').map_or(0, |end| end + 1);
    Ok(match text[after_brackets..].rfind(':') {
        Some(colon) => {
            let colon = after_brackets + colon;
            (&text[..colon], Some(&text[colon + 1..]))
        }
        None => (text, None),
    })
}

/// Digits only: the standard library would also take `+443`.
pub(super) fn parse_port(digits: &str) -> Result<u16, TargetFault> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain).ok_or(TargetFault::Port)
}

/// Whether a system's resolver could take this for an IPv4 address: `127.1`, `0x7f.1`, `2130706433`.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(is_hex)
}

/// The lengths are those of DNS; `_` is no host name there, but real ones have it.
fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (1..=63).contains(&label.len()) && label.bytes().all(known)
    };
    name.len() <= 253 && name.split('.').all(is_label)
}
