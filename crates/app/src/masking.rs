//! The values that are masked: everything that the configuration and the environment hold as a key.

use std::fs;

use metier_config::{Config, SecretText, SettingValue};
use metier_secrets::{Redactor, RedactorError};

use crate::environment::Environment;
use crate::servers::named_variable;

/// Variables that hold a key by their nature.
const VARIABLES: [&str; 3] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "METIER_MCP_TOKEN"];
/// Variables with headers of requests: `name=value,name=value`.
const HEADER_VARIABLES: [&str; 2] =
    ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"];
/// The file with the token of `metier mcp token`, in the state directory.
pub const TOKEN_FILE: &str = "mcp-token";
/// Largest such file that is looked at, in bytes.
const MAX_TOKEN_FILE: u64 = 4 << 10;

/// Returns the redactor of all keys of a configuration and an environment, and of more.
///
/// # Errors
///
/// When there are more than can be masked.
pub fn redactor(
    config: &Config,
    environment: &Environment,
    more: &[SecretText],
) -> Result<Redactor, RedactorError> {
    let values = values(config, environment).into_iter().map(|(_, value)| value);
    Redactor::new(values.chain(more.iter().map(|secret| secret.expose().to_owned())))
}

/// Returns the names of settings and variables whose values are too short to be masked.
pub fn unmasked(config: &Config, environment: &Environment) -> Vec<String> {
    let mut values = values(config, environment);
    values.retain(|(_, value)| Redactor::is_too_short(value));
    values.into_iter().map(|(name, _)| name).collect()
}

/// Returns every key with the setting, variable or file that has it.
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
