//! Tests of layers, and of what is made from the table of settings.

use std::collections::BTreeMap;
use std::fs;

use super::convert::nearest_name;
use super::sections::{ConfigSection, SECTIONS};
use super::*;

/// The configuration of a person whose file has this text.
fn config_of(text: &str) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    fs::write(&file, text).unwrap();
    Config::load(&ConfigSources::of_file(&file))
}

/// The sample with every line in force.
fn uncommented() -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with(|it: char| it == '[' || it.is_ascii_alphabetic()) => {
            format!("{rest}\n")
        }
        _ => format!("{line}\n"),
    };
    sample_file().lines().map(line).collect()
}

#[test]
fn the_sample_as_it_is_changes_nothing() {
    assert_eq!(config_of(&sample_file()).unwrap().values().count(), 0);
    assert!(sample_file().parse::<toml::Table>().unwrap().is_empty());
}

#[test]
fn the_sample_without_its_comments_says_every_default() {
    let config = config_of(&uncommented()).unwrap();
    let values: BTreeMap<&str, &SettingValue> =
        config.values().map(|(name, value, _)| (name, value)).collect();
    assert_eq!(values.len(), SettingKey::all().count());
    for key in SettingKey::all() {
        let name = key.name.replacen('*', "example", 1).replace('*', "EXAMPLE");
        match (key.default_value(), values[name.as_str()]) {
            // A secret that nobody set is shown as it is: empty.
            (SettingValue::Text(default), SettingValue::Secret(secret)) => {
                assert_eq!(default, *secret, "{name}");
            }
            (default, value) => assert_eq!(default, *value, "{name}"),
        }
    }
}

