//! What every command about skills needs: settings, roots, and the snapshot made of them.

use std::error::Error as _;
use std::path::PathBuf;

use metier_agent::library::{read_entry, read_tree};
use metier_config::Config;
use metier_skill::diagnostic::{Code, Severity};
use metier_skill::discover::{BundledSkill, ScanOptions, scan};
use metier_skill::files::{DigestCache, TokenCache};
use metier_skill::install::{separate_shared_links, tool_links};
use metier_skill::library::{
    self, Choices, Entry, FirstLook, LibraryOptions, Machine, Patterns, Place, Snapshot,
    TrustPolicy, TrustStore,
};
use metier_skill::problem::Problem;
use metier_skill::search::edit_distance;
use metier_workspace::environment::SYSTEM_PATH;
use metier_workspace::{Redactor, Tree};

use crate::archives::Reach;
use crate::args::SourceArgs;
use crate::bundled::BUNDLED;
use crate::config;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::failure::advice::ProblemText;
use crate::masking;
use crate::output::{Output, style};
use crate::remote::{self, Offers, Servers};
use crate::roots::{self, Project, Roots};

/// What is said while it is looked for skills.
pub(crate) const LOOKING: &str = "looking for skills";

/// Wrong characters with which a name is still recognised.
const MAX_SLIPS: usize = 2;

/// Most folders of installed tools that are looked at: each belongs to a skill that a person installed something for.
const MAX_TOOL_FOLDERS: usize = 10_000;

/// The state of one run of the program.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// The world outside.
    pub environment: Environment,
    /// The configuration in force.
    pub config: Config,
    /// Where answers go.
    pub output: Output,
    /// Servers whose skills this run may use.
    pub servers: Servers,
    /// How the skills of projects were when this run first looked, which counts with `--trust-project`.
    first_look: FirstLook,
    /// Masks the values of all configured keys.
    pub redactor: Redactor,
}

impl Context {
    /// Loads the settings.
    ///
    /// # Errors
    ///
    /// When they cannot be understood.
    pub(crate) fn new(environment: Environment, output: Output) -> Result<Self, Failure> {
        if !environment.has_state() {
            return Err(no_state());
        }
        let project = Project::of(&environment.folder);
        let config = config::load(&environment, &project.configured_folders(&environment))?;
        let redactor = masking::begin(&config, &environment)?;
        let (servers, first_look) = (Servers::default(), FirstLook::default());
        Ok(Self { environment, config, output, servers, first_look, redactor })
    }

    /// Where things that save time are kept.
    pub(crate) fn cache(&self) -> PathBuf {
        self.environment.state().join("cache")
    }

    /// Where tools are that were installed for skills. Programs are shown it at this place, so it has
    /// no links on its way.
    pub(crate) fn tools(&self) -> PathBuf {
        roots::real(&self.environment.state()).join("tools")
    }

    /// Returns the folders in which commands of a skill find programs: those of the system, then that of the tools
    /// that were installed for the skill. What else is on the person's own `PATH` is not there for them.
    pub(crate) fn program_path(&self, entry: &Entry) -> Vec<PathBuf> {
        let mut folders = system_path();
        folders.extend(entry.tool_folders(&self.tools()).iter().map(|folder| tool_links(folder)));
        folders
    }

    /// Returns the folders in which commands of no skill in particular find programs: those of the system, then those
    /// of the tools of all skills.
    pub(crate) fn every_program_path(&self) -> Vec<PathBuf> {
        let installed =
            std::fs::read_dir(self.tools()).into_iter().flatten().take(MAX_TOOL_FOLDERS);
        let installed = installed.filter_map(|entry| Some(tool_links(&entry.ok()?.path())));
        let mut installed: Vec<PathBuf> = installed.filter(|links| links.is_dir()).collect();
        installed.sort();
        let mut folders = system_path();
        folders.append(&mut installed);
        folders
    }

    /// Where trust in projects is kept.
    pub(crate) fn trust_file(&self) -> PathBuf {
        self.environment.state().join("trust.json")
    }

    /// Digests of files that were read before.
    pub(crate) fn digests(&self) -> DigestCache {
        DigestCache::open(self.cache().join("digests"))
    }

    /// Token counts of files that were read before.
    pub(crate) fn token_counts(&self) -> TokenCache {
        TokenCache::open(self.cache().join("tokens"))
    }

    /// The skills there are.
    ///
    /// # Errors
    ///
    /// When a filter cannot be read.
    pub(crate) fn library(&self, sources: &SourceArgs) -> Result<Snapshot, Failure> {
        let working = self.output.working(LOOKING);
        let offers = self.ask_servers(sources, &working)?;
        self.library_with(sources, &offers, &Reach::Network(&working))
    }

