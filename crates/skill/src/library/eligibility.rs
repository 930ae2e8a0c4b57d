//! Eligibility: may this skill be used here, and if not, everything that is in the way.
//!
//! The one evaluator: lists, prompts, commands and `explain` all show its verdict.

use std::cell::{LazyCell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::advice::{EntryVariable, ProgramSource, SkillAdvice};
use crate::header::{Gate, InstallOption, Manifest, Requirements};
use crate::install::tool_links;
use crate::library::entry::tool_folders_of;
use crate::library::gather::Skill;
use crate::library::{ChangedSkill, Choices, ClaimRefusal, EntryChoice, EntryKey, EntryRefusal};
use crate::name::SkillName;

/// The facts a verdict depends on, given by the caller.
pub struct Machine<'a> {
    /// The system, as `linux`, `macos` or `windows`.
    pub os: &'a str,
    /// Where programs of every skill are looked for: the path of the executor that will run them.
    pub path: &'a [PathBuf],
    /// The folder of installed tools. Each skill also finds the programs that were installed for it there, and no
    /// others.
    pub tools: Option<&'a Path>,
    /// Where the person has programs of which the executor sees none: a skill that needs one is not
    /// usable, and is told why.
    pub unseen: &'a [PathBuf],
    /// Whether a variable is set to something.
    pub env: &'a dyn Fn(&str) -> bool,
    /// Whether a setting, by its dotted name, is true.
    pub config: &'a dyn Fn(&str) -> bool,
    /// Whether there is another server, by its name, or a tool of one, as `server/tool`.
    pub server: &'a dyn Fn(&str) -> bool,
    /// Programs that were looked for before; none at first.
    pub programs: RefCell<HashMap<String, bool>>,
}

impl<'a> Machine<'a> {
    /// A machine of which the system and the folders of programs are known: no variable is set, no setting is
    /// true, and there are no other servers. Every field can be set afterwards.
    pub fn new(os: &'a str, path: &'a [PathBuf]) -> Self {
        let programs = RefCell::new(HashMap::new());
        let unset = &|_: &str| false;
        Self {
            os,
            path,
            tools: None,
            unseen: &[],
            env: unset,
            config: unset,
            server: unset,
            programs,
        }
    }
}

impl fmt::Debug for Machine<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Machine")
            .field("os", &self.os)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// One thing that keeps a skill from being used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// `skills.enabled` is false.
    SkillsOff,
    /// `skills.entries.<key>.enabled` is false.
    Disabled {
        /// The key.
        key: String,
    },
    /// A pattern of `skills.denied` names it.
    Denied {
        /// Which.
        pattern: String,
    },
    /// A list of allowed skills does not name it.
    NotAllowed {
        /// Whose list.
        by: String,
    },
    /// Its project is not trusted.
    Untrusted,
    /// It changed since its project was trusted.
    Changed {
        /// The files that differ.
        files: Vec<String>,
    },
    /// It belongs to another server, and nobody trusted it as it is.
    Remote {
        /// The server.
        server: String,
        /// What differs from what was trusted; nothing if it never was.
        changes: Vec<String>,
    },
    /// Its server makes its files when they are asked for.
    Dynamic {
        /// The server.
        server: String,
    },
    /// Its requirements cannot be read.
    Unreadable {
        /// Why.
        reason: String,
    },
    /// It is for other systems.
    Os {
        /// Which.
        wanted: Vec<String>,
    },
    /// A variable is not set.
    Env {
        /// Which.
        name: String,
    },
    /// A setting is not true.
    Config {
        /// Which.
        key: String,
    },
    /// Another server is not there.
    Server {
        /// What it is called.
        name: String,
    },
    /// A tool of another server is switched off.
    Tool {
        /// Which, as `server/tool`.
        name: String,
    },
    /// A program is not there.
    Bin {
        /// Which.
        name: String,
        /// Where it is for the person, but not for those who run commands.
        unseen: Option<PathBuf>,
    },
    /// None of these programs is there.
    AnyBin {
        /// Which.
        names: Vec<String>,
    },
}

