//! A session as a picture that moves: SVG with keyframes of CSS, and nothing else.
//!
//! Every row is drawn once, in its place on one long sheet. It is there from its time on, the sheet
//! moves up when it is longer than the terminal, and a command is uncovered key by key. Without
//! any of that the picture is the last screen, which is what whoever wants no motion sees.

use std::fmt::Write;

use super::screen::{Run, Style};
use super::script::{PROMPT_WIDTH, SIZE, Session, typed};
use super::timeline::Timeline;

/// Pixels: a character, a row, the space around the text, and the bar above it.
const CHARACTER: f32 = 8.4;
const ROW: usize = 20;
const PADDING: usize = 16;
const BAR: usize = 30;
/// Where the first row begins.
const TOP: usize = BAR + 8;
/// From the top of a row to the line that its text stands on.
const BASE: usize = 15;

const COLORS: &str = "\
:root{--back:#fdfdfd;--bar:#e6eaec;--edge:#c3cbd0;--text:#1c2428;--quiet:#5b686f;--c1:#b3261e;--c2:#1b6e35;--c3:#8a5a00;--c4:#1f5fbf;--c5:#8b3f9b;--c6:#0b6b80}
@media (prefers-color-scheme:dark){:root{--back:#14191c;--bar:#232c31;--edge:#36434a;--text:#dde4e7;--quiet:#9fb0b8;--c1:#ff8a80;--c2:#7bd88f;--c3:#f0c674;--c4:#8ab4f8;--c5:#d7a6e6;--c6:#6fd3e8}}
";

const STYLE: &str = "\
text{font:14px ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;fill:var(--text);white-space:pre}
.b{font-weight:700}.f{fill:var(--quiet)}.i{font-style:italic}.u{text-decoration:underline}
.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}.c6{fill:var(--c6)}
.back{fill:var(--back)}.bar{fill:var(--bar)}.edge{fill:none;stroke:var(--edge)}.key{fill:var(--text)}
";

/// The picture.
pub(super) fn render(session: &Session) -> String {
    let timeline = Timeline::new(&session.commands, session.rows.len());
    let (width, height) = (pixels(usize::from(SIZE.columns)) + 2 * PADDING, height());
    let commands: Vec<String> = typed().map(|command| format!("`{command}`")).collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-labelledby=\"title desc\">\n\
         <title id=\"title\">A session with metier at a terminal</title>\n\
         <desc id=\"desc\">These commands are typed one after the other, and each shows what it prints: {}.</desc>\n",
        escape(&commands.join(", "))
    );
    let seconds = f64::from(timeline.whole) / 1000.0;
    let motion = motion(session, &timeline);
    let _infallible = writeln!(
        svg,
        "<style>\n{COLORS}{STYLE}.s,.r,.k{{animation:{seconds:.2}s step-end infinite}}\n.s{{transform:translateY(-{}px)}}.k{{opacity:0}}\n{motion}\
         @media (prefers-reduced-motion:reduce){{.s,.r,.k{{animation:none}}}}\n</style>",
        scrolled(session.rows.len() - 1)
    );
    let inner = height - TOP - 4;
    let _infallible = writeln!(
        svg,
        "<clipPath id=\"screen\"><rect x=\"1\" y=\"{TOP}\" width=\"{}\" height=\"{inner}\"/></clipPath>\n\
         <rect class=\"back\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n\
         <path class=\"bar\" d=\"M0 {BAR}V8a8 8 0 0 1 8-8H{}a8 8 0 0 1 8 8V{BAR}z\"/>\n\
         <text class=\"f\" x=\"{PADDING}\" y=\"20\">metier</text>\n\
         <rect class=\"edge\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"7.5\"/>\n\
         <g clip-path=\"url(#screen)\"><g class=\"s\">",
        width - 2,
        width - 8,
        width - 1,
        height - 1
    );
    for (row, runs) in session.rows.iter().enumerate() {
        svg.push_str(&drawn(session, row, runs));
    }
    svg.push_str("</g></g>\n</svg>\n");
    svg
}

/// The words of a picture, row by row.
pub(super) fn words(svg: &str) -> Vec<String> {
    let rows = svg.lines().filter(|line| line.starts_with("<g class=\"r\""));
    let words = |row: &str| {
        let texts = row.split("<text").skip(1).filter_map(|text| text.split_once("</text>"));
        let texts = texts.filter_map(|(text, _)| text.split_once('>'));
        texts.map(|(_, text)| text).collect::<Vec<_>>().join(" ")
    };
    rows.map(words).filter(|row| !row.is_empty()).collect()
}

fn height() -> usize {
    TOP + usize::from(SIZE.rows) * ROW + 10
}

/// The width of so many characters, to the next pixel.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a terminal has a hundred columns or so"
)]
fn pixels(columns: usize) -> usize {
    (columns as f32 * CHARACTER).ceil() as usize
}

