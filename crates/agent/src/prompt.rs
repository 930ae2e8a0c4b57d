//! The beginning of every request of a session: what the model is, which skills there are, and how its
//! tools are used.
//!
//! It is made once and kept with the session, so that nothing that happens later, be it an edited
//! skill or a new version of this program, changes the bytes that requests begin with.

use std::path::Path;

use metier_model::ToolSpec;
use metier_session::Opening;
use metier_skill::catalog::{self, CatalogItem, Format};
use metier_skill::library::{Entry, Snapshot};
use serde_json::Value;

use crate::conversation::Layout;
use crate::tools::specs::ToolSet;

/// What the agent is told of its job when nobody says otherwise.
const INSTRUCTION: &str = "You are metier, an agent that does tasks with skills. When a skill covers the task, use it \
rather than your own way. Say briefly what you did and name the files you made.";

/// How the tools are used, in the sets with knowledge and runs.
const GUIDANCE_FULL: &str = "Tooling and workspace guidance:
- The list has summaries only. Call skill_load before you follow or run a skill; never guess its commands.
- Load docs only when the instructions point to them: skill_list_docs, then skill_select_docs.
- skill_run starts in the skill's folder, which is read-only, in a sandbox without network unless its result says otherwise.
- The user's files are in $WORK_DIR/inputs. Write results to $OUTPUT_DIR (out/) and name them in outputs.globs.
- Long output is shortened: read the rest with read_file and the ref in the result.
- A failed command is a result: read stderr, correct it, do not repeat it unchanged.";

/// What of it holds in a sandbox only, and what is said instead where commands run on the host.
const IN_SANDBOX: &str = ", in a sandbox without network unless its result says otherwise.";
const ON_HOST: &str = ", on the user's machine. Each command is judged first: write plain ones, with relative paths (../../work/inputs).";

/// The same without runs.
const GUIDANCE_KNOWLEDGE: &str = "Tooling and workspace guidance:
- The list has summaries only. Call skill_load before you follow a skill.
- Load docs only when the instructions point to them: skill_list_docs, then skill_select_docs.
- You cannot run commands: say what to run, or answer from the instructions.";

/// What the set with files is told before its list.
const FILES_SECTION: &str = "## Skills
Before you answer, look at the descriptions below. If one clearly fits, read its SKILL.md at <location> with read and follow \
it. Choose at most one, the most specific; read no other up front. Paths in it are relative to its folder. Commands run with exec.";

/// What the beginning is made of.
#[derive(Clone, Debug)]
pub struct PromptSettings {
    /// What the agent is told of its job; none stands for the usual words.
    pub instruction: Option<String>,
    /// How the tools are used: none stands for the usual words, an empty text for nothing.
    pub guidance: Option<String>,
    /// Which tools there are.
    pub tools: ToolSet,
    /// Tokens the catalog may cost.
    pub catalog_tokens: usize,
    /// Where text goes.
    pub layout: Layout,
    /// Whether the list of skills is left out, and changes of the library too. A model then knows of no skill unless it
    /// searches, or somebody loads one with a task.
    pub is_minimal: bool,
}

impl Default for PromptSettings {
    fn default() -> Self {
        Self {
            instruction: None,
            guidance: None,
            tools: ToolSet::default(),
            catalog_tokens: catalog::default_budget(None),
            layout: Layout::default(),
            is_minimal: false,
        }
    }
}

/// The fields of an opening that the agent adds.
const TOOLS_FIELD: &str = "tool_set";
const LAYOUT_FIELD: &str = "layout";
const SKILLS_FIELD: &str = "skills_folder";

