//! The command line of what gets a machine ready: `metier setup` and `metier skills install-deps`.

use std::path::PathBuf;

use clap::Args;

/// `metier setup`.
#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// Use this folder for the skills and files of the agent
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Agree to changing a setting without being asked
    #[arg(long)]
    pub yes: bool,
}

/// `metier skills install-deps`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct InstallArgs {
    /// Name of the skill
    pub name: String,
    /// Use this install option of the skill
    #[arg(long, value_name = "ID")]
    pub option: Option<String>,
    /// Agree without being asked
    #[arg(long)]
    pub yes: bool,
    /// Accept downloads for which the skill names no digest
    #[arg(long)]
    pub unverified: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Longest id of an agent.
const MAX_AGENT_ID: usize = 64;

/// Reads the id of an agent: it is a part of paths and of the names of settings.
///
/// # Errors
///
/// With the rule that it breaks.
pub(crate) fn agent_id(text: &str) -> Result<String, &'static str> {
    let is_plain = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    if text.is_empty() || !text.bytes().all(is_plain) || text.starts_with('-') {
        return Err("use lowercase letters, digits and hyphens, and begin with no hyphen");
    }
    if text.len() > MAX_AGENT_ID {
        return Err("it is longer than 64 characters");
    }
    if text == "defaults" {
        return Err("`defaults` stands for all agents");
    }
    Ok(text.to_owned())
}
