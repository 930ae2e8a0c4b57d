//! `metier bench`: what requests cost, measured with the real agent and the skills that are there.
//!
//! `laboratory` runs the agent, `cases` are the scripts, `cache` and `tokens` the two reports; `newest` is a
//! layout of somebody else to compare with, `live` the same with a real model. `page` writes what was
//! measured for browsers. What counts as new in a request is said in [`metier_agent::measure`].

mod cache;
mod cases;
pub(super) mod laboratory;
mod live;
mod newest;
mod page;
mod tokens;

use std::io;
use std::path::Path;

use serde::Serialize;

use self::laboratory::Laboratory;
use self::page::Page;
use crate::args::{BenchArgs, BenchCommand};
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{Align, Column};

/// What both reports have in common.
trait Report: Serialize {
    /// Prints it as tables.
    fn print(&self, context: &Context);
    /// The same for browsers.
    fn page(&self) -> Page;
}

/// Measures.
pub(super) fn run(arguments: &BenchArgs, context: &Context) -> Result<u8, Failure> {
    let working = context.output.working("measuring");
    match arguments.command {
        BenchCommand::PromptCache => {
            let report = cache::measure(arguments, context)?;
            drop(working);
            deliver(&report, arguments, context)
        }
        BenchCommand::TokenReport => {
            let report = tokens::measure(arguments, context)?;
            drop(working);
            deliver(&report, arguments, context)
        }
    }
}

/// A place to measure in, once it is clear that what comes last is possible: to ask the model, which is paid for,
/// and to write the page.
fn prepare(arguments: &BenchArgs, context: &Context) -> Result<Laboratory, Failure> {
    if let Some(file) = &arguments.html {
        let file = context.app.environment.folder.join(file);
        let folder = file.parent().unwrap_or(&file);
        // With the dot, nothing but a folder will do.
        folder.join(".").metadata().map_err(|error| unwritten(&file, &error))?;
    }
    let laboratory = Laboratory::new(context, &arguments.sources)?;
    if let Some(model) = &arguments.model {
        laboratory.check_model(model)?;
    }
    Ok(laboratory)
}

fn deliver(report: &impl Report, arguments: &BenchArgs, context: &Context) -> Result<u8, Failure> {
    if arguments.json {
        context.output.json(report);
    } else {
        report.print(context);
    }
    if let Some(file) = &arguments.html {
        write(&context.app.environment.folder.join(file), &report.page().render())?;
    }
    Ok(OK)
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| unwritten(file, &error))
}

fn unwritten(file: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("`{}` cannot be written: {error}", file.display()))
        .hint("name a file in a folder that is there and that you can write to")
}

/// A column of numbers.
fn number(heading: &'static str) -> Column {
    Column { heading, align: Align::Right, fills: false }
}

/// A part of a whole, to four places; nothing of nothing is nothing.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
    let share = part as f64 / whole as f64;
    rounded(share)
}

fn rounded(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}

/// A share as people read it.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A number with its thousands set apart.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_groups_of_three() {
        assert_eq!([7, 100, 1234, 1_234_567].map(grouped), ["7", "100", "1 234", "1 234 567"]);
    }

    #[test]
    fn shares_are_rounded_to_what_is_shown() {
        assert_eq!(
            (share(1, 3), share(5, 0), percent(share(1, 3))),
            (0.3333, 0.0, "33.3 %".to_owned())
        );
    }
}
