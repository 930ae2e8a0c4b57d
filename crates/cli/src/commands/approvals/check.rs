//! `metier approvals check`: what would be decided about a command. Nothing runs.

use std::path::Path;

use metier_approval::{
    Action, Approved, Basis, Facts, Joint, Judged, Plan, Simple, Verdict, judge, parse,
};
use serde_json::{Value, json};

use super::{joined, safe};
use crate::args::CheckArgs;
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{Align, Column, Table, plain, style, styled};
use crate::wait::block_on;

/// A person would be asked.
const ASKED: u8 = 3;
/// It may not run.
const DENIED: u8 = 4;

/// Says what would be decided.
pub(super) fn check(context: &Context, question: &CheckArgs) -> Result<u8, Failure> {
    let text = match &question.command[..] {
        [text] => text.clone(),
        words => joined(words),
    };
    let snapshot = context.library(&question.sources)?;
    let policy =
        block_on(async { Ok(context.app.policy(&question.sources.agent, &snapshot).await?) })?;
    let machine = context.app.machine();
    let folder = question.cwd.as_deref().unwrap_or(Path::new(""));
    let folder = context.app.environment.folder.join(folder);
    let Some(start) = machine.folder(&folder) else {
        return Err(Failure::usage(format!("`{}` is not a folder", folder.display()))
            .hint("`--cwd` names the folder that the command would start in"));
    };
    let plan = parse(&text);
    let verdict = judge(&plan, &start.real, &machine, &policy);
    let answer = Answer::of(&verdict, plan.as_ref().ok());
    if question.json {
        context.output.json(&answer.to_json(&start.real));
    } else {
        context.output.print(&answer.to_text(context.output.width()));
    }
    context.report(&context.app.config_problems());
    Ok(answer.code)
}

/// What is said about a command.
struct Answer<'a> {
    code: u8,
    word: &'static str,
    style: anstyle::Style,
    reason: Option<&'a str>,
    plan: Option<&'a Plan>,
    judged: &'a [Judged],
}

/// A program of a plan, and what was found out about it.
struct Row<'a> {
    /// When it runs, for the first of a pipe; the others run with the one before.
    joint: Option<Joint>,
    simple: &'a Simple,
    judged: Option<&'a Judged>,
}

impl<'a> Answer<'a> {
    fn of(verdict: &'a Verdict, read: Option<&'a Plan>) -> Self {
        let (code, word, style) = match verdict {
            Verdict::Allow(_) | Verdict::AllowText { .. } => (OK, "allow", style::GOOD),
            Verdict::Ask { .. } => (ASKED, "ask", style::WARN),
            Verdict::Deny { .. } => (DENIED, "deny", style::BAD),
        };
        let (reason, approved) = match verdict {
            Verdict::Allow(approved) => (None, Some(approved)),
            Verdict::Ask { reason, plan, .. } => (Some(reason.as_str()), plan.as_ref()),
            Verdict::AllowText { reason } | Verdict::Deny { reason } => (Some(&**reason), None),
        };
        let plan = approved.map(|approved| &approved.plan).or(read);
        let judged = approved.map_or(&[][..], |Approved { programs, .. }| programs);
        Self { code, word, style, reason, plan, judged }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'a>> {
        let steps = self.plan.map(|plan| plan.steps.as_slice()).unwrap_or_default();
        let programs = steps.iter().flat_map(|step| {
            let programs = match &step.action {
                Action::Run(programs) => programs.as_slice(),
                Action::Enter(_) => &[],
            };
            programs.iter().enumerate().map(|(place, it)| ((place == 0).then_some(step.joint), it))
        });
        let judged = self.judged;
        programs.enumerate().map(|(place, (joint, simple))| Row {
            joint,
            simple,
            judged: judged.get(place),
        })
    }

    fn to_json(&self, start: &Path) -> Value {
        let plan: Vec<Value> = self.rows().map(|row| described(row, start)).collect();
        json!({
            "verdict": self.word,
            "reason": self.reason,
            "directory": start.to_string_lossy(),
            "plan": plan,
        })
    }

    fn to_text(&self, width: usize) -> String {
        let verdict = styled(self.style, self.word);
        let mut text = match self.reason {
            Some(reason) => format!("{verdict}: {}\n", plain(reason)),
            None => format!("{verdict}\n"),
        };
        let column = |heading, fills| Column { heading, align: Align::Left, fills };
        let mut table = Table::new(&[
            column("COMMAND", true),
            column("IN", false),
            column("PROGRAM", false),
            column("ALLOWED BY", false),
        ]);
        let mut is_empty = true;
        for Row { simple, judged, .. } in self.rows() {
            is_empty = false;
            table.row(vec![
                (style::NAME, safe(&simple.to_string())),
                (style::DIM, folder(simple)),
                (style::DIM, judged.map_or_else(unknown, program)),
                (style::DIM, judged.map_or_else(unknown, basis)),
            ]);
        }
        if !is_empty {
            text.push_str(&table.render(width));
        }
        text
    }
}

fn described(Row { joint, simple, judged }: Row<'_>, start: &Path) -> Value {
    json!({
        "after": joint.map_or_else(|| json!("pipe"), |joint| json!(joint)),
        "argv": simple.words,
        "variables": simple.variables,
        "redirections": simple.redirections,
        "directory": match judged {
            Some(judged) => judged.directory.real.to_string_lossy().into_owned(),
            None => start.join(&simple.directory).to_string_lossy().into_owned(),
        },
        "program": judged.map(|judged| judged.program.file.real.to_string_lossy()),
        "by": judged.and_then(|judged| judged.basis.as_ref()).map(by),
    })
}

/// Who allows a program, for programs.
fn by(basis: &Basis) -> Value {
    match basis {
        Basis::Entry(id) => json!({ "kind": "entry", "id": id }),
        Basis::Remembered(id) => json!({ "kind": "remembered", "id": id }),
        Basis::Safe => json!({ "kind": "safe" }),
        Basis::Skill(skill) => json!({ "kind": "skill", "skill": skill }),
        Basis::Full => json!({ "kind": "full" }),
    }
}

/// The same for people.
fn basis(judged: &Judged) -> String {
    match &judged.basis {
        None => "nobody".to_owned(),
        Some(Basis::Entry(id)) => plain(id),
        Some(Basis::Remembered(id)) => format!("{} (always)", plain(id)),
        Some(Basis::Safe) => "safe filter".to_owned(),
        Some(Basis::Skill(skill)) => format!("skill {}", plain(skill)),
        Some(Basis::Full) => "mode full".to_owned(),
    }
}

fn program(judged: &Judged) -> String {
    plain(&judged.program.file.real.to_string_lossy())
}

fn folder(simple: &Simple) -> String {
    match simple.directory.to_string_lossy() {
        folder if folder.is_empty() => ".".to_owned(),
        folder => plain(&folder),
    }
}

fn unknown() -> String {
    "–".to_owned()
}
