//! `metier setup`: the folder of the agent, what skills miss, and what to try next.
//!
//! It may be run again at any time: what is there already stays, and a setting that would change is
//! told first.

use std::path::{Path, PathBuf};

use metier_config::{ConfigEdit, toml_key};
use metier_skill::library::{Block, Entry, Snapshot};

use crate::args::{InstallArgs, SetupArgs, SourceArgs};
use crate::ask;
use crate::commands::config::{readers_for, write_config};
use crate::commands::skills::install;
use crate::context::Context;
use crate::failure::{Failure, INTERRUPTED, OK, advice};
use crate::output::{plain, style, styled};
use metier_app::sources::roots::{DEFAULT_AGENT, real, workspace};
use metier_app::state::privacy::make_private_folder;

/// The setting that is written.
const WORKSPACE: &str = "agents.defaults.workspace";
/// Skills that are listed as missing something, where nobody can be asked about them.
const MAX_LISTED: usize = 10;

/// Gets a machine ready.
///
/// # Errors
///
/// When a folder or the configuration cannot be written, or a change was not agreed to.
pub(super) fn run(arguments: &SetupArgs, context: &Context) -> Result<u8, Failure> {
    let setup = Setup { context: context.clone(), can_ask: ask::can_ask() };
    let setup = setup.choose_workspace(arguments)?;
    let sources = SourceArgs { agent: DEFAULT_AGENT.to_owned(), ..SourceArgs::default() };
    setup.offer_programs(&sources)?;
    setup.ask_for_keys(&sources)?;
    setup.tell_next(&sources)?;
    Ok(OK)
}

struct Setup {
    context: Context,
    can_ask: bool,
}

impl Setup {
    fn workspace(&self) -> PathBuf {
        workspace(&self.context.app.environment, &self.context.app.config, DEFAULT_AGENT)
    }

    /// Settles where the agent's folder is, and writes it down if it was said.
    fn choose_workspace(self, arguments: &SetupArgs) -> Result<Self, Failure> {
        let context = &self.context;
        let now = self.workspace();
        let wanted = match &arguments.workspace {
            Some(path) => path.to_str().ok_or_else(not_text)?.to_owned(),
            None if self.can_ask => {
                let question = format!("Folder of the agent [{}]: ", now.display());
                match ask::line(&context.output, &question)? {
                    Some(path) => path,
                    None => return self.make_workspace(&now).map(|_| self),
                }
            }
            None => return self.make_workspace(&now).map(|_| self),
        };
        let path = context.app.environment.expand(&wanted, &context.app.environment.folder);
        let setting = &context.app.config.agent_defaults.workspace;
        let is_set = setting.is_some();
        if is_set && real(&now) == real(&path) {
            return self.make_workspace(&path).map(|_| self);
        }
        if let Some(place) = setting.origins().last() {
            let old = setting.as_deref().unwrap_or_default();
            let text = format!("{WORKSPACE} is {old:?} ({})", plain(&place.to_string()));
            // Whoever is asked sees what about.
            if arguments.yes {
                context.output.say(&text)
            } else {
                context.output.insist(&text)
            }
            self.agree(arguments, "Change it?")?;
        }
        let path = self.make_workspace(&path)?;
        let text = path.to_str().ok_or_else(not_text)?;
        self.write(WORKSPACE, text)?;
        let file = self.file();
        let shown = plain(&file.display().to_string());
        context.output.say(&format!("{WORKSPACE} is {} now, in {shown}", plain(text)));
        let setup = self.reloaded()?;
        if real(&setup.workspace()) != path {
            let other = setup.workspace();
            setup.context.output.note(
                style::WARN,
                "warning: ",
                &format!("another setting wins: the folder is `{}`", other.display()),
            );
        }
        Ok(setup)
    }

    fn agree(&self, arguments: &SetupArgs, question: &str) -> Result<(), Failure> {
        if arguments.yes {
            return Ok(());
        }
        if !self.can_ask {
            return Err(Failure::usage("a setting that is there already is not changed unasked")
                .hint("`--yes` agrees to it"));
        }
        if ask::confirm(&self.context.output, question)? {
            Ok(())
        } else {
            Err(Failure::new("nothing was changed"))
        }
    }

    fn file(&self) -> PathBuf {
        self.context.app.environment.state().join("config.toml")
    }

    fn write(&self, name: &str, value: &str) -> Result<(), Failure> {
        let file = self.file();
        let mut edit = ConfigEdit::open(&file)?;
        edit.set(name, value)?;
        write_config(&file, &edit.text()?, readers_for(name))
    }

    /// The same with the settings as they are now.
    fn reloaded(&self) -> Result<Self, Failure> {
        let context = Context::new(self.context.app.environment.clone(), self.context.output)?;
        Ok(Self { context, can_ask: self.can_ask })
    }

