//! `read_file`: a text by lines, from the workspace, from artifacts or from skills.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use metier_skill::library::Place;
use metier_workspace::artifact::{ArtifactKey, ArtifactName, ArtifactRef, ArtifactStore, Owner};
use metier_workspace::executor::VIEW;
use metier_workspace::input::open_below;
use metier_workspace::path::{Inside, Meaning, SharedPlace, resolve};
use metier_workspace::{Redactor, Workspace, WorkspaceKey, Workspaces};
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use crate::host::Host;
use crate::tools::answer::{Answer, arguments};
use crate::tools::error::{
    FileReadError, FileReadFault, ToolArgumentsError, ToolCallError, UnreadableAdvice,
};
use crate::tools::knowledge::Situation;
use crate::tools::result::{FilePart, LineExtent, ToolResult};
use crate::tools::specs::name;

/// Lines that are given when nobody says how many.
const DEFAULT_LINES: usize = 400;
/// Most bytes that are given.
const MAX_BYTES: usize = 48 << 10;
/// Ends a line that is longer than that.
const LONG_LINE: &str = " (the line goes on; use a command to see the rest)";
/// Largest file that is looked at, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// Where files are read from, beside skills.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shelves<'a> {
    /// Where workspaces are.
    pub(crate) workspaces: &'a Workspaces,
    /// Whose workspace it is.
    pub(crate) key: &'a WorkspaceKey,
    /// Where artifacts are.
    pub(crate) artifacts: &'a dyn ArtifactStore,
    /// Masks the values of keys in what is read.
    pub(crate) redactor: &'a Redactor,
    /// Where commands run on the host, if they do: there other paths are of this machine.
    pub(crate) host: Option<&'a Host>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default, alias = "path")]
    file_name: Option<String>,
    #[serde(default)]
    start_line: Option<usize>,
    #[serde(default)]
    num_lines: Option<usize>,
}

/// Which lines of a file are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lines {
    /// The first; else that of the file.
    pub(crate) start: Option<usize>,
    /// How many; else as many as usual.
    pub(crate) count: Option<usize>,
}

/// The reason for which content is not given by lines.
#[derive(Debug)]
pub(crate) enum NoLines {
    NotText,
    TooLarge,
    Io(io::Error),
}

impl NoLines {
    /// The same as the fault of a file, with another way to it.
    pub(crate) fn fault(self, advice: UnreadableAdvice) -> FileReadFault {
        match self {
            Self::NotText => FileReadFault::NotText(advice),
            Self::TooLarge => FileReadFault::TooLarge(advice),
            Self::Io(error) => FileReadFault::Io(error),
        }
    }
}

