//! The commands, and what those about skills and runs take.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use metier_app::SourceSelection;
use metier_app::sources::DEFAULT_AGENT;
use metier_config::{ConfigWord, ExecutorKind, check_agent_id};

use crate::args::{
    ApprovalsArgs, BenchArgs, ChatArgs, CompleteArgs, DemoArgs, InstallArgs, McpArgs, RunArgs,
    SessionsArgs, SetupArgs, ShellName, UsageArgs,
};

/// The heading of what every command takes.
pub(crate) const GLOBAL: &str = "Global options";
/// The heading of what chooses skills.
pub(super) const WHICH_SKILLS: &str = "Which skills";

/// Find Agent Skills, check them, and let a model use them safely
#[derive(Debug, Parser)]
#[command(name = "metier", version)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// Print only the answer and errors
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    pub quiet: bool,

    /// Use colour; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GLOBAL)]
    pub color: Color,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List, search, check, explain and write skills
    Skills(SkillsArgs),
    /// Check one skill as the format's reference tool does
    Validate {
        /// The folder of a skill, or its SKILL.md
        path: PathBuf,
    },
    /// Print the header of a skill as JSON
    ReadProperties {
        /// The folder of a skill, or its SKILL.md
        path: PathBuf,
    },
    /// Print the <available_skills> block of some skills
    ToPrompt {
        /// Folders of skills, or their SKILL.md files
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Allow the skills of a project, as its files are now
    Trust(TrustArgs),
    /// Let a model do a task with the skills that fit it
    Run(RunArgs),
    /// Talk with a model that uses skills
    Chat(ChatArgs),
    /// List, show, export and remove sessions
    Sessions(SessionsArgs),
    /// Show how many tokens were used, by model and by skill
    Usage(UsageArgs),
    /// Decide what a model may run unconfined on this machine
    Approvals(ApprovalsArgs),
    /// Run a command of a skill in the sandbox, without a model
    Exec(ExecArgs),
    /// Serve skills to another agent (Model Context Protocol)
    Mcp(McpArgs),
    /// Print a file of a session, an artifact or a skill
    Read(ReadArgs),
    /// List, get and remove the files that runs have kept
    Artifacts(ArtifactsArgs),
    /// Remove unused workspaces and what killed runs left behind
    Gc {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Try how well this machine can confine programs
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure what your skills cost in requests to a model
    Bench(BenchArgs),
    /// Show how something works, without a model
    Demo(DemoArgs),
    /// Set up a folder for the agent, see what skills still need
    Setup(SetupArgs),
    /// Show the settings and where each comes from
    Config {
        /// What to do.
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Print a script that makes Tab complete commands and skills
    Completions {
        /// Your shell
        shell: ShellName,
    },
    /// Print the manual page, or write those of all commands
    Man {
        /// Write a page for each command into this folder
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Print what may come next on a command line
    #[command(name = "__complete", hide = true)]
    Complete(CompleteArgs),
    /// Print a page of the reference as Markdown
    #[command(name = "__reference", hide = true)]
    Reference {
        /// Which page
        #[arg(long, value_name = "PAGE", default_value = "commands")]
        page: ReferencePage,
    },
}

/// A page of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReferencePage {
    /// The command line.
    Commands,
    /// The settings.
    Config,
    /// The rules of lint.
    Rules,
}

/// `metier skills`.
#[derive(Debug, Args)]
pub(crate) struct SkillsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: SkillsCommand,
    /// Where to look.
    #[command(flatten)]
    pub sources: SourceArgs,
}

/// Where to look for skills, and which to use.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = WHICH_SKILLS)]
pub(crate) struct SourceArgs {
    /// Also use skills in this folder; they win over others
    #[arg(long = "skills-dir", value_name = "DIR", global = true)]
    pub skills_dirs: Vec<PathBuf>,
    /// Use only what --skills-dir and --mcp name
    #[arg(long, global = true)]
    pub no_default_sources: bool,
    /// Also use skills of this MCP server: a command or a URL
    #[arg(long, value_name = "SERVER", global = true)]
    pub mcp: Vec<String>,
    /// Use skills of this project even if it is not trusted
    #[arg(long, global = true)]
    pub trust_project: bool,
    /// Use only skills of this name or glob
    #[arg(long = "skill", value_name = "NAME", global = true)]
    pub only: Vec<String>,
    /// Use no skills
    #[arg(long, global = true)]
    pub no_skills: bool,
    /// Act as this agent, with its own folder and skills
    #[arg(long, value_name = "ID", default_value = "default", global = true, value_parser = agent_id)]
    pub agent: String,
}

impl SourceArgs {
    /// Returns the sources that these arguments name.
    pub(crate) fn selection(&self) -> SourceSelection {
        let agent = if self.agent.is_empty() { DEFAULT_AGENT } else { &self.agent };
        SourceSelection {
            skills_dirs: self.skills_dirs.clone(),
            no_default_sources: self.no_default_sources,
            mcp: self.mcp.clone(),
            trust_project: self.trust_project,
            only: self.only.clone(),
            no_skills: self.no_skills,
            agent: agent.to_owned(),
        }
    }
}

/// The commands of `metier skills`.
#[derive(Debug, Subcommand)]
pub(crate) enum SkillsCommand {
    /// List the skills there are, and which of them work
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Also show skills that are switched off, and notes
        #[arg(long)]
        all: bool,
    },
    /// Show the header, files and digest of a skill
    Info {
        /// Name of the skill
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Explain why a skill is used or not, and what to do
    Explain {
        /// Name of the skill
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the docs of a skill, or print one of them
    Docs {
        /// Name of the skill
        name: String,
        /// Print this doc, named by its path
        doc: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Find skills by what you want to do
    Search {
        /// What you want to do, in your words
        #[arg(required = true)]
        query: Vec<String>,
        /// Show at most so many skills
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print exactly what a model is told about the skills
    Catalog {
        /// Stay within so many tokens
        #[arg(long, value_name = "N")]
        tokens: Option<usize>,
        /// Write it in this form
        #[arg(long, value_name = "FORMAT", default_value = "lines")]
        format: CatalogFormat,
        /// Print JSON, with what was shortened or left out
        #[arg(long)]
        json: bool,
    },
    /// Show how many tokens each skill costs a model
    Tokens {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Allow a skill of another MCP server, as it is now
    Trust {
        /// Name of the skill
        name: String,
        /// Agree without being asked
        #[arg(long)]
        yes: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check skills for mistakes, and fix what is safe to fix
    Lint {
        /// SKILL.md files, folders of skills, or folders with such folders; without any, all skills
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Judge by the letter of the format
        #[arg(long)]
        strict: bool,
        /// Write the fixes that are safe into the files
        #[arg(long)]
        fix: bool,
        /// Write the findings in this form
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: LintFormat,
        /// The same as --format json
        #[arg(long, conflicts_with = "format")]
        json: bool,
        /// Say what a code means, with examples, and look at nothing; list all codes if none is given
        #[arg(long, value_name = "CODE", num_args = 0.., value_delimiter = ',', conflicts_with_all = ["paths", "fix"])]
        explain: Option<Vec<String>>,
    },
    /// Install the programs that a skill needs
    InstallDeps(InstallArgs),
    /// Write a new skill to start from
    New {
        /// Name of the skill: lowercase letters, digits and hyphens
        name: String,
        /// Make its folder in this one
        #[arg(long, value_name = "DIR", default_value = ".")]
        dir: PathBuf,
        /// What it does and when to use it, for its header
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// How a catalog is written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CatalogFormat {
    /// One line a skill.
    Lines,
    /// <available_skills>.
    Xml,
}

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    /// With excerpts, for people.
    Human,
    /// One array.
    Json,
    /// SARIF 2.1.0, for code hosts.
    Sarif,
}

/// `metier exec`.
#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    /// Name of the skill
    #[arg(required_unless_present = "request")]
    pub skill: Option<String>,
    /// Read the whole request as JSON from this file, or from - (standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["skill", "command", "cwd", "env", "inputs", "outputs", "save", "timeout"])]
    pub request: Option<PathBuf>,
    /// Where it runs; the host does not confine it
    #[arg(long, value_name = "WHERE", value_parser = word::<ExecutorKind>())]
    pub executor: Option<ExecutorKind>,
    /// Run in the workspace of this session; else in a new one
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Start in this folder of the skill, or in $WORK_DIR/…
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<String>,
    /// Set an environment variable
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Copy a file in: a path, or artifact://, workspace:// or skill://
    #[arg(long = "input", value_name = "FROM[=TO]")]
    pub inputs: Vec<String>,
    /// Collect the files that match; else all in out/
    #[arg(long = "output", value_name = "GLOB")]
    pub outputs: Vec<String>,
    /// Keep the collected files as artifacts
    #[arg(long)]
    pub save: bool,
    /// Stop it after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// The command: one quoted text for a shell, or separate words
    #[arg(last = true, required_unless_present = "request")]
    pub command: Vec<String>,
    /// Where to look.
    #[command(flatten)]
    pub sources: SourceArgs,
}

/// Reads a number of seconds.
fn seconds(text: &str) -> Result<f64, &'static str> {
    text.parse().map_err(|_| "write a number of seconds")
}

/// Reads the id of an agent.
fn agent_id(text: &str) -> Result<String, &'static str> {
    check_agent_id(text).map(|()| text.to_owned())
}

/// Reads one of the words of a setting.
pub(crate) fn word<T: ConfigWord + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::CHOICE.words)
        .map(|word| T::from_word(&word).expect("the parser let no other word through"))
}

/// `metier read`.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// What to print
    #[arg(
        help = "workspace://PATH, artifact://NAME[@VERSION] or skill://NAME/PATH",
        value_name = "REF"
    )]
    pub reference: String,
    /// Print only these lines; the first is 1
    #[arg(long, value_name = "FROM-TO")]
    pub lines: Option<String>,
    /// Look in this session; else in the one used last
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Where to look.
    #[command(flatten)]
    pub sources: SourceArgs,
}

