//! The facts about a machine and a person that a front end reads once and passes in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The state directory, the working directory and the variables of a process.
///
/// Nothing below a front end reads them from the system.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The state directory, which has the person's configuration, trust and sessions.
    pub state: PathBuf,
    /// The home directory, if there is one.
    pub home: Option<PathBuf>,
    /// The working directory.
    pub folder: PathBuf,
    /// Every variable that is text.
    pub variables: BTreeMap<String, String>,
    /// The machine's configuration, which narrows that of everyone who uses it.
    pub machine_settings: PathBuf,
}

impl Environment {
    /// Returns the environment of a program that keeps its state in `state` and works in `folder`: without a home
    /// directory, variables, or a configuration of the machine.
    pub fn new(state: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Self {
        let state = state.into();
        let machine_settings = state.join("no-machine-configuration.toml");
        let (home, variables) = (None, BTreeMap::new());
        Self { state, home, folder: folder.into(), variables, machine_settings }
    }

    /// Returns the value of a variable that is set and not blank.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// Returns the state directory.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Returns the person's configuration file.
    pub fn settings_file(&self) -> PathBuf {
        self.state.join("config.toml")
    }

    /// Returns the folders of `PATH`.
    pub fn path(&self) -> Vec<PathBuf> {
        let path = self.variables.get("PATH");
        path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default()
    }

    /// Resolves a path as a person writes it: `~` is the home directory, the rest starts at `base`.
    pub fn expand(&self, text: &str, base: &Path) -> PathBuf {
        match (text.strip_prefix('~'), &self.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with('/') => home.join(&rest[1..]),
            _ => base.join(text),
        }
    }
}
