//! Which model is asked, and how its provider is reached.

use std::collections::BTreeMap;
use std::sync::Arc;

use metier_agent::Library;
use metier_agent::offline::Offline;
use metier_config::{ProviderConfig, ProviderFormat, ProviderToolChoice, SecretText};
use metier_model::{Dialect, Format, KeyHeader, Model, ModelSettings, Provider, Secret};

use crate::context::Context;
use crate::failure::{Failure, advice};
use crate::library::Skills;
use crate::output::style;

/// The planner that needs no model.
pub(crate) const OFFLINE: &str = "offline";

/// A provider that has a name of its own.
struct Known {
    name: &'static str,
    /// The variable with its key.
    key: &'static str,
    /// The variable with another address.
    base_url: &'static str,
    /// The model that is asked when nothing but the key is set.
    model: &'static str,
}

/// Those there are; of several keys the first decides.
const KNOWN: [Known; 2] = [
    Known {
        name: "openai",
        key: "OPENAI_API_KEY",
        base_url: "OPENAI_BASE_URL",
        model: "openai/gpt-5",
    },
    Known {
        name: "anthropic",
        key: "ANTHROPIC_API_KEY",
        base_url: "ANTHROPIC_BASE_URL",
        model: "anthropic/claude-sonnet-4-5",
    },
];

impl Context {
    /// The model that was named, or that of the settings, or one that a key gives access to; without
    /// any of these the planner that needs none.
    ///
    /// # Errors
    ///
    /// When its provider cannot be used.
    pub(crate) fn model(
        &self,
        named: Option<&str>,
        skills: &Skills,
    ) -> Result<Arc<dyn Model>, Failure> {
        let has_key = |known: &&Known| self.key_of(known.name, known.key).is_some();
        let by_key = || KNOWN.iter().find(has_key).map(|known| known.model);
        let name = named.or_else(|| self.config.agent.model.as_deref()).or_else(by_key);
        let name = name.unwrap_or_else(|| {
            self.tell_of_unasked_server();
            OFFLINE
        });
        if name == OFFLINE {
            let better = "choose a model with `--model PROVIDER/NAME`";
            let planner = Offline::new(skills.snapshot()).with_advice(better);
            return Ok(Arc::new(planner.with_words(advice::words)));
        }
        Ok(metier_model::open(name, &ModelSettings::new(self.providers()?))?)
    }

    /// Says that an address alone does not name a model.
    fn tell_of_unasked_server(&self) {
        let has_address = |known: &&Known| self.environment.variable(known.base_url).is_some();
        if let Some(Known { name, base_url, .. }) = KNOWN.iter().find(has_address) {
            let text = format!(
                "{base_url} names no model, so the offline planner answers; `--model {name}/NAME` asks that server"
            );
            self.output.note(style::WARN, "note: ", &text);
        }
    }

    fn providers(&self) -> Result<BTreeMap<String, Provider>, Failure> {
        let mut providers = BTreeMap::new();
        for known in &KNOWN {
            providers.insert(known.name.to_owned(), self.known_provider(known));
        }
        let is_known = |name: &str| KNOWN.iter().any(|known| known.name == name);
        for (name, settings) in self.config.providers.iter().filter(|(name, _)| !is_known(name)) {
            let address = settings.base_url.as_deref().ok_or_else(|| {
                Failure::usage(format!("`models.providers.{name}.base_url` is not set")).hint(
                    "set it to where the provider is asked, such as `http://127.0.0.1:8080/v1`",
                )
            })?;
            let mut provider = Provider::compatible(address);
            provider.key = self.key_of(name, "").map(Secret::new);
            set_format(&mut provider, settings);
            providers.insert(name.clone(), provider);
        }
        Ok(providers)
    }

    fn known_provider(&self, known: &Known) -> Provider {
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
    pub(crate) fn is_constrained(&self, model: &str) -> bool {
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
