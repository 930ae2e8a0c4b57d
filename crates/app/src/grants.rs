//! The network and the machine that skills may use: settings for all, settings for one, and what the skill itself asks
//! for.

use metier_agent::library;
use metier_config::{Setting, WordOrList};
use metier_skill::library::Entry;
use metier_workspace::executor::Network;
use metier_workspace::grant::Asked;
use metier_workspace::proxy::ParseError;
use thiserror::Error;

use crate::app::App;

/// A mebibyte.
pub(crate) const MEBIBYTE: u64 = 1 << 20;

/// A network that cannot be granted: an address in it cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GrantError {
    /// A setting is none of `none`, `host` and a list of addresses.
    #[error("{source}")]
    Setting {
        /// The fault in the address.
        source: ParseError,
        /// The setting.
        setting: String,
    },
    /// A skill asks for something that is no address.
    #[error("{source}")]
    Request {
        /// The fault in the address.
        source: ParseError,
        /// The skill.
        skill: String,
    },
}

impl App {
    /// Returns the network that a skill may have: its own setting, or that for all.
    ///
    /// # Errors
    ///
    /// When the setting is none of `none`, `host` and a list of addresses.
    pub fn network(&self, entry: &Entry) -> Result<Network, GrantError> {
        let own = self
            .own_network(entry)
            .map(|(network, key)| (network, format!("skills.entries.{key}.network")));
        let (network, setting) =
            own.unwrap_or_else(|| (&self.config.exec.network, "exec.network".to_owned()));
        network_of(network).map_err(|source| GrantError::Setting { source, setting })
    }

    /// Returns the network that the configuration gives to this skill alone, with the key of its entry, if there is one.
    pub(crate) fn own_network<'a>(
        &'a self,
        entry: &'a Entry,
    ) -> Option<(&'a Setting<WordOrList>, &'a str)> {
        let key = entry.entry_key.granted()?;
        let network = &self.config.skills.entries.get(key)?.network;
        network.is_set().then_some((network, key))
    }
}

/// Returns what a skill asks for.
///
/// # Errors
///
/// When it asks for an address that is none.
pub fn asked_by(entry: &Entry) -> Result<Asked, GrantError> {
    let skill = || entry.name.to_string();
    library::asked_by(entry).map_err(|source| GrantError::Request { source, skill: skill() })
}

fn network_of(words: &[String]) -> Result<Network, ParseError> {
    match words {
        [] => Ok(Network::None),
        [word] if word == "none" => Ok(Network::None),
        [word] if word == "host" => Ok(Network::Host),
        list => Network::listed(list),
    }
}
