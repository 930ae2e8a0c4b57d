//! What a call of a model did, as lines for people.

use anstyle::Style;
use metier_agent::tools::specs::name;
use metier_agent::{dispatch, fence, foreign};
use metier_session::content::{Approval, Call, StateUpdate, ToolResponse};
use serde_json::Value;

use crate::output::style;

/// Most characters of a command that a line shows.
const MAX_COMMAND: usize = 200;

/// A line about something that happened.
pub(in crate::commands) struct Line {
    /// How its word looks.
    pub style: Style,
    /// The word it begins with.
    pub word: &'static str,
    /// The rest, as it came.
    pub text: String,
}

/// What a call does, while it does.
pub(super) fn doing(call: &Call) -> String {
    let arguments = arguments_of(call);
    match call.name.as_str() {
        name::LOAD | name::SKILL => format!("loading {}", skill_of(&arguments)),
        name::RUN | name::EXEC | fence::CAUSE => format!("running {}", command_of(&arguments)),
        other => other.to_owned(),
    }
}

/// What came of code in a reply.
pub(in crate::commands) fn coded(call: &Call, update: &StateUpdate) -> Vec<Line> {
    match update.extra.get(fence::STRUCTURED) {
        Some(result) => ran(&arguments_of(call), result),
        None => {
            let why = update.text.as_deref().unwrap_or_default();
            let text = format!("code: {}", why.lines().next().unwrap_or_default());
            vec![Line { style: style::WARN, word: "refused ", text }]
        }
    }
}

/// What came of a call.
pub(in crate::commands) fn happened(call: &Call, response: &ToolResponse) -> Vec<Line> {
    let arguments = arguments_of(call);
    let line = |style, word, text: &str| vec![Line { style, word, text: text.to_owned() }];
    if response.is_error {
        let first = response.text.lines().next().unwrap_or_default();
        return line(style::WARN, "refused ", &format!("{}: {first}", call.name));
    }
    let text = |field: &str| arguments.get(field).and_then(Value::as_str).unwrap_or_default();
    match call.name.as_str() {
        name::RUN | name::EXEC => ran(&arguments, &response.structured),
        name::PROCESS => line(style::DIM, "process ", text("action")),
        name::SELECT_DOCS | name::LIST_DOCS => line(style::DIM, "docs ", text("skill")),
        name::SEARCH => line(style::DIM, "searched ", text("query")),
        name::READ_FILE | name::READ => {
            let file = Some(text("file_name")).filter(|it| !it.is_empty());
            line(style::DIM, "read ", file.unwrap_or(text("path")))
        }
        name::LOAD | name::SKILL => line(style::GOOD, "loaded ", &skill_of(&arguments)),
        other if foreign::is_foreign(other) => line(style::GOOD, "called ", other),
        // A skill that was called as if it were a tool.
        other => line(style::GOOD, "loaded ", other),
    }
}

/// What came of a command that a person gave to a tool.
pub(in crate::commands) fn commanded(update: &StateUpdate) -> Vec<Line> {
    let field = |name: &str| update.extra.get(name).cloned().unwrap_or_default();
    let text = |name: &str| field(name).as_str().unwrap_or_default().to_owned();
    let (name, arguments) = (text(dispatch::TOOL), text(dispatch::ARGUMENTS));
    let response = ToolResponse {
        text: update.text.clone().unwrap_or_default(),
        is_error: field(dispatch::IS_ERROR) == true,
        structured: field(fence::STRUCTURED),
        ..ToolResponse::default()
    };
    happened(&Call { name, arguments, ..Call::default() }, &response)
}

/// What a person decided about a command; none of a question.
pub(in crate::commands) fn decided(approval: &Approval) -> Option<Line> {
    let answer = approval.decision.get("answer")?.as_str()?;
    let (style, text) = match answer {
        "once" => (style::GOOD, "allowed once"),
        "always" => (style::GOOD, "allowed for good"),
        "deny" => (style::WARN, "not allowed"),
        "stopped" => (style::WARN, "stopped"),
        _ => (
            style::WARN,
            "nobody could be asked; `metier approvals add` or `--yes-to` can allow it",
        ),
    };
    let rest = approval.decision.get("not_kept").and_then(Value::as_str);
    let rest = rest.map(|why| format!("; it could not be kept: {why}")).unwrap_or_default();
    Some(Line { style, word: "approval: ", text: format!("{text}{rest}") })
}

