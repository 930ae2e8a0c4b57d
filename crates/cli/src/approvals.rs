//! What decides about commands on the host: settings and decisions, put together for one agent.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use metier_agent::host::{Machine, take_decisions};
use metier_approval::{
    ArgumentRule, Ask, Facts, Mode, Policy, ProtectedPlaces, Rules, SkillProgram,
};
use metier_config::{ApprovalAsk, ApprovalMode};
use metier_session::{Decision, DecisionStore};
use metier_skill::library::{Entry, Place, Snapshot};

use crate::context::Context;
use crate::failure::Failure;
use crate::roots;
use crate::runs::block_on;

/// Rules that take nothing away from others.
const ALL: Rules = Rules { mode: Mode::Full, ask: Ask::Off, fallback: Mode::Full };
/// How entries of the configuration are known; a number follows.
pub(crate) const CONFIGURED: &str = "approvals.allow";
/// The same for those that cover any arguments.
pub(crate) const CONFIGURED_ANY: &str = "approvals.allow_any_arguments";

impl Context {
    /// What decides about commands of an agent at this moment.
    ///
    /// # Errors
    ///
    /// When the settings cannot be followed or the decisions cannot be read. Then nothing may run.
    pub(crate) fn policy(&self, agent: &str, skills: &Snapshot) -> Result<Policy, Failure> {
        let mut policy = self.configured_policy(agent, skills)?;
        take_decisions(&mut policy, self.decisions(Some(agent))?);
        Ok(policy)
    }