#[test]
fn lines_of_the_sample_are_not_too_long_to_read() {
    for line in sample_file().lines().filter(|line| line.starts_with("# ")) {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

#[test]
fn every_key_stands_in_the_innermost_section_of_its_name() {
    for section in SECTIONS {
        for key in section.keys {
            let holds = |other: &&ConfigSection| key.name.starts_with(&format!("{}.", other.name));
            let innermost = SECTIONS.iter().filter(holds).max_by_key(|other| other.name.len());
            assert_eq!(innermost.unwrap().name, section.name, "{}", key.name);
            assert_eq!(SettingKey::find(key.name).unwrap().name, key.name);
        }
    }
}

#[test]
fn every_default_is_a_value_of_its_field() {
    // Reads every field of every section, also of those with names that a person chooses.
    let config = config_of(&uncommented()).unwrap();
    let set = format!("{config:?}");
    assert!(!set.contains("origins: []"), "{set}");
    let unset = format!("{:?}", Config::default());
    assert!(unset.contains("origins: []"), "{unset}");
    assert!(config.agents.contains_key("example") && !config.agents.contains_key("defaults"));
}

#[test]
fn every_key_is_on_the_page_and_in_the_schema() {
    let (page, schema) = (reference_page(), json_schema());
    for key in SettingKey::all() {
        let heading = format!("\n### {}\n", key.name.replace('*', "NAME"));
        assert!(page.contains(&heading), "{}", key.name);
        let mut place = &schema;
        for part in key.name.split('.') {
            place = match part {
                "*" => place["patternProperties"].as_object().unwrap().values().next().unwrap(),
                part => &place["properties"][part],
            };
        }
        assert!(place["description"].as_str().unwrap().starts_with(key.help()), "{}", key.name);
        assert!(!place["default"].is_null(), "{}", key.name);
    }
}

#[test]
fn a_default_is_a_value_of_its_key() {
    for key in SettingKey::all() {
        let text = format!("value = {}", key.default);
        let table = toml::de::DeTable::parse(&text).unwrap();
        let (_, value) = table.get_ref().iter().next().unwrap();
        assert!(convert::read_toml(key, value.get_ref()).is_some(), "{}", key.name);
    }
}

#[test]
fn a_word_of_a_setting_is_the_word_of_its_value() {
    fn check<T: ConfigWord + PartialEq + std::fmt::Debug>() {
        assert_eq!(T::ALL.len(), T::CHOICE.words.len());
        for (value, word) in T::ALL.iter().zip(T::CHOICE.words) {
            assert_eq!(value.word(), *word);
            assert_eq!(T::from_word(word), Some(*value));
        }
        assert_eq!(T::from_word(""), None);
    }
    check::<ApprovalMode>();
    check::<ExecutorKind>();
    check::<ProviderFormat>();
    assert_eq!(ExecutorKind::CHOICE.listed(), "`sandbox`, `host` or `container`");
    assert_eq!(ProviderToolChoice::CHOICE.listed(), "`auto` or `constrained`");
    assert_eq!(RequiredLevel::CHOICE.listed(), "`full` or an empty text");
}

#[test]
fn a_field_has_the_value_and_its_origin() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    fs::write(&file, "[exec]\ntimeout = 7\nexecutor = 'host'\nrequire = ''\n[skills.entries.a]\nenv = { B = 'c', D = '' }\n").unwrap();
    let variable = ("METIER_EXEC_TIMEOUT".to_owned(), "9".to_owned());
    let variables =
        BTreeMap::from([variable, ("METIER_EXEC_MEMORY_MB".to_owned(), " ".to_owned())]);
    let sources = ConfigSources { variables: &variables, ..ConfigSources::of_file(&file) };
    let mut config = Config::load(&sources).unwrap();
    let origins = |origins: &[SettingOrigin]| {
        let shown: Vec<String> = origins.iter().map(ToString::to_string).collect();
        shown.join(" ").replace(&file.display().to_string(), "config.toml")
    };
    assert_eq!(*config.exec.timeout, 9);
    assert_eq!(origins(config.exec.timeout.origins()), "config.toml:2 $METIER_EXEC_TIMEOUT");
    assert!(config.exec.timeout.is_from_file() && !config.exec.memory_mb.is_set());
    assert_eq!((*config.exec.executor, *config.exec.require), (ExecutorKind::Host, None));
    assert_eq!(*config.exec.container.image, "debian:stable-slim");
    let entry = &config.skills.entries["a"];
    let secrets: Vec<_> = entry.env.iter().map(|(name, text)| (name, text.expose())).collect();
    assert_eq!(secrets, [("B", "c")]);
    assert!(*entry.enabled && !entry.enabled.is_set());
    config.exec.executor.set_by_flag("--executor", ExecutorKind::Sandbox);
    assert_eq!(*config.exec.executor, ExecutorKind::Sandbox);
    assert_eq!(origins(config.exec.executor.origins()), "config.toml:3 --executor");
}

#[test]
fn a_secret_is_never_shown() {
    let config =
        config_of("skills.entries.a.api_key = 'sesame'\nmodels.providers.x.key = 'open'").unwrap();
    let shown = format!("{config:?}");
    assert!(!shown.contains("sesame") && !shown.contains("open\""), "{shown}");
    let key = &config.skills.entries["a"].api_key;
    assert_eq!(key.as_ref().map(SecretText::expose), Some("sesame"));
}

#[test]
fn what_a_skill_requires_is_met_by_what_somebody_set() {
    let config = config_of(
        "exec.timeout = 0\nagent.model = ' '\n[mcp.servers.git]\ncommand = 'x'\ntools = false",
    )
    .unwrap();
    let names = [
        "exec.timeout",
        "agent.model",
        "mcp.servers.git",
        "mcp.servers",
        "mcp.servers.gi",
        "mcp.servers.git.tools",
        "mcp.servers.git.command",
        "skills.enabled",
    ];
    let shown = names.map(|name| format!("{name} {}", config.meets(name)));
    insta::assert_snapshot!(shown.join("\n"), @"
    exec.timeout false
    agent.model false
    mcp.servers.git true
    mcp.servers true
    mcp.servers.gi false
    mcp.servers.git.tools false
    mcp.servers.git.command true
    skills.enabled false
    ");
}

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
    let config = Config::load(&ConfigSources {
        file: &folder.path().join("state/config.toml"),
        variables: &BTreeMap::new(),
        machine_file: Some(&write("machine.toml", machine)),
        project_files: &[folder.path().join("project/.metier/config.toml")],
    });
    let text = match config {
        Ok(config) => {
            let values = config.values().map(|(name, value, _)| format!("{name} = {value}"));
            let also = config.also().map(|(name, list, _)| format!("{name} also {list:?}"));
            let warnings = config.warnings.iter().map(ToString::to_string);
            values.chain(also).chain(warnings).collect::<Vec<_>>().join("\n")
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
      Deny: approvals.mode = "deny" | not taken from the project: `approvals.mode` is not `deny`, `allowlist` or `full`; it is `deny` instead
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
}

#[test]
fn a_list_is_allowed_as_far_as_every_layer_has_it() {
    let allowed = |person: &str, project: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, list: &str| {
            let path = folder.path().join(name);
            if !list.is_empty() {
                fs::write(&path, format!("approvals.safe_bins = {list}")).unwrap();
            }
            path
        };
        let projects = [file("project.toml", project)];
        let own = file("config.toml", person);
        let sources = ConfigSources { project_files: &projects, ..ConfigSources::of_file(&own) };
        Config::load(&sources).unwrap().approvals.safe_bins.narrowed().join(" ")
    };
    assert_eq!(allowed("", ""), "cut uniq head tail tr wc");
    assert_eq!(allowed("", "['rm', 'wc', 'cut']"), "cut wc");
    assert_eq!(allowed("['wc', 'rm', 'sort']", "['rm', 'wc', 'cut']"), "wc rm");
    assert_eq!(allowed("[]", "['rm']"), "");
}

#[test]
fn an_unknown_setting_of_the_machine_is_a_warning_and_the_rest_holds() {
    let text =
        in_force("", "approvals.mood = 'deny'\napprovals.mode = 'deny'", "approvals.mood = 'deny'");
    insta::assert_snapshot!(text, @r#"
    approvals.mode = "deny"
    not taken from the machine's file: there is no setting `approvals.mood`
    not taken from the project: there is no setting `approvals.mood`
    "#);
}

#[test]
fn a_line_that_cannot_be_used_is_named() {
    let line = |text: &str| match config_of(text) {
        Ok(_) => "fine".to_owned(),
        Err(error) => error.to_string().rsplit_once("config.toml:").unwrap().1.to_owned(),
    };
    let texts = [
        "x = 1",
        "\nexec.timeout = 'a'",
        "exec.timeout = 1.5",
        "skills.allowed = ['a', '[']",
        "agents.A.skills = []",
        "[mcp.servers.'a b']",
        "= 3",
    ];
    insta::assert_snapshot!(texts.map(line).join("\n"), @"
    1: there is no setting `x`
    2: `exec.timeout` is not a whole number
    1: `exec.timeout` is not a whole number
    1: `skills.allowed` has `[`, which is not a name or a glob of names
    1: `agents.A.skills` cannot be a setting of an agent: use lowercase letters, digits and hyphens, and begin with no hyphen
    1: `mcp.servers.a b.command` cannot be a setting of a server: a name is up to 32 letters, digits, `-` and `_`
    1: not valid TOML: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
    ");
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
    let word = |name: &str, word: &str| SettingKey::find(name).unwrap().nearest_word(word);
    assert_eq!(word("exec.executor", "Container"), Some("container"));
    assert_eq!(word("exec.executor", "contaner"), Some("container"));
    assert_eq!(word("exec.executor", "podman"), None);
    assert_eq!(word("exec.require", ""), None);
}

#[test]
fn an_empty_text_stands_for_nothing_where_there_is_no_default() {
    assert!(config_of("agents.bob.approvals.mode = ''\nexec.require = ''").is_ok());
    assert!(config_of("approvals.mode = ''").is_err());
    assert!(config_of("skills.load_mode = ''").is_err());
}

#[test]
fn a_project_does_not_close_what_it_may_not_set() {
    insta::assert_snapshot!(in_force("", "", "exec.executor = 'boat'"), @"not taken from the project: `exec.executor` is not `sandbox`, `host` or `container`");
}
