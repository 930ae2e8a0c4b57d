//! The layers: defaults, the person's file, projects (which only narrow), variables.

use std::path::{Path, PathBuf};

use metier_skill::diagnostic::Code;
use metier_skill::problem::Problem;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::settings::file::{self, Line, SettingsError, parse_text, wanted};
use crate::settings::{KEYS, Key, Narrowing, Origin, Settings, Value, variable_name};

/// Loads the settings. `projects` are folders of the project, the outermost first.
///
/// # Errors
///
/// When the person's own file or a variable cannot be understood. What is wrong in a project's file
/// is a problem of that project, and leaves the rest in force.
pub(crate) fn load(
    environment: &Environment,
    projects: &[PathBuf],
) -> Result<Settings, SettingsError> {
    let mut settings = Settings::default();
    let own = environment.state().join("config.toml");
    for line in file::read(&own)? {
        let (line, path) = (line?, own.clone());
        settings.set(line.name, line.value, Origin::File { path, line: line.line });
    }
    settings.read_variables(environment)?;
    for project in projects {
        settings.narrow_by(&project.join(".metier/config.toml"));
    }
    settings.problems.sort();
    Ok(settings)
}

impl Settings {
    fn set(&mut self, name: String, value: Value, origin: Origin) {
        let slot = self.values.entry(name).or_insert_with(|| (value.clone(), Vec::new()));
        slot.0 = value;
        slot.1.push(origin);
    }

    fn read_variables(&mut self, environment: &Environment) -> Result<(), SettingsError> {
        for key in KEYS {
            let Some(variable) = variable_name(key) else { continue };
            let Some(text) = environment.variable(&variable) else { continue };
            let value = parse_text(key.kind, text).ok_or_else(|| SettingsError::WrongKind {
                place: format!("${variable}"),
                name: key.name.to_owned(),
                wanted: wanted(key.kind),
            })?;
            self.set(key.name.to_owned(), value, Origin::Variable(variable));
        }
        Ok(())
    }

    /// Takes from a project's file what takes away, and says what it does not take.
    fn narrow_by(&mut self, path: &Path) {
        let lines = match file::read(path) {
            Ok(lines) => lines,
            Err(error) => {
                let why = Failure::of(&error);
                let message = format!("the project's configuration is not used: {why}");
                self.problems.push(Problem::new(Code::SettingIgnored, path, message));
                return;
            }
        };
        for line in lines {
            let line = match line {
                Ok(line) => line,
                Err(error) => {
                    let message = format!("not taken from the project: {}", Failure::of(&error));
                    self.problems.push(Problem::new(Code::SettingIgnored, path, message));
                    continue;
                }
            };
            let origin = Origin::File { path: path.to_owned(), line: line.line };
            let (name, at) = (line.name.clone(), line.line);
            if !self.narrow(line, origin) {
                let message = format!("`{name}` is not taken from a project");
                let mut problem = Problem::new(Code::SettingIgnored, path, message)
                    .help("a project's configuration can narrow what is allowed, never widen it");
                problem.line = at;
                self.problems.push(problem);
            }
        }
    }

    fn narrow(&mut self, line: Line, origin: Origin) -> bool {
        let Line { name, key, value, .. } = line;
        match (key.narrowing, value) {
            (Narrowing::Off, Value::Switch(false)) => self.set(name, Value::Switch(false), origin),
            (Narrowing::Off, Value::Switch(true)) => {
                let ours = self.values.get(&name).map(|(value, _)| value);
                return ours.map_or(key.default == "true", |it| *it == Value::Switch(true));
            }
            (Narrowing::Smaller, Value::Count(value)) => {
                let ours = self.count(&name).unwrap_or_else(|| default_count(key));
                if value > ours {
                    return false;
                }
                self.set(name, Value::Count(value), origin);
            }
            (Narrowing::Longer, Value::List(more)) => {
                let mut list = self.list(&name).to_vec();
                list.extend(more);
                self.set(name, Value::List(list), origin);
            }
            (Narrowing::Also, Value::List(list)) => {
                self.also.entry(name).or_default().push((list, origin));
            }
            _ => return false,
        }
        true
    }
}

fn default_count(key: &Key) -> usize {
    key.default.parse().unwrap_or(usize::MAX)
}
