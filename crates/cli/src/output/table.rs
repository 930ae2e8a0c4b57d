//! Tables and bars, laid out by what characters look like rather than how many there are.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::masking::masked;

/// Which side of a column texts are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Left.
    Left,
    /// Right.
    Right,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// Its heading.
    pub heading: &'static str,
    /// Which side texts are on.
    pub align: Align,
    /// Whether it takes what width is left, and is cut to it.
    pub fills: bool,
}

/// Rows of styled texts under headings.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<(Style, String)>>,
}

/// Between two columns.
const GAP: usize = 2;
/// A filling column is never narrower than this.
const MIN_FILL: usize = 16;

impl Table {
    /// A table without rows.
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; the texts are plain.
    pub(crate) fn row(&mut self, cells: Vec<(Style, String)>) {
        self.rows.push(cells);
    }

    /// The table in so many columns of a terminal.
    pub(crate) fn render(&self, width: usize) -> String {
        let widths = self.widths(width);
        let headings = self.columns.iter().map(|it| (super::style::HEADING, it.heading.to_owned()));
        let mut text = self.line(&headings.collect::<Vec<_>>(), &widths);
        for row in &self.rows {
            text.push_str(&self.line(row, &widths));
        }
        text
    }

    fn widths(&self, width: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|it| it.heading.width()).collect();
        for row in &self.rows {
            for (own, (_, text)) in widths.iter_mut().zip(row) {
                *own = (*own).max(text.width());
            }
        }
        let gaps = GAP * self.columns.len().saturating_sub(1);
        for (index, column) in self.columns.iter().enumerate() {
            if column.fills {
                let others: usize = widths
                    .iter()
                    .enumerate()
                    .filter(|(it, _)| *it != index)
                    .map(|(_, it)| it)
                    .sum();
                let left = width.saturating_sub(others + gaps).max(MIN_FILL);
                widths[index] = widths[index].min(left);
            }
        }
        widths
    }

    fn line(&self, cells: &[(Style, String)], widths: &[usize]) -> String {
        let mut line = String::new();
        let last = cells.len().saturating_sub(1);
        for (index, (style, text)) in cells.iter().enumerate() {
            let (column, width) = (self.columns[index], widths[index]);
            let text = fit(text, width);
            let padding = " ".repeat(width.saturating_sub(text.width()));
            let (before, after) = match column.align {
                Align::Right => (padding.as_str(), ""),
                Align::Left if index == last => ("", ""),
                Align::Left => ("", padding.as_str()),
            };
            line.push_str(&format!("{before}{style}{text}{style:#}{after}"));
            if index != last {
                line.push_str(&" ".repeat(GAP));
            }
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

/// A text of at most so many columns, with an ellipsis where it was cut.
pub(super) fn fit(text: &str, width: usize) -> String {
    // Before it is cut: a part of a value would not be recognised.
    let text = masked(text);
    if text.width() <= width {
        return text.into_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or_default();
        if used > width {
            break;
        }
        kept.push(character);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// The end of a text in at most so many columns, with an ellipsis where it was cut.
pub(super) fn fit_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let mut start = text.len();
    for (index, character) in text.char_indices().rev() {
        used += character.width().unwrap_or_default();
        if used > width {
            break;
        }
        start = index;
    }
    format!("…{}", text[start..].trim_start())
}

/// A bar of at most `width` columns for a share of the largest value.
pub(crate) fn bar(value: usize, largest: usize, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (value * width * 8).checked_div(largest).unwrap_or_default();
    let eighths = if value > 0 { eighths.max(1) } else { 0 };
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_columns_and_not_by_bytes() {
        assert_eq!(fit("技能技能", 5), "技能…");
        assert_eq!(fit("abc def", 5), "abc…");
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit_end("技能技能", 5), "…技能");
        assert_eq!(fit_end("abc def", 5), "…def");
        assert_eq!(fit_end("abc", 3), "abc");
    }

    #[test]
    fn bars_show_something_for_something() {
        assert_eq!(bar(0, 10, 4), "");
        assert_eq!(bar(1, 1000, 4), "▏");
        assert_eq!(bar(10, 10, 4), "████");
        assert_eq!(bar(5, 0, 4), "▏");
    }
}
