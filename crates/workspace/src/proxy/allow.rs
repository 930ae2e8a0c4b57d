//! The addresses that may be reached: `exec.network = ["host:port", …]`.

use std::fmt;
use std::net::IpAddr;

use thiserror::Error;

use super::address::is_global;
use super::refusal::shown;
use super::target::{Host, Target, TargetFault, parse_port, split};

/// How many entries a list may have. Each connection is compared with all of them, and nobody reads
/// a longer list.
const MAX_ENTRIES: usize = 1000;

/// What a program may reach; nothing by default. It is shown as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowList {
    entries: Vec<Entry>,
    written: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Exactly(Target),
    /// All names that end in this, which begins with a dot.
    Below(String, u16),
}

/// An entry that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{entry}` is not an address that can be allowed")]
pub struct ParseError {
    /// The entry, escaped and of bounded length.
    pub entry: String,
    /// What is wrong with it.
    #[source]
    pub fault: TargetFault,
}

impl AllowList {
    /// Reads entries such as `example.com:443`, `*.example.com:443` (what is below the domain, not
    /// the domain itself), `192.0.2.7:80` and `[2001:db8::7]:80`.
    ///
    /// # Errors
    ///
    /// Names the first entry that is none of these.
    pub fn parse(entries: &[String]) -> Result<Self, ParseError> {
        let read = |(position, text): (usize, &String)| {
            let entry =
                if position < MAX_ENTRIES { entry(text) } else { Err(TargetFault::TooMany) };
            entry.map_err(|fault| ParseError { entry: shown(text.as_bytes()), fault })
        };
        let read = entries.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(Self { entries: read, written: entries.to_vec() })
    }

    /// Whether the list names the target.
    pub(super) fn names(&self, target: &Target) -> bool {
        self.entries.iter().any(|entry| match (entry, &target.host) {
            (Entry::Exactly(listed), _) => listed == target,
            (Entry::Below(end, port), Host::Name(name)) => {
                *port == target.port && name.len() > end.len() && name.ends_with(end)
            }
            (Entry::Below(..), Host::Ip(_)) => false,
        })
    }

    /// Whether the list names whatever the other one names.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        other.entries.iter().all(|entry| match entry {
            Entry::Exactly(target) => self.names(target),
            Entry::Below(end, port) => self.entries.iter().any(|own| match own {
                Entry::Below(own_end, own_port) => own_port == port && end.ends_with(own_end),
                Entry::Exactly(_) => false,
            }),
        })
    }

    /// Whether a target that the list names may be reached at this address.
    ///
    /// A private address must be in the list itself, with the port, whatever name led to it; only
    /// `localhost` means what it says.
    pub(super) fn permits(&self, target: &Target, address: IpAddr) -> bool {
        let is_localhost = matches!(&target.host, Host::Name(name) if name == "localhost");
        is_global(address)
            || (is_localhost && address.is_loopback())
            || self.names(&Target { host: Host::Ip(address), port: target.port })
    }
}

impl fmt::Display for AllowList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written.join(" "))
    }
}

fn entry(text: &str) -> Result<Entry, TargetFault> {
    if !text.contains('*') {
        return Target::parse(text, None).map(Entry::Exactly);
    }
    let (host, port) = split(text)?;
    let port = parse_port(port.unwrap_or_default())?;
    let domain = host.strip_prefix("*.").map(Host::parse);
    match domain {
        // `*.com` would be nearly everything.
        Some(Ok(Host::Name(name))) if name.contains('.') => {
            Ok(Entry::Below(format!(".{name}"), port))
        }
        _ => Err(TargetFault::Wildcard),
    }
}
