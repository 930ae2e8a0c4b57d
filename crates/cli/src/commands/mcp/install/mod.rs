//! `metier mcp install`: telling another agent of this server, in that agent's own configuration.
//!
//! The file belongs to another program and to a person: the change is shown first, somebody agrees to it,
//! and everything else in the file stays as it is, byte for byte. A file that is not understood is not
//! touched; then the entry is shown, to be pasted.

mod bare;
mod clients;
mod diff;
mod entry;
mod file;
mod format;
mod json;
mod list;
mod toml;
mod yaml;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::Value;

use self::clients::Client;
use self::entry::Server;
use crate::args::{InstallClientArgs, Scope, SourceArgs};
use crate::ask;
use crate::context::Context;
use crate::environment;
use crate::failure::{Failure, OK};
use crate::output::{plain, style};
use crate::roots::{DEFAULT_AGENT, Project, real};

/// Tells a client, or has it forget.
///
/// # Errors
///
/// When the client cannot be told, or nobody agreed.
pub(super) fn run(
    arguments: &InstallClientArgs,
    sources: &SourceArgs,
    context: &Context,
) -> Result<u8, Failure> {
    let Some(client) = arguments.client.filter(|_| !arguments.list).map(Client::of) else {
        list::run(&arguments.name, context);
        return Ok(OK);
    };
    let install =
        Install { client, arguments, context, file: file_of(client, arguments, context)? };
    if arguments.remove {
        return install.remove();
    }
    let server = install.server(sources)?;
    let entry = client.entry(&arguments.name, &server, arguments.scope).map_err(|reason| {
        let title = client.title;
        Failure::new(format!("{title} cannot be given a server that wants a token: {reason}"))
            .hint("without `--http` it starts the server itself, and needs none")
    })?;
    install.write(&entry)
}

struct Install<'a> {
    client: &'static Client,
    arguments: &'a InstallClientArgs,
    context: &'a Context,
    file: PathBuf,
}

fn file_of(
    client: &Client,
    arguments: &InstallClientArgs,
    context: &Context,
) -> Result<PathBuf, Failure> {
    let root = Project::of(&context.environment.folder).root;
    client.file(arguments.scope, &context.environment, &root).ok_or_else(|| match arguments.scope {
        Scope::Project => {
            let title = client.title;
            Failure::usage(format!("{title} has no configuration for a project"))
                .hint("leave out `--scope project`")
        }
        Scope::User => Failure::usage("HOME is not set, so there is no configuration of yours"),
    })
}

