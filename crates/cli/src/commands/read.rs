//! `metier read`.

use std::fs::File;
use std::io::{self, Read};
use std::ops::RangeInclusive;

use metier_skill::files;
use metier_workspace::artifact::{ArtifactRef, ArtifactStore};
use metier_workspace::path::SharedPlace;
use tokio::io::AsyncReadExt;

use super::shown::Shown;
use crate::args::ReadArgs;
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::wait::block_on;
use metier_workspace::artifact::Owner;

/// Bytes that are written at a time.
const CHUNK: usize = 64 << 10;

/// Prints what a reference leads to.
pub(super) fn run(arguments: &ReadArgs, context: &Context) -> Result<u8, Failure> {
    let lines = arguments.lines.as_deref().map(range).transpose()?;
    let reference = &arguments.reference;
    let unread = |error| {
        Failure::new(format!("cannot read `{reference}`: {error}")).hint("make it readable for you")
    };
    if let Some(path) = reference.strip_prefix("workspace://") {
        return print(open_inside(arguments, context, path)?, lines).map_err(unread);
    }
    if let Some(path) = reference.strip_prefix("skill://") {
        return print(open_of_skill(arguments, context, path)?, lines).map_err(unread);
    }
    if reference.starts_with("artifact://") {
        return print(io::Cursor::new(load(arguments, context)?), lines).map_err(unread);
    }
    Err(Failure::usage(format!("`{reference}` is not a reference"))
        .hint("write workspace://PATH, artifact://NAME or skill://NAME/PATH"))
}

fn open_inside(arguments: &ReadArgs, context: &Context, path: &str) -> Result<File, Failure> {
    let key = context.session(arguments.session.as_deref())?;
    let workspace = context.app.workspaces()?.workspace(&key);
    let workspace = workspace.map_err(|error| context.state_failure(error))?;
    let place = SharedPlace::resolve(path)
        .map_err(|error| Failure::usage(format!("`{path}` cannot be read: {error}")))?;
    workspace.open_file(&place).map_err(|error| {
        let session = &key.session;
        Failure::new(format!("`{path}` of session `{session}` cannot be read: {error}"))
            .hint("name another session with --session")
    })
}

fn open_of_skill(arguments: &ReadArgs, context: &Context, path: &str) -> Result<File, Failure> {
    let (name, inside) = path.split_once('/').unwrap_or((path, "SKILL.md"));
    let snapshot = context.library(&arguments.sources)?;
    let folder = context.folder_of(context.find(&snapshot, name)?)?;
    let tree = files::list(&folder)?;
    // Only what is listed belongs to the skill; links that lead elsewhere are not listed.
    if !tree.entries.iter().any(|entry| entry.path == inside) {
        return Err(Failure::new(format!("`{name}` has no file `{inside}`"))
            .hint(format!("`metier skills info {name}` lists its files")));
    }
    let file = folder.join(inside);
    File::open(&file).map_err(|error| {
        Failure::new(format!("cannot read `{}`: {error}", file.display()))
            .hint("make it readable for you")
    })
}

fn load(arguments: &ReadArgs, context: &Context) -> Result<Vec<u8>, Failure> {
    let reference = ArtifactRef::parse(&arguments.reference).map_err(Failure::from)?;
    // Artifacts outlive the workspace of their session.
    let named = arguments.session.as_deref();
    let named = named.map(|session| context.app.bare_workspace_key(session));
    let key = named.map_or_else(|| context.session(None), Ok)?;
    let artifact = reference.key(&Owner::of(&key)?);
    let store = context.app.artifacts()?;
    block_on(async {
        let loaded = store.load(&artifact, reference.version()).await;
        let mut loaded = loaded?;
        let mut content = Vec::new();
        loaded.content.read_to_end(&mut content).await.map_err(|error| {
            Failure::new(format!("cannot read `{}`: {error}", arguments.reference))
                .hint("check the state directory and its disk")
        })?;
        Ok(content)
    })
}

/// `FROM-TO`, `FROM-` or `LINE`, from 1.
fn range(text: &str) -> Result<RangeInclusive<usize>, Failure> {
    let refuse = || {
        Failure::usage(format!("`--lines {text}` is not a range"))
            .hint("write FROM-TO, such as 1-20")
    };
    let number = |text: &str| text.parse::<usize>().ok().filter(|&it| it > 0).ok_or_else(refuse);
    match text.split_once('-') {
        Some((first, "")) => Ok(number(first)?..=usize::MAX),
        Some((first, last)) => {
            let lines = number(first)?..=number(last)?;
            if lines.is_empty() { Err(refuse()) } else { Ok(lines) }
        }
        None => Ok(number(text)?..=number(text)?),
    }
}

fn print(mut content: impl Read, lines: Option<RangeInclusive<usize>>) -> io::Result<u8> {
    let mut shown = Shown::new(lines);
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = content.read(&mut chunk)?;
        if count == 0 {
            shown.end();
            return Ok(OK);
        }
        if !shown.take(&chunk[..count]) {
            return Ok(OK);
        }
    }
}
