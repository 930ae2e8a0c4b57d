//! `read_file`: a text by lines, from the workspace, from artifacts or from skills.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use metier_skill::library::Place;
use metier_workspace::artifact::{ArtifactRef, ArtifactStore, Owner};
use metier_workspace::executor::VIEW;
use metier_workspace::input::open_below;
use metier_workspace::path::{Inside, Meaning, resolve};
use metier_workspace::{SessionKey, Workspaces};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::AsyncReadExt;

use crate::host::Host;
use crate::tools::answer::{Answer, arguments};
use crate::tools::knowledge::Situation;
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
pub struct Shelves<'a> {
    /// Where workspaces are.
    pub workspaces: &'a Workspaces,
    /// Whose workspace it is.
    pub key: &'a SessionKey,
    /// Where artifacts are.
    pub artifacts: &'a dyn ArtifactStore,
    /// Where commands run on the host, if they do: there other paths are of this machine.
    pub host: Option<&'a Host>,
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

/// A part of a file, for renderers.
#[derive(Debug, Serialize)]
struct Part<'a> {
    file_name: &'a str,
    start_line: usize,
    lines: usize,
    total_lines: usize,
    truncated: bool,
}

/// Answers a call.
///
/// # Errors
///
/// Why the file cannot be read, in words for the model.
pub async fn read(
    tool: &str,
    given: &Value,
    shelves: Shelves<'_>,
    at: &Situation<'_>,
) -> Result<Answer, String> {
    let arguments: Arguments = arguments(given, tool)?;
    let field = if tool == name::READ { "path" } else { "file_name" };
    let Some(file) = arguments.file_name.as_deref() else {
        return Err(format!("the arguments of {tool} are wrong: missing field `{field}`"));
    };
    let content = open(file, shelves, at).await;
    let content = content.and_then(|content| numbered(file, &arguments, content));
    content.map_err(|why| format!("`{file}` cannot be read: {why}"))
}

type Content = Box<dyn Read + Send>;

async fn open(name: &str, shelves: Shelves<'_>, at: &Situation<'_>) -> Result<Content, String> {
    if name.starts_with("artifact://") {
        return artifact(name, shelves).await;
    }
    if let Some(path) = name.strip_prefix("skill://") {
        return of_skill(path, at);
    }
    let workspace = shelves.workspaces.workspace(shelves.key).map_err(|error| error.to_string())?;
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
    let root = Inside::default();
    let place = |path: &str| resolve(path, Meaning { base: &root, run: &root });
    // Skills are mounted for commands only; here they are read where they are staged.
    if let Ok(place) = place(path)
        && let Some(path) = place.as_str().strip_prefix("skills/")
    {
        return of_skill(path, at);
    }
    let opened = place(path)
        .map_err(|error| error.to_string())
        .and_then(|place| workspace.open_file(&place).map_err(|error| error.to_string()));
    // What a skill calls `inputs/` is a folder of the workspace's own.
    let input = path.strip_prefix("inputs/").map(|rest| format!("work/inputs/{rest}"));
    let opened = match (opened, input) {
        (Err(_), Some(input)) => place(&input)
            .map_err(|error| error.to_string())
            .and_then(|place| workspace.open_file(&place).map_err(|error| error.to_string())),
        (opened, _) => opened,
    };
    opened.map(|file| Box::new(file) as Content)
}

