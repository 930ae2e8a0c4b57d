//! Everything that is printed goes through here: one place knows the terminal.

mod kind;
mod markdown;
mod measured;
mod plain;
mod rendition;
mod screen;
mod status;
mod table;
mod ticker;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use metier_skill::diagnostic::Severity;
use metier_skill::problem::Problem;
use serde::{Serialize, Serializer};

pub(crate) use kind::kind;
pub(crate) use markdown::{Look, Markdown};
pub(crate) use measured::Measured;
pub(crate) use plain::{is_plain, plain, plain_block, wrapped};
pub(crate) use screen::{Abilities, Screen};
pub(crate) use status::{ERASE, Status, Working, forget_line, line, room};
pub(crate) use table::{Align, Column, Table, bar};
pub(crate) use ticker::Ticker;

use crate::args::{self, Color};
use crate::failure::Failure;
use crate::failure::advice::ProblemText;
use crate::masking::{masked, masked_fields, masked_json};
use metier_app::Environment;

/// The width of text that goes to no terminal.
const USUAL_WIDTH: usize = 100;
/// Bytes of JSON that are written at a time.
const JSON_BUFFER: usize = 64 << 10;
/// How far what does not fit on a line is set in below it.
const INDENT: usize = 2;
/// Text is never laid out wider or narrower than this.
const WIDTHS: RangeInclusive<usize> = 40..=160;
/// The width of help that goes to no terminal; its examples are written for it.
const HELP_WIDTH: usize = 80;
/// Help is never laid out wider: long lines are hard to read.
const MAX_HELP_WIDTH: usize = 100;

/// Styles by meaning. Colour never says anything by itself.
pub(crate) mod style {
    use super::{AnsiColor, Style};

    /// Names of skills.
    pub(crate) const NAME: Style = AnsiColor::Cyan.on_default().bold();
    /// Headings of columns and sections.
    pub(crate) const HEADING: Style = Style::new().bold();
    /// What matters less.
    pub(crate) const DIM: Style = Style::new().dimmed();
    /// What is fine.
    pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
    /// What could be better.
    pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
    /// What is wrong.
    pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
}

/// Text in a style.
pub(crate) fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Standard output and standard error, as the person wants them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    color: ColorChoice,
    quiet: bool,
    terminal: Terminal,
}

/// What the environment says of the terminal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terminal {
    /// Columns that somebody named.
    columns: Option<usize>,
    /// Whether it can erase a line.
    can_erase: bool,
}

impl Terminal {
    /// Looks at `COLUMNS` and `TERM`.
    pub(crate) fn of(environment: &Environment) -> Self {
        let columns = environment.variable("COLUMNS").and_then(|columns| columns.parse().ok());
        let can_erase = environment.variable("TERM").is_some_and(|it| it != "dumb");
        Self { columns, can_erase }
    }
}

impl Output {
    /// Finds out what the terminal can do.
    pub(crate) fn new(color: Color, quiet: bool, terminal: Terminal) -> Self {
        let color = match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        Self { color, quiet, terminal }
    }

    /// Whether nothing but the answer is wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Columns there are at this moment.
    pub(crate) fn width(&self) -> usize {
        self.fitting(terminal_size::terminal_size_of(io::stdout()))
    }

    /// The same for standard error.
    pub(crate) fn error_width(&self) -> usize {
        self.fitting(terminal_size::terminal_size_of(io::stderr()))
    }

    fn fitting(&self, size: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
        let measured = size.map(|(width, _)| usize::from(width.0));
        let width = self.terminal.columns.or(measured).unwrap_or(USUAL_WIDTH);
        width.clamp(*WIDTHS.start(), *WIDTHS.end())
    }

    /// How pages of help look.
    pub(crate) fn help_look(&self) -> args::Look {
        let color = match self.color {
            ColorChoice::Never => clap::ColorChoice::Never,
            ColorChoice::Auto => clap::ColorChoice::Auto,
            _ => clap::ColorChoice::Always,
        };
        args::Look { width: self.help_width(), color }
    }

