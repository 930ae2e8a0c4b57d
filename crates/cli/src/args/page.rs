//! Pages of help. One form for `-h` and `--help`: what it does, how it is called, its commands, its arguments and options
//! in two columns that are the same on the whole page, then examples.

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};

use super::notes;
use crate::output::{style, styled};

/// Columns before what is explained.
const INDENT: usize = 2;
/// Columns between it and the explanation.
const GAP: usize = 2;
/// What is longer has its explanation on the next line.
const MAX_TERM: usize = 25;
/// Remarks up to this width are not torn.
const MAX_REMARK: usize = 40;

/// Something that is explained.
struct Row {
    /// How it is written.
    term: String,
    /// What it means, in pieces that are not torn.
    pieces: Vec<String>,
}

/// Rows below a heading.
struct Section {
    heading: String,
    is_commands: bool,
    rows: Vec<Row>,
}

/// The command with a page for itself and for each command below it.
pub(super) fn with_pages(mut command: Command, width: usize) -> Command {
    command.build();
    add_pages(&mut command, width);
    command
}

fn add_pages(command: &mut Command, width: usize) {
    for inner in command.get_subcommands_mut() {
        add_pages(inner, width);
    }
    let text = page(command, width);
    *command = std::mem::take(command).override_help(StyledStr::from(text));
}

/// The page of a command that is built.
fn page(command: &Command, width: usize) -> String {
    let sections = sections(command);
    let column = |is_commands: bool| {
        let alike = sections.iter().filter(|it| it.is_commands == is_commands);
        let terms = alike.flat_map(|it| &it.rows).map(|row| row.term.chars().count());
        INDENT + GAP + terms.filter(|it| *it <= MAX_TERM).max().unwrap_or_default()
    };
    let columns = [column(false), column(true)];
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = filled(&words(&about), width, 0);
    text.push_str(&format!("\n\n{}\n", command.clone().render_usage().ansi()));
    for Section { heading, is_commands, rows } in &sections {
        text.push_str(&format!("\n{}\n", styled(style::HEADING, format!("{heading}:"))));
        for row in rows {
            text.push_str(&shown(row, columns[usize::from(*is_commands)], width));
        }
    }
    if let Some(told) = told_above(command) {
        text.push_str(&format!("\n{}\n", filled(&words(&told), width, 0)));
    }
    if let Some(note) = command.get_after_help() {
        text.push_str(&format!("\n{}\n", note.ansi()));
    }
    text
}

fn sections(command: &Command) -> Vec<Section> {
    let mut sections: Vec<Section> = notes::groups(command)
        .into_iter()
        .map(|(heading, commands)| Section {
            heading: heading.to_owned(),
            is_commands: true,
            rows: commands.into_iter().map(command_row).collect(),
        })
        .collect();
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let usual = if arg.is_positional() { "Arguments" } else { "Options" };
        let heading = arg.get_help_heading().unwrap_or(usual);
        match sections.iter_mut().find(|it| it.heading == heading) {
            Some(section) => section.rows.push(argument_row(arg)),
            None => {
                let rows = vec![argument_row(arg)];
                sections.push(Section { heading: heading.to_owned(), is_commands: false, rows });
            }
        }
    }
    // What is typed first is explained first.
    sections.sort_by_key(|it| match it.heading.as_str() {
        _ if it.is_commands => 0,
        "Arguments" => 1,
        "Options" => 2,
        _ => 3,
    });
    sections
}

fn command_row(command: &Command) -> Row {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    Row { term: command.get_name().to_owned(), pieces: words(&about) }
}

fn argument_row(arg: &Arg) -> Row {
    let mut pieces = words(&arg.get_help().map(ToString::to_string).unwrap_or_default());
    for remark in remarks(arg) {
        let is_short = remark.chars().count() <= MAX_REMARK;
        if is_short { pieces.push(remark) } else { pieces.extend(words(&remark)) }
    }
    Row { term: term(arg), pieces }
}

/// How an argument is written.
fn term(arg: &Arg) -> String {
    let value = value(arg);
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{value}"),
        (None, Some(long)) => format!("    --{long}{value}"),
        (Some(short), None) => format!("-{short}{value}"),
        (None, None) => value,
    }
}

