//! What `metier exec` is asked for, from flags or from JSON.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use metier_approval::quote;
use metier_workspace::RunRequest;
use metier_workspace::request::{InputSpec, OutputSpec};

use crate::args::ExecArgs;
use crate::context::Context;
use crate::failure::Failure;

/// Largest request, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// What a request looks like.
const SHAPE: &str = r#"write {"skill": "NAME", "command": "…"}, and `cwd`, `env`, `stdin`, `timeout`, `inputs`, `outputs` as needed"#;

/// The request, and the files of this machine that a person named for it.
pub(super) fn read(
    arguments: &ExecArgs,
    context: &Context,
) -> Result<(RunRequest, Vec<PathBuf>), Failure> {
    if let Some(file) = &arguments.request {
        return Ok((from_json(file)?, Vec::new()));
    }
    let mut files = Vec::new();
    let mut inputs = Vec::new();
    for text in &arguments.inputs {
        inputs.push(input(text, context, &mut files)?);
    }
    let outputs = (!arguments.outputs.is_empty() || arguments.save).then(|| OutputSpec {
        globs: match arguments.outputs.as_slice() {
            [] => vec!["out/**".to_owned()],
            globs => globs.to_vec(),
        },
        inline: arguments.json,
        save: arguments.save,
        ..OutputSpec::default()
    });
    let request = RunRequest {
        skill: arguments.skill.clone().unwrap_or_default(),
        command: command(&arguments.command),
        cwd: arguments.cwd.clone(),
        env: variables(&arguments.env)?,
        timeout: arguments.timeout,
        inputs,
        outputs,
        ..RunRequest::default()
    };
    Ok((request, files))
}

fn from_json(file: &Path) -> Result<RunRequest, Failure> {
    let from_stdin = file == Path::new("-");
    let name = if from_stdin { "standard input".into() } else { file.display().to_string() };
    let mut text = Vec::new();
    let read = if from_stdin {
        io::stdin().take(MAX_BYTES + 1).read_to_end(&mut text)
    } else {
        File::open(file).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut text))
    };
    read.map_err(|error| {
        Failure::usage(format!("{name} cannot be read: {error}")).hint("check its path")
    })?;
    if text.len() as u64 > MAX_BYTES {
        let most = MAX_BYTES >> 20;
        return Err(Failure::usage(format!("{name} has more than {most} MiB"))
            .hint("name large files as `inputs`"));
    }
    let mut reader = serde_json::Deserializer::from_slice(&text);
    let request: RunRequest = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let (place, inner) = (error.path().to_string(), error.inner());
        if matches!(place.as_str(), "." | "?") {
            return Failure::usage(format!("{name} is not a request: {inner}")).hint(SHAPE);
        }
        Failure::usage(format!("{name} is not a request: `{place}`: {inner}"))
    })?;
    reader.end().map_err(|error| {
        Failure::usage(format!("{name} has more than one value: {error}"))
            .hint("write one JSON object, and nothing behind it")
    })?;
    Ok(request)
}

/// One text is for the shell as it is; several words are quoted so that they stay what they are.
fn command(words: &[String]) -> String {
    match words {
        [text] => text.clone(),
        words => words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "),
    }
}

fn variables(pairs: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let pair = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Failure::usage(format!("`--env {text}` has no value")).hint("write NAME=VALUE")
        })?;
        Ok((name.to_owned(), value.to_owned()))
    };
    pairs.iter().map(pair).collect()
}

/// `FROM[=TO]`. A path of this machine is allowed because the person named it.
fn input(text: &str, context: &Context, files: &mut Vec<PathBuf>) -> Result<InputSpec, Failure> {
    let (from, to) = match text.split_once('=') {
        Some((from, to)) => (from, Some(to.to_owned())),
        None => (text, None),
    };
    if from.contains("://") {
        return Ok(InputSpec { from: from.to_owned(), to, ..InputSpec::default() });
    }
    let path = context.app.environment.expand(from, &context.app.environment.folder);
    let path = path.canonicalize().map_err(|error| {
        Failure::usage(format!("`{from}` cannot be read: {error}")).hint("check the path")
    })?;
    let name = path.to_str().ok_or_else(|| {
        Failure::usage(format!("the path of `{from}` is not text in UTF-8"))
            .hint("rename what is on the way to it")
    })?;
    let from = format!("host://{name}");
    files.push(path);
    Ok(InputSpec { from, to, ..InputSpec::default() })
}
