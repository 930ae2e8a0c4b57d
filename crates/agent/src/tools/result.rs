//! The results of tools, typed: for renderers, and for sessions, which keep each as JSON beside the name of its type.
//!
//! The model reads the same JSON, so the fields and their order are a contract: a request of an old session comes out the
//! same, byte for byte. Sessions that an older version wrote have no names of types; there the tool says which it is.

use metier_secrets::Redactor;
use metier_session::content::{StateUpdate, ToolResponse};
use metier_session::{Content, Event};
use metier_workspace::RunOutput;
use metier_workspace::interactive::{Killed, Listed, Progress, SessionStatus};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::specs::name;
use crate::{dispatch, fence};

/// The field with which a call of a tool that does not exist is marked.
const ERROR: &str = "error";
/// The value of that field.
const UNKNOWN_TOOL: &str = "unknown_tool";

/// The result of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum ToolResult {
    /// Nothing but the text that the model reads.
    #[default]
    Text,
    /// A command that ran to its end.
    Run(Box<RunOutput>),
    /// A program that was left running, or was when it was last looked at.
    Program(Box<Progress>),
    /// The end of such a program.
    ProgramEnd(Killed),
    /// All such programs of a session.
    Programs(ProgramList),
    /// A skill and the folder of its files, of the set with one tool.
    Skill(SkillDirectory),
    /// The docs of a skill that are shown.
    Selection(DocSelection),
    /// The docs that a skill has.
    Docs(Vec<String>),
    /// Skills that fit a question, best first.
    Skills(Vec<SkillMatch>),
    /// Lines of a file.
    File(FilePart),
    /// There is no such tool.
    UnknownTool,
    /// JSON of a tool of the program, or of a type that this version does not know.
    Other(Value),
}

/// The programs that commands of a session left running.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramList {
    /// The programs.
    pub sessions: Vec<ListedProgram>,
}

/// A program that a command left running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedProgram {
    /// Its id.
    pub session_id: String,
    /// The skill, or nothing for a command of none.
    pub skill: String,
    /// The command.
    pub command: String,
    /// Whether it has a terminal.
    pub tty: bool,
    /// Whether it runs.
    pub status: SessionStatus,
    /// Seconds since it was started.
    pub age_seconds: u64,
}

/// A skill and the folder of its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillDirectory {
    /// The skill.
    pub skill_name: String,
    /// The folder, in the workspace.
    pub directory: String,
}

/// The docs of a skill that are shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocSelection {
    /// The skill.
    pub skill: String,
    /// The docs, in this order; none if all are.
    pub selected_docs: Vec<String>,
    /// Whether all are.
    pub include_all_docs: bool,
    /// The change that was asked for.
    pub mode: DocSelectionMode,
}

/// A change of the docs that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocSelectionMode {
    /// These are shown as well.
    Add,
    /// These are shown instead.
    #[default]
    Replace,
    /// None is.
    Clear,
}

/// A skill that fits a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillMatch {
    /// The skill.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The score, with two places.
    pub score: f64,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePart {
    /// The file, as the call names it.
    pub file_name: String,
    /// The lines.
    #[serde(flatten)]
    pub extent: LineExtent,
}

/// The extent of some lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineExtent {
    /// The number of the first line.
    pub start_line: usize,
    /// The number of lines.
    pub lines: usize,
    /// The number of lines that the file has.
    pub total_lines: usize,
    /// Whether the file goes on behind them.
    pub truncated: bool,
}

impl ToolResult {
    /// Reads the result that an event is about: of a call, of code in a reply, or of a command of a person.
    #[must_use]
    pub fn of_event(event: &Event) -> Option<Self> {
        match &event.content {
            Content::ToolResponse(response) => Some(Self::of_response(response)),
            Content::StateUpdate(update) => Self::of_update(update),
            _ => None,
        }
    }

    /// Reads the result of a call.
    #[must_use]
    pub fn of_response(response: &ToolResponse) -> Self {
        let ToolResponse { tool, structured, result_type, .. } = response;
        Self::stored(result_type.as_deref(), tool, structured)
    }

