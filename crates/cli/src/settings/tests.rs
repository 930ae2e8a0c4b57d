//! That what is made from the table of settings is true: the sample, the page, the schema, the guesses.

use std::collections::BTreeMap;
use std::fs;

use metier_agent::LoadMode;
use metier_agent::conversation::Placement;
use metier_agent::tools::ToolSet;
use metier_model::Format;
use metier_skill::install::NodeManager;

use super::convert::nearest_name;
use super::sections::{SECTIONS, Section};
use super::*;
use crate::agents::PromptKind;
use crate::environment::Environment;
use crate::models::read_word;

/// The settings of a person whose file has this text.
fn settings_of(text: &str) -> Result<Settings, SettingsError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.toml"), text).unwrap();
    let state = folder.path().to_string_lossy().into_owned();
    let environment = Environment {
        home: None,
        folder: folder.path().to_owned(),
        variables: BTreeMap::from([("METIER_HOME".to_owned(), state)]),
        machine_settings: folder.path().join("none"),
    };
    load(&environment, &[])
}

/// The sample with every line in force.
fn uncommented() -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with(|it: char| it == '[' || it.is_ascii_alphabetic()) => {
            format!("{rest}\n")
        }
        _ => format!("{line}\n"),
    };
    sample().lines().map(line).collect()
}

#[test]
fn the_sample_as_it_is_changes_nothing() {
    let settings = settings_of(&sample()).unwrap();
    assert!(settings.values.is_empty(), "{:?}", settings.values);
    assert!(sample().parse::<toml::Table>().unwrap().is_empty());
}

#[test]
fn the_sample_without_its_comments_says_every_default() {
    let settings = settings_of(&uncommented()).unwrap();
    assert_eq!(settings.values.len(), KEYS.len());
    for key in KEYS {
        let name = key.name.replacen('*', "example", 1).replace('*', "EXAMPLE");
        let (value, _) = &settings.values[&name];
        match (key.default_value(), value) {
            // A secret that nobody set is shown as it is: empty.
            (Value::Text(default), Value::Secret(secret)) => assert_eq!(default, *secret, "{name}"),
            (default, value) => assert_eq!(default, *value, "{name}"),
        }
    }
}

#[test]
fn lines_of_the_sample_are_not_too_long_to_read() {
    for line in sample().lines().filter(|line| line.starts_with("# ")) {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

#[test]
fn every_key_stands_in_one_section_and_the_sections_are_in_the_order_of_the_keys() {
    let by_section: Vec<&str> =
        SECTIONS.iter().flat_map(Section::keys).map(|key| key.name).collect();
    let keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(by_section, keys);
}

#[test]
fn every_key_is_on_the_page_and_in_the_schema() {
    let (page, schema) = (page(), schema());
    for key in KEYS {
        assert!(
            page.contains(&format!("\n### {}\n", key.name.replace('*', "NAME"))),
            "{}",
            key.name
        );
        let mut place = &schema;
        for part in key.name.split('.') {
            place = match part {
                "*" => place["patternProperties"].as_object().unwrap().values().next().unwrap(),
                part => &place["properties"][part],
            };
        }
        assert!(place["description"].as_str().unwrap().starts_with(key.help), "{}", key.name);
        assert!(!place["default"].is_null(), "{}", key.name);
    }
}

#[test]
fn a_default_is_a_value_of_its_key() {
    for key in KEYS {
        let text = format!("value = {}", key.default);
        let table = toml::de::DeTable::parse(&text).unwrap();
        let (_, value) = table.get_ref().iter().next().unwrap();
        assert!(key.read(value.get_ref()).is_some(), "{}", key.name);
    }
}

#[test]
fn every_word_is_understood_where_it_is_used() {
    let words = |name: &str| match Key::find(name).unwrap().kind {
        Kind::Choice(choice) => choice.words,
        other => panic!("{name} is {other:?}"),
    };
    assert!(words("skills.load_mode").iter().all(|it| read_word::<LoadMode>(it).is_some()));
    assert!(words("skills.placement").iter().all(|it| read_word::<Placement>(it).is_some()));
    assert!(words("agent.tools").iter().all(|it| read_word::<ToolSet>(it).is_some()));
    assert!(words("agent.prompt").iter().all(|it| read_word::<PromptKind>(it).is_some()));
    assert!(words("models.providers.x.format").iter().all(|it| read_word::<Format>(it).is_some()));
    assert!(
        words("skills.install.node_manager").iter().all(|it| NodeManager::of_name(it).is_some())
    );
}

#[test]
fn what_was_probably_meant_is_guessed() {
    let told = |name: &str| format!("{name}: {}", nearest_name(name).unwrap_or_default());
    let names = [
        "skils.enabled",
        "skills.entries.invoices.enable",
        "mcp.servers.files.comand",
        "timeout",
        "skills.executor",
        "agents.defaults.approvals.mode",
        "quite.different.thing",
        "",
    ];
    insta::assert_snapshot!(names.map(told).join("\n"), @"
    skils.enabled: skills.enabled
    skills.entries.invoices.enable: skills.entries.invoices.enabled
    mcp.servers.files.comand: mcp.servers.files.command
    timeout: exec.timeout
    skills.executor: exec.executor
    agents.defaults.approvals.mode: approvals.mode
    quite.different.thing: 
    :
    ");
    let word = |name: &str, word: &str| Key::find(name).unwrap().nearest_word(word);
    assert_eq!(word("exec.executor", "Container"), Some("container"));
    assert_eq!(word("exec.executor", "contaner"), Some("container"));
    assert_eq!(word("exec.executor", "podman"), None);
    assert_eq!(word("exec.require", ""), None);
}

#[test]
fn an_empty_text_stands_for_nothing_where_there_is_no_default() {
    assert!(settings_of("agents.bob.approvals.mode = ''\nexec.require = ''").is_ok());
    assert!(settings_of("approvals.mode = ''").is_err());
    assert!(settings_of("skills.load_mode = ''").is_err());
}

#[test]
fn a_project_does_not_close_what_it_may_not_set() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    fs::create_dir_all(project.join(".metier")).unwrap();
    fs::write(project.join(".metier/config.toml"), "exec.executor = 'boat'").unwrap();
    let state = folder.path().join("state").to_string_lossy().into_owned();
    let environment = Environment {
        home: None,
        folder: project.clone(),
        variables: BTreeMap::from([("METIER_HOME".to_owned(), state)]),
        machine_settings: folder.path().join("none"),
    };
    let settings = load(&environment, &[project]).unwrap();
    assert!(settings.values.is_empty());
    assert_eq!(settings.problems.len(), 1);
}