    fn help_width(&self) -> usize {
        let size = terminal_size::terminal_size_of(io::stdout());
        let measured = size.map(|(width, _)| usize::from(width.0));
        let width = self.terminal.columns.or(measured).unwrap_or(HELP_WIDTH);
        width.clamp(*WIDTHS.start(), MAX_HELP_WIDTH)
    }

    /// How text of a model looks on standard output.
    pub(crate) fn look(&self) -> Look {
        Look { width: self.width(), is_styled: self.is_colored() }
    }

    /// Prints what a model answered: laid out on a terminal, else as it is.
    pub(crate) fn answer(&self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if io::stdout().is_terminal() {
            let mut markdown = Markdown::new(self.look());
            let shown = markdown.push(text);
            self.print(&(shown + &markdown.finish()));
        } else {
            self.print(&plain_block(text.trim_end()));
        }
    }

    /// Prints the answer.
    pub(crate) fn print(&self, text: &str) {
        self.print_unmasked(&masked(text));
    }

    /// Prints the answer where that is a key which a person asked for.
    pub(crate) fn print_unmasked(&self, text: &str) {
        status::aside(|| {
            let mut stream = AutoStream::new(io::stdout().lock(), self.color);
            let mut written = stream.write_all(text.as_bytes());
            if !text.is_empty() && !text.ends_with('\n') {
                written = written.and_then(|()| stream.write_all(b"\n"));
            }
            // A reader that has seen enough is no error.
            let _closed = written.and_then(|()| stream.flush());
        });
    }

    /// Prints the answer as JSON, indented where a person reads it.
    pub(crate) fn json(&self, value: &impl Serialize) {
        match masked_json(value) {
            Some(masked) => self.write_json(&masked),
            None => self.write_json(value),
        }
    }

    /// The same for an answer that has no names of fields but metier's own. A key that happens to be one of them is not
    /// masked there.
    pub(crate) fn json_fields(&self, value: &impl Serialize) {
        match masked_fields(value) {
            Some(masked) => self.write_json(&masked),
            None => self.write_json(value),
        }
    }

    fn write_json(&self, value: &impl Serialize) {
        status::aside(|| {
            let stdout = io::stdout();
            let indented = stdout.is_terminal();
            let mut stream = BufWriter::with_capacity(JSON_BUFFER, stdout.lock());
            let written = if indented {
                serde_json::to_writer_pretty(&mut stream, value)
            } else {
                serde_json::to_writer(&mut stream, value)
            };
            let _closed = written
                .map_err(io::Error::from)
                .and_then(|()| stream.write_all(b"\n"))
                .and_then(|()| stream.flush());
        });
    }

    /// Says what goes on until the value is gone, where a person waits for it.
    pub(crate) fn working(&self, text: &str) -> Working {
        Working::begin(*self, text)
    }

    /// Prints a part of the answer as JSON on a line of its own, which is there at once.
    pub(crate) fn json_line(&self, value: &impl Serialize) {
        status::aside(|| {
            let mut stream = io::stdout().lock();
            let line = match masked_json(value) {
                Some(masked) => Ok(masked.to_string()),
                None => serde_json::to_string(value).map_err(io::Error::from),
            };
            let _closed =
                line.and_then(|line| writeln!(stream, "{line}")).and_then(|()| stream.flush());
        });
    }

    /// Asks for something, on a line that goes on.
    pub(crate) fn prompt(&self, text: &str) {
        status::aside(|| {
            let mut stream = io::stdout().lock();
            let text = masked(text);
            let _closed = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
        });
    }

    /// Asks a person something on standard error, where what they type follows.
    pub(crate) fn ask(&self, text: &str) {
        status::aside(|| {
            let mut stream = io::stderr().lock();
            let text = masked(text);
            let _closed = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
        });
    }

    /// Says something that a person must see, quiet or not.
    pub(crate) fn insist(&self, text: &str) {
        self.stderr(text);
    }

    /// Says something in a row that begins with a word of ours, quiet or not. Whatever the text is, its lines
    /// cannot be taken for other rows.
    pub(crate) fn row(&self, style: Style, word: &str, text: &str) {
        self.stderr(&self.hung((style, word), text, word.len()));
    }

