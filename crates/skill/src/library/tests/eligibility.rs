//! What keeps a skill from being used, and what to do about it.

use super::World;
use crate::discover::Source;
use crate::library::{Block, EntryChoice, Missing, Patterns};

/// One user's skill called `ship` with this block under `metadata.metier`.
fn ship(requirements: &str) -> World {
    let mut world = World::new();
    let block = requirements.lines().map(|line| format!("    {line}\n")).collect::<String>();
    let metadata = format!("metadata:\n  metier:\n{block}");
    let metadata = if requirements.is_empty() { String::new() } else { metadata };
    world.scratch.write(
        "user/ship/SKILL.md",
        format!("---\nname: ship\ndescription: Ships.\n{metadata}---\n"),
    );
    world.root(Source::User, "user");
    world
}

fn entry(world: &mut World, key: &str, choice: EntryChoice) {
    world.choices.entries.insert(key.to_owned(), choice);
}

fn off() -> EntryChoice {
    EntryChoice { enabled: Some(false), ..EntryChoice::default() }
}

fn eligible(world: &World) -> bool {
    world.build().find("ship").unwrap().verdict.is_eligible()
}

#[test]
fn a_skill_without_requirements_is_eligible() {
    assert!(eligible(&ship("")));
    assert!(eligible(&ship("emoji: x")));
}

