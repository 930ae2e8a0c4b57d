//! The layers: defaults, the person's file, variables, then what only narrows: the machine's file and those of projects.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::convert::{read_text, wanted};
use crate::error::ConfigError;
use crate::file::{FileSetting, read_file};
use crate::key::{ProjectNarrowing, SettingKey, SettingKind, WordChoice};
use crate::sections::Config;
use crate::value::{SettingOrigin, SettingValue};
use crate::warning::{ConfigWarning, ConfigWarningKind, NarrowingLayer};

/// Where a configuration is read from.
#[derive(Clone, Debug)]
pub struct ConfigSources<'a> {
    /// The person's own file.
    pub file: &'a Path,
    /// The variables of the environment.
    pub variables: &'a BTreeMap<String, String>,
    /// The file for everybody who uses the machine, which can only narrow.
    pub machine_file: Option<&'a Path>,
    /// The files of the project, the outermost first, which can only narrow.
    pub project_files: &'a [PathBuf],
}

/// Values by dotted name.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfigLayers {
    /// The values in force, with every layer that had a say, the deciding one last.
    pub(crate) values: BTreeMap<String, (SettingValue, Vec<SettingOrigin>)>,
    /// Lists of projects that must hold besides a value.
    pub(crate) also: BTreeMap<String, Vec<(Vec<String>, SettingOrigin)>>,
}

impl<'a> ConfigSources<'a> {
    /// The person's own file, and nothing else.
    pub fn of_file(file: &'a Path) -> Self {
        static NO_VARIABLES: BTreeMap<String, String> = BTreeMap::new();
        Self { file, variables: &NO_VARIABLES, machine_file: None, project_files: &[] }
    }
}

impl Config {
    /// Resolves the configuration.
    ///
    /// # Errors
    ///
    /// When the person's own file or a variable cannot be understood, or a value of the machine's file. A project's
    /// file that cannot be used is a warning and leaves the rest in force, and so is an unknown setting in the
    /// machine's file.
    pub fn load(sources: &ConfigSources<'_>) -> Result<Self, ConfigError> {
        let mut loading = Loading::default();
        for setting in read_file(sources.file)? {
            let FileSetting { name, value, line, .. } = setting.map_err(|(error, _)| error)?;
            let origin = SettingOrigin::File { path: sources.file.to_owned(), line };
            loading.layers.set(name, value, origin);
        }
        loading.layers.read_variables(sources.variables)?;
        if let Some(path) = sources.machine_file {
            loading.narrow_by_machine(path)?;
        }
        for path in sources.project_files {
            loading.narrow_by_project(path);
        }
        Ok(Self::of_layers(loading.layers, loading.warnings))
    }
}

#[derive(Default)]
struct Loading {
    layers: ConfigLayers,
    warnings: Vec<ConfigWarning>,
}

impl Loading {
    fn narrow_by_machine(&mut self, path: &Path) -> Result<(), ConfigError> {
        for setting in read_file(path)? {
            match setting {
                Ok(setting) => self.narrow(path, setting, NarrowingLayer::Machine),
                Err((error @ ConfigError::Unknown { .. }, line)) => {
                    let layer = NarrowingLayer::Machine;
                    let kind = ConfigWarningKind::UnusedSetting { error, instead: None, layer };
                    self.warn(path, line, kind);
                }
                Err((error, _)) => return Err(error),
            }
        }
        Ok(())
    }

    fn narrow_by_project(&mut self, path: &Path) {
        let settings = match read_file(path) {
            Ok(settings) => settings,
            Err(error) => {
                let line = error.line().unwrap_or(1);
                return self.warn(path, line, ConfigWarningKind::UnusedFile(error));
            }
        };
        for setting in settings {
            match setting {
                Ok(setting) => self.narrow(path, setting, NarrowingLayer::Project),
                Err((error, line)) => {
                    let instead = self.layers.close(path, line, &error);
                    let layer = NarrowingLayer::Project;
                    let kind = ConfigWarningKind::UnusedSetting { error, instead, layer };
                    self.warn(path, line, kind);
                }
            }
        }
    }

    /// Takes what narrows, and warns of what does not.
    fn narrow(&mut self, path: &Path, setting: FileSetting, layer: NarrowingLayer) {
        let (name, line) = (setting.name.clone(), setting.line);
        let narrowing = setting.key.narrowing;
        let origin = SettingOrigin::File { path: path.to_owned(), line };
        if !self.layers.narrow(setting, origin) {
            self.warn(path, line, ConfigWarningKind::NotNarrower { name, narrowing, layer });
        }
    }

