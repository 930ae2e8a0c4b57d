//! `metier run`: a task, the model and the skills for it, an answer.

use std::sync::Arc;
use std::time::Instant;

use metier_agent::agent::Watcher;
use metier_agent::{Ending, Progress as Step, Task, prompt, stop};
use metier_session::Opening;
use serde::Serialize;

use super::turn::progress::Progress;
use super::turn::report::{self, Done};
use super::turn::{attach, stop_on_interrupt};
use crate::args::RunArgs;
use crate::context::Context;
use crate::failure::{FAILED, Failure, INTERRUPTED, OK};
use crate::library::Skills;
use crate::output::style;
use crate::runs::{PATIENCE, block_on, new_session};
use crate::sessions::{self, session_key};

/// Does a task.
pub(super) fn run(arguments: &RunArgs, context: &Context) -> Result<u8, Failure> {
    let session = arguments.agent.session.clone().unwrap_or_else(new_session);
    let key = session_key(&session)?;
    let files = attach::read(&arguments.files, context)?;
    let skills = Arc::new(Skills::find(context, &arguments.agent.sources)?);
    let agent = context.agent(&arguments.agent, Arc::clone(&skills))?;
    // What runs left behind whose metier was killed.
    metier_sandbox::remove_leftovers();
    let started = Instant::now();
    let progress = Arc::new(Progress::begin(context, &agent.model_name, arguments.agent.details));
    let watcher = if arguments.json { as_json(context) } else { progress.watcher() };
    let result = block_on(async {
        let workspaces = &agent.runner.workspaces;
        if let Some(found) = agent.sessions.get(&key).await?
            && let Some(opening) = agent.sessions.opening(&found.at).await?
        {
            tell_what_stays(context, arguments, &opening);
        }
        let place = sessions::begin(&*agent.sessions, workspaces, &key).await?;
        let attachments = attach::upload(&files, &workspaces.workspace(&place)?)?;
        let task = Task { text: arguments.task.clone(), attachments, loads: Vec::new() };
        let (stopper, stop) = stop();
        let interrupt = stop_on_interrupt(stopper);
        let outcome = agent.run(&key, task, watcher, &stop).await;
        interrupt.abort();
        Ok((outcome?, place))
    });
    progress.end();
    skills.save();
    let (outcome, place) = result.inspect_err(|_| {
        if !arguments.json {
            context.output.note(style::DIM, "session ", &session);
        }
    })?;
    if !arguments.json {
        if !progress.is_live() {
            context.output.answer(&outcome.text);
        }
        // What there is to say does not depend on it.
        let workspace = agent.runner.workspaces.workspace(&place).ok();
        let done = Done {
            session: &session,
            folder: workspace.as_ref().map(metier_workspace::Workspace::root),
            model: &agent.model_name,
            took: started.elapsed(),
        };
        report::print(context, &done, &outcome);
    }
    // The task is over and told; `metier gc` says what is wrong with workspaces.
    let workspaces = &agent.runner.workspaces;
    let _removed = workspaces.remove_unused_daily(context.workspace_ttl(), PATIENCE);
    Ok(match outcome.ending {
        Ending::Answered => OK,
        Ending::Stopped => INTERRUPTED,
        _ => FAILED,
    })
}

/// Says which flags come too late: requests of a session keep the beginning that its first one had.
fn tell_what_stays(context: &Context, arguments: &RunArgs, opening: &Opening) {
    let kept = [
        ("--tools", &arguments.agent.tools, word_of(prompt::tool_set_of(opening))),
        ("--placement", &arguments.agent.placement, word_of(prompt::layout_of(opening).placement)),
    ];
    for (flag, wanted, kept) in kept {
        let Some(wanted) = wanted.as_ref().filter(|wanted| **wanted != kept) else { continue };
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

/// Prints every event as it is kept.
fn as_json(context: &Context) -> Watcher {
    let output = context.output;
    Arc::new(move |step| {
        if let Step::Appended(event) = step {
            output.json_line(event);
        }
    })
}
