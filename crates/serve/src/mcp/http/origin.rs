//! The origin of the web page that a request is of: one, with a scheme, a name and perhaps a port.
//!
//! Whether pages of that origin may ask is decided by the crate of the protocol, which finds a name in text that is no
//! origin as well.

use http::header::ORIGIN;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, StatusCode};
use thiserror::Error;

use super::host::name_and_port;

/// What a browser sends for a page whose origin it does not tell.
const OPAQUE: &str = "null";

/// Why the origin of a request cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum OriginError {
    /// It names several.
    #[error("A request has at most one Origin header")]
    Several,
    /// It is no `scheme://name` or `scheme://name:port`.
    #[error("The Origin header is no scheme and name with an optional port")]
    Invalid,
}

impl OriginError {
    /// The status of the answer to such a request.
    pub(super) const STATUS: StatusCode = StatusCode::FORBIDDEN;
}

/// Checks that a request names one origin, or none.
pub(super) fn check(headers: &HeaderMap) -> Result<(), OriginError> {
    let mut values = headers.get_all(ORIGIN).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(()),
        (Some(value), None) if is_origin(value) => Ok(()),
        (Some(_), None) => Err(OriginError::Invalid),
        (Some(_), Some(_)) => Err(OriginError::Several),
    }
}

fn is_origin(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else { return false };
    let Some((scheme, rest)) = text.split_once("://") else { return text == OPAQUE };
    let Ok(authority) = rest.parse::<Authority>() else { return false };
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_sign)
        && name_and_port(&authority).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(origins: &[&str]) -> Result<(), OriginError> {
        let mut headers = HeaderMap::new();
        for origin in origins {
            headers.append(ORIGIN, origin.parse().unwrap());
        }
        check(&headers)
    }

    #[test]
    fn an_origin_is_a_scheme_a_name_and_a_port() {
        for origin in [
            "https://page.example",
            "https://page.example:443",
            "http://127.0.0.1:8000",
            "http://[::1]:8000",
            "chrome-extension://abcdefgh",
            "null",
        ] {
            assert_eq!(checked(&[origin]), Ok(()), "{origin}");
        }
        for origin in [
            "",
            "page.example",
            "://page.example",
            "https://",
            "https://evil.example@page.example",
            "https://page.example@evil.example",
            "https://page.example:443.evil.example",
            "https://page.example:",
            "https://page.example:abc",
            "https://page.example:+443",
            "https://page.example:99999",
            "https://page.example/",
            "https://page.example/evil",
            "https://page.example?evil",
            "https://page.example#evil",
            "https://[page.example]",
            "https://page.example https://evil.example",
            "https://page.example,https://evil.example",
            "https://https://page.example",
        ] {
            assert_eq!(checked(&[origin]), Err(OriginError::Invalid), "{origin}");
        }
    }

    #[test]
    fn a_request_names_one_origin_or_none() {
        assert_eq!(checked(&[]), Ok(()));
        for second in ["https://page.example", "https://evil.example"] {
            assert_eq!(checked(&["https://page.example", second]), Err(OriginError::Several));
        }
    }
}
