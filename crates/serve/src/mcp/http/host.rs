//! The host that a request names: once, without a user, and the same in its target and its header.
//!
//! Whether that host may be asked for is decided by the crate of the protocol, which looks at one of these only. A proxy
//! or a browser in between may have looked at another.

use std::net::Ipv6Addr;

use http::header::HOST;
use http::uri::{Authority, Uri};
use http::{HeaderMap, StatusCode};
use thiserror::Error;

/// Why the host of a request cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum HostError {
    /// It names none, or several.
    #[error("A request has exactly one Host header")]
    NotOne,
    /// It is no `name` or `name:port`.
    #[error("The Host header is no name with an optional port")]
    Invalid,
    /// The target of the request names another one.
    #[error("The target of the request names another host than its Host header")]
    Differs,
}

impl HostError {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::NotOne | Self::Invalid => StatusCode::BAD_REQUEST,
            Self::Differs => StatusCode::MISDIRECTED_REQUEST,
        }
    }
}

/// Checks that a request names one host.
pub(super) fn check(target: &Uri, headers: &HeaderMap) -> Result<(), HostError> {
    let mut values = headers.get_all(HOST).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(HostError::NotOne) };
    let text = value.to_str().map_err(|_| HostError::Invalid)?;
    let host: Authority = text.parse().map_err(|_| HostError::Invalid)?;
    let host = name_and_port(&host).ok_or(HostError::Invalid)?;
    match target.authority() {
        None => Ok(()),
        Some(named)
            if target.scheme_str() == Some("http") && name_and_port(named) == Some(host) =>
        {
            Ok(())
        }
        Some(_) => Err(HostError::Differs),
    }
}

/// Returns the name of a host in lower case and its port, if an authority has nothing else: no user, and nothing behind
/// the name but a port that is a number; brackets are around an IPv6 address only. Port 80 is what `http` means without one.
pub(super) fn name_and_port(authority: &Authority) -> Option<(String, u16)> {
    const HTTP: u16 = 80;
    let name = authority.host();
    // The parser of the crate finds a name in `[::1].example` and in `localhost:80.example` too.
    let port = match authority.as_str().strip_prefix(name)? {
        "" => HTTP,
        rest => rest.strip_prefix(':').filter(|it| is_digits(it))?.parse().ok()?,
    };
    is_name(name).then(|| (name.to_ascii_lowercase(), port))
}

fn is_name(text: &str) -> bool {
    match text.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').is_some_and(|it| it.parse::<Ipv6Addr>().is_ok()),
        None => !text.is_empty(),
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(target: &str, hosts: &[&str]) -> Result<(), HostError> {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(HOST, host.parse().unwrap());
        }
        check(&target.parse().unwrap(), &headers)
    }

    #[test]
    fn a_request_names_one_host() {
        for host in ["localhost", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST:80"] {
            assert_eq!(checked("/mcp", &[host]), Ok(()), "{host}");
        }
        assert_eq!(checked("/mcp", &[]), Err(HostError::NotOne));
        for second in ["localhost", "evil.example"] {
            assert_eq!(checked("/mcp", &["localhost", second]), Err(HostError::NotOne));
        }
    }

    #[test]
    fn a_host_is_a_name_and_a_port() {
        for host in [
            "",
            "evil.example@localhost",
            "localhost@evil.example",
            "user:password@localhost",
            "@localhost",
            "localhost, evil.example",
            "localhost/mcp",
            "http://localhost",
            "local host",
            ":8000",
            "[localhost]",
            "[127.0.0.1]:8000",
            "[::1].evil.example",
            "[::1]evil.example",
            "localhost:",
            "localhost:abc",
            "localhost:+80",
            "localhost:99999",
            "localhost:80.evil.example",
            "localhost:80:80",
        ] {
            assert_eq!(checked("/mcp", &[host]), Err(HostError::Invalid), "{host}");
        }
    }

    #[test]
    fn a_target_names_the_host_of_the_header() {
        for (target, host) in [
            ("http://localhost:8000/mcp", "localhost:8000"),
            ("http://LocalHost/mcp", "localhost:80"),
            ("http://[::1]:8000/mcp", "[::1]:8000"),
        ] {
            assert_eq!(checked(target, &[host]), Ok(()), "{target}");
        }
        for target in [
            "http://evil.example/mcp",
            "http://localhost:8001/mcp",
            "http://localhost/mcp",
            "http://evil.example@localhost:8000/mcp",
            "https://localhost:8000/mcp",
            "ftp://localhost:8000/mcp",
        ] {
            assert_eq!(checked(target, &["localhost:8000"]), Err(HostError::Differs), "{target}");
        }
        for target in ["http://127.0.0.1:abc/mcp", "http://127.0.0.1:99999/mcp"] {
            assert_eq!(checked(target, &["127.0.0.1"]), Err(HostError::Differs), "{target}");
        }
    }
}
