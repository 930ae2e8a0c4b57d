//! `metier bench`: what is measured, with small skills of the tests and with real ones.

use std::path::Path;

use insta::assert_snapshot;
use metier_testkit::server::{Reply, Server};
use metier_testkit::{Outcome, TestEnv, corpus, report};
use serde_json::{Value, json};

use super::bench::{asking, streamed};
use crate::{compact, environment, json as printed, run, run_own};

const PATH: &str = "/v1/chat/completions";

/// Three skills, one with docs.
fn with_skills() -> TestEnv {
    let env = environment();
    for (name, docs) in [("ink", 0), ("paper", 3), ("press", 1)] {
        let body = format!("How to use {name}. ").repeat(40);
        let header = format!("---\nname: {name}\ndescription: Use {name} for printing.\n---\n");
        env.write(format!("project/skills/{name}/SKILL.md"), format!("{header}\n{body}\n"));
        for doc in 0..docs {
            let text = format!("Doc {doc} of {name}, with details. ").repeat(30);
            env.write(format!("project/skills/{name}/doc-{doc}.md"), text);
        }
    }
    env
}

/// The outcome with figures that do not depend on what the sandbox of a machine says of itself.
fn without_figures(outcome: &Outcome) -> String {
    let digit = |character: char| if character.is_ascii_digit() { '0' } else { character };
    outcome.to_string().chars().map(digit).collect()
}

/// The cases of a report, each with the uncached or the unseen tokens of its layouts.
fn counted(report: &Value, field: &str) -> Vec<(String, Vec<(String, u64)>)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let layout = |it: &Value| (text(&it["layout"]), it[field].as_u64().expect("a number"));
    let case = |it: &Value| {
        let layouts = it["layouts"].as_array().expect("layouts");
        (text(&it["name"]), layouts.iter().map(layout).collect())
    };
    report["cases"].as_array().expect("cases").iter().map(case).collect()
}

/// A command about the skills of a folder.
fn about(env: &TestEnv, folder: &Path, words: &[&str]) -> Outcome {
    let folder = folder.to_string_lossy().into_owned();
    let fixed = ["bench", "--no-default-sources", "--skills-dir", &folder];
    env.run(fixed.iter().chain(words))
}

#[test]
fn prompt_cache_prints_every_case_in_every_layout() {
    let env = with_skills();
    assert_snapshot!(without_figures(&run_own(&env, "bench prompt-cache")));
}

#[test]
fn token_report_prints_what_is_saved() {
    let env = with_skills();
    assert_snapshot!(without_figures(&run_own(&env, "bench token-report")));
}

#[test]
fn text_that_stays_is_sent_anew_least_often() {
    let outcome = run_own(&with_skills(), "bench prompt-cache --json");
    let measured = counted(&printed(&outcome), "uncached_tokens");
    assert_eq!(measured.len(), 5);
    for (case, layouts) in &measured {
        let ours = layouts.last().expect("four layouts");
        assert_eq!(ours.0, "tool_result");
        assert!(layouts[..3].iter().all(|it| ours.1 <= it.1), "{case}: {layouts:?}");
        assert!(ours.1 < layouts[0].1, "{case}: {layouts:?}");
    }
    // Where text moves, and where skills come back that are not loaded any more, this shows.
    let of = |name: &str| &measured.iter().find(|(case, _)| case == name).expect("a case").1;
    let docs = of("docs-one-by-one");
    assert!(docs[3].1 < docs[2].1 && docs[2].1 == docs[1].1, "{docs:?}");
    let new = of("new-skill-each-turn");
    assert!(new[2].1 < new[1].1, "{new:?}");
}

#[test]
fn the_same_skills_give_the_same_figures() {
    let env = with_skills();
    for command in ["prompt-cache", "token-report"] {
        let measure = || printed(&run_own(&env, &format!("bench {command} --json")));
        assert_eq!(measure(), measure());
    }
}

#[test]
fn nothing_is_left_behind() {
    let env = with_skills();
    env.write("temporary/.keep", "");
    let temporary = env.root().join("temporary");
    let env = env.with_variable("TMPDIR", &temporary.to_string_lossy());
    assert_eq!(run_own(&env, "bench token-report --quiet").code, 0);
    let left: Vec<_> = std::fs::read_dir(temporary).expect("a folder").collect();
    assert_eq!(left.len(), 1, "{left:?}");
    for name in ["metier.db", "workspaces", "content", "artifacts"] {
        assert!(!env.home().join(".metier").join(name).exists(), "{name}");
    }
}

