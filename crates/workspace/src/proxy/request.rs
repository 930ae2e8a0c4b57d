//! What a request means, or why that is not clear.
//!
//! A plain request is written anew from what was understood of it, so the server cannot understand
//! another one: its own `Host`, its own `Content-Length`, and nothing that is meant for the proxy.

use std::fmt::Write;

use super::refusal::Reason;
use super::target::{Target, TargetFault};

/// What plain requests may do.
pub(super) const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Headers for the next hop only, and those that are written anew.
const NOT_PASSED: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
];

/// A request that can be read in one way only.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) target: Target,
    /// What to send to the server; nothing for a `CONNECT`.
    pub(super) plain: Option<Plain>,
}

#[derive(Debug)]
pub(super) struct Plain {
    /// First line and headers, as they are sent.
    pub(super) head: String,
    /// How long the body is.
    pub(super) length: u64,
    pub(super) expects_continue: bool,
}

impl Request {
    /// Reads a header block, up to and with the empty line.
    pub(super) fn parse(head: &[u8]) -> Result<Self, Reason> {
        let head = str::from_utf8(head).map_err(|_| malformed("it is not UTF-8"))?;
        let mut lines = head.trim_end_matches("\r\n").split("\r\n");
        let line = lines.next().unwrap_or_default();
        let &[method, url, version] = line.split(' ').collect::<Vec<_>>().as_slice() else {
            return Err(malformed("its first line is not a method, a target and a version"));
        };
        if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
            return Err(malformed("its version is neither HTTP/1.1 nor HTTP/1.0"));
        }
        if line.contains(|letter: char| letter.is_control()) {
            return Err(malformed("its first line has a control character"));
        }
        let headers = lines.map(header).collect::<Result<Vec<_>, _>>()?;
        let length = length(&headers)?;
        if method == "CONNECT" {
            return Ok(Self { target: Target::parse(url, None)?, plain: None });
        }
        if !METHODS.contains(&method) {
            return Err(Reason::Method);
        }
        let (target, path) = absolute(url)?;
        let first = format!("{method} {path} {version}\r\nHost: {}\r\n", host(&target));
        let expects_continue = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("expect"));
        let plain = Plain {
            head: first + &passed(&headers, length),
            length: length.unwrap_or(0),
            expects_continue,
        };
        Ok(Self { target, plain: Some(plain) })
    }
}

/// A header line. A name is a token right up to the colon; a line that continues another has none.
fn header(line: &str) -> Result<(&str, &str), Reason> {
    let (name, value) = line.split_once(':').ok_or(malformed("a header has no colon"))?;
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(malformed("the name of a header is not a word"));
    }
    if value.contains(|letter: char| letter.is_control() && letter != '\t') {
        return Err(malformed("a header has a control character"));
    }
    Ok((name, value.trim_matches([' ', '\t'])))
}

/// How long the body is said to be. Two answers to that are how requests are smuggled.
fn length(headers: &[(&str, &str)]) -> Result<Option<u64>, Reason> {
    let values = |wanted: &'static str| {
        headers
            .iter()
            .filter(move |(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|entry| entry.1)
    };
    let mut lengths = values("content-length");
    let length = lengths.next();
    if values("transfer-encoding").next().is_some() {
        let both = malformed("it has a `Content-Length` and a `Transfer-Encoding`");
        return Err(if length.is_some() { both } else { Reason::NoLength });
    }
    if lengths.next().is_some() {
        return Err(malformed("it has two headers `Content-Length`"));
    }
    let is_number = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
    let read = |text: &str| Some(text).filter(is_number).and_then(|text| text.parse().ok());
    length
        .map(|text| read(text).ok_or(malformed("its `Content-Length` is not a number")))
        .transpose()
}

/// Takes `http://host[:port]/path?query` apart.
fn absolute(url: &str) -> Result<(Target, String), Reason> {
    if !url.is_ascii() {
        return Err(TargetFault::NotAscii.into());
    }
    let (scheme, rest) = url
        .split_once("://")
        .ok_or(malformed("its target is not a whole URL, as a proxy needs it"))?;
    if !scheme.eq_ignore_ascii_case("http") {
        return Err(malformed("only `http` URLs are asked for directly; others need `CONNECT`"));
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if path.contains('#') {
        return Err(malformed("its target has a fragment"));
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok((Target::parse(authority, Some(80))?, format!("{slash}{path}")))
}

/// The headers for the server, with the empty line.
fn passed(headers: &[(&str, &str)], length: Option<u64>) -> String {
    let is_connection = |name: &str| name.eq_ignore_ascii_case("connection");
    let for_us =
        headers.iter().filter(|(name, _)| is_connection(name)).flat_map(|entry| entry.1.split(','));
    let for_us = for_us.map(str::trim).chain(NOT_PASSED.iter().copied()).collect::<Vec<_>>();
    let is_passed = |name: &str| !for_us.iter().any(|other| other.eq_ignore_ascii_case(name));
    let mut text = String::new();
    for (name, value) in headers.iter().filter(|(name, _)| is_passed(name)) {
        let _infallible = write!(text, "{name}: {value}\r\n");
    }
    if let Some(length) = length {
        let _infallible = write!(text, "Content-Length: {length}\r\n");
    }
    text + "Connection: close\r\n\r\n"
}

fn host(target: &Target) -> String {
    if target.port == 80 { target.host.to_string() } else { target.to_string() }
}

pub(super) fn malformed(what: &'static str) -> Reason {
    Reason::Malformed(what)
}
