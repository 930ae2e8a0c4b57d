//! The choice of a model, and the way to its provider.

use std::collections::BTreeMap;
use std::sync::Arc;

use metier_agent::offline::{DEFAULT_ADVICE, Offline};
use metier_config::{ProviderConfig, ProviderFormat, ProviderToolChoice, SecretText};
use metier_model::{Dialect, Format, KeyHeader, Model, ModelSettings, Provider, Secret};
use metier_skill::advice::SkillAdvice;
use metier_skill::library::Snapshot;
use thiserror::Error;

use crate::app::App;
use crate::error::AppError;
use crate::reporter::Notice;

/// The name of the planner that needs no model.
pub const OFFLINE: &str = "offline";

/// A provider that has a name of its own.
struct KnownProvider {
    name: &'static str,
    /// The variable with its key.
    key: &'static str,
    /// The variable with another address.
    base_url: &'static str,
    /// The model that is asked when nothing but the key is set.
    model: &'static str,
}

/// Those there are; of several keys the first decides.
const KNOWN: [KnownProvider; 2] = [
    KnownProvider {
        name: "openai",
        key: "OPENAI_API_KEY",
        base_url: "OPENAI_BASE_URL",
        model: "openai/gpt-5",
    },
    KnownProvider {
        name: "anthropic",
        key: "ANTHROPIC_API_KEY",
        base_url: "ANTHROPIC_BASE_URL",
        model: "anthropic/claude-sonnet-4-5",
    },
];

/// The words of a front end for what the offline planner says to a person.
#[derive(Clone, Debug)]
pub struct OfflineWording {
    /// The way to a better answer.
    pub advice: String,
    /// Words advice about a skill that cannot be used.
    pub skill_advice: fn(&SkillAdvice) -> String,
}

impl Default for OfflineWording {
    fn default() -> Self {
        Self { advice: DEFAULT_ADVICE.to_owned(), skill_advice: |advice| advice.to_string() }
    }
}

/// A provider of the configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelChoiceError {
    /// Its address is not known.
    #[error("the address of the provider `{provider}` is not set")]
    NoAddress {
        /// The provider.
        provider: String,
    },
}

impl App {
    /// Returns the model that is named, or that of the configuration, or one that a key gives access to; without any of
    /// these the planner that needs none, over the skills of a snapshot. `wording` has what the planner says to a
    /// person.
    ///
    /// # Errors
    ///
    /// When its provider cannot be used.
    pub fn model(
        &self,
        named: Option<&str>,
        skills: Arc<Snapshot>,
        wording: &OfflineWording,
    ) -> Result<Arc<dyn Model>, AppError> {
        let has_key = |known: &&KnownProvider| self.key_of(known.name, known.key).is_some();
        let by_key = || KNOWN.iter().find(has_key).map(|known| known.model);
        let name = named.or_else(|| self.config.agent.model.as_deref()).or_else(by_key);
        let name = name.unwrap_or_else(|| {
            self.tell_of_unasked_server();
            OFFLINE
        });
        if name == OFFLINE {
            let planner = Offline::new(skills).with_advice(&wording.advice);
            return Ok(Arc::new(planner.with_words(wording.skill_advice)));
        }
        Ok(metier_model::open(name, &ModelSettings::new(self.providers()?))?)
    }

    /// Reports that an address alone does not name a model.
    fn tell_of_unasked_server(&self) {
        let has_address =
            |known: &&KnownProvider| self.environment.variable(known.base_url).is_some();
        if let Some(KnownProvider { name, base_url, .. }) = KNOWN.iter().find(has_address) {
            self.reporter
                .notice(&Notice::AddressWithoutModel { variable: base_url, provider: name });
        }
    }

    fn providers(&self) -> Result<BTreeMap<String, Provider>, ModelChoiceError> {
        let mut providers = BTreeMap::new();
        for known in &KNOWN {
            providers.insert(known.name.to_owned(), self.known_provider(known));
        }
        let is_known = |name: &str| KNOWN.iter().any(|known| known.name == name);
        for (name, settings) in self.config.providers.iter().filter(|(name, _)| !is_known(name)) {
            let address = settings
                .base_url
                .as_deref()
                .ok_or_else(|| ModelChoiceError::NoAddress { provider: name.clone() })?;
            let mut provider = Provider::compatible(address);
            provider.key = self.key_of(name, "").map(Secret::new);
            set_format(&mut provider, settings);
            providers.insert(name.clone(), provider);
        }
        Ok(providers)
    }

    fn known_provider(&self, known: &KnownProvider) -> Provider {
        let key = self.key_of(known.name, known.key).map(Secret::new);
        let mut provider = match known.name {
            "anthropic" => Provider::anthropic(key),
            _ => Provider::openai(Format::ChatCompletions, key),
        };
        let settings = self.config.providers.get(known.name);
        let address = settings.and_then(|settings| settings.base_url.as_deref());
        if let Some(address) = address.or_else(|| self.environment.variable(known.base_url)) {
            // Somebody else, who may want no key.
            address.clone_into(&mut provider.base_url);
            provider.dialect = Dialect::Compatible;
            provider.key_variable = None;
        }
        if let Some(settings) = settings {
            set_format(&mut provider, settings);
        }
        provider
    }

    /// Returns whether the provider of a model is asked to enforce the choice of a skill.
    pub fn is_constrained(&self, model: &str) -> bool {
        let name = model.split('/').next().unwrap_or_default();
        let settings = self.config.providers.get(name);
        settings.is_some_and(|it| *it.tool_choice == ProviderToolChoice::Constrained)
    }

    fn key_of(&self, name: &str, variable: &str) -> Option<&str> {
        let set = self.config.providers.get(name).and_then(|settings| settings.key.as_ref());
        set.map(SecretText::expose).or_else(|| self.environment.variable(variable))
    }
}

/// Sets the format that was chosen for a provider, if one was.
fn set_format(provider: &mut Provider, settings: &ProviderConfig) {
    if !settings.format.is_set() {
        return;
    }
    provider.format = match *settings.format {
        ProviderFormat::ChatCompletions => Format::ChatCompletions,
        ProviderFormat::Responses => Format::Responses,
        ProviderFormat::Messages => Format::Messages,
    };
    provider.key_header = match provider.format {
        Format::Messages => KeyHeader::Named("x-api-key".to_owned()),
        _ => KeyHeader::Bearer,
    };
}
