//! What the commands of a chat do.

use metier_agent::Library;
use metier_app::AppError;
use metier_app::sessions::new_session_id;
use metier_app::turn::SkillCommands;
use metier_app::turn::names::ORDERS;
use metier_skill::library::Entry;
use metier_skill::search::SkillIndex;

use super::talk::Chat;
use super::words::Order;
use crate::args::UsageArgs;
use crate::commands::sessions::show_usage;
use crate::failure::Failure;
use crate::output::{Align, Column, Table, counted, plain, style};

/// Most skills that fit some words.
const MAX_HITS: usize = 8;

impl Chat<'_> {
    /// Does what a command says. Leaving is left to the caller.
    ///
    /// # Errors
    ///
    /// When it cannot be done.
    pub(super) fn obey(&mut self, order: Order, names: &SkillCommands) -> Result<(), Failure> {
        let out = self.context.output;
        match order {
            Order::Help => out.print(&help()),
            Order::Skills(words) => self.show_skills(&words, names),
            Order::Attach(file) => self.attach(&file)?,
            Order::Model(name) => {
                if let Some(name) = name {
                    let wording = &self.choices.offline;
                    let app = &self.context.app;
                    app.change_model(&mut self.agent, &name, &self.skills, wording)?;
                }
                out.note(style::DIM, "model ", self.agent.model.name());
            }
            Order::Session(name) => {
                if let Some(name) = name {
                    self.context.session(Some(&name))?;
                    self.session = name;
                }
                self.show_session()?;
            }
            Order::New => {
                self.session = new_session_id();
                self.show_session()?;
            }
            Order::Usage => {
                let session = Some(self.session.clone());
                show_usage(&UsageArgs { session, json: false }, self.context)?;
            }
            Order::Quit => {}
        }
        Ok(())
    }

    /// Whether anything is stored of this session.
    ///
    /// # Errors
    ///
    /// When sessions cannot be read.
    pub(super) fn has_begun(&self) -> Result<bool, Failure> {
        let key = self.context.app.session_key(&self.session)?;
        Ok(self.runtime.block_on(self.agent.sessions.get(&key))?.is_some())
    }

    /// Says which session this is.
    ///
    /// # Errors
    ///
    /// When sessions cannot be read.
    pub(super) fn show_session(&self) -> Result<(), Failure> {
        let key = self.context.app.session_key(&self.session)?;
        let found = self.runtime.block_on(self.agent.sessions.get(&key))?;
        let tasks = match found.map_or(0, |session| session.turns) {
            0 => String::new(),
            turns => {
                format!(" · {}", counted(usize::try_from(turns).unwrap_or_default(), "message"))
            }
        };
        let text = format!("{}{tasks}", self.session);
        self.context.output.note(style::DIM, "session ", &text);
        Ok(())
    }

    fn attach(&mut self, file: &str) -> Result<(), Failure> {
        let file = without_quotes(file);
        if file.is_empty() {
            return Err(Failure::usage("`/attach` needs the name of a file")
                .hint("write it behind it, as in `/attach sales.csv`"));
        }
        let environment = &self.context.app.environment;
        let path = environment.expand(file, &environment.folder);
        let read = self.context.app.read_attachments(&[path]).map_err(AppError::from);
        self.files.extend(read.map_err(|error| Failure::from(error).without_hint())?);
        self.context.output.note(style::DIM, "attached ", &format!("{file}, to your next message"));
        Ok(())
    }

    fn show_skills(&self, words: &str, names: &SkillCommands) {
        let snapshot = self.skills.snapshot();
        let is_usable = |entry: &Entry| entry.verdict.is_eligible();
        let entries: Vec<&Entry> = if words.is_empty() {
            snapshot.entries.iter().filter(|entry| is_usable(entry)).collect()
        } else {
            let hits = SkillIndex::new(&snapshot, is_usable).search(words, MAX_HITS);
            hits.into_iter().map(|(entry, _)| entry).collect()
        };
        let out = &self.context.output;
        if entries.is_empty() {
            out.say("no skill fits");
            return;
        }
        let column = |heading, fills| Column { heading, align: Align::Left, fills };
        let mut table =
            Table::new(&[column("SKILL", false), column("COMMAND", false), column("DOES", true)]);
        for entry in entries {
            let name = entry.name.as_str();
            let command = names.command(name).map_or_else(String::new, |it| format!("/{it}"));
            let does = metier_skill::catalog::one_line(&entry.manifest.description);
            table.row(vec![
                (style::NAME, plain(name)),
                (style::DIM, command),
                (anstyle::Style::new(), plain(&does)),
            ]);
        }
        out.print(&table.render(out.width()));
    }
}

/// What is between quotes, for people who write names as a shell wants them.
fn without_quotes(text: &str) -> &str {
    let between = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    between('"').or_else(|| between('\'')).unwrap_or(text)
}

/// The commands, and what else can be typed.
fn help() -> String {
    let mut lines: Vec<(String, &str)> = ORDERS
        .iter()
        .map(|(name, given, does)| (format!("/{name} {given}").trim_end().to_owned(), *does))
        .collect();
    lines.push(("/NAME [text]".to_owned(), "the same by the command that /skills shows"));
    lines.push(("$NAME".to_owned(), "anywhere in a message: load that skill for it"));
    lines.push(("\\".to_owned(), "at the end of a line: the message goes on in the next"));
    lines.push(("Ctrl-C".to_owned(), "stop what is going on; the session stays"));
    let widest = lines.iter().map(|(typed, _)| typed.len()).max().unwrap_or_default();
    lines.iter().map(|(typed, does)| format!("{typed:widest$}  {does}\n")).collect()
}