    /// The skills there are, with what servers offered before.
    ///
    /// # Errors
    ///
    /// As for [`Context::library`].
    pub(crate) fn library_with(
        &self,
        sources: &SourceArgs,
        offers: &Offers,
        reach: &Reach<'_>,
    ) -> Result<Snapshot, Failure> {
        let Roots { roots, problems, is_partial } =
            Roots::find(&self.environment, &self.config, sources, reach);
        let mut choices = self.choices(sources)?;
        choices.are_claims_counted &= !is_partial;
        let (path, tools) = (system_path(), self.tools());
        if let Err(error) = separate_shared_links(&tools) {
            let text = format!(
                "programs in `{}` cannot be given to the skills they were installed for: {error}",
                tools.join("bin").display()
            );
            self.output.note(style::WARN, "note: ", &text);
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

    /// The skill of a name, usable or not.
    ///
    /// # Errors
    ///
    /// When there is none, with the names that come closest, or one that cannot be read.
    pub(crate) fn find<'a>(
        &self,
        snapshot: &'a Snapshot,
        name: &str,
    ) -> Result<&'a Entry, Failure> {
        snapshot.find(name).ok_or_else(|| {
            if let Some(failure) = unusable(snapshot, name) {
                return failure;
            }
            let failure = Failure::new(format!("there is no skill `{name}`"));
            match nearest(snapshot, name) {
                Some(other) => failure.hint(format!("did you mean `{other}`?")),
                None => failure.hint("`metier skills list --all` shows every skill that was found"),
            }
        })
    }

    /// The folder of a skill; a bundled one is unpacked first, one of another server fetched.
    ///
    /// # Errors
    ///
    /// When it cannot be unpacked, or is not here.
    pub(crate) fn folder_of(&self, entry: &Entry) -> Result<PathBuf, Failure> {
        match &entry.place {
            Place::Folder { file, .. } => Ok(file.parent().unwrap_or(file).to_owned()),
            Place::Bundled(skill) => {
                let content = self.environment.state().join("content");
                skill.unpack(&content).map_err(|error| {
                    Failure::new(format!(
                        "cannot unpack the bundled skill `{}` into `{}`: {error}",
                        entry.name,
                        content.display()
                    ))
                    .hint("set METIER_HOME to a folder that you can write to")
                    .unless_full(&error)
                })
            }
            Place::Remote(skill) => self.remote_folder(skill),
        }
    }

    /// The folder of a skill with everything in it, ready to be staged. Of a skill of another server nothing that was
    /// remembered of its files is believed.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is not what was trusted, or is not what its server told.
    pub(crate) fn tree_of(&self, entry: &Entry, digests: &DigestCache) -> Result<Tree, Failure> {
        let (name, folder) = (entry.name.as_str(), self.folder_of(entry)?);
        let _working = self.output.working(&format!("reading {name}"));
        let Some(skill) = entry.remote() else { return Ok(read_entry(entry, &folder, digests)?) };
        let tree = read_tree(name, &folder, &DigestCache::in_memory())?;
        remote::compare(skill, &tree)?;
        Ok(tree)
    }

    /// The settings of projects and of the machine that are not in force.
    pub(crate) fn config_problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> =
            self.config.warnings.iter().map(config::problem_of).collect();
        problems.sort();
        problems
    }

    /// Says what is wrong, unless it is only worth a note.
    pub(crate) fn report(&self, problems: &[Problem]) {
        self.output.problems(problems.iter().filter(|it| it.severity > Severity::Note));
    }

    fn choices(&self, sources: &SourceArgs) -> Result<Choices, Failure> {
        let mut choices = config::choices(&self.config, &sources.agent)?;
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

    /// Recorded trust; a file that cannot be read trusts nobody, and that is said.
    fn trust_store(&self) -> (TrustStore, Option<Problem>) {
        let file = self.trust_file();
        match TrustStore::load(&file) {
            Ok(store) => (store, None),
            Err(error) => {
                let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                let message = format!("cannot be used: {why}; until then no project is trusted");
                let problem = Problem::new(Code::Untrusted, &file, message);
                let help = Failure::from(error).remedy().unwrap_or_default().to_owned();
                (TrustStore::default(), Some(problem.help(help)))
            }
        }
    }
}

/// The failure of a command that has no place for the state directory.
pub(crate) fn no_state() -> Failure {
    Failure::usage("neither HOME nor METIER_HOME is set")
        .hint("set METIER_HOME to a folder for settings, trust and caches")
}

/// Returns the folders of the system's programs.
fn system_path() -> Vec<PathBuf> {
    std::env::split_paths(SYSTEM_PATH).collect()
}

/// A skill of this folder that was found, but whose header cannot be used.
fn unusable(snapshot: &Snapshot, name: &str) -> Option<Failure> {
    let in_folder = |problem: &&Problem| {
        let folder = problem.path.parent().and_then(|folder| folder.file_name());
        problem.severity == Severity::Error && folder.is_some_and(|folder| folder == name)
    };
    let problem = snapshot.problems.iter().find(in_folder)?;
    let place = format!("{}:{}:{}", problem.path.display(), problem.line, problem.column);
    let ProblemText { message, help } = ProblemText::of(problem);
    let failure =
        Failure::new(format!("`{name}` was found and cannot be used: {place}: {message}"));
    Some(match help {
        Some(help) => failure.hint(help),
        None => failure,
    })
}

/// The name that contains what was asked for, differs by a slip of the finger, or begins alike.
fn nearest<'a>(snapshot: &'a Snapshot, name: &str) -> Option<&'a str> {
    let names = || snapshot.entries.iter().map(|entry| entry.name.as_str());
    let wanted = name.to_lowercase();
    // Nearly every name has a single letter in it.
    wanted.chars().nth(1)?;
    let start: String = wanted.chars().take(3).collect();
    names()
        .find(|other| other.to_lowercase().contains(&wanted) || wanted.contains(other))
        .or_else(|| names().find(|other| edit_distance(other, &wanted) <= MAX_SLIPS))
        .or_else(|| names().find(|other| other.starts_with(&start)))
}
