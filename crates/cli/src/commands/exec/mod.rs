//! `metier exec`.

mod bar;
mod live;
mod report;
mod request;

use metier_sandbox::Cancel;
use metier_workspace::{Manner, RunOrder, RunOutput, Runner, Workspace};
use serde::Serialize;

use self::live::Live;
use self::report::Place;
use crate::args::ExecArgs;
use crate::context::Context;
use crate::failure::{FAILED, FailedRun, Failure, INTERRUPTED, OK};
use crate::interrupt;
use crate::runs::{PATIENCE, block_on, key_of, new_session};

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
    let snapshot = context.library(&arguments.sources)?;
    if !arguments.json {
        context.report(&snapshot.problems);
    }
    let (request, named_files) = request::read(arguments, context)?;
    let entry = context.find(&snapshot, &request.skill)?;
    let mut settings = context.run_settings(entry)?;
    settings.host_inputs.extend(named_files);
    // What is wrong with the name of an input's skill, the run says.
    let skills = request.skills().into_iter().filter(|name| snapshot.find(name).is_some());
    let trees = context.trees(&snapshot, &skills.collect::<Vec<_>>())?;
    let runner = context.runner(arguments.executor)?;
    // What runs left behind whose metier was killed.
    metier_sandbox::remove_leftovers();
    let (session, key) = match &arguments.session {
        Some(session) => (session.clone(), context.workspace_key(session)?),
        None => {
            let session = new_session();
            let key = key_of(&session);
            (session, key)
        }
    };
    let order = RunOrder {
        key: key.clone(),
        request,
        trees,
        settings,
        manner: Manner::Shell,
        identity: Some(entry.identity.to_string()),
        outside: None,
    };
    let state = context.environment.state();
    let failed =
        FailedRun { skill: entry.name.as_str(), entry_key: &entry.entry_key, state: &state };
    let cancel = Cancel::new().map_err(|error| Failure::of_system(&error))?;
    let live = Live::begin(context, &format!("{}: {}", order.request.skill, order.request.command));
    let taker = if arguments.json { Box::new(|_, _: &[u8]| {}) as _ } else { live.taker() };
    let runner = Runner { executor: runner.executor.telling(live.teller()), ..runner };
    // Ctrl-C ends the command, and what it made so far is still collected.
    let stopping = cancel.clone();
    let listener = interrupt::listen(move || stopping.cancel());
    let result = block_on(async {
        runner.run(order, taker, cancel.clone()).await.map_err(|error| {
            // Whatever it was that could not go on.
            if cancel.is_cancelled() { Failure::interrupted() } else { failed.failure(&error) }
        })
    });
    live.end();
    drop(listener);
    let output = result?;
    if arguments.json {
        context.output.json_fields(&Answer { session: &session, output: &output });
    } else {
        // What there is to say does not depend on it.
        let workspace = runner.workspaces.workspace(&key).ok();
        let place = Place { session: &session, folder: workspace.as_ref().map(Workspace::root) };
        report::print(context, &place, &output);
    }
    if arguments.session.is_none() {
        // Whoever goes on with the session has copies again.
        let _kept = runner.workspaces.give_copies_back(&key);
    }
    // The run is over and told; `metier gc` says what is wrong with workspaces.
    let _removed = runner.workspaces.remove_unused_daily(context.workspace_ttl(), PATIENCE);
    Ok(exit_code(&output))
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
