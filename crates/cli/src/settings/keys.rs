//! Every setting there is. Parsing, environment variables, `config show` and the reference are made
//! from this table.

use crate::settings::Value;

/// One setting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// Its dotted name; `*` stands for a name the person chooses.
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// The value when nobody sets it, as TOML.
    pub default: &'static str,
    /// What a project may do with it.
    pub narrowing: Narrowing,
    /// What it does.
    pub help: &'static str,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Switch,
    /// A number of tokens and the like.
    Count,
    /// Text.
    Text,
    /// Text that is never shown.
    Secret,
    /// A list of texts.
    List,
    /// A list of names and globs of names.
    Globs,
    /// A word, or a list of texts.
    Words,
    /// One of some words.
    Choice(&'static Choice),
}

/// Words of which a setting is one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The words; where a project may tighten a setting, that which allows least first.
    pub words: &'static [&'static str],
    /// The same for people.
    pub said: &'static str,
}

/// How much may run.
const MODES: Choice =
    Choice { words: &["deny", "allowlist", "full"], said: "`deny`, `allowlist` or `full`" };
/// When a person is asked.
const ASKING: Choice =
    Choice { words: &["always", "on_miss", "off"], said: "`always`, `on_miss` or `off`" };

/// How long a skill stays loaded.
const LOAD_MODES: Choice =
    Choice { words: &["turn", "once", "session"], said: "`turn`, `once` or `session`" };
/// Where the text of a skill goes.
const PLACEMENTS: Choice =
    Choice { words: &["tool_result", "system"], said: "`tool_result` or `system`" };
/// Sources whose skills have an entry only if it names them.
const FOREIGN_SOURCES: Choice =
    Choice { words: &["project", "plugin", "remote"], said: "`project`, `plugin` or `remote`" };
/// Who installs packages of the npm registry.
const NODE_MANAGERS: Choice =
    Choice { words: &["npm", "pnpm", "yarn", "bun"], said: "`npm`, `pnpm`, `yarn` or `bun`" };
/// Who runs commands.
const EXECUTORS: Choice =
    Choice { words: &["sandbox", "host", "container"], said: "`sandbox`, `host` or `container`" };
/// How much the sandbox must promise.
const REQUIREMENTS: Choice = Choice { words: &["full"], said: "`full` or an empty text" };
/// Sets of tools.
const TOOLS: Choice = Choice {
    words: &["full", "knowledge", "single", "files"],
    said: "`full`, `knowledge`, `single` or `files`",
};
/// What requests begin with.
const PROMPTS: Choice = Choice { words: &["full", "minimal"], said: "`full` or `minimal`" };
/// How providers are spoken to.
const FORMATS: Choice = Choice {
    words: &["chat_completions", "responses", "messages"],
    said: "`chat_completions`, `responses` or `messages`",
};
/// Who enforces the choice of a skill.
const TOOL_CHOICES: Choice =
    Choice { words: &["auto", "constrained"], said: "`auto` or `constrained`" };

/// What a project's own configuration may do with a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Narrowing {
    /// Nothing.
    Never,
    /// Switch it off.
    Off,
    /// Make it smaller.
    Smaller,
    /// Choose a word that allows less.
    Tighter,
    /// Add to a list of what is refused.
    Longer,
    /// Add a list that must hold too.
    Also,
}

