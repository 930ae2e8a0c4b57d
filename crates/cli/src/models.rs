//! Which model is asked, and how its provider is reached.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use metier_agent::Library;
use metier_agent::offline::Offline;
use metier_model::{Dialect, Format, KeyHeader, Model, ModelSettings, Provider, Secret};
use serde::de::DeserializeOwned;

use crate::context::Context;
use crate::failure::Failure;
use crate::library::Skills;
use crate::output::style;

/// The planner that needs no model.
pub(crate) const OFFLINE: &str = "offline";
/// What settings of providers begin with.
const PROVIDERS: &str = "models.providers.";

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
        let name = named.or_else(|| self.settings.text("agent.model")).or_else(by_key);
        let name = name.unwrap_or_else(|| {
            self.tell_of_unasked_server();
            OFFLINE
        });
        if name == OFFLINE {
            let advice = "choose a model with `--model PROVIDER/NAME`";
            return Ok(Arc::new(Offline::new(skills.snapshot()).with_advice(advice)));
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
            providers.insert(known.name.to_owned(), self.known_provider(known)?);
        }
        let names = self.settings.values.keys();
        let names = names.filter_map(|name| name.strip_prefix(PROVIDERS)?.split('.').next());
        let own: BTreeSet<&str> =
            names.filter(|name| KNOWN.iter().all(|known| known.name != *name)).collect();
        for name in own {
            let address = self.provider_text(name, "base_url").ok_or_else(|| {
                Failure::usage(format!("`{PROVIDERS}{name}.base_url` is not set")).hint(
                    "set it to where the provider is asked, such as `http://127.0.0.1:8080/v1`",
                )
            })?;
            let mut provider = Provider::compatible(address);
            provider.key = self.key_of(name, "").map(Secret::new);
            self.speak(&mut provider, name)?;
            providers.insert(name.to_owned(), provider);
        }
        Ok(providers)
    }

    fn known_provider(&self, known: &Known) -> Result<Provider, Failure> {
        let key = self.key_of(known.name, known.key).map(Secret::new);
        let mut provider = match known.name {
            "anthropic" => Provider::anthropic(key),
            _ => Provider::openai(Format::ChatCompletions, key),
        };
        let address = self.provider_text(known.name, "base_url");
        if let Some(address) = address.or_else(|| self.environment.variable(known.base_url)) {
            // Somebody else, who may want no key.
            address.clone_into(&mut provider.base_url);
            provider.dialect = Dialect::Compatible;
            provider.key_variable = None;
        }
        self.speak(&mut provider, known.name)?;
        Ok(provider)
    }

    /// Sets the format that was chosen for a provider.
    fn speak(&self, provider: &mut Provider, name: &str) -> Result<(), Failure> {
        let Some(word) = self.provider_text(name, "format") else { return Ok(()) };
        provider.format = read_word(word).ok_or_else(|| {
            Failure::usage(format!("`{PROVIDERS}{name}.format` cannot be `{word}`"))
                .hint("set it to `chat_completions`, `responses` or `messages`")
        })?;
        provider.key_header = match provider.format {
            Format::Messages => KeyHeader::Named("x-api-key".to_owned()),
            _ => KeyHeader::Bearer,
        };
        Ok(())
    }

    /// Whether the provider of a model is asked to enforce the choice of a skill.
    ///
    /// # Errors
    ///
    /// When the setting is not one of its words.
    pub(crate) fn is_constrained(&self, model: &str) -> Result<bool, Failure> {
        let name = model.split('/').next().unwrap_or_default();
        match self.provider_text(name, "tool_choice") {
            None | Some("auto") => Ok(false),
            Some("constrained") => Ok(true),
            Some(word) => {
                Err(Failure::usage(format!("`{PROVIDERS}{name}.tool_choice` cannot be `{word}`"))
                    .hint("set it to `auto` or `constrained`"))
            }
        }
    }

    fn provider_text(&self, name: &str, field: &str) -> Option<&str> {
        self.settings.text(&format!("{PROVIDERS}{name}.{field}"))
    }

    fn key_of(&self, name: &str, variable: &str) -> Option<&str> {
        let set = self.settings.secret(&format!("{PROVIDERS}{name}.key"));
        set.or_else(|| self.environment.variable(variable))
    }
}

/// A word that stands for a choice.
pub(crate) fn read_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}
