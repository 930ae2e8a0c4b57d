//! Commands: variables, words and redirections in their places, joined.

use std::path::PathBuf;

use super::folders::{self, Folders};
use super::lexer::{Lexer, Operator, Redirect, Separator, Token};
use super::names;
use super::problem::NotAnalysable;
use super::word::{self, Word};
use crate::plan::{Action, Descriptor, Joint, Plan, Redirection, Simple, Step, Target};

/// Longest text that is read.
pub const MAX_BYTES: usize = 128 << 10;

/// Most programs and changes of folder in a plan. Nobody looks through more.
pub const MAX_COMMANDS: usize = 1_024;

/// Most variables, words and redirections in a plan, of all commands together.
pub const MAX_WORDS: usize = 16_384;

/// Most variables of a command.
pub const MAX_VARIABLES: usize = 64;

/// Reads a command.
///
/// The plan begins in a folder whose path has no links in it, in an environment without `CDPATH` and without
/// what else bash listens to when it starts.
///
/// # Errors
///
/// When a plan cannot say what it would do. The first such thing in the text is named.
pub fn parse(text: &str) -> Result<Plan, NotAnalysable> {
    if text.len() > MAX_BYTES {
        let what = format!("a command of more than {} KiB", MAX_BYTES >> 10);
        return Err(NotAnalysable::new(what, text.floor_char_boundary(MAX_BYTES)));
    }
    if let Some(at) = text.find('\0') {
        return Err(NotAnalysable::new("a NUL character", at));
    }
    let mut grammar = Grammar::new(text);
    while grammar.step()? {}
    Ok(Plan { steps: grammar.steps })
}

struct Grammar<'a> {
    lexer: Lexer<'a>,
    folders: Folders,
    steps: Vec<Step>,
    /// Finished commands of the pipeline that is being read.
    stages: Vec<Draft>,
    /// The command that is being read.
    draft: Draft,
    /// How the pipeline that is being read is joined to the steps.
    joint: Joint,
    /// What must be followed by a command.
    open: Option<(Separator, usize)>,
    commands: usize,
    words: usize,
}

/// A command that may not be finished.
#[derive(Default)]
struct Draft {
    /// Where it begins.
    at: usize,
    variables: Vec<(String, String)>,
    words: Vec<String>,
    redirections: Vec<Redirection>,
}

