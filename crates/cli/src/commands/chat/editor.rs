//! The line editor: history, completion and messages of several lines.

use std::borrow::Cow;
use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::config::BellStyle;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{ColorMode, CompletionType, Config, Helper};

use super::files;
use super::lines::{Line, PROMPT, goes_on};
use crate::context::Context;
use crate::failure::Failure;
use crate::masking::masked;
use crate::output::{style, styled};
use metier_app::turn::SkillCommands;

/// Most messages that are remembered.
const MAX_HISTORY: usize = 1000;

/// What is followed by the name of a file.
const ATTACH: &str = "/attach ";

/// A line editor on the terminal.
pub(super) struct Editor {
    editor: rustyline::Editor<Assistant, FileHistory>,
    /// Where messages are remembered; for nobody else to read.
    history: PathBuf,
}

/// What the editor asks while somebody types.
struct Assistant {
    names: SkillCommands,
    /// Where names of files start.
    folder: PathBuf,
    is_colored: bool,
}

impl Editor {
    /// Gets ready.
    ///
    /// # Errors
    ///
    /// When the terminal cannot be used.
    pub(super) fn open(context: &Context) -> Result<Self, Failure> {
        let is_colored = context.output.is_colored();
        let config = Config::builder()
            .max_history_size(MAX_HISTORY)
            .and_then(|it| it.history_ignore_dups(true))
            .map_err(|error| Failure::of_terminal(&error))?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .bell_style(BellStyle::None)
            .color_mode(if is_colored { ColorMode::Enabled } else { ColorMode::Disabled })
            .build();
        let editor = rustyline::Editor::with_config(config);
        let mut editor = editor.map_err(|error| Failure::of_terminal(&error))?;
        let folder = context.app.environment.folder.clone();
        editor.set_helper(Some(Assistant { names: SkillCommands::default(), folder, is_colored }));
        let history = context.app.environment.state().join("chat_history");
        // There is none before the first message.
        let _none = editor.load_history(&history);
        Ok(Self { editor, history })
    }

    /// Waits for a message.
    ///
    /// # Errors
    ///
    /// When the terminal cannot be read.
    pub(super) fn next(&mut self, names: &SkillCommands) -> Result<Line, Failure> {
        if let Some(assistant) = self.editor.helper_mut() {
            names.clone_into(&mut assistant.names);
        }
        match self.editor.readline(PROMPT) {
            Ok(text) => {
                self.remember(&text);
                Ok(Line::Text(text))
            }
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(error) => Err(Failure::of_terminal(&error)),
        }
    }

    fn remember(&mut self, text: &str) {
        let text = &*masked(text);
        let is_new =
            !text.trim().is_empty() && self.editor.add_history_entry(text).unwrap_or(false);
        if is_new {
            // A chat goes on without a memory.
            let _unwritable = self.editor.append_history(&self.history);
        }
    }
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let line = &line[..position];
        Ok(match line.strip_prefix(ATTACH) {
            Some(begun) => (ATTACH.len(), files::completions(begun, &self.folder)),
            None => self.names.completions(line),
        })
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if goes_on(context.input()) {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Highlighter for Assistant {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(
        &'s self,
        prompt: &'p str,
        _is_default: bool,
    ) -> Cow<'b, str> {
        if self.is_colored { styled(style::NAME, prompt).into() } else { prompt.into() }
    }
}

impl Hinter for Assistant {
    type Hint = String;
}

impl Helper for Assistant {}