impl From<io::Error> for NoLines {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Answers a call.
///
/// # Errors
///
/// When the file cannot be read, or is not text.
pub(crate) async fn read(
    tool: &str,
    given: &Value,
    shelves: Shelves<'_>,
    at: &Situation<'_>,
) -> Result<Answer, ToolCallError> {
    let arguments: Arguments = arguments(given, tool)?;
    let field = if tool == name::READ { "path" } else { "file_name" };
    let Some(file) = arguments.file_name.as_deref() else {
        return Err(ToolArgumentsError::Missing { tool: tool.to_owned(), field }.into());
    };
    let lines = Lines { start: arguments.start_line, count: arguments.num_lines };
    let read = read_lines(file, lines, shelves, at).await;
    let (text, extent) =
        read.map_err(|source| FileReadError { name: file.to_owned(), skill: None, source })?;
    let result = ToolResult::File(FilePart { file_name: file.to_owned(), extent });
    Ok(Answer { result, ..Answer::text(text) })
}

async fn read_lines(
    file: &str,
    lines: Lines,
    shelves: Shelves<'_>,
    at: &Situation<'_>,
) -> Result<(String, LineExtent), FileReadFault> {
    let content = open(file, shelves, at).await?;
    let content = Box::new(shelves.redactor.reader(content));
    // A stream of the store is waited for, which must not keep others waiting.
    let read = spawn_blocking(move || numbered(lines, content)).await?;
    read.map_err(|problem| problem.fault(UnreadableAdvice::Command))
}

pub(crate) type Content = Box<dyn Read + Send>;

async fn open(
    name: &str,
    shelves: Shelves<'_>,
    at: &Situation<'_>,
) -> Result<Content, FileReadFault> {
    if name.starts_with("artifact://") {
        let reference = ArtifactRef::parse(name)?;
        return artifact(reference.name(), reference.version(), shelves).await;
    }
    if let Some(path) = name.strip_prefix("skill://") {
        return of_skill(split(path), at);
    }
    let workspace = shelves.workspaces.workspace(shelves.key)?;
    let path = name.strip_prefix("workspace://").unwrap_or(name);
    // What commands see there is the workspace.
    let view = match shelves.host {
        Some(_) => workspace.root().to_str().unwrap_or(VIEW),
        None => VIEW,
    };
    let inside = path.strip_prefix(view).and_then(|rest| rest.strip_prefix('/'));
    if let (Some(host), None) = (shelves.host, inside)
        && !name.starts_with("workspace://")
        && !name.starts_with('$')
    {
        return of_host(path, host, at);
    }
    let path = inside.unwrap_or(path);
    // Skills are mounted for commands only; here they are read where they are staged.
    match in_skills(path) {
        Some(path) => of_skill(split(&path), at),
        None => of_workspace(&workspace, path),
    }
}

/// The name of a skill and a path in it, if a path of the workspace is of a skill.
pub(crate) fn in_skills(path: &str) -> Option<String> {
    let root = Inside::default();
    let place = resolve(path, Meaning { base: &root, run: &root }).ok()?;
    place.as_str().strip_prefix("skills/").map(str::to_owned)
}

/// A file of a workspace that is of no skill.
pub(crate) fn of_workspace(workspace: &Workspace, path: &str) -> Result<Content, FileReadFault> {
    let open = |path: &str| {
        let place = SharedPlace::resolve(path)?;
        Ok::<_, FileReadFault>(workspace.open_file(&place)?)
    };
    let opened = open(path);
    // What a skill calls `inputs/` is a folder of the workspace's own.
    let input = path.strip_prefix("inputs/").map(|rest| format!("work/inputs/{rest}"));
    let opened = match (opened, input) {
        (Err(_), Some(input)) => open(&input),
        (opened, _) => opened,
    };
    opened.map(|file| Box::new(file) as Content)
}

/// A file of this machine: of the agent's own folder, of a skill, or of a folder that may be read.
fn of_host(path: &str, host: &Host, at: &Situation<'_>) -> Result<Content, FileReadFault> {
    let path = host.folder.join(path);
    let skills = at.snapshot.entries.iter().filter(|entry| at.usable(entry.name.as_str()).is_ok());
    for entry in skills {
        let Place::Folder { file, .. } = &entry.place else { continue };
        let inside = file.parent().and_then(|folder| path.strip_prefix(folder).ok());
        if let Some(inside) = inside.and_then(Path::to_str) {
            return of_skill((entry.name.as_str(), inside), at);
        }
    }
    let folders: Vec<PathBuf> = [&host.folder].into_iter().chain(&host.readable).cloned().collect();
    let opened = match open_below(&folders, &path) {
        // Whether something is there is told of these folders only.
        Err(_) if !folders.iter().any(|folder| is_in(folder, &path)) => None,
        opened => opened?,
    };
    let Some(file) = opened.map(File::from) else { return Err(FileReadFault::Outside) };
    if !file.metadata().is_ok_and(|it| it.is_file()) {
        return Err(FileReadFault::NotRegular);
    }
    Ok(Box::new(file))
}

/// Whether a path names something in a folder, whatever links there are.
fn is_in(folder: &Path, path: &Path) -> bool {
    path.starts_with(folder) && !path.components().any(|part| part == Component::ParentDir)
}

/// An artifact of a session or its user: a version of it, or the newest.
pub(crate) async fn artifact(
    name: &ArtifactName,
    version: Option<u64>,
    shelves: Shelves<'_>,
) -> Result<Content, FileReadFault> {
    let key = ArtifactKey::of(&Owner::of(shelves.key)?, name.clone());
    let loaded = shelves.artifacts.load(&key, version).await?;
    Ok(Box::new(BlockingStream { content: loaded.content, runtime: Handle::current() }))
}

/// The stream of a store as a reader, for threads that may wait.
struct BlockingStream {
    content: Box<dyn AsyncRead + Send + Unpin>,
    runtime: Handle,
}

impl Read for BlockingStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.runtime.block_on(self.content.read(buffer))
    }
}

/// The name of a skill and a path in it.
fn split(path: &str) -> (&str, &str) {
    path.split_once('/').unwrap_or((path, "SKILL.md"))
}

/// A file of a skill, of the version that was loaded if one was.
pub(crate) fn of_skill(
    (name, inside): (&str, &str),
    at: &Situation<'_>,
) -> Result<Content, FileReadFault> {
    let entry = at.usable(name)?;
    // The copy is what its digest says; the skill's own folder may change while it is read.
    let folder = at.staged_folder(entry)?;
    let tree = metier_skill::files::list(&folder)?;
    // Only what is listed belongs to the skill; links that lead elsewhere are not listed.
    if tree.find(inside).is_none() {
        return Err(FileReadFault::NotInSkill { skill: name.to_owned() });
    }
    Ok(Box::new(File::open(folder.join(inside))?))
}

