//! What is measured: fixed scripts over the skills of a library.
//!
//! Which skills take part follows from the library alone. Those of `anthropics/skills` that others measured
//! with are taken where they are; else the choice goes by the number of docs, then by name.

use metier_agent::Library as _;
use metier_skill::files;
use serde_json::json;

use super::laboratory::{Call, Laboratory, Turn};
use crate::args::BenchArgs;
use crate::context::Context;
use crate::failure::Failure;

/// Docs that are added one by one.
const MOST_DOCS: usize = 6;
/// Turns of a long session.
const TURNS: usize = 6;
/// A command that every skill can run.
const COMMAND: &str = "wc -w SKILL.md";

/// A skill that may take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Its name.
    pub name: String,
    /// Its docs, without licences.
    pub docs: Vec<String>,
}

/// A script with a name.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// For programs.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// The skills that take part.
    pub skills: Vec<String>,
    /// What is said and done.
    pub turns: Vec<Turn>,
}

/// The skills that a model may use, by name.
///
/// # Errors
///
/// When there is none, or one cannot be read.
pub(super) fn known(
    laboratory: &Laboratory,
    arguments: &BenchArgs,
    context: &Context,
) -> Result<Vec<Known>, Failure> {
    let snapshot = laboratory.skills().snapshot();
    if !arguments.json {
        context.report(&snapshot.problems);
    }
    let mut known = Vec::new();
    for entry in snapshot.entries.iter().filter(|entry| entry.is_model_visible()) {
        let tree = files::list(&context.folder_of(entry)?)?;
        let docs = tree.docs().map(|doc| doc.path.clone()).filter(|path| !is_licence(path));
        known.push(Known { name: entry.name.as_str().to_owned(), docs: docs.collect() });
    }
    if known.is_empty() {
        let failure = Failure::new("there are no skills to measure with");
        return Err(failure.hint(if arguments.sources.skills_dirs.is_empty() {
            "name a folder of skills with `--skills-dir`"
        } else {
            "`metier skills list` says why"
        }));
    }
    known.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(known)
}

/// Everything that `prompt-cache` measures.
pub(super) fn cases(known: &[Known]) -> Vec<Case> {
    let by_docs = by_docs(known);
    let one = preferred(known, "internal-comms").unwrap_or(by_docs[0]);
    let many = preferred(known, "mcp-builder").unwrap_or(by_docs[0]);
    let mut cases = vec![
        case("one-skill", "skill, doc, command", vec![with_doc(one)], &[one]),
        case("docs-one-by-one", "docs one by one", vec![doc_by_doc(many)], &[many]),
    ];
    if let Some(pair) = pair(known) {
        let turn = both(&pair.each_ref().map(|it| it.name.as_str()));
        cases.push(case("two-skills", "two skills, one turn", vec![turn], &pair));
        let new: Vec<&Known> = known.iter().take(TURNS).collect();
        let turns = new.iter().map(|it| with_command(&it.name)).collect();
        cases.push(case("new-skill-each-turn", "new skill each turn", turns, &new));
    }
    let turns = vec![with_command(&many.name); TURNS];
    cases.push(case("same-skill-again", "same skill each turn", turns, &[many]));
    cases
}

/// Two skills for a task that needs two.
pub(super) fn pair(known: &[Known]) -> Option<[&Known; 2]> {
    let usual = ["brand-guidelines", "frontend-design"].map(|name| preferred(known, name));
    match (usual, known) {
        ([Some(one), Some(other)], _) | (_, [one, other, ..]) => Some([one, other]),
        _ => None,
    }
}

/// Loads skills and runs a command of the first. The words name no loading: a model that has everything
/// in its prompt is asked for the same.
pub(super) fn task(skills: &[&Known]) -> Turn {
    let names: Vec<&str> = skills.iter().map(|it| it.name.as_str()).collect();
    let calls = names.iter().map(|name| load(name)).chain([run(names[0])]);
    Turn {
        words: format!("Use {}: run `{COMMAND}` with {}.", names.join(" and "), names[0]),
        calls: calls.collect(),
        ..Turn::default()
    }
}

fn case(name: &'static str, title: &'static str, turns: Vec<Turn>, skills: &[&Known]) -> Case {
    let skills = skills.iter().map(|it| it.name.clone()).collect();
    Case { name, title, skills, turns }
}

fn preferred<'a>(known: &'a [Known], name: &str) -> Option<&'a Known> {
    known.iter().find(|it| it.name == name)
}

/// The skill with most docs first; of as many, by name.
fn by_docs(known: &[Known]) -> Vec<&Known> {
    let mut sorted: Vec<&Known> = known.iter().collect();
    sorted.sort_by_key(|it| std::cmp::Reverse(it.docs.len()));
    sorted
}

