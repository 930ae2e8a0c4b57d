//! What a terminal shows of standard error, whatever a program writes.

use super::*;
use crate::output::{Abilities, Screen};

const WIDE: BarTerminal = BarTerminal { width: UNKNOWN_WIDTH, has_colors: false };

/// What a terminal that is wide enough shows of a text on standard error, whatever pieces it comes in: its rows, each
/// with a bar.
fn rows(text: &[u8]) -> Vec<String> {
    rows_of(text, WIDE)
}

fn rows_of(text: &[u8], terminal: BarTerminal) -> Vec<String> {
    let marked = marked(text, terminal);
    model(&marked, terminal.width, ModelWidths::Least)
}

/// The same on a terminal that shows characters as wide as any does.
fn widest_rows_of(text: &[u8], terminal: BarTerminal) -> Vec<String> {
    let marked = marked(text, terminal);
    model(&marked, terminal.width, ModelWidths::Most)
}

/// A text on standard error as it is written to a terminal.
fn marked(text: &[u8], terminal: BarTerminal) -> String {
    let abilities = Abilities { colors: true, moves: true };
    let whole = {
        let (mut screen, mut lines) = (Screen::new(abilities), BarredLines::default());
        let shown = screen.pass(text) + &screen.end();
        lines.mark(&shown, terminal)
    };
    let (mut screen, mut lines) = (Screen::new(abilities), BarredLines::default());
    let mut pieces = String::new();
    for byte in text {
        pieces.push_str(&lines.mark(&screen.pass(&[*byte]), terminal));
    }
    pieces.push_str(&lines.mark(&screen.end(), terminal));
    assert_eq!(pieces, whole, "it does not matter in which pieces it comes");
    whole
}

/// How wide a modelled terminal shows characters.
#[derive(Clone, Copy)]
enum ModelWidths {
    /// What is wide on any terminal takes no column at all, and what may join the cell before it does.
    Least,
    /// What is wide on any terminal takes two columns.
    Most,
}

impl ModelWidths {
    fn columns(self, character: char, before: Option<&String>) -> usize {
        match self {
            Self::Least => {
                let is_taken = match before.and_then(|cell| cell.chars().last()) {
                    // As in tmux.
                    Some('\u{200d}') => !character.is_ascii(),
                    // As where cells are clusters of characters.
                    Some('\u{600}') => true,
                    _ => false,
                };
                let may_be_one = matches!(character, ' '..='~' | 'À'..='ɏ' | '─'..='⣿');
                usize::from(may_be_one && !is_taken)
            }
            Self::Most => match character {
                // As in glibc and tmux.
                '\u{302e}' | '\u{302f}' | '\u{3164}' | '\u{16ff0}' | '\u{16ff1}' => 2,
                _ => character.width_cjk().unwrap_or_default(),
            },
        }
    }
}

/// A terminal, which wraps lines.
fn model(text: &str, width: usize, widths: ModelWidths) -> Vec<String> {
    let (mut rows, mut at) = (vec![Vec::<String>::new()], 0_usize);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = if character == '\u{1b}' { sequence(rest) } else { character.len_utf8() };
        let (piece, after) = rest.split_at(length);
        rest = after;
        let row = rows.last_mut().expect("a row");
        let number = piece.trim_matches(|it: char| !it.is_ascii_digit());
        let count = number.parse::<usize>().unwrap_or(1);
        match (character, piece.chars().last()) {
            ('\n', _) => {
                rows.push(Vec::new());
                at = 0;
            }
            ('\r', _) => at = 0,
            // Behind the last column the cursor is still on it.
            ('\u{8}', _) => at = at.min(width - 1).saturating_sub(1),
            ('\t', _) => at = ((at / 8 + 1) * 8).min(width - 1),
            ('\u{1b}', Some('D')) => at = at.saturating_sub(count),
            ('\u{1b}', Some('C')) => at = at.saturating_add(count).min(width - 1),
            ('\u{1b}', Some('G')) => at = count - 1,
            ('\u{1b}', Some('K')) if number == "2" => row.clear(),
            ('\u{1b}', Some('K')) if number == "1" => {
                row.iter_mut().take(at + 1).for_each(|it| " ".clone_into(it));
            }
            ('\u{1b}', Some('K')) => row.truncate(at),
            ('\u{1b}', _) => {}
            _ => {
                let before = at.checked_sub(1);
                let columns = widths.columns(character, before.and_then(|it| row.get(it)));
                if columns == 0 {
                    if let Some(cell) = before.and_then(|it| row.get_mut(it)) {
                        cell.push(character);
                    }
                    continue;
                }
                if at + columns > width {
                    rows.push(Vec::new());
                    at = 0;
                }
                let row = rows.last_mut().expect("a row");
                row.resize(row.len().max(at + columns), " ".to_owned());
                row[at..at + columns].fill(String::new());
                row[at].push(character);
                at += columns;
            }
        }
    }
    rows.into_iter().map(|row| row.concat()).collect()
}

