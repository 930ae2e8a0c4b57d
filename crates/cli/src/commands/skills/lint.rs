//! `metier skills lint`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level as SnippetLevel, Renderer, Snippet};
use metier_app::sources::roots::SourceRoots;
use metier_config::{FileReaders, replace_file};
use metier_skill::diagnostic::{Diagnostic, Level, Severity};
use metier_skill::discover::{Absence, Links, Root, Source, find_skill_files};
use metier_skill::fix;
use metier_skill::lint::{self, Linted};
use metier_skill::problem::Problem;
use metier_skill::text::{LineIndex, Position, Span};
use serde::Serialize;

use crate::args::{LintFormat, SourceArgs};
use crate::commands::skills::sarif;
use crate::context::Context;
use crate::failure::advice::ProblemText;
use crate::failure::{FAILED, Failure, OK};
use crate::output::{counted, path_text, plain, plain_block, style, styled};
use crate::wait::block_on;

/// What to look at, and how.
pub(super) struct Wanted {
    /// Skills, files, or folders with skills.
    pub paths: Vec<PathBuf>,
    /// To the letter of the format.
    pub strict: bool,
    /// Apply fixes.
    pub fix: bool,
    /// How to write.
    pub format: LintFormat,
}

/// One finding as programs read it.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    /// The rule.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The file.
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    /// Where it begins.
    pub line: usize,
    /// Where it begins.
    pub column: usize,
    /// Where it ends.
    pub end_line: usize,
    /// Where it ends.
    pub end_column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// What can be done by machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<FoundFix>,
}

/// A change that mends a finding.
#[derive(Debug, Serialize)]
pub(super) struct FoundFix {
    /// What it does.
    pub title: String,
    /// The edits.
    pub edits: Vec<FoundEdit>,
}

/// A range, and what replaces it.
#[derive(Debug, Serialize)]
pub(super) struct FoundEdit {
    /// First line.
    pub line: usize,
    /// First column.
    pub column: usize,
    /// Last line.
    pub end_line: usize,
    /// One past the last column.
    pub end_column: usize,
    /// By what it is replaced.
    pub replacement: String,
}

/// Looks at skills, mends them if asked, and says what is left.
pub(super) fn run(context: &Context, sources: &SourceArgs, wanted: &Wanted) -> Result<u8, Failure> {
    let level = if wanted.strict { Level::Strict } else { Level::Lenient };
    let working = context.output.working("looking for skills");
    let (files, problems) = files_to_lint(context, sources, &wanted.paths)?;
    if wanted.fix {
        for file in &files {
            working.set(&format!("mending {}", file.display()));
            mend(context, file)?;
        }
    }
    let mut skills = Vec::new();
    let mut unreadable = Vec::new();
    for file in &files {
        working.set(&format!("checking {}", file.display()));
        match lint::lint_skill(file) {
            Ok(skill) => skills.push(skill),
            Err(error) => unreadable.push(unreadable_file(file, &error)),
        }
    }
    working.set("comparing skills");
    for (place, collision) in lint::collisions(&skills) {
        skills[place].diagnostics.push(collision);
    }
    for skill in &mut skills {
        skill.diagnostics.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.code));
    }
    let mut findings: Vec<Finding> =
        skills.iter().flat_map(|skill| findings_in(skill, level)).collect();
    findings.extend(problems.iter().chain(&unreadable).map(|problem| of_problem(problem, level)));
    findings.sort_by(|left, right| {
        (&left.path, left.line, left.column, left.code).cmp(&(
            &right.path,
            right.line,
            right.column,
            right.code,
        ))
    });
    drop(working);
    match wanted.format {
        LintFormat::Json => context.output.json(&findings),
        LintFormat::Sarif => context.output.json(&sarif::report(&findings)),
        LintFormat::Human => print_human(context, &skills, &findings, level),
    }
    let failed = findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if failed { FAILED } else { OK })
}