fn value(arg: &Arg) -> String {
    if !arg.get_action().takes_values() {
        return String::new();
    }
    let id = arg.get_id().as_str().to_uppercase();
    let name =
        arg.get_value_names().and_then(|names| names.first()).map_or(id, ToString::to_string);
    let is_many = arg.get_num_args().is_some_and(|it| it.max_values() > 1);
    match (arg.is_positional(), arg.is_last_set()) {
        (true, true) => format!("-- <{name}>..."),
        (true, false) if arg.is_required_set() && is_many => format!("<{name}>..."),
        (true, false) if arg.is_required_set() => format!("<{name}>"),
        (true, false) if is_many => format!("[{name}]..."),
        (true, false) => format!("[{name}]"),
        (false, _) => format!(" <{name}>"),
    }
}

/// What can be said of an argument without its author: its values, what holds without it, whether it may come again.
fn remarks(arg: &Arg) -> Vec<String> {
    let mut remarks = Vec::new();
    if !arg.get_action().takes_values() {
        return remarks;
    }
    let values: Vec<String> =
        arg.get_possible_values().iter().map(|it| it.get_name().to_owned()).collect();
    if !values.is_empty() && !arg.is_hide_possible_values_set() {
        remarks.push(format!("[values: {}]", values.join(", ")));
    }
    if let [default] = arg.get_default_values()
        && !arg.is_hide_default_value_set()
    {
        remarks.push(format!("[default: {}]", default.to_string_lossy()));
    }
    if !arg.is_positional() && matches!(arg.get_action(), ArgAction::Append) {
        remarks.push("[repeatable]".to_owned());
    }
    remarks
}

/// A pointer to the options of the command above that are not told again.
pub(crate) fn told_above(command: &Command) -> Option<String> {
    let (program, path) = command.get_bin_name()?.split_once(' ')?;
    let done = notes::told_above(path)?;
    let is_inherited = |arg: &&Arg| {
        // Trust in one project is never written down for another program.
        let is_left_out = path == "mcp install" && arg.get_id() == "trust_project";
        arg.is_global_set() && arg.is_hide_set() && !is_left_out
    };
    let inherited: Vec<String> = command
        .get_arguments()
        .filter(is_inherited)
        .filter_map(|arg| Some(format!("--{}", arg.get_long()?)))
        .collect();
    let (last, others) = inherited.split_last()?;
    let (above, others) = (path.split(' ').next()?, others.join(", "));
    Some(format!("{others} and {last} {done}: see `{program} {above} --help`."))
}

fn shown(row: &Row, column: usize, width: usize) -> String {
    let length = row.term.chars().count();
    let mut text = format!("{:INDENT$}{}", "", styled(style::NAME, &row.term));
    if INDENT + length + GAP > column {
        text.push_str(&format!("\n{:column$}", ""));
    } else {
        text.push_str(&" ".repeat(column - INDENT - length));
    }
    text.push_str(&filled(&row.pieces, width, column));
    format!("{}\n", text.trim_end())
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Pieces as lines that end before a width; the first begins at a column, and so do the others.
fn filled(pieces: &[String], width: usize, column: usize) -> String {
    let (mut text, mut at) = (String::new(), column);
    for piece in pieces {
        let length = piece.chars().count();
        if at > column && at + 1 + length > width {
            text.push_str(&format!("\n{:column$}", ""));
            at = column;
        } else if at > column {
            text.push(' ');
            at += 1;
        }
        text.push_str(piece);
        at += length;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_before_the_width_and_remarks_are_whole() {
        let row = Row {
            term: "--color <WHEN>".to_owned(),
            pieces: [words("When to use colour"), vec!["[default: auto]".to_owned()]].concat(),
        };
        insta::assert_snapshot!(anstream::adapter::strip_str(&shown(&row, 18, 44)), @"
          --color <WHEN>  When to use colour
                          [default: auto]
        ");
        insta::assert_snapshot!(anstream::adapter::strip_str(&shown(&row, 10, 30)), @"
          --color <WHEN>
                  When to use colour
                  [default: auto]
        ");
    }
}
