//! From settings and flags to the roots that are searched, the one that yields first.

use std::fs;
use std::path::{Path, PathBuf};

use metier_config::Config;
use metier_skill::advice::SkillAdvice;
use metier_skill::diagnostic::Code;
use metier_skill::discover::{Absence, Links, Root, Source, find_plugins};
use metier_skill::problem::Problem;

use super::SourceSelection;
use super::archives::{self, FetchedArchives};
use super::places::{PathBase, SkillPlace};
use crate::app::App;
use crate::environment::Environment;
use crate::reporter::Activity;

/// The folders of skills in a folder of a project, the one that yields first.
const PROJECT_FOLDERS: [&str; 3] = [".claude/skills", ".agents/skills", ".metier/skills"];
/// The folders of skills in the home directory, the one that yields first.
const USER_FOLDERS: [&str; 2] = [".claude/skills", ".agents/skills"];

/// Entries of the state directory among which workspaces are looked for; it has a dozen, and one for each agent.
const MAX_STATE_ENTRIES: usize = 10_000;

/// The agent that is meant when nobody says.
pub const DEFAULT_AGENT: &str = "default";

/// The project a folder is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The root of the repository, or the folder itself.
    pub root: PathBuf,
    /// The folders from the root down to the working directory.
    pub folders: Vec<PathBuf>,
}

impl Project {
    /// The project of a folder: up to the nearest folder with `.git`, else the folder alone.
    pub fn of(folder: &Path) -> Self {
        let root = folder.ancestors().find(|it| it.join(".git").exists()).unwrap_or(folder);
        let below = folder.ancestors().take_while(|it| it.starts_with(root));
        let mut folders: Vec<PathBuf> = below.map(Path::to_owned).collect();
        folders.reverse();
        Self { root: root.to_owned(), folders }
    }

    /// The folders whose configuration narrows ours: not the state directory's own.
    pub fn configured_folders(&self, environment: &Environment) -> Vec<PathBuf> {
        let state = real(environment.state());
        self.folders.iter().filter(|it| real(&it.join(".metier")) != state).cloned().collect()
    }

    /// Returns the roots of the project, the outermost and least first. A root that is a link to elsewhere is left out:
    /// otherwise a project could have any folder searched and watched.
    pub fn roots(&self, environment: &Environment, config: &Config) -> SourceRoots {
        let also = link_targets(environment, config);
        let others = user_folders(environment).chain([environment.state().join("skills")]);
        let others: Vec<PathBuf> = others.map(|path| real(&path)).collect();
        let folders = self.folders.iter().flat_map(|it| PROJECT_FOLDERS.map(|name| it.join(name)));
        let mut roots = SourceRoots::default();
        for path in folders.filter(|path| !others.contains(&real(path))) {
            if leads_outside(&path, &self.root, &also) {
                roots.problems.push(link_outside(&path));
                continue;
            }
            roots.roots.push(Root {
                links: Links::Inside { also: also.clone() },
                ..project_root(path, self.root.clone())
            });
        }
        roots
    }

    /// Returns whether the project is the folder with the state directory: the person's home, which cannot be trusted.
    pub fn is_home(&self, environment: &Environment) -> bool {
        real(&self.root.join(".metier")) == real(environment.state())
    }
}

/// Everything to search, and what was noticed on the way.
#[derive(Debug, Default)]
pub struct SourceRoots {
    /// The folders.
    pub roots: Vec<Root>,
    /// What was noticed.
    pub problems: Vec<Problem>,
    /// Whether a place that a setting names is left out, so that not all names of skills are known.
    pub is_partial: bool,
}

impl SourceRoots {
    /// Returns the roots that the configuration and a selection name.
    pub fn find(app: &App, sources: &SourceSelection, fetched: &FetchedArchives) -> Self {
        let (environment, config) = (&app.environment, &app.config);
        let mut roots = Self::default();
        if !sources.no_default_sources {
            roots.add_extra(app, fetched);
            roots.add_plugins(environment, config);
            roots.add(Source::Managed, environment.state().join("skills"));
            for folder in user_folders(environment) {
                roots.add(Source::User, folder);
            }
            let project = Project::of(&environment.folder).roots(environment, config);
            roots.roots.extend(project.roots);
            roots.problems.extend(project.problems);
            roots.add(
                Source::Workspace,
                workspace(environment, config, &sources.agent).join("skills"),
            );
            // A folder that a variable names may belong to the project.
            roots.roots.sort_by_key(|root| root.source);
        }
        for folder in &sources.skills_dirs {
            // By its components, so that `.` is no part of what people are shown.
            let path = environment.folder.join(folder).components().collect();
            roots.roots.push(Root { absence: Absence::Reported, ..root(Source::Flag, path) });
        }
        roots
    }

