//! What is read, what is refused and in which words.

mod accepted;
mod properties;
mod refused;
mod unusual;

use super::parse;
use crate::plan::{Action, Joint, Simple};

/// What becomes of each text, a line each.
fn table(texts: &[&str]) -> String {
    texts.iter().map(|text| format!("{text:?}\n    {}\n", outcome(text))).collect()
}

/// What becomes of a text: the steps of its plan, or where it is refused and why.
fn outcome(text: &str) -> String {
    let plan = match parse(text) {
        Ok(plan) => plan,
        Err(problem) => return format!("{}: {problem}", problem.at),
    };
    let steps = plan.steps.iter().map(|step| {
        let joint = match step.joint {
            Joint::Always => "",
            Joint::Success => "then ",
            Joint::Failure => "else ",
        };
        let action = match &step.action {
            Action::Enter(folder) => format!("enter {folder:?}"),
            Action::Run(stages) => stages.iter().map(simple).collect::<Vec<_>>().join(" into "),
        };
        format!("{joint}{action}")
    });
    steps.collect::<Vec<_>>().join("\n    ")
}

fn simple(simple: &Simple) -> String {
    let Simple { variables, words, redirections, directory } = simple;
    let mut text = String::new();
    for (name, value) in variables {
        text += &format!("{name}={value:?} ");
    }
    text += &format!("{words:?}");
    for redirection in redirections {
        text += &format!(" {:?}={:?}", redirection.descriptor, redirection.target);
    }
    if !directory.as_os_str().is_empty() {
        text += &format!(" in {directory:?}");
    }
    text
}
