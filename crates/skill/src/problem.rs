//! A diagnostic with the file it is in, ready for a list.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::advice::SkillAdvice;
use crate::diagnostic::{Code, Diagnostic, Level, Severity};
use crate::name::is_invisible;
use crate::text::LineIndex;

/// What was noticed in a file, or about a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// The file or folder.
    pub path: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The rule.
    pub code: Code,
    /// How much it matters when skills are loaded.
    pub severity: Severity,
    /// What is wrong, as a clause.
    pub message: String,
    /// The remedy, where every front end has the same words for it.
    pub help: Option<String>,
    /// The remedy, where the words are the front end's.
    pub advice: Option<Box<SkillAdvice>>,
}

impl Problem {
    /// Something about a file or folder as a whole.
    pub fn new(code: Code, path: &Path, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: 1,
            column: 1,
            code,
            severity: code.severity(Level::Lenient),
            message: message.into(),
            help: None,
            advice: None,
        }
    }

    /// A diagnostic in a file.
    pub fn in_file(path: &Path, lines: &LineIndex<'_>, diagnostic: &Diagnostic) -> Self {
        let place = lines.position(diagnostic.span.start);
        Self {
            line: place.line,
            column: place.column,
            help: diagnostic.help.clone(),
            ..Self::new(diagnostic.code, path, diagnostic.message.clone())
        }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Returns the same problem with advice that front ends word.
    #[must_use]
    pub fn advise(mut self, advice: SkillAdvice) -> Self {
        self.advice = Some(Box::new(advice));
        self
    }
}

/// As one line that a terminal can be shown: the place, what is wrong, and what to do. What cannot be seen is written out,
/// since much of it is text of a skill.
impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_visibly(formatter, &self.path.to_string_lossy())?;
        write!(formatter, ":{}: ", self.line)?;
        write_visibly(formatter, &self.message)?;
        if let Some(help) = &self.help {
            formatter.write_str("; ")?;
            write_visibly(formatter, help)?;
        }
        if let Some(advice) = &self.advice {
            formatter.write_str("; ")?;
            write_visibly(formatter, &advice.to_string())?;
        }
        Ok(())
    }
}

/// Writes a text in which nothing hides.
fn write_visibly(formatter: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for character in text.chars() {
        if is_invisible(character) {
            write!(formatter, "{}", character.escape_unicode())?;
        } else {
            formatter.write_char(character)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_one_line_in_which_nothing_hides() {
        let path = Path::new("/skills/a\u{1b}[2J/SKILL.md");
        let problem = Problem::new(Code::NameMissing, path, "`x\n\u{202e}y` is odd").help("say so");
        let text = problem.to_string();
        assert_eq!(text, r"/skills/a\u{1b}[2J/SKILL.md:1: `x\u{a}\u{202e}y` is odd; say so");
        let advised = Problem::new(Code::LinkOutside, Path::new("/a"), "it leads out");
        let text = advised.advise(SkillAdvice::EnableSkill { key: "a\u{1b}".into() }).to_string();
        assert_eq!(text, r"/a:1: it leads out; enable `a\u{1b}`");
    }
}
