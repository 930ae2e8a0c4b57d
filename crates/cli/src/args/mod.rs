//! The command line.

mod agent;
mod approvals;
mod bench;
mod commands;
mod mcp;
mod setup;

pub(crate) use agent::{AgentArgs, ChatArgs, RunArgs, SessionsArgs, SessionsCommand, UsageArgs};
pub(crate) use approvals::{AddArgs, ApprovalsArgs, ApprovalsCommand, CheckArgs};
pub(crate) use bench::{BenchArgs, BenchCommand, DemoArgs, DemoCommand};
pub(crate) use commands::{
    ArtifactsArgs, ArtifactsCommand, CatalogFormat, Cli, Color, Command, ConfigCommand, ExecArgs,
    ExecutorName, LintFormat, ReadArgs, ReferencePage, SkillsArgs, SkillsCommand, SourceArgs,
    TrustArgs,
};
pub(crate) use mcp::{
    ClientName, HttpArgs, InstallClientArgs, McpArgs, McpCommand, Scope, ServeArgs,
};
pub(crate) use setup::{InstallArgs, SetupArgs, agent_id};
