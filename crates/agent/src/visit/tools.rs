//! What a visitor may call: names, descriptions, schemas and effects.
//!
//! Every word costs the visitor's model. What it calls by the same name as our own has the same arguments.

use metier_model::ToolSpec;
use serde_json::{Value, json};

use crate::tools::specs::{self, list_docs, load, object, run, search, spec, strings};

/// The names of the tools that only visitors have; the others are in [`crate::tools::specs::name`].
pub mod name {
    /// Reads a file of a skill.
    pub const READ: &str = "skill_read";
    /// Reads an artifact.
    pub const ARTIFACT: &str = "artifact_read";
}

/// A tool for visitors.
#[derive(Clone, Debug, PartialEq)]
pub struct VisitTool {
    /// Its name, description and arguments.
    pub spec: ToolSpec,
    /// What people call it.
    pub title: &'static str,
    /// What the structured part of its answer is.
    pub output: Value,
    /// What it does to the world.
    pub effects: Effects,
}

/// What a tool does to the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// It changes nothing.
    pub reads_only: bool,
    /// It may destroy something.
    pub destroys: bool,
    /// Doing it twice is doing it once.
    pub is_idempotent: bool,
    /// It reaches what is outside of metier.
    pub reaches_out: bool,
}

impl Effects {
    /// Of tools that look something up.
    const LOOKS: Self =
        Self { reads_only: true, destroys: false, is_idempotent: true, reaches_out: false };
    /// Of commands in a sandbox: they write to their own workspace only, and may have been given network.
    const RUNS: Self =
        Self { reads_only: false, destroys: false, is_idempotent: false, reaches_out: true };
    /// Of commands on the host.
    const RUNS_ON_HOST: Self = Self { destroys: true, ..Self::RUNS };
}

/// The tools; commands are told where they run.
pub fn tools(on_host: bool) -> Vec<VisitTool> {
    let looks = |title, spec, output| VisitTool { spec, title, output, effects: Effects::LOOKS };
    vec![
        looks("Find skills", search(), search_output()),
        looks("Load a skill", load(), load_output()),
        looks("List the docs of a skill", list_docs(), list_docs_output()),
        looks("Read a file of a skill", read(), part("path")),
        VisitTool {
            spec: run(on_host),
            title: "Run a command of a skill",
            output: run_output(),
            effects: if on_host { Effects::RUNS_ON_HOST } else { Effects::RUNS },
        },
        looks("Read an artifact", artifact(), part("name")),
    ]
}

/// The names of the tools, in their order.
pub const NAMES: [&str; 6] = [
    specs::name::SEARCH,
    specs::name::LOAD,
    specs::name::LIST_DOCS,
    name::READ,
    specs::name::RUN,
    name::ARTIFACT,
];

fn read() -> ToolSpec {
    spec(
        name::READ,
        "Read a text file of a skill by lines.",
        object(
            &json!({
                "skill": text(),
                "path": { "type": "string", "description": "from the skill's folder" },
                "start_line": count(),
                "num_lines": count(),
            }),
            &["skill", "path"],
        ),
    )
}