fn with_doc(skill: &Known) -> Turn {
    let Known { name, docs } = skill;
    let mut calls = vec![load(name)];
    let doc = docs.first().map(|doc| {
        calls.push(select(name, doc, "replace"));
        format!(", select its doc {doc}")
    });
    calls.push(run(name));
    let doc = doc.unwrap_or_default();
    Turn {
        words: format!("Load {name}{doc}, then run `{COMMAND}` with it."),
        calls,
        ..Turn::default()
    }
}

fn doc_by_doc(skill: &Known) -> Turn {
    let Known { name, docs } = skill;
    let docs = &docs[..docs.len().min(MOST_DOCS)];
    let selects = docs.iter().map(|doc| select(name, doc, "add"));
    Turn {
        words: format!("Load {name}, then add its docs one by one: {}.", docs.join(", ")),
        calls: [load(name)].into_iter().chain(selects).collect(),
        ..Turn::default()
    }
}

fn both(names: &[&str; 2]) -> Turn {
    let [one, other] = names;
    Turn {
        words: format!("Load {one} and run `{COMMAND}` with it, then the same with {other}."),
        calls: vec![load(one), run(one), load(other), run(other)],
        ..Turn::default()
    }
}

fn with_command(name: &str) -> Turn {
    let list = Call { tool: "skill_list_docs", arguments: json!({ "skill": name }) };
    Turn {
        words: format!("Load {name}, list its docs, then run `{COMMAND}` with it."),
        calls: vec![load(name), list, run(name)],
        ..Turn::default()
    }
}

fn load(skill: &str) -> Call {
    Call { tool: "skill_load", arguments: json!({ "skill": skill }) }
}

fn select(skill: &str, doc: &str, mode: &str) -> Call {
    let arguments = json!({ "skill": skill, "docs": [doc], "mode": mode });
    Call { tool: "skill_select_docs", arguments }
}

/// A command of a skill.
pub(super) fn run(skill: &str) -> Call {
    Call { tool: "skill_run", arguments: json!({ "skill": skill, "command": COMMAND }) }
}

fn is_licence(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    ["license", "licence", "notice"].iter().any(|word| name.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(skills: &[(&str, usize)]) -> Vec<Known> {
        let docs = |count: usize| (0..count).map(|at| format!("{at}.md")).collect();
        let skill =
            |(name, count): &(&str, usize)| Known { name: (*name).to_owned(), docs: docs(*count) };
        skills.iter().map(skill).collect()
    }

    /// The cases of a library: skills and calls of each turn.
    fn chosen(skills: &[(&str, usize)]) -> String {
        let turn = |turn: &Turn| {
            turn.calls
                .iter()
                .map(|it| it.tool.trim_start_matches("skill_"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let line = |case: &Case| {
            let turns: Vec<String> = case.turns.iter().map(turn).collect();
            format!("{} [{}] {}", case.name, case.skills.join(" "), turns.join(" | "))
        };
        cases(&known(skills)).iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_skills_follow_from_the_library() {
        insta::assert_snapshot!(chosen(&[("a", 1), ("b", 9), ("c", 9)]), @"
        one-skill [b] load select_docs run
        docs-one-by-one [b] load select_docs select_docs select_docs select_docs select_docs select_docs
        two-skills [a b] load run load run
        new-skill-each-turn [a b c] load list_docs run | load list_docs run | load list_docs run
        same-skill-again [b] load list_docs run | load list_docs run | load list_docs run | load list_docs run | load list_docs run | load list_docs run
        ");
        insta::assert_snapshot!(
            chosen(&[("brand-guidelines", 0), ("c", 9), ("frontend-design", 0), ("internal-comms", 4), ("mcp-builder", 1)])
                .lines().map(|line| line.split(']').next().unwrap()).collect::<Vec<_>>().join("]\n"),
            @"
        one-skill [internal-comms]
        docs-one-by-one [mcp-builder]
        two-skills [brand-guidelines frontend-design]
        new-skill-each-turn [brand-guidelines c frontend-design internal-comms mcp-builder]
        same-skill-again [mcp-builder
        ");
    }

    #[test]
    fn one_skill_without_docs_is_enough() {
        insta::assert_snapshot!(chosen(&[("a", 0)]), @"
        one-skill [a] load run
        docs-one-by-one [a] load
        same-skill-again [a] load list_docs run | load list_docs run | load list_docs run | load list_docs run | load list_docs run | load list_docs run
        ");
    }

    #[test]
    fn licences_are_no_docs_to_choose() {
        for (path, expected) in
            [("LICENSE.txt", true), ("a/Licence.md", true), ("licensing/a.md", false)]
        {
            assert_eq!(is_licence(path), expected, "{path}");
        }
    }
}
