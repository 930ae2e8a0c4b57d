//! A real browser that looks at pages, for tests of how they are to people.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Node, skip};

/// Chromium, and what drives it.
#[derive(Clone, Debug)]
pub struct Browser {
    node: Node,
    chromium: PathBuf,
}

impl Browser {
    /// Chromium of this machine with the packages that [`Node`] finds; without either the test is skipped.
    pub fn find(test: &str) -> Option<Self> {
        let node = Node::find(test)?;
        let path = env::var_os("PATH").unwrap_or_default();
        let chromium =
            env::split_paths(&path).map(|folder| folder.join("chromium")).find(|it| it.is_file());
        if chromium.is_none() {
            skip(test, "there is no `chromium`");
        }
        chromium.map(|chromium| Self { node, chromium })
    }

    /// The command that looks at pages: it prints a line for each problem, and ends with 1 if there is one.
    ///
    /// Pictures of the pages go to `target/screenshots`, so that a person can look too.
    pub fn check(&self, home: &Path) -> Command {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut command = self.node.run(&root.join("xtask/node/pages/check.mjs"));
        command.arg("--packages").arg(self.node.packages());
        command.arg("--chromium").arg(&self.chromium);
        command.arg("--screenshots").arg(root.join("target/screenshots"));
        command.arg("--captions").env("HOME", home);
        command
    }
}
