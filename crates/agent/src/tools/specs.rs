//! The tools a model is told of: names, descriptions and schemas.
//!
//! They are sent with every request, so every word costs. They are frozen for a session: the names of
//! skills are never part of a schema, because a changed library would change the beginning of requests.

use metier_model::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Which tools a model is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolSet {
    /// Knowledge, files and runs.
    #[default]
    Full,
    /// Knowledge and files.
    Knowledge,
    /// One tool that loads a skill, with the catalog in its description.
    Single,
    /// Reading and running, with skills as files.
    Files,
}

/// The names of the tools.
pub mod name {
    /// Loads a skill.
    pub const LOAD: &str = "skill_load";
    /// Selects docs of a skill.
    pub const SELECT_DOCS: &str = "skill_select_docs";
    /// Lists the docs of a skill.
    pub const LIST_DOCS: &str = "skill_list_docs";
    /// Finds skills.
    pub const SEARCH: &str = "skill_search";
    /// Runs a command of a skill.
    pub const RUN: &str = "skill_run";
    /// Reads a file.
    pub const READ_FILE: &str = "read_file";
    /// Loads a skill, in the set with one tool.
    pub const SKILL: &str = "skill";
    /// Reads a file, in the set with files.
    pub const READ: &str = "read";
    /// Runs a command, in the set with files.
    pub const EXEC: &str = "exec";
    /// Talks to a program that `exec` left running.
    pub const PROCESS: &str = "process";

    /// All of them, whatever set they are in.
    pub const ALL: [&str; 10] =
        [LOAD, SELECT_DOCS, LIST_DOCS, SEARCH, RUN, READ_FILE, SKILL, READ, EXEC, PROCESS];
}

impl ToolSet {
    /// The tools of the set; the catalog is for the one that carries it. Commands are told where they run.
    pub fn specs(self, catalog: &str, on_host: bool) -> Vec<ToolSpec> {
        match self {
            Self::Full => {
                vec![load(), select_docs(), list_docs(), search(), run(on_host), read_file()]
            }
            Self::Knowledge => vec![load(), select_docs(), list_docs(), search(), read_file()],
            Self::Single => vec![skill(catalog)],
            Self::Files => vec![read(), exec(on_host), process()],
        }
    }
}

pub(crate) fn spec(name: &str, description: impl Into<String>, schema: Value) -> ToolSpec {
    ToolSpec { name: name.to_owned(), description: description.into(), schema }
}

