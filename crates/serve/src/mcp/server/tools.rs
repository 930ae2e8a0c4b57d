//! Tools: what they are, as the protocol has it, and calls of them.

use std::sync::Arc;

use metier_agent::stop;
use metier_agent::tools::Answer;
use metier_agent::tools::specs::name;
use metier_agent::visit::{Effects, NAMES, Visit, VisitTool};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use super::memory_of;
use super::person::Person;
use super::progress::Lines;

/// The tools. What became of skills since the client was told of them stands where a model looks for others.
pub(super) async fn list(visit: &Visit, news: Option<&str>) -> Vec<Tool> {
    let tools = visit.tools().await.into_iter().map(|mut tool| {
        if let Some(news) = news.filter(|_| tool.spec.name == name::SEARCH) {
            tool.spec.description.push_str(&format!("\nSince you were told of them: {news}"));
        }
        described(tool)
    });
    tools.collect()
}

/// A tool, as the protocol has it.
fn described(tool: VisitTool) -> Tool {
    let VisitTool { spec, title, output, effects } = tool;
    let Effects { reads_only, destroys, is_idempotent, reaches_out } = effects;
    let annotations = ToolAnnotations::with_title(title)
        .read_only(reads_only)
        .destructive(destroys)
        .idempotent(is_idempotent)
        .open_world(reaches_out);
    Tool::new_with_raw(spec.name, Some(spec.description.into()), object(spec.schema))
        .with_title(title)
        .with_raw_output_schema(Arc::new(object(output)))
        .with_annotations(annotations)
}

/// Does what a call asks for. Only a tool that does not exist is an error of the protocol: whatever else is wrong
/// with a call is for the model to read.
///
/// # Errors
///
/// When there is no such tool.
pub(super) async fn call(
    visit: &Visit,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    approval_advice: Option<&str>,
) -> Result<CallToolResponse, ErrorData> {
    refuse_unknown(&request.name)?;
    let (mut person, prompter) = Person::of(&request, context);
    let CallToolRequestParams { name, arguments, .. } = request;
    let given = Value::Object(arguments.unwrap_or_default());
    let (stopper, stop) = stop();
    let lines = Lines::default();
    let calling = visit.call_asking(&name, &given, (&stop, lines.live()), &prompter);
    let mut calling = std::pin::pin!(calling);
    let token = context.meta.get_progress_token();
    let telling = async {
        match &token {
            Some(token) => lines.tell(token, &context.peer).await,
            None => std::future::pending().await,
        }
    };
    let ending = async {
        tokio::select! {
            () = person.answer(visit, context) => {}
            () = context.ct.cancelled() => {}
        }
    };
    let answer = tokio::select! {
        answer = &mut calling => answer,
        () = telling => calling.await,
        () = ending => {
            stopper.stop();
            calling.await
        }
    };
    if let Some(token) = &token {
        lines.tell_rest(token, &context.peer).await;
    }
    if let Some(open) = person.open() {
        return Ok(open);
    }
    let mut result = result_of(answer);
    let unasked = person.unasked(approval_advice).filter(|_| result.is_error == Some(true));
    result.content.extend(unasked.map(ContentBlock::text));
    Ok(result.into())
}

/// Counts an answer against the memory that its token may take. One that does not fit in is left out: what was done is done.
pub(super) fn within_memory(
    answer: CallToolResponse,
    context: &RequestContext<RoleServer>,
) -> CallToolResponse {
    let CallToolResponse::Complete(result) = &answer else { return answer };
    let held = memory_of(context).map(|memory| memory.hold_answer(result));
    match held {
        Some(Err(error)) => {
            let text = format!("the call was made, and its result is left out: {error}");
            CallToolResult::error(vec![ContentBlock::text(text)]).into()
        }
        Some(Ok(())) | None => answer,
    }
}

fn refuse_unknown(name: &str) -> Result<(), ErrorData> {
    if NAMES.contains(&name) {
        return Ok(());
    }
    let message = format!("there is no tool `{name}`; the tools are: {}", NAMES.join(", "));
    Err(ErrorData::invalid_params(message, None))
}

/// An answer, as the protocol has it.
fn result_of(answer: Answer) -> CallToolResult {
    let structured = answer.structured();
    let content = vec![ContentBlock::text(answer.text)];
    let mut result = match answer.is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    // Schemas promise what an answer is; an error is in words.
    let is_promised = !answer.is_error && structured.is_object();
    result.structured_content = is_promised.then_some(structured);
    result
}

/// A schema, which is an object.
fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}
