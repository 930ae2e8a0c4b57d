//! `skill_run`, and `exec` of the set with files: a command in the sandbox.
//!
//! A call is prepared in the order of calls, when it is known what is loaded, and runs beside others.

use std::collections::BTreeSet;

use metier_sandbox::Cancel;
use metier_skill::library::Entry;
use metier_workspace::executor::{Live, Network};
use metier_workspace::grant::Asked;
use metier_workspace::request::{OutputSpec, RunRequest};
use metier_workspace::{RunOrder, RunSettings, Runner, SessionKey, Tree};
use serde::Deserialize;
use serde_json::Value;

use crate::conversation::digest_of;
use crate::shelf::Shelf;
use crate::tools::answer::Answer;
use crate::tools::knowledge::Situation;
use crate::turn::last_turn;

/// How runs are made.
#[derive(Clone, Debug)]
pub struct Runs {
    /// What runs commands.
    pub runner: Runner,
    /// Whose workspace they are run in.
    pub key: SessionKey,
    /// Whether a skill must have been loaded before its commands are run.
    pub load_first: bool,
}

/// A run that is ready.
#[derive(Debug)]
pub struct Prepared {
    order: RunOrder,
    digests: Vec<(String, String)>,
    warnings: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExecArguments {
    command: String,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    timeout: Option<f64>,
}

impl Runs {
    /// Prepares a call of `skill_run`.
    ///
    /// # Errors
    ///
    /// Why it cannot be run, in words for the model.
    pub fn prepare(&self, arguments: &Value, at: &Situation<'_>) -> Result<Prepared, String> {
        let request: RunRequest = read(arguments, "skill_run")?;
        let entry = at.usable(&request.skill)?;
        if self.load_first && !is_loaded(at, &request.skill) {
            return Err(format!(
                "`{0}` is not loaded; call skill_load for `{0}` and follow its instructions",
                request.skill
            ));
        }
        let mut names = BTreeSet::from([request.skill.clone()]);
        names.extend(request.inputs.iter().filter_map(|input| skill_of(&input.from)));
        let trees = names.iter().map(|name| tree(at, at.usable(name)?));
        let trees = trees.collect::<Result<_, _>>()?;
        let settings = at.library.run_settings(entry).map_err(|error| error.to_string())?;
        Ok(self.order(request, trees, settings))
    }

    /// Prepares a call of `exec`, with every skill there.
    ///
    /// # Errors
    ///
    /// Why it cannot be run, in words for the model.
    pub fn prepare_exec(&self, arguments: &Value, at: &Situation<'_>) -> Result<Prepared, String> {
        let ExecArguments { command, cwd, timeout } = read(arguments, "exec")?;
        let (mut trees, mut warnings, mut first) = (Vec::new(), Vec::new(), None);
        for entry in at.snapshot.entries.iter().filter(|entry| entry.is_model_visible()) {
            // A skill that cannot be used must not stand in the way of all others.
            let ready = tree(at, entry).and_then(|tree| {
                let settings = at.library.run_settings(entry).map_err(|error| error.to_string())?;
                Ok((tree, settings))
            });
            match ready {
                Ok((tree, settings)) => {
                    trees.push(tree);
                    first = first.or(Some((entry, settings)));
                }
                Err(why) => warnings.push(why),
            }
        }
        let Some((first, settings)) = first else {
            let why = format!("there are no skills to run commands for; {}", warnings.join("; "));
            return Err(why.trim_end_matches("; ").to_owned());
        };
        let outputs = OutputSpec { globs: vec!["out/**".to_owned()], ..OutputSpec::default() };
        let request = RunRequest {
            skill: first.name.as_str().to_owned(),
            command,
            cwd: Some(cwd.unwrap_or_else(|| "$WORKSPACE_DIR".to_owned())),
            timeout,
            outputs: Some(outputs),
            ..RunRequest::default()
        };
        Ok(Prepared { warnings, ..self.order(request, trees, granted_to_none(&settings)) })
    }

    fn order(&self, request: RunRequest, trees: Vec<Tree>, settings: RunSettings) -> Prepared {
        let digests = trees.iter().map(|tree| (tree.name.clone(), tree.digest.clone())).collect();
        let order = RunOrder { key: self.key.clone(), request, trees, settings };
        Prepared { order, digests, warnings: Vec::new() }
    }

    /// Runs what was prepared.
    pub async fn run(&self, prepared: Prepared, live: Live, cancel: Cancel) -> Answer {
        let Prepared { order, digests, warnings } = prepared;
        match self.runner.run(order, live, cancel).await {
            Ok(mut output) => {
                output.warnings.extend(warnings);
                // A command that fails is a result like any other.
                let mut answer = Answer::json(&output);
                answer.digests.extend(digests);
                answer
            }
            Err(error) => Answer::error(error.to_string()),
        }
    }
}

/// What holds for commands of no skill in particular: what somebody granted to one skill is not there
/// for all of them.
fn granted_to_none(settings: &RunSettings) -> RunSettings {
    RunSettings {
        network: Network::None,
        host_inputs: Vec::new(),
        variables: Vec::new(),
        asked: Asked::default(),
        ..*settings
    }
}

/// The tree of a skill: that which was loaded, as long as it is there, so that instructions and scripts
/// are of one version.
fn tree(at: &Situation<'_>, entry: &Entry) -> Result<Tree, String> {
    let name = entry.name.as_str();
    if let Some(digest) = digest_of(at.events, name)
        && Shelf::read(at.state, at.agent).has(name)
        && let Some(folder) = at.workspaces.staged(name, digest)
    {
        let digest = digest.to_owned();
        return Ok(Tree { name: name.to_owned(), folder, digest, entries: Vec::new() });
    }
    at.library.tree(entry).map_err(|error| error.to_string())
}

/// Whether a skill is loaded, or was in this turn.
fn is_loaded(at: &Situation<'_>, skill: &str) -> bool {
    Shelf::read(at.state, at.agent).has(skill)
        || last_turn(at.events)
            .iter()
            .any(|event| event.content.loaded().iter().any(|it| it.skill == skill))
}

/// The skill that a reference into one names.
fn skill_of(reference: &str) -> Option<String> {
    let path = reference.strip_prefix("skill://")?;
    Some(path.split_once('/').map_or(path, |(name, _)| name).to_owned())
}

/// Reads arguments, or says which field is wrong.
fn read<T: serde::de::DeserializeOwned>(arguments: &Value, tool: &str) -> Result<T, String> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { String::new() } else { format!(" at `{path}`") };
        format!("the arguments of {tool} are wrong{place}: {}", error.inner())
    })
}