#[test]
fn nothing_a_program_writes_erases_the_bar() {
    let joined = "é\u{200d}".repeat(8) + &"\u{8}".repeat(8) + "output";
    let gathered = "e\u{600}".repeat(8) + &"\u{8}".repeat(8) + "output";
    let apart = format!("{}\r{}output", "é\u{200d}\u{1b}[C".repeat(8), "é\u{1b}[C\u{8}".repeat(8));
    let attempts: [&[u8]; 20] = [
        b"\x08\x08\x08output",
        b"error\x08\x08\x08\x08\x08\x08\x08\x08\x08output",
        b"error\roops\x08\x08\x08\x08\x08\x08output",
        b"error\n\x08\x08\x08output",
        b"error\x1b[99Doutput",
        b"error\x1b[Goutput",
        b"error\x1b[1Goutput",
        b"error\x1b[2Koutput",
        b"error\x1b[1Koutput",
        b"error\x1b[2K\routput",
        b"\x1b[999C\x1b[998Doutput",
        b"\t\t\x08\x08\x08\x08\x08\x08\x08output",
        "👩‍💻👩‍💻👩‍💻\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}output".as_bytes(),
        "e\u{301}\u{301}\u{301}\u{8}\u{8}\u{8}\u{8}output".as_bytes(),
        joined.as_bytes(),
        gathered.as_bytes(),
        apart.as_bytes(),
        b"error\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7foutput",
        b"\xe2\x94\x08\x08\x08\xc2\x9b2Koutput\xc3\x08\x08\x08\x08",
        b"\x1b[31merror\x1b[\x08\x08\x08\x1b[0m\x1b[5G\x1b[9Doutput",
    ];
    for attempt in attempts {
        for row in rows(attempt) {
            assert!(row.starts_with("│ "), "{row:?} of {:?}", attempt.escape_ascii().to_string());
        }
    }
}

#[test]
fn no_row_of_a_long_line_is_without_a_bar() {
    let narrow = BarTerminal { width: 20, has_colors: false };
    let long = "x".repeat(100);
    let attempts = [
        long.clone(),
        format!("\u{1b}[999C{long}"),
        "\u{1b}[999Coutput\u{1b}[999C\u{1b}[999Coutput".to_owned(),
        "\u{1b}[999Goutput".to_owned(),
        "error\u{1b}[18Goutput\u{8}\u{8}\u{8}output".to_owned(),
        "error\r\u{1b}[19Coutput".to_owned(),
        "─".repeat(100),
    ];
    for attempt in attempts {
        let rows = rows_of(attempt.as_bytes(), narrow);
        assert!(rows.iter().all(|row| row.starts_with('│')), "{rows:?} of {attempt:?}");
    }
    assert_eq!(rows_of(b"seventeen columns\nx", narrow), ["│ seventeen columns", "│ x"]);
    let tabs = rows_of(b"\t\t\toutput output", narrow);
    assert!(tabs.iter().all(|row| row.starts_with('│')), "{tabs:?}");
}

