//! Words people use for what skills call by its technical name.
//!
//! The words are data, in `related.txt`: topics, and everyday words that hint at them. They are
//! compared by their stems, so each stands there once.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::search::analysis::terms;

/// A word that stands for the one that was asked for, and how much it counts of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Relative {
    pub(crate) term: String,
    pub(crate) share: f32,
}

/// Two names of one topic.
const SAME_TOPIC: f32 = 0.5;
/// A topic that a word hints at.
const HINT: f32 = 0.5;

/// What else to look for when a term is asked for.
pub(crate) fn relatives(term: &str) -> &'static [Relative] {
    RELATIVES.get(term).map_or(&[], Vec::as_slice)
}

static RELATIVES: LazyLock<HashMap<String, Vec<Relative>>> =
    LazyLock::new(|| parse(include_str!("related.txt")));

/// Each line is `names of a topic : words that hint at it`; `#` begins a remark.
fn parse(text: &str) -> HashMap<String, Vec<Relative>> {
    let mut relatives: HashMap<String, Vec<Relative>> = HashMap::new();
    let mut relate = |from: &str, to: &str, share: f32| {
        let known = relatives.entry(from.to_owned()).or_default();
        if from != to && !known.iter().any(|relative| relative.term == to) {
            known.push(Relative { term: to.to_owned(), share });
        }
    };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((names, hints)) = line.split_once(" : ") else { continue };
        let (names, hints) = (terms(names), terms(hints));
        for name in &names {
            names.iter().for_each(|other| relate(name, other, SAME_TOPIC));
            hints.iter().for_each(|hint| relate(hint, name, HINT));
        }
    }
    relatives
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_lead_to_topics_and_not_back() {
        let relatives = parse("# remark\nfitness workout : jogging knee\n");
        let of = |word: &str| {
            let known = relatives.get(word).into_iter().flatten();
            known.map(|it| format!("{} {}", it.term, it.share)).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(of("fit"), "workout 0.5");
        assert_eq!(of("jog"), "fit 0.5, workout 0.5");
        assert_eq!(of("knee"), "fit 0.5, workout 0.5");
    }

    #[test]
    fn every_line_of_the_table_is_a_topic() {
        let lines = include_str!("related.txt").lines();
        let topics = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in topics {
            assert_eq!(line.matches(" : ").count(), 1, "{line}");
        }
    }
}
