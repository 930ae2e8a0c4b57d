//! `metier run`: a task, the model and the skills for it, an answer.

use std::sync::Arc;
use std::time::Instant;

use metier_agent::agent::Watcher;
use metier_agent::{Ending, Progress as Step, Task, stop};

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
    let progress = Arc::new(Progress::begin(context, &agent.model_name));
    let watcher = if arguments.json { as_json(context) } else { progress.watcher() };
    let result = block_on(async {
        let workspaces = &agent.runner.workspaces;
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

/// Prints every event as it is kept.
fn as_json(context: &Context) -> Watcher {
    let output = context.output;
    Arc::new(move |step| {
        if let Step::Appended(event) = step {
            output.json_line(event);
        }
    })
}
