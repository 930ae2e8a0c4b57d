//! What a client is told when something changes.

use libtest_mimic::Failed;
use serde_json::json;

use super::Test;
use super::bench::{Bench, NEW, OLD};
use super::calls::call;

pub(crate) const TESTS: &[Test] = &[
    ("a_new_skill_is_told_and_stands_in_the_tools_prompts_and_resources", new_skill),
    ("a_file_is_told_to_whoever_has_an_eye_on_it_and_to_nobody_else", subscribed),
    ("a_client_without_sessions_is_told_what_it_asked_for", listening),
    ("an_artifact_that_is_made_is_told", made),
    ("a_version_of_an_artifact_is_there_or_nobody_has_an_eye_on_it", versions),
    ("subscriptions_beyond_the_bound_are_not_acknowledged", bound),
    ("nothing_is_told_when_nothing_changed", quiet),
];

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";

fn new_skill() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.talk(OLD, async |client| {
        let before = client.ask("tools/list", json!({})).await;
        assert!(!before.to_string().contains("Skills added"), "{before}");
        bench.skill("weather", "Tells the weather.", "Body.");
        bench.look();
        for told in [TOOLS, PROMPTS, RESOURCES] {
            client.told(told).await;
        }
        let tools = client.ask("tools/list", json!({})).await.to_string();
        assert!(tools.contains("Skills added: weather"), "{tools}");
        let prompts = client.ask("prompts/list", json!({})).await.to_string();
        assert!(prompts.contains("Tells the weather."), "{prompts}");
        let found = call(client, "skill_search", json!({ "query": "weather" })).await;
        assert_eq!(found["structuredContent"]["skills"][0]["name"], "weather", "{found}");
    });
    Ok(())
}

fn subscribed() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.talk(OLD, async |client| {
        for uri in ["skill://pdf/forms.md", "skill://pdf/SKILL.md"] {
            let answer = client.ask("resources/subscribe", json!({ "uri": uri })).await;
            assert!(answer.get("code").is_none(), "{answer}");
        }
        let error = client.ask("resources/subscribe", json!({ "uri": "skill://pdf/no.md" })).await;
        assert_eq!(error["code"], -32002, "{error}");
        bench.write("pdf/forms.md", "Another text.\n");
        bench.look();
        let told = client.told(UPDATED).await;
        assert_eq!(told["params"]["uri"], "skill://pdf/forms.md", "{told}");

        // They are told in the order of their addresses: this one would be the first.
        client.ask("resources/unsubscribe", json!({ "uri": "skill://pdf/SKILL.md" })).await;
        bench.write("pdf/forms.md", "And another.\n");
        std::fs::remove_file(bench.path("pdf/SKILL.md")).unwrap();
        bench.look();
        let told = client.told(UPDATED).await;
        assert_eq!(told["params"]["uri"], "skill://pdf/forms.md", "it is gone: {told}");
        let others = client.heard.iter().filter(|it| it["method"] == UPDATED);
        assert_eq!(others.count(), 0, "{:?}", client.heard);
    });
    Ok(())
}

fn listening() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.talk(NEW, async |client| {
        client.ask("server/discover", json!({})).await;
        let wanted = json!({
            "toolsListChanged": true,
            "resourceSubscriptions": ["skill://pdf/forms.md"],
        });
        let id = client.send("subscriptions/listen", json!({ "notifications": wanted })).await;
        let told = client.told("notifications/subscriptions/acknowledged").await;
        assert_eq!(told["params"]["notifications"]["toolsListChanged"], true, "{told}");
        bench.skill("weather", "Tells the weather.", "Body.");
        bench.look();
        let told = client.told(TOOLS).await;
        assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{told}");
        bench.write("pdf/forms.md", "Another text.\n");
        bench.look();
        client.told(UPDATED).await;
        let others = client.heard.iter().filter(|it| it["method"] == PROMPTS);
        assert_eq!(others.count(), 0, "nobody asked for these: {:?}", client.heard);
    });
    Ok(())
}

fn made() -> Result<(), Failed> {
    Bench::new().talk(OLD, async |client| {
        let run = json!({
            "skill": "pdf",
            "command": "echo text > out/a.txt",
            "outputs": { "globs": ["out/*.txt"], "save": true },
        });
        let ran = call(client, "skill_run", run).await;
        assert_eq!(ran["isError"], false, "{ran}");
        client.told(RESOURCES).await;
    });
    Ok(())
}

fn versions() -> Result<(), Failed> {
    Bench::new().talk(OLD, async |client| {
        let mut run = json!({
            "skill": "pdf",
            "command": "echo one > out/a.txt",
            "outputs": { "globs": ["out/*.txt"], "save": true },
        });
        let ran = call(client, "skill_run", run.clone()).await;
        assert_eq!(ran["isError"], false, "{ran}");
        for (uri, is_there) in [
            ("artifact://out/a.txt", true),
            ("artifact://out/a.txt@0", true),
            ("artifact://out/a.txt@1", false),
            ("artifact://out/b.txt", false),
        ] {
            let answer = client.ask("resources/subscribe", json!({ "uri": uri })).await;
            assert_eq!(answer.get("code").is_none(), is_there, "{uri}: {answer}");
        }
        run["command"] = "echo two > out/a.txt".into();
        call(client, "skill_run", run).await;
        let told = client.told(UPDATED).await;
        assert_eq!(told["params"]["uri"], "artifact://out/a.txt", "{told}");
        client.pause().await;
        let others = client.heard.iter().filter(|it| it["method"] == UPDATED);
        assert_eq!(others.count(), 0, "the first version is what it was: {:?}", client.heard);
    });
    Ok(())
}

fn bound() -> Result<(), Failed> {
    Bench::new().talk(NEW, async |client| {
        let uris: Vec<String> = (0..1001).map(|it| format!("skill://pdf/{it}.md")).collect();
        let wanted = json!({ "resourceSubscriptions": uris });
        client.send("subscriptions/listen", json!({ "notifications": wanted })).await;
        let told = client.told("notifications/subscriptions/acknowledged").await;
        let taken = told["params"]["notifications"]["resourceSubscriptions"].as_array().unwrap();
        assert_eq!((taken.len(), &taken[999]), (1000, &json!("skill://pdf/999.md")));
    });
    Ok(())
}

fn quiet() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.talk(OLD, async |client| {
        call(client, "skill_search", json!({ "query": "pdf" })).await;
        call(client, "skill_load", json!({ "skill": "pdf" })).await;
        let run = json!({ "skill": "pdf", "command": "true" });
        let ran = call(client, "skill_run", run).await;
        assert_eq!(ran["isError"], false, "{ran}");
        client.pause().await;
        assert!(client.heard.is_empty(), "{:?}", client.heard);
        bench.skill("weather", "Tells the weather.", "Body.");
        bench.look();
        client.told(TOOLS).await;
        client.told(RESOURCES).await;
        let told =
            client.heard.iter().filter(|it| it["method"] == TOOLS || it["method"] == RESOURCES);
        assert_eq!(told.count(), 0, "each was told once: {:?}", client.heard);
    });
    Ok(())
}
