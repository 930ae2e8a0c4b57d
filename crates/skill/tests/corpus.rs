//! Real skills, as people wrote them: they load, and what cannot be used says why and where.
//!
//! The folder comes from `METIER_TEST_CORPUS`. Whatever skills are in it take part; those of
//! `anthropic/` are known by name.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its data fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use metier_skill::catalog::{self, CatalogItem, Format, one_line};
use metier_skill::diagnostic::Level;
use metier_skill::discover::{Found, read_skill};
use metier_skill::files;
use metier_skill::header::Frame;
use metier_skill::lint::{collisions, lint_skill};
use metier_skill::problem::Problem;
use metier_skill::tokens;
use metier_testkit::{corpus, report};

/// What share of the files with a header must load.
const WANTED_SHARE: f64 = 0.99;
/// What a skill may cost in the catalog besides its name and description.
const CATALOG_TOKENS_A_SKILL: usize = 10;

/// Every `SKILL.md`, in any case, below a folder.
fn skill_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            files.extend(skill_files(&path));
        } else if entry.file_name().eq_ignore_ascii_case("SKILL.md") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn read(file: &Path) -> (Option<Found>, Vec<Problem>) {
    read_skill(file.parent().unwrap()).unwrap_or_else(|problem| (None, vec![*problem]))
}

fn known(corpus: &Path) -> BTreeMap<String, (Found, Vec<Problem>)> {
    let files = skill_files(&corpus.join("anthropic"));
    let load = |file: &PathBuf| {
        let (found, problems) = read(file);
        let found = found.unwrap_or_else(|| panic!("{}: {problems:?}", file.display()));
        (found.manifest.name.to_string(), (found, problems))
    };
    files.iter().map(load).collect()
}

#[test]
fn the_known_skills_load_with_their_descriptions_as_people_read_them() {
    let Some(corpus) = corpus("known skills load") else { return };
    let skills = known(&corpus);
    assert_eq!(skills.len(), 12, "{:?}", skills.keys());
    for (name, (found, problems)) in &skills {
        let description = &found.manifest.description;
        assert!(!description.starts_with(['"', '\'', '|', '>']), "{name}: {description}");
        assert_eq!(description.trim(), description, "{name}");
        assert_eq!(found.folder().file_name().unwrap().to_str(), Some(name.as_str()));
        let codes: Vec<&str> = problems.iter().map(|problem| problem.code.as_str()).collect();
        let wanted: &[&str] = if name == "claude-api" { &["M032"] } else { &[] };
        assert_eq!(codes, wanted, "{name}");
    }
    let (_, problems) = &skills["claude-api"];
    assert!(problems[0].message.contains("characters"), "{}", problems[0].message);
}

#[test]
fn nearly_every_file_with_a_header_loads_and_every_other_says_why_with_a_line() {
    let Some(corpus) = corpus("files of the corpus load") else { return };
    let (mut with_header, mut loaded) = (0, 0);
    let mut refused = Vec::new();
    for file in skill_files(&corpus) {
        let (found, problems) = read(&file);
        let has_header = Frame::find(&fs::read(&file).unwrap()).is_ok();
        with_header += usize::from(has_header);
        loaded += usize::from(has_header && found.is_some());
        if found.is_none() {
            assert!(!problems.is_empty(), "{} is silent", file.display());
            assert!(problems.iter().all(|problem| problem.line >= 1 && problem.path == file));
            refused.push(format!("  {}: {}", file.display(), problems[0].message));
        }
    }
    let share = loaded as f64 / with_header as f64;
    let summary = format!("{loaded} of {with_header} headers load; not:\n{}", refused.join("\n"));
    report("corpus", &summary);
    assert!(with_header >= 12 && share >= WANTED_SHARE, "{summary}");
}

#[test]
fn the_catalog_costs_little_more_than_names_and_descriptions() {
    let Some(corpus) = corpus("cost of the catalog") else { return };
    let found: Vec<Found> = skill_files(&corpus).iter().filter_map(|file| read(file).0).collect();
    let lines: Vec<(String, String)> = found
        .iter()
        .map(|it| (it.manifest.name.to_string(), one_line(&it.manifest.description).into_owned()))
        .collect();
    let items: Vec<CatalogItem<'_>> = found
        .iter()
        .zip(&lines)
        .map(|(found, (name, description))| CatalogItem {
            name,
            description,
            location: "",
            tokens: &found.tokens,
        })
        .collect();
    let made = catalog::build(&items, usize::MAX / 2, Format::Lines);
    let fields: usize =
        lines.iter().map(|(name, text)| tokens::count(name) + tokens::count(text)).sum();
    let cost = tokens::count(&made.text);
    report("catalog", &format!("{} skills: {fields} tokens, in the catalog {cost}", lines.len()));
    assert!(cost <= made.report.tokens);
    assert!(made.report.tokens <= fields + CATALOG_TOKENS_A_SKILL * lines.len());
    assert_eq!(made.report.full, lines.len());
}

#[test]
fn every_skill_can_be_judged_and_its_docs_be_read() {
    let Some(corpus) = corpus("linting the corpus") else { return };
    let mut linted = Vec::new();
    for file in skill_files(&corpus) {
        let skill = lint_skill(&file).unwrap();
        for diagnostic in &skill.diagnostics {
            let span = diagnostic.span;
            assert!(skill.text.get(span.start..span.end).is_some(), "{}", file.display());
            assert!(diagnostic.severity(Level::Lenient) <= diagnostic.severity(Level::Strict));
        }
        let tree = files::list(file.parent().unwrap()).unwrap();
        for doc in tree.docs() {
            assert!(!tree.read_doc(&doc.path).unwrap().text.is_empty(), "{}", doc.path);
        }
        linted.push(skill);
    }
    for (place, diagnostic) in collisions(&linted) {
        assert!(diagnostic.help.is_some() && place < linted.len());
    }
}
