//! A turn from its beginning to its end, the same for `run` and `chat`.

use metier_agent::agent::Watcher;
use metier_agent::{Agent, Dispatch, LoadRequest, Outcome, Task, prompt, stop};
use metier_config::ConfigWord;
use metier_session::{Opening, SessionKey};
use metier_workspace::WorkspaceKey;
use serde::Serialize;

use super::attach::{self, Attached};
use super::message::{Called, Message};
use crate::args::AgentArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::style;
use crate::sessions;

/// What somebody asks for.
pub(in crate::commands) struct Ask<'a> {
    /// The words, and the skills they name.
    pub message: Message,
    /// Files that belong to them.
    pub files: &'a [Attached],
}

/// Has an agent do it in a session, which is begun if need be; Ctrl-C stops it.
///
/// # Errors
///
/// When the session or the model cannot be used.
pub(in crate::commands) async fn conduct(
    agent: &Agent,
    key: &SessionKey,
    ask: Ask<'_>,
    watcher: Watcher,
) -> Result<(Outcome, WorkspaceKey), Failure> {
    let workspaces = &agent.runner.workspaces;
    let place = sessions::begin(&*agent.sessions, workspaces, key).await?;
    let workspace = workspaces.workspace(&place).map_err(|error| {
        Failure::new(format!("the workspace of `{}` cannot be used: {error}", key.session()))
            .hint("name another session, or set METIER_HOME to a folder that you can write to")
            .unless_full(&error)
    })?;
    let attachments = attach::upload(ask.files, &workspace)?;
    let (stopper, stop) = stop();
    // Ctrl-C ends the turn; the session keeps what happened.
    let listener = interrupt::listen(move || stopper.stop());
    let outcome = match dispatched(agent, &ask.message) {
        Some(dispatch) => {
            let dispatch = Dispatch { attachments, ..dispatch };
            agent.dispatch(key, dispatch, watcher, &stop).await
        }
        None => {
            let Message { text, loads, .. } = ask.message;
            let load = |skill| LoadRequest { skill, ..LoadRequest::default() };
            let loads = loads.into_iter().map(load).collect();
            let task = Task { text, attachments, loads };
            agent.run(key, task, watcher, &stop).await
        }
    };
    drop(listener);
    Ok((outcome?, place))
}

/// What is for a tool, because the skill that was called says so.
fn dispatched(agent: &Agent, message: &Message) -> Option<Dispatch> {
    let Called { skill, command, rest } = message.called.as_ref()?;
    let snapshot = agent.library.snapshot();
    let dispatch = snapshot.find(skill)?.manifest.invocation.dispatch.as_ref()?;
    Some(Dispatch {
        text: format!("/{command} {rest}").trim_end().to_owned(),
        command: command.clone(),
        skill: skill.clone(),
        tool: dispatch.tool.clone(),
        arguments: rest.clone(),
        ..Dispatch::default()
    })
}

/// Says which flags come too late: requests of a session keep the beginning that its first one had.
///
/// # Errors
///
/// When the session cannot be read.
pub(in crate::commands) async fn tell_what_stays(
    context: &Context,
    arguments: &AgentArgs,
    agent: &Agent,
    key: &SessionKey,
) -> Result<(), Failure> {
    let Some(found) = agent.sessions.get(key).await? else { return Ok(()) };
    if let Some(opening) = agent.sessions.opening(&found.at).await? {
        compare(context, arguments, &opening);
        let began_on_host = prompt::is_on_host(&opening);
        if began_on_host != agent.host.is_some() {
            let where_then = if began_on_host { "on the host" } else { "confined" };
            let text = format!(
                "the model of this session was told that commands run {where_then}, which they do not any more; \
                 a new session knows better"
            );
            context.output.note(style::WARN, "note: ", &text);
        }
    }
    Ok(())
}

fn compare(context: &Context, arguments: &AgentArgs, opening: &Opening) {
    let kept = [
        ("--tools", arguments.tools.map(ConfigWord::word), word_of(prompt::tool_set_of(opening))),
        (
            "--placement",
            arguments.placement.map(ConfigWord::word),
            word_of(prompt::layout_of(opening).placement),
        ),
    ];
    for (flag, wanted, kept) in kept {
        let Some(wanted) = wanted.filter(|wanted| *wanted != kept) else { continue };
        let text = format!(
            "the session began with `{flag} {kept}` and keeps it; a new one can have `{wanted}`"
        );
        context.output.note(style::WARN, "note: ", &text);
    }
}

/// What a flag calls a choice.
fn word_of(choice: impl Serialize) -> String {
    let word = serde_json::to_value(choice).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}
