//! `metier mcp`.

mod http;
mod install;
mod open_files;
mod reports;
mod servers;
mod token;

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Duration;

use metier_agent::Library;
use metier_agent::host::NoPrompter;
use metier_agent::texts::TextMemory;
use metier_agent::visit::{Visit, Visits};
use metier_app::SkillLibrary;
use metier_app::approvals::DecisionApprover;
use metier_app::sessions::new_session_id;
use metier_serve::mcp::server::Bell;
use metier_serve::mcp::stdio::ServingEnd;
use metier_serve::mcp::{Server, stdio};
use metier_session::SessionStore;
use metier_workspace::Runner;
use open_files::raise_open_files;
use reports::{Reports, ReportsEnd};
pub(crate) use token::TokenText;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{McpArgs, McpCommand, ServeArgs};
use crate::context::Context;
use crate::failure::{FAILED, Failure, OK};

/// How long what runs may take to end when serving has.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// The same where a thread may wait for ever to write an answer that nobody takes. What runs ends with this process in
/// any case.
const STUCK_WORDS: Duration = Duration::from_millis(300);
/// Threads on which calls may wait for their programs: more than calls may be open at a time over HTTP, in sessions and
/// without, so that those of one token leave some to others.
const MAX_THREADS: usize = 1024;
/// Advice for a model whose command needs an approval that its client cannot ask for.
const APPROVAL_ADVICE: &str =
    "Somebody who wants it to run can allow it beforehand with `metier approvals add`.";

/// Serves skills, or does what belongs to it.
pub(super) fn run(arguments: &McpArgs, context: &Context) -> Result<u8, Failure> {
    match &arguments.command {
        Some(McpCommand::Servers { json }) => servers::list(context, *json),
        Some(McpCommand::Token) => token::print(context),
        Some(McpCommand::Install(wanted)) => install::run(wanted, &arguments.serve, context),
        None => serve(&arguments.serve, context),
    }
}

fn serve(arguments: &ServeArgs, context: &Context) -> Result<u8, Failure> {
    let open_files = raise_open_files();
    let reports = Reports::begin(context.output);
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(MAX_THREADS).build();
    let runtime = runtime.map_err(|error| Failure::of_system(&error))?;
    let sources = arguments.sources.selection();
    let skills = runtime.block_on(SkillLibrary::open_here(&context.app, &sources))?;
    let skills = Arc::new(skills);
    reports.problems(&skills.snapshot().problems);
    let bell = Bell::default();
    let ringing = bell.clone();
    let _watching = {
        let _entered = runtime.enter();
        skills.watch(&sources, move || ringing.ring_for_skills())
    };
    let key = match &arguments.session {
        Some(session) => context.workspace_key(session)?,
        None => context.app.bare_workspace_key(&new_session_id()),
    };
    let visits = Arc::new(visits(arguments, context, Arc::clone(&skills))?);
    let serving = async {
        match arguments.http.address {
            None => {
                if io::stdin().is_terminal() {
                    let text = "reading requests from standard input, as an agent writes them; \
                                `metier mcp install AGENT` has one start this";
                    reports.say(text);
                }
                let server = server_of(Arc::new(Visit::new(visits, key)), bell);
                stdio::serve(server, told_to_stop()?).await.map_err(|error| {
                    Failure::new(format!("the connection to the agent broke: {error}"))
                        .hint("start it again; if it breaks again, look at what the agent says")
                })
            }
            Some(address) => {
                let visitors = http::Visitors::new(visits, key, bell);
                let served = http::serve(
                    address,
                    &arguments.http,
                    (context, &reports),
                    visitors,
                    open_files,
                )
                .await;
                served.map(|()| ServingEnd::Done)
            }
        }
    };
    let served = runtime.block_on(serving);
    // Somebody may still be reading from a standard input that never ends.
    runtime.shutdown_timeout(match served {
        Ok(ServingEnd::OutputStuck) => STUCK_WORDS,
        Ok(ServingEnd::Done) | Err(_) => LAST_WORDS,
    });
    skills.save();
    match (served, reports.end()) {
        (Ok(ServingEnd::Done), _) => Ok(OK),
        (Ok(ServingEnd::OutputStuck), _) => Ok(FAILED),
        // It could not be told either.
        (Err(failure), ReportsEnd::Unread) => Ok(failure.code()),
        (Err(failure), ReportsEnd::Told) => Err(failure),
    }
}

/// Returns a server with the advice of the command line.
fn server_of(visit: Arc<Visit>, bell: Bell) -> Server {
    Server::new(visit).with_bell(bell).with_approval_advice(APPROVAL_ADVICE)
}

/// Waits until somebody wants the process to end.
///
/// # Errors
///
/// When signals cannot be listened to.
fn told_to_stop() -> Result<impl Future<Output = ()>, Failure> {
    let listen = |kind| signal(kind).map_err(|error| Failure::of_system(&error));
    let mut interrupted = listen(SignalKind::interrupt())?;
    let mut terminated = listen(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}

/// What all who are served share.
fn visits(
    arguments: &ServeArgs,
    context: &Context,
    library: Arc<SkillLibrary>,
) -> Result<Visits, Failure> {
    let executor = context.app.executor(arguments.executor);
    let (mut sessions, mut host): (Option<Arc<dyn SessionStore>>, _) = (None, None);
    if executor.sees_host() {
        let store = Arc::new(context.app.sessions()?);
        let approver = DecisionApprover::new(&context.app, Arc::clone(&store), &[])?;
        // The client whose call wants to run a command is asked, with the call.
        let prompter = Arc::new(NoPrompter);
        host = Some(context.app.host(&arguments.sources.agent, Arc::new(approver), prompter)?);
        sessions = Some(store);
    }
    let (workspaces, artifacts) = (context.app.workspaces()?, Arc::new(context.app.artifacts()?));
    Ok(Visits {
        agent: arguments.sources.agent.clone(),
        library,
        sessions,
        remembered_texts: TextMemory::default(),
        runner: Runner { workspaces, artifacts, executor, redactor: context.app.redactor.clone() },
        host,
        restriction: context.app.restriction(),
        load_before_run: *context.app.config.skills.load_before_run,
        max_body_tokens: *context.app.config.skills.max_body_tokens,
    })
}