/// The `SKILL.md` files that the arguments mean.
fn files_to_lint(
    context: &Context,
    sources: &SourceArgs,
    paths: &[PathBuf],
) -> Result<(Vec<PathBuf>, Vec<Problem>), Failure> {
    let SourceRoots { roots, mut problems, .. } = if paths.is_empty() {
        block_on(async { Ok(context.app.source_roots(&sources.selection()).await) })?
    } else {
        SourceRoots::default()
    };
    let mut files = Vec::new();
    for path in paths {
        let full = context.app.environment.folder.join(path);
        if !full.exists() {
            let shown = path.display();
            return Err(Failure::usage(format!("there is no file or folder `{shown}`"))
                .hint("name a path; `metier skills info NAME` shows the folder of a skill"));
        }
        if full.is_dir() {
            let (found, noticed) = find_skill_files(&root(path.clone()));
            if found.is_empty() && noticed.is_empty() {
                return Err(Failure::usage(format!(
                    "`{}` has no `SKILL.md` in it",
                    path.display()
                ))
                .hint("name the folder of a skill, or one with such folders in it"));
            }
            files.extend(found);
            problems.extend(noticed);
        } else {
            files.push(path.clone());
        }
    }
    for root in &roots {
        let (found, noticed) = find_skill_files(root);
        files.extend(found);
        problems.extend(noticed);
    }
    files.sort();
    files.dedup();
    Ok((files, problems))
}

fn root(path: PathBuf) -> Root {
    Root {
        source: Source::Flag,
        path,
        address: None,
        links: Links::Anywhere,
        absence: Absence::Reported,
        plugin: None,
        project: None,
    }
}

fn unreadable_file(file: &Path, error: &io::Error) -> Problem {
    let code = if error.kind() == io::ErrorKind::FileTooLarge {
        metier_skill::diagnostic::Code::FileTooLarge
    } else {
        metier_skill::diagnostic::Code::NotAFile
    };
    Problem::new(code, file, format!("the file cannot be read: {error}"))
}

/// Applies the fixes of one file, written beside and renamed.
fn mend(context: &Context, file: &Path) -> Result<(), Failure> {
    if !file.is_file() {
        return Ok(());
    }
    let Ok(text) = fs::read_to_string(file) else { return Ok(()) };
    let folder = file.parent().unwrap_or(Path::new("."));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let fixed = fix::apply_until_stable(&text, |text| lint::diagnose_text(text, folder));
    if fixed == text {
        return Ok(());
    }
    replace_file(file, &fixed, FileReaders::Everybody).map_err(|error| {
        Failure::new(format!("cannot write `{}`: {error}", file.display()))
            .hint("make it and its folder writable for you")
    })?;
    context.output.say(&format!("mended {}", plain(&file.display().to_string())));
    Ok(())
}

fn findings_in(skill: &Linted, level: Level) -> Vec<Finding> {
    let lines = LineIndex::new(&skill.text);
    let own = skill.diagnostics.iter().map(|it| finding(&skill.file, &lines, it, level));
    let empty = LineIndex::new("");
    let others = skill.remarks.iter().map(|it| finding(&it.path, &empty, &it.diagnostic, level));
    own.chain(others).collect()
}

fn finding(path: &Path, lines: &LineIndex<'_>, diagnostic: &Diagnostic, level: Level) -> Finding {
    let (start, end) = (lines.position(diagnostic.span.start), lines.position(diagnostic.span.end));
    let fix = diagnostic.fix.as_ref().map(|fix| FoundFix {
        title: fix.title.clone(),
        edits: fix
            .edits
            .iter()
            .map(|edit| {
                let (start, end) = (lines.position(edit.span.start), lines.position(edit.span.end));
                let Position { line, column } = start;
                let replacement = edit.replacement.clone();
                FoundEdit { line, column, end_line: end.line, end_column: end.column, replacement }
            })
            .collect(),
    });
    Finding {
        code: diagnostic.code.as_str(),
        severity: diagnostic.severity(level),
        path: path.to_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        message: diagnostic.message.clone(),
        help: diagnostic.help.clone(),
        fix,
    }
}

fn of_problem(problem: &Problem, level: Level) -> Finding {
    let ProblemText { message, help } = ProblemText::of(problem);
    Finding {
        code: problem.code.as_str(),
        severity: problem.code.severity(level),
        path: problem.path.clone(),
        line: problem.line,
        column: problem.column,
        end_line: problem.line,
        end_column: problem.column,
        message: message.into_owned(),
        help: help.map(Cow::into_owned),
        fix: None,
    }
}

