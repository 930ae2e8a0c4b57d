//! The commands, and what those about skills and runs take.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::args::setup::agent_id;
use crate::args::{
    ApprovalsArgs, BenchArgs, ChatArgs, DemoArgs, InstallArgs, McpArgs, RunArgs, SessionsArgs,
    SetupArgs, UsageArgs,
};

/// A runtime for Agent Skills: find them, judge them, tell a model about them
#[derive(Debug, Parser)]
#[command(name = "metier", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// Say nothing but the answer
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
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
    /// Look at skills: which there are, which work, what they cost
    Skills(SkillsArgs),
    /// Check a skill as the format's reference tool does
    Validate {
        /// A skill's folder, or its SKILL.md
        path: PathBuf,
    },
    /// Print the properties of a skill as JSON
    ReadProperties {
        /// A skill's folder, or its SKILL.md
        path: PathBuf,
    },
    /// Print the <available_skills> block for some skills
    ToPrompt {
        /// Skills' folders, or their SKILL.md files
        paths: Vec<PathBuf>,
    },
    /// Trust the skills of a project as they are now
    Trust(TrustArgs),
    /// Do a task: a model finds the skills for it, loads them and runs their commands
    Run(RunArgs),
    /// Talk with a model that uses skills
    Chat(ChatArgs),
    /// Look at sessions of tasks
    Sessions(SessionsArgs),
    /// Show the tokens that models read and wrote, by model and skill
    Usage(UsageArgs),
    /// Decide what commands of a model may run on the host
    Approvals(ApprovalsArgs),
    /// Run a command of a skill
    Exec(ExecArgs),
    /// Give skills to another agent, over the Model Context Protocol
    Mcp(McpArgs),
    /// Print a file of a session, an artifact or a skill
    Read(ReadArgs),
    /// Look at what runs have kept
    Artifacts(ArtifactsArgs),
    /// Remove workspaces that nobody used, and what killed runs left behind
    Gc {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what this machine offers to confine programs, and try every promise
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure what requests cost, with the skills you have
    Bench(BenchArgs),
    /// See how something works, without a model
    Demo(DemoArgs),
    /// Get ready: a folder for the agent, and what skills miss
    Setup(SetupArgs),
    /// Look at the settings
    Config {
        /// What to do.
        #[command(subcommand)]
        command: ConfigCommand,
    },
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
#[command(next_help_heading = "Sources")]
pub(crate) struct SourceArgs {
    /// Search this folder too; its skills win over all others
    #[arg(long = "skills-dir", value_name = "DIR", global = true)]
    pub skills_dirs: Vec<PathBuf>,
    /// Search only what is named with --skills-dir and --mcp
    #[arg(long, global = true)]
    pub no_default_sources: bool,
    /// Ask this server for skills too: a command with its arguments, or a URL; all others win over its own
    #[arg(long, value_name = "SERVER", global = true)]
    pub mcp: Vec<String>,
    /// Use the skills of the project without asking whether it is trusted
    #[arg(long, global = true)]
    pub trust_project: bool,
    /// Use only skills of this name or glob
    #[arg(long = "skill", value_name = "NAME", global = true)]
    pub only: Vec<String>,
    /// Use no skills
    #[arg(long, global = true)]
    pub no_skills: bool,
    /// As this agent, with its own folder and skills
    #[arg(long, value_name = "ID", default_value = "default", global = true, value_parser = agent_id)]
    pub agent: String,
}

/// The commands of `metier skills`.
#[derive(Debug, Subcommand)]
pub(crate) enum SkillsCommand {
    /// List the skills that were found
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Show also skills that are switched off, and notes
        #[arg(long)]
        all: bool,
    },
    /// Show what is known of a skill
    Info {
        /// The skill
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Explain why a skill is used, or why not
    Explain {
        /// The skill
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the docs of a skill, or print one
    Docs {
        /// The skill
        name: String,
        /// The doc, by its path
        doc: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Find skills for what you want to do
    Search {
        /// What you want to do, in your words
        #[arg(required = true)]
        query: Vec<String>,
        /// How many to show
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print what a model is told of the skills
    Catalog {
        /// Tokens it may cost
        #[arg(long, value_name = "N")]
        tokens: Option<usize>,
        /// How to write it
        #[arg(long, value_name = "FORMAT", default_value = "lines")]
        format: CatalogFormat,
        /// Print JSON, with the report
        #[arg(long)]
        json: bool,
    },
    /// Show what each skill costs a model, in each layer
    Tokens {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Trust a skill of another server as it is now
    Trust {
        /// The skill
        name: String,
        /// Agree to it without being asked
        #[arg(long)]
        yes: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check skills, and mend what can be mended
    Lint {
        /// Skills, their files, or folders with skills; all skills if none is given
        paths: Vec<PathBuf>,
        /// Hold them to the letter of the format
        #[arg(long)]
        strict: bool,
        /// Apply the fixes that are safe
        #[arg(long)]
        fix: bool,
        /// How to write the findings
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: LintFormat,
        /// Short for --format json
        #[arg(long, conflicts_with = "format")]
        json: bool,
        /// Say what a code means, with examples, and look at nothing; list all codes if none is given
        #[arg(long, value_name = "CODE", num_args = 0.., value_delimiter = ',', conflicts_with_all = ["paths", "fix"])]
        explain: Option<Vec<String>>,
    },
    /// Install the programs that a skill needs
    InstallDeps(InstallArgs),
    /// Make a new skill to start from
    New {
        /// Its name
        name: String,
        /// Where to make its folder
        #[arg(long, value_name = "DIR", default_value = ".")]
        dir: PathBuf,
        /// What it does and when to use it
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
    /// The skill
    #[arg(required_unless_present = "request")]
    pub skill: Option<String>,
    /// Take the whole request as JSON from a file, or from standard input with `-`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["skill", "command", "cwd", "env", "inputs", "outputs", "save", "timeout"])]
    pub request: Option<PathBuf>,
    /// Who runs it
    #[arg(long, value_name = "E")]
    pub executor: Option<ExecutorName>,
    /// The session whose workspace is used; a new one if none is given
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Where to run it: from the skill's folder, or $WORK_DIR/… and the like
    #[arg(long, value_name = "D")]
    pub cwd: Option<String>,
    /// Set a variable
    #[arg(long, value_name = "K=V")]
    pub env: Vec<String>,
    /// Bring a file in: a path, or artifact://, workspace://, skill://
    #[arg(long = "input", value_name = "FROM[=TO]")]
    pub inputs: Vec<String>,
    /// Collect files, by pattern
    #[arg(long = "output", value_name = "GLOB")]
    pub outputs: Vec<String>,
    /// Keep collected files as artifacts
    #[arg(long)]
    pub save: bool,
    /// Seconds it may take
    #[arg(long, value_name = "S")]
    pub timeout: Option<f64>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// The command, after `--`: one text for a shell, or words
    #[arg(last = true, required_unless_present = "request")]
    pub command: Vec<String>,
    /// Where to look.
    #[command(flatten)]
    pub sources: SourceArgs,
}

/// Who runs commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExecutorName {
    /// Confined by the kernel.
    Sandbox,
    /// Not confined.
    Host,
    /// In a container of Docker or Podman.
    Container,
}

/// `metier read`.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// workspace://PATH, artifact://NAME, artifact://NAME@VERSION or skill://NAME/PATH
    #[arg(value_name = "REF")]
    pub reference: String,
    /// Only these lines, from 1
    #[arg(long, value_name = "A-B")]
    pub lines: Option<String>,
    /// The session; the one used last if none is given
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
    /// The session; the one used last if none is given
    #[arg(long, value_name = "ID", global = true)]
    pub session: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// The commands of `metier artifacts`.
#[derive(Debug, Subcommand)]
pub(crate) enum ArtifactsCommand {
    /// List what a session has kept, and what belongs to you in all sessions
    List,
    /// Write an artifact to a file, or to standard output
    Get {
        /// NAME or NAME@VERSION
        name: String,
        /// The file
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List the versions of an artifact
    Versions {
        /// NAME
        name: String,
    },
    /// Remove an artifact, or one version of it
    Rm {
        /// NAME or NAME@VERSION
        name: String,
    },
}

/// `metier trust`.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The project; the one you are in if none is given. With --revoke also SERVER:SKILL, as --list has it
    pub path: Option<PathBuf>,
    /// List the trusted projects, and the trusted skills of other servers
    #[arg(long, conflicts_with_all = ["revoke", "path"])]
    pub list: bool,
    /// Trust the project, or the skill of a server, no longer
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
        /// Show also settings that nobody set
        #[arg(long)]
        all: bool,
    },
    /// Print a configuration file with every setting explained and commented out
    Sample,
    /// Print the JSON Schema of configuration files, for editors
    Schema,
}
