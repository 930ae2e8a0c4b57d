//! `metier demo`: shown with the real agent, wherever it is run.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{environment, json as printed, run};

#[test]
fn load_modes_shows_where_text_is_in_every_request() {
    let env = environment();
    let told = run(&env, "demo load-modes").to_string();
    // What the tools and the guidance cost is tested elsewhere.
    let line = |line: &str| match line.split(' ').next() {
        Some(word @ ("tokens" | "uncached")) => format!("{word} [FIGURES]"),
        _ => line.to_owned(),
    };
    assert_snapshot!(told.lines().map(line).collect::<Vec<_>>().join("\n"));
}

#[test]
fn load_modes_tells_programs_the_same() {
    let env = environment();
    let shown = printed(&run(&env, "demo load-modes --json"));
    let all = shown.as_array().expect("an array");
    assert_eq!(all.len(), 6);
    let of = |mode: &str, placement: &str| {
        all.iter()
            .find(|it| it["mode"] == mode && it["placement"] == placement)
            .expect("it is there")
    };
    let last = |it: &Value| {
        it["requests"].as_array().and_then(|all| all.last()).expect("a request")["text"].clone()
    };
    assert_eq!(
        last(of("turn", "tool_result")),
        json!({ "tea": [{ "result": 1 }], "maps": [{ "result": 3 }] })
    );
    assert_eq!(last(of("once", "tool_result")), json!({}));
    assert_eq!(last(of("turn", "system")), json!({}));
    assert_eq!(last(of("session", "system")), json!({ "tea": ["system"], "maps": ["system"] }));
    let state = &of("session", "system")["state"][2];
    assert_eq!(state["temp:skill:order:default"], r#"["tea","maps"]"#);
    assert_eq!(of("turn", "system")["state"][2], json!({}));
    // What stays in place is never sent anew.
    let uncached = |it: &Value| it["cost"]["uncached_tokens"].as_u64().expect("a number");
    assert!(uncached(of("turn", "tool_result")) < uncached(of("turn", "system")));
}

#[test]
fn a_demo_depends_on_nothing_of_the_machine_and_leaves_nothing() {
    let env = environment();
    let before = printed(&run(&env, "demo load-modes --json"));
    env.write("home/.metier/config.toml", "[skills]\nload_mode = \"once\"\nenabled = false\n");
    env.write("temporary/.keep", "");
    let temporary = env.root().join("temporary");
    let env = env.with_variable("TMPDIR", &temporary.to_string_lossy());
    assert_eq!(printed(&run(&env, "demo load-modes --json")), before);
    let left: Vec<_> = std::fs::read_dir(temporary).expect("a folder").collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