/// A place in a row, in pixels.
#[expect(clippy::cast_precision_loss, reason = "a terminal has a hundred columns or so")]
fn place(columns: usize) -> String {
    let text = format!("{:.1}", columns as f32 * CHARACTER);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// How far the sheet is moved up when a row is the last.
fn scrolled(row: usize) -> usize {
    (row + 1).saturating_sub(usize::from(SIZE.rows)) * ROW
}

/// The keyframes: when each row is there, how the sheet moves, and how commands are typed.
fn motion(session: &Session, timeline: &Timeline) -> String {
    let at = |time: u32| {
        let text = format!("{:.2}", f64::from(time) * 100.0 / f64::from(timeline.whole));
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let mut css = String::new();
    let mut sheet = "@keyframes s{0%{transform:none}".to_owned();
    let mut moved = 0;
    for (row, time) in timeline.rows.iter().enumerate() {
        if *time > 0 {
            let _infallible = writeln!(
                css,
                "@keyframes r{row}{{0%{{opacity:0}}{}%,100%{{opacity:1}}}}",
                at(*time)
            );
        }
        if scrolled(row) > moved {
            moved = scrolled(row);
            let _infallible = write!(sheet, "{}%{{transform:translateY(-{moved}px)}}", at(*time));
        }
    }
    let _infallible =
        writeln!(css, "{sheet}100%{{transform:translateY(-{moved}px)}}}}\n.s{{animation-name:s}}");
    for (number, (command, (start, end))) in
        session.commands.iter().zip(&timeline.typed).enumerate()
    {
        let (keys, width) = (command.keys, place(command.keys));
        let _infallible = writeln!(
            css,
            "@keyframes k{number}{{0%{{opacity:1;transform:none}}{}%{{opacity:1;transform:none;animation-timing-function:steps({keys})}}{}%{{opacity:1;transform:translateX({width}px)}}{}%,100%{{opacity:0;transform:translateX({width}px)}}}}",
            at(*start),
            at(*end),
            at(end + 200),
        );
    }
    css
}

/// A row, with what covers it while it is typed.
fn drawn(session: &Session, row: usize, runs: &[Run]) -> String {
    let y = TOP + row * ROW;
    let mut svg = format!("\n<g class=\"r\" style=\"animation-name:r{row}\">");
    for run in runs {
        let _infallible = write!(
            svg,
            "<text{} x=\"{}\" y=\"{}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>",
            class(run.style),
            shifted(run.column),
            y + BASE,
            place(run.width),
            escape(&run.text)
        );
    }
    let command = session.commands.iter().position(|command| command.row == row);
    let x = shifted(PROMPT_WIDTH);
    let key = |svg: &mut String| {
        let _infallible = write!(
            svg,
            "<rect class=\"key\" x=\"{x}\" y=\"{}\" width=\"8\" height=\"17\"/>",
            y + 2
        );
    };
    if let Some(number) = command {
        let width = place(session.commands[number].keys + 1);
        let _infallible = write!(
            svg,
            "<g class=\"k\" style=\"animation-name:k{number}\"><rect class=\"back\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{ROW}\"/>"
        );
        key(&mut svg);
        svg.push_str("</g>");
    } else if row + 1 == session.rows.len() {
        key(&mut svg);
    }
    svg.push_str("</g>");
    svg
}

/// A place in a row, in pixels from the edge of the picture.
fn shifted(column: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a terminal has a hundred columns or so")]
    let text = format!("{:.1}", (column as f32).mul_add(CHARACTER, PADDING as f32));
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

fn class(style: Style) -> String {
    let mut classes = Vec::new();
    // Black, white and grey are the colours of text itself, in the light and in the dark.
    match style.color {
        Some(color @ (1..=6 | 9..=14)) => classes.push(format!("c{}", color % 8)),
        Some(8) => classes.push("f".into()),
        _ => {}
    }
    let marks =
        [(style.bold, "b"), (style.faint, "f"), (style.italic, "i"), (style.underline, "u")];
    classes.extend(marks.iter().filter(|(is, _)| *is).map(|(_, mark)| (*mark).to_owned()));
    if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::timeline::Command;
    use super::*;

    fn session() -> Session {
        let run = |column, text: &str, style| {
            let width = text.chars().count();
            Run { column, width, text: text.into(), style }
        };
        let green = Style { color: Some(2), bold: true, ..Style::default() };
        let prompt = || run(0, "$", green);
        let mut rows = vec![vec![prompt(), run(2, "ls", Style::default())]];
        rows.extend((0..30).map(|row| vec![run(0, &format!("<{row}>"), Style::default())]));
        rows.push(vec![prompt()]);
        Session { rows, commands: vec![Command { row: 0, keys: 2 }] }
    }

    #[test]
    fn text_is_escaped_and_can_be_read_back() {
        let svg = render(&session());
        let words = words(&svg);
        assert_eq!(words.first().map(String::as_str), Some("$ ls"));
        assert_eq!(words.get(1).map(String::as_str), Some("&lt;0&gt;"));
        assert_eq!(words.len(), 32);
    }

    #[test]
    fn a_row_comes_at_its_time_and_stays() {
        let svg = render(&session());
        let keyframes = svg.lines().find(|line| line.starts_with("@keyframes r5{")).unwrap();
        insta::assert_snapshot!(keyframes, @"@keyframes r5{0%{opacity:0}19.3%,100%{opacity:1}}");
    }

    #[test]
    fn a_command_is_uncovered_key_by_key() {
        let svg = render(&session());
        let keyframes = svg.lines().find(|line| line.starts_with("@keyframes k0{")).unwrap();
        insta::assert_snapshot!(keyframes, @"@keyframes k0{0%{opacity:1;transform:none}8.71%{opacity:1;transform:none;animation-timing-function:steps(2)}10.01%{opacity:1;transform:translateX(16.8px)}12.92%,100%{opacity:0;transform:translateX(16.8px)}}");
    }

    #[test]
    fn without_motion_the_last_screen_is_shown() {
        let svg = render(&session());
        // 32 rows on a terminal of 24.
        assert!(svg.contains(".s{transform:translateY(-160px)}"));
        assert!(svg.contains("@media (prefers-reduced-motion:reduce){.s,.r,.k{animation:none}}"));
    }

    #[test]
    fn the_picture_says_in_words_what_it_shows() {
        let svg = render(&session());
        assert!(svg.contains("role=\"img\" aria-labelledby=\"title desc\""));
        for command in typed() {
            assert!(svg.contains(&format!("`{}`", escape(command))));
        }
        assert!(!svg.contains("http://www.w3.org/1999/xlink") && !svg.contains("href"));
    }
}
