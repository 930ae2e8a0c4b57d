//! Settings: one table of keys, layers that override or narrow, and where each value came from.

pub(crate) mod edit;
mod file;
mod keys;
mod layers;
mod resolved;

pub(crate) use file::{SettingsError, server_label};
pub(crate) use keys::{Choice, KEYS, Key, Kind, Narrowing, variable_name};
pub(crate) use layers::load;
pub(crate) use resolved::{Origin, Settings, Value};
