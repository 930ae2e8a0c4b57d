//! The command line as clap knows it, with what attributes cannot say: the pages of help, and colours like ours.
//!
//! Pages of help are made only when somebody asks for one: the line is then read once more, by a tree that has them.

use std::ffi::{OsStr, OsString};

use clap::builder::Styles;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ColorChoice, Command, CommandFactory, Error, FromArgMatches};

use super::commands::{Cli, Color, GLOBAL, WHICH_SKILLS};
use super::{notes, page};
use crate::output::style;

/// Colours of clap, by the same meaning as ours.
const STYLES: Styles = Styles::plain()
    .header(style::HEADING)
    .usage(style::HEADING)
    .literal(style::NAME)
    .error(style::BAD)
    .valid(style::GOOD)
    .invalid(style::WARN);

/// How help and mistakes are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Columns there are.
    pub width: usize,
    /// When colour is used.
    pub color: ColorChoice,
}

/// The command line.
pub(crate) fn tree() -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help);
    let version = Arg::new("version").short('V').long("version").action(ArgAction::Version);
    let command = Cli::command()
        .styles(STYLES)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(help.global(true).help("Show this help").help_heading(GLOBAL))
        .arg(version.help("Show the version").help_heading(GLOBAL));
    notes::annotated(command.mut_subcommands(told_once), &[])
}

/// Reads a command line, the name of the program first.
///
/// # Errors
///
/// When it cannot be read, or asks for help or the version instead.
pub(crate) fn parse(words: &[OsString], look: Look) -> Result<Cli, Error> {
    let mut command = tree().color(look.color).term_width(look.width);
    let matches = command.try_get_matches_from_mut(words).or_else(|error| {
        let is_help = matches!(
            error.kind(),
            ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        );
        if is_help {
            page::with_pages(tree().color(look.color), look.width).try_get_matches_from(words)
        } else {
            Err(error)
        }
    })?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// When colour is wanted, as a line says that may have mistakes.
pub(crate) fn color_of(words: &[OsString]) -> Color {
    let options: Vec<&OsStr> =
        words.iter().map(OsString::as_os_str).take_while(|it| *it != "--").collect();
    let apart = options.windows(2).filter(|pair| pair[0] == "--color").map(|pair| pair[1]);
    let joined = options.iter().filter_map(|it| it.to_str()?.strip_prefix("--color="));
    match apart.filter_map(OsStr::to_str).chain(joined).last() {
        Some("always") => Color::Always,
        Some("never") => Color::Never,
        _ => Color::Auto,
    }
}

/// Hides, below a command that takes them, the options that choose skills: the page of that command has them.
fn told_once(command: Command) -> Command {
    let is_told = |arg: &&Arg| arg.is_global_set() && arg.get_help_heading() == Some(WHICH_SKILLS);
    let told: Vec<Arg> =
        command.get_arguments().filter(is_told).map(|arg| arg.clone().hide(true)).collect();
    command.mut_subcommands(|inner| told_once(inner.args(told.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_sound() {
        tree().debug_assert();
    }

    #[test]
    fn a_colour_is_wanted_as_the_last_option_says() {
        let color = |line: &str| color_of(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(color("metier run"), Color::Auto);
        assert_eq!(color("metier --color always --help"), Color::Always);
        assert_eq!(color("metier run --color=never"), Color::Never);
        assert_eq!(color("metier exec x -- ls --color always"), Color::Auto);
        assert_eq!(color("metier --color"), Color::Auto);
    }
}
