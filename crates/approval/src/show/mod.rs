//! Commands as a person is shown them before deciding.
//!
//! What is shown must be what runs: nothing in a word can hide, pass for a blank or for another sign, turn the
//! direction of reading, or look like the end of a word. Secrets are masked, because prompts end up in logs and
//! on screens. What is too long to be shown cannot be approved.

mod quotes;
mod secrets;
mod signs;

use thiserror::Error;

use crate::judge::normal;
use crate::plan::{Action, Descriptor, Joint, Redirection, Simple, Target};
use crate::tables;
use crate::verdict::{Approved, Judged};

use secrets::Place;
pub(crate) use signs::brief;
use signs::{Part, is_hidden};

/// Most bytes that a person is shown.
pub const MAX_SHOWN: usize = 16 << 10;

/// Most lines that a person is shown, files of programs among them. More could push the first out of sight.
pub const MAX_LINES: usize = 40;

/// It is too long for a person to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TooLong {
    /// It has too many bytes.
    #[error(
        "the command is {0} bytes long as it would be shown, more than a person can check ({MAX_SHOWN})"
    )]
    Bytes(usize),
    /// It has too many lines.
    #[error("the command would be shown in {0} lines, more than a person can check ({MAX_LINES})")]
    Lines(usize),
}

/// A command as a person is shown it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// What is done: a line for each step of a plan, or for each line of a text.
    pub lines: Vec<String>,
    /// The folder it starts in; none if only a text is shown.
    pub directory: Option<String>,
    /// Which files the programs are, in the order of the plan, and scripts that they are told to run.
    pub programs: Vec<String>,
    /// Whether something in it was masked.
    pub is_masked: bool,
    /// Whether something in it cannot be seen as it is, and was written as `\u{…}`.
    pub is_escaped: bool,
}

/// Shows a plan.
///
/// # Errors
///
/// When it is too long.
pub fn shown(approved: &Approved) -> Result<Shown, TooLong> {
    let bytes = length(approved);
    if bytes > MAX_SHOWN {
        return Err(TooLong::Bytes(bytes));
    }
    let lines = approved.plan.steps.len();
    if lines > MAX_LINES {
        return Err(TooLong::Lines(lines));
    }
    let mut judged = approved.programs.iter();
    let mut shown = Shown::default();
    let start = approved.directory.real.to_string_lossy();
    shown.directory = Some(shown.plain(&start, Part::Word));
    for step in &approved.plan.steps {
        let joint = match step.joint {
            Joint::Always => "",
            Joint::Success => "&& ",
            Joint::Failure => "|| ",
        };
        let action = match &step.action {
            Action::Enter(folder) => {
                let folder = normal(&approved.directory.real.join(folder));
                format!("cd {}", shown.plain(&folder.to_string_lossy(), Part::Word))
            }
            Action::Run(programs) => {
                let programs = programs.iter().map(|simple| shown.simple(simple, judged.next()));
                let programs: Vec<_> = programs.collect();
                programs.join(" | ")
            }
        };
        shown.lines.push(format!("{joint}{action}"));
    }
    for judged in &approved.programs {
        let inner = judged.inner.iter().map(|(_, program)| &program.file.real);
        let scripts = judged.scripts.iter().map(|script| &script.real);
        for path in [&judged.program.file.real].into_iter().chain(inner).chain(scripts) {
            let path = shown.plain(&path.to_string_lossy(), Part::Word);
            if !shown.programs.contains(&path) {
                shown.programs.push(path);
            }
        }
    }
    shown.bounded()
}