    /// Decisions of people: those that hold for an agent, or all there are.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub(crate) fn decisions(&self, agent: Option<&str>) -> Result<Vec<Decision>, Failure> {
        let Some(store) = self.existing_sessions()? else { return Ok(Vec::new()) };
        block_on(async { Ok(store.decisions(agent).await?) })
    }

    /// The same without what people decided when they were asked, or by `metier approvals`.
    ///
    /// # Errors
    ///
    /// When the settings cannot be followed.
    pub(crate) fn configured_policy(
        &self,
        agent: &str,
        skills: &Snapshot,
    ) -> Result<Policy, Failure> {
        let folder = roots::real(&roots::workspace(&self.environment, &self.config, agent));
        Ok(Policy {
            rules: self.rules(agent),
            entries: self.configured_entries()?,
            remembered: Vec::new(),
            safe_programs: self.config.approvals.safe_bins.narrowed(),
            trusted_folders: self.trusted_folders()?,
            skill_programs: self.skill_programs(skills, &folder),
            writable: vec![folder],
            variables: self.config.approvals.variables.narrowed(),
            protected: self.protected_places(),
        })
    }

    /// Places that no command writes unasked, as they are named and as they are.
    fn protected_places(&self) -> ProtectedPlaces {
        let both = |folders: Vec<PathBuf>| {
            let mut places = Vec::new();
            for folder in folders.into_iter().filter(|folder| folder.is_absolute()) {
                for folder in [roots::real(&folder), folder] {
                    if !places.contains(&folder) {
                        places.push(folder);
                    }
                }
            }
            places
        };
        ProtectedPlaces {
            own: both(vec![self.environment.state()]),
            session: Vec::new(),
            homes: both(self.environment.home.iter().cloned().collect()),
            programs: both([self.every_program_path(), self.environment.path()].concat()),
        }
    }

    /// This machine as commands on it find it.
    pub(crate) fn machine(&self) -> Machine {
        Machine { path: self.every_program_path() }
    }

    /// A pattern for programs as it is judged by: a name, or a whole path.
    ///
    /// # Errors
    ///
    /// When it is neither.
    pub(crate) fn program_pattern(&self, text: &str) -> Result<String, Failure> {
        let refused = |rule: &str| {
            Err(Failure::usage(format!("`{text}` is no pattern for programs: {rule}")).hint(
                "write a name such as `ls`, or a whole path such as `/usr/bin/*` or `~/bin/tool`",
            ))
        };
        if text.trim().is_empty() {
            return refused("it is empty");
        }
        if text.trim() != text || text.chars().any(char::is_control) {
            return refused("no program is called so");
        }
        if !text.contains('/') && !text.starts_with('~') {
            return Ok(text.to_owned());
        }
        let path = self.environment.expand(text, Path::new(""));
        let is_whole = path.is_absolute()
            && !path.components().any(|part| part == std::path::Component::ParentDir);
        match path.into_os_string().into_string() {
            Ok(path) if is_whole => Ok(path),
            _ => refused("a path must be whole, from `/` or `~/` on, without `..`"),
        }
    }

    /// The rules for an agent: its own can only take away from those for all.
    pub(crate) fn rules(&self, agent: &str) -> Rules {
        let settings = &self.config.approvals;
        let all = Rules {
            mode: mode(*settings.mode),
            ask: ask(*settings.ask),
            fallback: mode(*settings.ask_fallback),
        };
        let Some(own) = self.config.agents.get(agent).map(|own| &own.approvals) else { return all };
        all.and(Rules {
            mode: own.mode.map_or(ALL.mode, mode),
            ask: own.ask.map_or(ALL.ask, ask),
            fallback: own.ask_fallback.map_or(ALL.fallback, mode),
        })
    }

    /// Returns the entries that the settings have.
    ///
    /// # Errors
    ///
    /// When one of them is no pattern.
    pub(crate) fn configured_entries(&self) -> Result<Vec<metier_approval::Entry>, Failure> {
        let mut entries = Vec::new();
        let settings = &self.config.approvals;
        for (setting, texts, rule) in [
            (CONFIGURED, &settings.allow, ArgumentRule::Known),
            (CONFIGURED_ANY, &settings.allow_any_arguments, ArgumentRule::Any),
        ] {
            for (text, number) in texts.iter().zip(1..) {
                let pattern = self.program_pattern(text)?;
                let (id, arguments) = (format!("{setting}:{number}"), rule.clone());
                entries.push(metier_approval::Entry { id, pattern, arguments, directory: None });
            }
        }
        Ok(entries)
    }

    /// Folders whose programs are what their names say, as they are named and as they are.
    ///
    /// # Errors
    ///
    /// When one of them is not a whole path.
    pub(crate) fn trusted_folders(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut folders = Vec::new();
        for text in self.config.approvals.trusted_dirs.narrowed() {
            let folder = self.environment.expand(&text, Path::new(""));
            if !folder.is_absolute() {
                return Err(Failure::usage(format!(
                    "`approvals.trusted_dirs` has `{text}`, which is no whole path"
                ))
                .hint("write it from `/` or `~/` on"));
            }
            for folder in [roots::real(&folder), folder] {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        Ok(folders)
    }

    /// Programs that usable skills need or bring, if those may run.
    fn skill_programs(&self, skills: &Snapshot, folder: &Path) -> Vec<SkillProgram> {
        if !*self.config.approvals.auto_allow_skills {
            return Vec::new();
        }
        let mut programs = Vec::new();
        // What an agent may write could be of its own making, and another server asks for nothing.
        let is_foreign = |entry: &&Entry| match &entry.place {
            Place::Folder { file, .. } => roots::real(file).starts_with(folder),
            Place::Remote(_) => true,
            Place::Bundled(_) => false,
        };
        let usable = skills.entries.iter().filter(|entry| entry.verdict.is_eligible());
        for entry in usable.filter(|entry| !is_foreign(entry)) {
            let Some(needs) = entry.manifest.gate.requirements() else { continue };
            let installed = needs.install.iter().flat_map(|option| &option.bins);
            let names: BTreeSet<&String> =
                needs.bins.iter().chain(&needs.any_bins).chain(installed).collect();
            let machine = Machine { path: self.program_path(entry) };
            for name in names.into_iter().filter(|name| !name.contains('/')) {
                programs.extend(machine.executable(Path::new("/"), name).map(|found| {
                    let (name, skill) = (name.clone(), entry.name.to_string());
                    SkillProgram { name, real: found.file.real, skill }
                }));
            }
        }
        programs
    }
}

fn mode(mode: ApprovalMode) -> Mode {
    match mode {
        ApprovalMode::Deny => Mode::Deny,
        ApprovalMode::Allowlist => Mode::Allowlist,
        ApprovalMode::Full => Mode::Full,
    }
}

fn ask(ask: ApprovalAsk) -> Ask {
    match ask {
        ApprovalAsk::Always => Ask::Always,
        ApprovalAsk::OnMiss => Ask::OnMiss,
        ApprovalAsk::Off => Ask::Off,
    }
}
