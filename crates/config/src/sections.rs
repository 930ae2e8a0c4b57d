//! The table of settings: every section with its keys, their types, their defaults and their documentation.
//!
//! Each section is declared once. From a declaration come a struct with typed fields, the keys that files and variables
//! are read by, and the text of the reference.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::key::{ProjectNarrowing, SettingKey};
use crate::layers::ConfigLayers;
use crate::setting::{NameGlobs, SecretMap, SecretText, SectionField, Setting, WordOrList};
use crate::value::{SettingOrigin, SettingValue};
use crate::warning::ConfigWarning;
use crate::words::{
    AgentToolSet, ApprovalAsk, ApprovalMode, EntrySource, ExecutorKind, NodeManager, PromptKind,
    ProviderFormat, ProviderToolChoice, RequiredLevel, SkillLoadMode, SkillPlacement,
};

/// The configuration in force.
#[derive(Clone, Debug)]
pub struct Config {
    /// `skills`.
    pub skills: SkillsConfig,
    /// `skill_run`.
    pub skill_run: SkillRunConfig,
    /// `approvals`.
    pub approvals: ApprovalsConfig,
    /// `exec`.
    pub exec: ExecConfig,
    /// `workspace`.
    pub workspace: WorkspaceConfig,
    /// `agent`.
    pub agent: AgentConfig,
    /// `context`.
    pub context: ContextConfig,
    /// `models.providers`, by name.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// `mcp.servers`, by name.
    pub mcp_servers: BTreeMap<String, McpServerConfig>,
    /// `agents.defaults`.
    pub agent_defaults: AgentDefaultsConfig,
    /// `agents`, by name.
    pub agents: BTreeMap<String, AgentEntryConfig>,
    /// Settings of files that are not in force, with the reason.
    pub warnings: Arc<[ConfigWarning]>,
    layers: ConfigLayers,
}

/// A table of the file.
#[derive(Debug)]
pub struct ConfigSection {
    /// The dotted name; `*` stands for a name that the person chooses.
    pub name: &'static str,
    /// The keys that stand in it.
    pub keys: &'static [SettingKey],
    doc: &'static str,
}

impl ConfigSection {
    /// The documentation.
    pub fn help(&self) -> &'static str {
        self.doc.trim_start()
    }

    /// The name of a key in this table.
    pub fn name_of(&self, key: &SettingKey) -> &'static str {
        let rest = key.name.strip_prefix(self.name).and_then(|rest| rest.strip_prefix('.'));
        rest.unwrap_or(key.name)
    }
}

/// The name of a key: that of its section and its own.
macro_rules! key_name {
    ($section:literal, $field:ident) => {
        concat!($section, ".", stringify!($field))
    };
    ($section:literal, $field:ident, $at:literal) => {
        concat!($section, ".", $at)
    };
}

