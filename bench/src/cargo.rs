//! Building the binary, and asking cargo where it is.
#![expect(clippy::disallowed_methods, reason = "cargo says in variables which cargo it is")]

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::process::program;

/// The root of the workspace.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Builds `metier` with these arguments besides.
pub(crate) fn build(arguments: &[OsString]) -> Result<PathBuf> {
    let manifest = PathBuf::from(ROOT).join("Cargo.toml");
    let fixed = ["--package", "metier", "--bin", "metier", "--manifest-path"].map(OsString::from);
    build_any(&[&fixed[..], &[manifest.into()], arguments].concat())
}

/// Builds whatever the arguments say, and says where the binary is.
pub(crate) fn build_any(arguments: &[OsString]) -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = program(cargo);
    command
        .args(["build", "--message-format=json-render-diagnostics"])
        .args(arguments)
        .stdout(Stdio::piped());
    // What cargo says about *this* package would make build scripts that watch it run again.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    let mut child = command.spawn().context("cannot start cargo")?;
    let messages = child.stdout.take().context("cargo has a standard output")?;
    let mut binary = None;
    for line in BufReader::new(messages).lines() {
        let message: Message = serde_json::from_str(&line?)?;
        binary = message.executable.or(binary);
    }
    if !child.wait()?.success() {
        bail!("the binary cannot be built");
    }
    binary.context("cargo did not say where the binary is")
}

/// What is looked at of cargo's messages.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    executable: Option<PathBuf>,
}
