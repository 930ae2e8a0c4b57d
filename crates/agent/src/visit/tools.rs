//! What a visitor may call: names, descriptions, schemas and effects.

use metier_model::ToolSpec;
use serde_json::Value;

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

/// The tools; commands are told where they run.
pub fn tools(on_host: bool) -> Vec<VisitTool> {
    let _ = on_host;
    Vec::new()
}
