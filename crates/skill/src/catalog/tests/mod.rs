//! What a model is told of skills: within the budget, fairly, and in no words but ours.

mod budget;
mod forging;
mod forms;

use crate::catalog::{Catalog, CatalogItem, Format, HeaderTokens, build, one_line};

/// A skill as a test writes it.
#[derive(Clone, Debug)]
struct Skill {
    name: String,
    description: String,
    location: String,
    tokens: HeaderTokens,
}

impl Skill {
    fn new(name: &str, description: &str) -> Self {
        let description = one_line(description).into_owned();
        let tokens = HeaderTokens::of_parts(name, &description);
        let location = format!("/skills/{name}/SKILL.md");
        Self { name: name.to_owned(), description, location, tokens }
    }
}

fn catalog(skills: &[Skill], budget: usize, format: Format) -> Catalog {
    let items: Vec<CatalogItem<'_>> = skills
        .iter()
        .map(|skill| CatalogItem {
            name: &skill.name,
            description: &skill.description,
            location: &skill.location,
            tokens: &skill.tokens,
        })
        .collect();
    build(&items, budget, format)
}

/// The text, and what the report says of it.
fn outcome(skills: &[Skill], budget: usize, format: Format) -> String {
    let Catalog { text, report } = catalog(skills, budget, format);
    let crate::catalog::CatalogReport { total, full, shortened, names_only, unlisted, tokens } =
        report;
    format!(
        "{text}= {total}: {full} full, {shortened} shortened, {names_only} names, {unlisted} \
         unlisted; {tokens} tokens"
    )
}