/// Whether a skill may be used; it may if nothing is in the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Everything in the way, in the order it was checked.
    pub blocks: Vec<Block>,
}

/// Unmet requirements by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// Programs.
    pub bins: Vec<String>,
    /// Programs of which one is needed.
    pub any_bins: Vec<String>,
    /// Variables.
    pub env: Vec<String>,
    /// Settings.
    pub config: Vec<String>,
    /// Systems it would work on.
    pub os: Vec<String>,
    /// Other servers, and tools of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<String>,
}

impl Verdict {
    /// Whether nothing is in the way.
    pub fn is_eligible(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Whether the person switched the skill off, rather than something being missing.
    pub fn is_switched_off(&self) -> bool {
        self.blocks.iter().any(|block| {
            matches!(
                block,
                Block::SkillsOff
                    | Block::Disabled { .. }
                    | Block::Denied { .. }
                    | Block::NotAllowed { .. }
            )
        })
    }

    /// The unmet requirements.
    pub fn missing(&self) -> Missing {
        let mut missing = Missing::default();
        for block in &self.blocks {
            match block {
                Block::Bin { name, .. } => missing.bins.push(name.clone()),
                Block::AnyBin { names } => missing.any_bins.clone_from(names),
                Block::Env { name } => missing.env.push(name.clone()),
                Block::Config { key } => missing.config.push(key.clone()),
                Block::Os { wanted } => missing.os.clone_from(wanted),
                Block::Server { name } | Block::Tool { name } => missing.mcp.push(name.clone()),
                _ => {}
            }
        }
        missing
    }
}

impl fmt::Display for Block {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SkillsOff => write!(formatter, "skills are switched off"),
            Self::Disabled { key } => write!(formatter, "`{key}` is disabled"),
            Self::Denied { pattern } => write!(formatter, "`{pattern}` is denied"),
            Self::NotAllowed { by } => write!(formatter, "not in {by}"),
            Self::Untrusted => write!(formatter, "the project is not trusted"),
            Self::Changed { files } => {
                write!(formatter, "changed since it was trusted: {}", files.join(", "))
            }
            Self::Remote { server, changes } if changes.is_empty() => {
                write!(formatter, "offered by the server {server} and not trusted")
            }
            Self::Remote { server, changes } => {
                let changes = changes.join(", ");
                write!(formatter, "changed on the server {server} since it was trusted: {changes}")
            }
            Self::Dynamic { server } => write!(
                formatter,
                "the server {server} makes its files when they are asked for, so nobody can tell what they are"
            ),
            Self::Unreadable { reason } => {
                write!(formatter, "requirements cannot be read: {reason}")
            }
            Self::Os { wanted } => write!(formatter, "needs {}", wanted.join(" or ")),
            Self::Env { name } => write!(formatter, "needs the variable {name}"),
            Self::Config { key } => write!(formatter, "needs the setting {key}"),
            Self::Server { name } => write!(formatter, "needs the MCP server {name}"),
            Self::Tool { name } => write!(formatter, "needs the tool {name} of an MCP server"),
            Self::Bin { name, unseen: None } => write!(formatter, "needs the program {name}"),
            Self::Bin { name, unseen: Some(place) } => write!(
                formatter,
                "needs the program {name}, and {} is where runs do not see it",
                place.display()
            ),
            Self::AnyBin { names } => {
                write!(formatter, "needs one of the programs {}", names.join(", "))
            }
        }
    }
}