    fn warn(&mut self, path: &Path, line: usize, kind: ConfigWarningKind) {
        self.warnings.push(ConfigWarning { path: path.to_owned(), line, kind });
    }
}

impl ConfigLayers {
    /// The names that stand between a prefix and the next dot.
    pub(crate) fn names_below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        let values = self.values.range(prefix.to_owned()..).map(|(name, _)| name.as_str());
        let values = values.take_while(move |name| name.starts_with(prefix));
        let also = self.also.range(prefix.to_owned()..).map(|(name, _)| name.as_str());
        let also = also.take_while(move |name| name.starts_with(prefix));
        values.chain(also).filter_map(move |name| name[prefix.len()..].split('.').next())
    }

    fn set(&mut self, name: String, value: SettingValue, origin: SettingOrigin) {
        let slot = self.values.entry(name).or_insert_with(|| (value.clone(), Vec::new()));
        slot.0 = value;
        slot.1.push(origin);
    }

    fn read_variables(&mut self, variables: &BTreeMap<String, String>) -> Result<(), ConfigError> {
        for key in SettingKey::all() {
            let Some(variable) = key.variable() else { continue };
            let text = variables.get(&variable).filter(|text| !text.trim().is_empty());
            let Some(text) = text else { continue };
            let value = read_text(key, text).ok_or_else(|| ConfigError::WrongKind {
                place: format!("${variable}"),
                name: key.name.to_owned(),
                wanted: wanted(key),
                nearest: key.nearest_word(text),
            })?;
            self.set(key.name.to_owned(), value, SettingOrigin::Variable(variable));
        }
        Ok(())
    }

    /// Sets the word that allows least in place of one that cannot be read, and returns it. It does so only where a
    /// project may tighten the setting.
    fn close(&mut self, path: &Path, line: usize, error: &ConfigError) -> Option<&'static str> {
        let ConfigError::WrongKind { name, .. } = error else { return None };
        let key = SettingKey::find(name)?;
        let SettingKind::Choice(WordChoice { words: [least, ..] }) = key.kind else { return None };
        if key.narrowing != ProjectNarrowing::Tighter {
            return None;
        }
        let origin = SettingOrigin::File { path: path.to_owned(), line };
        self.set(name.clone(), SettingValue::Text((*least).to_owned()), origin);
        Some(least)
    }

    /// Takes a setting if it narrows, and returns whether it does.
    fn narrow(&mut self, setting: FileSetting, origin: SettingOrigin) -> bool {
        let FileSetting { name, key, value, .. } = setting;
        let ours = self.values.get(&name).map(|(value, _)| value);
        match (key.narrowing, value) {
            (ProjectNarrowing::Off, SettingValue::Switch(false)) => {
                self.set(name, SettingValue::Switch(false), origin);
            }
            (ProjectNarrowing::Off, SettingValue::Switch(true)) => {
                return *ours.unwrap_or(&key.default_value()) == SettingValue::Switch(true);
            }
            (ProjectNarrowing::Smaller, SettingValue::Count(theirs)) => {
                let default = key.default_value();
                if !matches!(ours.unwrap_or(&default), SettingValue::Count(ours) if theirs <= *ours)
                {
                    return false;
                }
                self.set(name, SettingValue::Count(theirs), origin);
            }
            (ProjectNarrowing::Tighter, SettingValue::Text(word)) => {
                let SettingKind::Choice(choice) = key.kind else { return false };
                let place = |word: &str| choice.words.iter().position(|other| *other == word);
                let default = key.default_value();
                let given = ours.and_then(SettingValue::as_text).filter(|word| !word.is_empty());
                let ours = given.or(default.as_text()).unwrap_or_default();
                // Where there is no default, another setting says how much is allowed.
                let ours = place(ours).unwrap_or(usize::MAX);
                if place(&word).is_none_or(|theirs| theirs > ours) {
                    return false;
                }
                self.set(name, SettingValue::Text(word), origin);
            }
            (ProjectNarrowing::Longer, SettingValue::List(more)) => {
                let ours = match ours {
                    Some(SettingValue::List(list)) => list.clone(),
                    _ => Vec::new(),
                };
                self.set(name, SettingValue::List([ours, more].concat()), origin);
            }
            (ProjectNarrowing::Also, SettingValue::List(list)) => {
                self.also.entry(name).or_default().push((list, origin));
            }
            _ => return false,
        }
        true
    }
}
