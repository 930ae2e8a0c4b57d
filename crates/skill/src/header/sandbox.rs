//! What a skill asks of the sandbox: `sandbox` beside `requires`.
//!
//! A request opens nothing: whoever runs the skill holds it against what the user allows, gives
//! less where less is asked and refuses what is beyond. A request that cannot be read makes the
//! gate unreadable, so that no skill runs with more than it meant to ask for.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::requirements::{Entries, Read, get, list, object, unreadable};
use crate::diagnostic::{Code, Diagnostic};
use crate::header::yaml::Node;

/// Most addresses one skill may ask for; nobody would read more before allowing them.
const MAX_ADDRESSES: usize = 100;
/// What can be asked for.
const KEYS: [&str; 4] = ["network", "timeout", "memory_mb", "processes"];

/// What a skill asks of the sandbox; nothing in particular where it says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxRequest {
    /// What its commands reach.
    pub network: Option<NetworkRequest>,
    /// Seconds a command takes, when its caller does not say.
    pub timeout: Option<u64>,
    /// Mebibytes of memory.
    pub memory_mb: Option<u64>,
    /// Processes at a time.
    pub processes: Option<u64>,
}

/// What commands of a skill reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NetworkRequest {
    /// Nothing.
    None,
    /// What the machine reaches.
    Host,
    /// Some addresses, each `host:port`.
    Listed(Vec<String>),
}

impl SandboxRequest {
    /// Each thing that is asked for, as people read it.
    pub fn parts(&self) -> Vec<String> {
        let counted = |count: Option<u64>, unit: &str| count.map(|it| format!("{it} {unit}"));
        let parts = [
            self.network.as_ref().map(|network| format!("network {network}")),
            counted(self.timeout, "seconds"),
            counted(self.memory_mb, "MiB of memory"),
            counted(self.processes, "processes"),
        ];
        parts.into_iter().flatten().collect()
    }
}

impl fmt::Display for NetworkRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("none"),
            Self::Host => formatter.write_str("host"),
            Self::Listed(addresses) => formatter.write_str(&addresses.join(" ")),
        }
    }
}

/// Reads a request.
pub(super) fn read_request(node: &Node, diagnostics: &mut Vec<Diagnostic>) -> Read<SandboxRequest> {
    let entries = object(node, "sandbox")?;
    for (key, _) in entries.iter() {
        let name = key.as_text();
        if !KEYS.contains(&&*name) {
            diagnostics.push(
                Diagnostic::new(
                    Code::UnknownField,
                    key.span,
                    format!("`sandbox.{name}` is not something that can be asked for"),
                )
                .help("what can be asked for is `network`, `timeout`, `memory_mb` and `processes`"),
            );
        }
    }
    Ok(SandboxRequest {
        network: network(&entries)?,
        timeout: count(&entries, "timeout")?,
        memory_mb: count(&entries, "memory_mb")?,
        processes: count(&entries, "processes")?,
    })
}

fn network(entries: &Entries) -> Read<Option<NetworkRequest>> {
    let Some(node) = get(entries, "network") else { return Ok(None) };
    let words = list(entries, "network")?;
    let refuse = |why: &str| Err(unreadable(node, &format!("`sandbox.network` {why}")));
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["none"] => Ok(Some(NetworkRequest::None)),
        ["host"] => Ok(Some(NetworkRequest::Host)),
        _ if words.len() > MAX_ADDRESSES => {
            refuse(&format!("has more than {MAX_ADDRESSES} addresses"))
        }
        _ if words.iter().all(|word| is_address(word)) => Ok(Some(NetworkRequest::Listed(words))),
        _ => refuse("is none of `none`, `host` and a list of `host:port`"),
    }
}

/// Whether a text has the form `host:port`; which hosts there can be is known to those who reach them.
fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._*:[]".contains(&byte);
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    !host.is_empty()
        && host.bytes().all(is_host)
        && is_port
        && port.parse::<u16>().is_ok_and(|port| port > 0)
}

fn count(entries: &Entries, name: &str) -> Read<Option<u64>> {
    let Some(node) = get(entries, name) else { return Ok(None) };
    match node.text().and_then(|text| text.trim().parse().ok()) {
        Some(count) if count > 0 => Ok(Some(count)),
        _ => Err(unreadable(node, &format!("`sandbox.{name}` is not a whole number above zero"))),
    }
}

#[cfg(test)]
mod tests {
    use crate::header::{Gate, ReadOptions, WithoutHeader, read};
    use crate::text::LineIndex;

