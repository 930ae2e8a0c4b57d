//! Another grammar of bash, beside ours.

use std::cell::Cell;

use libtest_mimic::Failed;
use metier_approval::{Action, Plan, Simple, Step, parse};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tree_sitter::{Parser, Tree};

use crate::generate;

const CASES: u32 = 20_000;

/// What a text that has a plan may consist of.
const KNOWN: &[&str] = &[
    "command",
    "command_name",
    "program",
    "word",
    "string",
    "string_content",
    "raw_string",
    "concatenation",
    "number",
    "pipeline",
    "list",
    "redirected_statement",
    "file_redirect",
    "file_descriptor",
    "variable_assignment",
    "variable_name",
    "test_command",
];

/// What that grammar is known to misread in version 0.25, and what it takes it for. What bash makes of it is
/// compared in the other tests.
const MISREAD: &[(&str, &[&str])] = &[
    ("an operator of `[[`, wherever it stands", &["=="]),
    ("a variable, though no name follows", &["$ ", "$;", "$&", "$|", "$>", "$<", "$\n"]),
    ("a blank", &["\r", "\u{b}"]),
    ("the end of a word, if it is escaped behind quotes", &["'\\", "\"\\"]),
    (
        "a blank or a redirection, though it is escaped",
        &["\\ ", "\\\t", "\\1", "\\2", "\\<", "\\>"],
    ),
    ("a comment, also in the middle of a word", &["#"]),
    ("a value that is missing, though it is empty", &["=>", "=<", "=&>", "=0<", "=1>", "=2>"]),
];

pub(crate) fn generated_commands() -> Result<(), Failed> {
    let [analysed, excused] = [Cell::new(0), Cell::new(0)];
    // Always the same ones: what that grammar misreads besides is not our business.
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, random).run(&generate::command(), |text| {
        let Ok(plan) = parse(&text) else { return Ok(()) };
        analysed.set(analysed.get() + 1);
        let found = strange(&read(&text));
        let is_excused = found.is_empty() || is_misread(&text, &plan);
        prop_assert!(is_excused, "{:?}: {}", text, found.join(", "));
        excused.set(excused.get() + u32::from(!found.is_empty()));
        Ok(())
    })?;
    let [analysed, excused] = [analysed.get(), excused.get()];
    if analysed < CASES / 4 || excused > analysed / 10 {
        return Err(format!("{analysed} had a plan, and {excused} of them were excused").into());
    }
    Ok(())
}

fn is_misread(text: &str, plan: &Plan) -> bool {
    let is_misread = |stage: &Simple| {
        // A digit at the end of a longer word belongs to it, and a program may be called anything, even
        // `if` if that is quoted.
        let ends =
            |word: &String| word.len() > 1 && word.ends_with(|last: char| last.is_ascii_digit());
        stage.words.iter().any(ends)
            || stage.words[0].starts_with("if")
            || !stage.words[0].chars().all(char::is_alphanumeric)
    };
    let has_misread = |step: &Step| match &step.action {
        Action::Enter(_) => false,
        Action::Run(stages) => stages.iter().any(is_misread),
    };
    MISREAD.iter().flat_map(|(_, pieces)| *pieces).any(|piece| text.contains(piece))
        || text.ends_with('$')
        || plan.steps.iter().any(has_misread)
}

fn read(text: &str) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).unwrap();
    parser.parse(text, None).unwrap()
}

/// What should not be in a text that has a plan.
fn strange(tree: &Tree) -> Vec<String> {
    let mut strange = Vec::new();
    let mut nodes = vec![tree.root_node()];
    while let Some(node) = nodes.pop() {
        if node.is_error()
            || node.is_missing()
            || (node.is_named() && !KNOWN.contains(&node.kind()))
        {
            strange.push(format!("{} at {}", node.kind(), node.start_byte()));
        }
        nodes.extend((0..node.child_count()).filter_map(|index| node.child(index as _)));
    }
    strange
}
