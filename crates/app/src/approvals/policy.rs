//! The policy for commands on the host: configuration and decisions, put together for one agent.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use metier_agent::host::{Machine, take_decisions};
use metier_approval::{
    ArgumentRule, Ask, Facts, Mode, Policy, ProtectedPlaces, Rules, SkillProgram,
};
use metier_config::{ApprovalAsk, ApprovalMode};
use metier_skill::library::{Entry, Place, Snapshot};

use super::{ApprovalSettingsError, ProgramPatternRule};
use crate::app::App;
use crate::error::AppError;
use crate::sources::roots;

/// Rules that take nothing away from others.
const ALL: Rules = Rules { mode: Mode::Full, ask: Ask::Off, fallback: Mode::Full };
/// The prefix of ids of entries of the configuration; a number follows.
pub const CONFIGURED: &str = "approvals.allow";
/// The same for those that cover any arguments.
pub const CONFIGURED_ANY: &str = "approvals.allow_any_arguments";

impl App {
    /// Returns the policy for commands of an agent at this moment.
    ///
    /// # Errors
    ///
    /// When the configuration cannot be followed or the decisions cannot be read. Then nothing may run.
    pub async fn policy(&self, agent: &str, skills: &Snapshot) -> Result<Policy, AppError> {
        let mut policy = self.configured_policy(agent, skills)?;
        take_decisions(&mut policy, self.decisions(Some(agent)).await?);
        Ok(policy)
    }

    /// Returns the policy of the configuration, without what people decided when they were asked or beforehand.
    ///
    /// # Errors
    ///
    /// When the settings cannot be followed.
    pub fn configured_policy(
        &self,
        agent: &str,
        skills: &Snapshot,
    ) -> Result<Policy, ApprovalSettingsError> {
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

    /// Returns the places that no command writes unasked, as they are named and as they are.
    fn protected_places(&self) -> ProtectedPlaces {
        let mut own = vec![self.environment.state().to_owned()];
        own.push(self.environment.machine_settings.clone());
        own.extend(self.workspace_folders());
        ProtectedPlaces {
            own: every_form(own),
            session: Vec::new(),
            homes: every_form(self.environment.home.iter().cloned()),
            skills: every_form(roots::named_sources(&self.environment, &self.config)),
            programs: every_form([self.every_program_path(), self.environment.path()].concat()),
        }
    }

    /// Returns this machine as commands on it find it.
    pub fn machine(&self) -> Machine {
        Machine { path: self.every_program_path() }
    }

    /// Reads a pattern for programs as it is judged by: a name, or a whole path.
    ///
    /// # Errors
    ///
    /// When it is neither.
    pub fn program_pattern(&self, text: &str) -> Result<String, ApprovalSettingsError> {
        let refused = |rule| {
            let pattern = text.to_owned();
            Err(ApprovalSettingsError::ProgramPattern { pattern, rule })
        };
        if text.trim().is_empty() {
            return refused(ProgramPatternRule::NotEmpty);
        }
        if text.trim() != text || text.chars().any(char::is_control) {
            return refused(ProgramPatternRule::Name);
        }
        if !text.contains('/') && !text.starts_with('~') {
            return Ok(text.to_owned());
        }
        let path = self.environment.expand(text, Path::new(""));
        let is_whole = path.is_absolute()
            && !path.components().any(|part| part == std::path::Component::ParentDir);
        match path.into_os_string().into_string() {
            Ok(path) if is_whole => Ok(path),
            _ => refused(ProgramPatternRule::WholePath),
        }
    }

    /// Returns the rules for an agent: its own can only take away from those for all.
    pub fn rules(&self, agent: &str) -> Rules {
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
    pub fn configured_entries(&self) -> Result<Vec<metier_approval::Entry>, ApprovalSettingsError> {
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

    /// Returns the folders whose programs are what their names say, as they are named and as they are.
    ///
    /// # Errors
    ///
    /// When one of them is not a whole path.
    pub fn trusted_folders(&self) -> Result<Vec<PathBuf>, ApprovalSettingsError> {
        let mut folders = Vec::new();
        for text in self.config.approvals.trusted_dirs.narrowed() {
            let folder = self.environment.expand(&text, Path::new(""));
            if !folder.is_absolute() {
                return Err(ApprovalSettingsError::TrustedFolder { folder: text });
            }
            for folder in [roots::real(&folder), folder] {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        Ok(folders)
    }

    /// Returns the programs that usable skills need or bring, if those may run.
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

/// Returns absolute places as they are named, with links followed, and in their real folder under their own name: what
/// is a link itself can be replaced there.
fn every_form(places: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut forms = Vec::new();
    for place in places.into_iter().filter(|place| place.is_absolute()) {
        let beside = real_folder_of(&place);
        for form in [roots::real(&place), place].into_iter().chain(beside) {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

/// Returns a place with the links above it followed, as far as there is something.
fn real_folder_of(place: &Path) -> Option<PathBuf> {
    let above = place.ancestors().skip(1);
    let (folder, real) =
        above.filter_map(|it| Some((it, std::fs::canonicalize(it).ok()?))).next()?;
    Some(real.join(place.strip_prefix(folder).ok()?))
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