#[test]
fn everything_in_the_way_is_listed_in_the_order_it_is_checked() {
    let mut world = ship(
        "os: [darwin, win32]\nrequires:\n  bins: [alpha, beta]\n  anyBins: [gamma, delta]\n  \
         env: [TOKEN, OTHER]\n  config: [tools.web]",
    );
    world.choices.enabled = false;
    world.choices.denied = Patterns::new(&["s*"]).unwrap();
    world.choices.allowed = vec![
        ("`skills.allowed`".to_owned(), Patterns::new(&["other"]).unwrap()),
        ("`--skill`".to_owned(), Patterns::new::<&str>(&[]).unwrap()),
    ];
    entry(&mut world, "ship", off());
    insta::assert_snapshot!(world.outcome(), @"
    ship (user) user/ship/SKILL.md
      not eligible, skills are switched off: switch skills on
      not eligible, `ship` is disabled: enable `ship`
      not eligible, `s*` is denied: take `s*` out of the denied skills
      not eligible, not in `skills.allowed`: add `ship` to `skills.allowed`
      not eligible, not in `--skill`: add `ship` to `--skill`
      not eligible, needs darwin or win32
      not eligible, needs the variable TOKEN: set TOKEN, or give it to `ship` in the configuration
      not eligible, needs the variable OTHER: set OTHER, or give it to `ship` in the configuration
      not eligible, needs the setting tools.web: set `tools.web`
      not eligible, needs the program alpha: install alpha
      not eligible, needs the program beta: install beta
      not eligible, needs one of the programs gamma, delta: install gamma or delta
    ");
    let verdict = world.build().find("ship").unwrap().verdict.clone();
    assert!(verdict.is_switched_off());
    let strings = |items: &[&str]| items.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
    assert_eq!(
        verdict.missing(),
        Missing {
            bins: strings(&["alpha", "beta"]),
            any_bins: strings(&["gamma", "delta"]),
            env: strings(&["TOKEN", "OTHER"]),
            config: strings(&["tools.web"]),
            os: strings(&["darwin", "win32"]),
            mcp: Vec::new(),
        }
    );
}

#[test]
fn a_skill_that_names_a_server_or_a_tool_needs_it() {
    let outcome = |servers: &[&'static str]| {
        let requires = "requires: { mcp: [git], tools: [git/log, web/fetch, web/post] }";
        let mut world = ship(requires);
        world.servers = servers.to_vec();
        world.outcome()
    };
    insta::assert_snapshot!(outcome(&[]), @"
    ship (user) user/ship/SKILL.md
      not eligible, needs the MCP server git: describe the server `git` in the configuration
      not eligible, needs the MCP server web: describe the server `web` in the configuration
    ");
    insta::assert_snapshot!(outcome(&["git", "git/log", "web", "web/fetch"]), @"
    ship (user) user/ship/SKILL.md
      not eligible, needs the tool web/post of an MCP server: look at which tools of `web` the configuration offers
    ");
    insta::assert_snapshot!(outcome(&["git", "git/log", "web", "web/fetch", "web/post"]), @"ship (user) user/ship/SKILL.md");
    let mut world = ship("requires: { tools: [git] }");
    world.servers = vec!["git"];
    insta::assert_snapshot!(world.outcome(), @"
    ship (user) user/ship/SKILL.md
      not eligible, requirements cannot be read: `tools` has an entry that is not `server/tool`: correct the header in user/ship
    M045 error user/ship/SKILL.md: what the skill requires cannot be read: `tools` has an entry that is not `server/tool`
    ");
}

#[test]
fn systems_go_by_several_names() {
    let fits = |wanted: &str, os: &'static str| {
        let mut world = ship(&format!("os: {wanted}"));
        world.os = os;
        eligible(&world)
    };
    for (wanted, os) in [
        ("linux", "linux"),
        ("[darwin]", "macos"),
        ("macos", "macos"),
        ("MacOS", "macos"),
        ("win32", "windows"),
        ("windows", "windows"),
        ("\"win32, linux\"", "linux"),
        ("[]", "linux"),
    ] {
        assert!(fits(wanted, os), "{wanted} on {os}");
    }
    for (wanted, os) in [("darwin", "linux"), ("win32", "macos"), ("plan9", "linux")] {
        assert!(!fits(wanted, os), "{wanted} on {os}");
    }
}

#[test]
fn always_skips_every_requirement_but_the_system() {
    let requires = "requires:\n  bins: [nowhere]\n  env: [UNSET]\n  config: [unset]";
    assert!(eligible(&ship(&format!("always: true\n{requires}"))));
    assert!(!eligible(&ship(&format!("always: false\n{requires}"))));
    insta::assert_snapshot!(ship(&format!("always: true\nos: darwin\n{requires}")).outcome(), @"
    ship (user) user/ship/SKILL.md
      not eligible, needs darwin
    ");
}

#[test]
fn always_does_not_override_what_the_person_chose() {
    let mut world = ship("always: true");
    world.choices.denied = Patterns::new(&["ship"]).unwrap();
    assert!(!eligible(&world));
}

#[test]
fn a_variable_may_be_set_configured_or_be_the_one_the_key_fills() {
    let requires = "primaryEnv: TOKEN\nrequires:\n  env: [TOKEN]";
    let mut world = ship(requires);
    insta::assert_snapshot!(world.outcome(), @"
    ship (user) user/ship/SKILL.md
      not eligible, needs the variable TOKEN: set TOKEN, or give it to `ship` in the configuration
    ");
    world.variables = vec!["TOKEN"];
    assert!(eligible(&world));

    let mut world = ship(requires);
    entry(&mut world, "ship", EntryChoice { has_api_key: true, ..EntryChoice::default() });
    assert!(eligible(&world));

    let mut world = ship(requires);
    let env = ["TOKEN".to_owned()].into();
    entry(&mut world, "ship", EntryChoice { env, ..EntryChoice::default() });
    assert!(eligible(&world));
}

#[test]
fn a_key_fills_no_other_variable() {
    let mut world = ship("primaryEnv: TOKEN\nrequires:\n  env: [OTHER]");
    entry(&mut world, "ship", EntryChoice { has_api_key: true, ..EntryChoice::default() });
    insta::assert_snapshot!(world.outcome(), @"
    ship (user) user/ship/SKILL.md
      not eligible, needs the variable OTHER: set OTHER, or give it to `ship` in the configuration
    ");
}

#[test]
fn settings_must_be_true() {
    let mut world = ship("requires:\n  config: [tools.web, tools.shell]");
    world.settings = vec!["tools.web"];
    insta::assert_snapshot!(world.outcome(), @"
    ship (user) user/ship/SKILL.md
      not eligible, needs the setting tools.shell: set `tools.shell`
    ");
    world.settings.push("tools.shell");
    assert!(eligible(&world));
}

#[test]
fn requirements_that_cannot_be_read_close_the_gate() {
    for unreadable in ["requires: 7", "always: perhaps", "os:\n  - {a: b}", "requires:\n  bins: {}"]
    {
        let world = ship(unreadable);
        let blocks = world.build().find("ship").unwrap().verdict.blocks.clone();
        assert!(matches!(&blocks[..], [Block::Unreadable { .. }]), "{unreadable}: {blocks:?}");
    }
    insta::assert_snapshot!(ship("requires: 7").outcome(), @"
    ship (user) user/ship/SKILL.md
      not eligible, requirements cannot be read: `requires` is text, and not a JSON object: correct the header in user/ship
    M045 error user/ship/SKILL.md: what the skill requires cannot be read: `requires` is text, and not a JSON object
    ");
}

#[test]
fn an_entry_is_found_by_the_key_a_skill_names() {
    let mut world = ship("skillKey: shipping\nrequires:\n  env: [TOKEN]");
    insta::assert_snapshot!(world.outcome(), @"
    ship (user) user/ship/SKILL.md
      not eligible, needs the variable TOKEN: set TOKEN, or give it to `shipping` in the configuration
    ");
    let env = ["TOKEN".to_owned()].into();
    entry(&mut world, "shipping", EntryChoice { env, ..EntryChoice::default() });
    assert!(eligible(&world));
}

#[test]
fn a_key_of_its_own_does_not_get_a_skill_out_of_being_switched_off() {
    for key in ["ship", "shipping"] {
        let mut world = ship("skillKey: shipping");
        entry(&mut world, key, off());
        assert!(!eligible(&world), "{key}");
    }
}

#[test]
fn globs_choose_by_whole_names() {
    let denied = |pattern: &str| {
        let mut world = ship("");
        world.choices.denied = Patterns::new(&["unrelated", pattern]).unwrap();
        !eligible(&world)
    };
    for pattern in ["ship", "sh*", "*", "s?ip", "[s]hip", "{ship,boat}", " ship "] {
        assert!(denied(pattern), "{pattern}");
    }
    for pattern in ["shi", "hip", "SHIP", "", "ship-*"] {
        assert!(!denied(pattern), "{pattern}");
    }
    insta::assert_snapshot!(Patterns::new(&["ok", "[a"]).unwrap_err(), @"`[a` is not a name or a pattern of names");
}

#[test]
fn every_list_of_allowed_skills_must_name_it() {
    let mut world = ship("");
    let list = |name: &str, pattern: &str| (name.to_owned(), Patterns::new(&[pattern]).unwrap());
    world.choices.allowed = vec![list("`skills.allowed`", "s*"), list("the agent's list", "*")];
    assert!(eligible(&world));
    world.choices.allowed.push(list("`--skill`", "boat"));
    insta::assert_snapshot!(world.outcome(), @"
    ship (user) user/ship/SKILL.md
      not eligible, not in `--skill`: add `ship` to `--skill`
    ");
}

#[test]
fn patterns_that_look_like_a_name_match_it_however_they_are_composed() {
    let mut world = World::new();
    world.scratch.skill_named("user/a", "caf\u{e9}", "Composed.");
    world.root(Source::User, "user");
    for pattern in ["caf\u{e9}", "cafe\u{301}", "cafe\u{301}*"] {
        world.choices.denied = Patterns::new(&[pattern]).unwrap();
        assert!(!world.build().entries[0].verdict.is_eligible(), "{pattern}");
    }
}

#[test]
fn advice_about_a_variable_names_the_entry_and_the_source_that_it_must_name() {
    let mut world = World::new();
    let header = "description: Ships.\nmetadata: {metier: {requires: {env: [TOKEN]}}}";
    for folder in ["p/skills/ship", "user/ship"] {
        let text = format!("---\nname: ship\n{header}\n---\n");
        world.scratch.write(format!("{folder}/SKILL.md"), text);
    }
    world.plugin("my_tools", "p/skills");
    world.root(Source::User, "user");
    insta::assert_snapshot!(world.outcome(), @r#"
    my_tools:ship (plugin) p/skills/ship/SKILL.md
      not eligible, needs the variable TOKEN: set TOKEN, or give it to `my_tools:ship` in the configuration with `source = "plugin"`
    ship (user) user/ship/SKILL.md
      not eligible, needs the variable TOKEN: set TOKEN, or give it to `ship` in the configuration
    "#);
    // What the advice says is what works.
    let env = ["TOKEN".to_owned()].into();
    let source = Some(Source::Plugin);
    entry(&mut world, "my_tools:ship", EntryChoice { env, source, ..EntryChoice::default() });
    assert!(world.build().find("my_tools:ship").unwrap().verdict.is_eligible());
}

#[test]
fn who_may_start_a_skill_is_the_headers_and_eligibilitys_business() {
    let mut world = World::new();
    for (name, switches) in [
        ("both", ""),
        ("model", "user-invocable: false\n"),
        ("user", "disable-model-invocation: true\n"),
    ] {
        let text = format!("---\nname: {name}\ndescription: Does it.\n{switches}---\n");
        world.scratch.write(format!("user/{name}/SKILL.md"), text);
    }
    world.root(Source::User, "user");
    let who = |world: &World| -> Vec<String> {
        let snapshot = world.build();
        let flags = snapshot.entries.iter();
        flags
            .map(|it| format!("{} {} {}", it.name, it.is_model_visible(), it.is_user_invocable()))
            .collect()
    };
    assert_eq!(who(&world), ["both true true", "model true false", "user false true"]);
    world.choices.enabled = false;
    assert_eq!(who(&world), ["both false false", "model false false", "user false false"]);
}
