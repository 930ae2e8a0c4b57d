//! Fitting a catalog into a budget without starving anyone.
//!
//! In this order, and only as far as needed: every description in full; all
//! descriptions cut at one common cap; names only; names folded into groups, the
//! largest first. Every skill stays reachable by searching.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::catalog::cost::{HeaderTokens, first_segments};
use crate::catalog::render::{Format, Line, escape, escape_place};
use crate::tokens;

/// A cap below this many tokens says less than no description.
const MIN_CAP: usize = 6;

/// A skill as the catalog needs it.
#[derive(Clone, Copy, Debug)]
pub struct CatalogItem<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its description, on one line.
    pub description: &'a str,
    /// Where its `SKILL.md` is; shown in XML only.
    pub location: &'a str,
    /// What name and description cost.
    pub tokens: &'a HeaderTokens,
}

/// A catalog and what it left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalog {
    /// The text, empty when there are no skills.
    pub text: String,
    /// What became of the skills.
    pub report: CatalogReport,
}

/// How many skills are shown in which form. The forms add up to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CatalogReport {
    /// Skills a model may use.
    pub total: usize,
    /// With the whole description.
    pub full: usize,
    /// With the beginning of the description.
    pub shortened: usize,
    /// By name.
    pub names_only: usize,
    /// Found by searching only.
    pub unlisted: usize,
    /// What the text costs at the most.
    pub tokens: usize,
}

/// Builds the catalog of some skills. They are sorted by name first.
///
/// Where the budget is too small for every description, all are cut at one length, then left out, then names are folded
/// into groups; the report says how many skills are shown in which form.
///
/// ```
/// use metier_skill::catalog::{CatalogItem, Format, HeaderTokens, build};
///
/// let description = "Sums up the columns of CSV files. Use when the user has a table and wants totals or means.";
/// let tokens = HeaderTokens::of_parts("csv-stats", description);
/// let item = CatalogItem { name: "csv-stats", description, location: "", tokens: &tokens };
/// let catalog = build(&[item], 24, Format::Lines);
/// assert_eq!((catalog.report.full, catalog.report.shortened), (0, 1));
/// assert!(catalog.text.contains("- csv-stats: Sums up the columns"));
/// ```
pub fn build(items: &[CatalogItem<'_>], budget: usize, format: Format) -> Catalog {
    let mut report = CatalogReport { total: items.len(), ..CatalogReport::default() };
    if items.is_empty() {
        return Catalog { text: String::new(), report };
    }
    let mut items: Vec<Costed<'_>> = items.iter().map(|item| Costed::new(*item, format)).collect();
    items.sort_by_key(|item| item.name);
    let bounds = format.bounds();
    report.tokens = bounds.opening;
    let mut text = String::from(format.opening());
    for shown in choose(&items, budget, bounds) {
        format.write(&shown.line, &mut text);
        report.tokens += shown.cost;
        match shown.line {
            Line::Skill { cut: false, .. } => report.full += 1,
            Line::Skill { cut: true, .. } => report.shortened += 1,
            Line::Name { .. } => report.names_only += 1,
            Line::Group { .. } => {}
            Line::Behind { count } => report.unlisted += count,
        }
    }
    text.push_str(format.closing());
    Catalog { text, report }
}

/// A line and what it costs.
struct Shown<'a> {
    line: Line<'a>,
    cost: usize,
}

/// Upper bounds, in tokens, of what surrounds names and descriptions.
///
/// Each counts the characters a line adds, plus one for every place where two parts meet, since
/// the tokenizer may cut there otherwise than between the parts.
#[derive(Clone, Copy)]
struct Bounds {
    opening: usize,
    skill: usize,
    name: usize,
    group: usize,
    behind: usize,
    ellipsis: usize,
}

impl Format {
    fn bounds(self) -> Bounds {
        match self {
            Self::Lines => {
                Bounds { opening: 4, skill: 4, name: 3, group: 8, behind: 20, ellipsis: 2 }
            }
            Self::Xml => {
                Bounds { opening: 12, skill: 30, name: 22, group: 18, behind: 20, ellipsis: 2 }
            }
        }
    }
}

/// An item with what it costs in a format, besides the bounds.
struct Costed<'a> {
    name: &'a str,
    description: &'a str,
    location: &'a str,
    tokens: &'a HeaderTokens,
    /// Name, and location where it is shown.
    fixed: usize,
    /// The whole description, without what escaping adds.
    whole: usize,
    format: Format,
}

impl<'a> Costed<'a> {
    fn new(item: CatalogItem<'a>, format: Format) -> Self {
        let CatalogItem { name, description, location, tokens: counts } = item;
        let mut fixed = counts.joined_name();
        if format == Format::Xml {
            fixed += added_by_escaping(name) + tokens::count(&escape_place(location));
        }
        let whole = counts.description();
        Self { name, description, location, tokens: counts, fixed, whole, format }
    }

