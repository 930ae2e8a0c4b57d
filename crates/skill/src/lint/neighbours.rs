//! Skills that stand in each other's way: a model cannot choose between two descriptions that say
//! the same.

use crate::diagnostic::{Code, Diagnostic};
use crate::lint::Linted;
use crate::search::{Document, Index};

/// How much of a description another one must answer, both ways, to be in its way.
const TOO_ALIKE: f32 = 0.6;
/// How many of the nearest skills are compared with each.
const NEAREST: usize = 8;

/// The collisions of each of some skills with the others, by place in `skills`.
pub fn collisions(skills: &[Linted]) -> Vec<(usize, Diagnostic)> {
    let described: Vec<(usize, &str, &str)> = skills
        .iter()
        .enumerate()
        .filter_map(|(place, skill)| {
            let manifest = skill.manifest.as_ref()?;
            Some((place, manifest.name.as_str(), manifest.description.as_str()))
        })
        .collect();
    // Names are left out: a model reads the description, and copies differ by name only.
    let index = Index::new(described.iter().map(|(_, _, description)| Document {
        name: "",
        description,
        headings: &[],
    }));
    let likeness: Vec<Vec<(usize, f32)>> =
        described.iter().enumerate().map(|(own, it)| nearest(&index, own, it.2)).collect();
    let mut collisions = Vec::new();
    for (own, others) in likeness.iter().enumerate() {
        for &(other, there) in others {
            let back = likeness[other].iter().find(|(place, _)| *place == own);
            let Some(&(_, back)) = back else { continue };
            if there.min(back) >= TOO_ALIKE {
                let (place, ..) = described[own];
                let (other_place, other_name, _) = described[other];
                let score = there.min(back);
                let diagnostic = collision(&skills[place], &skills[other_place], other_name, score);
                collisions.push((place, diagnostic));
            }
        }
    }
    collisions
}

/// The skills that answer a description best, each with the share of the description's own score.
fn nearest(index: &Index, own: usize, description: &str) -> Vec<(usize, f32)> {
    let hits = index.search(description, NEAREST);
    let Some(full) = hits.iter().find(|hit| hit.document == own).map(|hit| hit.score) else {
        return Vec::new();
    };
    hits.iter()
        .filter(|hit| hit.document != own)
        .map(|hit| (hit.document, (hit.score / full).min(1.0)))
        .collect()
}

fn collision(skill: &Linted, other: &Linted, name: &str, score: f32) -> Diagnostic {
    let message = format!("the description is {:.0} % like that of `{name}`", score * 100.0);
    Diagnostic::new(Code::Collision, skill.description, message)
        .help(format!("say what sets the two apart; the other is {}", other.file.display()))
}
