//! `metier mcp`.

mod servers;

use std::sync::Arc;

use metier_agent::AgentSettings;
use metier_agent::visit::{Visit, Visits};
use metier_serve::mcp::{Server, stdio};
use metier_workspace::Runner;

use crate::args::{McpArgs, McpCommand, ServeArgs};
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::library::Skills;
use crate::runs::{block_on, key_of, new_session};

/// Serves skills, or does what belongs to it.
pub(super) fn run(arguments: &McpArgs, context: &Context) -> Result<u8, Failure> {
    match &arguments.command {
        Some(McpCommand::Servers { json }) => Ok(servers::list(context, *json)),
        None => serve(&arguments.serve, context),
    }
}

fn serve(arguments: &ServeArgs, context: &Context) -> Result<u8, Failure> {
    let skills = Arc::new(Skills::find(context, &arguments.sources)?);
    let key = match &arguments.session {
        Some(session) => context.workspace_key(session)?,
        None => key_of(&new_session()),
    };
    let visits = visits(arguments, context, skills)?;
    let visit = Arc::new(Visit::new(Arc::new(visits), key));
    block_on(async { Ok(stdio::serve(Server::new(visit)).await?) })?;
    Ok(OK)
}

/// What all who are served share.
fn visits(
    arguments: &ServeArgs,
    context: &Context,
    library: Arc<Skills>,
) -> Result<Visits, Failure> {
    let usual = AgentSettings::default().prompt.layout.max_body_tokens;
    Ok(Visits {
        agent: arguments.sources.agent.clone(),
        library,
        sessions: None,
        runner: Runner {
            workspaces: context.workspaces()?,
            artifacts: Arc::new(context.artifacts()?),
            executor: context.model_executor(arguments.executor)?,
        },
        host: None,
        restriction: context.restriction(),
        load_before_run: context.settings.switch("skills.load_before_run"),
        max_body_tokens: context.settings.count("skills.max_body_tokens").unwrap_or(usual),
    })
}
