//! What the offline planner says. Every text says what it is and how to get more.

use std::fmt::Write;

use metier_model::{Message, Request};
use metier_skill::advice::SkillAdvice;
use metier_skill::catalog::one_line;
use metier_skill::library::Entry;
use serde_json::Value;

use super::command::{self, reads_an_example, uses};
use super::talk::{self, Attached, Done, Talk};

/// What it is.
const WHAT: &str = "I am the offline planner, not a language model: I choose a skill by its description and run an example of it.";
/// Lines of output that are repeated.
const MAX_LINES: usize = 20;
/// Longest of them, in characters.
const MAX_LINE: usize = 200;
/// Files that are named.
const MAX_FILES: usize = 20;
/// Tasks that a summary repeats.
const MAX_TASKS: usize = 20;

/// An answer, with what gave it and how to get a better one.
pub(super) fn whole(answer: &str, advice: &str) -> String {
    let answer = answer.trim_end();
    format!("{WHAT}\n\n{answer}\n\nFor an answer to the task itself, {advice}.\n")
}

/// No skill fits.
pub(super) fn nothing_fits(nearest: &[&Entry]) -> String {
    if nearest.is_empty() {
        return "There are no skills here.".to_owned();
    }
    let mut text = String::from("No skill fits this task. The nearest are:\n");
    for entry in nearest {
        let description = shortened(&one_line(&entry.manifest.description));
        let _infallible = write!(text, "\n- `{}`: {description}", entry.name.as_str());
    }
    text
}

/// A skill fits, and cannot be used here.
pub(super) fn unusable(entry: &Entry, words: fn(&SkillAdvice) -> String) -> String {
    let mut text = format!("`{}` fits this task, but cannot be used:\n", entry.name.as_str());
    for block in &entry.verdict.blocks {
        let _infallible = write!(text, "\n- {}", shortened(&one_line(&block.to_string())));
        if let Some(advice) = entry.advice(block) {
            let _infallible = write!(text, ": {}", shortened(&one_line(&words(&advice))));
        }
    }
    text
}

/// There is nothing to load skills with.
pub(super) fn no_tool(skill: &str) -> String {
    format!("`{skill}` fits this task, but there is no tool to load it with.")
}

/// The turn is over before it began.
pub(super) fn no_request_left(skill: &str) -> String {
    format!("`{skill}` fits this task, but this turn has no request left to use it.")
}

/// Something did not work.
pub(super) fn failed(why: &str) -> String {
    format!("It went no further:\n\n{}", block(why))
}

/// There is nothing to run.
pub(super) fn no_example(skill: &str, body: &str) -> String {
    let why = "shows no command that can be run as it stands, or with the files that were attached";
    format!("`{skill}` fits this task. It {why}. It begins:\n\n{}", block(body))
}

/// A command would be run, if it could be.
pub(super) fn not_run(skill: &str, command: &str, why: &str) -> String {
    let why = format!("Nothing was run, because {why}. From its folder, begin with:");
    format!("`{skill}` fits this task. {why}\n\n{}", block(command))
}

/// A command was run.
pub(super) fn ran(talk: &Talk<'_>, run: &Done) -> String {
    let skill = talk::skill_of(run).unwrap_or_default();
    let command = run.arguments["command"].as_str().unwrap_or_default();
    let mut text = format!(
        "`{skill}` fits this task. I took this command from its examples:\n\n{}",
        block(command)
    );
    // Files of an earlier task are missed only where an example stands in for them.
    let mut files = talk.files.as_slice();
    if reads_an_example(command) {
        files = talk.usable();
        let advice = if files.is_empty() { "; attach a file to use yours" } else { "" };
        let _infallible = write!(text, "It reads data that came with the skill{advice}.\n\n");
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
    text
}

/// The files that a command does not use, as it would name them.
fn unused(command: &str, files: &[Attached]) -> Vec<String> {
    let apart = command::apart(files);
    let is_used = |file: &&Attached| apart.contains(file) && uses(command, file);
    let unused = files.iter().filter(|file| !is_used(file));
    unused.map(|file| format!("`{}`", command::place_of(file))).collect()
}

fn push_output(text: &mut String, output: &Value) {
    text.push_str(&match (output["exit_code"].as_i64(), output["signal"].as_i64()) {
        _ if output["timed_out"] == true => "It was ended, because its time was up".to_owned(),
        (Some(code), _) => format!("It ended with exit code {code}"),
        (None, Some(signal)) => format!("It was ended by signal {signal}"),
        (None, None) => "It ended in an unknown way".to_owned(),
    });
    let written = [("stdout", "printed"), ("stderr", "wrote to standard error")]
        .map(|(stream, verb)| (verb, output[stream].as_str().unwrap_or_default()))
        .into_iter()
        .filter(|(_, written)| !written.trim().is_empty())
        .map(|(verb, written)| format!("{verb}:\n\n{}", block(written)))
        .collect::<Vec<_>>();
    let _infallible = match written.as_slice() {
        [] => write!(text, " and printed nothing.\n\n"),
        blocks => write!(text, " and {}", blocks.join("It ")),
    };
    let files = output["output_files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let _infallible = match files {
        [] => writeln!(text, "It made no files."),
        [file] => writeln!(text, "It made {}.", named(file)),
        _ => writeln!(text, "It made these files:\n"),
    };
    for file in files.iter().take(MAX_FILES).filter(|_| files.len() > 1) {
        let _infallible = writeln!(text, "- {}", named(file));
    }
    if let Some(more) = files.len().checked_sub(MAX_FILES).filter(|more| *more > 0) {
        let _infallible = writeln!(text, "- and {more} more");
    }
}

/// A file that was made.
fn named(file: &Value) -> String {
    let name = file["name"].as_str().unwrap_or_default();
    let size = file["size_bytes"].as_u64().unwrap_or_default();
    format!("`{name}` ({size} bytes)")
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