    /// What a skill asks for, or why nobody knows, with what is said about it.
    fn outcome(sandbox: &str) -> String {
        let text = format!(
            "---\nname: ship\ndescription: d\nmetadata:\n  metier:\n    sandbox: {sandbox}\n---\n"
        );
        let options = ReadOptions { folder: Some("ship"), without_header: WithoutHeader::Refuse };
        let reading = read(&text, &options);
        let asked = match reading.manifest.expect("the header can be used").gate {
            Gate::Readable(requirements) => match &requirements.sandbox.parts()[..] {
                [] => "nothing".to_owned(),
                parts => parts.join(", "),
            },
            Gate::Unreadable(reason) => format!("unreadable: {reason}"),
        };
        let lines = LineIndex::new(&text);
        let said = reading.diagnostics.iter().map(|it| {
            let place = lines.position(it.span.start);
            format!("\n  {}:{} {} {}", place.line, place.column, it.code, it.message)
        });
        format!("{sandbox}\n  {asked}{}\n", said.collect::<String>())
    }

    #[test]
    fn what_is_asked_for_is_read_as_yaml_text_or_json5() {
        let cases = [
            "{}",
            "{network: none}",
            "{network: []}",
            "{network: host, timeout: 600, memory_mb: '512', processes: 20}",
            "{network: ['api.example.com:443', '*.example.com:80', '[2001:db8::7]:80']}",
            "{network: 'a.example:1, b.example:2'}",
            "'{network: [\"a.example:443\",],}'",
        ];
        insta::assert_snapshot!(cases.map(outcome).concat(), @r#"
        {}
          nothing
        {network: none}
          network none
        {network: []}
          network none
        {network: host, timeout: 600, memory_mb: '512', processes: 20}
          network host, 600 seconds, 512 MiB of memory, 20 processes
        {network: ['api.example.com:443', '*.example.com:80', '[2001:db8::7]:80']}
          network api.example.com:443 *.example.com:80 [2001:db8::7]:80
        {network: 'a.example:1, b.example:2'}
          network a.example:1 b.example:2
        '{network: ["a.example:443",],}'
          network a.example:443
        "#);
    }

    #[test]
    fn what_cannot_be_asked_for_is_said_with_its_place() {
        insta::assert_snapshot!(outcome("{netwrok: host, timeout: 5}"), @"
        {netwrok: host, timeout: 5}
          5 seconds
          6:15 M040 `sandbox.netwrok` is not something that can be asked for
        ");
    }

    #[test]
    fn what_cannot_be_read_closes_the_gate() {
        let cases = [
            "all",
            "[network]",
            "{network: {a: b}}",
            "{network: [host, 'a.example:1']}",
            "{network: 'https://a.example:443'}",
            "{timeout: 0}",
            "{memory_mb: 1.5}",
            "{processes: 99999999999999999999}",
        ];
        insta::assert_snapshot!(cases.map(outcome).concat(), @"
        all
          unreadable: `sandbox` is text, and not a JSON object
          6:14 M045 what the skill requires cannot be read: `sandbox` is text, and not a JSON object
        [network]
          unreadable: `sandbox` is a list
          6:14 M045 what the skill requires cannot be read: `sandbox` is a list
        {network: {a: b}}
          unreadable: `network` is a mapping
          6:24 M045 what the skill requires cannot be read: `network` is a mapping
        {network: [host, 'a.example:1']}
          unreadable: `sandbox.network` is none of `none`, `host` and a list of `host:port`
          6:24 M045 what the skill requires cannot be read: `sandbox.network` is none of `none`, `host` and a list of `host:port`
        {network: 'https://a.example:443'}
          unreadable: `sandbox.network` is none of `none`, `host` and a list of `host:port`
          6:24 M045 what the skill requires cannot be read: `sandbox.network` is none of `none`, `host` and a list of `host:port`
        {timeout: 0}
          unreadable: `sandbox.timeout` is not a whole number above zero
          6:24 M045 what the skill requires cannot be read: `sandbox.timeout` is not a whole number above zero
        {memory_mb: 1.5}
          unreadable: `sandbox.memory_mb` is not a whole number above zero
          6:26 M045 what the skill requires cannot be read: `sandbox.memory_mb` is not a whole number above zero
        {processes: 99999999999999999999}
          unreadable: `sandbox.processes` is not a whole number above zero
          6:26 M045 what the skill requires cannot be read: `sandbox.processes` is not a whole number above zero
        ");
        for odd in ["none, none", "a.example", "a:0", "a:65536", "u@a:1", ":1", "a:+1", "a b:1"] {
            let outcome = outcome(&format!("{{network: '{odd}'}}"));
            assert!(outcome.contains("unreadable: `sandbox.network` is none of"), "{outcome}");
        }
        let many = outcome(&format!("{{network: '{}'}}", "a.example:1,".repeat(101)));
        assert!(many.contains("more than 100 addresses"), "{many}");
    }
}
