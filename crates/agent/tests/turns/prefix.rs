//! Every request begins with the one before it, whatever happens in between, except where an event says
//! why it does not.

use libtest_mimic::Failed;
use metier_agent::{LoadMode, LoadRequest, Task};
use metier_model::Request;
use serde_json::json;

use crate::Test;
use crate::bench::{Bench, calls, text};

pub(crate) const TESTS: &[Test] = &[
    ("prefix::requests_only_grow", requests_only_grow),
    ("prefix::requests_only_grow_with_loads_that_come_with_tasks", declared_loads_only_grow),
    ("prefix::a_load_that_comes_with_a_task_is_in_its_requests", declared_loads_are_there),
    ("prefix::where_they_do_not_an_event_says_why", breaks_are_events),
];

/// Pairs of neighbours of which the second does not begin with the first.
fn breaks(requests: &[Request]) -> usize {
    let begins = |(before, after): &(&Request, &Request)| {
        before.system == after.system
            && before.tools == after.tools
            && after.messages.starts_with(&before.messages)
    };
    requests.iter().zip(&requests[1..]).filter(|pair| !begins(pair)).count()
}

/// Several turns with skills, an edited skill, a changed library and a restart before each turn.
fn turns(bench: &Bench) -> Result<Vec<Request>, Failed> {
    let mut requests = Vec::new();
    let mut say = |words: &str, script: &str| -> Result<(), Failed> {
        let done = bench.say(words, script);
        done.outcome?;
        requests.extend(done.requests);
        Ok(())
    };
    let load = |skill: &str| calls(&[("skill_load", json!({ "skill": skill }))]);
    let docs = |doc: &str| {
        calls(&[("skill_select_docs", json!({ "skill": "pdf", "docs": [doc], "mode": "add" }))])
    };
    say("One.", &(load("pdf") + &docs("forms.md") + &docs("tables.md") + &text("1")))?;
    say("Two.", &(load("charts") + &load("pdf") + &text("2")))?;
    bench.write(
        "pdf/SKILL.md",
        "---\nname: pdf\ndescription: Reads PDF files, all of them.\n---\n\nAnother way.\n",
    );
    bench.write("new/SKILL.md", "---\nname: new\ndescription: Is new.\n---\n\nNew.\n");
    say("Three.", &(load("pdf") + &load("new") + &text("3")))?;
    bench.remove("charts");
    say("Four.", &text("4"))?;
    Ok(requests)
}

fn requests_only_grow() -> Result<(), Failed> {
    for mode in [LoadMode::Turn, LoadMode::Session] {
        let mut bench = Bench::new();
        bench.settings.mode = mode;
        let requests = turns(&bench)?;
        assert_eq!(breaks(&requests), 0, "{mode}");
        assert!(bench.events().iter().all(|event| event.breaks.is_none()), "{mode}");
        let last = crate::bench::shown(requests.last().ok_or("no request")?);
        for text in
            ["Run `scripts/pages`", "Another way", "- new: Is new.", "No longer there:\n- charts"]
        {
            assert_eq!(last.matches(text).count(), 1, "{mode}: {text}: {last}");
        }
    }
    Ok(())
}

fn breaks_are_events() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.settings.mode = LoadMode::Once;
    let requests = turns(&bench)?;
    let said = bench.events().iter().filter(|event| event.breaks.is_some()).count();
    assert!(breaks(&requests) > 0 && breaks(&requests) <= said, "{said}");
    let mut bench = Bench::new();
    bench.settings.retain_tokens = 10;
    let requests = turns(&bench)?;
    let said = bench.events().iter().filter(|event| event.breaks.is_some()).count();
    assert!(breaks(&requests) > 0 && breaks(&requests) <= said, "{said}");
    Ok(())
}

/// A task that brings a skill with it.
fn with_load(words: &str, skill: &str, docs: &[&str]) -> Task {
    let docs = docs.iter().map(|doc| (*doc).to_owned()).collect();
    let load = LoadRequest { skill: skill.to_owned(), docs, ..LoadRequest::default() };
    Task { text: words.to_owned(), loads: vec![load], ..Task::default() }
}

fn declared_loads_only_grow() -> Result<(), Failed> {
    for mode in [LoadMode::Turn, LoadMode::Session] {
        let mut bench = Bench::new();
        bench.settings.mode = mode;
        let mut requests = Vec::new();
        let tasks = [
            with_load("One.", "pdf", &["forms.md"]),
            with_load("Two.", "pdf", &["tables.md"]),
            with_load("Three.", "charts", &[]),
        ];
        for task in tasks {
            let run = calls(&[("skill_list_docs", json!({ "skill": "pdf" }))]);
            let done = bench.task(task, &(run + &text("Done.")));
            done.outcome?;
            requests.extend(done.requests);
        }
        assert_eq!(breaks(&requests), 0, "{mode}");
        assert!(bench.events().iter().all(|event| event.breaks.is_none()), "{mode}");
        let last = crate::bench::shown(requests.last().ok_or("no request")?);
        for text in ["[Loaded] pdf", "[Doc] forms.md", "[Doc] tables.md", "[Loaded] charts"] {
            assert_eq!(last.matches(text).count(), 1, "{mode}: {text}: {last}");
        }
    }
    Ok(())
}

fn declared_loads_are_there() -> Result<(), Failed> {
    // Whatever of earlier turns has to go when a turn begins, and whatever makes room.
    for (retain, most) in [(20_000, None), (0, None), (10, Some(1)), (0, Some(1))] {
        for mode in [LoadMode::Turn, LoadMode::Session] {
            let mut bench = Bench::new();
            bench.settings.mode = mode;
            bench.settings.retain_tokens = retain;
            bench.settings.max_loaded_skills = most;
            for skill in ["pdf", "pdf", "charts", "pdf"] {
                let done = bench.task(with_load("Go.", skill, &[]), &text("Done."));
                done.outcome?;
                let last = crate::bench::shown(done.requests.last().ok_or("no request")?);
                let block = format!("[Loaded] {skill}");
                assert_eq!(last.matches(&block).count(), 1, "{mode} {retain} {most:?}: {last}");
            }
        }
    }
    Ok(())
}