#[test]
fn a_page_is_written_that_needs_nothing_else() {
    let env = with_skills();
    for (command, word) in
        [("prompt-cache", "newest_result"), ("token-report", "all_bodies_and_docs")]
    {
        let outcome = run_own(&env, &format!("bench {command} --html page.html --json"));
        let report = printed(&outcome);
        let page = std::fs::read_to_string(env.project().join("page.html")).expect("a page");
        for address in ["http", "//", "src=", "href=", "url(", "<script"] {
            assert!(!page.contains(address), "{command}: {address}");
        }
        assert!(page.contains(word) && page.contains("<svg "), "{page}");
        // The figures are those of the report.
        let figure = match command {
            "prompt-cache" => &report["cases"][0]["layouts"][3]["uncached_tokens"],
            _ => &report["prompts"][2]["prompt_tokens"],
        };
        let plain = page.replace(' ', "");
        assert!(plain.contains(&format!("<td>{figure}</td>")), "{command}: {figure}");
    }
    // One that cannot be written after all takes nothing away.
    let outcome = run_own(&env, "bench token-report --html skills");
    assert!(outcome.code == 1 && outcome.stdout.contains("progressive"), "{outcome}");
    let told = "error: `[PROJECT]/skills` cannot be written: Is a directory";
    assert!(outcome.stderr.contains(told), "{outcome}");
}

