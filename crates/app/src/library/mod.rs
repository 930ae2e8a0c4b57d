//! The skills there are: gathered from all sources, judged, and looked up by name.

pub mod choices;
pub mod live;
pub mod lookup;

use std::error::Error as _;
use std::path::PathBuf;

use metier_config::ConfigError;
use metier_skill::diagnostic::{Code, Severity};
use metier_skill::discover::{BundledSkill, ScanOptions, scan};
use metier_skill::install::{separate_shared_links, tool_links};
use metier_skill::library::{
    self, Choices, Entry, LibraryOptions, Machine, Patterns, Snapshot, TrustPolicy, TrustStore,
};
use metier_skill::problem::Problem;
use metier_workspace::environment::SYSTEM_PATH;

use crate::app::App;
use crate::bundled::BUNDLED;
use crate::error::AppError;
use crate::reporter::{Activity, Notice};
use crate::sources::remote::NetworkSources;
use crate::sources::roots::{self, SourceRoots};
use crate::sources::{SourceSelection, archives};

/// Most folders of installed tools that are looked at: each belongs to a skill that a person installed something for.
const MAX_TOOL_FOLDERS: usize = 10_000;

impl App {
    /// Gathers the skills there are.
    ///
    /// # Errors
    ///
    /// When a filter or the name of a server cannot be understood.
    pub async fn library(&self, sources: &SourceSelection) -> Result<Snapshot, AppError> {
        let working = self.reporter.begin(&Activity::LookingForSkills);
        let network = self.ask_network_sources(sources, &*working).await?;
        self.library_with(sources, &network)
    }

    /// Gathers the skills there are, with what servers and archives gave before.
    ///
    /// # Errors
    ///
    /// When a filter cannot be understood.
    pub fn library_with(
        &self,
        sources: &SourceSelection,
        network: &NetworkSources,
    ) -> Result<Snapshot, AppError> {
        let NetworkSources { offers, archives } = network;
        let SourceRoots { roots, problems, is_partial } =
            SourceRoots::find(self, sources, archives);
        let mut choices = self.choices(sources)?;
        choices.are_claims_counted &= !is_partial;
        let (path, tools) = (system_path(), self.tools());
        if let Err(error) = separate_shared_links(&tools) {
            self.reporter.notice(&Notice::ToolsShared { folder: tools.join("bin"), error });
        }
        let servers = self.mcp_names();
        let machine = Machine {
            tools: Some(&tools),
            unseen: &self.environment.path(),
            env: &|name| self.environment.variable(name).is_some(),
            config: &|name| self.config.meets(name),
            server: &|name| servers.has(name),
            ..Machine::new(std::env::consts::OS, &path)
        };
        let digests = self.digests();
        let (store, trust_problem) = self.trust_store();
        let trust = if sources.trust_project {
            TrustPolicy::AsFirstSeen { store: &store, digests: &digests, first: &self.first_look }
        } else {
            TrustPolicy::Recorded { store: &store, digests: &digests }
        };
        let remote = offers.judged(&store, &self.remote_store());
        let bundled: &[BundledSkill] = if sources.no_default_sources { &[] } else { BUNDLED };
        let cache = self.cache();
        let mut snapshot = library::build(&LibraryOptions {
            roots: &roots,
            bundled,
            remote: &remote,
            choices: &choices,
            machine: &machine,
            trust,
            cache: Some(&cache),
            catalog_tokens: *self.config.skills.catalog_tokens,
        });
        if sources.trust_project {
            self.first_look.end();
        }
        digests.save();
        snapshot.problems.extend(problems);
        snapshot.problems.extend(offers.problems.iter().cloned());
        snapshot.problems.extend(trust_problem);
        snapshot.problems.extend(self.config_problems());
        snapshot.problems.sort();
        Ok(snapshot)
    }

    /// Asks servers for the skills they offer, and brings archives up to date.
    ///
    /// # Errors
    ///
    /// When the name of a server cannot be understood.
    pub async fn ask_network_sources(
        &self,
        sources: &SourceSelection,
        working: &dyn crate::OngoingActivity,
    ) -> Result<NetworkSources, AppError> {
        let offers = self.ask_servers(sources, working).await?;
        let archives = archives::fetch(self, sources, working).await;
        Ok(NetworkSources { offers, archives })
    }