    /// Reads the result of code in a reply, or of a command of a person.
    #[must_use]
    pub fn of_update(update: &StateUpdate) -> Option<Self> {
        let field = |name: &str| update.extra.get(name);
        let tool = match update.cause.as_str() {
            fence::CAUSE => name::RUN,
            dispatch::CAUSE => field(dispatch::TOOL).and_then(Value::as_str).unwrap_or_default(),
            _ => return None,
        };
        let result_type = field(fence::RESULT_TYPE).and_then(Value::as_str);
        Some(Self::stored(result_type, tool, field(fence::STRUCTURED).unwrap_or(&Value::Null)))
    }

    /// The name of the type, as sessions keep it. A text alone has none.
    #[must_use]
    pub fn type_name(&self) -> Option<&'static str> {
        Some(match self {
            Self::Text => return None,
            Self::Run(_) => "run",
            Self::Program(_) => "program",
            Self::ProgramEnd(_) => "program_end",
            Self::Programs(_) => "programs",
            Self::Skill(_) => "skill",
            Self::Selection(_) => "selection",
            Self::Docs(_) => "docs",
            Self::Skills(_) => "skills",
            Self::File(_) => "file",
            Self::UnknownTool => UNKNOWN_TOOL,
            Self::Other(_) => "other",
        })
    }

    /// The result as JSON; null for a text alone.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let json = match self {
            Self::Text => Ok(Value::Null),
            Self::Run(it) => serde_json::to_value(it),
            Self::Program(it) => serde_json::to_value(it),
            Self::ProgramEnd(it) => serde_json::to_value(it),
            Self::Programs(it) => serde_json::to_value(it),
            Self::Skill(it) => serde_json::to_value(it),
            Self::Selection(it) => serde_json::to_value(it),
            Self::Docs(it) => serde_json::to_value(it),
            Self::Skills(it) => serde_json::to_value(it),
            Self::File(it) => serde_json::to_value(it),
            Self::UnknownTool => Ok(json!({ ERROR: UNKNOWN_TOOL })),
            Self::Other(it) => Ok(it.clone()),
        };
        json.unwrap_or_default()
    }

    /// Reads the JSON of a type. A later version may write other types, and fields that this one cannot read.
    fn read(type_name: &str, json: Value) -> Self {
        match type_name {
            "run" => typed(json, Self::Run),
            "program" => typed(json, Self::Program),
            "program_end" => typed(json, Self::ProgramEnd),
            "programs" => typed(json, Self::Programs),
            "skill" => typed(json, Self::Skill),
            "selection" => typed(json, Self::Selection),
            "docs" => typed(json, Self::Docs),
            "skills" => typed(json, Self::Skills),
            "file" => typed(json, Self::File),
            UNKNOWN_TOOL => Self::UnknownTool,
            _ => Self::Other(json),
        }
    }

    /// Reads what a session keeps.
    fn stored(type_name: Option<&str>, tool: &str, json: &Value) -> Self {
        match type_name {
            _ if json.is_null() => Self::Text,
            Some(type_name) => Self::read(type_name, json.clone()),
            None => Self::read(type_of_untyped(tool, json), json.clone()),
        }
    }

    /// The same without the values of keys. Where a number was one, the rest is JSON and no more.
    pub(crate) fn masked(self, redactor: &Redactor) -> Self {
        match self.type_name() {
            Some(type_name) if !redactor.is_empty() => {
                Self::read(type_name, redactor.redact_json(self.to_json()))
            }
            _ => self,
        }
    }
}

fn typed<T: DeserializeOwned>(json: Value, result: fn(T) -> ToolResult) -> ToolResult {
    T::deserialize(&json).map_or_else(|_| ToolResult::Other(json), result)
}