impl<'a> Grammar<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            lexer: Lexer::new(text),
            folders: Folders::new(),
            steps: Vec::new(),
            stages: Vec::new(),
            draft: Draft::default(),
            joint: Joint::Always,
            open: None,
            commands: 0,
            words: 0,
        }
    }

    /// Reads a token and what belongs to it. False at the end.
    fn step(&mut self) -> Result<bool, NotAnalysable> {
        let (token, at) = self.lexer.next()?;
        match token {
            Token::Word(word) => self.word(word)?,
            Token::Redirect(redirect) => self.redirect(redirect, at)?,
            Token::Separator(separator) => self.separator(separator, at)?,
            Token::End => {
                self.end(at)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn word(&mut self, word: Word) -> Result<(), NotAnalysable> {
        self.begin(word.at);
        self.count(word.at)?;
        if !self.draft.words.is_empty() {
            self.draft.words.push(word.text);
            return Ok(());
        }
        if let Some(length) = word.name {
            return self.variable(&word, length);
        }
        check_program(&word)?;
        self.draft.at = word.at;
        self.draft.words.push(word.text);
        Ok(())
    }

    fn variable(&mut self, word: &Word, length: usize) -> Result<(), NotAnalysable> {
        let (name, value) = word.text.split_at(length);
        if word.is_appending {
            return Err(NotAnalysable::new("an assignment that appends `NAME+=…`", word.at));
        }
        if names::is_of_the_shell(name) {
            let what = format!("`{name}=…`, which means something to the shell itself");
            return Err(NotAnalysable::new(what, word.at));
        }
        if self.draft.variables.len() == MAX_VARIABLES {
            let what = format!("more than {MAX_VARIABLES} variables for a command");
            return Err(NotAnalysable::new(what, word.at));
        }
        self.draft.variables.push((name.to_owned(), value[1..].to_owned()));
        Ok(())
    }

    fn redirect(&mut self, redirect: Redirect, at: usize) -> Result<(), NotAnalysable> {
        self.begin(at);
        self.count(at)?;
        let Redirect { descriptor, operator } = redirect;
        let Token::Word(word) = self.lexer.next()?.0 else {
            return Err(NotAnalysable::new("a redirection without a target", at));
        };
        let target = match operator {
            Operator::Duplicate => Target::Same(copied(&word)?),
            _ => file(&word, operator)?,
        };
        let descriptor = match (operator, descriptor) {
            (Operator::Read, None | Some(0)) => Descriptor::Input,
            (Operator::Read, _) => {
                return Err(NotAnalysable::new("an output that is read from a file", at));
            }
            (_, None | Some(1)) => Descriptor::Output,
            (_, Some(2)) => Descriptor::Error,
            _ => return Err(NotAnalysable::new("standard input that is written to", at)),
        };
        self.draft.redirections.push(Redirection { descriptor, target });
        if matches!(operator, Operator::WriteBoth | Operator::AppendBoth) {
            let target = Target::Same(Descriptor::Output);
            self.draft.redirections.push(Redirection { descriptor: Descriptor::Error, target });
        }
        Ok(())
    }

    fn separator(&mut self, separator: Separator, at: usize) -> Result<(), NotAnalysable> {
        if self.draft.is_empty() {
            // Empty lines, also behind `|`, `&&` and `||`.
            if separator == Separator::Newline {
                return Ok(());
            }
            let what = format!("no command before {}", separator.written());
            return Err(NotAnalysable::new(what, at));
        }
        self.stage()?;
        if separator != Separator::Pipe {
            self.pipeline()?;
        }
        match separator {
            Separator::And => self.joint = Joint::Success,
            Separator::Or => self.joint = Joint::Failure,
            Separator::Pipe | Separator::Semicolon | Separator::Newline => {}
        }
        let is_open = matches!(separator, Separator::Pipe | Separator::And | Separator::Or);
        self.open = is_open.then_some((separator, at));
        Ok(())
    }

    fn end(&mut self, at: usize) -> Result<(), NotAnalysable> {
        if !self.draft.is_empty() {
            self.stage()?;
            return self.pipeline();
        }
        if let Some((separator, at)) = self.open {
            let what = format!("no command after {}", separator.written());
            return Err(NotAnalysable::new(what, at));
        }
        if self.steps.is_empty() {
            return Err(NotAnalysable::new("an empty command", at));
        }
        Ok(())
    }

    /// Ends a command.
    fn stage(&mut self) -> Result<(), NotAnalysable> {
        let draft = std::mem::take(&mut self.draft);
        if draft.words.is_empty() {
            return Err(NotAnalysable::new(
                if draft.variables.is_empty() {
                    "a redirection without a command"
                } else {
                    "an assignment without a command"
                },
                draft.at,
            ));
        }
        self.commands += 1;
        if self.commands > MAX_COMMANDS {
            let what = format!("more than {MAX_COMMANDS} commands");
            return Err(NotAnalysable::new(what, draft.at));
        }
        self.stages.push(draft);
        Ok(())
    }

    /// Ends a step.
    fn pipeline(&mut self) -> Result<(), NotAnalysable> {
        let stages = std::mem::take(&mut self.stages);
        let joint = std::mem::replace(&mut self.joint, Joint::Always);
        self.open = None;
        let at = stages.first().map_or(0, |stage| stage.at);
        let refused = |what: &'static str| NotAnalysable::new(what, at);
        let folder = self.folders.take(joint).map_err(refused)?;
        let action = match stages.iter().find(|stage| stage.words[0] == "cd") {
            Some(change) => {
                let target = change.target(stages.len() > 1)?;
                let entered = folders::enter(&folder, target).map_err(refused)?;
                self.folders.entered(entered.clone()).map_err(refused)?;
                Action::Enter(entered)
            }
            None => {
                self.folders.ran(folder.clone()).map_err(refused)?;
                Action::Run(stages.into_iter().map(|stage| stage.finish(folder.clone())).collect())
            }
        };
        self.steps.push(Step { joint, action });
        Ok(())
    }

    fn begin(&mut self, at: usize) {
        if self.draft.is_empty() {
            self.draft.at = at;
        }
    }

    fn count(&mut self, at: usize) -> Result<(), NotAnalysable> {
        self.words += 1;
        if self.words > MAX_WORDS {
            return Err(NotAnalysable::new(format!("more than {MAX_WORDS} words"), at));
        }
        Ok(())
    }
}

impl Draft {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.variables.is_empty() && self.redirections.is_empty()
    }

    /// Where `cd` goes.
    fn target(&self, is_in_pipeline: bool) -> Result<&str, NotAnalysable> {
        let refused = |what: &str| Err(NotAnalysable::new(what, self.at));
        if is_in_pipeline {
            return refused("`cd` in a pipeline, where it changes nothing for others");
        }
        if !self.variables.is_empty() {
            return refused("`cd` with an assignment");
        }
        if !self.redirections.is_empty() {
            return refused("`cd` with a redirection");
        }
        let arguments: Vec<&str> = self.words[1..].iter().map(String::as_str).collect();
        match arguments[..] {
            [] | ["--"] => refused("`cd` without a folder"),
            ["-"] | ["--", "-"] => refused("`cd -`, which goes back to the folder before"),
            [""] | ["--", ""] => refused("`cd` to an empty name"),
            ["--", target] => Ok(target),
            ["--", ..] => refused("`cd` to more than one folder"),
            [option, ..] if option.starts_with('-') => refused("`cd` with an option"),
            [target] => Ok(target),
            _ => refused("`cd` to more than one folder"),
        }
    }

    fn finish(self, directory: PathBuf) -> Simple {
        let Self { variables, words, redirections, .. } = self;
        Simple { variables, words, redirections, directory }
    }
}

/// Refuses what is no program, where a program should be.
fn check_program(word: &Word) -> Result<(), NotAnalysable> {
    let text = word.text.as_str();
    let what = if text.is_empty() {
        "an empty word where a program should be".to_owned()
    } else if word.is_bare && names::is_reserved(text) {
        word::reserved(text)
    } else if names::is_builtin(text) {
        format!("`{text}` is part of the shell")
    } else if text.starts_with('%') {
        "a job `%…`".to_owned()
    } else {
        return Ok(());
    };
    Err(NotAnalysable::new(what, word.at))
}

/// The descriptor behind `>&`.
fn copied(word: &Word) -> Result<Descriptor, NotAnalysable> {
    let text = word.text.as_str();
    let is_number = word.is_bare && text.bytes().all(|byte| byte.is_ascii_digit());
    let what = match text {
        "1" if word.is_bare => return Ok(Descriptor::Output),
        "2" if word.is_bare => return Ok(Descriptor::Error),
        "0" => "an output that is a copy of standard input",
        text if text.ends_with('-') => "a descriptor that is closed or moved `>&-`",
        _ if is_number => "a copy of a descriptor other than 1 and 2",
        _ => "`>&` with something other than a descriptor",
    };
    Err(NotAnalysable::new(what, word.at))
}

/// The file behind `<`, `>`, `>>`, `&>` or `&>>`.
fn file(word: &Word, operator: Operator) -> Result<Target, NotAnalysable> {
    let path = word.text.as_str();
    if path == "/dev/null" {
        return Ok(Target::Nothing);
    }
    if path.is_empty() {
        return Err(NotAnalysable::new("a redirection to an empty name", word.at));
    }
    if is_below_dev(path) {
        let what = "a redirection to something below `/dev` other than `/dev/null`";
        return Err(NotAnalysable::new(what, word.at));
    }
    let path = path.to_owned();
    Ok(match operator {
        Operator::Read => Target::Read(path),
        Operator::Append | Operator::AppendBoth => Target::Append(path),
        Operator::Write | Operator::WriteBoth | Operator::Duplicate => Target::Write(path),
    })
}

/// Whether an absolute path passes through `/dev`, however it is written.
fn is_below_dev(path: &str) -> bool {
    if !path.starts_with('/') {
        return false;
    }
    let mut depth: usize = 0;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => depth = depth.saturating_sub(1),
            "dev" if depth == 0 => return true,
            _ => depth += 1,
        }
    }
    false
}