    fn add(&mut self, source: Source, path: PathBuf) {
        self.roots.push(root(source, path));
    }

    fn add_extra(&mut self, app: &App, fetched: &FetchedArchives) {
        let (environment, config) = (&app.environment, &app.config);
        let also = link_targets(environment, config);
        for (text, base) in named_places(environment, config) {
            let found = SkillPlace::parse(text, base, environment)
                .and_then(|place| extra_root(&place, &also, (app, fetched)));
            match found {
                Ok((root, problem)) => {
                    self.roots.push(root);
                    self.problems.extend(problem);
                }
                Err(problem) => {
                    self.is_partial = true;
                    self.problems.push(*problem);
                }
            }
        }
    }

    fn add_plugins(&mut self, environment: &Environment, config: &Config) {
        let named = config.skills.plugin_dirs.iter();
        let named = named.map(|text| environment.expand(text, environment.state()));
        for folder in [environment.state().join("plugins")].into_iter().chain(named) {
            let (plugins, problems) = find_plugins(&folder);
            self.problems.extend(problems);
            for plugin in plugins {
                let name = plugin.name;
                self.roots.extend(plugin.roots.into_iter().map(|path| Root {
                    plugin: Some(name.clone()),
                    links: Links::Inside { also: Vec::new() },
                    ..root(Source::Plugin, path)
                }));
            }
        }
    }
}

impl App {
    /// Returns the roots that the configuration and a selection name, with archives brought up to date.
    pub async fn source_roots(&self, sources: &SourceSelection) -> SourceRoots {
        let working = self.reporter.begin(&Activity::LookingForSkills);
        let fetched = archives::fetch(self, sources, &*working).await;
        SourceRoots::find(self, sources, &fetched)
    }
}

fn root(source: Source, path: PathBuf) -> Root {
    Root {
        source,
        path,
        address: None,
        links: Links::Anywhere,
        absence: Absence::Silent,
        plugin: None,
        project: None,
    }
}

fn project_root(path: PathBuf, project: PathBuf) -> Root {
    let links = Links::Inside { also: Vec::new() };
    Root { links, project: Some(project), ..root(Source::Project, path) }
}

/// Returns the places with skills that the configuration and `SKILLS_ROOT` name, each with the folder at which a relative
/// path starts.
pub(super) fn named_places<'a>(
    environment: &'a Environment,
    config: &'a Config,
) -> impl Iterator<Item = (&'a str, PathBase)> {
    let places = &config.skills.extra_dirs;
    let base =
        if places.is_from_file() { PathBase::StateDirectory } else { PathBase::WorkingDirectory };
    let variable = environment.variable("SKILLS_ROOT");
    let named = places.iter().map(move |text| (text.as_str(), base));
    named.chain(variable.map(|text| (text, PathBase::WorkingDirectory)))
}

/// Returns the folders and archives of this machine that settings and `SKILLS_ROOT` name for skills and plugins.
pub fn named_sources(environment: &Environment, config: &Config) -> Vec<PathBuf> {
    let places = named_places(environment, config).filter_map(|(text, base)| {
        // A place that cannot be read is not searched either.
        SkillPlace::parse(text, base, environment).ok()?.path().map(Path::to_owned)
    });
    let plugins = config.skills.plugin_dirs.iter();
    places.chain(plugins.map(|text| environment.expand(text, environment.state()))).collect()
}

/// Returns the root at a place that a setting names.
fn extra_root(
    place: &SkillPlace<'_>,
    also: &[PathBuf],
    (app, fetched): (&App, &FetchedArchives),
) -> Result<(Root, Option<Problem>), Box<Problem>> {
    let project = match place.relative_path() {
        Some(path) => project_of(path, &app.environment, also)?,
        None => None,
    };
    let (path, problem) = archives::locate(place, app, fetched)?;
    let root = match project {
        Some(project) => project_root(path, project),
        None => root(Source::Extra, path),
    };
    let address = place.archive_address();
    Ok((Root { absence: Absence::Reported, address, ..root }, problem))
}

