//! What is to be seen on a terminal: rows of text in the same style.

use anyhow::{Result, bail};
use avt::{Color, Pen, Terminal};

/// More than any session has: nothing may scroll away before it is drawn.
const MOST_ROWS: usize = 400;

/// A part of a row that looks the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Where it begins, from zero.
    pub(super) column: usize,
    /// How many columns it takes.
    pub(super) width: usize,
    pub(super) text: String,
    pub(super) style: Style,
}

/// How text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// One of the sixteen colours; text has its own where there is none.
    pub(super) color: Option<u8>,
    pub(super) bold: bool,
    pub(super) faint: bool,
    pub(super) italic: bool,
    pub(super) underline: bool,
}

/// A terminal that keeps every row.
pub(super) struct Screen {
    terminal: Terminal,
}

impl Screen {
    /// An empty terminal of so many columns.
    pub(super) fn new(columns: u16) -> Result<Self> {
        Ok(Self { terminal: Terminal::new(usize::from(columns), MOST_ROWS)? })
    }

    /// Writes to it.
    pub(super) fn write(&mut self, text: &str) {
        self.terminal.feed(text);
    }

    /// The row in which the next character goes.
    pub(super) fn row(&self) -> usize {
        self.terminal.cursor().row
    }

    /// Every row down to the cursor.
    pub(super) fn rows(&self) -> Result<Vec<Vec<Run>>> {
        let last = self.row();
        if last + 1 >= MOST_ROWS {
            bail!("the session has more than {MOST_ROWS} rows");
        }
        let screen = self.terminal.screen();
        let lines = (0..=last).filter_map(|row| screen.line(row));
        Ok(lines.map(|line| runs(line.cells())).collect())
    }
}

fn runs(cells: &[avt::Cell]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.width() > 0) {
        let style = style(cell.pen());
        let width = usize::from(cell.width());
        match runs.last_mut() {
            Some(run) if run.style == style => {
                run.text.push(cell.char());
                run.width += width;
            }
            _ => runs.push(Run { column, width, text: cell.char().into(), style }),
        }
    }
    runs.iter().filter_map(trimmed).collect()
}

/// A run without the blanks around it; nothing when there is nothing else.
fn trimmed(run: &Run) -> Option<Run> {
    let start = run.text.trim_start();
    let before = run.text.len() - start.len();
    let text = start.trim_end();
    let after = start.len() - text.len();
    let width = run.width - before - after;
    let (column, text) = (run.column + before, text.to_owned());
    (!text.is_empty()).then_some(Run { column, width, text, style: run.style })
}

fn style(pen: &Pen) -> Style {
    let color = match pen.foreground() {
        Some(Color::Indexed(color @ 0..=15)) => Some(color),
        _ => None,
    };
    Style {
        color,
        bold: pen.is_bold(),
        faint: pen.is_faint(),
        italic: pen.is_italic(),
        underline: pen.is_underline(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut screen = Screen::new(10).unwrap();
        screen.write(text);
        let run =
            |run: &Run| format!("{}+{}:{}{:?}", run.column, run.width, run.text, run.style.color);
        let row = |row: &Vec<Run>| row.iter().map(run).collect::<Vec<_>>().join(" ");
        screen.rows().unwrap().iter().map(row).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_line_that_is_written_again_shows_its_last_words() {
        insta::assert_snapshot!(shown("wait…\r\u{1b}[Kdone\r\n"), @"0+4:doneNone");
    }

    #[test]
    fn colours_divide_a_row_and_blanks_at_their_edges_do_not_count() {
        insta::assert_snapshot!(shown("a \u{1b}[32m b\u{1b}[0m"), @"0+1:aNone 3+1:bSome(2)");
    }

    #[test]
    fn a_long_line_goes_on_in_the_next_row() {
        insta::assert_snapshot!(shown("0123456789ab"), @"
        0+10:0123456789None
        0+2:abNone
        ");
    }
}