/// `metier artifacts`.
#[derive(Debug, Args)]
pub(crate) struct ArtifactsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ArtifactsCommand,
    /// Look in this session; else in the one used last
    #[arg(long, value_name = "ID", global = true)]
    pub session: Option<String>,
}

/// The commands of `metier artifacts`.
#[derive(Debug, Subcommand)]
pub(crate) enum ArtifactsCommand {
    /// List the artifacts of a session, and those of all sessions
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print an artifact, or write it to a file
    Get {
        /// The artifact: NAME, or NAME@VERSION
        name: String,
        /// Write it to this file
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List the versions of an artifact
    Versions {
        /// Name of the artifact
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove an artifact, or one version of it
    Rm {
        /// The artifact: NAME, or NAME@VERSION
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// `metier trust`.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The project; without one, where you are. With --revoke also SERVER:SKILL
    pub path: Option<PathBuf>,
    /// List what is trusted: projects, and skills of other servers
    #[arg(long, conflicts_with_all = ["revoke", "path"])]
    pub list: bool,
    /// Take trust back from the project, or from the skill of a server
    #[arg(long)]
    pub revoke: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The commands of `metier config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the settings in force, and where each comes from
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Also show settings that nobody set, with their defaults
        #[arg(long)]
        all: bool,
    },
    /// Set a setting in your own file; comments there stay
    Set {
        /// The setting, such as exec.timeout
        key: String,
        /// Its value; a list is separated by commas; `-` reads it from standard input
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a setting from your own file
    Unset {
        /// The setting, such as exec.timeout
        key: String,
    },
    /// Open your own file in $VISUAL or $EDITOR, and check it
    Edit,
    /// Print the path of your own file
    Path,
    /// Print a configuration file that explains every setting
    Sample,
    /// Print the JSON Schema of configuration files, for editors
    Schema,
}