/// Returns the root of the project that a relative path leads into, if it does. What is there is what the project makes of
/// it, by a link to elsewhere too, so it has to be trusted like the project's other folders.
///
/// # Errors
///
/// When the project cannot be trusted, or has a link there that leads outside.
fn project_of(
    path: &Path,
    environment: &Environment,
    also: &[PathBuf],
) -> Result<Option<PathBuf>, Box<Problem>> {
    let project = Project::of(&environment.folder);
    let root = &project.root;
    if !path.starts_with(root) && !real(path).starts_with(real(root)) {
        return Ok(None);
    }
    if project.is_home(environment) {
        let message = "a relative path is not searched in the folder that has the state directory, which cannot be trusted as a project";
        let problem = Problem::new(Code::RootUnreadable, path, message);
        return Err(Box::new(problem.help("name the folder by its absolute path")));
    }
    if leads_outside(path, root, also) {
        return Err(Box::new(link_outside(path)));
    }
    Ok(Some(project.root))
}

/// Returns the folders outside a project to which its links may lead. A relative one starts at the state directory: below
/// the working directory it could be a link of the project itself.
fn link_targets(environment: &Environment, config: &Config) -> Vec<PathBuf> {
    let targets = config.skills.allow_symlink_targets.iter();
    targets.map(|text| environment.expand(text, environment.state())).collect()
}

/// Returns whether a folder is really elsewhere than in its project and the folders to which links may lead.
fn leads_outside(folder: &Path, project: &Path, also: &[PathBuf]) -> bool {
    let target = real(folder);
    let mut allowed = also.iter().map(PathBuf::as_path).chain([project]);
    !allowed.any(|it| target.starts_with(real(it)))
}

fn link_outside(folder: &Path) -> Problem {
    let message = "the folder is a link that leads outside the project, and is not searched";
    Problem::new(Code::LinkOutside, folder, message).advise(SkillAdvice::AllowFolderLinkTarget)
}

/// A path with links resolved, for the person's own folders: a home may be reached through a link.
pub fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn user_folders(environment: &Environment) -> impl Iterator<Item = PathBuf> {
    let home = environment.home.clone();
    home.into_iter().flat_map(|home| USER_FOLDERS.map(|name| home.join(name)))
}

/// The folder that is an agent's own.
pub fn workspace(environment: &Environment, config: &Config, agent: &str) -> PathBuf {
    let state = environment.state();
    let own = config.agents.get(agent).and_then(|own| own.workspace.as_deref());
    // Agents that share a folder would not have one of their own.
    let shared = || config.agent_defaults.workspace.as_deref().filter(|_| agent == DEFAULT_AGENT);
    if let Some(named) = own.or_else(shared) {
        return environment.expand(named, state);
    }
    match (environment.variable("METIER_PROFILE"), agent) {
        (Some(profile), DEFAULT_AGENT) => state.join(format!("workspace-{}", folder_name(profile))),
        (None, DEFAULT_AGENT) => state.join("workspace"),
        (_, agent) => state.join(format!("workspace-{}", folder_name(agent))),
    }
}

/// Returns the folders of skills in the workspaces of all agents but one.
pub fn other_workspaces(environment: &Environment, config: &Config, agent: &str) -> Vec<Root> {
    let state = environment.state();
    let named = config.agents.values().map(|agent| &agent.workspace);
    let named = named.chain([&config.agent_defaults.workspace]).filter_map(|it| it.as_deref());
    let named = named.map(|text| environment.expand(text, state));
    let entries = fs::read_dir(state).into_iter().flatten().take(MAX_STATE_ENTRIES).flatten();
    let usual = entries.filter(|it| it.file_name().as_encoded_bytes().starts_with(b"workspace"));
    let own = workspace(environment, config, agent);
    let mut others: Vec<PathBuf> = named.chain(usual.map(|it| it.path())).collect();
    others.retain(|path| *path != own);
    others.sort();
    others.dedup();
    others.into_iter().map(|path| root(Source::Workspace, path.join("skills"))).collect()
}

/// An id as one part of a path.
fn folder_name(id: &str) -> String {
    let safe = |it: char| if it.is_alphanumeric() || it == '-' || it == '_' { it } else { '_' };
    id.chars().map(safe).collect()
}