#[test]
fn what_cannot_come_of_it_is_said_before_anything_is_measured() {
    // Without skills there is nothing to measure, which would be said next.
    let env = environment();
    env.write("project/file", "");
    let told =
        ["--html no/where.html", "--html file/where.html", "--model nobody/x"].map(|words| {
            let both = ["prompt-cache", "token-report"]
                .map(|command| run(&env, &format!("bench {command} --no-default-sources {words}")));
            assert_eq!(both[0].stderr, both[1].stderr);
            compact(&both[0])
        });
    assert_snapshot!(told.join("\n"), @"
    1 |  | error: `[PROJECT]/no/where.html` cannot be written: No such file or directory (os error 2) / hint: name a file in a folder that is there and that you can write to
    1 |  | error: `[PROJECT]/file/where.html` cannot be written: Not a directory (os error 20) / hint: name a file in a folder that is there and that you can write to
    2 |  | error: there is no provider `nobody`; there are `anthropic`, `openai`, `offline` / hint: to add it, set `models.providers.nobody.base_url` to the address of its interface; settings go into `[HOME]/.metier/config.toml`
    ");
    let server = Server::start();
    let env = asking(with_skills(), &server.url("/v1"));
    let outcome = run_own(&env, "bench token-report --model openai/test --html no/where.html");
    assert_eq!((outcome.code, server.requests().len()), (1, 0), "{outcome}");
}

#[test]
fn without_skills_there_is_nothing_to_measure() {
    let env = environment();
    assert_snapshot!(compact(&run(&env, "bench prompt-cache --no-default-sources")), @"1 |  | error: there are no skills to measure with / hint: name a folder of skills with `--skills-dir`");
}

#[test]
fn with_a_model_its_provider_is_asked_and_its_count_shown() {
    let server = Server::start();
    server.reply(PATH, streamed(&[json!({ "content": "Done." })], "stop"));
    let env = asking(with_skills(), &server.url("/v1"));
    let report = printed(&run_own(&env, "bench token-report --model openai/test --json"));
    assert_eq!(report["live"]["model"], "openai/test");
    let paid = json!({ "case": "one-task", "layout": "progressive", "requests": 1, "prompt_tokens": 700,
        "cached_tokens": 512, "uncached_tokens": 188, "output_tokens": 20 });
    assert_eq!(report["live"]["paid"][0], paid);
    let systems: Vec<String> = server
        .requests()
        .iter()
        .map(|request| {
            let body: Value = serde_json::from_slice(&request.body).expect("a request is JSON");
            body["messages"][0]["content"].as_str().expect("a system text").to_owned()
        })
        .collect();
    let has = |at: usize, text: &str| systems[at].contains(text);
    assert_eq!(systems.len(), 3);
    assert!(!has(0, "How to use ink") && has(1, "How to use ink") && has(2, "How to use press"));
    assert!(!has(1, "Doc 2 of paper") && has(2, "Doc 2 of paper"));
    let report = printed(&run_own(&env, "bench prompt-cache --model openai/test --json"));
    let paid = report["live"]["paid"].as_array().expect("a line each");
    let lines: Vec<String> = paid
        .iter()
        .map(|it| format!("{} {} {}", it["case"], it["layout"], it["cached_tokens"]))
        .collect();
    assert_snapshot!(lines.join("\n"), @r#"
    "one-skill" "system" 512
    "one-skill" "tool_result" 512
    "docs-one-by-one" "system" 512
    "docs-one-by-one" "tool_result" 512
    "two-skills" "system" 512
    "two-skills" "tool_result" 512
    "new-skill-each-turn" "system" 1536
    "new-skill-each-turn" "tool_result" 1536
    "same-skill-again" "system" 3072
    "same-skill-again" "tool_result" 3072
    "#);
}

#[test]
fn a_prompt_that_does_not_fit_is_a_line_and_not_the_end() {
    let server = Server::start();
    let error = json!({ "error": { "code": "context_length_exceeded", "message": "too long" } });
    let done = || streamed(&[json!({ "content": "Done." })], "stop");
    server.replies(PATH, [done(), done(), Reply::ok(error.to_string()).code(400)]);
    let env = asking(with_skills(), &server.url("/v1"));
    let outcome = run_own(&env, "bench token-report --model openai/test --html page.html");
    assert_eq!(outcome.code, 0, "{outcome}");
    let live = outcome.stdout.split("openai/test").nth(1).expect("what the model cost");
    assert_snapshot!(live, @"
    , by its provider's count
    CASE      LAYOUT               REQUESTS  PROMPT  CACHED  UNCACHED  WRITTEN
    one task  progressive                 1     700     512       188       20
    one task  all_bodies                  1     700     512       188       20
    one task  all_bodies_and_docs         –       –       –         –        –
    ");
    assert!(outcome.stderr.starts_with("asking one task, progressive\n"), "{outcome}");
    assert!(outcome.stderr.contains("all_bodies_and_docs: the prompt does not fit"), "{outcome}");
    let refused = Server::start();
    refused.reply(PATH, Reply::status(401));
    let env = env.with_variable("OPENAI_BASE_URL", &refused.url("/v1"));
    assert_eq!(run_own(&env, "bench token-report --model openai/test").code, 1);
}

#[test]
fn on_real_skills_text_that_stays_is_lowest_and_half_of_system_when_a_skill_comes_again() {
    let Some(folder) = corpus("bench prompt-cache on real skills") else { return };
    let outcome = about(&environment(), &folder.join("anthropic"), &["prompt-cache", "--json"]);
    let printed = printed(&outcome);
    let measured = counted(&printed, "uncached_tokens");
    assert_eq!(measured.len(), 5);
    for (case, layouts) in measured.iter().chain(&counted(&printed, "unseen_tokens")) {
        report("bench prompt-cache", &format!("{case}: {layouts:?}"));
        let ours = layouts[3].1;
        assert!(layouts[..3].iter().all(|it| ours <= it.1), "{case}: {layouts:?}");
        assert!(ours < layouts[0].1, "{case}: {layouts:?}");
    }
    let (case, again) = &measured[4];
    assert_eq!(case, "same-skill-again");
    assert!(again[3].1 * 2 <= again[0].1, "{again:?}");
}

#[test]
fn on_real_skills_loading_on_demand_saves_nearly_everything() {
    let Some(folder) = corpus("bench token-report on real skills") else { return };
    let outcome = about(&environment(), &folder.join("anthropic"), &["token-report", "--json"]);
    let prompts = printed(&outcome)["prompts"].clone();
    report("bench token-report", &prompts.to_string());
    let saving = prompts[2]["saving"].as_f64().expect("a share");
    assert_eq!(prompts[2]["prompt"], "all_bodies_and_docs");
    assert!(saving >= 0.95, "{prompts}");
}