    /// Makes the folder, if it is not there; gives its path without detours.
    fn make_workspace(&self, folder: &Path) -> Result<PathBuf, Failure> {
        let skills = folder.join("skills");
        let is_new = !skills.is_dir();
        make_private_folder(&skills).map_err(|error| {
            Failure::new(format!("cannot make `{}`: {error}", skills.display()))
                .hint("name another folder with `--workspace DIR`")
        })?;
        let (verb, folder) = (if is_new { "made" } else { "there already:" }, real(folder));
        self.context.output.print(&format!("{verb} {}", plain(&folder.display().to_string())));
        Ok(folder)
    }

    /// Offers to install what skills miss, or says how to.
    fn offer_programs(&self, sources: &SourceArgs) -> Result<(), Failure> {
        let snapshot = self.context.library(sources)?;
        let mut listed = 0;
        for entry in &snapshot.entries {
            let missing = self.context.installable(entry);
            if missing.is_empty() {
                continue;
            }
            let name = entry.name.as_str();
            let needs = format!("{name} needs {}", missing.join(", "));
            if self.can_ask {
                if ask::confirm(&self.context.output, &format!("{needs}. See how to install it?"))?
                {
                    self.install(sources, name)?;
                }
            } else if listed < MAX_LISTED {
                self.context.output.say(&format!(
                    "{}: `metier skills install-deps {}`",
                    plain(&needs),
                    plain(name)
                ));
            }
            listed += 1;
        }
        if !self.can_ask && listed > MAX_LISTED {
            let more = listed - MAX_LISTED;
            self.context.output.say(&format!("and {more} more; `metier skills list` shows them"));
        }
        Ok(())
    }

    /// Installs for one skill; that it fails is no reason to leave the others out.
    fn install(&self, sources: &SourceArgs, name: &str) -> Result<(), Failure> {
        let wanted = InstallArgs { name: name.to_owned(), ..InstallArgs::default() };
        match install::run(&self.context, sources, &wanted) {
            Err(failure) if failure.code() == INTERRUPTED => Err(failure),
            Err(failure) => {
                self.context.output.failure(&failure);
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    /// Asks for the keys that skills miss, or says how they are set.
    fn ask_for_keys(&self, sources: &SourceArgs) -> Result<(), Failure> {
        let snapshot = self.context.library(sources)?;
        for (entry, variable) in missing_keys(&snapshot) {
            let (name, key) = (entry.name.as_str(), entry.entry_key.key.as_str());
            if !self.can_ask || entry.entry_key.refusal.is_some() {
                let remedy = advice::remedy(entry, &Block::Env { name: variable.to_owned() });
                self.context
                    .output
                    .say(&plain(&format!("{name} needs a key: {}", remedy.unwrap_or_default())));
                continue;
            }
            let question = format!("Key for {name} ({variable}), not shown; empty for none: ");
            if let Some(secret) = ask::secret(&self.context.output, &question)? {
                self.write(&format!("skills.entries.{}.api_key", toml_key(key)), &secret)?;
                let file = self.file();
                self.context.output.say(&plain(&format!("kept in {}", file.display())));
            }
        }
        Ok(())
    }

    fn tell_next(&self, sources: &SourceArgs) -> Result<(), Failure> {
        let context = self.reloaded()?.context;
        let ready = context.library(sources)?;
        let ready = ready.entries.iter().filter(|entry| entry.verdict.is_eligible()).count();
        let skills = self.workspace().join("skills").display().to_string();
        let new = format!("metier skills new my-skill --dir {}", plain(&skills));
        let lines = [
            ("metier skills list", format!("the {ready} skills that are ready, and the others")),
            ("metier run \"…\"", "a task, in your words".to_owned()),
            ("metier chat", "a conversation".to_owned()),
            (new.as_str(), "a skill of your own".to_owned()),
        ];
        context.output.say("next:");
        for (command, what) in lines {
            context.output.say(&format!("  {command}  {}", styled(style::DIM, what)));
        }
        Ok(())
    }
}

/// Skills that are used as soon as they have their key, and the variable of it.
fn missing_keys(snapshot: &Snapshot) -> impl Iterator<Item = (&Entry, &str)> {
    snapshot.entries.iter().filter_map(|entry| {
        let requirements = entry.manifest.gate.requirements()?;
        let variable = requirements.primary_env.as_deref()?;
        let is_key = |block: &Block| matches!(block, Block::Env { name } if name == variable);
        let can_be_mended = |block: &Block| {
            matches!(
                block,
                Block::Env { .. } | Block::Bin { .. } | Block::AnyBin { .. } | Block::Config { .. }
            )
        };
        let blocks = &entry.verdict.blocks;
        // A dot would be taken for a level of its own when the settings are read.
        let is_asked_for = blocks.iter().any(is_key)
            && blocks.iter().all(can_be_mended)
            && !entry.entry_key.key.contains('.');
        is_asked_for.then_some((entry, variable))
    })
}

fn not_text() -> Failure {
    Failure::usage("the name of the folder is not text, and cannot be written down")
        .hint("name another folder with `--workspace DIR`")
}
