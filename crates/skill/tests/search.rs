//! Recall of skill search over a set of questions as people ask them.
//!
//! The set is in `tests/search/`. The skills of the corpus take part when it is there.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data fails")]

use std::fs;
use std::path::{Path, PathBuf};

use metier_skill::discover::read_skill;
use metier_skill::search::{Document, Index, headings};
use metier_testkit::corpus;
use serde::Deserialize;

/// What share of the questions must have the right skill among the first five.
const WANTED_RECALL: f64 = 0.95;
const CUTOFF: usize = 5;

#[derive(Deserialize)]
struct Skills {
    skill: Vec<Skill>,
}

#[derive(Deserialize)]
struct Skill {
    name: String,
    description: String,
    headings: Vec<String>,
}

#[derive(Deserialize)]
struct Queries {
    query: Vec<Query>,
}

#[derive(Deserialize)]
struct Query {
    ask: String,
    expect: Vec<String>,
    #[serde(default)]
    corpus: bool,
}

fn data<T: for<'de> Deserialize<'de>>(name: &str) -> T {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/search").join(name);
    toml::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.join("SKILL.md").is_file()).collect()
}

fn read(folder: &Path) -> Skill {
    let (found, _) = read_skill(folder).unwrap();
    let manifest = found.unwrap().manifest;
    let body = fs::read_to_string(folder.join("SKILL.md")).unwrap();
    let body = body.splitn(3, "---\n").last().unwrap().to_owned();
    Skill {
        name: manifest.name.to_string(),
        description: manifest.description,
        headings: headings(&body),
    }
}

#[test]
fn the_right_skill_is_among_the_first_five() {
    let mut skills = data::<Skills>("skills.toml").skill;
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills");
    skills.extend(folders(&bundled).iter().map(|folder| read(folder)));
    let corpus = corpus("search over the corpus");
    if let Some(corpus) = &corpus {
        skills.extend(folders(&corpus.join("anthropic")).iter().map(|folder| read(folder)));
    }
    let mut queries = data::<Queries>("queries.toml").query;
    queries.retain(|query| corpus.is_some() || !query.corpus);
    assert!(skills.len() >= 60 && queries.len() >= 100);

    let index = Index::new(skills.iter().map(|skill| Document {
        name: &skill.name,
        description: &skill.description,
        headings: &skill.headings,
    }));
    let mut misses = Vec::new();
    for query in &queries {
        let hits = index.search(&query.ask, CUTOFF);
        let found: Vec<&str> = hits.iter().map(|hit| skills[hit.document].name.as_str()).collect();
        if !query.expect.iter().any(|name| found.contains(&name.as_str())) {
            misses.push(format!("  {:?}: wanted {:?}, found {found:?}", query.ask, query.expect));
        }
    }
    let recall = 1.0 - misses.len() as f64 / queries.len() as f64;
    let summary = format!(
        "recall@{CUTOFF} {:.1} % over {} questions and {} skills; misses:\n{}",
        recall * 100.0,
        queries.len(),
        skills.len(),
        misses.join("\n")
    );
    metier_testkit::report("search", &summary);
    assert!(recall >= WANTED_RECALL, "{summary}");
}
