//! Tables: columns as wide as they must be, cells broken into lines where that is too wide.

use anstyle::Style;
use pulldown_cmark::Alignment;

use super::text::{Glyph, Long, Text, rendered, width};

/// A column is not made narrower than this.
const NARROWEST: usize = 8;
/// Between two columns.
const GAP: &str = " │ ";

/// A table that is complete.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    alignments: Vec<Alignment>,
    /// The headings, then the rows.
    rows: Vec<Vec<Text>>,
}

impl Grid {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    pub(super) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Adds a cell to the last row.
    pub(super) fn cell(&mut self, text: Text) {
        if let Some(row) = self.rows.last_mut() {
            row.push(text);
        }
    }

    /// The lines of the table in so many columns.
    pub(super) fn lines(&self, most: usize, dim: Style) -> Vec<String> {
        let widths = self.widths(most);
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            lines.extend(self.row(row, &widths, dim));
            if index == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(format!("{dim}{}{dim:#}", rules.join("─┼─")));
            }
        }
        lines
    }

    fn row(&self, row: &[Text], widths: &[usize], dim: Style) -> Vec<String> {
        let cells: Vec<Vec<Vec<Glyph>>> =
            row.iter().zip(widths).map(|(cell, most)| cell.wrapped(*most, Long::Breaks)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        let gap = format!("{dim}{GAP}{dim:#}");
        let line = |at: usize| {
            let pieces = widths.iter().enumerate().map(|(column, most)| {
                let glyphs = cells.get(column).and_then(|cell| cell.get(at));
                self.aligned(column, glyphs.map_or(&[], Vec::as_slice), *most)
            });
            pieces.collect::<Vec<_>>().join(&gap).trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }

    fn aligned(&self, column: usize, glyphs: &[Glyph], most: usize) -> String {
        let left = most.saturating_sub(width(glyphs));
        let before = match self.alignments.get(column) {
            Some(Alignment::Right) => left,
            Some(Alignment::Center) => left / 2,
            _ => 0,
        };
        let (before, after) = (" ".repeat(before), " ".repeat(left - before));
        format!("{before}{}{after}", rendered(glyphs))
    }

    /// As wide as the texts are; the widest give way while the table is too wide.
    fn widths(&self, most: usize) -> Vec<usize> {
        let mut widths = vec![0; self.alignments.len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let room = most.saturating_sub(GAP.chars().count() * widths.len().saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let Some(widest) = widths.iter_mut().max().filter(|it| **it > NARROWEST) else { break };
            *widest -= 1;
        }
        widths
    }
}
