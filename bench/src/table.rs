//! Tables as Markdown, aligned so that they read well in a terminal too.

/// A table of text; every column but the first holds numbers.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings and no rows.
    pub(crate) fn new(headings: &[&str]) -> Self {
        Self { rows: vec![headings.iter().map(|&heading| heading.to_owned()).collect()] }
    }

    /// Adds a row. Cells that are missing are empty.
    pub(crate) fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.rows[0].len(), String::new());
        self.rows.push(cells);
    }

    /// The table as text, a line a row.
    pub(crate) fn render(&self) -> String {
        let widths: Vec<usize> = (0..self.rows[0].len()).map(|column| self.width(column)).collect();
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, &width))| aligned(cell, width, column))
                .collect();
            text += &format!("| {} |\n", cells.join(" | "));
            if index == 0 {
                text += &rule(&widths);
            }
        }
        text
    }

    fn width(&self, column: usize) -> usize {
        self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    }
}

fn aligned(cell: &str, width: usize, column: usize) -> String {
    if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
}

/// The line below the headings, with a colon where a column is aligned to the right.
fn rule(widths: &[usize]) -> String {
    let cells = widths.iter().enumerate().map(|(column, &width)| {
        let end = if column == 0 { '-' } else { ':' };
        format!("{}{end}", "-".repeat(width + 1))
    });
    format!("|{}|\n", cells.collect::<Vec<_>>().join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_aligned_to_the_right_and_missing_cells_are_empty() {
        let mut table = Table::new(&["skills", "cold ÷ floor", "MiB"]);
        table.row(vec!["10".into(), "1.25".into(), "4".into()]);
        table.row(vec!["10 000".into(), "2.5".into()]);
        insta::assert_snapshot!(table.render(), @"
        | skills | cold ÷ floor | MiB |
        |--------|-------------:|----:|
        | 10     |         1.25 |   4 |
        | 10 000 |          2.5 |     |
        ");
    }
}
