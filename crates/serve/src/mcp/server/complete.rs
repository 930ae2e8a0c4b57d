//! How what a person types could go on: names of skills, paths in them, artifacts, and choices of prompts.

use std::sync::Arc;

use metier_agent::visit::Visit;
use metier_skill::library::Entry;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::{prompts, resources};

/// Completes a value.
///
/// # Errors
///
/// When there is no such prompt, template or argument.
pub(super) async fn complete(
    visit: &Arc<Visit>,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let (argument, typed) = (request.argument.name.as_str(), request.argument.value.as_str());
    let skill = request.context.as_ref().and_then(|it| it.get_argument("skill"));
    let values = match &request.r#ref {
        Reference::Prompt(prompt) => of_prompt(visit, &prompt.name, argument).await?,
        Reference::Resource(template) => match (template.uri.as_str(), argument) {
            (resources::SKILLS, "skill") => {
                let skills = visit.snapshot();
                let visible = skills.entries.iter().filter(|it| it.is_model_visible());
                visible.map(|it: &Entry| it.name.to_string()).collect()
            }
            (resources::SKILLS, "path") => match skill {
                Some(skill) => resources::paths(visit, skill).await,
                None => Vec::new(),
            },
            (resources::ARTIFACTS, "name") => resources::artifact_names(visit).await,
            (other, argument) => {
                let message = format!("the template `{other}` is not here, or has no `{argument}`");
                return Err(ErrorData::invalid_params(message, None));
            }
        },
        _ => return Err(ErrorData::invalid_params("there is nothing to complete", None)),
    };
    Ok(CompleteResult::new(fitting(values, typed)))
}

/// Values of an argument of a prompt: its choices, else artifacts, which people refer to.
async fn of_prompt(
    visit: &Arc<Visit>,
    prompt: &str,
    argument: &str,
) -> Result<Vec<String>, ErrorData> {
    let arguments = prompts::arguments(&visit.snapshot(), prompt)?;
    let argument = arguments.into_iter().find(|it| it.name == argument);
    let argument = argument.ok_or_else(|| {
        ErrorData::invalid_params(format!("the prompt `{prompt}` has no such argument"), None)
    })?;
    if !argument.choices.is_empty() {
        return Ok(argument.choices);
    }
    let artifacts = resources::artifact_names(visit).await;
    Ok(artifacts.into_iter().map(|name| format!("artifact://{name}")).collect())
}

/// The values that begin as was typed, and then those that contain it; as many as the protocol allows.
fn fitting(values: Vec<String>, typed: &str) -> CompletionInfo {
    let typed = typed.to_lowercase();
    let mut fitting: Vec<(bool, String)> = values
        .into_iter()
        .filter_map(|value| {
            let lower = value.to_lowercase();
            lower.contains(&typed).then(|| (!lower.starts_with(&typed), value))
        })
        .collect();
    fitting.sort();
    let total = u32::try_from(fitting.len()).ok();
    let has_more = fitting.len() > CompletionInfo::MAX_VALUES;
    let mut info = CompletionInfo::default();
    info.values =
        fitting.into_iter().take(CompletionInfo::MAX_VALUES).map(|(_, value)| value).collect();
    (info.total, info.has_more) = (total, Some(has_more));
    info
}