impl Install<'_> {
    /// How the client reaches the server.
    fn server(&self, sources: &SourceArgs) -> Result<Server, Failure> {
        if let (Some(url), Some(token_env)) = (&self.arguments.http, &self.arguments.token_env) {
            return Ok(Server::Address { url: url.clone(), token_env: token_env.clone() });
        }
        let program = self.program()?;
        let mut args = vec!["mcp".to_owned()];
        if let Some(executor) = self.arguments.executor.and_then(|it| it.to_possible_value()) {
            args.extend(["--executor".to_owned(), executor.get_name().to_owned()]);
        }
        args.extend(self.words(sources)?);
        Ok(Server::Program { command: text(&program)?, args })
    }

    /// This program, under the name by which it is found if it has one: that name stays when what is behind it
    /// is replaced by a newer one.
    fn program(&self) -> Result<PathBuf, Failure> {
        let program = environment::program()?;
        let name = program.file_name().unwrap_or_default();
        let on_path = self.context.environment.path().into_iter().map(|it| it.join(name));
        let found = on_path.filter(|it| it.is_absolute()).find(|it| real(it) == real(&program));
        let program = found.unwrap_or(program);
        if program.components().any(|it| it.as_os_str() == "target") {
            let shown = program.display();
            let note = format!("`{shown}` is a build, and works as long as that folder is there");
            self.context.output.note(style::WARN, "note: ", &note);
        }
        Ok(program)
    }

    /// The sources as arguments. The client starts the server elsewhere, so folders are written whole.
    fn words(&self, sources: &SourceArgs) -> Result<Vec<String>, Failure> {
        let mut words = Vec::new();
        for folder in &sources.skills_dirs {
            let folder = self.context.environment.folder.join(folder);
            words.extend(["--skills-dir".to_owned(), text(&real(&folder))?]);
        }
        for name in &sources.only {
            words.extend(["--skill".to_owned(), name.clone()]);
        }
        if sources.agent != DEFAULT_AGENT {
            words.extend(["--agent".to_owned(), sources.agent.clone()]);
        }
        let switches = [
            (sources.no_default_sources, "--no-default-sources"),
            (sources.trust_project, "--trust-project"),
            (sources.no_skills, "--no-skills"),
        ];
        words.extend(switches.iter().filter(|(is_on, _)| *is_on).map(|(_, it)| (*it).to_owned()));
        Ok(words)
    }

    fn write(&self, entry: &Value) -> Result<u8, Failure> {
        let (client, output) = (self.client, &self.context.output);
        let (format, name) = (client.format, self.arguments.name.as_str());
        let empty = Value::Null;
        let snippet = || format.set("", &client.place(&empty, name), entry).unwrap_or_default();
        self.note_home();
        if self.arguments.print {
            output.say(&plain(&format!("for {}, in {}:", client.title, self.file.display())));
            output.print(&snippet());
            return Ok(OK);
        }
        let there = file::read(&self.file)?;
        let old = there.clone().unwrap_or_default();
        let document = format.read(&old);
        let place = client.place(document.as_ref().unwrap_or(&empty), name);
        if document.as_ref().is_some_and(|it| format.has(it, &place, entry)) {
            let shown = self.file.display();
            output.print(&plain(&format!("there already: {} in {shown}", place.join("."))));
            return Ok(OK);
        }
        let Some(new) = format.set(&old, &place, entry) else {
            output.print(&snippet());
            return Err(self.not_understood("add what is shown yourself"));
        };
        self.replace(there.as_deref(), &new, "Write it?")?;
        output.say(&format!("written; {} uses it once it has been restarted", client.title));
        Ok(OK)
    }

    fn remove(&self) -> Result<u8, Failure> {
        let (client, output) = (self.client, &self.context.output);
        let shown = self.file.display();
        let name = &self.arguments.name;
        let none = || output.print(&plain(&format!("not there: {name} in {shown}")));
        let Some(old) = file::read(&self.file)? else {
            none();
            return Ok(OK);
        };
        let by_hand = format!("take `{name}` out yourself");
        let Some(document) = client.format.read(&old) else {
            return Err(self.not_understood(&by_hand));
        };
        let place = client.place(&document, name);
        if format::find(&document, &place).is_none() {
            none();
            return Ok(OK);
        }
        let Some(new) = client.format.remove(&old, &place) else {
            return Err(self.not_understood(&by_hand));
        };
        if self.arguments.print {
            self.show(&old, &new);
            return Ok(OK);
        }
        self.replace(Some(&old), &new, "Take it out?")?;
        output.say(&format!("taken out; {} forgets it once it has been restarted", client.title));
        Ok(OK)
    }

    /// Shows a change, and makes it if somebody agrees.
    fn replace(&self, old: Option<&str>, new: &str, question: &str) -> Result<(), Failure> {
        self.show(old.unwrap_or_default(), new);
        if !self.arguments.yes {
            if !ask::can_ask() {
                return Err(Failure::usage("a file of another program is not changed unasked")
                    .hint("`--yes` agrees to it, `--print` only shows it"));
            }
            if !ask::confirm(&self.context.output, question)? {
                return Err(Failure::new("nothing was changed"));
            }
        }
        // Clients write to their files too, and a person takes time to answer.
        if file::read(&self.file)?.as_deref() != old {
            let shown = self.file.display();
            return Err(Failure::new(format!("`{shown}` was changed by somebody else meanwhile"))
                .hint("try again"));
        }
        file::write(&self.file, new, self.arguments.scope)
    }

    fn show(&self, old: &str, new: &str) {
        let output = &self.context.output;
        output.print(&plain(&self.file.display().to_string()));
        output.print(&diff::diff(old, new));
    }

    fn not_understood(&self, hint: &str) -> Failure {
        let shown = self.file.display();
        let message =
            format!("`{shown}` is not understood well enough to be changed, and was left as it is");
        Failure::new(message).hint(hint)
    }

    /// The server that the client starts has the variables of the client, not those of this terminal.
    fn note_home(&self) {
        let environment = &self.context.environment;
        let usual = environment.home.as_ref().map(|home| home.join(".metier"));
        let state = environment.state();
        if self.arguments.http.is_none() && usual.as_deref().map(real) != Some(real(&state)) {
            let note = "METIER_HOME is set here; the client must have it too, or the server uses ~/.metier";
            self.context.output.note(style::WARN, "note: ", note);
        }
    }
}

/// A path that can be written into a file of text.
fn text(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Failure::usage(format!("`{shown}` is not text, and cannot be written down")))
}
