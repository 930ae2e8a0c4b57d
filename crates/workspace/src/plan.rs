//! What a run will do: everything that can be checked is checked before anything happens.

use std::sync::Arc;
use std::time::Duration;

use crate::artifact::ArtifactName;
use crate::collect::Patterns;
use crate::encode::file_name;
use crate::environment::{check_called, check_configured};
use crate::order::{NO_SKILL, RunError, RunSettings, TimeoutError};
use crate::path::{Inside, Meaning, resolve};
use crate::request::{OutputSpec, RunRequest};

/// What is collected of a run that names nothing.
const EVERYTHING: &str = "out/**";

/// A request that has been checked.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The id of the run, which names its folder.
    pub(crate) id: String,
    /// The folder in which the run may write.
    pub(crate) run: Inside,
    pub(crate) directory: Inside,
    pub(crate) timeout: Duration,
    pub(crate) spec: OutputSpec,
    /// The globs of the spec, or everything in `out` if it has none.
    pub(crate) patterns: Arc<Patterns>,
}

impl Plan {
    /// Checks a request.
    pub(crate) fn new(request: &RunRequest, settings: &RunSettings) -> Result<Self, RunError> {
        if request.command.trim().is_empty() {
            return Err(RunError::Command("it is empty"));
        }
        if request.command.contains('\0') {
            return Err(RunError::Command("it has a zero byte"));
        }
        check_configured(&settings.variables).map_err(RunError::Configured)?;
        check_called(&request.env, &settings.variables).map_err(RunError::Variable)?;
        let timeout = timeout(request, settings)?;
        let id = uuid::Uuid::now_v7().simple().to_string();
        let run = Inside::known(format!("runs/{id}/files"));
        let base = match request.skill.as_str() {
            NO_SKILL => Inside::default(),
            skill => Inside::known(format!("skills/{}", file_name(skill))),
        };
        let meaning = Meaning { base: &base, run: &run };
        let directory = resolve(request.cwd.as_deref().unwrap_or_default(), meaning)
            .map_err(RunError::Directory)?;
        let spec = output_spec(request);
        check_names(request, &spec)?;
        let everything = [EVERYTHING.to_owned()];
        let globs = if spec.globs.is_empty() { &everything[..] } else { &spec.globs };
        let patterns = Patterns::parse(globs, &run).map_err(RunError::Pattern)?;
        Ok(Self { id, run, directory, timeout, spec, patterns: Arc::new(patterns) })
    }
}

/// How long the run may take.
fn timeout(request: &RunRequest, settings: &RunSettings) -> Result<Duration, RunError> {
    let timeout = match request.timeout {
        None => settings.default_timeout,
        Some(seconds) => Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|timeout| !timeout.is_zero())
            .ok_or_else(|| RunError::Timeout(TimeoutError::NotSeconds(seconds)))?,
    };
    if timeout > settings.max_timeout {
        let limit = settings.max_timeout.as_secs();
        return Err(RunError::Timeout(TimeoutError::TooLong { limit }));
    }
    Ok(timeout)
}

/// Whether names of artifacts can begin as they should.
fn check_names(request: &RunRequest, spec: &OutputSpec) -> Result<(), RunError> {
    let field = match request.outputs {
        Some(_) => "outputs.name_template",
        None => "artifact_prefix",
    };
    // What follows is the place of a file, whose first folder stands for all of it.
    let example = format!("{}out", spec.name_template);
    let parsed = ArtifactName::parse(&example);
    parsed.map(drop).map_err(|source| RunError::Artifact { field, source })
}

/// What to collect, whichever way it was said.
fn output_spec(request: &RunRequest) -> OutputSpec {
    let mut spec = request.outputs.clone().unwrap_or_default();
    if request.outputs.is_none() {
        spec.inline = true;
        spec.save = request.save_as_artifacts;
        spec.name_template = request.artifact_prefix.clone().unwrap_or_default();
    }
    spec.globs.extend(request.output_files.iter().cloned());
    spec
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Why a request is refused, if it is.
    fn refusal(mut request: Value) -> String {
        request["skill"] = json!("demo");
        request["command"] = json!("true");
        let request: RunRequest = serde_json::from_value(request).unwrap();
        match Plan::new(&request, &RunSettings::default()) {
            Ok(_) => "none".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn beginnings_that_no_artifact_can_have_are_refused_before_the_run() {
        let template = |text: &str| {
            refusal(json!({"outputs": {"globs": ["out/*"], "save": true, "name_template": text}}))
        };
        insta::assert_snapshot!(template("../"), @"`outputs.name_template`: `../out` cannot name an artifact: it has a part `.` or `..`");
        insta::assert_snapshot!(template("/srv/"), @"`outputs.name_template`: `/srv/out` cannot name an artifact: it begins with a slash");
        insta::assert_snapshot!(template("a\\b"), @r"`outputs.name_template`: `a\\bout` cannot name an artifact: it has a backslash; use slashes");
        insta::assert_snapshot!(template("a\u{7}"), @r"`outputs.name_template`: `a\u{7}out` cannot name an artifact: it has a control character");
        insta::assert_snapshot!(template("user:/"), @"`outputs.name_template`: `user:/out` cannot name an artifact: it begins with a slash");
        let prefix = refusal(json!({"artifact_prefix": "a//", "save_as_artifacts": true}));
        insta::assert_snapshot!(prefix, @"`artifact_prefix`: `a//out` cannot name an artifact: it has an empty part or ends in a slash");
    }

    #[test]
    fn beginnings_that_artifacts_can_have_are_taken() {
        for text in ["", "user:", "monthly/", "user:monthly/report-", "."] {
            assert_eq!(refusal(json!({"outputs": {"name_template": text}})), "none", "{text}");
            assert_eq!(refusal(json!({"artifact_prefix": text})), "none", "{text}");
        }
    }
}
