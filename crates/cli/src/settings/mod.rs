//! Settings: one table of keys, layers that override or narrow, and where each value came from. The page of
//! the reference, the sample and the schema are made from the same table.

mod convert;
pub(crate) mod edit;
mod file;
mod keys;
mod layers;
mod page;
mod resolved;
mod sample;
mod schema;
mod sections;
#[cfg(test)]
mod tests;

pub(crate) use file::{SettingsError, server_label};
pub(crate) use keys::{Choice, KEYS, Key, Kind, Narrowing, variable_name};
pub(crate) use layers::load;
pub(crate) use page::page;
pub(crate) use resolved::{Origin, Settings, Value};
pub(crate) use sample::sample;
pub(crate) use schema::schema;
