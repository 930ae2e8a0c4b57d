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