/// Every setting.
pub(crate) const KEYS: &[Key] = &[
    Key {
        name: "skills.enabled",
        kind: Kind::Switch,
        default: "true",
        narrowing: Narrowing::Off,
        help: "Whether skills are used at all",
    },
    Key {
        name: "skills.extra_dirs",
        kind: Kind::List,
        default: "[]",
        narrowing: Narrowing::Never,
        help: "More places with skills: folders, archives, or addresses of archives; a relative path starts at the state directory, in the variable at the working directory",
    },
    Key {
        name: "skills.plugin_dirs",
        kind: Kind::List,
        default: "[]",
        narrowing: Narrowing::Never,
        help: "Plugins, or folders of plugins, whose skills are used; `plugins` in the state directory always is one",
    },
    Key {
        name: "skills.allowed",
        kind: Kind::Globs,
        default: "[]",
        narrowing: Narrowing::Also,
        help: "Names or globs of the only skills to use; empty allows all",
    },
    Key {
        name: "skills.denied",
        kind: Kind::Globs,
        default: "[]",
        narrowing: Narrowing::Longer,
        help: "Names or globs of skills that are not used",
    },
    Key {
        name: "skills.allow_symlink_targets",
        kind: Kind::List,
        default: "[]",
        narrowing: Narrowing::Never,
        help: "Folders outside a project to which links among its skills may lead",
    },
    Key {
        name: "skills.catalog_tokens",
        kind: Kind::Count,
        default: "4000",
        narrowing: Narrowing::Smaller,
        help: "Tokens that telling a model about skills may cost",
    },
    Key {
        name: "skills.load_mode",
        kind: Kind::Choice(&LOAD_MODES),
        default: "\"turn\"",
        narrowing: Narrowing::Never,
        help: "How long a loaded skill stays loaded: `turn`, `once` (one request) or `session`",
    },
    Key {
        name: "skills.placement",
        kind: Kind::Choice(&PLACEMENTS),
        default: "\"tool_result\"",
        narrowing: Narrowing::Never,
        help: "Where the text of a loaded skill goes: `tool_result`, where it stays, or `system`",
    },
    Key {
        name: "skills.max_loaded",
        kind: Kind::Count,
        default: "0",
        narrowing: Narrowing::Never,
        help: "Most skills that are loaded at once; 0 sets no bound",
    },
    Key {
        name: "skills.retain_tokens",
        kind: Kind::Count,
        default: "32000",
        narrowing: Narrowing::Smaller,
        help: "Tokens of skills no longer loaded that requests keep, for the cache of the provider",
    },
    Key {
        name: "skills.max_body_tokens",
        kind: Kind::Count,
        default: "25000",
        narrowing: Narrowing::Smaller,
        help: "Longest instructions of a skill that a model is shown whole, in tokens",
    },
    Key {
        name: "skills.load_before_run",
        kind: Kind::Switch,
        default: "true",
        narrowing: Narrowing::Never,
        help: "Whether a model must load a skill before it runs commands of it",
    },
    Key {
        name: "skills.entries.*.enabled",
        kind: Kind::Switch,
        default: "true",
        narrowing: Narrowing::Off,
        help: "Whether one skill is used",
    },
    Key {
        name: "skills.entries.*.api_key",
        kind: Kind::Secret,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "The key a skill is given in its `primaryEnv` variable",
    },
    Key {
        name: "skills.entries.*.env.*",
        kind: Kind::Secret,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "A variable a skill is given",
    },
    Key {
        name: "skills.entries.*.network",
        kind: Kind::Words,
        default: "\"none\"",
        narrowing: Narrowing::Never,
        help: "What network runs of one skill have; where it is not set, what `exec.network` says",
    },
    Key {
        name: "skills.entries.*.source",
        kind: Kind::Choice(&FOREIGN_SOURCES),
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "Gives the entry to the skill of this name in a project, a plugin or on a server, and to no other; where it is not set, the entry is for your own skill of this name",
    },
    Key {
        name: "skills.install.prefer_brew",
        kind: Kind::Switch,
        default: "true",
        narrowing: Narrowing::Never,
        help: "Whether Homebrew, where it is there, installs what a skill needs before others do",
    },
    Key {
        name: "skills.install.node_manager",
        kind: Kind::Choice(&NODE_MANAGERS),
        default: "\"npm\"",
        narrowing: Narrowing::Never,
        help: "Who installs packages of the npm registry: `npm`, `pnpm`, `yarn` or `bun`",
    },
    Key {
        name: "skill_run.allowed_commands",
        kind: Kind::List,
        default: "[]",
        narrowing: Narrowing::Also,
        help: "The only commands that a model may run in skills, one plain command at a time and without a shell; empty allows all",
    },
    Key {
        name: "skill_run.denied_commands",
        kind: Kind::List,
        default: "[]",
        narrowing: Narrowing::Longer,
        help: "Commands that a model may not run in skills, whoever allows them; if there are any, only one plain command runs at a time",
    },
    Key {
        name: "approvals.mode",
        kind: Kind::Choice(&MODES),
        default: "\"allowlist\"",
        narrowing: Narrowing::Tighter,
        help: "Which commands of a model may run on the host, and which tools of other servers be called: none with `deny`, those that somebody allowed with `allowlist`, all with `full`",
    },
    Key {
        name: "approvals.ask",
        kind: Kind::Choice(&ASKING),
        default: "\"on_miss\"",
        narrowing: Narrowing::Tighter,
        help: "When a person is asked: before every command and call with `always`, before what nobody allowed with `on_miss`, never with `off`",
    },
    Key {
        name: "approvals.ask_fallback",
        kind: Kind::Choice(&MODES),
        default: "\"deny\"",
        narrowing: Narrowing::Tighter,
        help: "The mode that holds when a person should be asked and nobody can answer",
    },
    Key {
        name: "approvals.allow",
        kind: Kind::List,
        default: "[]",
        narrowing: Narrowing::Never,
        help: "Programs that may run, besides those of `metier approvals add`: names, or paths with `*`, `**` and `?`. Only uses that are known to be harmless are covered, and of a program in no table none",
    },
    Key {
        name: "approvals.allow_any_arguments",
        kind: Kind::List,
        default: "[]",
        narrowing: Narrowing::Never,
        help: "The same with any arguments, also those that make a program run others",
    },
    Key {
        name: "approvals.safe_bins",
        kind: Kind::List,
        default: r#"["cut", "uniq", "head", "tail", "tr", "wc"]"#,
        narrowing: Narrowing::Also,
        help: "Filters that may run as far as they only read what is piped into them",
    },
    Key {
        name: "approvals.trusted_dirs",
        kind: Kind::List,
        default: r#"["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"]"#,
        narrowing: Narrowing::Also,
        help: "Folders whose programs are what their names say",
    },
    Key {
        name: "approvals.auto_allow_skills",
        kind: Kind::Switch,
        default: "false",
        narrowing: Narrowing::Off,
        help: "Whether programs that the skills of an agent need may run: those in trusted folders, in uses that are known to be harmless",
    },
    Key {
        name: "approvals.variables",
        kind: Kind::List,
        default: r#"["LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CI", "PYTHONUNBUFFERED"]"#,
        narrowing: Narrowing::Also,
        help: "Variables that a command on the host may set for a program, and that a call may set there and where `skill_run` lists commands, beside those that its skill declares; `*` at the end stands for any ending",
    },
    Key {
        name: "exec.executor",
        kind: Kind::Choice(&EXECUTORS),
        default: "\"sandbox\"",
        narrowing: Narrowing::Never,
        help: "Who runs commands of skills: `sandbox`, `host` or `container`",
    },
    Key {
        name: "exec.network",
        kind: Kind::Words,
        default: "\"none\"",
        narrowing: Narrowing::Never,
        help: "What network runs have: `none`, `host`, or a list of `host:port`",
    },
    Key {
        name: "exec.host_inputs",
        kind: Kind::List,
        default: "[]",
        narrowing: Narrowing::Never,
        help: "Folders from which a run may take files of this machine as inputs",
    },
    Key {
        name: "exec.timeout",
        kind: Kind::Count,
        default: "300",
        narrowing: Narrowing::Smaller,
        help: "Seconds a run has when it does not say",
    },
    Key {
        name: "exec.max_timeout",
        kind: Kind::Count,
        default: "3600",
        narrowing: Narrowing::Smaller,
        help: "Most seconds a run may ask for",
    },
    Key {
        name: "exec.memory_mb",
        kind: Kind::Count,
        default: "2048",
        narrowing: Narrowing::Smaller,
        help: "Mebibytes of memory a run may use",
    },
    Key {
        name: "exec.processes",
        kind: Kind::Count,
        default: "256",
        narrowing: Narrowing::Smaller,
        help: "Processes a run may have at a time",
    },
    Key {
        name: "exec.disk_mb",
        kind: Kind::Count,
        default: "8192",
        narrowing: Narrowing::Smaller,
        help: "Mebibytes a run may write to the disk",
    },
    Key {
        name: "exec.require",
        kind: Kind::Choice(&REQUIREMENTS),
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "`full` refuses to run where only Landlock confines",
    },
    Key {
        name: "exec.degrade",
        kind: Kind::Switch,
        default: "false",
        narrowing: Narrowing::Off,
        help: "Whether the sandbox runs a command unconfined where the system offers nothing",
    },
    Key {
        name: "exec.container.image",
        kind: Kind::Text,
        default: "\"debian:stable-slim\"",
        narrowing: Narrowing::Never,
        help: "The image containers are made of; it needs a shell",
    },
    Key {
        name: "exec.container.socket",
        kind: Kind::Text,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "Where Docker or Podman listens, as `unix:///…`; else `DOCKER_HOST`, else the usual places",
    },
    Key {
        name: "exec.container.pull",
        kind: Kind::Switch,
        default: "false",
        narrowing: Narrowing::Off,
        help: "Whether the engine may fetch an image that it does not have",
    },
    Key {
        name: "workspace.folder",
        kind: Kind::Text,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "Where workspaces are; else `workspaces` in the state directory, or a folder of its own below `/var/lib/metier` where metier is root, may not mount, and programs could not come there",
    },
    Key {
        name: "workspace.ttl_days",
        kind: Kind::Count,
        default: "7",
        narrowing: Narrowing::Never,
        help: "Days after which the workspace of a session that nobody used is removed",
    },
    Key {
        name: "agent.model",
        kind: Kind::Text,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "The model to ask, as `provider/name`; else what the keys that are set give access to",
    },
    Key {
        name: "agent.tools",
        kind: Kind::Choice(&TOOLS),
        default: "\"full\"",
        narrowing: Narrowing::Never,
        help: "The tools a model is given: `full`, `knowledge`, `single` or `files`",
    },
    Key {
        name: "agent.instruction",
        kind: Kind::Text,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "What the agent is told of its job, instead of what metier says",
    },
    Key {
        name: "agent.guidance",
        kind: Kind::Text,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "What the agent is told of its tools, instead of what metier says; `none` for nothing",
    },
    Key {
        name: "agent.prompt",
        kind: Kind::Choice(&PROMPTS),
        default: "\"full\"",
        narrowing: Narrowing::Never,
        help: "What requests begin with: `full`, or `minimal` without the list of skills",
    },
    Key {
        name: "agent.max_requests",
        kind: Kind::Count,
        default: "50",
        narrowing: Narrowing::Smaller,
        help: "Requests to the model that one task may take",
    },
    Key {
        name: "agent.max_tokens",
        kind: Kind::Count,
        default: "0",
        narrowing: Narrowing::Never,
        help: "Tokens, read and written, that one task may take; 0 sets no bound",
    },
    Key {
        name: "agent.code_execution",
        kind: Kind::Switch,
        default: "false",
        narrowing: Narrowing::Off,
        help: "Whether the one block of bash or python in a reply is run in the sandbox, and its result given to the model",
    },
    Key {
        name: "context.tokens",
        kind: Kind::Count,
        default: "128000",
        narrowing: Narrowing::Smaller,
        help: "Tokens that fit into the model",
    },
    Key {
        name: "context.compact_at",
        kind: Kind::Count,
        default: "80",
        narrowing: Narrowing::Smaller,
        help: "Per cent of them at which older turns are summarised",
    },
    Key {
        name: "models.providers.*.base_url",
        kind: Kind::Text,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "Where a provider is asked; else `OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL`, or their own addresses, for `openai` and `anthropic`",
    },
    Key {
        name: "models.providers.*.key",
        kind: Kind::Secret,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "The key of a provider; else `OPENAI_API_KEY` and `ANTHROPIC_API_KEY` for `openai` and `anthropic`",
    },
    Key {
        name: "models.providers.*.format",
        kind: Kind::Choice(&FORMATS),
        default: "\"chat_completions\"",
        narrowing: Narrowing::Never,
        help: "How a provider is spoken to: `chat_completions`, `responses` or `messages`; for `anthropic` the default is `messages`",
    },
    Key {
        name: "models.providers.*.tool_choice",
        kind: Kind::Choice(&TOOL_CHOICES),
        default: "\"auto\"",
        narrowing: Narrowing::Never,
        help: "`constrained` has a server that can enforce it (llama.cpp, vLLM) make the model choose a skill, or none, when a task begins",
    },
    Key {
        name: "mcp.servers.*.command",
        kind: Kind::Words,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "The program of a server, a name or a whole path; or a list, with its arguments",
    },
    Key {
        name: "mcp.servers.*.args",
        kind: Kind::List,
        default: "[]",
        narrowing: Narrowing::Never,
        help: "Arguments of that program",
    },
    Key {
        name: "mcp.servers.*.env.*",
        kind: Kind::Secret,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "A variable that the program is given besides `PATH`, `HOME` and the like; `$OTHER` stands for one of yours",
    },
    Key {
        name: "mcp.servers.*.cwd",
        kind: Kind::Text,
        default: "\"~\"",
        narrowing: Narrowing::Never,
        help: "The folder in which the program starts; `.` is that in which metier was started",
    },
    Key {
        name: "mcp.servers.*.url",
        kind: Kind::Text,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "The address of a server, instead of a program",
    },
    Key {
        name: "mcp.servers.*.token_env",
        kind: Kind::Text,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "The variable with the bearer token for that address",
    },
    Key {
        name: "mcp.servers.*.headers.*",
        kind: Kind::Secret,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "A header that is sent to that address; `$OTHER` stands for one of your variables",
    },
    Key {
        name: "mcp.servers.*.tools",
        kind: Kind::Switch,
        default: "true",
        narrowing: Narrowing::Off,
        help: "Whether the agent may use the tools of a server",
    },
    Key {
        name: "mcp.servers.*.skills",
        kind: Kind::Switch,
        default: "false",
        narrowing: Narrowing::Off,
        help: "Whether the skills of a server are used",
    },
    Key {
        name: "mcp.servers.*.allow",
        kind: Kind::List,
        default: "[]",
        narrowing: Narrowing::Also,
        help: "Tools of a server that may be called without asking: names, with `*` for any part",
    },
    Key {
        name: "mcp.servers.*.deny",
        kind: Kind::List,
        default: "[]",
        narrowing: Narrowing::Longer,
        help: "Tools of a server that no model is offered: names, with `*` for any part",
    },
    Key {
        name: "mcp.servers.*.timeout",
        kind: Kind::Count,
        default: "60",
        narrowing: Narrowing::Smaller,
        help: "Seconds a call of a tool of a server may take, from 1 to 86400",
    },
    Key {
        name: "agents.defaults.workspace",
        kind: Kind::Text,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "The folder of the agent `default`; else `workspace` in the state directory. Other agents have `workspace-ID` there",
    },
    Key {
        name: "agents.defaults.skills",
        kind: Kind::Globs,
        default: "[]",
        narrowing: Narrowing::Also,
        help: "Names or globs of the only skills that agents use which have no list of their own; none if it is set and empty",
    },
    Key {
        name: "agents.*.workspace",
        kind: Kind::Text,
        default: "\"\"",
        narrowing: Narrowing::Never,
        help: "The agent's own folder, whose `skills` win over all others",
    },
    Key {
        name: "agents.*.skills",
        kind: Kind::Globs,
        default: "[]",
        narrowing: Narrowing::Also,
        help: "Names or globs of the only skills an agent uses, in place of `agents.defaults.skills`; none if it is set and empty",
    },
    Key {
        name: "agents.*.approvals.mode",
        kind: Kind::Choice(&MODES),
        default: "\"\"",
        narrowing: Narrowing::Tighter,
        help: "What an agent may run, if that is less than `approvals.mode`",
    },
    Key {
        name: "agents.*.approvals.ask",
        kind: Kind::Choice(&ASKING),
        default: "\"\"",
        narrowing: Narrowing::Tighter,
        help: "When a person is asked about commands of an agent, if that is more often than `approvals.ask`",
    },
    Key {
        name: "agents.*.approvals.ask_fallback",
        kind: Kind::Choice(&MODES),
        default: "\"\"",
        narrowing: Narrowing::Tighter,
        help: "The mode of an agent when nobody can answer, if that is less than `approvals.ask_fallback`",
    },
];

