//! The layers: defaults, the person's file, variables, then what only narrows: the machine's file, projects.

use std::path::{Path, PathBuf};

use metier_skill::diagnostic::Code;
use metier_skill::problem::Problem;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::settings::file::{self, Line, SettingsError};
use crate::settings::{Choice, KEYS, Key, Kind, Narrowing, Origin, Settings, Value, variable_name};

/// Loads the settings. `projects` are folders of the project, the outermost first.
///
/// # Errors
///
/// When the person's own file, that of the machine or a variable cannot be understood. What is wrong in a
/// project's file is a problem of that project, and leaves the rest in force.
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
    for line in file::read(&environment.machine_settings)? {
        settings.narrow_by_line(&environment.machine_settings, line?, "the machine's file");
    }
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
            let value = key.read_text(text).ok_or_else(|| SettingsError::WrongKind {
                place: format!("${variable}"),
                name: key.name.to_owned(),
                wanted: key.wanted(),
                nearest: key.nearest_word(text),
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
                let what = "the project's configuration is not used: ";
                self.problems.push(refusal(path, error, what, ""));
                return;
            }
        };
        for line in lines {
            let line = match line {
                Ok(line) => line,
                Err(error) => {
                    let instead = self.close(path, &error);
                    let what = "not taken from the project: ";
                    self.problems.push(refusal(path, error, what, &instead));
                    continue;
                }
            };
            self.narrow_by_line(path, line, "a project");
        }
    }

    fn narrow_by_line(&mut self, path: &Path, line: Line, whose: &str) {
        let origin = Origin::File { path: path.to_owned(), line: line.line };
        let (name, at, narrowing) = (line.name.clone(), line.line, line.key.narrowing);
        if !self.narrow(line, origin) {
            let may = match narrowing {
                Narrowing::Off => "which may only switch it off",
                Narrowing::Smaller => "which may only lower it",
                Narrowing::Tighter => "which may only tighten it",
                Narrowing::Never | Narrowing::Longer | Narrowing::Also => "which may not set it",
            };
            let message = format!("`{name}` is not taken from {whose}, {may}");
            let mut problem = Problem::new(Code::SettingIgnored, path, message)
                .help("such a configuration can narrow what is allowed, never widen it");
            problem.line = at;
            self.problems.push(problem);
        }
    }

    /// Of words that say how much is allowed, one that cannot be read allows the least. Says so.
    fn close(&mut self, path: &Path, error: &SettingsError) -> String {
        let SettingsError::WrongKind { name, place, .. } = error else { return String::new() };
        let Some(Key {
            kind: Kind::Choice(Choice { words: [least, ..], .. }),
            narrowing: Narrowing::Tighter,
            ..
        }) = Key::find(name)
        else {
            return String::new();
        };
        // A place is a path and a line.
        let line = place.rsplit(':').next().and_then(|line| line.parse().ok()).unwrap_or(1);
        let origin = Origin::File { path: path.to_owned(), line };
        self.set(name.clone(), Value::Text((*least).to_owned()), origin);
        format!("; it is `{least}` instead")
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
            (Narrowing::Tighter, Value::Text(word)) => {
                let Kind::Choice(choice) = key.kind else { return false };
                let place = |word: &str| choice.words.iter().position(|other| *other == word);
                let default = key.default.trim_matches('"');
                // Where there is no default, another setting says how much is allowed.
                let ours = place(self.text(&name).unwrap_or(default)).unwrap_or(usize::MAX);
                if place(&word).is_none_or(|theirs| theirs > ours) {
                    return false;
                }
                self.set(name, Value::Text(word), origin);
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

/// What is said of an error in a project's file, at the line it is in.
fn refusal(path: &Path, error: SettingsError, before: &str, after: &str) -> Problem {
    let failure = Failure::from(error);
    let why = failure.to_string();
    // The place is that of the problem, and need not be told twice.
    let place = format!("{}:", path.display());
    let told = why.strip_prefix(&place).and_then(|rest| rest.split_once(": "));
    let told = told.and_then(|(line, what)| Some((line.parse().ok()?, what)));
    let (line, what) = told.unwrap_or((1, why.as_str()));
    let hint = failure.remedy().map(|hint| format!(" ({hint})")).unwrap_or_default();
    let mut problem =
        Problem::new(Code::SettingIgnored, path, format!("{before}{what}{after}{hint}"));
    problem.line = line;
    problem
}

fn default_count(key: &Key) -> usize {
    key.default.parse().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;

    /// The settings in force and what is said about them, for what the person, the machine and a project say.
    fn in_force(person: &str, machine: &str, project: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        write("state/config.toml", person);
        write("project/.metier/config.toml", project);
        let state = folder.path().join("state").to_string_lossy().into_owned();
        let environment = Environment {
            home: None,
            folder: folder.path().join("project"),
            variables: BTreeMap::from([("METIER_HOME".to_owned(), state)]),
            machine_settings: write("machine.toml", machine),
        };
        let text = match load(&environment, std::slice::from_ref(&environment.folder)) {
            Ok(settings) => {
                let values = settings.values.iter();
                let values = values.map(|(name, (value, _))| format!("{name} = {value}"));
                let also = settings.also.iter().flat_map(|(name, lists)| {
                    lists.iter().map(move |(list, _)| format!("{name} also {list:?}"))
                });
                let problems = settings.problems.iter().map(|problem| problem.message.clone());
                values.chain(also).chain(problems).collect::<Vec<_>>().join("\n")
            }
            Err(error) => format!("error: {error}"),
        };
        text.replace(&*folder.path().to_string_lossy(), "")
    }

    #[test]
    fn words_that_allow_more_or_less_are_only_tightened() {
        let mode = |person: &str, machine: &str, project: &str| {
            let line = |word: &str| match word {
                "" => String::new(),
                word => format!("approvals.mode = '{word}'"),
            };
            let text = in_force(&line(person), &line(machine), &line(project));
            format!("{person} {machine} {project}: {}", text.replace('\n', " | "))
        };
        let cases = [
            ("full", "", ""),
            ("full", "allowlist", ""),
            ("full", "deny", "allowlist"),
            ("full", "", "allowlist"),
            ("deny", "full", "full"),
            ("", "full", ""),
            ("", "", "full"),
            ("", "", "deny"),
            ("", "", "Deny"),
            ("full", "none", ""),
        ];
        let shown = cases.map(|(person, machine, project)| mode(person, machine, project));
        insta::assert_snapshot!(shown.join("\n"), @r#"
        full  : approvals.mode = "full"
        full allowlist : approvals.mode = "allowlist"
        full deny allowlist: approvals.mode = "deny" | `approvals.mode` is not taken from a project, which may only tighten it
        full  allowlist: approvals.mode = "allowlist"
        deny full full: approvals.mode = "deny" | `approvals.mode` is not taken from the machine's file, which may only tighten it | `approvals.mode` is not taken from a project, which may only tighten it
         full : `approvals.mode` is not taken from the machine's file, which may only tighten it
          full: `approvals.mode` is not taken from a project, which may only tighten it
          deny: approvals.mode = "deny"
          Deny: approvals.mode = "deny" | not taken from the project: `approvals.mode` is not `deny`, `allowlist` or `full`; it is `deny` instead (did you mean `deny`?)
        full none : error: /machine.toml:1: `approvals.mode` is not `deny`, `allowlist` or `full`
        "#);
    }

    #[test]
    fn an_agent_that_nobody_restricted_can_be_restricted_by_a_project() {
        let text = in_force(
            "agents.bob.approvals.ask = 'on_miss'",
            "",
            "[agents.bob.approvals]\nask = 'off'\nmode = 'full'\nask_fallback = 'none'\n[agents.eve.approvals]\nask = 'always'",
        );
        insta::assert_snapshot!(text, @r#"
        agents.bob.approvals.ask = "on_miss"
        agents.bob.approvals.ask_fallback = "deny"
        agents.bob.approvals.mode = "full"
        agents.eve.approvals.ask = "always"
        `agents.bob.approvals.ask` is not taken from a project, which may only tighten it
        not taken from the project: `agents.bob.approvals.ask_fallback` is not `deny`, `allowlist` or `full`; it is `deny` instead
        "#);
    }

    #[test]
    fn lists_of_what_is_allowed_never_grow_by_a_project() {
        let text = in_force(
            "approvals.safe_bins = ['cut', 'wc', 'sort']",
            "approvals.safe_bins = ['cut', 'sort']\nskill_run.denied_commands = ['rm']",
            "[approvals]\nsafe_bins = ['cut', 'rm']\nallow = ['rm']\nauto_allow_skills = false\n[skill_run]\nallowed_commands = ['rm']\ndenied_commands = ['ls']",
        );
        insta::assert_snapshot!(text, @r#"
        approvals.auto_allow_skills = false
        approvals.safe_bins = ["cut", "wc", "sort"]
        skill_run.denied_commands = ["rm", "ls"]
        approvals.safe_bins also ["cut", "sort"]
        approvals.safe_bins also ["cut", "rm"]
        skill_run.allowed_commands also ["rm"]
        `approvals.allow` is not taken from a project, which may not set it
        "#);
        let allowed = |settings: &Settings| {
            settings.allowed(Key::find("approvals.safe_bins").unwrap()).join(" ")
        };
        let mut settings = Settings::default();
        assert_eq!(allowed(&settings), "cut uniq head tail tr wc");
        let list = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let name = "approvals.safe_bins".to_owned();
        settings.also.insert(name.clone(), vec![(list("rm wc cut"), Origin::Default)]);
        assert_eq!(allowed(&settings), "cut wc");
        settings.set(name.clone(), Value::List(list("wc rm sort")), Origin::Default);
        assert_eq!(allowed(&settings), "wc rm");
        settings.set(name, Value::List(Vec::new()), Origin::Default);
        assert_eq!(allowed(&settings), "");
    }

    #[test]
    fn what_the_machine_says_wrong_stops_everybody() {
        insta::assert_snapshot!(in_force("", "approvals.mood = 'deny'", ""), @"error: /machine.toml:1: there is no setting `approvals.mood`");
        insta::assert_snapshot!(in_force("", "approvals.mode = ", ""), @"error: /machine.toml:1: not valid TOML: string values must be quoted, expected literal string");
    }
}
