//! Where the repository is and how programs are started in it.
//!
//! Every program starts at the repository's root, with the tools that
//! [`crate::provision`] installed first on its `PATH`, and with the variables
//! that the steps agreed on. The environment is read here and nowhere else.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// Property tests draw the same cases in every run, so that a failure is never somebody else's
/// luck. To look further, set the variable, and `PROPTEST_CASES`.
const SEED_VARIABLE: &str = "PROPTEST_RNG_SEED";
const SEED: &str = "20261115";

/// A checkout of the repository, with what is needed to start programs in it.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    root: PathBuf,
    cargo: OsString,
    path: OsString,
    variables: Vec<(&'static str, OsString)>,
    inherited: Vec<(OsString, OsString)>,
    /// Whether an automated service, not a person, waits for the result.
    pub(crate) unattended: bool,
}

impl Project {
    /// The checkout this tool was built from.
    pub(crate) fn from_environment() -> Self {
        let manifest =
            env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest).parent().map_or_else(|| ".".into(), Path::to_path_buf);
        let mut project = Self::at(root, env::var_os("PATH").unwrap_or_default());
        project.inherited = env::vars_os().collect();
        if let Some(cargo) = env::var_os("CARGO") {
            project.cargo = cargo;
        }
        project.unattended =
            env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
        if env::var_os(SEED_VARIABLE).is_none() {
            project.set(SEED_VARIABLE, SEED);
        }
        project
    }

    /// A checkout at `root` that finds programs in its own tools and then in `search_path`.
    pub(crate) fn at(root: PathBuf, search_path: OsString) -> Self {
        let mut folders = vec![root.join("target/tools/bin")];
        folders.extend(env::split_paths(&search_path));
        // A folder with a `:` in its name cannot be on a search path: then the tools are left out.
        let path = env::join_paths(folders).unwrap_or(search_path);
        Self {
            root,
            cargo: "cargo".into(),
            path,
            variables: Vec::new(),
            inherited: Vec::new(),
            unattended: false,
        }
    }

    /// A file or folder of the repository.
    pub(crate) fn file(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Where tools are installed; their programs are in `bin` below it.
    pub(crate) fn tools(&self) -> PathBuf {
        self.file("target/tools")
    }

    /// Gives every program that is started from now on a variable.
    pub(crate) fn set(&mut self, variable: &'static str, value: impl Into<OsString>) {
        self.variables.push((variable, value.into()));
    }

    /// The value of a variable that programs started from now on have.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        let set = self.variables.iter().rev().find(|(variable, _)| *variable == name);
        let inherited = || self.inherited.iter().find(|(variable, _)| variable == name);
        set.map(|(_, value)| value.clone()).or_else(|| inherited().map(|(_, value)| value.clone()))
    }

    /// The program called `name`, if there is one on the search path.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        env::split_paths(&self.path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(|candidate| is_program(candidate))
    }

    /// Cargo with `arguments`, which are separated by blanks.
    pub(crate) fn cargo(&self, arguments: &str) -> Command {
        let mut command = self.command(&self.cargo);
        command.args(arguments.split_whitespace());
        command
    }

    /// A program that will start at the root of the repository.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env("PATH", &self.path);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        for (name, _) in env::vars_os().filter(|(name, _)| describes_this_tool(name)) {
            command.env_remove(name);
        }
        command
    }
}

/// What `command` prints on its standard output, once it has succeeded.
pub(crate) fn output(mut command: Command) -> Result<String> {
    let shown = shown(&command);
    let output = command.output().with_context(|| format!("cannot start `{shown}`"))?;
    if !output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        anyhow::bail!("`{shown}` ended with {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` did not print UTF-8"))
}

/// A command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = [name].into_iter().chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// Whether `cargo run` set this variable about *this* package. Inherited, such a variable makes
/// build scripts that watch it run again, and the build after them.
fn describes_this_tool(variable: &OsStr) -> bool {
    let variable = variable.to_string_lossy();
    variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.with_extension(env::consts::EXE_EXTENSION).is_file()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_may_not_be_executed_is_not_a_program() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("notes"), "text").unwrap();
        let project = Project::at("/nowhere".into(), folder.path().into());
        assert_eq!(project.find("notes"), None);
    }

    #[test]
    #[cfg(unix)]
    fn installed_tools_come_before_the_search_path() {
        use std::os::unix::fs::PermissionsExt;

        let root = tempfile::tempdir().unwrap();
        let elsewhere = root.path().join("elsewhere");
        let project = Project::at(root.path().into(), elsewhere.clone().into());
        let bin = project.tools().join("bin");
        for folder in [&elsewhere, &bin] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("tool"), "").unwrap();
            fs::set_permissions(folder.join("tool"), PermissionsExt::from_mode(0o755)).unwrap();
        }
        assert_eq!(project.find("tool"), Some(bin.join("tool")));
    }

    #[test]
    fn a_command_is_shown_without_the_folder_of_its_program() {
        let project = Project::at("/nowhere".into(), OsString::new());
        let mut command = project.command("/opt/bin/cargo-deny");
        command.args(["check", "bans"]);
        assert_eq!(shown(&command), "cargo-deny check bans");
    }

    #[test]
    fn variables_about_this_package_are_not_passed_on() {
        assert!(describes_this_tool("CARGO_PKG_NAME".as_ref()));
        assert!(describes_this_tool("CARGO_MANIFEST_DIR".as_ref()));
        assert!(!describes_this_tool("CARGO_TARGET_DIR".as_ref()));
    }
}
