//! `metier skills list`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use metier_skill::catalog::CatalogReport;
use metier_skill::diagnostic::{Code, Severity};
use metier_skill::library::{Block, Entry, Missing, Snapshot};
use metier_skill::name::SkillName;
use metier_skill::problem::Problem;
use serde::{Serialize, Serializer};

use crate::args::SourceArgs;
use crate::context::Context;
use crate::failure::advice::ProblemText;
use crate::failure::{Failure, OK};
use crate::output::{Align, Column, Table, counted, path_text, path_texts, plain, style, styled};

/// The shape of the JSON; it changes when a reader would have to.
const VERSION: u32 = 1;

/// The answer, made while it is written: with thousands of skills a copy would cost more than the
/// rest.
#[derive(Serialize)]
struct Listing<'a> {
    version: u32,
    #[serde(serialize_with = "write_skills")]
    skills: &'a [&'a Entry],
    problems: Vec<ListedProblem<'a>>,
    catalog: CatalogReport,
}

fn write_skills<S: Serializer>(entries: &[&Entry], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(entries.iter().map(|entry| ListedSkill::from(*entry)))
}

#[derive(Serialize)]
struct ListedSkill<'a> {
    name: &'a str,
    description: &'a str,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    #[serde(serialize_with = "path_text")]
    path: PathBuf,
    eligible: bool,
    model_visible: bool,
    user_invocable: bool,
    missing: Missing,
    /// The key of the entry in `skills.entries` that it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<&'a str>,
    #[serde(serialize_with = "path_texts")]
    shadows: &'a [PathBuf],
}

impl<'a> From<&'a Entry> for ListedSkill<'a> {
    fn from(entry: &'a Entry) -> Self {
        Self {
            name: entry.name.as_str(),
            description: &entry.manifest.description,
            source: entry.source.label(),
            server: entry.server().map(SkillName::as_str),
            path: entry.place.file(),
            eligible: entry.verdict.is_eligible(),
            model_visible: entry.is_model_visible(),
            user_invocable: entry.is_user_invocable(),
            missing: entry.verdict.missing(),
            entry: entry.entry_key.granted().filter(|_| entry.entry_key.is_configured),
            shadows: &entry.shadows,
        }
    }
}

/// A problem as programs read it.
#[derive(Serialize)]
pub(super) struct ListedProblem<'a> {
    code: Code,
    severity: Severity,
    #[serde(serialize_with = "path_text")]
    path: &'a Path,
    line: usize,
    column: usize,
    message: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Cow<'a, str>>,
}

impl<'a> From<&'a Problem> for ListedProblem<'a> {
    fn from(problem: &'a Problem) -> Self {
        let ProblemText { message, help } = ProblemText::of(problem);
        Self {
            code: problem.code,
            severity: problem.severity,
            path: &problem.path,
            line: problem.line,
            column: problem.column,
            message,
            help,
        }
    }
}

/// Lists the skills that were found.
pub(super) fn run(
    context: &Context,
    sources: &SourceArgs,
    json: bool,
    all: bool,
) -> Result<u8, Failure> {
    let snapshot = context.library(sources)?;
    let shown: Vec<&Entry> =
        snapshot.entries.iter().filter(|it| all || !it.verdict.is_switched_off()).collect();
    let problems: Vec<&Problem> =
        snapshot.problems.iter().filter(|it| all || it.severity > Severity::Note).collect();
    if json {
        context.output.json(&Listing {
            version: VERSION,
            skills: &shown,
            problems: problems.iter().map(|problem| ListedProblem::from(*problem)).collect(),
            catalog: snapshot.catalog.report,
        });
    } else {
        print_table(context, &shown);
        context.output.problems(problems.iter().copied());
        context.output.say(&summary(context, &snapshot, shown.len()));
    }
    // The process ends here; giving thousands of small pieces back one by one is for nothing.
    std::mem::forget(snapshot);
    Ok(OK)
}

fn print_table(context: &Context, entries: &[&Entry]) {
    if entries.is_empty() {
        return;
    }
    let column = |heading, align, fills| Column { heading, align, fills };
    let mut table = Table::new(&[
        column("NAME", Align::Left, false),
        column("SOURCE", Align::Left, false),
        column("STATUS", Align::Left, false),
        column("TOKENS", Align::Right, false),
        column("DESCRIPTION", Align::Left, true),
    ]);
    for entry in entries {
        let (state, text) = status(entry);
        let cost = entry.tokens.name as usize + entry.tokens.description();
        table.row(vec![
            (style::NAME, plain(entry.name.as_str())),
            (style::DIM, source(entry)),
            (state, text),
            (style::DIM, cost.to_string()),
            (
                anstyle::Style::new(),
                plain(&metier_skill::catalog::one_line(&entry.manifest.description)),
            ),
        ]);
    }
    context.output.print(&table.render(context.output.width()));
}

/// Where a skill comes from.
fn source(entry: &Entry) -> String {
    match entry.server() {
        Some(server) => format!("{} {server}", entry.source),
        None => entry.source.to_string(),
    }
}

/// The state of a skill in a few words.
pub(super) fn status(entry: &Entry) -> (anstyle::Style, String) {
    let Some(first) = entry.verdict.blocks.first() else {
        return if entry.manifest.invocation.by_model {
            (style::GOOD, "ready".to_owned())
        } else {
            (style::GOOD, "by command".to_owned())
        };
    };
    let more = entry.verdict.blocks.len() - 1;
    let text = match first {
        Block::SkillsOff | Block::Disabled { .. } => "off".to_owned(),
        Block::Denied { .. } => "denied".to_owned(),
        Block::NotAllowed { .. } => "not allowed".to_owned(),
        Block::Untrusted => "untrusted".to_owned(),
        Block::Changed { .. } => "changed".to_owned(),
        Block::Remote { changes, .. } if changes.is_empty() => "untrusted".to_owned(),
        Block::Remote { .. } => "changed".to_owned(),
        Block::Dynamic { .. } => "dynamic".to_owned(),
        Block::Unreadable { .. } => "unreadable".to_owned(),
        Block::Os { wanted } => format!("needs {}", wanted.join("/")),
        Block::Env { name } => format!("needs ${name}"),
        Block::Config { key } => format!("needs {key}"),
        Block::Bin { name, .. } | Block::Server { name } | Block::Tool { name } => {
            format!("needs {name}")
        }
        Block::AnyBin { names } => format!("needs {}", names.join("/")),
    };
    let text = if more > 0 { format!("{text} +{more}") } else { text };
    (style::WARN, plain(&text))
}

fn summary(context: &Context, snapshot: &Snapshot, shown: usize) -> String {
    let total = snapshot.entries.len();
    let ready = snapshot.entries.iter().filter(|entry| entry.verdict.is_eligible()).count();
    let report = snapshot.catalog.report;
    let mut parts = vec![
        format!("{}, {ready} ready", counted(total, "skill")),
        format!(
            "catalog {} of {} tokens",
            report.tokens, *context.app.config.skills.catalog_tokens
        ),
    ];
    if total > shown {
        parts.push(format!("{} switched off (--all shows them)", total - shown));
    }
    if report.shortened + report.names_only + report.unlisted > 0 {
        parts.push(format!(
            "{} shortened, {} by name only, {} by search only",
            report.shortened, report.names_only, report.unlisted
        ));
    }
    styled(style::DIM, parts.join(" · "))
}
