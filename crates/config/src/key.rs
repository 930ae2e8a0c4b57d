//! The description of one setting: its name, its type, its default, and what a project may do with it.

use crate::sections::SECTIONS;
use crate::value::SettingValue;

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct SettingKey {
    /// The dotted name; `*` stands for a name that the person chooses.
    pub name: &'static str,
    /// The type of its value.
    pub kind: SettingKind,
    /// The default value, as TOML.
    pub default: &'static str,
    /// What a project may do with it.
    pub narrowing: ProjectNarrowing,
    /// The documentation as it stands in the table.
    pub(crate) doc: &'static str,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Count,
    /// Text.
    Text,
    /// Text that is never shown.
    Secret,
    /// A list of texts.
    List,
    /// A list of names and globs of names.
    Globs,
    /// A word or a list of texts.
    Words,
    /// One of some words.
    Choice(&'static WordChoice),
}

/// The words of which a setting is one.
#[derive(Debug, PartialEq, Eq)]
pub struct WordChoice {
    /// The words; where a project may tighten a setting, the one that allows least comes first.
    pub words: &'static [&'static str],
}

/// What a project's own configuration may do with a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectNarrowing {
    /// Nothing.
    Never,
    /// Switch it off.
    Off,
    /// Make it smaller.
    Smaller,
    /// Choose a word that allows less.
    Tighter,
    /// Add to a list of what is refused.
    Longer,
    /// Add a list that must hold too.
    Also,
}

impl SettingKey {
    /// Every setting, in the order of the reference.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        SECTIONS.iter().flat_map(|section| section.keys)
    }

    /// The setting that a dotted name belongs to.
    pub fn find(name: &str) -> Option<&'static Self> {
        // No agent is called `defaults`.
        let is_for_all = |name: &str| name.starts_with("agents.defaults.");
        Self::all().filter(|key| is_for_all(key.name) == is_for_all(name)).find(|key| {
            let (mut wanted, mut given) = (key.name.split('.'), name.split('.'));
            loop {
                match (wanted.next(), given.next()) {
                    (None, None) => return true,
                    (Some(wanted), Some(given)) if wanted == "*" || wanted == given => {}
                    _ => return false,
                }
            }
        })
    }

    /// Returns whether `name` is this setting, or the beginning of its name, at a dot.
    pub fn begins_with(&self, name: &str) -> bool {
        let (mut wanted, mut given) = (self.name.split('.'), name.split('.'));
        given.all(|given| wanted.next().is_some_and(|wanted| wanted == "*" || wanted == given))
    }

    /// What the setting does, without a period at the end.
    pub fn help(&self) -> &'static str {
        let help = self.doc.trim_start();
        help.strip_suffix('.').unwrap_or(help)
    }

    /// The words of a choice. Where there is no default, an empty text counts as not set.
    pub fn words(&self) -> Vec<&'static str> {
        let SettingKind::Choice(choice) = self.kind else { return Vec::new() };
        let nothing = (self.default == "\"\"").then_some("");
        nothing.into_iter().chain(choice.words.iter().copied()).collect()
    }

    /// The value when nobody sets it.
    pub fn default_value(&self) -> SettingValue {
        let text = || self.default.trim_matches('"').to_owned();
        match self.kind {
            SettingKind::Switch => SettingValue::Switch(self.default == "true"),
            SettingKind::Count => SettingValue::Count(self.default.parse().unwrap_or_default()),
            SettingKind::Text | SettingKind::Secret | SettingKind::Choice(_) => {
                SettingValue::Text(text())
            }
            SettingKind::Words => SettingValue::List(vec![text()]),
            // Lists of plain texts are the same in TOML and JSON.
            SettingKind::List | SettingKind::Globs => {
                SettingValue::List(serde_json::from_str(self.default).unwrap_or_default())
            }
        }
    }

    /// Returns whether the name has a part that the person chooses.
    pub fn is_in_map(&self) -> bool {
        self.name.contains('*')
    }

    /// The variable that sets it; settings in maps have none.
    pub fn variable(&self) -> Option<String> {
        (!self.is_in_map())
            .then(|| format!("METIER_{}", self.name.replace('.', "_").to_uppercase()))
    }
}

impl SettingKind {
    /// The description of the type in the reference.
    pub(crate) fn description(self) -> String {
        match self {
            Self::Switch => "`true` or `false`".to_owned(),
            Self::Count => "whole number".to_owned(),
            Self::Text => "text".to_owned(),
            Self::Secret => "secret text, which is never shown".to_owned(),
            Self::List => "list of texts".to_owned(),
            Self::Globs => "list of names or globs of names".to_owned(),
            Self::Words => "text or list of texts".to_owned(),
            Self::Choice(choice) => format!("one of {}", choice.listed()),
        }
    }
}

impl ProjectNarrowing {
    /// What a project may do, after "A project".
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Never => "may not set it",
            Self::Off => "may switch it off",
            Self::Smaller => "may lower it",
            Self::Tighter => "may tighten it",
            Self::Longer => "may add to it",
            Self::Also => "may add a list that must hold too",
        }
    }
}

impl WordChoice {
    /// The words for people: "`a`, `b` or `c`".
    pub fn listed(&self) -> String {
        let quoted: Vec<String> = self.words.iter().map(|word| format!("`{word}`")).collect();
        match quoted.split_last() {
            Some((last, [])) => format!("{last} or an empty text"),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }
}