#[test]
fn what_a_terminal_may_show_wider_is_counted_wide() {
    let narrow = BarTerminal { width: 20, has_colors: false };
    let wide = "\u{3248}\u{302e}\u{302f}\u{3164}\u{16ff0}\u{16ff1}─░±ßΩя…技👩\u{fffd}xş⠋";
    for character in wide.chars() {
        let repeated = String::from(character).repeat(9);
        for text in [format!("{repeated}output wide"), format!("\t{repeated}\r{repeated}")] {
            let rows = widest_rows_of(text.as_bytes(), narrow);
            assert!(rows.iter().all(|row| row.starts_with("│ ")), "{rows:?} of {text:?}");
        }
    }
    assert_eq!(widest_rows_of("technické čtení ⠋".as_bytes(), narrow).len(), 1);
}

#[test]
fn a_step_back_from_the_last_column_does_not_reach_the_bar() {
    let narrow = BarTerminal { width: 20, has_colors: false };
    let text = format!("seventeen columns{}output", "\u{8}".repeat(17));
    assert_eq!(widest_rows_of(text.as_bytes(), narrow), ["│ outputeen columns"]);
}

#[test]
fn a_colour_outside_of_a_line_takes_no_row() {
    let mut lines = BarredLines::default();
    assert_eq!(lines.mark("lost: nothing\n\u{1b}[m", WIDE), "│ lost: nothing\n\u{1b}[m");
    assert_eq!(lines.mark("\u{1b}[31m", WIDE), "\u{1b}[31m");
    assert_eq!(lines.mark("\n", WIDE), "\n");
    let bar = "│ \u{1b}[31m";
    assert_eq!(lines.mark("all passed\r", WIDE), format!("{bar}all passed\r"));
    assert_eq!(lines.mark("\u{1b}[1mnone", WIDE), format!("\u{1b}[1m{bar}\u{1b}[1mnone"));
}

#[test]
fn fonts_are_taken_off_before_the_bar() {
    let marked = marked(b"\x1b[11mlost\n\x1b[1;12;31m\x1b[0;15mall passed\n", WIDE);
    assert_eq!(marked, "│ lost\n\u{1b}[1;31m\u{1b}[0m│ all passed\n");
}

#[test]
fn the_bar_has_colours_of_its_own() {
    let colored = BarTerminal { width: UNKNOWN_WIDTH, has_colors: true };
    let bar = colored.bar();
    assert!(bar.starts_with(RESET), "whatever standard output has set: {bar:?}");
    let mut lines = BarredLines::default();
    let marked = lines.mark("\u{1b}[8mhidden\nstill\u{1b}[0m\nplain\n", colored);
    let expected =
        format!("\u{1b}[8m{bar}\u{1b}[8mhidden\n{bar}\u{1b}[8mstill\u{1b}[0m\n{bar}plain\n");
    assert_eq!(marked, expected);
    let many = "\u{1b}[8m".repeat(1_000);
    lines.mark(&many, colored);
    assert!(lines.colors.len() <= MAX_COLOR_BYTES && !lines.colors.is_empty());
}

#[test]
fn a_program_still_rewrites_its_own_line() {
    let cases: [(&str, &str); 6] = [
        (" 10%\r 20%\r100%", "│ 100%"),
        ("work |\u{8}/\u{8}-", "│ work -"),
        ("⠋\u{8}⠙\u{8}⠹ done", "│ ⠹ done"),
        ("long text\r\u{1b}[2Kshort", "│ short"),
        ("long text\r\u{1b}[Kshort", "│ short"),
        ("abc\u{1b}[2DX\u{1b}[1GY", "│ YXc"),
    ];
    for (text, expected) in cases {
        assert_eq!(rows(text.as_bytes()), [expected], "{text:?}");
    }
    assert_eq!(rows(b"one\n\ntwo\n"), ["│ one", "", "│ two", ""]);
}
