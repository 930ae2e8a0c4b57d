//! Which models there are, and how a name becomes a model.
//!
//! Nothing is read from the environment: keys, addresses and bounds are given by the caller.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use metier_net::{Client, ClientOptions};
use serde_json::{Map, Value};

use crate::endpoint::endpoint;
use crate::exchange::{Bounds, HttpModel};
use crate::{Dialect, Format, Model, ModelError, Retries, Scripted, Secret};

/// Everything needed to open a model by its name.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// The providers by name.
    pub providers: BTreeMap<String, Provider>,
    /// How often a request is sent again.
    pub retries: Retries,
    /// How long a connection may take to come about.
    pub connect_timeout: Duration,
    /// How long a server may be silent, before its answer and between its pieces. Models that
    /// think without telling are silent for minutes.
    pub idle_timeout: Duration,
    /// The proxy for all requests.
    pub proxy: Option<String>,
}

impl ModelSettings {
    /// The usual bounds, and these providers.
    pub fn new(providers: impl IntoIterator<Item = (String, Provider)>) -> Self {
        Self {
            providers: providers.into_iter().collect(),
            retries: Retries::STANDARD,
            connect_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(300),
            proxy: None,
        }
    }
}

/// Who answers, and how they are spoken to.
///
/// `Debug` shows neither the key nor what else may be a secret.
#[derive(Clone, PartialEq)]
pub struct Provider {
    /// The format of requests and replies.
    pub format: Format,
    /// Who speaks it there.
    pub dialect: Dialect,
    /// Where requests go; the path of the format is added.
    pub base_url: String,
    /// The key, if there is one.
    pub key: Option<Secret>,
    /// Where the key should have come from. If this is set, requests need a key.
    pub key_variable: Option<String>,
    /// How the key is sent.
    pub key_header: KeyHeader,
    /// Further headers, whose values are taken for secrets.
    pub headers: Vec<(String, Secret)>,
    /// Further members of every request, such as `temperature` or `reasoning_effort`.
    pub parameters: Map<String, Value>,
    /// Whether thoughts that came as plain text go back with the conversation. Some servers want
    /// that, others refuse it.
    pub return_reasoning: bool,
}

impl fmt::Debug for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Some servers take their key in the query.
        let address = self.base_url.split('?').next().unwrap_or_default();
        let address = address.rsplit_once('@').map_or(address, |(_, server)| server);
        formatter
            .debug_struct("Provider")
            .field("format", &self.format)
            .field("dialect", &self.dialect)
            .field("base_url", &address)
            .field("key", &self.key)
            .field("key_variable", &self.key_variable)
            .field("headers", &self.headers)
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}

/// How a key is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyHeader {
    /// As `Authorization: Bearer …`.
    Bearer,
    /// In a header of this name, such as Azure's `api-key`.
    Named(String),
}

impl Provider {
    /// OpenAI, through its chat completions or its Responses.
    pub fn openai(format: Format, key: Option<Secret>) -> Self {
        Self {
            format,
            dialect: Dialect::Original,
            key,
            key_variable: Some("OPENAI_API_KEY".to_owned()),
            ..Self::compatible("https://api.openai.com/v1")
        }
    }

    /// Anthropic.
    pub fn anthropic(key: Option<Secret>) -> Self {
        Self {
            format: Format::Messages,
            dialect: Dialect::Original,
            key,
            key_variable: Some("ANTHROPIC_API_KEY".to_owned()),
            key_header: KeyHeader::Named("x-api-key".to_owned()),
            ..Self::compatible("https://api.anthropic.com")
        }
    }

    /// A server that imitates OpenAI's chat completions, without a key.
    pub fn compatible(base_url: impl Into<String>) -> Self {
        Self {
            format: Format::ChatCompletions,
            dialect: Dialect::Compatible,
            base_url: base_url.into(),
            key: None,
            key_variable: None,
            key_header: KeyHeader::Bearer,
            headers: Vec::new(),
            parameters: Map::new(),
            return_reasoning: false,
        }
    }

    /// All headers of a request.
    fn request_headers(&self, key: Option<&Secret>) -> Vec<(String, Secret)> {
        let mut headers = vec![
            ("content-type".to_owned(), Secret::new("application/json")),
            ("accept".to_owned(), Secret::new("text/event-stream, application/json")),
        ];
        if self.format == Format::Messages {
            headers.push(("anthropic-version".to_owned(), Secret::new("2023-06-01")));
        }
        headers.extend(key.map(|key| match &self.key_header {
            KeyHeader::Bearer => {
                ("authorization".to_owned(), Secret::new(format!("Bearer {}", key.reveal())))
            }
            KeyHeader::Named(name) => (name.clone(), key.clone()),
        }));
        headers.extend(self.headers.iter().cloned());
        headers
    }
}

/// Opens a model by its name: `openai/gpt-5`, `anthropic/…`, the name of a provider of the
/// settings and what that provider calls the model, or `scripted/FILE` for replies from a file.
///
/// # Errors
///
/// Fails if there is no such provider, if its settings cannot be used or its key is missing. No
/// request is made.
pub fn open(name: &str, settings: &ModelSettings) -> Result<Arc<dyn Model>, ModelError> {
    let (provider_name, model) = name
        .split_once('/')
        .filter(|(provider, model)| !provider.is_empty() && !model.is_empty())
        .ok_or_else(|| ModelError::Name { name: name.to_owned() })?;
    let Some(provider) = settings.providers.get(provider_name) else {
        if provider_name == "scripted" {
            return Ok(Arc::new(Scripted::from_file(Path::new(model))?));
        }
        let known = settings.providers.keys().map(String::as_str).chain(["scripted"]);
        return Err(ModelError::UnknownProvider {
            provider: provider_name.to_owned(),
            known: known.map(str::to_owned).collect(),
        });
    };
    let key = usable_key(provider_name, provider)?;
    if let Some(name) = provider.parameters.keys().find(|name| provider.format.owns(name)) {
        let provider = provider_name.to_owned();
        return Err(ModelError::Parameter { provider, name: name.clone() });
    }
    let options = ClientOptions {
        connect_timeout: settings.connect_timeout,
        proxy: settings.proxy.as_deref(),
        ..ClientOptions::STANDARD
    };
    Ok(Arc::new(HttpModel {
        name: name.to_owned(),
        model: model.to_owned(),
        endpoint: endpoint(provider_name, &provider.base_url, provider.format)?,
        headers: provider.request_headers(key.as_ref()),
        secrets: key
            .into_iter()
            .chain(provider.headers.iter().map(|(_, value)| value.clone()))
            .collect(),
        provider: provider.clone(),
        client: Client::new(&options).map_err(ModelError::Setup)?,
        bounds: Bounds { retries: settings.retries, idle_timeout: settings.idle_timeout },
    }))
}

fn usable_key(name: &str, provider: &Provider) -> Result<Option<Secret>, ModelError> {
    let key = provider.key.clone().filter(|key| !key.is_empty());
    if key.is_none() && provider.key_variable.is_some() {
        let variable = provider.key_variable.clone();
        return Err(ModelError::NoKey { provider: name.to_owned(), variable });
    }
    Ok(key)
}
