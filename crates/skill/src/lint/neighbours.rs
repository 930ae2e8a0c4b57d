//! Skills that stand in each other's way: a model cannot choose between two descriptions that say
//! the same.

use std::path::Path;

use crate::diagnostic::{Code, Diagnostic};
use crate::lint::Linted;
use crate::search::{Document, Index};
use crate::text::Span;

/// How much of a description another one must answer, both ways, to be in its way.
const TOO_ALIKE: f32 = 0.6;
/// How many of the skills that are too much alike are compared with each.
const NEAREST: usize = 200;

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
        let alike: Vec<(usize, f32)> = others
            .iter()
            .filter_map(|&(other, there)| {
                let (_, back) = likeness[other].iter().find(|(place, _)| *place == own)?;
                Some((other, there.min(*back))).filter(|(_, score)| *score >= TOO_ALIKE)
            })
            .collect();
        let nearest = alike.iter().max_by(|left, right| left.1.total_cmp(&right.1));
        if let Some(&(other, score)) = nearest {
            let (place, ..) = described[own];
            let (other_place, name, _) = described[other];
            let found =
                Collision { name, file: &skills[other_place].file, score, more: alike.len() - 1 };
            collisions.push((place, found.diagnostic(skills[place].description)));
        }
    }
    collisions
}

/// The skills that answer a description best, each with the share of the description's own score.
fn nearest(index: &Index, own: usize, description: &str) -> Vec<(usize, f32)> {
    let hits = index.search(description, usize::MAX);
    let Some(full) = hits.iter().find(|hit| hit.document == own).map(|hit| hit.score) else {
        return Vec::new();
    };
    hits.iter()
        .filter(|hit| hit.document != own)
        .map(|hit| (hit.document, (hit.score / full).min(1.0)))
        .take_while(|(_, share)| *share >= TOO_ALIKE)
        .take(NEAREST)
        .collect()
}

/// The skill that is most alike, and how many others are.
struct Collision<'a> {
    name: &'a str,
    file: &'a Path,
    score: f32,
    more: usize,
}

impl Collision<'_> {
    fn diagnostic(&self, description: Span) -> Diagnostic {
        let percent = self.score * 100.0;
        let more = match self.more {
            0 => String::new(),
            more => format!(", and much like {more} more"),
        };
        let message =
            format!("the description is {percent:.0} % like that of `{}`{more}", self.name);
        Diagnostic::new(Code::Collision, description, message)
            .help(format!("say what sets the two apart; the other is {}", self.file.display()))
    }
}
