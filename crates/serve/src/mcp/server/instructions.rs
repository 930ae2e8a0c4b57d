//! What a client is told about this server when it connects, for the model that will use it.
//!
//! The text is the same for the same skills: it is part of the beginning of every request of the client, which
//! providers keep.

use metier_skill::library::{Entry, Snapshot};

/// What this is, and how it is used.
const ABOUT: &str = "\
metier has skills: instructions, documents and scripts for particular kinds of tasks, and runs their commands. \
Before a task that a skill may fit, use the skill instead of your own way.
Find one below or with skill_search, read it with skill_load, follow it; run its commands with skill_run, \
and read files that were kept with artifact_read.";
/// Said where there is nothing to use.
const NONE: &str = "\
There are no skills yet. A person can put one, a folder with a SKILL.md, into `.agents/skills` of the project \
or of the home directory; it is noticed at once.";

/// The text; skills are named as far as the budget of the catalog goes.
pub(super) fn instructions(skills: &Snapshot) -> String {
    if skills.entries.iter().any(Entry::is_model_visible) {
        format!("{ABOUT}\n\n{}", skills.catalog.text.trim_end())
    } else {
        format!("{ABOUT}\n\n{NONE}")
    }
}