fn print_human(context: &Context, skills: &[Linted], findings: &[Finding], level: Level) {
    let renderer = if context.output.is_colored() { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(context.output.width());
    let mut text = String::new();
    for skill in skills {
        for diagnostic in &skill.diagnostics {
            text.push_str(&excerpt(&renderer, skill, diagnostic, level));
            text.push_str("\n\n");
        }
    }
    let shown: HashSet<&Path> = skills.iter().map(|skill| skill.file.as_path()).collect();
    for finding in findings.iter().filter(|it| !shown.contains(it.path.as_path())) {
        let severity = styled(crate::output::severity_style(finding.severity), finding.severity);
        let place = plain(&finding.path.display().to_string());
        text.push_str(&format!(
            "{severity}[{}]: {}\n --> {place}\n",
            finding.code,
            plain(&finding.message)
        ));
        if let Some(help) = &finding.help {
            text.push_str(&format!("  = help: {}\n", plain(help)));
        }
        text.push('\n');
    }
    context.output.print(&text);
    context.output.say(&summary(skills.len(), findings));
    if let Some(finding) = findings.first() {
        let code = finding.code;
        context
            .output
            .say(&format!("`metier skills lint --explain {code}` says what {code} means"));
    }
}

fn summary(skills: usize, findings: &[Finding]) -> String {
    let count = |severity| findings.iter().filter(|it| it.severity == severity).count();
    let (errors, warnings, notes) =
        (count(Severity::Error), count(Severity::Warning), count(Severity::Note));
    let fixable = findings.iter().filter(|it| it.fix.is_some()).count();
    let mut text = format!(
        "{}: {}, {}, {}",
        counted(skills, "skill"),
        counted(errors, "error"),
        counted(warnings, "warning"),
        counted(notes, "note")
    );
    if fixable > 0 {
        text.push_str(&format!("; {fixable} can be mended with --fix"));
    }
    let style = if errors > 0 {
        style::BAD
    } else if warnings > 0 {
        style::WARN
    } else {
        style::GOOD
    };
    styled(style, text)
}

/// The finding with the lines it is about.
fn excerpt(renderer: &Renderer, skill: &Linted, diagnostic: &Diagnostic, level: Level) -> String {
    let title = match diagnostic.severity(level) {
        Severity::Error => SnippetLevel::ERROR,
        Severity::Warning => SnippetLevel::WARNING,
        Severity::Note => SnippetLevel::NOTE,
    };
    let path = plain(&skill.file.display().to_string());
    let message = plain(&diagnostic.message);
    let shown = Excerpt::of(&skill.text, diagnostic);
    let main = AnnotationKind::Primary.span(shown.main.clone());
    let related: Vec<(Range<usize>, String)> = shown.related;
    let mut snippet = Snippet::source(shown.text.as_str())
        .line_start(shown.first_line)
        .path(path.as_str())
        .fold(true)
        .annotation(main);
    for (range, label) in &related {
        snippet =
            snippet.annotation(AnnotationKind::Context.span(range.clone()).label(label.as_str()));
    }
    let mut group =
        Group::with_title(title.primary_title(message.as_str()).id(diagnostic.code.as_str()))
            .element(snippet);
    let help = diagnostic.help.as_deref().map(plain);
    if let Some(help) = &help {
        group = group.element(SnippetLevel::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

/// The lines a diagnostic is about, safe for a terminal, with its ranges moved accordingly.
struct Excerpt {
    text: String,
    first_line: usize,
    main: Range<usize>,
    related: Vec<(Range<usize>, String)>,
}

impl Excerpt {
    fn of(text: &str, diagnostic: &Diagnostic) -> Self {
        let spans =
            std::iter::once(diagnostic.span).chain(diagnostic.related.iter().map(|it| it.span));
        // The end of a line belongs to it, not to the next.
        let ending = |span: Span| {
            let text = text.get(span.start..span.end).unwrap_or_default();
            span.start + text.trim_end_matches(['\r', '\n']).len()
        };
        let (first, last) = spans.fold((usize::MAX, 0), |(first, last), span| {
            (first.min(span.start), last.max(ending(span)))
        });
        let start = text[..first.min(text.len())].rfind('\n').map_or(0, |at| at + 1);
        let last = last.min(text.len());
        let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
        let end = start + text[start..end].trim_end_matches('\r').len();
        let safe = |range: Range<usize>| plain_block(text.get(range).unwrap_or_default());
        let moved = |span: Span| {
            let from = safe(start..span.start.min(end).max(start)).len();
            let to = safe(start..ending(span).min(end).max(start)).len();
            from..to
        };
        Self {
            text: safe(start..end),
            first_line: text[..start].matches('\n').count() + 1,
            main: moved(diagnostic.span),
            related: diagnostic
                .related
                .iter()
                .map(|it| (moved(it.span), plain(&it.message)))
                .collect(),
        }
    }
}
