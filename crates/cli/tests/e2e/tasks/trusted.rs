//! Skills of a trusted project that change while a task is done.

use std::fs;

use metier_testkit::provider::{Provider, Said, Wire};
use serde_json::json;

use crate::environment;

const GOOD: &str = "---\nname: ship\ndescription: Ships things.\n---\n\nShip it well.\n";
const EVIL: &str = "---\nname: ship\ndescription: Ships things.\n---\n\nEvil words.\n";

/// The model of the first reply is slow, and somebody changes the skill meanwhile.
#[test]
fn a_change_between_the_start_of_a_turn_and_the_load_is_refused() {
    for flag in [None, Some("--trust-project")] {
        let env = environment();
        fs::create_dir(env.project().join(".git")).unwrap();
        let skill = env.write("project/.metier/skills/ship/SKILL.md", GOOD);
        if flag.is_none() {
            assert_eq!(env.run(["trust"]).code, 0);
        }
        let provider = Provider::start(Wire::ChatCompletions);
        let address = provider.server.url("/v1");
        env.write(
            "home/.metier/config.toml",
            format!("[models.providers.test]\nbase_url = \"{address}\"\nkey = \"k-test-1\"\n"),
        );
        let load = Said::call("a", "skill_load", json!({ "skill": "ship" }));
        provider.answers([
            provider.wire.stream(&load).writing(skill, EVIL),
            provider.wire.stream(&Said::text("It changed.")),
        ]);
        let words = ["run", "Ship it.", "--model", "test/small"];
        let outcome = env.run(words.into_iter().chain(flag));
        assert_eq!(outcome.code, 0, "{outcome}");
        let sent = provider.bodies();
        assert!(sent[0].contains("Ships things."), "the skill is offered: {}", sent[0]);
        let said = "`ship` changed since it was trusted: SKILL.md; look at the changes, then run `metier trust` again";
        assert!(sent[1].contains(said), "{}", sent[1]);
        assert!(!sent[1].contains("Evil words"), "{}", sent[1]);
    }
}