    /// Brings archives up to date, and asks no server.
    ///
    /// # Errors
    ///
    /// When the name of a server cannot be understood.
    pub async fn ask_archives(
        &self,
        sources: &SourceSelection,
        working: &dyn crate::OngoingActivity,
    ) -> Result<NetworkSources, AppError> {
        let offers = self.unasked_servers(sources)?;
        let archives = archives::fetch(self, sources, working).await;
        Ok(NetworkSources { offers, archives })
    }

    /// Returns what is known without the network: servers that were not asked, and archives as they were fetched last.
    ///
    /// # Errors
    ///
    /// When the name of a server cannot be understood.
    pub fn sources_at_hand(&self, sources: &SourceSelection) -> Result<NetworkSources, AppError> {
        Ok(NetworkSources { offers: self.unasked_servers(sources)?, ..NetworkSources::default() })
    }

    /// Returns the settings of projects and of the machine that are not in force.
    pub fn config_problems(&self) -> Vec<Problem> {
        let hint = |error: &ConfigError| self.reporter.config_hint(error);
        let warnings = self.config.warnings.iter();
        let mut problems: Vec<Problem> =
            warnings.map(|warning| choices::problem_of(warning, hint)).collect();
        problems.sort();
        problems
    }

    /// Reports findings that are more than a note.
    pub fn report(&self, problems: &[Problem]) {
        let grave = problems.iter().filter(|it| it.severity > Severity::Note);
        self.reporter.problems(&grave.cloned().collect::<Vec<_>>());
    }

    /// Returns the folders in which commands of a skill find programs: those of the system, then that of the tools
    /// that were installed for the skill. What else is on the person's own `PATH` is not there for them.
    pub fn program_path(&self, entry: &Entry) -> Vec<PathBuf> {
        let mut folders = system_path();
        folders.extend(entry.tool_folders(&self.tools()).iter().map(|folder| tool_links(folder)));
        folders
    }

    /// Returns the folders in which commands of no skill in particular find programs: those of the system, then those
    /// of the tools of all skills.
    pub fn every_program_path(&self) -> Vec<PathBuf> {
        let installed =
            std::fs::read_dir(self.tools()).into_iter().flatten().take(MAX_TOOL_FOLDERS);
        let installed = installed.filter_map(|entry| Some(tool_links(&entry.ok()?.path())));
        let mut installed: Vec<PathBuf> = installed.filter(|links| links.is_dir()).collect();
        installed.sort();
        let mut folders = system_path();
        folders.append(&mut installed);
        folders
    }

    fn choices(&self, sources: &SourceSelection) -> Result<Choices, AppError> {
        let mut choices = choices::choices(&self.config, &sources.agent)?;
        if sources.no_skills {
            choices.enabled = false;
        }
        if !sources.only.is_empty() {
            choices.allowed.push(("`--skill`".to_owned(), Patterns::new(&sources.only)?));
        }
        choices.are_claims_counted = !sources.no_default_sources;
        if !choices.entries.is_empty() {
            self.reserve_names_of_other_agents(&mut choices, &sources.agent);
        }
        Ok(choices)
    }

    /// Reserves the names of skills in the workspaces of other agents: their settings belong to them.
    fn reserve_names_of_other_agents(&self, choices: &mut Choices, agent: &str) {
        let roots = roots::other_workspaces(&self.environment, &self.config, agent);
        for scan in scan(&ScanOptions { roots: &roots, cache: Some(&self.cache()) }) {
            choices.are_claims_counted &= !scan.is_partial;
            let found = scan.found.into_iter().map(|found| found.manifest.name.to_string());
            choices.reserved_names.extend(found.chain(scan.unread));
        }
    }

    /// Loads recorded trust. A file that cannot be read trusts no project, and is reported.
    fn trust_store(&self) -> (TrustStore, Option<Problem>) {
        let file = self.trust_file();
        match TrustStore::load(&file) {
            Ok(store) => (store, None),
            Err(error) => {
                let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                let message = format!("cannot be used: {why}; until then no project is trusted");
                let problem = Problem::new(Code::Untrusted, &file, message);
                let help = self.reporter.wording(&error.into()).hint.unwrap_or_default();
                (TrustStore::default(), Some(problem.help(help)))
            }
        }
    }
}

/// Returns the folders of the system's programs.
fn system_path() -> Vec<PathBuf> {
    std::env::split_paths(SYSTEM_PATH).collect()
}
