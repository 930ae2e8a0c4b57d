//! Commands as a person is shown them before deciding.
//!
//! What is shown must be what runs: nothing in a word can hide, pass for a blank or for another sign, turn the
//! direction of reading, or look like the end of a word. Secrets are masked, because prompts end up in logs and
//! on screens. What is too long to be shown cannot be approved.

mod secrets;
mod signs;

use thiserror::Error;

use crate::judge::normal;
use crate::plan::{Action, Descriptor, Joint, Redirection, Simple, Target};
use crate::verdict::Approved;

pub(crate) use signs::brief;
use signs::{Part, is_hidden};

/// Most bytes that a person is shown.
pub const MAX_SHOWN: usize = 16 << 10;

/// It is too long for a person to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the command is {bytes} bytes long as it would be shown, more than a person can check ({MAX_SHOWN})"
)]
pub struct TooLong {
    /// How long it would be.
    pub bytes: usize,
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
        return Err(TooLong { bytes });
    }
    let mut shown = Shown::default();
    let start = approved.directory.real.to_string_lossy();
    shown.directory = Some(shown.word(&start, Part::Word, None));
    for step in &approved.plan.steps {
        let joint = match step.joint {
            Joint::Always => "",
            Joint::Success => "&& ",
            Joint::Failure => "|| ",
        };
        let action = match &step.action {
            Action::Enter(folder) => {
                let folder = normal(&approved.directory.real.join(folder));
                format!("cd {}", shown.word(&folder.to_string_lossy(), Part::Word, None))
            }
            Action::Run(programs) => {
                let programs: Vec<_> = programs.iter().map(|simple| shown.simple(simple)).collect();
                programs.join(" | ")
            }
        };
        shown.lines.push(format!("{joint}{action}"));
    }
    for judged in &approved.programs {
        let inner = judged.inner.iter().map(|(_, program)| &program.file.real);
        let scripts = judged.scripts.iter().map(|script| &script.real);
        for path in [&judged.program.file.real].into_iter().chain(inner).chain(scripts) {
            let path = shown.word(&path.to_string_lossy(), Part::Word, None);
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
        return Err(TooLong { bytes: text.len() });
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
        if bytes > MAX_SHOWN { Err(TooLong { bytes }) } else { Ok(self) }
    }

    fn simple(&mut self, simple: &Simple) -> String {
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
        let mut before = None;
        for (place, word) in simple.words.iter().enumerate() {
            let part = if place == 0 { Part::Program } else { Part::Word };
            words.push(self.word(word, part, before));
            before = Some(word.as_str());
        }
        words.extend(simple.redirections.iter().map(|redirection| self.redirection(redirection)));
        words.join(" ")
    }

    fn word(&mut self, word: &str, part: Part, before: Option<&str>) -> String {
        let (word, is_masked) = secrets::masked_word(word, before, is_hidden);
        self.is_masked |= is_masked;
        signs::written(&word, part, &mut self.is_escaped)
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
