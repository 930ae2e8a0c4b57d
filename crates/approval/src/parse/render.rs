//! Plans as text, which is read as the same plan again.
//!
//! It is for people who have to know a command, and for matching it; nothing runs from it. What is invisible stays as it is
//! here: whoever shows it to a person escapes it.

use std::fmt::{self, Display, Formatter};
use std::path::{Component, Path};

use super::folders::Folders;
use super::names;
use crate::plan::{Action, Descriptor, Joint, Plan, Redirection, Simple, Step, Target};

/// Writes an argument for a shell: as it is if it needs no quotes.
///
/// Words that mean something only where a program should be (`if`, `A=1`) need none as arguments.
#[must_use]
pub fn quote(word: &str) -> String {
    if is_bare(word) {
        word.to_owned()
    } else if !word.contains('\'') {
        format!("'{word}'")
    } else if !word.contains(['"', '$', '`', '\\']) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// As text for a shell, which [`parse`](super::parse) reads as the same plan again. Changes of folder are written as
/// they are seen from the folder before.
impl Display for Plan {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut folders = Folders::new();
        for (index, Step { joint, action }) in self.steps.iter().enumerate() {
            if index > 0 {
                formatter.write_str(match joint {
                    Joint::Always => "; ",
                    Joint::Success => " && ",
                    Joint::Failure => " || ",
                })?;
            }
            // A plan that was read is always followed; in any other what was written is shown.
            let folder = folders.take(*joint).unwrap_or_default();
            match action {
                Action::Enter(target) => {
                    write_change(formatter, &folder, target)?;
                    let _followed = folders.entered(target.clone());
                }
                Action::Run(stages) => {
                    write_pipeline(formatter, stages)?;
                    let _followed = folders.ran(folder);
                }
            }
        }
        Ok(())
    }
}

/// As text for a shell, without its folder.
impl Display for Simple {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            // What needs no quotes as a word of its own does behind a name.
            match value.as_str() {
                "" => write!(formatter, "{name}= ")?,
                "[" | "{}" => write!(formatter, "{name}='{value}' ")?,
                value => write!(formatter, "{name}={} ", quote(value))?,
            }
        }
        for (index, word) in self.words.iter().enumerate() {
            match index {
                0 => write!(formatter, "{}", quote_program(word))?,
                _ => write!(formatter, " {}", quote(word))?,
            }
        }
        for redirection in &self.redirections {
            write!(formatter, " {redirection}")?;
        }
        Ok(())
    }
}

/// As text for a shell.
impl Display for Redirection {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self { descriptor, target } = self;
        let (number, usual) = match descriptor {
            Descriptor::Input => ("0", '<'),
            Descriptor::Output => ("1", '>'),
            Descriptor::Error => ("2", '>'),
        };
        let operator = match target {
            Target::Nothing => {
                if usual == '<' {
                    "<"
                } else {
                    ">"
                }
            }
            Target::Same(_) => {
                if usual == '<' {
                    "<&"
                } else {
                    ">&"
                }
            }
            Target::Read(_) => "<",
            Target::Write(_) => ">",
            Target::Append(_) => ">>",
        };
        let is_usual = operator.starts_with(usual) && *descriptor != Descriptor::Error;
        formatter.write_str(if is_usual { "" } else { number })?;
        formatter.write_str(operator)?;
        match target {
            Target::Nothing => formatter.write_str("/dev/null"),
            Target::Same(Descriptor::Input) => formatter.write_str("0"),
            Target::Same(Descriptor::Output) => formatter.write_str("1"),
            Target::Same(Descriptor::Error) => formatter.write_str("2"),
            Target::Read(path) | Target::Write(path) | Target::Append(path) => {
                formatter.write_str(&quote(path))
            }
        }
    }
}

/// Whether an argument needs no quotes.
fn is_bare(word: &str) -> bool {
    const HARMLESS: &[char] = &['_', '-', '.', '/', ',', '+', '@', '%', ':', '='];
    let is_harmless =
        |character: char| character.is_alphanumeric() || HARMLESS.contains(&character);
    matches!(word, "[" | "{}") || (!word.is_empty() && word.chars().all(is_harmless))
}

/// Writes a word where a program should be, so that it is neither an assignment nor a word of the grammar.
fn quote_program(word: &str) -> String {
    if is_bare(word) && (word.contains('=') || names::is_reserved(word)) {
        format!("'{word}'")
    } else {
        quote(word)
    }
}

fn write_pipeline(formatter: &mut Formatter<'_>, stages: &[Simple]) -> fmt::Result {
    for (index, stage) in stages.iter().enumerate() {
        if index > 0 {
            formatter.write_str(" | ")?;
        }
        stage.fmt(formatter)?;
    }
    Ok(())
}

fn write_change(formatter: &mut Formatter<'_>, from: &Path, to: &Path) -> fmt::Result {
    let way = way(from, to);
    match way.as_str() {
        "-" => formatter.write_str("cd ./-"),
        dashed if dashed.starts_with('-') => write!(formatter, "cd -- {}", quote(dashed)),
        way => write!(formatter, "cd {}", quote(way)),
    }
}

/// How to get from one folder to another; both are seen from where the plan starts.
fn way(from: &Path, to: &Path) -> String {
    let whole = to.to_string_lossy().into_owned();
    let common = from.components().zip(to.components()).take_while(|(left, right)| left == right);
    let common = common.count();
    let back = from.components().skip(common);
    if from.is_absolute() != to.is_absolute()
        || back.clone().any(|part| !matches!(part, Component::Normal(_)))
    {
        return whole;
    }
    let up = back.map(|_| "..".to_owned());
    let down = to.components().skip(common);
    let down = down.map(|part| part.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<String> = up.chain(down).collect();
    if parts.is_empty() {
        return ".".to_owned();
    }
    let relative = parts.join("/");
    if to.is_absolute() && whole.len() <= relative.len() { whole } else { relative }
}
