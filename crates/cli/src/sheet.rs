//! What a person is shown who has to decide: every row has a word that says what it is.

use metier_agent::foreign::PinnedTool;
use metier_agent::host::{CommandQuestion, Question, ToolQuestion};
use metier_approval::{Pinned, Shown, shown, shown_text};

use crate::output::{Output, plain, style, styled};

/// What is said where something is masked.
const MASKED: &str = "what looks like a secret is masked here, and not when it runs";
/// What is said where something is written out.
const ESCAPED: &str = "characters that cannot be seen are written as \\u{…}";
/// The word for what an answer for good would keep.
const ALWAYS: &str = "[a]";

/// A question as a person is shown it.
#[derive(Debug)]
pub(crate) struct Sheet {
    heading: String,
    rows: Vec<(&'static str, String)>,
    /// Whether it may be allowed for good.
    pub may_keep: bool,
}

impl Sheet {
    /// The question; nothing if it is too long to be decided about.
    pub(crate) fn of(question: &Question) -> Option<Self> {
        match question {
            Question::Command(question) => of_command(question),
            Question::Tool(question) => of_tool(question),
        }
    }

    /// Prints it, for a person at the terminal.
    pub(crate) fn print(&self, output: Output) {
        output.insist(&styled(style::HEADING, &self.heading));
        for (name, text) in &self.rows {
            output.row(style::DIM, &format!("  {name:<6}"), text);
        }
    }

    /// The same as one text, for a person elsewhere.
    pub(crate) fn in_words(&self) -> String {
        let mut text = self.heading.clone();
        for (name, row) in &self.rows {
            let name = if *name == ALWAYS { "always" } else { name };
            text.push_str(&format!("\n{name}: {}", plain(row)));
        }
        text
    }

    fn new(heading: String, may_keep: bool) -> Self {
        Self { heading, rows: Vec::new(), may_keep }
    }

    fn add(&mut self, name: &'static str, lines: impl IntoIterator<Item = String>) {
        self.rows.extend(lines.into_iter().map(|line| (name, line)));
    }

    fn note(&mut self, notes: &[(bool, &str)]) {
        let notes = notes.iter().filter(|(is_so, _)| *is_so);
        self.add("note", notes.map(|(_, text)| (*text).to_owned()));
    }
}

fn of_command(question: &CommandQuestion) -> Option<Sheet> {
    let of = match &question.plan {
        Some(plan) => shown(plan),
        None => shown_text(&question.command),
    };
    let Shown { lines, directory, programs, mut is_masked, mut is_escaped } = of.ok()?;
    let heading = format!("may `{}` run this on your machine?", plain(&question.tool));
    let mut sheet = Sheet::new(heading, question.offer.is_some());
    sheet.add("run", lines);
    sheet.add("in", [directory.unwrap_or_else(|| question.directory.clone())]);
    let variables = question.variables.iter().map(|(name, it)| ("with", format!("{name}={it}")));
    let given = question.stdin.iter().map(|text| ("reads", text.clone()));
    for (name, text) in variables.chain(given) {
        let shown = shown_text(&text).ok()?;
        is_masked |= shown.is_masked;
        is_escaped |= shown.is_escaped;
        sheet.add(name, shown.lines);
    }
    sheet.add("file", programs);
    let by_shell = "a shell reads it anew: what it does cannot be told in advance";
    sheet.note(&[
        (question.plan.is_none(), by_shell),
        (question.is_talked_to, "the model can type into it while it runs"),
        (is_masked, MASKED),
        (is_escaped, ESCAPED),
    ]);
    sheet.add("why", [question.reason.clone()]);
    let kept = question.offer.iter().flatten();
    sheet.add(ALWAYS, kept.map(|it| format!("keeps {}", kept_words(&question.agent, it))));
    Some(sheet)
}

fn of_tool(question: &ToolQuestion) -> Option<Sheet> {
    let PinnedTool { server, tool, .. } = &question.tool;
    let Shown { lines, is_masked, is_escaped, .. } = shown_text(&question.arguments).ok()?;
    let heading = format!("may this tool of the server `{server}` be called?");
    let mut sheet = Sheet::new(heading, question.can_be_kept);
    // The name is a stranger's.
    sheet.add("call", [shown_text(tool).ok()?.lines.join("\\n")]);
    sheet.add("with", lines);
    sheet.note(&[(is_masked, MASKED), (is_escaped, ESCAPED)]);
    sheet.add("why", [question.reason.clone()]);
    let kept = question.can_be_kept.then(|| {
        format!(
            "keeps that for agent {}, with any arguments, as long as the server describes the tool as it does now",
            question.agent
        )
    });
    sheet.add(ALWAYS, kept);
    Some(sheet)
}

/// What would be kept, in words.
fn kept_words(agent: &str, pinned: &Pinned) -> String {
    let text = shown_text(&pinned.command.to_string()).map(|it| it.lines.join(" "));
    let (program, folder) = (pinned.program.display(), pinned.directory.display());
    let text = text.unwrap_or_default();
    format!("`{text}` for agent {agent}, in {folder}, as long as {program} is not changed")
}