/// Makes the beginning. On the host, `skills` is the folder in which commands find skills.
pub fn opening(settings: &PromptSettings, snapshot: &Snapshot, skills: Option<&Path>) -> Opening {
    let has_skills = snapshot.entries.iter().any(Entry::is_model_visible);
    let catalog = match settings.tools {
        _ if !has_skills || settings.is_minimal => String::new(),
        ToolSet::Files => catalog_of_files(snapshot, settings.catalog_tokens, skills),
        _ => snapshot.catalog(settings.catalog_tokens, Format::Lines).text,
    };
    let instruction = settings.instruction.as_deref().unwrap_or(INSTRUCTION);
    let guidance = settings.guidance.clone().unwrap_or_else(|| match settings.tools {
        ToolSet::Full if skills.is_some() => GUIDANCE_FULL.replace(IN_SANDBOX, ON_HOST),
        ToolSet::Full => GUIDANCE_FULL.to_owned(),
        ToolSet::Knowledge => GUIDANCE_KNOWLEDGE.to_owned(),
        ToolSet::Single | ToolSet::Files => String::new(),
    });
    let in_system = match settings.tools {
        ToolSet::Single => String::new(),
        ToolSet::Files if !catalog.is_empty() => {
            format!("{FILES_SECTION}\n\n{}", catalog.trim_end())
        }
        _ => catalog.trim_end().to_owned(),
    };
    let parts = [instruction.trim_end(), &in_system, guidance.trim_end()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let tools = settings.tools.specs(&catalog, skills.is_some());
    let mut opening = Opening {
        system: parts.join("\n\n"),
        tools: serde_json::to_string(&tools).unwrap_or_default(),
        catalog: snapshot.fingerprint().to_owned(),
        ..Opening::default()
    };
    let mut keep = |name: &str, value: Value| opening.extra.insert(name.to_owned(), value);
    keep(TOOLS_FIELD, serde_json::to_value(settings.tools).unwrap_or_default());
    keep(LAYOUT_FIELD, serde_json::to_value(settings.layout).unwrap_or_default());
    if let Some(folder) = skills.and_then(Path::to_str) {
        keep(SKILLS_FIELD, Value::String(folder.to_owned()));
    }
    opening
}

/// Where the instructions of a skill are for `read` and for commands.
///
/// The variable is the only name of that folder that is right in every sandbox: what `/workspace` is
/// in a mount namespace is the workspace's own folder where there is none. On the host it is the folder itself, because
/// a command with a variable in it cannot be judged.
pub fn location(skill: &str, skills: Option<&Path>) -> String {
    match skills {
        Some(folder) => folder.join(skill).join("SKILL.md").display().to_string(),
        None => format!("$SKILLS_DIR/{skill}/SKILL.md"),
    }
}

/// The catalog of skills as files, each where commands find it.
fn catalog_of_files(snapshot: &Snapshot, budget: usize, skills: Option<&Path>) -> String {
    let visible: Vec<&Entry> =
        snapshot.entries.iter().filter(|entry| entry.is_model_visible()).collect();
    let places: Vec<_> = visible
        .iter()
        .map(|entry| (entry.summary(), location(entry.name.as_str(), skills)))
        .collect();
    let items = visible.iter().zip(&places).map(|(entry, (description, location))| CatalogItem {
        name: entry.name.as_str(),
        description,
        location,
        tokens: &entry.tokens,
    });
    catalog::build(&items.collect::<Vec<_>>(), budget, Format::Xml).text
}

/// The tools of a session.
pub fn tools_of(opening: &Opening) -> Vec<ToolSpec> {
    serde_json::from_str(&opening.tools).unwrap_or_default()
}

/// The tool set of a session.
pub fn tool_set_of(opening: &Opening) -> ToolSet {
    let kept = opening.extra.get(TOOLS_FIELD).cloned().unwrap_or_default();
    serde_json::from_value(kept).unwrap_or_default()
}

/// Whether a session began with commands that run on the host.
pub fn is_on_host(opening: &Opening) -> bool {
    skills_folder_of(opening).is_some()
}

/// The folder in which commands of a session find skills, if they run on the host.
pub(crate) fn skills_folder_of(opening: &Opening) -> Option<&Path> {
    opening.extra.get(SKILLS_FIELD).and_then(Value::as_str).map(Path::new)
}

/// Where text goes in a session.
pub fn layout_of(opening: &Opening) -> Layout {
    let kept = opening.extra.get(LAYOUT_FIELD).cloned().unwrap_or_default();
    serde_json::from_value(kept).unwrap_or_default()
}

#[cfg(test)]
mod tests {

    use metier_model::{Message, Request};
    use metier_skill::library::{Choices, LibraryOptions, Machine, TrustPolicy, build};
    use metier_skill::tokens;

    use super::*;

    const SETS: [ToolSet; 4] = [ToolSet::Full, ToolSet::Knowledge, ToolSet::Single, ToolSet::Files];

    /// The beginning when there are no skills.
    fn bare(tools: ToolSet) -> Opening {
        let machine = Machine::new("linux", &[]);
        let snapshot = build(&LibraryOptions {
            roots: &[],
            bundled: &[],
            remote: &[],
            choices: &Choices::all(),
            machine: &machine,
            trust: TrustPolicy::All,
            cache: None,
            catalog_tokens: 2000,
        });
        opening(&PromptSettings { tools, ..PromptSettings::default() }, &snapshot, None)
    }

    #[test]
    fn the_system_text_without_skills_is_short() {
        for set in SETS {
            let count = tokens::count(&bare(set).system);
            assert!(count < 250, "{set:?}: {count}");
        }
        insta::assert_snapshot!(
            SETS.map(|set| format!("{set:?}\n\n{}\n\n", bare(set).system)).concat()
        );
    }

    #[test]
    fn the_whole_first_request_without_skills_costs_at_most_900_tokens() {
        for set in SETS {
            let opening = bare(set);
            let request = Request {
                tools: tools_of(&opening),
                system: opening.system,
                messages: vec![Message::user("How many pages does report.pdf have?")],
                ..Request::default()
            };
            let text = format!(
                "{}{}{}",
                request.system,
                serde_json::to_string(&request.tools).unwrap(),
                serde_json::to_string(&request.messages).unwrap(),
            );
            let count = tokens::count(&text);
            assert!(count <= 900, "{set:?}: {count}");
        }
    }
}
