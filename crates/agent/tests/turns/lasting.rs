//! What stays in requests, and of which version, when skills are trimmed or edited.

use libtest_mimic::Failed;
use metier_agent::conversation::Placement;
use metier_agent::{LoadMode, LoadRequest, Task};
use metier_session::{BreakCause, Stub};
use serde_json::json;

use crate::Test;
use crate::bench::{Bench, calls, shown, text};

pub(crate) const TESTS: &[Test] = &[
    ("lasting::a_skill_declared_again_is_not_trimmed", declared_again),
    ("lasting::trimming_one_skill_leaves_another_at_the_same_event", trimmed_beside_another),
    ("lasting::a_declared_skill_takes_the_place_of_another", declared_beyond_the_bound),
    ("lasting::docs_can_be_selected_after_the_one_request_of_a_skill", docs_after_one_request),
    ("lasting::what_a_summary_covers_of_the_library_is_told_again", library_after_a_summary),
    ("lasting::a_doc_that_is_gone_from_a_newer_version_is_not_asked_for", doc_that_is_gone),
    ("lasting::a_summary_that_says_nothing_takes_nothing_away", empty_summary),
    ("lasting::a_conversation_that_does_not_fit_is_summarised_without_what_is_asked_now", overflow),
    ("lasting::docs_are_of_the_version_that_was_loaded", docs_of_the_loaded_version),
    ("lasting::files_are_of_the_version_that_was_loaded", files_of_the_loaded_version),
];

fn task(words: &str, skills: &[&str]) -> Task {
    let load = |skill: &&str| LoadRequest { skill: (*skill).to_owned(), ..LoadRequest::default() };
    let loads = skills.iter().map(load).collect();
    Task { text: words.to_owned(), loads, ..Task::default() }
}

fn declared_again() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.settings.retain_tokens = 0;
    bench.task(task("One.", &["pdf"]), &text("1")).outcome?;
    let done = bench.task(task("Two.", &["pdf"]), &text("2"));
    done.outcome?;
    assert!(bench.events().iter().all(|event| event.breaks.is_none()));
    assert_eq!(shown(&done.requests[0]).matches("Run `scripts/pages`").count(), 1);
    Ok(())
}

fn trimmed_beside_another() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.settings.retain_tokens = 0;
    bench.task(task("One.", &["pdf", "charts"]), &text("1")).outcome?;
    let done = bench.task(task("Two.", &["charts"]), &text("2"));
    done.outcome?;
    let request = shown(&done.requests[0]);
    assert_eq!(request.matches("Draw with care.").count(), 1, "{request}");
    assert_eq!(request.matches("Run `scripts/pages`").count(), 0, "{request}");
    let events = bench.events();
    let broken = events.iter().find_map(|event| event.breaks.as_ref()).ok_or("no break")?;
    assert_eq!(broken.cause, BreakCause::Trimming);
    assert_eq!(broken.stubbed, [Stub::new(events[0].id, "pdf")]);
    Ok(())
}

/// Writes another version of a skill that has been loaded.
fn edit(bench: &Bench) {
    bench.write("pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files.\n---\n\nNewer.\n");
    bench.write("pdf/forms.md", "A newer way to fill in forms.\n");
    bench.write("pdf/more.md", "More.\n");
}

fn docs_of_the_loaded_version() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.settings.mode = LoadMode::Session;
    bench.task(task("One.", &["pdf"]), &text("1")).outcome?;
    edit(&bench);
    let select = |doc| calls(&[("skill_select_docs", json!({ "skill": "pdf", "docs": [doc] }))]);
    let list = calls(&[("skill_list_docs", json!({ "skill": "pdf" }))]);
    let done = bench.say("Two.", &(select("forms.md") + &select("more.md") + &list + &text("2")));
    done.outcome?;
    let request = shown(done.requests.last().ok_or("no request")?);
    assert!(request.contains("How to fill in forms."), "{request}");
    assert!(!request.contains("A newer way"), "{request}");
    assert!(request.contains("`pdf` has no doc `more.md`"), "{request}");
    assert!(request.ends_with(r#"["forms.md","tables.md"]"#), "{request}");
    // Loading it again is how a model gets the newer one.
    let load = calls(&[("skill_load", json!({ "skill": "pdf" }))]);
    let done = bench.say("Three.", &(load + &text("3")));
    done.outcome?;
    let request = shown(done.requests.last().ok_or("no request")?);
    assert_eq!(request.matches("Newer.").count(), 1, "{request}");
    assert_eq!(request.matches("A newer way").count(), 1, "{request}");
    Ok(())
}

fn files_of_the_loaded_version() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.settings.mode = LoadMode::Session;
    bench.task(task("One.", &["pdf"]), &text("1")).outcome?;
    edit(&bench);
    let read = calls(&[("read_file", json!({ "file_name": "skill://pdf/forms.md" }))]);
    let done = bench.say("Two.", &(read.clone() + &text("2")));
    done.outcome?;
    let request = shown(done.requests.last().ok_or("no request")?);
    assert!(request.ends_with("1: How to fill in forms.\n"), "{request}");
    Ok(())
}

