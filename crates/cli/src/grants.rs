//! What skills may have of the network and the machine: settings for all, settings for one, and
//! what the skill itself asks for.

use metier_agent::library;
use metier_config::{Setting, WordOrList};
use metier_skill::library::{Entry, EntryKey, EntryRefusal};
use metier_workspace::executor::Network;
use metier_workspace::grant::{Asked, BeyondError};
use metier_workspace::proxy::ParseError;

use crate::context::Context;
use crate::failure::Failure;

/// A mebibyte.
pub(crate) const MEBIBYTE: u64 = 1 << 20;

impl Context {
    /// The network that a skill may have: its own setting, or that for all.
    ///
    /// # Errors
    ///
    /// When the setting is none of `none`, `host` and a list of addresses.
    pub(crate) fn network(&self, entry: &Entry) -> Result<Network, Failure> {
        let own = self
            .own_network(entry)
            .map(|(network, key)| (network, format!("skills.entries.{key}.network")));
        let (network, name) =
            own.unwrap_or_else(|| (&self.config.exec.network, "exec.network".to_owned()));
        network_of(network).map_err(|error| of_network(&error, &name))
    }

    /// The network that the settings give to this skill alone, with the key of its entry, if there is one.
    pub(crate) fn own_network<'a>(
        &'a self,
        entry: &'a Entry,
    ) -> Option<(&'a Setting<WordOrList>, &'a str)> {
        let key = entry.entry_key.granted()?;
        let network = &self.config.skills.entries.get(key)?.network;
        network.is_set().then_some((network, key))
    }
}

/// What a skill asks for.
///
/// # Errors
///
/// When it asks for an address that is none.
pub(crate) fn asked_by(entry: &Entry) -> Result<Asked, Failure> {
    library::asked_by(entry).map_err(|error| {
        Failure::brief(&error)
            .hint(format!("ask the author of `{}` to correct `sandbox.network`", entry.name))
    })
}

/// How to allow what a skill asks for, for those who agree with it.
pub(crate) fn remedy(entry_key: &EntryKey, error: &BeyondError) -> String {
    let setting = match error {
        BeyondError::Network { asked, .. } => {
            let key = toml_key(&entry_key.key);
            let words: Vec<&str> = asked.split(' ').collect();
            let value = match words[..] {
                ["host"] => format!("{asked:?}"),
                _ => format!("{words:?}"),
            };
            let setting = format!("skills.entries.{key}.network = {value}");
            match entry_key.refusal {
                None => setting,
                Some(EntryRefusal::SourceNotNamed(source)) => {
                    format!("{setting}` and `skills.entries.{key}.source = \"{source}\"")
                }
                Some(_) => format!("exec.network = {value}"),
            }
        }
        BeyondError::Timeout { asked, .. } => format!("exec.max_timeout = {asked}"),
        BeyondError::Memory { asked, .. } => format!("exec.memory_mb = {asked}"),
        BeyondError::Processes { asked, .. } => format!("exec.processes = {asked}"),
        _ => return "change the settings under `exec`".to_owned(),
    };
    format!("if it should have that, set `{setting}`")
}

/// A setting with an address that cannot be allowed.
pub(crate) fn of_network(error: &ParseError, setting: &str) -> Failure {
    Failure::brief(error)
        .into_usage()
        .hint(format!("`{setting}` is `none`, `host` or a list of `host:port`"))
}

fn network_of(words: &[String]) -> Result<Network, ParseError> {
    match words {
        [] => Ok(Network::None),
        [word] if word == "none" => Ok(Network::None),
        [word] if word == "host" => Ok(Network::Host),
        list => Network::listed(list),
    }
}

/// A key as it is written in TOML.
pub(crate) fn toml_key(key: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if key.bytes().all(is_bare) { key.to_owned() } else { format!("{key:?}") }
}