pub(crate) fn object(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

pub(crate) fn strings() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

pub(crate) fn load() -> ToolSpec {
    spec(
        name::LOAD,
        "Load the instructions of a skill, and docs of it if you know which. Do this before you follow or run a skill.",
        object(
            &json!({
                "skill": { "type": "string" },
                "docs": strings(),
                "include_all_docs": { "type": "boolean" },
            }),
            &["skill"],
        ),
    )
}

fn select_docs() -> ToolSpec {
    spec(
        name::SELECT_DOCS,
        "Choose which docs of a loaded skill you see.",
        object(
            &json!({
                "skill": { "type": "string" },
                "docs": strings(),
                "include_all_docs": { "type": "boolean" },
                "mode": { "enum": ["add", "replace", "clear"], "description": "default replace" },
            }),
            &["skill"],
        ),
    )
}

pub(crate) fn list_docs() -> ToolSpec {
    spec(
        name::LIST_DOCS,
        "List the docs of a skill.",
        object(&json!({ "skill": { "type": "string" } }), &["skill"]),
    )
}

pub(crate) fn search() -> ToolSpec {
    spec(
        name::SEARCH,
        "Find skills for a task, also those that are not in the list.",
        object(
            &json!({ "query": { "type": "string" }, "limit": { "type": "integer" } }),
            &["query"],
        ),
    )
}

pub(crate) fn run(on_host: bool) -> ToolSpec {
    let description = if on_host {
        "Run a command of a loaded skill on the user's machine. Each is judged first, and the user may be asked: write \
         plain commands without variables, globs and substitutions."
    } else {
        "Run a shell command of a loaded skill in its sandbox."
    };
    spec(
        name::RUN,
        description,
        object(
            &json!({
                "skill": { "type": "string" },
                "command": { "type": "string" },
                "cwd": { "type": "string", "description": "default: the skill's folder; or $WORK_DIR/…" },
                "env": { "type": "object", "additionalProperties": { "type": "string" } },
                "stdin": { "type": "string" },
                "timeout": { "type": "number", "description": "seconds" },
                "inputs": {
                    "type": "array",
                    "items": object(
                        &json!({
                            "from": {
                                "type": "string",
                                "description": "artifact://name[@v], workspace://path, skill://name/path or host:///path",
                            },
                            "to": { "type": "string", "description": "default work/inputs/<name>" },
                        }),
                        &["from"],
                    ),
                },
                "outputs": object(
                    &json!({
                        "globs": { "type": "array", "items": { "type": "string" }, "description": "such as out/**" },
                        "inline": { "type": "boolean", "description": "give texts" },
                        "save": { "type": "boolean", "description": "keep as artifacts" },
                    }),
                    &["globs"],
                ),
            }),
            &["skill", "command"],
        ),
    )
}

fn read_file() -> ToolSpec {
    spec(
        name::READ_FILE,
        "Read a text file by lines.",
        object(
            &json!({
                "file_name": {
                    "type": "string",
                    "description": "workspace://path, artifact://name[@v], skill://name/path or a path",
                },
                "start_line": { "type": "integer" },
                "num_lines": { "type": "integer" },
            }),
            &["file_name"],
        ),
    )
}

fn skill(catalog: &str) -> ToolSpec {
    let description = format!(
        "Load the instructions of a skill before you do a task that it covers. Then follow them; files they name are in the \
         directory that is given.\n\n{}",
        catalog.trim_end(),
    );
    spec(
        name::SKILL,
        description,
        object(&json!({ "skill_name": { "type": "string" } }), &["skill_name"]),
    )
}

fn read() -> ToolSpec {
    spec(
        name::READ,
        "Read a text file by lines.",
        object(
            &json!({
                "path": { "type": "string" },
                "start_line": { "type": "integer" },
                "num_lines": { "type": "integer" },
            }),
            &["path"],
        ),
    )
}

fn exec(on_host: bool) -> ToolSpec {
    let description = if on_host {
        "Run a command on the user's machine. Each is judged first, and the user may be asked: write plain commands \
         without variables, globs and substitutions. It starts in your own folder."
    } else {
        "Run a shell command in the sandbox. It starts where skills/ is, to read, and work/ and out/, to write."
    };
    spec(
        name::EXEC,
        description,
        object(
            &json!({
                "command": { "type": "string" },
                "cwd": { "type": "string" },
                "env": { "type": "object", "additionalProperties": { "type": "string" } },
                "timeout": { "type": "number", "description": "seconds" },
                "background": { "type": "boolean", "description": "leave it running; see process" },
                "pty": { "type": "boolean", "description": "with a terminal, to talk to it" },
                "yield_ms": { "type": "integer", "description": "wait for first output" },
            }),
            &["command"],
        ),
    )
}

fn process() -> ToolSpec {
    spec(
        name::PROCESS,
        "Look at, type into or end a program that exec left running.",
        object(
            &json!({
                "action": { "enum": ["list", "poll", "write", "kill"] },
                "session_id": { "type": "string" },
                "chars": { "type": "string", "description": "what to type" },
                "submit": { "type": "boolean", "description": "and a newline" },
                "yield_ms": { "type": "integer" },
            }),
            &["action"],
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_of_each_set_are_an_interface() {
        for set in [ToolSet::Full, ToolSet::Single, ToolSet::Files] {
            for spec in set.specs("- pdf: Reads PDF files.", false) {
                let json = serde_json::to_string_pretty(&spec).unwrap();
                insta::assert_snapshot!(format!("tool_{}", spec.name), json);
            }
        }
        for (set, tool) in [(ToolSet::Full, name::RUN), (ToolSet::Files, name::EXEC)] {
            let specs = set.specs("", true);
            let spec = specs.iter().find(|spec| spec.name == tool).map(|spec| &spec.description);
            insta::assert_snapshot!(format!("tool_{tool}_on_host"), spec.unwrap());
        }
        let without_runs: Vec<String> =
            ToolSet::Knowledge.specs("", false).into_iter().map(|spec| spec.name).collect();
        assert_eq!(
            without_runs,
            [name::LOAD, name::SELECT_DOCS, name::LIST_DOCS, name::SEARCH, name::READ_FILE]
        );
    }
}