/// Shows a text that has no plan and would be given to a shell.
///
/// # Errors
///
/// When it is too long.
pub fn shown_text(text: &str) -> Result<Shown, TooLong> {
    if text.len() > MAX_SHOWN {
        return Err(TooLong::Bytes(text.len()));
    }
    let lines = text.split('\n').count();
    if lines > MAX_LINES {
        return Err(TooLong::Lines(lines));
    }
    let mut shown = Shown::default();
    let (text, is_masked) = secrets::masked(text, is_hidden);
    shown.is_masked = is_masked;
    for line in text.split('\n') {
        let line = signs::written(line, Part::Text, &mut shown.is_escaped);
        shown.lines.push(line);
    }
    shown.bounded()
}

/// How long the words of a plan are, before anything is done to them.
fn length(approved: &Approved) -> usize {
    let simples = approved.plan.steps.iter().flat_map(|step| match &step.action {
        Action::Run(programs) => programs.as_slice(),
        Action::Enter(_) => &[],
    });
    let words = simples.flat_map(|simple| {
        let variables = simple.variables.iter().flat_map(|(name, value)| [name, value]);
        simple.words.iter().chain(variables)
    });
    words.map(String::len).sum()
}

impl Shown {
    fn bounded(self) -> Result<Self, TooLong> {
        let texts = self.lines.iter().chain(&self.programs).chain(&self.directory);
        let bytes = texts.map(|text| text.len() + 1).sum();
        if bytes > MAX_SHOWN {
            return Err(TooLong::Bytes(bytes));
        }
        let lines = self.lines.len() + self.programs.len();
        if lines > MAX_LINES { Err(TooLong::Lines(lines)) } else { Ok(self) }
    }

    fn simple(&mut self, simple: &Simple, judged: Option<&Judged>) -> String {
        let mut words = Vec::new();
        for (name, value) in &simple.variables {
            let (value, is_masked) = secrets::masked_value(name, value, is_hidden);
            self.is_masked |= is_masked;
            let name = signs::written(name, Part::Program, &mut self.is_escaped);
            words.push(format!(
                "{name}={}",
                signs::written(&value, Part::Word, &mut self.is_escaped)
            ));
        }
        let inner = judged.map_or(&[][..], |judged| judged.inner.as_slice());
        let mut program = 0;
        let mut is_ordinary = false;
        for (at, word) in simple.words.iter().enumerate() {
            let started = inner.iter().find(|(inner, _)| *inner == at).map(|(_, inner)| inner);
            if at == 0 || started.is_some() {
                program = at;
                let executable = started.or(judged.map(|judged| &judged.program));
                is_ordinary = tables::kind_of(word, executable).is_ordinary();
                words.push(self.plain(word, if at == 0 { Part::Program } else { Part::Word }));
                continue;
            }
            let before = &simple.words[program + 1..at];
            let place = Place { program: &simple.words[program], is_ordinary, before };
            let (word, is_masked) = secrets::masked_word(word, place, is_hidden);
            self.is_masked |= is_masked;
            words.push(signs::written(&word, Part::Word, &mut self.is_escaped));
        }
        words.extend(simple.redirections.iter().map(|redirection| self.redirection(redirection)));
        words.join(" ")
    }

    /// What says which program runs, and where: it is never masked.
    fn plain(&mut self, word: &str, part: Part) -> String {
        signs::written(word, part, &mut self.is_escaped)
    }

    fn redirection(&mut self, redirection: &Redirection) -> String {
        let number = match redirection.descriptor {
            Descriptor::Input => 0,
            Descriptor::Output => 1,
            Descriptor::Error => 2,
        };
        let mut file = |sign: &str, path: &str| {
            let number = if number == 2 { "2" } else { "" };
            format!("{number}{sign} {}", signs::written(path, Part::Word, &mut self.is_escaped))
        };
        match &redirection.target {
            Target::Nothing if number == 0 => "< /dev/null".to_owned(),
            Target::Nothing => file(">", "/dev/null"),
            Target::Same(other) => format!("{number}>&{}", *other as u8),
            Target::Read(path) => file("<", path),
            Target::Write(path) => file(">", path),
            Target::Append(path) => file(">>", path),
        }
    }
}

#[cfg(test)]
mod tests;