/// Declares sections. After a default comes what a project may do with the setting, then `at`, where the name of the
/// key is not that of the field.
macro_rules! config_sections {
    ($(
        $(#[doc = $help:literal])+
        $name:ident in $section:literal {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty = $default:literal, $narrowing:ident $(, at $at:literal)?;
            )*
            $(table $table:ident: $table_type:ident;)*
            $(tables $tables:ident: $tables_type:ident;)*
        }
    )+) => {
        $(
            $(#[doc = $help])+
            #[derive(Clone, Debug)]
            pub struct $name {
                $($(#[doc = $doc])+ pub $field: $type,)*
                $(#[doc = concat!("The table `", stringify!($table), "`.")] pub $table: $table_type,)*
                $(
                    #[doc = concat!("The tables below `", stringify!($tables), "`, by name.")]
                    pub $tables: BTreeMap<String, $tables_type>,
                )*
            }

            impl $name {
                /// Everybody who had a say in a setting of this table, but not of those below.
                pub fn origins(&self) -> Vec<&SettingOrigin> {
                    [$(SectionField::origins(&self.$field)),*].concat()
                }
            }

            impl ConfigTable for $name {
                const KEYS: &'static [SettingKey] = &[
                    $(SettingKey {
                        name: key_name!($section, $field $(, $at)?),
                        kind: <$type as SectionField>::KIND,
                        default: $default,
                        narrowing: ProjectNarrowing::$narrowing,
                        doc: concat!($($doc),+),
                    },)*
                ];

                fn of_layers(layers: &ConfigLayers, name: &str) -> Self {
                    let mut keys = Self::KEYS.iter();
                    Self {
                        $($field: {
                            let key = keys.next().expect("there is a key for each field");
                            let rest = key.name.strip_prefix(concat!($section, ".")).unwrap_or(key.name);
                            SectionField::of_layers(layers, key, &format!("{name}.{rest}"))
                        },)*
                        $($table: $table_type::of_layers(layers, &format!("{name}.{}", stringify!($table))),)*
                        $($tables: tables(layers, &format!("{name}.{}.", stringify!($tables))),)*
                    }
                }
            }
        )+

        /// Every section, in the order of the reference.
        pub const SECTIONS: &[ConfigSection] = &[
            $(ConfigSection { name: $section, keys: $name::KEYS, doc: concat!($($help),+) },)+
        ];
    };
}

/// A section that can be read from the layers of a configuration.
trait ConfigTable: Sized {
    const KEYS: &'static [SettingKey];

    /// Reads the section of this dotted name.
    fn of_layers(layers: &ConfigLayers, name: &str) -> Self;
}

/// Reads the tables whose names follow a prefix.
fn tables<T: ConfigTable>(layers: &ConfigLayers, prefix: &str) -> BTreeMap<String, T> {
    let names = layers.names_below(prefix);
    names.map(|name| (name.to_owned(), T::of_layers(layers, &format!("{prefix}{name}")))).collect()
}

impl Config {
    pub(crate) fn of_layers(layers: ConfigLayers, warnings: Vec<ConfigWarning>) -> Self {
        let mut agents = tables(&layers, "agents.");
        // It stands for all agents.
        agents.remove("defaults");
        Self {
            skills: ConfigTable::of_layers(&layers, "skills"),
            skill_run: ConfigTable::of_layers(&layers, "skill_run"),
            approvals: ConfigTable::of_layers(&layers, "approvals"),
            exec: ConfigTable::of_layers(&layers, "exec"),
            workspace: ConfigTable::of_layers(&layers, "workspace"),
            agent: ConfigTable::of_layers(&layers, "agent"),
            context: ConfigTable::of_layers(&layers, "context"),
            providers: tables(&layers, "models.providers."),
            mcp_servers: tables(&layers, "mcp.servers."),
            agent_defaults: ConfigTable::of_layers(&layers, "agents.defaults"),
            agents,
            warnings: warnings.into(),
            layers,
        }
    }

    /// Every setting that somebody made, by its dotted name, with those who had a say, the deciding one last.
    pub fn values(&self) -> impl Iterator<Item = (&str, &SettingValue, &[SettingOrigin])> {
        let values = self.layers.values.iter();
        values.map(|(name, (value, origins))| (name.as_str(), value, origins.as_slice()))
    }

    /// Lists of projects that must hold besides a setting, by its dotted name.
    pub fn also(&self) -> impl Iterator<Item = (&str, &[String], &SettingOrigin)> {
        self.layers.also.iter().flat_map(|(name, lists)| {
            lists.iter().map(|(list, origin)| (name.as_str(), list.as_slice(), origin))
        })
    }

    /// Returns whether a setting that a skill requires is met: set, and neither empty, zero nor false. The name comes
    /// from the skill; that of a table counts if anything in it is set.
    pub fn meets(&self, name: &str) -> bool {
        match self.layers.values.get(name) {
            Some((value, _)) => value.is_truthy(),
            None => self.layers.names_below(&format!("{name}.")).next().is_some(),
        }
    }
}

impl Default for Config {
    /// Nothing but the defaults.
    fn default() -> Self {
        Self::of_layers(ConfigLayers::default(), Vec::new())
    }
}

config_sections! {
    /// Where skills are, which of them are used, and what telling a model about them may cost.
    SkillsConfig in "skills" {
        /// Whether skills are used at all.
        enabled: Setting<bool> = "true", Off;
        /// More places with skills: folders, archives, or addresses of archives; a relative path starts at the
        /// state directory, in the variable at the working directory.
        extra_dirs: Setting<Vec<String>> = "[]", Never;
        /// Plugins, or folders of plugins, whose skills are used; `plugins` in the state directory always is one.
        plugin_dirs: Setting<Vec<String>> = "[]", Never;
        /// Names or globs of the only skills to use; empty allows all.
        allowed: Setting<NameGlobs> = "[]", Also;
        /// Names or globs of skills that are not used.
        denied: Setting<NameGlobs> = "[]", Longer;
        /// Folders outside a project to which links among its skills may lead.
        allow_symlink_targets: Setting<Vec<String>> = "[]", Never;
        /// Tokens that telling a model about skills may cost.
        catalog_tokens: Setting<usize> = "4000", Smaller;
        /// How long a loaded skill stays loaded: `turn`, `once` (one request) or `session`.
        load_mode: Setting<SkillLoadMode> = "\"turn\"", Never;
        /// Where the text of a loaded skill goes: `tool_result`, where it stays, or `system`.
        placement: Setting<SkillPlacement> = "\"tool_result\"", Never;
        /// Most skills that are loaded at once; 0 sets no bound.
        max_loaded: Setting<usize> = "0", Never;
        /// Tokens of skills no longer loaded that requests keep, for the cache of the provider.
        retain_tokens: Setting<usize> = "32000", Smaller;
        /// Longest instructions of a skill that a model is shown whole, in tokens.
        max_body_tokens: Setting<usize> = "25000", Smaller;
        /// Whether a model must load a skill before it runs commands of it.
        load_before_run: Setting<bool> = "true", Never;
        table install: SkillInstallConfig;
        tables entries: SkillEntryConfig;
    }
    /// One skill, by its name. The `skillKey` of a skill that you keep counts instead of its name if no skill has
    /// that name, no other skill claims it and the default sources are searched.
    SkillEntryConfig in "skills.entries.*" {
        /// Whether one skill is used.
        enabled: Setting<bool> = "true", Off;
        /// The key a skill is given in its `primaryEnv` variable.
        api_key: Setting<Option<SecretText>> = "\"\"", Never;
        /// A variable a skill is given.
        env: SecretMap = "\"\"", Never, at "env.*";
        /// What network runs of one skill have; where it is not set, what `exec.network` says.
        network: Setting<WordOrList> = "\"none\"", Never;
        /// Gives the entry to the skill of this name in a project, a plugin or on a server, and to no other; where
        /// it is not set, the entry is for your own skill of this name.
        source: Setting<Option<EntrySource>> = "\"\"", Never;
    }
    /// How `metier skills install-deps` installs the programs that skills need.
    SkillInstallConfig in "skills.install" {
        /// Whether Homebrew, where it is there, installs what a skill needs before others do.
        prefer_brew: Setting<bool> = "true", Never;
        /// Who installs packages of the npm registry: `npm`, `pnpm`, `yarn` or `bun`.
        node_manager: Setting<NodeManager> = "\"npm\"", Never;
    }
    /// Which commands a model may run in skills. These lists come on top of every other check.
    SkillRunConfig in "skill_run" {
        /// The only commands that a model may run in skills, one plain command at a time and without a shell; empty
        /// allows all.
        allowed_commands: Setting<Vec<String>> = "[]", Also;
        /// Commands that a model may not run in skills, whoever allows them; if there are any, only one plain
        /// command runs at a time.
        denied_commands: Setting<Vec<String>> = "[]", Longer;
    }
    /// Which commands of a model may run on this machine itself, outside the sandbox, and when a person is asked.
    /// Calls of tools of other servers are judged by the same settings.
    ApprovalsConfig in "approvals" {
        /// Which commands of a model may run on the host, and which tools of other servers be called: none with
        /// `deny`, those that somebody allowed with `allowlist`, all with `full`.
        mode: Setting<ApprovalMode> = "\"allowlist\"", Tighter;
        /// When a person is asked: before every command and call with `always`, before what nobody allowed with
        /// `on_miss`, never with `off`.
        ask: Setting<ApprovalAsk> = "\"on_miss\"", Tighter;
        /// The mode that holds when a person should be asked and nobody can answer.
        ask_fallback: Setting<ApprovalMode> = "\"deny\"", Tighter;
        /// Programs that may run, besides those of `metier approvals add`: names, or paths with `*`, `**` and `?`.
        /// Only uses that are known to be harmless are covered, and of a program in no table none.
        allow: Setting<Vec<String>> = "[]", Never;
        /// The same with any arguments, also those that make a program run others.
        allow_any_arguments: Setting<Vec<String>> = "[]", Never;
        /// Filters that may run as far as they only read what is piped into them.
        safe_bins: Setting<Vec<String>> = r#"["cut", "uniq", "head", "tail", "tr", "wc"]"#, Also;
        /// Folders whose programs are what their names say.
        trusted_dirs: Setting<Vec<String>> = r#"["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"]"#, Also;
        /// Whether programs that the skills of an agent need may run: those in trusted folders, in uses that are
        /// known to be harmless.
        auto_allow_skills: Setting<bool> = "false", Off;
        /// Variables that a command on the host may set for a program, and that a call may set there and where
        /// `skill_run` lists commands, beside those that its skill declares; `*` at the end stands for any ending.
        variables: Setting<Vec<String>> = r#"["LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CI", "PYTHONUNBUFFERED"]"#, Also;
    }
    /// How commands of skills are run: who runs them, and what they may use. The bounds hold for every run.
    ExecConfig in "exec" {
        /// Who runs commands of skills: `sandbox`, `host` or `container`.
        executor: Setting<ExecutorKind> = "\"sandbox\"", Never;
        /// What network runs have: `none`, `host`, or a list of `host:port`.
        network: Setting<WordOrList> = "\"none\"", Never;
        /// Folders from which a run may take files of this machine as inputs.
        host_inputs: Setting<Vec<String>> = "[]", Never;
        /// Seconds a run has when it does not say.
        timeout: Setting<u64> = "300", Smaller;
        /// Most seconds a run may ask for.
        max_timeout: Setting<u64> = "3600", Smaller;
        /// Mebibytes of memory a run may use.
        memory_mb: Setting<u64> = "2048", Smaller;
        /// Processes a run may have at a time.
        processes: Setting<u64> = "256", Smaller;
        /// Mebibytes a run may write to the disk.
        disk_mb: Setting<u64> = "8192", Smaller;
        /// `full` refuses to run where only Landlock confines.
        require: Setting<Option<RequiredLevel>> = "\"\"", Never;
        /// Whether the sandbox runs a command unconfined where the system offers nothing.
        degrade: Setting<bool> = "false", Off;
        table container: ContainerConfig;
    }
    /// The containers of `exec.executor = "container"`, made by Docker or Podman.
    ContainerConfig in "exec.container" {
        /// The image containers are made of; it needs a shell.
        image: Setting<String> = "\"debian:stable-slim\"", Never;
        /// Where Docker or Podman listens, as `unix:///…`; else `DOCKER_HOST`, else the usual places.
        socket: Setting<Option<String>> = "\"\"", Never;
        /// Whether the engine may fetch an image that it does not have.
        pull: Setting<bool> = "false", Off;
    }
    /// The folders in which commands of skills work, one for each session.
    WorkspaceConfig in "workspace" {
        /// Where workspaces are; else `workspaces` in the state directory, or a folder of its own below
        /// `/var/lib/metier` where metier is root, may not mount, and programs could not come there.
        folder: Setting<Option<String>> = "\"\"", Never;
        /// Days after which the workspace of a session that nobody used is removed.
        ttl_days: Setting<u64> = "7", Never;
    }
    /// The agent of `metier run` and `metier chat`: its model, its tools, and how long it may work.
    AgentConfig in "agent" {
        /// The model to ask, as `provider/name`; else what the keys that are set give access to.
        model: Setting<Option<String>> = "\"\"", Never;
        /// The tools a model is given: `full`, `knowledge`, `single` or `files`.
        tools: Setting<AgentToolSet> = "\"full\"", Never;
        /// What the agent is told of its job, instead of what metier says.
        instruction: Setting<Option<String>> = "\"\"", Never;
        /// What the agent is told of its tools, instead of what metier says; `none` for nothing.
        guidance: Setting<Option<String>> = "\"\"", Never;
        /// What requests begin with: `full`, or `minimal` without the list of skills.
        prompt: Setting<PromptKind> = "\"full\"", Never;
        /// Requests to the model that one task may take.
        max_requests: Setting<usize> = "50", Smaller;
        /// Tokens, read and written, that one task may take; 0 sets no bound.
        max_tokens: Setting<usize> = "0", Never;
        /// Whether the one block of bash or python in a reply is run in the sandbox, and its result given to the
        /// model.
        code_execution: Setting<bool> = "false", Off;
    }
    /// How much of a conversation a request carries.
    ContextConfig in "context" {
        /// Tokens that fit into the model.
        tokens: Setting<usize> = "128000", Smaller;
        /// Per cent of them at which older turns are summarised.
        compact_at: Setting<usize> = "80", Smaller;
    }
    /// Who answers for models, by the first part of a model's name. `openai` and `anthropic` are known; any other
    /// name is a server that speaks like one of them.
    ProviderConfig in "models.providers.*" {
        /// Where a provider is asked; else `OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL`, or their own addresses, for
        /// `openai` and `anthropic`.
        base_url: Setting<Option<String>> = "\"\"", Never;
        /// The key of a provider; else `OPENAI_API_KEY` and `ANTHROPIC_API_KEY` for `openai` and `anthropic`.
        key: Setting<Option<SecretText>> = "\"\"", Never;
        /// How a provider is spoken to: `chat_completions`, `responses` or `messages`; for `anthropic` the default
        /// is `messages`.
        format: Setting<ProviderFormat> = "\"chat_completions\"", Never;
        /// `constrained` has a server that can enforce it (llama.cpp, vLLM) make the model choose a skill, or none,
        /// when a task begins.
        tool_choice: Setting<ProviderToolChoice> = "\"auto\"", Never;
    }
    /// Another server of the Model Context Protocol whose tools or skills are used. It is a program (`command`) or
    /// an address (`url`). Its name is up to 32 letters, digits, `-` and `_`.
    McpServerConfig in "mcp.servers.*" {
        /// The program of a server, a name or a whole path; or a list, with its arguments.
        command: Setting<WordOrList> = "\"\"", Never;
        /// Arguments of that program.
        args: Setting<Vec<String>> = "[]", Never;
        /// A variable that the program is given besides `PATH`, `HOME` and the like; `$OTHER` stands for one of
        /// yours.
        env: SecretMap = "\"\"", Never, at "env.*";
        /// The folder in which the program starts; `.` is that in which metier was started.
        cwd: Setting<String> = "\"~\"", Never;
        /// The address of a server, instead of a program.
        url: Setting<Option<String>> = "\"\"", Never;
        /// The variable with the bearer token for that address.
        token_env: Setting<Option<String>> = "\"\"", Never;
        /// A header that is sent to that address; `$OTHER` stands for one of your variables.
        headers: SecretMap = "\"\"", Never, at "headers.*";
        /// Whether the agent may use the tools of a server.
        tools: Setting<bool> = "true", Off;
        /// Whether the skills of a server are used.
        skills: Setting<bool> = "false", Off;
        /// Tools of a server that may be called without asking: names, with `*` for any part.
        allow: Setting<Vec<String>> = "[]", Also;
        /// Tools of a server that no model is offered: names, with `*` for any part.
        deny: Setting<Vec<String>> = "[]", Longer;
        /// Seconds a call of a tool of a server may take, from 1 to 86400.
        timeout: Setting<u64> = "60", Smaller;
    }
    /// What holds for every agent that has no setting of its own.
    AgentDefaultsConfig in "agents.defaults" {
        /// The folder of the agent `default`; else `workspace` in the state directory. Other agents have
        /// `workspace-ID` there.
        workspace: Setting<Option<String>> = "\"\"", Never;
        /// Names or globs of the only skills that agents use which have no list of their own; none if it is set and
        /// empty.
        skills: Setting<NameGlobs> = "[]", Also;
    }
    /// One agent, by the name that `--agent` takes: lowercase letters, digits and hyphens.
    AgentEntryConfig in "agents.*" {
        /// The agent's own folder, whose `skills` win over all others.
        workspace: Setting<Option<String>> = "\"\"", Never;
        /// Names or globs of the only skills an agent uses, in place of `agents.defaults.skills`; none if it is set
        /// and empty.
        skills: Setting<NameGlobs> = "[]", Also;
        table approvals: AgentApprovalsConfig;
    }
    /// What one agent may run. It can only be less than `approvals` says.
    AgentApprovalsConfig in "agents.*.approvals" {
        /// What an agent may run, if that is less than `approvals.mode`.
        mode: Setting<Option<ApprovalMode>> = "\"\"", Tighter;
        /// When a person is asked about commands of an agent, if that is more often than `approvals.ask`.
        ask: Setting<Option<ApprovalAsk>> = "\"\"", Tighter;
        /// The mode of an agent when nobody can answer, if that is less than `approvals.ask_fallback`.
        ask_fallback: Setting<Option<ApprovalMode>> = "\"\"", Tighter;
    }
}
