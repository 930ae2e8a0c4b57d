//! The values that are masked: everything that the settings and the environment hold as a key.
//!
//! There is one redactor in a process. Runs, sessions and requests have it from the [`Context`](crate::context::Context); what is printed and
//! traced passes it at last, also where an error quotes something that was masked nowhere else.

use std::borrow::Cow;
use std::fs;
use std::sync::OnceLock;

use metier_config::{Config, SettingValue};
use metier_secrets::{RedactionStream, Redactor};
use serde::Serialize;
use serde_json::Value as Json;

use crate::config;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::mcp::named_variable;

/// The redactor of this process. Before the settings are read there is none.
static REDACTOR: OnceLock<Redactor> = OnceLock::new();

/// Variables that hold a key by their nature.
const VARIABLES: [&str; 3] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "METIER_MCP_TOKEN"];
/// Variables with headers of requests: `name=value,name=value`.
const HEADER_VARIABLES: [&str; 2] =
    ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"];
/// The file with the token of `metier mcp token`, in the state directory.
pub(crate) const TOKEN_FILE: &str = "mcp-token";
/// Largest such file that is looked at, in bytes.
const MAX_TOKEN_FILE: u64 = 4 << 10;

/// Masks the keys of these settings in everything that this process prints from now on.
///
/// # Errors
///
/// When there are more than can be masked.
pub(crate) fn begin(config: &Config, environment: &Environment) -> Result<Redactor, Failure> {
    let values = values(config, environment).into_iter().map(|(_, value)| value);
    let redactor = Redactor::new(values)?;
    Ok(REDACTOR.get_or_init(|| redactor).clone())
}

/// Masks the keys also in what is printed about a command line that cannot be read. Where the settings cannot be read
/// either, those of the environment and of files are masked.
pub(crate) fn begin_for_usage_error(environment: &Environment) {
    // Projects only narrow what is allowed, and have no keys.
    let config = config::load(environment, &[]).unwrap_or_default();
    // With more keys than can be masked, the command line is still what is wrong.
    let _too_many = begin(&config, environment);
}

/// Where the redactor of this process will be.
pub(crate) fn of_process() -> &'static OnceLock<Redactor> {
    &REDACTOR
}

/// A text without the values of keys.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    REDACTOR.get().map_or(Cow::Borrowed(text), |redactor| redactor.redact(text))
}

/// A stream in which the values of keys are masked, if there are any.
pub(crate) fn stream() -> Option<RedactionStream> {
    REDACTOR.get().filter(|redactor| !redactor.is_empty()).map(Redactor::stream)
}

/// What is printed as JSON, without the values of keys; nothing if there are none.
pub(crate) fn masked_json(value: &impl Serialize) -> Option<Json> {
    let redactor = REDACTOR.get().filter(|redactor| !redactor.is_empty())?;
    Some(redactor.redact_json(serde_json::to_value(value).ok()?))
}

/// The same for what has no names of fields but metier's own: they stay as they are.
pub(crate) fn masked_fields(value: &impl Serialize) -> Option<Json> {
    let redactor = REDACTOR.get().filter(|redactor| !redactor.is_empty())?;
    Some(redactor.redact_values(serde_json::to_value(value).ok()?))
}

/// The names of settings and variables whose values are too short to be masked.
pub(crate) fn unmasked(config: &Config, environment: &Environment) -> Vec<String> {
    let mut values = values(config, environment);
    values.retain(|(_, value)| Redactor::is_too_short(value));
    values.into_iter().map(|(name, _)| name).collect()
}

/// Every key with where it is from.
fn values(config: &Config, environment: &Environment) -> Vec<(String, String)> {
    let mut values: Vec<(String, String)> = Vec::new();
    for (name, value, _) in config.values() {
        let value = match value {
            SettingValue::Secret(value) => named_variable(name, value)
                .and_then(|variable| environment.variable(variable))
                .unwrap_or(value),
            SettingValue::Text(variable) if name.ends_with(".token_env") => {
                environment.variable(variable).unwrap_or_default()
            }
            _ => continue,
        };
        values.extend(parts(value).map(|part| (name.to_owned(), part.to_owned())));
    }
    for name in VARIABLES {
        let value = environment.variable(name).unwrap_or_default();
        values.extend(value.lines().map(|line| (name.to_owned(), line.trim().to_owned())));
    }
    for name in HEADER_VARIABLES {
        let headers = environment.variable(name).unwrap_or_default().split(',');
        let headers = headers.filter_map(|header| header.split_once('='));
        values.extend(
            headers.flat_map(|(_, value)| parts(value)).map(|part| (name.into(), part.into())),
        );
    }
    let file = environment.state().join(TOKEN_FILE);
    if fs::metadata(&file).is_ok_and(|it| it.len() <= MAX_TOKEN_FILE) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        values.extend(text.lines().map(|line| (TOKEN_FILE.to_owned(), line.trim().to_owned())));
    }
    values.retain(|(_, value)| !value.is_empty());
    values
}

/// A value, what follows the scheme of an `Authorization` header, and the password in an address.
fn parts(value: &str) -> impl Iterator<Item = &str> {
    let after_scheme = value.split_once(' ').filter(|(scheme, token)| {
        let schemes = ["bearer", "basic", "token"];
        schemes.iter().any(|it| scheme.eq_ignore_ascii_case(it)) && !token.trim().is_empty()
    });
    let user = value.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
    let password = user.and_then(|(user, _)| user.split_once(':')).map(|(_, password)| password);
    [Some(value), after_scheme.map(|(_, token)| token.trim()), password].into_iter().flatten()
}

#[cfg(test)]
mod tests {

    #[test]
    fn the_token_of_a_header_and_the_password_of_an_address_are_keys_of_their_own() {
        let parts = |value| super::parts(value).collect::<Vec<_>>().join(" | ");
        insta::assert_snapshot!(parts("Bearer abc"), @"Bearer abc | abc");
        insta::assert_snapshot!(parts("correct horse"), @"correct horse");
        insta::assert_snapshot!(parts("postgres://me:pass@db/x"), @"postgres://me:pass@db/x | pass");
        insta::assert_snapshot!(parts("https://db/x"), @"https://db/x");
    }
}
