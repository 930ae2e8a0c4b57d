//! `metier man`: pages for `man`, one for each command, made of the same tree as the help.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use crate::args::{self, Note};
use crate::failure::{Failure, OK};
use crate::output::{Output, counted, plain};

/// What the pages belong to.
const MANUAL: &str = "metier";

/// Prints the page of `metier`, or writes all pages to a folder.
pub(in crate::commands) fn manual(folder: Option<&Path>, output: Output) -> Result<u8, Failure> {
    let mut tree = args::tree().disable_help_subcommand(true);
    tree.build();
    let Some(folder) = folder else {
        output.print(&page(&tree, ""));
        if io::stdout().is_terminal() {
            output.say("`metier man | man -l -` shows this as a page");
        }
        return Ok(OK);
    };
    fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
    let count = write(&tree, "", folder)?;
    let shown = plain(&folder.display().to_string());
    output.say(&format!("wrote {} to {shown}", counted(count, "page")));
    Ok(OK)
}

/// Writes the page of a command, and those of the commands below it; gives how many.
fn write(command: &Command, path: &str, folder: &Path) -> Result<usize, Failure> {
    let file = folder.join(format!("{}.1", title(path)));
    fs::write(&file, page(command, path)).map_err(|error| cannot(&file, &error))?;
    let mut count = 1;
    for inner in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        count += write(inner, format!("{path} {}", inner.get_name()).trim_start(), folder)?;
    }
    Ok(count)
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot write `{}`: {error}", path.display()))
        .hint("name a folder that you can write to")
}

/// What the page of a command is called.
fn title(path: &str) -> String {
    format!("metier {path}").trim_end().replace(' ', "-")
}

fn page(command: &Command, path: &str) -> String {
    let text = troff(command, path).expect("memory takes whatever is written to it");
    in_ascii(&String::from_utf8_lossy(&text))
}

fn troff(command: &Command, path: &str) -> io::Result<Vec<u8>> {
    let source = format!("metier {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).title(title(path)).source(source).manual(MANUAL);
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.get_subcommands().any(|it| !it.is_hide_set()) {
        man.render_subcommands_section(&mut text)?;
    }
    let mut rest = Roff::new();
    if let Some(note) = args::note(path) {
        add_note(&mut rest, &note);
    }
    if let Some(remark) = args::remark(path) {
        rest.control("SH", ["FILES"]);
        rest.text([roman(remark)]);
    }
    add_neighbours(&mut rest, path);
    rest.to_writer(&mut text)?;
    Ok(text)
}

/// A page in signs that every `troff` reads.
fn in_ascii(text: &str) -> String {
    let mut page = String::with_capacity(text.len());
    for sign in text.chars() {
        if sign.is_ascii() {
            page.push(sign);
        } else {
            page.push_str(&format!("\\[u{:04X}]", u32::from(sign)));
        }
    }
    page
}

fn add_note(roff: &mut Roff, note: &Note) {
    if !note.examples.is_empty() {
        roff.control("SH", ["EXAMPLES"]);
        for (line, what) in note.examples {
            roff.control("TP", []);
            roff.text([bold(*line)]);
            roff.text([roman(*what)]);
        }
    }
    if !note.codes.is_empty() {
        roff.control("SH", ["EXIT STATUS"]);
        for (code, meaning) in note.codes {
            roff.control("TP", []);
            roff.text([bold(*code)]);
            roff.text([roman(*meaning)]);
        }
    }
}

/// Points to the page of the command above, which has the options that hold here too.
fn add_neighbours(roff: &mut Roff, path: &str) {
    if path.is_empty() {
        return;
    }
    let above = path.rsplit_once(' ').map(|(above, _)| above);
    let pages = above.into_iter().chain([""]);
    let mut line: Vec<Inline> = Vec::new();
    for page in pages {
        if !line.is_empty() {
            line.push(roman(", "));
        }
        line.extend([bold(title(page)), roman("(1)")]);
    }
    roff.control("SH", ["SEE ALSO"]);
    roff.text(line);
}
