//! The command line.

mod agent;
mod approvals;
mod bench;
mod commands;
mod examples;
mod mcp;
mod mistake;
mod notes;
mod page;
mod setup;
mod shell;
mod tree;

pub(crate) use agent::{
    AgentArgs, ChatArgs, RunArgs, SessionsArgs, SessionsCommand, UsageArgs, offline_wording,
};
pub(crate) use approvals::{AddArgs, ApprovalsArgs, ApprovalsCommand, CheckArgs};
pub(crate) use bench::{BenchArgs, BenchCommand, DemoArgs, DemoCommand};
pub(crate) use commands::{
    ArtifactsArgs, ArtifactsCommand, CatalogFormat, Cli, Color, Command, ConfigCommand, ExecArgs,
    GLOBAL, LintFormat, ReadArgs, ReferencePage, SkillsArgs, SkillsCommand, SourceArgs, TrustArgs,
    word,
};
pub(crate) use mcp::{HttpArgs, InstallClientArgs, McpArgs, McpCommand, ServeArgs};
pub(crate) use mistake::mistake;
pub(crate) use notes::{Note, groups, note, overview, remark};
pub(crate) use page::told_above;
pub(crate) use setup::{InstallArgs, SetupArgs};
pub(crate) use shell::{CompleteArgs, ShellName};
pub(crate) use tree::{Look, color_of, parse, tree};
