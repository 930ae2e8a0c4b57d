//! A question as a person can be shown it: what a model or a server wrote is written out, and what looks like a secret
//! masked.

use std::fmt;

use metier_approval::{Pinned, Shown, TooLong, shown, shown_text};

use super::approver::{CommandQuestion, Question, ToolQuestion};

/// What is said where something is masked.
const MASKED: &str = "what looks like a secret is masked here, and not when it runs";
/// What is said where something is written out.
const ESCAPED: &str = "characters that cannot be seen are written as \\u{…}";

/// A question as a person can be shown it, on a terminal or elsewhere. Nothing in it is as a model or a server wrote it: what
/// cannot be seen or drives a terminal is written out, and what looks like a secret is masked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sheet {
    /// What is asked.
    pub heading: String,
    /// What it is about, each with a word that says what it is. `always` has what an answer for good would keep.
    pub rows: Vec<(&'static str, String)>,
    /// Whether it may be allowed for good.
    pub may_keep: bool,
    is_masked: bool,
    is_escaped: bool,
}

impl Question {
    /// The question as a person can be shown it.
    ///
    /// # Errors
    ///
    /// When it is longer than anybody can check. Nobody should be asked then, and nothing runs.
    pub fn shown(&self) -> Result<Sheet, TooLong> {
        match self {
            Self::Command(question) => of_command(question),
            Self::Tool(question) => of_tool(question),
        }
    }
}

impl Sheet {
    fn new(may_keep: bool) -> Self {
        let (heading, rows) = (String::new(), Vec::new());
        Self { heading, rows, may_keep, is_masked: false, is_escaped: false }
    }

    fn add(&mut self, name: &'static str, lines: impl IntoIterator<Item = String>) {
        self.rows.extend(lines.into_iter().map(|line| (name, line)));
    }

    /// The lines of a text that others wrote.
    fn lines(&mut self, text: &str) -> Result<Vec<String>, TooLong> {
        let Shown { lines, is_masked, is_escaped, .. } = shown_text(text)?;
        self.is_masked |= is_masked;
        self.is_escaped |= is_escaped;
        Ok(lines)
    }

    /// Such a text on one line.
    fn line(&mut self, text: &str) -> Result<String, TooLong> {
        Ok(self.lines(text)?.join("\\n"))
    }

    /// Says how the question differs from what was written.
    fn note(&mut self) {
        let notes = [(self.is_masked, MASKED), (self.is_escaped, ESCAPED)];
        let notes = notes.into_iter().filter(|(is_so, _)| *is_so);
        self.add("note", notes.map(|(_, text)| text.to_owned()));
    }
}

/// The heading, and a line for each row.
impl fmt::Display for Sheet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.heading)?;
        self.rows.iter().try_for_each(|(name, row)| write!(formatter, "\n{name}: {row}"))
    }
}

fn of_command(question: &CommandQuestion) -> Result<Sheet, TooLong> {
    let mut sheet = Sheet::new(question.offer.is_some());
    let Shown { lines, directory, programs, is_masked, is_escaped } = match &question.plan {
        Some(plan) => shown(plan)?,
        None => shown_text(&question.command)?,
    };
    (sheet.is_masked, sheet.is_escaped) = (is_masked, is_escaped);
    sheet.heading = format!("may `{}` run this on your machine?", sheet.line(&question.tool)?);
    sheet.add("run", lines);
    let directory = match directory {
        Some(directory) => directory,
        None => sheet.line(&question.directory)?,
    };
    sheet.add("in", [directory]);
    for (name, value) in &question.variables {
        let lines = sheet.lines(&format!("{name}={value}"))?;
        sheet.add("with", lines);
    }
    if let Some(text) = &question.stdin {
        let lines = sheet.lines(text)?;
        sheet.add("reads", lines);
    }
    sheet.add("file", programs);
    let by_shell = "a shell reads it anew: what it does cannot be told in advance";
    let typing = "the model can type into it while it runs";
    let notes = [(question.plan.is_none(), by_shell), (question.is_talked_to, typing)];
    let notes = notes.into_iter().filter(|(is_so, _)| *is_so);
    sheet.add("note", notes.map(|(_, text)| text.to_owned()));
    let reason = sheet.line(&question.reason)?;
    sheet.note();
    sheet.add("why", [reason]);
    for pinned in question.offer.iter().flatten() {
        let kept = kept(&mut sheet, &question.agent, pinned)?;
        sheet.add("always", [kept]);
    }
    Ok(sheet)
}

fn of_tool(question: &ToolQuestion) -> Result<Sheet, TooLong> {
    let mut sheet = Sheet::new(question.can_be_kept);
    let server = sheet.line(&question.tool.server)?;
    sheet.heading = format!("may this tool of the server `{server}` be called?");
    // The name is a stranger's.
    let tool = sheet.line(&question.tool.tool)?;
    let arguments = sheet.lines(&question.arguments)?;
    sheet.add("call", [tool]);
    sheet.add("with", arguments);
    let reason = sheet.line(&question.reason)?;
    sheet.note();
    sheet.add("why", [reason]);
    if question.can_be_kept {
        let kept = format!(
            "keeps that for agent {}, with any arguments, as long as the server describes the tool as it does now",
            question.agent
        );
        sheet.add("always", [kept]);
    }
    Ok(sheet)
}

/// What would be kept, in words.
fn kept(sheet: &mut Sheet, agent: &str, pinned: &Pinned) -> Result<String, TooLong> {
    let text = sheet.lines(&pinned.command.to_string())?.join(" ");
    let folder = sheet.line(&pinned.directory.display().to_string())?;
    let program = sheet.line(&pinned.program.display().to_string())?;
    Ok(format!(
        "keeps `{text}` for agent {agent}, in {folder}, as long as {program} is not changed"
    ))
}
