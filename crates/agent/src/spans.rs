//! What a turn tells whoever traces it, in the words of OpenTelemetry's conventions for generative AI.
//!
//! Names, numbers and kinds of errors only. What people, models, tools and providers wrote is never part
//! of a span; that goes for the name of a tool or a skill that there is none of, too.

use std::collections::BTreeMap;

use metier_model::{ModelError, Reply};
use metier_session::SessionKey;
use metier_session::content::Call;
use tracing::field::Empty;
use tracing::{Instrument, Span, info_span};

use crate::agent::{Agent, AgentError};
use crate::tools::Answer;

/// The kind of whatever has no other.
const OTHER: &str = "_OTHER";

/// Does a turn in a span of its own.
pub(crate) async fn turn<T>(
    agent: &Agent,
    key: &SessionKey,
    turn: impl Future<Output = Result<T, AgentError>>,
) -> Result<T, AgentError> {
    let (provider, model) = model_of(agent);
    let span = info_span!(
        "invoke_agent",
        otel.name = format!("invoke_agent {}", agent.name),
        otel.status_code = Empty,
        "error.type" = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = agent.name,
        gen_ai.conversation.id = key.session(),
        gen_ai.provider.name = provider,
        gen_ai.request.model = model,
    );
    let outcome = turn.instrument(span.clone()).await;
    if let Err(error) = &outcome {
        fail(&span, kind_of(error));
    }
    outcome
}

/// The span of a request to the model.
pub(crate) fn chat(agent: &Agent, key: &SessionKey) -> Span {
    let (provider, model) = model_of(agent);
    info_span!(
        "chat",
        otel.name = format!("chat {model}"),
        otel.kind = "client",
        otel.status_code = Empty,
        "error.type" = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.conversation.id = key.session(),
        gen_ai.provider.name = provider,
        gen_ai.request.model = model,
        gen_ai.response.model = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.cache_creation.input_tokens = Empty,
    )
}

/// Notes what came of a request.
pub(crate) fn replied(span: &Span, reply: &Result<Option<Reply>, ModelError>) {
    match reply {
        Ok(Some(reply)) => {
            if let Some(model) = &reply.model {
                span.record("gen_ai.response.model", model.as_str());
            }
            let usage = &reply.usage;
            span.record("gen_ai.usage.input_tokens", usage.input);
            span.record("gen_ai.usage.output_tokens", usage.output);
            span.record("gen_ai.usage.cache_read.input_tokens", usage.cached_input);
            span.record("gen_ai.usage.cache_creation.input_tokens", usage.cache_write);
        }
        Ok(None) => {}
        Err(error) => fail(span, kind_of_model(error)),
    }
}

/// The span of a call; `is_there` says whether there is a tool of that name.
pub(crate) fn tool(call: &Call, session: &str, is_there: bool) -> Span {
    let name = if is_there { call.name.as_str() } else { OTHER };
    info_span!(
        "execute_tool",
        otel.name = format!("execute_tool {name}"),
        otel.status_code = Empty,
        "error.type" = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.conversation.id = session,
        gen_ai.tool.name = name,
        gen_ai.tool.type = "function",
        gen_ai.tool.call.id = call.id,
        skill_name = Empty,
        skill_digest = Empty,
    )
}

/// Notes what came of a call. A command that failed is no error: it was run and its result is told.
pub(crate) fn answered(span: &Span, answer: &Answer) {
    skill(span, &answer.digests);
    if answer.is_error {
        fail(span, "tool_error");
    }
}

/// Names the skill that a call was about, if it was about one.
fn skill(span: &Span, digests: &BTreeMap<String, String>) {
    let mut skills = digests.iter();
    if let (Some((name, digest)), None) = (skills.next(), skills.next()) {
        span.record("skill_name", name.as_str());
        span.record("skill_digest", digest.as_str());
    }
}

fn fail(span: &Span, kind: &str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", kind);
}

/// The provider and its name for the model.
fn model_of(agent: &Agent) -> (&str, &str) {
    let name = agent.model.name();
    name.split_once('/').unwrap_or((name, name))
}

fn kind_of(error: &AgentError) -> &'static str {
    match error {
        AgentError::Model(error) => kind_of_model(error),
        AgentError::Session(_) => "session",
        AgentError::Text(_) => "text",
        AgentError::State(_) => "state",
        AgentError::Load { .. } => "load",
        AgentError::TooLong => "context_overflow",
        AgentError::Busy { .. } => "busy",
        AgentError::Tool(_) => "tool",
        AgentError::Attach { .. } | AgentError::Io(_) => "io",
    }
}

fn kind_of_model(error: &ModelError) -> &'static str {
    match error {
        ModelError::Unreachable { .. } => "unreachable",
        ModelError::Key { .. } | ModelError::NoKey { .. } => "key",
        ModelError::Forbidden { .. } => "forbidden",
        ModelError::UnknownModel { .. } => "unknown_model",
        ModelError::ContextOverflow { .. } => "context_overflow",
        ModelError::RateLimited { .. } => "rate_limited",
        ModelError::QuotaExhausted { .. } => "quota_exhausted",
        ModelError::Refused { .. } => "refused",
        ModelError::Rejected { .. } => "rejected",
        ModelError::Failed { .. } => "server_failed",
        ModelError::NotJson { .. } => "not_json",
        ModelError::Interrupted { .. } => "interrupted",
        ModelError::TooLarge { .. } => "too_large",
        ModelError::ScriptEnded { .. } => "script_ended",
        _ => OTHER,
    }
}