impl Key {
    /// The setting that a dotted name belongs to.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        // No agent is called so.
        let is_for_all = |name: &str| name.starts_with("agents.defaults.");
        KEYS.iter().filter(|key| is_for_all(key.name) == is_for_all(name)).find(|key| {
            let (mut wanted, mut given) = (key.name.split('.'), name.split('.'));
            loop {
                match (wanted.next(), given.next()) {
                    (None, None) => return true,
                    (Some(wanted), Some(given)) if wanted == "*" || wanted == given => {}
                    _ => return false,
                }
            }
        })
    }

    /// The words of a choice; where there is no default, an empty text is as good as nothing.
    pub(crate) fn words(&self) -> Vec<&'static str> {
        let Kind::Choice(choice) = self.kind else { return Vec::new() };
        let nothing = (self.default == "\"\"").then_some("");
        nothing.into_iter().chain(choice.words.iter().copied()).collect()
    }

    /// The value when nobody sets it.
    pub(crate) fn default_value(&self) -> Value {
        match self.kind {
            Kind::Switch => Value::Switch(self.default == "true"),
            Kind::Count => Value::Count(self.default.parse().unwrap_or_default()),
            Kind::Text | Kind::Secret | Kind::Choice(_) => {
                Value::Text(self.default.trim_matches('"').to_owned())
            }
            Kind::Words => Value::List(vec![self.default.trim_matches('"').to_owned()]),
            // Lists of plain texts are the same in TOML and JSON.
            Kind::List | Kind::Globs => {
                Value::List(serde_json::from_str(self.default).unwrap_or_default())
            }
        }
    }

    /// Whether the name has a part that the person chooses.
    pub(crate) fn is_in_map(&self) -> bool {
        self.name.contains('*')
    }
}

/// The variable that sets a key; keys in maps have none.
pub(crate) fn variable_name(key: &Key) -> Option<String> {
    (!key.is_in_map()).then(|| format!("METIER_{}", key.name.replace('.', "_").to_uppercase()))
}