/// How a command went: one line if well, else also what it complained about.
fn ran(arguments: &Value, result: &Value) -> Vec<Line> {
    if result.get("status").and_then(Value::as_str) == Some("running") {
        let text = command_of(arguments);
        return vec![Line { style: style::GOOD, word: "runs ", text }];
    }
    let number = |field: &str| result.get(field).and_then(Value::as_i64);
    let is = |field: &str| result.get(field).and_then(Value::as_bool).unwrap_or_default();
    let (style, ending) = match (number("exit_code"), number("signal")) {
        _ if is("timed_out") => (style::BAD, "time was up".to_owned()),
        _ if is("cancelled") => (style::WARN, "cancelled".to_owned()),
        (Some(0), _) if is("incomplete") => {
            (style::WARN, "exit 0, but not everything was kept".to_owned())
        }
        (Some(0), _) => (style::GOOD, "exit 0".to_owned()),
        (Some(code), _) => (style::BAD, format!("exit {code}")),
        (_, Some(signal)) => (style::BAD, format!("ended by signal {signal}")),
        _ => (style::BAD, "ended".to_owned()),
    };
    let milliseconds = number("duration_ms").and_then(|it| u32::try_from(it).ok());
    let seconds = f64::from(milliseconds.unwrap_or_default()) / 1000.0;
    let text = format!("{} · {ending} · {seconds:.2} s", command_of(arguments));
    let mut lines = vec![Line { style, word: "ran ", text }];
    let complaint = result.get("stderr").and_then(Value::as_str).unwrap_or_default();
    if number("exit_code") != Some(0)
        && let Some(last) = complaint.lines().rfind(|line| !line.trim().is_empty())
    {
        lines.push(Line { style: style::DIM, word: "  ", text: last.trim().to_owned() });
    }
    lines.extend(remarks(result));
    lines
}

/// What was remarkable about a run.
fn remarks(result: &Value) -> Vec<Line> {
    let list = |field: &str| result.get(field).and_then(Value::as_array).into_iter().flatten();
    let text = |value: &Value, field: &str| {
        value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let artifacts = list("artifact_files").map(|file| kept(&text(file, "ref")));
    let warnings = list("warnings").filter_map(Value::as_str).map(warned);
    let denials = list("denials").map(|it| denied(&text(it, "kind"), &text(it, "what")));
    artifacts.chain(warnings).chain(denials).collect()
}

/// A file that a run kept as an artifact.
pub(in crate::commands) fn kept(reference: &str) -> Line {
    Line { style: style::GOOD, word: "kept ", text: reference.to_owned() }
}

/// What a reader of a run should know.
pub(in crate::commands) fn warned(warning: &str) -> Line {
    Line { style: style::WARN, word: "warning: ", text: warning.to_owned() }
}

/// What a run was refused.
pub(in crate::commands) fn denied(kind: &str, what: &str) -> Line {
    let (word, text) = match kind {
        "limit" => ("limit met: ", what.to_owned()),
        kind => ("refused: ", format!("{}: {what}", kind.replace('_', " "))),
    };
    Line { style: style::WARN, word, text }
}

/// Everything that came of a call: what a command printed, or what the model was told.
pub(in crate::commands) fn details(text: &str, result: &Value) -> String {
    let stream = |name: &str| result.get(name).and_then(Value::as_str);
    match (stream("stdout"), stream("stderr")) {
        (None, None) => text.to_owned(),
        (stdout, stderr) => [stdout, stderr].into_iter().flatten().collect(),
    }
}

fn arguments_of(call: &Call) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_default()
}

fn skill_of(arguments: &Value) -> String {
    let named = arguments.get("skill").or_else(|| arguments.get("skill_name"));
    named.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A command with its skill, on one line and not too long.
fn command_of(arguments: &Value) -> String {
    let command = arguments.get("command").and_then(Value::as_str).unwrap_or_default();
    let mut command = command.trim().split('\n').collect::<Vec<_>>().join(" ⏎ ");
    if let Some((end, _)) = command.char_indices().nth(MAX_COMMAND) {
        command.truncate(end);
        command.push('…');
    }
    match skill_of(arguments) {
        skill if skill.is_empty() => command,
        skill => format!("{skill}: {command}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_run_was_refused_and_what_it_kept_has_a_line_each() {
        let result = json!({
            "exit_code": 0,
            "duration_ms": 20,
            "artifact_files": [{ "name": "out/a", "version": 0, "ref": "artifact://out/a@0" }],
            "warnings": ["one"],
            "denials": [
                { "kind": "limit", "what": "memory" },
                { "kind": "system_call", "what": "ptrace" },
            ],
        });
        let lines = ran(&json!({ "command": "x" }), &result);
        let lines: Vec<String> =
            lines.iter().map(|line| format!("{}{}", line.word, line.text)).collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        ran x · exit 0 · 0.02 s
        kept artifact://out/a@0
        warning: one
        limit met: memory
        refused: system call: ptrace
        ");
    }
}
