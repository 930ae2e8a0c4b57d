//! Loads the configuration, and says what it means for skills.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use metier_config::{
    Config, ConfigError, ConfigSources, ConfigWarning, ConfigWarningKind, EntrySource, NameGlobs,
    Setting,
};
use metier_skill::diagnostic::Code;
use metier_skill::discover::Source;
use metier_skill::library::{Choices, EntryChoice, PatternError, Patterns};
use metier_skill::problem::Problem;

use crate::environment::Environment;

/// Resolves the configuration of a person. `projects` are folders of the project, the outermost first.
///
/// # Errors
///
/// When it cannot be understood.
pub fn load(environment: &Environment, projects: &[PathBuf]) -> Result<Config, ConfigError> {
    let project_files: Vec<PathBuf> =
        projects.iter().map(|folder| folder.join(".metier/config.toml")).collect();
    Config::load(&ConfigSources {
        file: &environment.settings_file(),
        variables: &environment.variables,
        machine_file: Some(&environment.machine_settings),
        project_files: &project_files,
    })
}

/// The filters over skills for an agent.
///
/// # Errors
///
/// When a name is not a glob: a filter that cannot be read must not open.
pub fn choices(config: &Config, agent: &str) -> Result<Choices, PatternError> {
    let mut allowed = Vec::new();
    // An empty list for the machine allows all.
    let has_names = |list: &[String]| !list.is_empty();
    add_lists(&mut allowed, "skills.allowed", &config.skills.allowed, has_names)?;
    // An agent with an empty list has no skills.
    let shared = &config.agent_defaults.skills;
    let own = config.agents.get(agent).map(|own| &own.skills).filter(|own| own.is_set());
    if let Some(own) = config.agents.get(agent).map(|own| &own.skills) {
        add_lists(&mut allowed, &format!("agents.{agent}.skills"), own, |_| true)?;
    }
    let name = "agents.defaults.skills";
    if own.is_some() {
        add_narrowing(&mut allowed, name, shared, |_| true)?;
    } else {
        add_lists(&mut allowed, name, shared, |_| true)?;
    }
    Ok(Choices {
        enabled: *config.skills.enabled,
        allowed,
        denied: Patterns::new(&config.skills.denied)?,
        entries: entries(config),
        are_claims_counted: true,
        reserved_names: BTreeSet::new(),
    })
}

/// Adds a list that somebody set, and those of projects that must hold besides.
fn add_lists(
    allowed: &mut Vec<(String, Patterns)>,
    name: &str,
    setting: &Setting<NameGlobs>,
    counts: impl Fn(&[String]) -> bool,
) -> Result<(), PatternError> {
    if setting.is_set() && counts(setting) {
        allowed.push((format!("`{name}`"), Patterns::new(setting)?));
    }
    add_narrowing(allowed, name, setting, counts)
}

fn add_narrowing(
    allowed: &mut Vec<(String, Patterns)>,
    name: &str,
    setting: &Setting<NameGlobs>,
    counts: impl Fn(&[String]) -> bool,
) -> Result<(), PatternError> {
    for (list, origin) in setting.also().iter().filter(|(list, _)| counts(list)) {
        allowed.push((format!("`{name}` of {origin}"), Patterns::new(list)?));
    }
    Ok(())
}

fn entries(config: &Config) -> BTreeMap<String, EntryChoice> {
    let entries = config.skills.entries.iter().map(|(key, entry)| {
        let choice = EntryChoice {
            enabled: entry.enabled.is_set().then_some(*entry.enabled),
            env: entry.env.iter().map(|(name, _)| name.to_owned()).collect(),
            has_api_key: entry.api_key.is_some(),
            source: entry.source.map(|source| match source {
                EntrySource::Project => Source::Project,
                EntrySource::Plugin => Source::Plugin,
                EntrySource::Remote => Source::Remote,
            }),
        };
        (key.clone(), choice)
    });
    entries.collect()
}

/// Returns a setting that is not in force as a finding about its file, with the hint of a front end.
pub(crate) fn problem_of(
    warning: &ConfigWarning,
    hint: impl Fn(&ConfigError) -> Option<String>,
) -> Problem {
    let hint = warning.error().and_then(hint);
    let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
    let mut problem = Problem::new(Code::SettingIgnored, &warning.path, format!("{warning}{hint}"));
    problem.line = warning.line;
    match &warning.kind {
        ConfigWarningKind::NotNarrower { .. } => {
            problem.help("such a configuration can narrow what is allowed, never widen it")
        }
        _ => problem,
    }
}
