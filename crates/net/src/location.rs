//! Which addresses are asked, and where a redirect may lead.

use std::net::IpAddr;

use reqwest::Url;

use crate::{RedirectFault, UrlFault};

/// Whether an address is one that would be asked.
///
/// # Errors
///
/// Fails if it is no URL, has another scheme than `http` and `https`, or a user name or password.
pub fn check_address(address: &str) -> Result<(), UrlFault> {
    parse(address, None).map(drop)
}

/// Whether nobody on the way can read what is sent to an address: it is `https`, or of this machine.
pub fn keeps_secrets(address: &str) -> bool {
    let Ok(url) = parse(address, None) else { return false };
    let host = url.host_str().unwrap_or_default();
    let number = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    url.scheme() == "https" || host == "localhost" || number.is_ok_and(|it| it.is_loopback())
}

/// Reads a URL that a person or a server gave; a server's may be relative to the page it is on.
pub(crate) fn parse(text: &str, base: Option<&Url>) -> Result<Url, UrlFault> {
    let url = Url::options()
        .base_url(base)
        .parse(text)
        .map_err(|error| UrlFault::Unreadable(Box::new(error)))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlFault::Scheme { scheme: url.scheme().to_owned() });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlFault::Credentials);
    }
    Ok(url)
}

/// Judges the step that a redirect asks for.
pub(crate) fn follow(from: &Url, location: &str) -> Result<Url, RedirectFault> {
    let url = parse(location, Some(from))
        .map_err(|source| RedirectFault::Url { url: shown_text(location), source })?;
    if from.scheme() == "https" && url.scheme() != "https" {
        return Err(RedirectFault::Downgrade);
    }
    Ok(url)
}

/// A URL as it may be shown: queries can hold tokens, so they are left out.
pub(crate) fn shown(url: &Url) -> String {
    format!("{}://{}{}", url.scheme(), host(url), url.path())
}

/// The server's name, with its port if that is unusual.
pub(crate) fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// An address as it may be shown, even if it is none: without user name, password, query and fragment.
pub fn shown_text(text: &str) -> String {
    let address = text.split(['?', '#']).next().unwrap_or_default();
    match address.rsplit_once('@') {
        Some((_, host)) => format!("…@{host}"),
        None => address.to_owned(),
    }
}
