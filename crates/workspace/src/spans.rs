//! What a run tells whoever traces it.
//!
//! Names, digests and numbers only: neither commands nor what is in files or variables is part of a span.

use tracing::field::Empty;
use tracing::{Instrument, Span, info_span};

use crate::executor::{ExecuteError, Executed, Execution, Executor};
use crate::layout::WorkspaceKey;
use crate::stage::Tree;

/// The making of a workspace.
pub(crate) fn create(key: &WorkspaceKey) -> Span {
    info_span!("workspace.create", otel.status_code = Empty, gen_ai.conversation.id = key.session)
}

/// The staging of a tree.
pub(crate) fn stage(tree: &Tree) -> Span {
    info_span!(
        "workspace.stage.tree",
        otel.status_code = Empty,
        skill_name = tree.name,
        skill_digest = tree.digest,
    )
}

/// The execution of a command.
pub(crate) fn run(executor: &Executor, execution: &Execution) -> Span {
    let skill = execution.surroundings.skill.as_str();
    let is_its = |folder: &str| folder == crate::encode::file_name(skill);
    let tree = execution.staged.iter().find(|tree| is_its(&tree.folder));
    info_span!(
        "workspace.run",
        otel.status_code = Empty,
        executor = executor.name(),
        skill_name = skill,
        skill_digest = tree.map(|tree| tree.digest.as_str()),
        process.exit.code = Empty,
        timed_out = Empty,
        cancelled = Empty,
    )
}

/// Notes how a command went. One that failed is no error: it was run.
pub(crate) fn ran(span: &Span, executed: &Result<Executed, ExecuteError>) {
    match executed {
        Ok(executed) => {
            if let Some(code) = executed.ended.code {
                span.record("process.exit.code", code);
            }
            span.record("timed_out", executed.timed_out);
            span.record("cancelled", executed.cancelled);
        }
        Err(_) => fail(span),
    }
}

/// Does a step in a span, which tells whether it failed.
pub(crate) async fn step<T, E>(
    span: Span,
    step: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let result = step.instrument(span.clone()).await;
    note(&span, result)
}

/// The same for a step that does not wait.
pub(crate) fn step_now<T, E>(span: &Span, step: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    note(span, span.in_scope(step))
}

fn note<T, E>(span: &Span, result: Result<T, E>) -> Result<T, E> {
    if result.is_err() {
        fail(span);
    }
    result
}

fn fail(span: &Span) {
    span.record("otel.status_code", "ERROR");
}
