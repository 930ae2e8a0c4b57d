//! Graphs as lines of text, `user -> used (kind)`, and what the check says about them.

use super::check::violations;
use super::house::{HOUSE, Role};
use super::metadata::{Dependency, Kind, Package, parse};

/// Each line is a package, optionally with one arrow; the result is one violation per line.
fn judged(graph: &str) -> String {
    let packages = graph.lines().map(package).collect::<Vec<_>>();
    let lines = violations(&packages).iter().map(ToString::to_string).collect::<Vec<_>>();
    if lines.is_empty() { "allowed".to_owned() } else { lines.join("\n") }
}

fn package(line: &str) -> Package {
    let words = line.split_whitespace().collect::<Vec<_>>();
    let kind = match words.get(3).copied() {
        Some("(dev)") => Kind::Dev,
        Some("(build)") => Kind::Build,
        _ => Kind::Normal,
    };
    let used = words.get(2).map(|name| Dependency { name: (*name).to_owned(), kind });
    let internal = used.into_iter().collect();
    Package { name: words[0].to_owned(), internal, external: Vec::new() }
}

#[test]
fn the_drawn_arrows_are_allowed() {
    insta::assert_snapshot!(judged("\
metier -> metier-serve
metier -> metier-mcp
metier-serve -> metier-agent
metier-serve -> metier-mcp
metier-mcp -> metier-net
metier-mcp -> metier-sandbox
metier-agent -> metier-skill
metier-agent -> metier-approval
metier-agent -> metier-session
metier-agent -> metier-model
metier-agent -> metier-workspace
metier-model -> metier-net
metier-workspace -> metier-sandbox"), @"allowed");
}

#[test]
fn the_binary_may_use_everything_below_it() {
    let below = HOUSE.iter().filter(|entry| matches!(entry.role, Role::Shipped { .. }));
    for entry in below.filter(|entry| entry.name != "cli") {
        assert_eq!(judged(&format!("metier -> metier-{}", entry.name)), "allowed");
    }
}

#[test]
fn the_agent_may_use_sandbox_and_net_directly() {
    insta::assert_snapshot!(
        judged("metier-agent -> metier-sandbox\nmetier-agent -> metier-net"),
        @"allowed"
    );
}

#[test]
fn an_arrow_may_not_skip_a_floor() {
    insta::assert_snapshot!(
        judged("metier-serve -> metier-approval"),
        @"`metier-serve` may not have `metier-approval` as a dependency: `serve` uses only `mcp`, `agent`, `model`, `workspace`, `skill`, `session`, `sandbox`, `net`, `secrets`"
    );
}

#[test]
fn an_arrow_may_not_point_up() {
    insta::assert_snapshot!(
        judged("metier-agent -> metier"),
        @"`metier-agent` may not have `metier` as a dependency: `agent` uses only `model`, `workspace`, `skill`, `approval`, `session`, `sandbox`, `net`, `secrets`"
    );
}

#[test]
fn crates_that_know_nobody_use_nobody() {
    insta::assert_snapshot!(judged("\
metier-skill -> metier-net
metier-approval -> metier-skill (build)
metier-session"), @"
    `metier-skill` may not have `metier-net` as a dependency: `skill` uses no other crate of the house
    `metier-approval` may not have `metier-skill` as a build-dependency: `approval` uses no other crate of the house
    ");
}

#[test]
fn the_testkit_is_for_dev_dependencies() {
    insta::assert_snapshot!(judged("\
metier-skill -> metier-testkit (dev)
metier-net -> metier-testkit
metier -> metier-testkit (build)
metier-bench -> metier-testkit"), @"
    `metier-net` may not have `metier-testkit` as a dependency: `testkit` is for tests, so it must be a dev-dependency
    `metier` may not have `metier-testkit` as a build-dependency: `testkit` is for tests, so it must be a dev-dependency
    ");
}

#[test]
fn the_exempt_crates_use_what_they_like() {
    insta::assert_snapshot!(judged("\
metier-testkit -> metier-agent
bench -> metier-skill
xtask -> metier"), @"allowed");
}

#[test]
fn nothing_depends_on_a_tool_not_even_a_test() {
    insta::assert_snapshot!(judged("\
metier-skill -> xtask (dev)
metier-testkit -> metier-bench
bench -> xtask"), @"
    `metier-skill` may not have `xtask` as a dev-dependency: `xtask` is a tool that nothing depends on
    `metier-testkit` may not have `metier-bench` as a dependency: `bench` is a tool that nothing depends on
    `bench` may not have `xtask` as a dependency: `xtask` is a tool that nothing depends on
    ");
}

#[test]
fn an_unknown_crate_is_named_once_with_the_remedy() {
    insta::assert_snapshot!(judged("\
metier-agent -> metier-memory
metier-memory -> metier-net
metier -> metier-memory"), @"`metier-memory` has no place in the house: add it to the table `HOUSE` in `xtask/src/arrows/house.rs`");
}

#[test]
fn an_unknown_crate_outside_the_workspace_is_named_once_too() {
    insta::assert_snapshot!(judged("\
metier-agent -> metier-fuzz
metier -> metier-fuzz"), @"`metier-fuzz` has no place in the house: add it to the table `HOUSE` in `xtask/src/arrows/house.rs`");
}

#[test]
fn the_table_has_no_circle_and_no_name_without_an_entry() {
    for (floor, entry) in HOUSE.iter().enumerate() {
        let Role::Shipped { uses } = entry.role else { continue };
        for used in uses {
            let below = HOUSE.iter().position(|other| other.name == *used);
            assert!(below.is_some_and(|below| below > floor), "{} -> {used}", entry.name);
        }
    }
}

#[test]
fn dependencies_by_path_are_told_from_others() {
    let packages = parse(
        r#"{"packages": [{"name": "metier", "dependencies": [
            {"name": "serde", "kind": null},
            {"name": "metier-skill", "kind": null, "path": "/p/skill", "rename": "skill"},
            {"name": "metier-testkit", "kind": "dev", "path": "/p/testkit"},
            {"name": "metier-net", "kind": "build", "path": "/p/net"}
        ]}]}"#,
    );
    insta::assert_debug_snapshot!(packages.unwrap(), @r#"
    [
        Package {
            name: "metier",
            internal: [
                Dependency {
                    name: "metier-skill",
                    kind: Normal,
                },
                Dependency {
                    name: "metier-testkit",
                    kind: Dev,
                },
                Dependency {
                    name: "metier-net",
                    kind: Build,
                },
            ],
            external: [
                Dependency {
                    name: "serde",
                    kind: Normal,
                },
            ],
        },
    ]
    "#);
}

#[test]
fn metadata_of_another_shape_is_an_error() {
    assert_eq!(parse("{}").unwrap_err().to_string(), "cargo's metadata has no list `packages`");
    assert!(parse("nothing").is_err());
}