fn artifact() -> ToolSpec {
    spec(
        name::ARTIFACT,
        "Read a text that skill_run kept or referred to, by lines.",
        object(
            &json!({
                "name": { "type": "string", "description": "of an artifact, or a ref that skill_run gave" },
                "version": { "type": "integer", "description": "default: the newest" },
                "start_line": count(),
                "num_lines": count(),
            }),
            &["name"],
        ),
    )
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn count() -> Value {
    json!({ "type": "integer" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn list(of: &Value) -> Value {
    json!({ "type": "array", "items": of })
}

/// An object that has these fields and may have others, which later versions add.
fn answer(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn search_output() -> Value {
    let fields = ["name", "description", "score"];
    let found = json!({ "name": text(), "description": text(), "score": { "type": "number" } });
    answer(&json!({ "skills": list(&answer(&found, &fields)) }), &["skills"])
}

fn list_docs_output() -> Value {
    answer(&json!({ "skill": text(), "docs": strings() }), &["skill", "docs"])
}

fn load_output() -> Value {
    let doc = answer(&json!({ "path": text(), "text": text() }), &["path", "text"]);
    let resource = answer(&json!({ "path": text(), "size": count() }), &["path", "size"]);
    answer(
        &json!({
            "skill": text(),
            "digest": text(),
            "server": { "type": "string", "description": "where it comes from, if it is not of this machine" },
            "directory": { "type": "string", "description": "where skill_run starts" },
            "body": text(),
            "next_line": { "type": "integer", "description": "where SKILL.md goes on, if body is not all" },
            "docs": list(&doc),
            "other_docs": strings(),
            "resources": list(&resource),
            "more": { "type": "integer", "description": "files that are not listed" },
        }),
        &["skill", "digest", "directory", "body", "docs", "other_docs", "resources"],
    )
}

/// A part of what a field names.
fn part(field: &str) -> Value {
    let mut properties = json!({
        "text": { "type": "string", "description": "lines with their numbers" },
        "start_line": count(),
        "lines": count(),
        "total_lines": count(),
        "truncated": flag(),
    });
    properties[field] = text();
    answer(&properties, &[field, "text", "start_line", "lines", "total_lines", "truncated"])
}

fn run_output() -> Value {
    let file = json!({
        "name": text(),
        "ref": text(),
        "mime_type": text(),
        "size_bytes": count(),
        "content": text(),
        "truncated": flag(),
    });
    let file = answer(&file, &["name", "ref", "mime_type", "size_bytes", "truncated"]);
    let kept = json!({ "name": text(), "version": count(), "ref": text() });
    let denial = json!({ "kind": text(), "what": text() });
    let confinement = json!({
        "executor": text(),
        "level": text(),
        "readable": strings(),
        "writable": strings(),
        "network": text(),
        "not_promised": strings(),
    });
    let confinement = answer(&confinement, &["executor", "readable", "writable", "network"]);
    let always = [
        "run",
        "stdout",
        "stderr",
        "exit_code",
        "timed_out",
        "duration_ms",
        "output_files",
        "confinement",
    ];
    answer(
        &json!({
            "run": text(),
            "stdout": text(),
            "stderr": text(),
            "stdout_ref": { "type": "string", "description": "all of it, where some was left out" },
            "stderr_ref": text(),
            "exit_code": { "type": ["integer", "null"] },
            "signal": count(),
            "timed_out": flag(),
            "cancelled": flag(),
            "duration_ms": count(),
            "output_files": list(&file),
            "primary_output": file,
            "artifact_files": list(&answer(&kept, &["name", "version", "ref"])),
            "incomplete": flag(),
            "warnings": strings(),
            "denials": list(&answer(&denial, &["kind", "what"])),
            "confinement": confinement,
        }),
        &always,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_of_visitors_are_an_interface() {
        for VisitTool { spec, title, output, effects } in tools(false) {
            let json = json!({ "title": title, "spec": spec, "output": output });
            let json = serde_json::to_string_pretty(&json).unwrap();
            insta::assert_snapshot!(format!("visit_{}", spec.name), format!("{json}\n{effects:?}"));
        }
    }

    #[test]
    fn commands_on_the_host_say_what_they_may_do() {
        let on_host = tools(true);
        let run = on_host.iter().find(|tool| tool.spec.name == specs::name::RUN).unwrap();
        assert!(run.effects.destroys && run.effects.reaches_out && !run.effects.reads_only);
        assert!(run.spec.description.contains("the user's machine"), "{}", run.spec.description);
        let others = on_host.iter().filter(|tool| tool.spec.name != specs::name::RUN);
        assert!(others.into_iter().all(|tool| tool.effects == Effects::LOOKS));
    }

    #[test]
    fn the_names_are_those_of_the_tools() {
        let names: Vec<String> = tools(false).into_iter().map(|tool| tool.spec.name).collect();
        assert_eq!(names, NAMES);
    }
}
