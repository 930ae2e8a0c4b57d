//! What a call of a model did, as lines for people.

use anstyle::Style;
use metier_agent::tools::specs::name;
use metier_agent::{ToolResult, dispatch, fence, foreign};
use metier_session::content::{Approval, Call, StateUpdate, ToolResponse};
use metier_workspace::RunOutput;
use metier_workspace::interactive::{Progress, SessionStatus};
use metier_workspace::request::DenialKind;
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
    match ToolResult::of_update(update) {
        Some(result) if result != ToolResult::Text => ran(&arguments_of(call), &result),
        _ => {
            let why = update.text.as_deref().unwrap_or_default();
            let text = format!("code: {}", why.lines().next().unwrap_or_default());
            vec![Line { style: style::WARN, word: "refused ", text }]
        }
    }
}

/// What came of a call.
pub(in crate::commands) fn happened(call: &Call, response: &ToolResponse) -> Vec<Line> {
    if response.is_error {
        return refused(call, &response.text);
    }
    answered(call, &ToolResult::of_response(response))
}

/// What is said of a call that was answered with an error.
fn refused(call: &Call, why: &str) -> Vec<Line> {
    let first = why.lines().next().unwrap_or_default();
    let text = format!("{}: {first}", call.name);
    vec![Line { style: style::WARN, word: "refused ", text }]
}

/// What came of a call that was made.
fn answered(call: &Call, result: &ToolResult) -> Vec<Line> {
    let arguments = arguments_of(call);
    let line = |style, word, text: &str| vec![Line { style, word, text: text.to_owned() }];
    let text = |field: &str| arguments.get(field).and_then(Value::as_str).unwrap_or_default();
    match call.name.as_str() {
        name::RUN | name::EXEC => ran(&arguments, result),
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
    let field = |name: &str| update.extra.get(name).and_then(Value::as_str);
    let text = |name: &str| field(name).unwrap_or_default().to_owned();
    let (name, arguments) = (text(dispatch::TOOL), text(dispatch::ARGUMENTS));
    let call = Call { name, arguments, ..Call::default() };
    if update.extra.get(dispatch::IS_ERROR) == Some(&Value::Bool(true)) {
        return refused(&call, update.text.as_deref().unwrap_or_default());
    }
    answered(&call, &ToolResult::of_update(update).unwrap_or_default())
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
fn ran(arguments: &Value, result: &ToolResult) -> Vec<Line> {
    match result {
        ToolResult::Program(progress) if progress.status == SessionStatus::Running => {
            let text = command_of(arguments);
            vec![Line { style: style::GOOD, word: "runs ", text }]
        }
        ToolResult::Program(progress) => vec![ran_line(arguments, ended(progress), 0)],
        ToolResult::Run(output) => {
            let mut lines = vec![ran_line(arguments, ending(output), output.duration_ms)];
            if output.exit_code != Some(0)
                && let Some(last) = output.stderr.lines().rfind(|line| !line.trim().is_empty())
            {
                lines.push(Line { style: style::DIM, word: "  ", text: last.trim().to_owned() });
            }
            lines.extend(remarks(output));
            lines
        }
        _ => vec![ran_line(arguments, exited(None, None), 0)],
    }
}

/// The line about a command that ran.
fn ran_line(arguments: &Value, (style, ending): (Style, String), milliseconds: u64) -> Line {
    let seconds = seconds(milliseconds);
    let text = format!("{} · {ending} · {seconds:.2} s", command_of(arguments));
    Line { style, word: "ran ", text }
}

/// How a command ended.
pub(in crate::commands) fn ending(output: &RunOutput) -> (Style, String) {
    match output.exit_code {
        _ if output.timed_out => (style::BAD, "time was up".to_owned()),
        _ if output.cancelled => (style::WARN, "cancelled".to_owned()),
        Some(0) if output.incomplete => {
            (style::WARN, "exit 0, but not everything was kept".to_owned())
        }
        code => exited(code, output.signal),
    }
}

/// How a program ended that had been left running.
fn ended(progress: &Progress) -> (Style, String) {
    exited(progress.exit_code, None)
}

fn exited(code: Option<i32>, signal: Option<i32>) -> (Style, String) {
    match (code, signal) {
        (Some(0), _) => (style::GOOD, "exit 0".to_owned()),
        (Some(code), _) => (style::BAD, format!("exit {code}")),
        (None, Some(signal)) => (style::BAD, format!("ended by signal {signal}")),
        (None, None) => (style::BAD, "ended".to_owned()),
    }
}

/// Milliseconds as seconds.
pub(in crate::commands) fn seconds(milliseconds: u64) -> f64 {
    f64::from(u32::try_from(milliseconds).unwrap_or(u32::MAX)) / 1000.0
}

/// What was remarkable about a run.
pub(in crate::commands) fn remarks(output: &RunOutput) -> impl Iterator<Item = Line> {
    let artifacts = output.artifact_files.iter().map(|file| kept(&file.reference));
    let warnings = output.warnings.iter().map(|it| warned(it));
    let denials = output.denials.iter().map(|it| denied(&it.kind, &it.what));
    artifacts.chain(warnings).chain(denials)
}

/// A file that a run kept as an artifact.
fn kept(reference: &str) -> Line {
    Line { style: style::GOOD, word: "kept ", text: reference.to_owned() }
}

/// What a reader of a run should know.
fn warned(warning: &str) -> Line {
    Line { style: style::WARN, word: "warning: ", text: warning.to_owned() }
}

/// What a run was refused.
fn denied(kind: &DenialKind, what: &str) -> Line {
    let (word, text) = match kind {
        DenialKind::Limit => ("limit met: ", what.to_owned()),
        kind => ("refused: ", format!("{}: {what}", kind.to_string().replace('_', " "))),
    };
    Line { style: style::WARN, word, text }
}

/// Everything that came of a call: what a command printed, or what the model was told.
pub(in crate::commands) fn details(text: &str, result: &ToolResult) -> String {
    match result {
        ToolResult::Run(output) => format!("{}{}", output.stdout, output.stderr),
        _ => text.to_owned(),
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
            "run": "1",
            "stdout": "",
            "stderr": "",
            "exit_code": 0,
            "timed_out": false,
            "duration_ms": 20,
            "output_files": [],
            "artifact_files": [{ "name": "out/a", "version": 0, "ref": "artifact://out/a@0" }],
            "warnings": ["one"],
            "denials": [
                { "kind": "limit", "what": "memory" },
                { "kind": "system_call", "what": "ptrace" },
            ],
            "confinement": { "executor": "", "readable": [], "writable": [], "network": "none" },
        });
        let result = ToolResult::Run(serde_json::from_value(result).unwrap());
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
