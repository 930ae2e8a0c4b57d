//! The one resolver of paths: from what somebody wrote to a place inside a workspace.
//!
//! Nothing here looks at the disk. Whoever opens a place does so from the open workspace and
//! without leaving it, see [`crate::layout::Workspace::open_file`].

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::layout::{INPUTS, VENVS, WRITABLE};
use crate::stream::STREAMS;

/// Longest path that is looked at, in bytes.
const MAX_BYTES: usize = 4096;

/// Folders of a workspace, as variables name them.
const VARIABLES: [(&str, &str); 4] =
    [("WORKSPACE_DIR", ""), ("SKILLS_DIR", "skills"), ("WORK_DIR", "work"), ("OUTPUT_DIR", "out")];

/// A place inside a workspace: names joined by slashes, none of them `..`; the workspace itself when empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Inside(String);

/// Why a path is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PathError {
    /// It begins with a slash.
    #[error(
        "`{0}` is absolute; write a path inside the workspace, such as `out/x` or `$WORK_DIR/x`"
    )]
    Absolute(String),
    /// It has `..`.
    #[error("`{0}` has `..`; write a path inside the workspace without it")]
    Parent(String),
    /// It begins with a variable that is not a folder of the workspace.
    #[error(
        "`{0}` begins with an unknown variable; known are `$WORKSPACE_DIR`, `$SKILLS_DIR`, `$WORK_DIR`, `$OUTPUT_DIR` and `$RUN_DIR`"
    )]
    Variable(String),
    /// It has a character that no path needs.
    #[error("`{0}` has a control character")]
    Control(String),
    /// A link is on the way, or something that is no folder.
    #[error("`{0}` is not a folder of the workspace, or leads through a link")]
    Link(String),
    /// It is a place of the workspace that calls may not name.
    #[error(
        "`{0}` is neither in `work/` or `out/` nor the output of a run; nothing else of the workspace can be named"
    )]
    NotShared(String),
    /// Nothing is there.
    #[error("`{0}` is not there")]
    NoFolder(String),
    /// It is too long.
    #[error("the path is longer than {MAX_BYTES} bytes")]
    TooLong,
}

impl Inside {
    /// A place that is known to be one.
    pub(crate) fn known(path: impl Into<String>) -> Self {
        Self(path.into())
    }

    /// The text, with slashes.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The place in a folder that stands for the workspace.
    pub fn under(&self, root: &Path) -> PathBuf {
        if self.0.is_empty() { root.to_owned() } else { root.join(&self.0) }
    }

    /// A place further down; the path has been resolved.
    pub(crate) fn join(&self, path: &str) -> Self {
        match (self.0.is_empty(), path.is_empty()) {
            (_, true) => self.clone(),
            (true, _) => Self(path.to_owned()),
            _ => Self(format!("{}/{path}", self.0)),
        }
    }

    /// The last name.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The first name.
    pub fn top(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }
}

impl fmt::Display for Inside {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { formatter.write_str(".") } else { formatter.write_str(&self.0) }
    }
}

/// A place of a workspace that `workspace://` may name: `work/` and `out/` with all that is in them, and the streams of
/// runs. Homes, temporary files and records of runs, and metier's own files are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedPlace(Inside);

impl SharedPlace {
    /// Resolves what follows `workspace://`.
    ///
    /// ```
    /// use metier_workspace::path::{PathError, SharedPlace};
    ///
    /// assert_eq!(SharedPlace::resolve("$OUTPUT_DIR/chart.svg")?.inside().as_str(), "out/chart.svg");
    /// let record = "runs/1/record.json".to_owned();
    /// assert_eq!(SharedPlace::resolve(&record), Err(PathError::NotShared(record)));
    /// # Ok::<(), PathError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`resolve`], and for every other place.
    pub fn resolve(text: &str) -> Result<Self, PathError> {
        let root = Inside::default();
        let place = resolve(text, Meaning { base: &root, run: &root })?;
        let names: Vec<&str> = place.0.split('/').collect();
        let is_stream = matches!(names[..], ["runs", _, name] if STREAMS.contains(&name));
        if is_stream || WRITABLE.contains(&place.top()) {
            Ok(Self(place))
        } else {
            Err(PathError::NotShared(text.to_owned()))
        }
    }

    /// The place in the workspace.
    pub fn inside(&self) -> &Inside {
        &self.0
    }
}

/// What relative paths and `$RUN_DIR` mean for a run.
#[derive(Clone, Copy, Debug)]
pub struct Meaning<'a> {
    /// Where a relative path starts.
    pub base: &'a Inside,
    /// The folder of the run.
    pub run: &'a Inside,
}

