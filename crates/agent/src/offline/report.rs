//! What the offline planner says. Every text says what it is and how to get more.

use std::fmt::Write;

use metier_model::{Message, Request};
use metier_skill::catalog::one_line;
use metier_skill::library::Entry;
use serde_json::Value;

use super::command::{self, reads_an_example, uses};
use super::talk::{self, Attached, Done, Talk};

/// What it is.
const WHAT: &str = "I am the offline planner, not a language model: I choose a skill by its description and run an example of it.";
/// How to get more.
const MORE: &str = "For an answer to the task itself, choose a model with `--model PROVIDER/NAME`.";
/// Lines of output that are repeated.
const MAX_LINES: usize = 20;
/// Longest of them, in characters.
const MAX_LINE: usize = 200;
/// Files that are named.
const MAX_FILES: usize = 20;
/// Tasks that a summary repeats.
const MAX_TASKS: usize = 20;

fn whole(middle: &str) -> String {
    format!("{WHAT}\n\n{}\n\n{MORE}\n", middle.trim_end())
}

/// No skill fits.
pub(super) fn nothing_fits(nearest: &[&Entry]) -> String {
    if nearest.is_empty() {
        return whole("There are no skills here.");
    }
    let mut text = String::from("No skill fits this task. The nearest are:\n");
    for entry in nearest {
        let description = shortened(&one_line(&entry.manifest.description));
        let _infallible = write!(text, "\n- `{}`: {description}", entry.name.as_str());
    }
    whole(&text)
}

/// There is nothing to load skills with.
pub(super) fn no_tool(skill: &str) -> String {
    whole(&format!("`{skill}` fits this task, but there is no tool to load it with."))
}

/// The turn is over before it began.
pub(super) fn no_request_left(skill: &str) -> String {
    whole(&format!("`{skill}` fits this task, but this turn has no request left to use it."))
}

/// Something did not work.
pub(super) fn failed(why: &str) -> String {
    whole(&format!("It went no further:\n\n{}", block(why)))
}

/// There is nothing to run.
pub(super) fn no_example(skill: &str, body: &str) -> String {
    let why = "shows no command that can be run as it stands, or with the files that were attached";
    whole(&format!("`{skill}` fits this task. It {why}. It begins:\n\n{}", block(body)))
}

/// A command would be run, if it could be.
pub(super) fn not_run(skill: &str, command: &str, why: &str) -> String {
    let why = format!("Nothing was run, because {why}. From its folder, begin with:");
    whole(&format!("`{skill}` fits this task. {why}\n\n{}", block(command)))
}

/// A command was run.
pub(super) fn ran(talk: &Talk<'_>, run: &Done) -> String {
    let skill = talk::skill_of(run).unwrap_or_default();
    let command = run.arguments["command"].as_str().unwrap_or_default();
    let mut text = format!("Skill: `{skill}`\n\nCommand:\n\n{}", block(command));
    // Files of an earlier task are missed only where an example stands in for them.
    let mut files = talk.files.as_slice();
    if reads_an_example(command) {
        files = talk.usable();
        let advice = if files.is_empty() { " Attach a file to use yours." } else { "" };
        let _infallible = write!(text, "It reads an example that came with the skill.{advice}\n\n");
    }
    let unused = unused(command, files);
    if !unused.is_empty() {
        let _infallible = write!(text, "It does not use {}.\n\n", unused.join(", "));
    }
    match serde_json::from_str::<Value>(&run.text) {
        Ok(output) if output.is_object() && !run.is_error => push_output(&mut text, &output),
        _ => {
            let _infallible = write!(text, "It was not run:\n\n{}", block(&run.text));
        }
    }
    whole(&text)
}

/// The files that a command does not use, as it would name them.
fn unused(command: &str, files: &[Attached]) -> Vec<String> {
    let apart = command::apart(files);
    let is_used = |file: &&Attached| apart.contains(file) && uses(command, file);
    let unused = files.iter().filter(|file| !is_used(file));
    unused.map(|file| format!("`{}`", command::place_of(file))).collect()
}

fn push_output(text: &mut String, output: &Value) {
    let exit = match (output["exit_code"].as_i64(), output["signal"].as_i64()) {
        _ if output["timed_out"] == true => "its time was up".to_owned(),
        (Some(code), _) => code.to_string(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "unknown".to_owned(),
    };
    let _infallible = write!(text, "Exit: {exit}\n\n");
    for (stream, title) in [("stdout", "Output"), ("stderr", "Remarks")] {
        let written = output[stream].as_str().unwrap_or_default();
        if !written.trim().is_empty() {
            let _infallible = write!(text, "{title}:\n\n{}", block(written));
        }
    }
    let files = output["output_files"].as_array().map(Vec::as_slice).unwrap_or_default();
    if files.is_empty() {
        text.push_str("Files made: none\n");
        return;
    }
    text.push_str("Files made:\n\n");
    for file in files.iter().take(MAX_FILES) {
        let name = file["name"].as_str().unwrap_or_default();
        let size = file["size_bytes"].as_u64().unwrap_or_default();
        let _infallible = writeln!(text, "- `{name}` ({size} bytes)");
    }
    if let Some(more) = files.len().checked_sub(MAX_FILES).filter(|more| *more > 0) {
        let _infallible = writeln!(text, "- and {more} more");
    }
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// The first lines of a text as code, which no line of it can end.
fn block(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let mut shown = String::new();
    for line in lines.iter().take(MAX_LINES) {
        shown.push_str(&shortened(line));
        shown.push('\n');
    }
    let mut fence = String::from("```");
    while shown.contains(&fence) {
        fence.push('`');
    }
    let more = match lines.len().checked_sub(MAX_LINES).filter(|more| *more > 0) {
        Some(more) => format!("({more} more lines)\n\n"),
        None => String::new(),
    };
    format!("{fence}text\n{shown}{fence}\n\n{more}")
}

/// What older turns were about; what else they were, only a language model could say.
pub(super) fn summary(request: &Request) -> String {
    let messages = &request.messages;
    // The last one asks for the summary.
    let asked = messages.iter().filter(|it| matches!(it, Message::User(_)));
    let mut asked: Vec<String> = asked.map(talk::text_of).collect();
    asked.pop();
    let begin = asked.len().saturating_sub(MAX_TASKS);
    let line = |task: &String| format!("- {}", shortened(&one_line(task)));
    let lines: Vec<String> = asked[begin..].iter().map(line).collect();
    format!("The user asked for this, oldest first:\n{}", lines.join("\n"))
}
