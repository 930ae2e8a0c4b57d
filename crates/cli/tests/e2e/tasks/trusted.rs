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

/// A session goes on in a folder without the project, where the person's own skill has the name.
#[test]
fn a_loaded_skill_of_a_project_does_not_run_as_the_own_one_of_its_name() {
    let env = environment();
    fs::create_dir(env.project().join(".git")).unwrap();
    fs::create_dir(env.root().join("elsewhere")).unwrap();
    for (folder, whose) in [("home/.agents/skills", "own"), ("project/.agents/skills", "project")] {
        env.skill(folder, "weather", &format!("The {whose} one."));
        let script = format!("echo {whose}; printenv TOKEN | rev\n");
        env.write(format!("{folder}/weather/show.sh"), script);
    }
    assert_eq!(env.run(["trust"]).code, 0);
    let provider = Provider::start(Wire::ChatCompletions);
    let address = provider.server.url("/v1");
    env.write(
        "home/.metier/config.toml",
        format!(
            "[skills]\nload_mode = \"session\"\n\
             [skills.entries.weather]\nenv.TOKEN = 'hush-hush-key'\n\
             [models.providers.test]\nbase_url = \"{address}\"\nkey = \"k-test-1\"\n"
        ),
    );
    let load = || Said::call("a", "skill_load", json!({ "skill": "weather" }));
    let run =
        || Said::call("b", "skill_run", json!({ "skill": "weather", "command": "sh show.sh" }));
    let words = ["run", "Go on.", "--model", "test/small", "--session", "one"];
    provider.says([load(), run(), Said::text("Done.")]);
    assert_eq!(env.run(words).code, 0);
    assert!(provider.bodies()[2].contains("project\\\\n"), "{}", provider.bodies()[2]);
    provider.says([run(), load(), run(), Said::text("Done.")]);
    let outcome = env.run_in(&env.root().join("elsewhere"), words, "");
    assert_eq!(outcome.code, 0, "{outcome}");
    let sent = provider.bodies();
    let said = "`weather` is another skill since it was loaded; load it again";
    assert!(sent[4].contains(said) && !sent[4].contains("yek-hsuh"), "{}", sent[4]);
    assert!(sent[6].contains("yek-hsuh-hsuh"), "{}", sent[6]);
}
