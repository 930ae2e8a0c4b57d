//! Skills of other servers, as somebody who is served has them.

use std::time::{Duration, Instant};

use metier_testkit::TestEnv;
use serde_json::json;

use super::Client;
use crate::environment;
use crate::remote::liar::Liar;
use crate::remote::{honest, ship, trust};

fn start(env: &TestEnv, server: &Liar) -> Client {
    let words = format!("--no-default-sources --skills-dir skills --mcp {}", server.url());
    Client::start(env, &words, &json!({})).0
}

/// Whether a skill is to be had.
fn has(client: &mut Client, skill: &str) -> bool {
    let listed = client.ask("resources/list", &json!({})).to_string();
    listed.contains(&format!("skill://{skill}/SKILL.md"))
}

/// Waits until a skill is there, or is not.
fn until(client: &mut Client, skill: &str, is_there: bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while has(client, skill) != is_there {
        assert!(Instant::now() < patience, "{skill}: {is_there}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_server_is_asked_once_whatever_changes_here() {
    let (env, server) = (environment(), honest());
    assert_eq!(trust(&env, &server).code, 0);
    env.skill("project/skills", "greet", "Says hello.");
    let before = server.lists();
    let mut client = start(&env, &server);
    until(&mut client, "ship", true);
    for name in ["one", "two", "three"] {
        env.skill("project/skills", name, "Counts.");
        until(&mut client, name, true);
    }
    // Trust is judged anew all the same.
    assert_eq!(env.run(["trust", "--revoke", "ship"]).code, 0);
    until(&mut client, "ship", false);
    assert_eq!(server.lists() - before, 1);
    client.end();
}

#[test]
fn a_server_that_never_answers_holds_up_nobody() {
    let (env, server) = (environment(), honest());
    assert_eq!(trust(&env, &server).code, 0);
    assert_eq!(ship(&env, &server.url()).code, 0);
    env.skill("project/skills", "greet", "Says hello.");
    server.state().silent = Some("");
    let begun = Instant::now();
    let mut client = start(&env, &server);
    assert!(has(&mut client, "greet"));
    assert!(has(&mut client, "ship"), "it was trusted and fetched before");
    let loaded = client.call("skill_load", &json!({ "skill": "ship" }));
    assert_eq!(loaded["isError"], false, "{loaded}");
    client.end();
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn what_is_wrong_with_an_offer_is_said_before_the_others_are_there() {
    let (env, server) = (environment(), honest());
    assert_eq!(trust(&env, &server).code, 0);
    let wrong = json!({ "name": "other", "description": "d" });
    let wrong = json!({ "uri": "skill://x/SKILL.md", "frontmatter": wrong, "resources": [] });
    server.state().skills.push(wrong);
    let mut client = start(&env, &server);
    until(&mut client, "ship", true);
    let said = client.end();
    assert_eq!(said.matches("M093").count(), 1, "{said}");
}