fn declared_beyond_the_bound() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.settings.mode = LoadMode::Session;
    bench.settings.max_loaded_skills = Some(1);
    bench.task(task("One.", &["pdf"]), &text("1")).outcome?;
    let done = bench.task(task("Two.", &["charts"]), &text("2"));
    done.outcome?;
    let request = shown(&done.requests[0]);
    assert!(!request.contains("Run `scripts/pages`"), "{request}");
    assert!(request.contains("Draw with care."), "{request}");
    let events = bench.events();
    let broken = events.iter().find_map(|event| event.breaks.as_ref()).ok_or("no break")?;
    assert_eq!(broken.cause, BreakCause::Eviction);
    assert_eq!(broken.stubbed, [Stub::new(events[0].id, "pdf")]);
    // Of two that come at once only the last is there.
    let done = bench.task(task("Three.", &["pdf", "charts"]), &text("3"));
    done.outcome?;
    let request = shown(&done.requests[0]);
    assert!(!request.contains("Run `scripts/pages`"), "{request}");
    assert_eq!(request.matches("Draw with care.").count(), 1, "{request}");
    Ok(())
}

fn docs_after_one_request() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.settings.mode = LoadMode::Once;
    let load = calls(&[("skill_load", json!({ "skill": "pdf" }))]);
    let docs = calls(&[("skill_select_docs", json!({ "skill": "pdf", "docs": ["forms.md"] }))]);
    let done = bench.say("Look.", &(load + &docs + &text("Done.")));
    done.outcome?;
    let request = shown(done.requests.last().ok_or("no request")?);
    assert_eq!(request.matches("Run `scripts/pages`").count(), 1, "{request}");
    assert_eq!(request.matches("How to fill in forms.").count(), 1, "{request}");
    Ok(())
}

fn library_after_a_summary() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.say("One.", &text("1")).outcome?;
    bench.write("new/SKILL.md", "---\nname: new\ndescription: Is new.\n---\n\nNew.\n");
    let done = bench.say("Two.", &text("2"));
    done.outcome?;
    assert!(shown(&done.requests[0]).contains("- new: Is new."));
    let roomy = std::mem::replace(&mut bench.settings.context_tokens, 10);
    bench.say("Three.", &(text("All is well.") + &text("3"))).outcome?;
    bench.settings.context_tokens = roomy;
    let done = bench.say("Four.", &text("4"));
    done.outcome?;
    let request = shown(&done.requests[0]);
    assert!(request.starts_with("USER\n[Text(\"Summary"), "{request}");
    assert_eq!(request.matches("- new: Is new.").count(), 1, "{request}");
    Ok(())
}

fn doc_that_is_gone() -> Result<(), Failed> {
    for placement in [Placement::ToolResult, Placement::System] {
        let mut bench = Bench::new();
        bench.settings.mode = LoadMode::Session;
        bench.settings.prompt.layout.placement = placement;
        let load =
            |docs: &[&str]| calls(&[("skill_load", json!({ "skill": "pdf", "docs": docs }))]);
        bench.say("One.", &(load(&["forms.md", "tables.md"]) + &text("1"))).outcome?;
        bench.forget("pdf/forms.md");
        bench.say("Two.", &(load(&[]) + &text("2"))).outcome?;
        bench.say("Three.", &text("3")).outcome?;
        assert!(bench.state().contains("temp:skill:docs:pdf = [\"tables.md\"]"), "{placement:?}");
    }
    Ok(())
}

fn empty_summary() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.say("The first words.", &text("1")).outcome?;
    bench.settings.context_tokens = 10;
    let done = bench.say("Two.", &(text("") + &text("2")));
    done.outcome?;
    let request = shown(done.requests.last().ok_or("no request")?);
    assert!(request.contains("The first words."), "{request}");
    Ok(())
}

fn overflow() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.say("The first words.", &text("1")).outcome?;
    let full = json!({ "error": { "kind": "context_overflow" } }).to_string() + "\n";
    let done = bench.say("The second words.", &(full + &text("In short.") + &text("2")));
    done.outcome?;
    let told: Vec<String> = done.requests.iter().map(shown).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[1].contains("The first words.") && !told[1].contains("The second words."));
    assert!(told[2].contains("In short.") && told[2].contains("The second words."));
    assert!(!told[2].contains("The first words."), "{}", told[2]);
    Ok(())
}
