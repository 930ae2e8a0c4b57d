//! What tests use from the npm registry: the protocol's conformance suite and Inspector, another
//! agent, a driver of browsers with the rules of accessibility, and the Node that runs them.
//!
//! `xtask/node` says what, in exactly which versions with which digests; it is installed below
//! `target/`, without running scripts of packages. Tests find it by a variable, and skip what needs
//! it where it is not. An installation of another lock file counts as none.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::project::Project;

/// The variable that tells tests the folder that has the packages.
pub(crate) const VARIABLE: &str = "METIER_TEST_NODE";
/// Where the list and its lock file are, from the root.
const LIST: &str = "xtask/node";
const LOCK: &str = "package-lock.json";
/// What npm writes as the last thing.
const DONE: &str = "node_modules/.package-lock.json";

/// Tells tests where the packages are, if they are there. What a person has set is left alone.
pub(crate) fn find(project: &mut Project) {
    if project.variable(VARIABLE).is_none() && is_installed(project) {
        let packages = folder(project).join("node_modules");
        project.set(VARIABLE, packages);
    }
}

/// Whether what is installed is what the lock file says.
pub(crate) fn is_installed(project: &Project) -> bool {
    let locked = fs::read(project.file(LIST).join(LOCK));
    let installed = fs::read(folder(project).join(LOCK));
    folder(project).join(DONE).is_file()
        && matches!((locked, installed), (Ok(locked), Ok(installed)) if locked == installed)
}

/// The command that installs the packages, into a folder that has the list and nothing else.
pub(crate) fn installation(project: &Project) -> Result<std::process::Command> {
    let folder = folder(project);
    let of_list = || format!("cannot copy `{LIST}` to `{}`", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(of_list)?;
    }
    fs::create_dir_all(&folder).with_context(of_list)?;
    for file in ["package.json", LOCK] {
        fs::copy(project.file(LIST).join(file), folder.join(file)).with_context(of_list)?;
    }
    let mut command = project.command("npm");
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    command.current_dir(folder);
    Ok(command)
}

fn folder(project: &Project) -> PathBuf {
    project.tools().join("node")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn project(root: &tempfile::TempDir) -> Project {
        let project = Project::at(root.path().into(), OsString::new());
        fs::create_dir_all(project.file(LIST)).unwrap();
        for (file, text) in [("package.json", "{}"), (LOCK, "first")] {
            fs::write(project.file(LIST).join(file), text).unwrap();
        }
        project
    }

    /// What npm does, as far as this tool looks at it.
    fn install(project: &Project) {
        installation(project).unwrap();
        fs::create_dir_all(folder(project).join("node_modules")).unwrap();
        fs::write(folder(project).join(DONE), "").unwrap();
    }

    #[test]
    fn tests_are_told_of_a_finished_installation_only() {
        let root = tempfile::tempdir().unwrap();
        let mut project = project(&root);
        installation(&project).unwrap();
        find(&mut project);
        assert_eq!(project.variable(VARIABLE), None);
        install(&project);
        find(&mut project);
        assert_eq!(
            project.variable(VARIABLE),
            Some(root.path().join("target/tools/node/node_modules").into())
        );
    }

    #[test]
    fn an_installation_of_another_lock_file_is_replaced() {
        let root = tempfile::tempdir().unwrap();
        let project = project(&root);
        install(&project);
        assert!(is_installed(&project));
        fs::write(project.file(LIST).join(LOCK), "second").unwrap();
        assert!(!is_installed(&project));
        install(&project);
        assert!(is_installed(&project));
    }

    #[test]
    fn the_lock_file_has_digests_and_names_no_place() {
        let lock = include_str!("../node/package-lock.json");
        let lock: serde_json::Value = serde_json::from_str(lock).unwrap();
        let packages = lock["packages"].as_object().unwrap();
        for (name, package) in packages {
            let place = package["resolved"].as_str().unwrap_or_default();
            assert!(!place.contains(':'), "{name} comes from {place}");
            // What is left out has no version: the packages that only pages of the Inspector need.
            assert!(package["version"].is_null() || package["integrity"].is_string(), "{name}");
        }
    }
}
