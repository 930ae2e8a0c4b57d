//! The page: its commands, and what it shows of their output.

use std::ops::Range;

/// A page and the steps in it.
#[derive(Debug)]
pub(super) struct Page<'a> {
    lines: Vec<&'a str>,
    pub(super) steps: Vec<Step>,
    /// Blocks that are marked otherwise, from the word that marks them on.
    pub(super) not_run: Vec<String>,
}

/// A command and what follows it in its block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// What is typed, with the here-document if there is one.
    pub(super) command: String,
    /// The lines below it, up to the next command or the end of the block.
    pub(super) shown: Vec<String>,
    /// Where these lines are in the page.
    at: Range<usize>,
    /// What ends the block.
    fence: String,
}

impl<'a> Page<'a> {
    /// Reads the blocks that are marked `console`.
    pub(super) fn parse(text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let mut steps: Vec<Step> = Vec::new();
        let mut not_run: Vec<String> = Vec::new();
        let mut at = 0;
        // The fence that ends the block, if there is one, and whether its commands are run.
        let mut block: Option<(&str, bool)> = None;
        while at < lines.len() {
            let line = lines[at];
            at += 1;
            let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
            let fence = match block {
                None if ticks.len() >= 3 => {
                    let word = &line[ticks.len()..];
                    block = Some((ticks, word == "console"));
                    if word != "console" {
                        not_run.push(word.to_owned());
                    }
                    continue;
                }
                Some((fence, _)) if line == fence => {
                    block = None;
                    continue;
                }
                Some((fence, true)) => fence,
                Some((_, false)) => {
                    let text = not_run.last_mut().expect("the block has begun");
                    text.push('\n');
                    text.push_str(line);
                    continue;
                }
                None => continue,
            };
            if let Some(typed) = line.strip_prefix("$ ") {
                let mut command = typed.to_owned();
                if let Some(word) = here_document(typed) {
                    let length = lines[at..].iter().position(|line| *line == word);
                    let end = at + length.expect("the here-document ends") + 1;
                    for line in &lines[at..end] {
                        command.push('\n');
                        command.push_str(line);
                    }
                    at = end;
                }
                steps.push(Step {
                    command,
                    shown: Vec::new(),
                    at: at..at,
                    fence: fence.to_owned(),
                });
            } else {
                let step = steps.last_mut().expect("a block begins with a command");
                step.shown.push(line.to_owned());
                step.at.end = at;
            }
        }
        assert!(!steps.is_empty(), "the page has commands");
        Self { lines, steps, not_run }
    }

    /// The page with other output, one for each step.
    pub(super) fn with(&self, outputs: &[Vec<String>]) -> String {
        let mut text = String::new();
        let mut from = 0;
        let mut add = |lines: &mut dyn Iterator<Item = &str>| {
            for line in lines {
                text.push_str(line);
                text.push('\n');
            }
        };
        for (step, output) in self.steps.iter().zip(outputs) {
            let ends = output.contains(&step.fence);
            assert!(!ends, "the block of `{}` needs a longer fence", step.command);
            add(&mut self.lines[from..step.at.start].iter().copied());
            add(&mut output.iter().map(String::as_str));
            from = step.at.end;
        }
        add(&mut self.lines[from..].iter().copied());
        text
    }
}

/// The word that ends the here-document of a command.
fn here_document(command: &str) -> Option<&str> {
    let (_, rest) = command.split_once("<<'")?;
    rest.split_once('\'').map(|(word, _)| word)
}

const EXAMPLE: &str = "Text.\n\n```console\n$ cat > a <<'EOF'\n$ not a command\nEOF\n$ cat a\n$ not\nold\n```\n\n```sh\nnever run\n```\nEnd.\n";

#[test]
fn a_longer_fence_has_shorter_ones_inside() {
    let page = Page::parse("````console\n$ cat a\n```sh\n$ inner\n```\n````\n$ not\n");
    let steps: Vec<_> = page.steps.iter().map(|it| (it.command.as_str(), it.shown.len())).collect();
    assert_eq!(steps, [("cat a", 1), ("inner", 1)]);
}

#[test]
fn a_here_document_belongs_to_its_command() {
    let page = Page::parse("```console\n$ cat > a <<'EOF'\n$ one\nEOF\n$ cat a\ntwo\n```\n");
    let steps: Vec<_> = page.steps.iter().map(|it| (it.command.as_str(), it.shown.len())).collect();
    assert_eq!(steps, [("cat > a <<'EOF'\n$ one\nEOF", 0), ("cat a", 1)]);
}

#[test]
fn only_what_commands_print_is_replaced() {
    let page = Page::parse(EXAMPLE);
    assert_eq!(page.steps.len(), 3);
    let outputs = [vec![], vec![], vec!["new".to_owned(), "lines".to_owned()]];
    assert_eq!(page.with(&outputs), EXAMPLE.replace("old\n", "new\nlines\n"));
}
