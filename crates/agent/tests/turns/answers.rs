//! What tools answer to calls that are nearly right, and to files that are not what they seem.

use libtest_mimic::Failed;
use metier_agent::tools::ToolSet;
use metier_session::Content;
use metier_session::content::ToolResponse;
use serde_json::{Value, json};

use crate::Test;
use crate::bench::{Bench, calls, text};

pub(crate) const TESTS: &[Test] = &[
    ("answers::a_line_that_is_too_long_is_cut_and_says_so", long_line),
    ("answers::lines_after_the_end_are_said_not_to_be_there", after_the_end),
    ("answers::a_missing_field_is_called_as_in_the_tool", missing_field),
    ("answers::an_unknown_tool_is_unknown_whatever_its_arguments", unknown_tool),
    ("answers::a_call_that_was_cut_off_before_its_arguments_is_not_made", cut_off),
    ("answers::a_skill_called_as_a_tool_is_loaded_as_its_set_does", skill_as_tool),
    ("answers::a_skill_whose_text_is_above_is_active_in_the_next_turn_too", active_again),
    ("answers::scores_have_two_places", scores),
];

/// The answers to calls, in a turn of its own.
fn answers(bench: &Bench, asked: &[(&str, Value)]) -> Result<Vec<ToolResponse>, Failed> {
    let done = bench.say("Look.", &(calls(asked) + &text("Done.")));
    let events = done.outcome?.events.into_iter();
    let answers = events.filter_map(|event| match event.content {
        Content::ToolResponse(response) => Some(response),
        _ => None,
    });
    Ok(answers.collect())
}

fn read(bench: &Bench, arguments: Value) -> Result<String, Failed> {
    Ok(answers(bench, &[("read_file", arguments)])?.remove(0).text)
}

fn long_line() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.write("pdf/long.md", &format!("{}\nshort\n", "é".repeat(3 << 20)));
    let told = read(&bench, json!({ "file_name": "skill://pdf/long.md" }))?;
    assert!(told.len() < 64 << 10, "{}", told.len());
    assert!(told.contains("(the line goes on; use a command to see the rest)"));
    assert!(told.ends_with("(1 of 2 lines; read on from line 2)\n"));
    Ok(())
}

fn after_the_end() -> Result<(), Failed> {
    let bench = Bench::new();
    let told = read(&bench, json!({ "file_name": "skill://pdf/forms.md", "start_line": 5 }))?;
    assert_eq!(told, "(the file has only 1 lines)\n");
    Ok(())
}

fn missing_field() -> Result<(), Failed> {
    let mut bench = Bench::new();
    let told = read(&bench, json!({}))?;
    assert_eq!(told, "the arguments of read_file are wrong: missing field `file_name`");
    bench = Bench::new();
    bench.settings.prompt.tools = ToolSet::Files;
    let told = answers(&bench, &[("read", json!({}))])?.remove(0).text;
    assert_eq!(told, "the arguments of read are wrong: missing field `path`");
    Ok(())
}

fn unknown_tool() -> Result<(), Failed> {
    let bench = Bench::new();
    let broken = json!({ "calls": [{ "name": "browser", "arguments": "{broken" }] });
    let done = bench.say("Look.", &(broken.to_string() + "\n" + &text("Done.")));
    let events = done.outcome?.events;
    let told = events.iter().find_map(|event| match &event.content {
        Content::ToolResponse(response) => Some(response.text.as_str()),
        _ => None,
    });
    assert!(told.is_some_and(|told| told.contains("skill_load")), "{told:?}");
    Ok(())
}

fn cut_off() -> Result<(), Failed> {
    let bench = Bench::new();
    let told = |stop: &str| -> Result<Option<(String, bool)>, Failed> {
        let reply = json!({ "calls": [{ "name": "skill_search", "arguments": "" }], "stop": stop });
        let done = bench.say("Look.", &(reply.to_string() + "\n" + &text("Done.")));
        let mut events = done.outcome?.events.into_iter();
        Ok(events.find_map(|event| match event.content {
            Content::ToolResponse(response) => Some((response.text, response.is_error)),
            _ => None,
        }))
    };
    let (whole, _) = told("calls")?.ok_or("no answer")?;
    assert!(whole.contains("missing field"), "{whole}");
    let (cut, is_error) = told("length")?.ok_or("no answer")?;
    assert!(is_error && cut.starts_with("the arguments of skill_search are not JSON"), "{cut}");
    Ok(())
}

fn skill_as_tool() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.settings.prompt.tools = ToolSet::Single;
    let answer = answers(&bench, &[("pdf", json!({}))])?.remove(0);
    assert_eq!(answer.text, "Skill: pdf\nDirectory: skills/pdf");
    assert_eq!(answer.structured, json!({ "skill_name": "pdf", "directory": "skills/pdf" }));
    Ok(())
}

fn active_again() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.settings.prompt.tools = ToolSet::Single;
    let load = [("skill", json!({ "skill_name": "pdf" }))];
    assert_eq!(answers(&bench, &load)?[0].text, "Skill: pdf\nDirectory: skills/pdf");
    assert_eq!(answers(&bench, &load)?[0].text, "skill 'pdf' is already active");
    assert!(bench.state().contains("temp:skill:loaded:pdf = 1"));
    Ok(())
}

fn scores() -> Result<(), Failed> {
    let bench = Bench::new();
    let told = answers(&bench, &[("skill_search", json!({ "query": "pdf files" }))])?.remove(0);
    let score = told.structured[0]["score"].to_string();
    assert!(score.split('.').nth(1).is_none_or(|places| places.len() <= 2), "{score}");
    Ok(())
}