impl Block {
    /// Returns the advice about it for a skill of this name, if there is any.
    pub(crate) fn advice(
        &self,
        name: &SkillName,
        manifest: &Manifest,
        entry_key: &EntryKey,
    ) -> Option<SkillAdvice> {
        let requirements = manifest.gate.requirements();
        let skill = || name.clone();
        Some(match self {
            Self::SkillsOff => SkillAdvice::EnableSkills,
            Self::Disabled { key } => SkillAdvice::EnableSkill { key: key.clone() },
            Self::Denied { pattern } => {
                SkillAdvice::RemoveDeniedPattern { pattern: pattern.clone() }
            }
            Self::NotAllowed { by } => SkillAdvice::AllowSkill { skill: skill(), list: by.clone() },
            Self::Untrusted => SkillAdvice::TrustProject,
            Self::Changed { .. } => ChangedSkill::REMEDY,
            Self::Remote { .. } => SkillAdvice::TrustRemoteSkill { skill: skill() },
            Self::Dynamic { .. } | Self::Os { .. } => return None,
            Self::Unreadable { .. } => SkillAdvice::CorrectHeader { folder: None },
            Self::Env { name } => {
                let primary = requirements.and_then(|it| it.primary_env.as_ref());
                let entry = entry_variable(entry_key, primary == Some(name));
                SkillAdvice::SetVariable { variable: name.clone(), entry }
            }
            Self::Config { key } => SkillAdvice::SetSetting { key: key.clone() },
            Self::Server { name } => SkillAdvice::DescribeServer { server: name.clone() },
            Self::Tool { name } => {
                let server = name.split('/').next().unwrap_or_default().to_owned();
                SkillAdvice::AllowTool { server }
            }
            Self::Bin { name: program, unseen } => {
                let programs = vec![program.clone()];
                installation(skill(), requirements?, programs, unseen.is_some())
            }
            Self::AnyBin { names } => installation(skill(), requirements?, names.clone(), false),
        })
    }
}

/// Returns where the configuration can hold a variable for the skill of a key; nowhere if the entry belongs to another skill.
fn entry_variable(entry_key: &EntryKey, is_primary: bool) -> Option<EntryVariable> {
    let source = match entry_key.refusal {
        None => None,
        Some(EntryRefusal::SourceNotNamed(source)) => Some(source),
        Some(EntryRefusal::OtherSource(_) | EntryRefusal::DottedKey) => return None,
    };
    Some(EntryVariable { key: entry_key.key.clone(), is_primary, source })
}

/// Returns the advice to install one of these programs, with the skill's own ways to do so.
fn installation(
    skill: SkillName,
    requirements: &Requirements,
    programs: Vec<String>,
    is_for_system: bool,
) -> SkillAdvice {
    let brings = |option: &&InstallOption| {
        option.bins.is_empty() || option.bins.iter().any(|bin| programs.contains(bin))
    };
    let sources = requirements.install.iter().filter(brings);
    let sources = sources
        .map(|option| ProgramSource { kind: option.kind, target: option.target.clone() })
        .collect();
    let refused = requirements.refused.clone();
    SkillAdvice::InstallPrograms { skill, programs, sources, refused, is_for_system }
}

/// Judges one skill.
pub(super) fn judge(
    skill: &Skill,
    entry_key: &EntryKey,
    choices: &Choices,
    machine: &Machine<'_>,
) -> Verdict {
    let Skill { name, manifest, .. } = skill;
    let entry = entry_key.granted().and_then(|key| choices.entries.get(key));
    let mut blocks = Vec::new();
    if !choices.enabled {
        blocks.push(Block::SkillsOff);
    }
    // Neither a key of its own nor a plugin's name before it gets a skill out of a refusal.
    let own_name = &manifest.name;
    let off =
        |key: &&str| choices.entries.get(*key).is_some_and(|entry| entry.enabled == Some(false));
    // A claim that does not count cannot get it out of one either, unless the key is another skill.
    let claim = match &entry_key.ignored_claim {
        Some((claim, refusal)) if *refusal != ClaimRefusal::NameOfASkill => claim.as_str(),
        _ => name.as_str(),
    };
    let keys = [entry_key.key.as_str(), claim, name.as_str(), own_name.as_str()];
    if let Some(key) = keys.into_iter().find(off) {
        blocks.push(Block::Disabled { key: key.to_owned() });
    }
    if let Some(pattern) = choices.denied.find(name).or_else(|| choices.denied.find(own_name)) {
        blocks.push(Block::Denied { pattern: pattern.to_owned() });
    }
    for (by, patterns) in &choices.allowed {
        if patterns.find(name).is_none() {
            blocks.push(Block::NotAllowed { by: by.clone() });
        }
    }
    blocks.extend(skill.distrust());
    match &manifest.gate {
        Gate::Unreadable(reason) => blocks.push(Block::Unreadable { reason: reason.clone() }),
        Gate::Readable(requirements) => {
            let by_name = skill.has_tools_by_name.then_some(&skill.name);
            // Asked for by few skills only: names of folders contain digests.
            let own = LazyCell::new(|| -> Vec<PathBuf> {
                let folders = machine.tools.map(|it| tool_folders_of(&skill.identity, by_name, it));
                folders.into_iter().flatten().map(|folder| tool_links(&folder)).collect()
            });
            let is_own = |name: &str| own.iter().any(|folder| is_program(&folder.join(name)));
            blocks.extend(machine.unmet(requirements, entry, &is_own));
        }
    }
    Verdict { blocks }
}

