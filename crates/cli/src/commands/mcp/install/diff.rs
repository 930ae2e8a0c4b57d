//! What changes in a file, as lines that go and lines that come.
//!
//! Nothing around the change is shown: a configuration may hold keys of other servers.

use crate::output::{plain_block, style, styled};

/// Characters of a long line that are shown around what changes in it.
const AROUND: usize = 40;

/// The change of a text, which is in one place.
pub(super) fn diff(old: &str, new: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let top = before.iter().zip(&after).take_while(|(old, new)| old == new).count();
    let rest = (before.len() - top).min(after.len() - top);
    let pairs = before.iter().rev().zip(after.iter().rev()).take(rest);
    let mut bottom = pairs.take_while(|(old, new)| old == new).count();
    // What begins with the end of another entry would be shown without its own.
    let longer = if before.len() > after.len() { &before } else { &after };
    if longer[top..].first().is_some_and(|it| it.trim_start().starts_with(['}', ']'])) {
        bottom = bottom.saturating_sub(1);
    }
    let (gone, come) = (&before[top..before.len() - bottom], &after[top..after.len() - bottom]);
    let mut text = styled(style::DIM, format!("line {}:", top + 1));
    let long = match (gone, come) {
        ([old], [new]) => Some((excerpt(old, new), excerpt(new, old))),
        _ => None,
    };
    let (gone, come) = match &long {
        Some((old, new)) => (vec![old.as_str()], vec![new.as_str()]),
        None => (gone.to_vec(), come.to_vec()),
    };
    let signs = gone.iter().map(|line| (style::BAD, '-', line));
    for (style, sign, line) in signs.chain(come.iter().map(|line| (style::GOOD, '+', line))) {
        text += &format!("\n{}", styled(style, format!("{sign} {}", plain_block(line))));
    }
    text + "\n"
}

/// The part of a line that another does not have, with a little around it.
fn excerpt(line: &str, other: &str) -> String {
    let same = |(one, two): &(char, char)| one == two;
    let start = line.chars().zip(other.chars()).take_while(same).count();
    let end = line.chars().rev().zip(other.chars().rev()).take_while(same).count();
    let length = line.chars().count();
    let first = start.saturating_sub(AROUND);
    let last = (length - end.min(length)).max(start) + AROUND;
    let shown: String = line.chars().take(last).skip(first).collect();
    let before = if first > 0 { "…" } else { "" };
    let after = if last < length { "…" } else { "" };
    format!("{before}{shown}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &str, new: &str) -> String {
        anstream::adapter::strip_str(&diff(old, new)).to_string()
    }

    #[test]
    fn only_what_changes_is_shown() {
        insta::assert_snapshot!(shown("a\nb\nc\n", "a\nb,\nx\nc\n"), @"
        line 2:
        - b
        + b,
        + x
        ");
        insta::assert_snapshot!(shown("", "a\n"), @"
        line 1:
        + a
        ");
        insta::assert_snapshot!(shown("{\n}\n", "{\n},\na {\n}\n"), @"
        line 2:
        - }
        + },
        + a {
        + }
        ");
        insta::assert_snapshot!(shown("a\nb\n", "a\n"), @"
        line 2:
        - b
        ");
    }

    #[test]
    fn of_a_long_line_the_part_that_changes_is_shown() {
        let (left, right) = ("l".repeat(100), "r".repeat(100));
        let old = format!("{left}{right}");
        insta::assert_snapshot!(shown(&old, &format!("{left} new {right}")), @"
        line 1:
        - …llllllllllllllllllllllllllllllllllllllllrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr…
        + …llllllllllllllllllllllllllllllllllllllll new rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr…
        ");
    }
}