/// The lines that were asked for, each with its number. Content is read to its end and never kept as a whole; content of a
/// store must be read on a thread that may wait.
pub(crate) fn numbered(lines: Lines, content: Content) -> Result<(String, LineExtent), NoLines> {
    let first = lines.start.unwrap_or(1).max(1);
    let most = lines.count.unwrap_or(DEFAULT_LINES).max(1);
    let mut reader = BufReader::new(content.take(MAX_FILE + 1));
    let mut bytes = 0;
    let (mut text, mut shown, mut total, mut is_full) = (String::new(), 0, 0, false);
    let mut line = LineBeginning::default();
    while line.read(&mut reader)? {
        (bytes, total) = (bytes + line.length, total + 1);
        if bytes > MAX_FILE {
            return Err(NoLines::TooLarge);
        }
        if line.has_zero {
            return Err(NoLines::NotText);
        }
        if total < first || shown == most || is_full {
            continue;
        }
        let words = String::from_utf8_lossy(&line.kept);
        let words = words.trim_end_matches(['\n', '\r']);
        let kept = &words[..words.floor_char_boundary(MAX_BYTES)];
        let rest = if kept.len() < words.len() || line.is_cut() { LONG_LINE } else { "" };
        let numbered = format!("{total}: {kept}{rest}\n");
        is_full = text.len() + numbered.len() > MAX_BYTES && !text.is_empty();
        if !is_full {
            text.push_str(&numbered);
            shown += 1;
        }
    }
    let truncated = first + shown <= total;
    if truncated {
        text.push_str(&format!(
            "({shown} of {total} lines; read on from line {})\n",
            first + shown
        ));
    }
    if total == 0 {
        "(the file is empty)\n".clone_into(&mut text);
    } else if shown == 0 {
        text = format!("(the file has only {total} lines)\n");
    }
    Ok((text, LineExtent { start_line: first, lines: shown, total_lines: total, truncated }))
}

/// The beginning of a line: as much as can be given, and a line ending behind it.
#[derive(Default)]
struct LineBeginning {
    kept: Vec<u8>,
    /// Bytes of the whole line.
    length: u64,
    has_zero: bool,
}

impl LineBeginning {
    /// Bytes that are kept.
    const MOST: usize = MAX_BYTES + 2;

    /// Reads the next line; returns whether there is one.
    fn read(&mut self, reader: &mut impl BufRead) -> io::Result<bool> {
        self.kept.clear();
        (self.length, self.has_zero) = (0, false);
        loop {
            let piece = reader.fill_buf()?;
            let end = piece.iter().position(|byte| *byte == b'\n').map(|index| index + 1);
            let piece = &piece[..end.unwrap_or(piece.len())];
            let room = Self::MOST - self.kept.len();
            self.kept.extend_from_slice(&piece[..piece.len().min(room)]);
            self.has_zero |= piece.contains(&0);
            let length = piece.len();
            self.length += length as u64;
            reader.consume(length);
            if end.is_some() || length == 0 {
                return Ok(self.length > 0);
            }
        }
    }

    fn is_cut(&self) -> bool {
        self.length > self.kept.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is given of all lines of a text.
    fn given(text: &[u8]) -> Result<(String, LineExtent), NoLines> {
        numbered(Lines::default(), Box::new(io::Cursor::new(text.to_vec())))
    }

    #[test]
    fn a_line_of_any_length_is_kept_up_to_what_can_be_given() {
        let mut line = LineBeginning::default();
        let long = vec![b'a'; 8 << 20];
        let text = [&long[..], b"\nb\r\n", &long[..MAX_BYTES], b"\r\n"].concat();
        let mut reader = BufReader::new(&text[..]);
        let mut seen = Vec::new();
        while line.read(&mut reader).unwrap() {
            assert!(line.kept.capacity() <= 4 * MAX_BYTES, "{}", line.kept.capacity());
            seen.push((line.length, line.kept.len(), line.is_cut()));
        }
        let whole = MAX_BYTES + 2;
        let expected =
            [(long.len() as u64 + 1, whole, true), (3, 3, false), (whole as u64, whole, false)];
        assert_eq!(seen, expected);
    }

    #[test]
    fn the_beginning_of_a_long_line_is_given_and_the_next_line_has_the_next_number() {
        let (text, extent) = given(&[&vec![b'a'; 1 << 20][..], b"\nb"].concat()).unwrap();
        assert!(text.starts_with("1: aaa") && text.contains(LONG_LINE), "{}", text.len());
        assert_eq!((extent.total_lines, extent.lines, extent.truncated), (2, 1, true));
        let (text, _) = given(&[&vec![b'a'; MAX_BYTES][..], b"\r\n"].concat()).unwrap();
        assert!(!text.contains(LONG_LINE));
    }

    #[test]
    fn a_zero_byte_anywhere_in_a_long_line_makes_it_no_text() {
        let text = [&vec![b'a'; 1 << 20][..], b"\0\n"].concat();
        assert!(matches!(given(&text), Err(NoLines::NotText)));
    }
}
