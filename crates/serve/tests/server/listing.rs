//! What a client is told: instructions, tools, prompts, resources, completion.

use libtest_mimic::Failed;
use serde_json::{Value, json};

use super::Test;
use super::bench::{Bench, Client, NEW, OLD};

pub(crate) const TESTS: &[Test] = &[
    ("a_client_is_told_what_there_is_and_how_to_use_it", told),
    ("without_skills_it_is_said_where_to_put_some", empty),
    ("prompts_are_what_people_may_start_with_their_arguments", prompts),
    ("a_prompt_gives_the_skill_and_the_words_of_the_person", prompt),
    ("resources_are_listed_by_pages_and_nothing_is_lost_or_twice", pages),
    ("a_cursor_of_somebody_else_is_refused", cursors),
    ("names_paths_and_choices_are_completed", completion),
];

fn told() -> Result<(), Failed> {
    Bench::new().talk(NEW, async |client| {
        let found = client.ask("server/discover", json!({})).await;
        insta::assert_snapshot!(
            "discover",
            format!("{found:#}").replace(env!("CARGO_PKG_VERSION"), "[version]")
        );
        let tools = client.ask("tools/list", json!({})).await;
        let tools: Vec<Value> = tools["tools"].as_array().unwrap().iter().map(brief).collect();
        insta::assert_snapshot!("tools", format!("{:#}", Value::Array(tools)));
        let templates = client.ask("resources/templates/list", json!({})).await;
        insta::assert_snapshot!("templates", format!("{templates:#}"));
        let resources = client.ask("resources/list", json!({})).await;
        insta::assert_snapshot!("resources", format!("{resources:#}"));
    });
    Ok(())
}

/// A tool without its schemas, which have snapshots of their own where they are made.
fn brief(tool: &Value) -> Value {
    let mut tool = tool.clone();
    for schema in ["inputSchema", "outputSchema"] {
        assert_eq!(tool[schema]["type"], "object", "{tool:#}");
        tool[schema] = "…".into();
    }
    tool
}

fn empty() -> Result<(), Failed> {
    Bench::empty().talk(NEW, async |client| {
        let found = client.ask("server/discover", json!({})).await;
        insta::assert_snapshot!(
            "instructions_without_skills",
            found["instructions"].as_str().unwrap()
        );
    });
    Ok(())
}

fn prompts() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.write(
        "hidden/SKILL.md",
        "---\nname: hidden\ndescription: For models only.\nuser-invocable: false\n---\n\nBody.\n",
    );
    bench.skills.look();
    bench.talk(OLD, async |client| {
        let prompts = client.ask("prompts/list", json!({})).await;
        insta::assert_snapshot!("prompts", format!("{prompts:#}"));
    });
    Ok(())
}

fn prompt() -> Result<(), Failed> {
    Bench::new().talk(OLD, async |client| {
        let arguments = json!({ "file": "a.csv", "bar-or-line": "bar" });
        let params = json!({ "name": "charts", "arguments": arguments });
        let given = client.ask("prompts/get", params).await;
        insta::assert_snapshot!("prompt", format!("{given:#}"));
        let run = json!({ "skill": "charts", "command": "echo allowed" });
        let ran = client.ask("tools/call", json!({ "name": "skill_run", "arguments": run })).await;
        assert_eq!(ran["isError"], false, "a person has loaded it: {ran}");
        for (name, arguments) in [
            ("chart", json!({})),
            ("charts", json!({})),
            ("charts", json!({ "file": " " })),
            ("charts", json!({ "file": 7 })),
            ("charts", json!({ "file": "a", "other": "b" })),
        ] {
            let params = json!({ "name": name, "arguments": arguments });
            let error = client.ask("prompts/get", params).await;
            assert_eq!(error["code"], -32602, "{name} {arguments}: {error}");
        }
    });
    Ok(())
}

/// All addresses, page by page.
async fn addresses(client: &mut Client) -> (usize, Vec<String>) {
    let (mut pages, mut uris, mut params) = (0, Vec::new(), json!({}));
    loop {
        let page = client.ask("resources/list", params).await;
        pages += 1;
        let found = page["resources"].as_array().unwrap().iter();
        uris.extend(found.map(|it| it["uri"].as_str().unwrap().to_owned()));
        match page.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return (pages, uris),
        }
    }
}

fn pages() -> Result<(), Failed> {
    let bench = Bench::new();
    for number in 0..30 {
        bench.skill(&format!("many-{number:02}"), "One of many.", "Body.");
        for file in 0..9 {
            bench.write(&format!("many-{number:02}/{file}.txt"), "text\n");
        }
    }
    bench.skills.look();
    bench.talk(OLD, async |client| {
        let (pages, uris) = addresses(client).await;
        let mut sorted = uris.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!((pages, uris.len(), sorted.len()), (4, 305, 305));
    });
    Ok(())
}

fn cursors() -> Result<(), Failed> {
    Bench::new().talk(OLD, async |client| {
        let methods = [
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
            "skills/list",
        ];
        for method in methods {
            let error = client.ask(method, json!({ "cursor": "bm90IG91cnM=" })).await;
            assert_eq!(error["code"], -32602, "{method}: {error}");
        }
    });
    Ok(())
}

fn completion() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.skill("pdf-forms", "Fills in forms.", "Body.");
    bench.skills.look();
    let template = |uri: &str, argument: &str, value: &str| {
        json!({
            "ref": { "type": "ref/resource", "uri": uri },
            "argument": { "name": argument, "value": value },
            "context": { "arguments": { "skill": "pdf" } },
        })
    };
    let prompt = |name: &str, argument: &str, value: &str| {
        json!({
            "ref": { "type": "ref/prompt", "name": name },
            "argument": { "name": argument, "value": value },
        })
    };
    let told = bench.talk(OLD, async |client| {
        let mut told = Vec::new();
        for params in [
            template("skill://{skill}/{+path}", "skill", "f"),
            template("skill://{skill}/{+path}", "skill", ""),
            template("skill://{skill}/{+path}", "path", "data"),
            template("artifact://{+name}", "name", ""),
            template("file://{path}", "path", ""),
            prompt("charts", "bar-or-line", "l"),
            prompt("charts", "nothing", "l"),
            prompt("chart", "file", ""),
        ] {
            let answer = client.ask("completion/complete", params).await;
            let values = answer["completion"]["values"].to_string();
            told.push(if answer.get("code").is_some() {
                answer["code"].to_string()
            } else {
                values
            });
        }
        told.join("\n")
    });
    insta::assert_snapshot!("completions", told);
    Ok(())
}