    /// The line with at most `cap` tokens of description, not counting what escaping adds.
    fn described(&self, cap: usize, bounds: Bounds) -> Shown<'a> {
        let cut = self.whole > cap;
        let description = self.first_tokens(cap);
        let line = Line::Skill { name: self.name, description, cut, location: self.location };
        Shown { line, cost: self.described_cost(cap, bounds) }
    }

    /// What that line costs.
    fn described_cost(&self, cap: usize, bounds: Bounds) -> usize {
        let description =
            if self.whole > cap { self.tokens.prefix(cap).0 + bounds.ellipsis } else { self.whole };
        let escaping = match self.format {
            Format::Lines => 0,
            Format::Xml => added_by_escaping(self.first_tokens(cap)),
        };
        bounds.skill + self.fixed + description + escaping
    }

    fn first_tokens(&self, cap: usize) -> &'a str {
        if self.whole > cap {
            first_segments(self.description, self.tokens.prefix(cap).1)
        } else {
            self.description
        }
    }

    fn named(&self, bounds: Bounds) -> Shown<'a> {
        let line = Line::Name { name: self.name, location: self.location };
        Shown { line, cost: bounds.name + self.fixed }
    }

    /// The part of the name before its first hyphen, if it has one.
    fn prefix(&self) -> Option<&'a str> {
        self.name.split_once('-').map(|(prefix, _)| prefix).filter(|prefix| !prefix.is_empty())
    }
}

/// Every escaped character becomes up to six, each of which may be a token of its own.
fn added_by_escaping(text: &str) -> usize {
    escape(text).len() - text.len()
}

fn choose<'a>(items: &[Costed<'a>], budget: usize, bounds: Bounds) -> Vec<Shown<'a>> {
    let fits = |cap: usize| {
        let cost: usize = items.iter().map(|item| item.described_cost(cap, bounds)).sum();
        bounds.opening + cost <= budget
    };
    let described = |cap: usize| items.iter().map(|item| item.described(cap, bounds)).collect();
    let widest = items.iter().map(|item| item.whole).max().unwrap_or_default();
    if fits(widest) {
        return described(widest);
    }
    if !fits(MIN_CAP) {
        let names: Vec<Shown<'a>> = items.iter().map(|item| item.named(bounds)).collect();
        let cost: usize = names.iter().map(|name| name.cost).sum();
        let all_fit = bounds.opening + cost <= budget;
        return if all_fit { names } else { fold_names(items, budget, bounds) };
    }
    let (mut fitting, mut too_wide) = (MIN_CAP, widest);
    while too_wide - fitting > 1 {
        let middle = fitting.midpoint(too_wide);
        if fits(middle) {
            fitting = middle;
        } else {
            too_wide = middle;
        }
    }
    described(fitting)
}

/// Names, with the largest groups folded until the rest fits; what still does not fit is left
/// out from the end.
fn fold_names<'a>(items: &[Costed<'a>], budget: usize, bounds: Bounds) -> Vec<Shown<'a>> {
    let folded = groups_to_fold(items, budget, bounds);
    let mut total = bounds.opening + bounds.behind;
    let mut lines: Vec<Shown<'a>> = Vec::new();
    let mut named = 0;
    for item in items {
        let group = item.prefix().and_then(|prefix| folded.get_key_value(prefix));
        let shown = match group {
            None => item.named(bounds),
            Some((&prefix, &count)) => {
                let line = Line::Group { prefix, count };
                if lines.last().is_some_and(|last| last.line == line) {
                    continue;
                }
                Shown { line, cost: group_cost(prefix, bounds) }
            }
        };
        if total + shown.cost > budget {
            break;
        }
        total += shown.cost;
        named += usize::from(group.is_none());
        lines.push(shown);
    }
    let line = Line::Behind { count: items.len() - named };
    lines.push(Shown { line, cost: bounds.behind });
    lines
}

/// The groups whose names are replaced by one line, with how many skills each has.
fn groups_to_fold<'a>(
    items: &[Costed<'a>],
    budget: usize,
    bounds: Bounds,
) -> BTreeMap<&'a str, usize> {
    let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut total = bounds.opening + bounds.behind;
    for item in items {
        let cost = item.named(bounds).cost;
        total += cost;
        if let Some(prefix) = item.prefix() {
            let group = groups.entry(prefix).or_default();
            *group = (group.0 + 1, group.1 + cost);
        }
    }
    let mut largest: Vec<_> = groups.into_iter().filter(|(_, (count, _))| *count > 1).collect();
    largest.sort_by_key(|&(prefix, (count, _))| (Reverse(count), prefix));
    let mut folded = BTreeMap::new();
    for (prefix, (count, names)) in largest {
        if total <= budget {
            break;
        }
        folded.insert(prefix, count);
        total = total - names + group_cost(prefix, bounds).min(names);
    }
    folded
}

fn group_cost(prefix: &str, bounds: Bounds) -> usize {
    bounds.group + tokens::count(prefix)
}
