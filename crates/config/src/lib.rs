//! The configuration of metier, resolved once into typed fields that remember where each value came from.
//!
//! One table ([`sections`]) declares every key with its type, its default, what a project may do with it and its
//! documentation. Parsing, variables, the reference page, the sample file and the JSON Schema are made from that table.
//!
//! The crate takes paths and variables and returns a [`Config`]. It does not read the environment, print, or know what
//! the values are used for.
//!
//! ```
//! use metier_config::{Config, ConfigSources};
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("config.toml");
//! std::fs::write(&file, "[exec]\ntimeout = 60\n")?;
//! let config = Config::load(&ConfigSources::of_file(&file))?;
//! assert_eq!(*config.exec.timeout, 60);
//! assert_eq!(config.exec.timeout.origins()[0].to_string(), format!("{}:2", file.display()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod convert;
mod edit;
mod error;
mod file;
mod key;
mod layers;
mod page;
mod replacement;
mod sample;
mod schema;
pub mod sections;
mod setting;
#[cfg(test)]
mod tests;
mod value;
mod warning;
mod words;

pub use edit::{ConfigEdit, ConfigEditError, check_file_text, toml_key};
pub use error::{ConfigError, McpServerNameError, check_agent_id, check_mcp_server_name};
pub use key::{ProjectNarrowing, SettingKey, SettingKind, WordChoice};
pub use layers::ConfigSources;
pub use page::reference_page;
pub use replacement::{FileReaders, replace_file, resolve_links};
pub use sample::sample_file;
pub use schema::json_schema;
pub use sections::{Config, ConfigSection, McpServerConfig, ProviderConfig, SkillRunConfig};
pub use setting::{NameGlobs, SecretMap, SecretText, Setting, SettingType, WordOrList};
pub use value::{SettingOrigin, SettingValue};
pub use warning::{ConfigWarning, ConfigWarningKind, NarrowingLayer};
pub use words::{
    AgentToolSet, ApprovalAsk, ApprovalMode, ConfigWord, EntrySource, ExecutorKind, NodeManager,
    PromptKind, ProviderFormat, ProviderToolChoice, RequiredLevel, SkillLoadMode, SkillPlacement,
};
