//! Where requests go: the base URL that a person gave, and the path of the format.

use crate::{Format, ModelError};

/// The address of requests.
///
/// People give the base URL with or without the version, with a slash at its end, with a query
/// (Azure's `?api-version=`), or the whole address.
pub(crate) fn endpoint(
    provider: &str,
    base_url: &str,
    format: Format,
) -> Result<String, ModelError> {
    let refuse = |fault| ModelError::BaseUrl { provider: provider.to_owned(), fault };
    let base_url = base_url.trim();
    let (address, query) = base_url.split_once('?').unwrap_or((base_url, ""));
    let lower = address.to_ascii_lowercase();
    let scheme = ["https://", "http://"].into_iter().find(|scheme| lower.starts_with(scheme));
    let scheme = scheme.ok_or_else(|| refuse("it does not begin with `https://` or `http://`"))?;
    if base_url.contains('#') {
        return Err(refuse("it has a fragment (`#…`)"));
    }
    let (server, path) =
        address[scheme.len()..].split_once('/').unwrap_or((&address[scheme.len()..], ""));
    if server.contains('@') {
        return Err(refuse("it contains a user name or password"));
    }
    if server.is_empty() || base_url.contains(char::is_whitespace) {
        return Err(refuse("it does not name a server"));
    }
    let path = full_path(path.trim_matches('/'), format);
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    Ok(format!("{scheme}{server}/{path}{query}"))
}

/// The server of an address, for messages.
pub(crate) fn server(endpoint: &str) -> &str {
    let rest = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    rest.split(['/', '?']).next().unwrap_or(rest)
}

fn full_path(path: &str, format: Format) -> String {
    let end = format.path();
    if path == end || path.ends_with(&format!("/{end}")) {
        return path.to_owned();
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_version = last.starts_with('v') && last[1..].starts_with(|c: char| c.is_ascii_digit());
    // Bases of Anthropic's format never include the version; others do, if they have a path.
    let needs_version = match format {
        Format::Messages => !is_version,
        Format::ChatCompletions | Format::Responses => path.is_empty(),
    };
    let version = if needs_version { "v1/" } else { "" };
    let slash = if path.is_empty() { "" } else { "/" };
    format!("{path}{slash}{version}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(base: &str, format: Format) -> String {
        endpoint("p", base, format).unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn a_base_url_may_be_written_in_many_ways() {
        let (chat, responses, messages) =
            (Format::ChatCompletions, Format::Responses, Format::Messages);
        let cases = [
            ("https://api.openai.com", chat, "https://api.openai.com/v1/chat/completions"),
            ("https://api.openai.com/", chat, "https://api.openai.com/v1/chat/completions"),
            ("https://api.openai.com/v1", chat, "https://api.openai.com/v1/chat/completions"),
            (" https://api.openai.com/v1/ ", responses, "https://api.openai.com/v1/responses"),
            ("HTTP://localhost:8080", chat, "http://localhost:8080/v1/chat/completions"),
            ("http://[::1]:8080/v1", chat, "http://[::1]:8080/v1/chat/completions"),
            ("https://openrouter.ai/api/v1", chat, "https://openrouter.ai/api/v1/chat/completions"),
            ("https://h/v1beta/openai/", chat, "https://h/v1beta/openai/chat/completions"),
            (
                "https://r.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
                chat,
                "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
            ),
            ("https://h/v1/chat/completions", chat, "https://h/v1/chat/completions"),
            ("https://api.anthropic.com", messages, "https://api.anthropic.com/v1/messages"),
            ("https://api.anthropic.com/v1/", messages, "https://api.anthropic.com/v1/messages"),
            ("https://h/anthropic", messages, "https://h/anthropic/v1/messages"),
            ("https://h/v1/messages", messages, "https://h/v1/messages"),
        ];
        for (base, format, expected) in cases {
            assert_eq!(joined(base, format), expected, "{base}");
        }
    }

    #[test]
    fn what_is_no_base_url_is_refused_without_quoting_it() {
        let bases = [
            "api.openai.com",
            "file:///etc",
            "https://",
            "https://u:p@h",
            "https://h/#x",
            "https://a b",
        ];
        let shown: Vec<_> =
            bases.iter().map(|base| joined(base, Format::ChatCompletions)).collect();
        insta::assert_snapshot!(shown.join("\n"), @"
        the base URL of `p` cannot be used: it does not begin with `https://` or `http://`
        the base URL of `p` cannot be used: it does not begin with `https://` or `http://`
        the base URL of `p` cannot be used: it does not name a server
        the base URL of `p` cannot be used: it contains a user name or password
        the base URL of `p` cannot be used: it has a fragment (`#…`)
        the base URL of `p` cannot be used: it does not name a server
        ");
    }
}