/// Resolves a path that somebody wrote.
///
/// ```
/// use metier_workspace::path::{Inside, Meaning, PathError, resolve};
///
/// // A command of a skill without a `cwd` starts in the workspace itself, for this example.
/// let (base, run) = (Inside::default(), Inside::default());
/// let meaning = Meaning { base: &base, run: &run };
/// assert_eq!(resolve("$OUTPUT_DIR/./chart.svg", meaning)?.as_str(), "out/chart.svg");
/// assert_eq!(resolve("work/../../home", meaning), Err(PathError::Parent("work/../../home".to_owned())));
/// # Ok::<(), PathError>(())
/// ```
///
/// # Errors
///
/// When it leaves the workspace or cannot be understood; never a place that was not meant.
pub fn resolve(text: &str, meaning: Meaning<'_>) -> Result<Inside, PathError> {
    if text.len() > MAX_BYTES {
        return Err(PathError::TooLong);
    }
    if text.chars().any(char::is_control) {
        return Err(PathError::Control(text.escape_debug().to_string()));
    }
    let (start, rest) = match text.strip_prefix('$') {
        Some(variable) => {
            split_variable(variable, meaning.run).ok_or_else(|| PathError::Variable(text.into()))?
        }
        None if text.starts_with('/') => return Err(PathError::Absolute(text.into())),
        None => (meaning.base.clone(), text),
    };
    let mut names: Vec<&str> = Vec::new();
    for name in rest.split('/') {
        match name {
            "" | "." => {}
            ".." => return Err(PathError::Parent(text.into())),
            name => names.push(name),
        }
    }
    Ok(through_links(&start.join(&names.join("/"))))
}

/// `WORK_DIR/x` or `{WORK_DIR}/x` as the folder and the rest. After the name comes a slash or nothing.
fn split_variable<'a>(text: &'a str, run: &Inside) -> Option<(Inside, &'a str)> {
    let (name, rest) = match text.strip_prefix('{') {
        Some(braced) => braced.split_once('}')?,
        None => text.split_at(text.find('/').unwrap_or(text.len())),
    };
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix('/')? };
    if name == "RUN_DIR" {
        return Some((run.clone(), rest));
    }
    let (_, folder) = VARIABLES.into_iter().find(|(variable, _)| *variable == name)?;
    Some((Inside::known(folder), rest))
}

/// Where the links that metier makes in a staged skill lead.
fn through_links(place: &Inside) -> Inside {
    let mut names = place.0.splitn(4, '/');
    let (Some("skills"), Some(skill), Some(link)) = (names.next(), names.next(), names.next())
    else {
        return place.clone();
    };
    let rest = names.next().unwrap_or_default();
    match link {
        "out" => Inside::known("out").join(rest),
        "work" => Inside::known("work").join(rest),
        "inputs" => Inside::known(INPUTS).join(rest),
        ".venv" => Inside(format!("{VENVS}/{skill}")).join(rest),
        _ => place.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> String {
        let (base, run) = (Inside::known("skills/demo"), Inside::known("runs/1/files"));
        let resolved = resolve(text, Meaning { base: &base, run: &run });
        resolved.map_or_else(|error| format!("refused: {error}"), |place| place.to_string())
    }

    #[test]
    fn variables_stand_for_folders_and_end_where_they_end() {
        let places = [
            ("", "skills/demo"),
            (".", "skills/demo"),
            ("scripts//./x", "skills/demo/scripts/x"),
            ("$WORK_DIR", "work"),
            ("$WORK_DIR/", "work"),
            ("${WORK_DIR}/a", "work/a"),
            ("$OUTPUT_DIR/a.txt", "out/a.txt"),
            ("$WORKSPACE_DIR", "."),
            ("$SKILLS_DIR/other", "skills/other"),
            ("$RUN_DIR/tmp", "runs/1/files/tmp"),
            ("out/a", "out/a"),
            ("inputs/a", "work/inputs/a"),
            (".venv/bin", ".venvs/demo/bin"),
        ];
        for (text, place) in places {
            assert_eq!(at(text), place, "{text}");
        }
    }

    #[test]
    fn references_reach_work_out_and_streams_of_runs_alone() {
        let reached = |text: &str| SharedPlace::resolve(text).map(|it| it.0.0);
        for (text, place) in [
            ("work", "work"),
            ("out/a/b", "out/a/b"),
            ("$WORK_DIR/a", "work/a"),
            ("skills/demo/out/a", "out/a"),
            ("runs/1/stdout", "runs/1/stdout"),
            ("runs//1/./stderr", "runs/1/stderr"),
        ] {
            assert_eq!(reached(text), Ok(place.to_owned()), "{text}");
        }
        for text in [
            "",
            ".",
            "$WORKSPACE_DIR",
            "workx/a",
            "metadata.json",
            ".lock",
            ".homes/demo/.netrc",
            ".venvs/demo/bin",
            "skills/demo/.venv/bin",
            ".private/demo/work/a",
            "skills/demo/SKILL.md",
            "$SKILLS_DIR/demo/SKILL.md",
            "runs",
            "runs/1",
            "runs/1/record.json",
            "runs/1/files/tmp/a",
            "runs/1/files/stdout",
            "runs/stdout",
            "$RUN_DIR/stdout",
        ] {
            assert_eq!(reached(text), Err(PathError::NotShared(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn nothing_leaves() {
        for text in [
            "..",
            "../x",
            "a/../b",
            "/etc/passwd",
            "/",
            "$WORK_DIR/../..",
            "$WORK_DIRX/a",
            "$HOME/x",
            "${WORK_DIR}x",
            "${WORK_DIR",
            "$",
            "a\0b",
            "a\nb",
            "$WORK_DIR/../skills",
        ] {
            assert!(at(text).starts_with("refused: "), "{text:?} became {}", at(text));
        }
        assert!(at(&"a/".repeat(5000)).starts_with("refused: "));
    }
}