impl Machine<'_> {
    /// Returns what is missing, for a skill; `is_own` tells whether a program was installed for it.
    fn unmet(
        &self,
        requirements: &Requirements,
        entry: Option<&EntryChoice>,
        is_own: &dyn Fn(&str) -> bool,
    ) -> Vec<Block> {
        let has_program =
            |name: &str| self.has_program(name) || !name.contains('/') && is_own(name);
        let mut unmet = Vec::new();
        if !requirements.os.is_empty() && !requirements.os.iter().any(|os| is_system(os, self.os)) {
            unmet.push(Block::Os { wanted: requirements.os.clone() });
        }
        if requirements.always {
            return unmet;
        }
        for name in &requirements.env {
            let key_given = requirements.primary_env.as_ref() == Some(name)
                && entry.is_some_and(|entry| entry.has_api_key);
            let given = entry.is_some_and(|entry| entry.env.contains(name));
            if !key_given && !given && !(self.env)(name) {
                unmet.push(Block::Env { name: name.clone() });
            }
        }
        for key in requirements.config.iter().filter(|key| !(self.config)(key)) {
            unmet.push(Block::Config { key: key.clone() });
        }
        for name in requirements.servers.iter().filter(|name| !(self.server)(name)) {
            unmet.push(Block::Server { name: name.clone() });
        }
        for name in requirements.tools.iter().filter(|name| !(self.server)(name)) {
            let server = name.split('/').next().unwrap_or_default();
            let block = match (self.server)(server) {
                true => Block::Tool { name: name.clone() },
                false => Block::Server { name: server.to_owned() },
            };
            if !unmet.contains(&block) {
                unmet.push(block);
            }
        }
        for name in requirements.bins.iter().filter(|name| !has_program(name)) {
            let mut places = self.unseen.iter().map(|folder| folder.join(name));
            let unseen = places.find(|place| !name.contains('/') && is_program(place));
            unmet.push(Block::Bin { name: name.clone(), unseen });
        }
        let any = &requirements.any_bins;
        if !any.is_empty() && !any.iter().any(|name| has_program(name)) {
            unmet.push(Block::AnyBin { names: any.clone() });
        }
        unmet
    }

    /// Whether a program is there for every skill.
    pub fn has_program(&self, name: &str) -> bool {
        if let Some(known) = self.programs.borrow().get(name) {
            return *known;
        }
        let there = if name.contains('/') {
            Path::new(name).is_absolute() && is_program(Path::new(name))
        } else {
            !name.is_empty() && self.path.iter().any(|folder| is_program(&folder.join(name)))
        };
        self.programs.borrow_mut().insert(name.to_owned(), there);
        there
    }
}

/// Whether a name that skills use for a system is that of a system.
pub(crate) fn is_system(name: &str, os: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let same = match name.as_str() {
        "darwin" | "macos" | "mac" => "macos",
        "win32" | "windows" => "windows",
        other => other,
    };
    same == os
}

fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
