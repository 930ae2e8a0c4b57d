//! The world outside, read once: variables, home, working directory.
#![expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where the settings of a machine are.
const MACHINE_SETTINGS: &str = "/etc/metier/config.toml";

/// Where this program is.
///
/// # Errors
///
/// When the system does not say.
pub(crate) fn program() -> std::io::Result<PathBuf> {
    env::current_exe()
}

/// The words of the command line, the name of the program first.
pub(crate) fn words() -> Vec<OsString> {
    env::args_os().collect()
}

/// A variable that decides where metier keeps its things or what it does, and that is not text.
pub(crate) fn unreadable() -> Option<String> {
    let is_ours = |name: &str| name == "HOME" || name.starts_with("METIER_");
    let mut names = env::vars_os().filter(|(_, value)| value.to_str().is_none());
    names.find_map(|(name, _)| name.into_string().ok().filter(|name| is_ours(name)))
}

/// What the process was started with.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    /// The home directory, if there is one.
    pub home: Option<PathBuf>,
    /// The working directory.
    pub folder: PathBuf,
    /// Every variable that is text.
    pub variables: BTreeMap<String, String>,
    /// The settings of whoever keeps this machine, which narrow those of everybody who uses it.
    pub machine_settings: PathBuf,
}

impl Environment {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// When there is no working directory.
    pub(crate) fn read() -> std::io::Result<Self> {
        let variables: BTreeMap<String, String> = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let home = variables.get("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let machine_settings = PathBuf::from(MACHINE_SETTINGS);
        Ok(Self { home, folder: env::current_dir()?, variables, machine_settings })
    }

    /// A variable that is set to something.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// Whether there is a place for the state directory.
    ///
    /// The working directory is none: whatever a project brings along would count as the person's
    /// own settings and trust.
    pub(crate) fn has_state(&self) -> bool {
        self.variable("METIER_HOME").is_some() || self.home.is_some()
    }

    /// The state directory: `METIER_HOME`, else `~/.metier`.
    pub(crate) fn state(&self) -> PathBuf {
        match (self.variable("METIER_HOME"), &self.home) {
            (Some(state), _) => self.folder.join(state),
            (None, Some(home)) => home.join(".metier"),
            (None, None) => PathBuf::from("/nonexistent/.metier"),
        }
    }

    /// The person's own settings.
    pub(crate) fn settings_file(&self) -> PathBuf {
        self.state().join("config.toml")
    }

    /// The folders of `PATH`.
    pub(crate) fn path(&self) -> Vec<PathBuf> {
        self.variables.get("PATH").map(|path| env::split_paths(path).collect()).unwrap_or_default()
    }

    /// A path as a person writes it: `~` is the home directory, the rest starts at `base`.
    pub(crate) fn expand(&self, text: &str, base: &Path) -> PathBuf {
        match (text.strip_prefix('~'), &self.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with('/') => home.join(&rest[1..]),
            _ => base.join(text),
        }
    }
}
