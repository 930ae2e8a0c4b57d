//! The tables of a configuration file, each with what it is about.

use crate::settings::{KEYS, Key, Kind, Narrowing};

/// A table of the file.
#[derive(Debug)]
pub(crate) struct Section {
    /// Its dotted name; `*` stands for a name the person chooses.
    pub name: &'static str,
    /// What it is about.
    pub help: &'static str,
}

/// Every table, in the order of the keys.
pub(crate) const SECTIONS: &[Section] = &[
    Section {
        name: "skills",
        help: "Where skills are, which of them are used, and what telling a model about them may cost.",
    },
    Section {
        name: "skills.entries.*",
        help: "One skill, by its name. The `skillKey` of a skill that you keep counts instead of its name if no skill has that name, no other skill claims it and the default sources are searched.",
    },
    Section {
        name: "skills.install",
        help: "How `metier skills install-deps` installs the programs that skills need.",
    },
    Section {
        name: "skill_run",
        help: "Which commands a model may run in skills. These lists come on top of every other check.",
    },
    Section {
        name: "approvals",
        help: "Which commands of a model may run on this machine itself, outside the sandbox, and when a person is asked. Calls of tools of other servers are judged by the same settings.",
    },
    Section {
        name: "exec",
        help: "How commands of skills are run: who runs them, and what they may use. The bounds hold for every run.",
    },
    Section {
        name: "exec.container",
        help: "The containers of `exec.executor = \"container\"`, made by Docker or Podman.",
    },
    Section {
        name: "workspace",
        help: "The folders in which commands of skills work, one for each session.",
    },
    Section {
        name: "agent",
        help: "The agent of `metier run` and `metier chat`: its model, its tools, and how long it may work.",
    },
    Section { name: "context", help: "How much of a conversation a request carries." },
    Section {
        name: "models.providers.*",
        help: "Who answers for models, by the first part of a model's name. `openai` and `anthropic` are known; any other name is a server that speaks like one of them.",
    },
    Section {
        name: "mcp.servers.*",
        help: "Another server of the Model Context Protocol whose tools or skills are used. It is a program (`command`) or an address (`url`). Its name is up to 32 letters, digits, `-` and `_`.",
    },
    Section {
        name: "agents.defaults",
        help: "What holds for every agent that has no setting of its own.",
    },
    Section {
        name: "agents.*",
        help: "One agent, by the name that `--agent` takes: lowercase letters, digits and hyphens.",
    },
    Section {
        name: "agents.*.approvals",
        help: "What one agent may run. It can only be less than `approvals` says.",
    },
];

impl Section {
    /// The keys that stand in this table.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static Key> {
        KEYS.iter().filter(|key| Self::of(key).is_some_and(|section| section.name == self.name))
    }

    /// The table in which a key stands: the innermost that has a text of its own.
    pub(crate) fn of(key: &Key) -> Option<&'static Self> {
        let holds = |section: &&Self| rest(key.name, section.name).is_some();
        SECTIONS.iter().filter(holds).max_by_key(|section| section.name.len())
    }

    /// What a key is called in this table.
    pub(crate) fn rest(&self, key: &Key) -> &'static str {
        rest(key.name, self.name).unwrap_or(key.name)
    }
}

fn rest(name: &'static str, section: &str) -> Option<&'static str> {
    name.strip_prefix(section)?.strip_prefix('.')
}

/// What a value is, for people.
pub(crate) fn kind_name(kind: Kind) -> String {
    match kind {
        Kind::Switch => "`true` or `false`".to_owned(),
        Kind::Count => "whole number".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Secret => "secret text, which is never shown".to_owned(),
        Kind::List => "list of texts".to_owned(),
        Kind::Globs => "list of names or globs of names".to_owned(),
        Kind::Words => "text or list of texts".to_owned(),
        Kind::Choice(choice) => format!("one of {}", choice.said),
    }
}

/// What a project may do with a setting, for people.
pub(crate) fn narrowing_name(narrowing: Narrowing) -> &'static str {
    match narrowing {
        Narrowing::Never => "may not set it",
        Narrowing::Off => "may switch it off",
        Narrowing::Smaller => "may lower it",
        Narrowing::Tighter => "may tighten it",
        Narrowing::Longer => "may add to it",
        Narrowing::Also => "may add a list that must hold too",
    }
}
