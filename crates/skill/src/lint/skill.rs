//! One skill: every check, in one pass over its files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Code, Diagnostic};
use crate::files::{self, Tree};
use crate::header::{self, Manifest, ReadOptions, Reading, WithoutHeader};
use crate::lint::{body, references, scripts};
use crate::problem::Problem;
use crate::text::Span;

/// A skill that was looked at.
#[derive(Clone, Debug)]
pub struct Linted {
    /// Its `SKILL.md`.
    pub file: PathBuf,
    /// The text of that file.
    pub text: String,
    /// What its header says, if it can be used.
    pub manifest: Option<Manifest>,
    /// Where its description is.
    pub description: Span,
    /// What was noticed in that file.
    pub diagnostics: Vec<Diagnostic>,
    /// What was noticed in other files of the skill.
    pub remarks: Vec<Remark>,
}

/// Something about another file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The file.
    pub path: PathBuf,
    /// What was noticed.
    pub diagnostic: Diagnostic,
}

/// Looks at the skill whose `SKILL.md` is `file`: its header, its body, and the files that the body names.
///
/// ```
/// use metier_skill::lint::{diagnose_text, lint_skill};
/// use metier_skill::fix;
///
/// let folder = tempfile::tempdir()?;
/// let skill = folder.path().join("ship");
/// std::fs::create_dir(&skill)?;
/// let file = skill.join("SKILL.md");
/// let description = "Makes releases. Use when a version of a program is to be released.";
/// let text = format!("\u{feff}---\nname: ship\ndescription: {description}\n---\n\nSee [steps](steps.md).\n");
/// std::fs::write(&file, text)?;
///
/// let linted = lint_skill(&file)?;
/// let codes: Vec<&str> = linted.diagnostics.iter().map(|it| it.code.as_str()).collect();
/// assert_eq!(codes, ["M012", "M060"], "a byte order mark, and a file that is not there");
///
/// // What a machine can mend it mends.
/// let mended = fix::apply_until_stable(&linted.text, |text| diagnose_text(text, &skill));
/// assert!(mended.starts_with("---\n"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// When the file cannot be read.
pub fn lint_skill(file: &Path) -> io::Result<Linted> {
    let bytes = read_bounded(file)?;
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let (text, undecodable) = header::decode(&bytes);
    let tree = files::list(folder);
    let reading = diagnose(&text, folder, tree.as_ref().ok());
    let mut diagnostics = reading.diagnostics;
    diagnostics.extend(undecodable);
    if let Some(name) = file.file_name().filter(|name| *name != "SKILL.md") {
        let message = format!("`{}` should be called `SKILL.md`", name.display());
        diagnostics.push(Diagnostic::new(Code::FileNameCase, Span::at(0), message));
    }
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.code));
    let remarks = match &tree {
        Ok(tree) => remarks(tree),
        Err(error) => vec![Remark {
            path: folder.to_owned(),
            diagnostic: Diagnostic::new(Code::RootUnreadable, Span::at(0), error.to_string()),
        }],
    };
    Ok(Linted {
        file: file.to_owned(),
        text: text.into_owned(),
        manifest: reading.manifest,
        description: reading.description.unwrap_or_default(),
        diagnostics,
        remarks,
    })
}

/// What would be noticed in the `SKILL.md` of a folder if it had this text.
pub fn diagnose_text(text: &str, folder: &Path) -> Vec<Diagnostic> {
    diagnose(text, folder, files::list(folder).ok().as_ref()).diagnostics
}

fn diagnose(text: &str, folder: &Path, tree: Option<&Tree>) -> Reading {
    let name = real_name(folder);
    let options =
        ReadOptions { folder: name.as_deref(), without_header: WithoutHeader::FirstParagraph };
    let mut reading = header::read(text, &options);
    reading.diagnostics.extend(body::check(text, &reading));
    if let Some(tree) = tree {
        reading.diagnostics.extend(references::check(text, reading.body, tree));
    }
    reading
}

/// The folder's own name, also when it was given as `.`.
fn real_name(folder: &Path) -> Option<String> {
    let real = fs::canonicalize(folder).ok()?;
    Some(real.file_name()?.to_str()?.to_owned())
}

fn read_bounded(file: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let (opened, metadata) = files::open_regular(file)?;
    let limit = crate::discover::MAX_SKILL_FILE_BYTES;
    if metadata.len() > limit {
        let message = format!("the file has {} bytes, more than {limit}", metadata.len());
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    let mut bytes = Vec::new();
    opened.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn remarks(tree: &Tree) -> Vec<Remark> {
    let about_tree = tree.problems.iter().map(|problem: &Problem| Remark {
        path: problem.path.clone(),
        diagnostic: Diagnostic::new(problem.code, Span::at(0), problem.message.clone()),
    });
    about_tree.chain(scripts::check(tree)).collect()
}
