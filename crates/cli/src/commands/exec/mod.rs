//! `metier exec`.

mod bar;
mod live;
mod report;
mod request;

use metier_app::ops::exec::ExecRequest;
use metier_sandbox::Cancel;
use metier_workspace::{RunOutput, Workspace};
use serde::Serialize;

use self::live::Live;
use self::report::Place;
use crate::args::ExecArgs;
use crate::context::Context;
use crate::failure::{FAILED, FailedRun, Failure, INTERRUPTED, OK};
use crate::interrupt;
use crate::wait::block_on;

/// The exit code after a timeout, as `timeout` has it.
const TIMED_OUT: u8 = 124;
/// What a shell adds to the number of a signal.
const SIGNALLED: i32 = 128;

/// The answer with the session it was given in.
#[derive(Serialize)]
struct Answer<'a> {
    session: &'a str,
    #[serde(flatten)]
    output: &'a RunOutput,
}

/// Runs a command of a skill.
pub(super) fn run(arguments: &ExecArgs, context: &Context) -> Result<u8, Failure> {
    let prepared = block_on(async {
        let snapshot = context.app.library(&arguments.sources.selection()).await?;
        if !arguments.json {
            context.report(&snapshot.problems);
        }
        let (request, readable_files) = request::read(arguments, context)?;
        let (session, executor) = (arguments.session.clone(), arguments.executor);
        let exec = ExecRequest { request, readable_files, session, executor };
        Ok(context.app.prepare_exec(&snapshot, exec).await?)
    })?;
    let (entry, request) = (prepared.entry.clone(), &prepared.order.request);
    let state = context.app.environment.state();
    let failed = FailedRun { skill: entry.name.as_str(), entry_key: &entry.entry_key, state };
    let cancel = Cancel::new().map_err(|error| Failure::of_system(&error))?;
    let live = Live::begin(context, &format!("{}: {}", request.skill, request.command));
    let taker = if arguments.json { Box::new(|_, _: &[u8]| {}) as _ } else { live.taker() };
    let prepared = prepared.telling(live.teller());
    // Ctrl-C ends the command, and what it made so far is still collected.
    let stopping = cancel.clone();
    let listener = interrupt::listen(move || stopping.cancel());
    let result = block_on(async {
        prepared.run(taker, cancel.clone()).await.map_err(|error| {
            // Whatever it was that could not go on.
            if cancel.is_cancelled() { Failure::interrupted() } else { failed.failure(&error) }
        })
    });
    live.end();
    drop(listener);
    let finished = result?;
    let (session, output) = (&finished.session, &finished.output);
    if arguments.json {
        context.output.json_fields(&Answer { session, output });
    } else {
        // What there is to say does not depend on it.
        let workspace = finished.runner.workspaces.workspace(&finished.key).ok();
        let place = Place { session, folder: workspace.as_ref().map(Workspace::root) };
        report::print(context, &place, output);
    }
    context.app.finish_exec(&finished);
    Ok(exit_code(&finished.output))
}

fn exit_code(output: &RunOutput) -> u8 {
    if output.timed_out {
        return TIMED_OUT;
    }
    if output.cancelled {
        return INTERRUPTED;
    }
    let code = output.exit_code.or(output.signal.map(|signal| SIGNALLED + signal));
    match code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX) {
        // What was asked for was not all done.
        OK if output.incomplete => FAILED,
        code => code,
    }
}
