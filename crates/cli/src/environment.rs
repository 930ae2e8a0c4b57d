//! Reads the process environment, once: variables, home and working directory.
#![expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use metier_app::Environment;

/// The configuration of a machine.
const MACHINE_SETTINGS: &str = "/etc/metier/config.toml";
/// The state directory of commands that need none, where no place for one is known.
const NO_STATE: &str = "/nonexistent/.metier";

/// Returns the path of this program.
///
/// # Errors
///
/// When the system does not say.
pub(crate) fn program() -> std::io::Result<PathBuf> {
    env::current_exe()
}

/// Returns the words of the command line, the name of the program first.
pub(crate) fn words() -> Vec<OsString> {
    env::args_os().collect()
}

/// Returns a variable that decides where metier keeps its things or what it does, and that is not text.
pub(crate) fn unreadable() -> Option<String> {
    let is_ours = |name: &str| name == "HOME" || name.starts_with("METIER_");
    let mut names = env::vars_os().filter(|(_, value)| value.to_str().is_none());
    names.find_map(|(name, _)| name.into_string().ok().filter(|name| is_ours(name)))
}

/// Reads the environment of this process.
///
/// # Errors
///
/// When there is no working directory.
pub(crate) fn read() -> std::io::Result<Environment> {
    let variables: BTreeMap<String, String> = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let home = variables.get("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let machine_settings = PathBuf::from(MACHINE_SETTINGS);
    let folder = env::current_dir()?;
    let environment =
        Environment { state: PathBuf::from(NO_STATE), home, folder, variables, machine_settings };
    Ok(match state_directory(&environment) {
        Some(state) => Environment { state, ..environment },
        None => environment,
    })
}

/// Returns whether there is a place for the state directory.
pub(crate) fn has_state(environment: &Environment) -> bool {
    environment.state() != Path::new(NO_STATE)
}

/// Returns the state directory: `METIER_HOME`, else `~/.metier`.
///
/// The working directory is none: whatever a project brings along would count as the person's own settings and trust.
fn state_directory(environment: &Environment) -> Option<PathBuf> {
    match (environment.variable("METIER_HOME"), &environment.home) {
        (Some(state), _) => Some(environment.folder.join(state)),
        (None, Some(home)) => Some(home.join(".metier")),
        (None, None) => None,
    }
}
