//! The redactor of this process: what is printed and traced passes it at last, also where an error quotes something
//! that was masked nowhere else.

use std::borrow::Cow;
use std::sync::OnceLock;

use metier_app::library::choices;
use metier_app::{Environment, masking};
use metier_secrets::{RedactionStream, Redactor};
use serde::Serialize;
use serde_json::Value as Json;

/// The redactor of this process. Before the settings are read there is none.
static REDACTOR: OnceLock<Redactor> = OnceLock::new();

/// Masks these keys in everything that this process prints from now on.
pub(crate) fn begin(redactor: &Redactor) {
    let _first = REDACTOR.get_or_init(|| redactor.clone());
}

/// Masks the keys also in what is printed about a command line that cannot be read. Where the settings cannot be read
/// either, those of the environment and of files are masked.
pub(crate) fn begin_for_usage_error(environment: &Environment) {
    // Projects only narrow what is allowed, and have no keys.
    let config = choices::load(environment, &[]).unwrap_or_default();
    // With more keys than can be masked, the command line is still what is wrong.
    if let Ok(redactor) = masking::redactor(&config, environment, &[]) {
        begin(&redactor);
    }
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