/// A file of this machine: of the agent's own folder, of a skill, or of a folder that may be read.
fn of_host(path: &str, host: &Host, at: &Situation<'_>) -> Result<Content, String> {
    let path = host.folder.join(path);
    let skills = at.snapshot.entries.iter().filter(|entry| at.usable(entry.name.as_str()).is_ok());
    for entry in skills {
        let Place::Folder { file, .. } = &entry.place else { continue };
        let inside = file.parent().and_then(|folder| path.strip_prefix(folder).ok());
        if let Some(inside) = inside.and_then(Path::to_str) {
            return of_skill(&format!("{}/{inside}", entry.name.as_str()), at);
        }
    }
    let folders: Vec<PathBuf> = [&host.folder].into_iter().chain(&host.readable).cloned().collect();
    let elsewhere =
        "it is neither in your folder nor in one that may be read; `exec.host_inputs` has those";
    let opened = match open_below(&folders, &path) {
        // Whether something is there is told of these folders only.
        Err(_) if !folders.iter().any(|folder| is_in(folder, &path)) => None,
        opened => opened.map_err(|error| error.to_string())?,
    };
    let Some(file) = opened.map(File::from) else { return Err(elsewhere.to_owned()) };
    if !file.metadata().is_ok_and(|it| it.is_file()) {
        return Err("it is not a regular file".to_owned());
    }
    Ok(Box::new(file))
}

/// Whether a path names something in a folder, whatever links there are.
fn is_in(folder: &Path, path: &Path) -> bool {
    path.starts_with(folder) && !path.components().any(|part| part == Component::ParentDir)
}

async fn artifact(name: &str, shelves: Shelves<'_>) -> Result<Content, String> {
    let reference = ArtifactRef::parse(name).map_err(|error| error.to_string())?;
    let SessionKey { app, user, session, .. } = shelves.key;
    let owner = Owner::new(app, user, session).map_err(|error| error.to_string())?;
    let loaded = shelves.artifacts.load(&reference.key(&owner), reference.version()).await;
    let loaded = loaded.map_err(|error| error.to_string())?;
    let mut content = Vec::new();
    let mut limited = loaded.content.take(MAX_FILE + 1);
    limited.read_to_end(&mut content).await.map_err(|error| error.to_string())?;
    Ok(Box::new(std::io::Cursor::new(content)))
}

/// A file of a skill, of the version that was loaded if one was.
fn of_skill(path: &str, at: &Situation<'_>) -> Result<Content, String> {
    let (name, inside) = path.split_once('/').unwrap_or((path, "SKILL.md"));
    let entry = at.usable(name)?;
    let folder = at.tree(entry)?.folder;
    let tree = metier_skill::files::list(&folder).map_err(|error| error.to_string())?;
    // Only what is listed belongs to the skill; links that lead elsewhere are not listed.
    if tree.find(inside).is_none() {
        return Err(format!("`{name}` has no such file"));
    }
    let file = File::open(folder.join(inside)).map_err(|error| error.to_string())?;
    Ok(Box::new(file))
}

/// The lines that were asked for, each with its number.
fn numbered(file: &str, arguments: &Arguments, content: Content) -> Result<Answer, String> {
    let first = arguments.start_line.unwrap_or(1).max(1);
    let most = arguments.num_lines.unwrap_or(DEFAULT_LINES).max(1);
    let mut reader = BufReader::new(content.take(MAX_FILE + 1));
    let mut bytes = 0;
    let (mut text, mut shown, mut total, mut is_full) = (String::new(), 0, 0, false);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(length) => (bytes, total) = (bytes + length as u64, total + 1),
            Err(error) => return Err(error.to_string()),
        }
        if bytes > MAX_FILE {
            return Err("it has more than 64 MiB; use a command to look into it".to_owned());
        }
        if line.contains(&0) {
            return Err("it is not a text; use a command to look into it".to_owned());
        }
        if total < first || shown == most || is_full {
            continue;
        }
        let words = String::from_utf8_lossy(&line);
        let words = words.trim_end_matches(['\n', '\r']);
        let kept = &words[..words.floor_char_boundary(MAX_BYTES)];
        let rest = if kept.len() < words.len() { LONG_LINE } else { "" };
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
    let part =
        Part { file_name: file, start_line: first, lines: shown, total_lines: total, truncated };
    let structured = serde_json::to_value(part).unwrap_or_default();
    Ok(Answer { structured, ..Answer::text(text) })
}
