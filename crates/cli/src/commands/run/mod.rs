//! `metier run`: a task, the model and the skills for it, an answer.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use metier_agent::agent::Watcher;
use metier_agent::{Ending, Library, Progress as Step, stop};
use metier_app::sessions::{CLEANUP_LIMIT, new_session_id};
use metier_app::turn::message::{command_in, first_word};
use metier_app::turn::names::is_order;
use metier_app::turn::{SkillCommands, TurnMessage, TurnRequest};
use metier_app::{AppError, SkillLibrary};

use super::turn::progress::Progress;
use super::turn::report::{self, Done, Went};
use crate::args::RunArgs;
use crate::context::Context;
use crate::failure::{FAILED, Failure, INTERRUPTED, OK};
use crate::interrupt;
use crate::output::style;
use crate::prompter::TerminalPrompter;
use crate::wait::block_on;

/// Does a task.
pub(super) fn run(arguments: &RunArgs, context: &Context) -> Result<u8, Failure> {
    if arguments.task.trim().is_empty() {
        return Err(Failure::usage("the task is empty").hint(
            "write it in quotes, as in `metier run \"make a chart of sales.csv\" sales.csv`",
        ));
    }
    let session = arguments.agent.session.clone().unwrap_or_else(new_session_id);
    let key = context.app.session_key(&session)?;
    let files = context.app.read_attachments(&arguments.files).map_err(AppError::from)?;
    let choices = arguments.agent.choices();
    let skills = block_on(async { Ok(SkillLibrary::open(&context.app, &choices.sources).await?) })?;
    let skills = Arc::new(skills);
    if !arguments.json {
        context.report(&skills.snapshot().problems);
    }
    let message = said(&arguments.task, &SkillCommands::of(&skills.snapshot()))?;
    let prompter = Arc::new(TerminalPrompter::new(context.output));
    let mut agent = context.app.agent(&choices, Arc::clone(&skills), prompter)?;
    // What runs left behind whose metier was killed.
    metier_sandbox::remove_leftovers();
    let started = Instant::now();
    let progress = Arc::new(Progress::begin(context, agent.model.name(), arguments.agent.details));
    agent.runner.executor = agent.runner.executor.telling(progress.teller());
    let watcher = if arguments.json { as_json(context, &progress) } else { progress.watcher() };
    let (stopper, stop) = stop();
    // Ctrl-C ends the turn; the session keeps what happened.
    let listener = interrupt::listen(move || stopper.stop());
    let result = block_on(async {
        context.app.report_kept_choices(&choices, &agent, &key).await?;
        let request = TurnRequest { message, files: &files };
        let outcome = context.app.turn(&agent, &key, request, (watcher, &stop)).await;
        if let Some(foreign) = &agent.foreign {
            foreign.servers.close().await;
        }
        Ok(outcome?)
    });
    drop(listener);
    progress.end();
    skills.save();
    let (outcome, place) = result.inspect_err(|_| {
        if !arguments.json {
            context.output.note(style::DIM, "session ", &session);
        }
    })?;
    let commanded = report::commanded(&outcome);
    let is_good = commanded.as_ref().is_none_or(|it| it.went == Went::Well);
    if arguments.json {
        report::why_without_answer(context, &outcome);
    } else {
        match &commanded {
            Some(command) => drop(command.tell(context)),
            None if progress.is_live() => {}
            None => context.output.answer(&outcome.text),
        }
        // What there is to say does not depend on it.
        let workspace = agent.runner.workspaces.workspace(&place).ok();
        let done = Done {
            session: &session,
            folder: workspace.as_ref().map(metier_workspace::Workspace::root),
            model: agent.model.name(),
            took: started.elapsed(),
        };
        report::print(context, &done, &outcome);
    }
    // The task is over and told; `metier gc` says what is wrong with workspaces.
    let workspaces = &agent.runner.workspaces;
    let _removed = workspaces.remove_unused_daily(context.app.workspace_ttl(), CLEANUP_LIMIT);
    Ok(match outcome.ending {
        Ending::Answered if is_good => OK,
        Ending::Stopped => INTERRUPTED,
        _ => FAILED,
    })
}

/// What a task says: `/NAME` calls a skill, as in a chat.
fn said(task: &str, names: &SkillCommands) -> Result<TurnMessage, Failure> {
    let Some((word, rest)) = command_in(task.trim()) else {
        return Ok(TurnMessage::of(task, names));
    };
    let (word, rest) = if word == "skill" { first_word(rest) } else { (word, rest) };
    if word.is_empty() {
        return Err(Failure::usage("`/skill` needs the name of a skill")
            .hint("`metier skills list` shows the skills"));
    }
    if let Some(message) = TurnMessage::calling(word, rest, names) {
        return Ok(message);
    }
    if Path::new("/").join(word).exists() {
        return Ok(TurnMessage::of(task, names));
    }
    if is_order(word) {
        return Err(Failure::usage(format!("`/{word}` is a command of `metier chat`"))
            .hint("start `metier chat`, and type it there"));
    }
    let failure = Failure::usage(format!("there is no skill that `/{word}` calls"));
    Err(match names.nearest_skill(word) {
        Some(nearest) => failure.hint(format!("did you mean `/{nearest}`?")),
        None => failure.hint("`metier skills list` shows the skills"),
    })
}

/// Prints every event as it is kept.
fn as_json(context: &Context, progress: &Arc<Progress>) -> Watcher {
    let (output, progress) = (context.output, Arc::clone(progress));
    Arc::new(move |step| {
        progress.wait(step);
        if let Step::Appended(event) = step {
            output.json_line(event);
        }
    })
}