    /// Says something that is not the answer.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            self.stderr(text);
        }
    }

    /// Says something that begins with a word of ours. Whatever the text is, it cannot be taken for
    /// more than one line.
    pub(crate) fn note(&self, style: Style, word: &str, text: &str) {
        self.say(&self.hung((style, word), text, INDENT));
    }

    fn hung(&self, (style, word): (Style, &str), text: &str, indent: usize) -> String {
        let size = terminal_size::terminal_size_of(io::stderr());
        let width = size.map_or(usize::MAX, |(width, _)| usize::from(width.0).max(*WIDTHS.start()));
        let line = plain::hanging(&format!("{word}{}", plain(text)), width, indent);
        format!("{}{}", styled(style, word), &line[word.len()..])
    }

    /// Says what is wrong, a line each, and what to do; once for several in a row that need the same.
    pub(crate) fn problems<'a>(&self, problems: impl IntoIterator<Item = &'a Problem>) {
        let mut problems = problems.into_iter().peekable();
        while let Some(problem) = problems.next() {
            let style = severity_style(problem.severity);
            let severity = styled(style, problem.severity);
            let place = plain(&place_of(problem));
            let code = styled(style::DIM, format!("[{}]", problem.code));
            let ProblemText { message, help } = ProblemText::of(problem);
            self.say(&format!("{severity}: {place}: {} {code}", plain(&message)));
            let is_last = problems.peek().is_none_or(|next| ProblemText::of(next).help != help);
            if let Some(help) = help.filter(|_| is_last) {
                self.say(&self.hung((style::HEADING, "  hint: "), &help, "  hint: ".len()));
            }
        }
    }

    /// Says why the command failed.
    pub(crate) fn failure(&self, failure: &Failure) {
        let error = styled(style::BAD, "error");
        self.stderr(&format!("{error}: {}", plain(&failure.to_string())));
        if let Some(hint) = failure.remedy() {
            self.stderr(&format!("{}: {}", styled(style::HEADING, "hint"), plain(hint)));
        }
    }

    /// Says that the answer is no, quiet or not.
    pub(crate) fn error(&self, text: &str) {
        self.stderr(text);
    }

    /// Whether standard output is coloured, for renderers that colour by themselves.
    pub(crate) fn is_colored(&self) -> bool {
        match self.color {
            ColorChoice::Auto => AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            choice => choice != ColorChoice::Never,
        }
    }

    /// The same for standard error.
    pub(crate) fn is_error_colored(&self) -> bool {
        match self.color {
            ColorChoice::Auto => AutoStream::choice(&io::stderr()) != ColorChoice::Never,
            choice => choice != ColorChoice::Never,
        }
    }

    fn stderr(&self, text: &str) {
        status::aside(|| {
            let mut stream = AutoStream::new(io::stderr().lock(), self.color);
            let _closed = writeln!(stream, "{}", masked(text));
        });
    }
}

/// Where a problem is: a file has lines, a folder or an address has none.
fn place_of(problem: &Problem) -> String {
    let path = problem.path.display();
    let has_lines = problem.path.extension().is_some_and(|it| it == "md" || it == "toml");
    if has_lines { format!("{path}:{}:{}", problem.line, problem.column) } else { path.to_string() }
}

/// A path in JSON, which is text: bytes that are not are replaced.
pub(crate) fn path_text<S: Serializer>(
    path: &impl AsRef<Path>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.as_ref().to_string_lossy())
}

/// Several paths in JSON.
pub(crate) fn path_texts<S: Serializer>(
    paths: &[PathBuf],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

/// A number with its word.
pub(crate) fn counted(count: usize, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {word}{ending}")
}

/// A number of bytes as people read it.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => {
            let tenths = bytes.saturating_mul(10) / unit;
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} B"),
    }
}

/// The style of a severity.
pub(crate) fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Error => style::BAD,
        Severity::Warning => style::WARN,
        Severity::Note => style::DIM,
    }
}