/// The type of a result that was stored without one, by the tool that gave it.
fn type_of_untyped(tool: &str, json: &Value) -> &'static str {
    let has = |field: &str| json.get(field).is_some();
    match tool {
        _ if is_unknown_tool(json) => UNKNOWN_TOOL,
        name::RUN => "run",
        name::EXEC if has("session_id") => "program",
        name::EXEC => "run",
        name::PROCESS if has("sessions") => "programs",
        name::PROCESS if has("ok") => "program_end",
        name::PROCESS => "program",
        name::SELECT_DOCS => "selection",
        name::LIST_DOCS => "docs",
        name::SEARCH => "skills",
        name::READ_FILE | name::READ => "file",
        // A skill that was called as if it were a tool has its own name for that of the tool.
        _ if has("skill_name") => "skill",
        _ => "other",
    }
}

fn is_unknown_tool(json: &Value) -> bool {
    json.get(ERROR).and_then(Value::as_str) == Some(UNKNOWN_TOOL)
}

/// Whether a response is that to a call of a tool that does not exist.
pub(crate) fn is_of_unknown_tool(response: &ToolResponse) -> bool {
    match response.result_type.as_deref() {
        Some(type_name) => type_name == UNKNOWN_TOOL,
        None => is_unknown_tool(&response.structured),
    }
}

impl From<Listed> for ListedProgram {
    fn from(listed: Listed) -> Self {
        let Listed { session_id, key: _, skill, command, tty, status, age_seconds } = listed;
        Self { session_id, skill, command, tty, status, age_seconds }
    }
}

#[cfg(test)]
mod tests {
    use metier_session::NewEvent;

    use super::*;

    /// Events of four sessions that the version before the one with names of types wrote, a line each.
    const UNTYPED: &str = include_str!("../../tests/fixtures/untyped_results.jsonl");

    fn untyped() -> Vec<Event> {
        UNTYPED.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The tool of an event, or the cause.
    fn tool(event: &Event) -> &str {
        match &event.content {
            Content::ToolResponse(response) => &response.tool,
            Content::StateUpdate(update) => &update.cause,
            _ => "",
        }
    }

    #[test]
    fn results_that_an_older_version_stored_are_read_with_their_types() {
        let events = untyped();
        let results = events.iter().filter_map(|it| Some((tool(it), ToolResult::of_event(it)?)));
        let shown: Vec<String> = results
            .map(|(tool, result)| format!("{tool}: {}", result.type_name().unwrap_or("-")))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        skill_search: skills
        skill_list_docs: docs
        skill_load: -
        skill_select_docs: selection
        read_file: file
        skill_run: run
        skill_run: run
        browser: unknown_tool
        command: run
        exec: run
        exec: program
        process: programs
        process: program
        process: program_end
        process: program
        skill: skill
        charts: skill
        code: run
        ");
    }

    #[test]
    fn a_result_is_the_same_json_again() {
        for (event, line) in untyped().iter().zip(UNTYPED.lines()) {
            assert_eq!(serde_json::to_string(event).unwrap(), line);
            let Some(result) = ToolResult::of_event(event) else { continue };
            let stored = match &event.content {
                Content::ToolResponse(response) => Some(&response.structured),
                Content::StateUpdate(update) => update.extra.get(fence::STRUCTURED),
                _ => None,
            };
            let stored = stored.cloned().unwrap_or_default();
            assert_eq!(result.to_json().to_string(), stored.to_string());
            // With its name it is read as what it is, whatever tool gave it.
            let named = ToolResponse {
                tool: "another".to_owned(),
                result_type: result.type_name().map(Box::from),
                structured: stored,
                ..ToolResponse::default()
            };
            assert_eq!(ToolResult::of_response(&named), result);
        }
    }

    #[test]
    fn what_cannot_be_read_as_its_type_is_json() {
        let later = |result_type: &str, structured: Value| {
            let result_type = Some(result_type.into());
            let response = ToolResponse { result_type, structured, ..ToolResponse::default() };
            let event = NewEvent::new("default", Content::ToolResponse(response)).preview(1);
            ToolResult::of_event(&event)
        };
        for (result_type, json) in [
            ("picture", json!({ "width": 3 })),
            ("run", json!({ "exit_code": "****" })),
            ("other", json!({ "error": "unknown_tool" })),
        ] {
            assert_eq!(later(result_type, json.clone()), Some(ToolResult::Other(json)));
        }
        assert_eq!(later("run", Value::Null), Some(ToolResult::Text));
    }
}
