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
mod words;
mod yaml;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use metier_config::ConfigWord;
use serde_json::Value;

use self::clients::Client;
use self::entry::Server;
use crate::args::{InstallClientArgs, Scope, ServeArgs};
use crate::ask;
use crate::context::Context;
use crate::environment;
use crate::failure::{Failure, OK};
use crate::output::{plain, style};
use crate::roots::{Project, real};

/// Tells a client, or has it forget.
///
/// # Errors
///
/// When the client cannot be told, or nobody agreed.
pub(super) fn run(
    arguments: &InstallClientArgs,
    serve: &ServeArgs,
    context: &Context,
) -> Result<u8, Failure> {
    let words = words(arguments, serve, context)?;
    let Some(client) = arguments.client.map(Client::of) else {
        list::run(arguments, context);
        return Ok(OK);
    };
    let install = Install::new(client, arguments, context)?;
    if arguments.remove {
        return install.remove();
    }
    let server = install.server(words)?;
    let entry = client.entry(&arguments.name, &server, arguments.scope).map_err(|reason| {
        let title = client.title;
        Failure::new(format!("{title} cannot be given a server that wants a token: {reason}"))
            .hint("without `--http` it starts the server itself, and needs none")
    })?;
    install.write(&entry, server.other_keys())
}

/// What the server is started with. What would not be written down is refused.
fn words(
    arguments: &InstallClientArgs,
    serve: &ServeArgs,
    context: &Context,
) -> Result<Vec<String>, Failure> {
    let ServeArgs { executor, session, http, sources } = serve;
    let before = [
        (executor.is_some(), "--executor"),
        (session.is_some(), "--session"),
        (http.address.is_some(), "--http"),
    ];
    if let Some((_, flag)) = before.iter().find(|(is_given, _)| *is_given) {
        return Err(Failure::usage(format!("`{flag}` before `install` is for serving"))
            .hint("`metier mcp install --help` says what can be written down"));
    }
    let words = words::words(sources, &context.environment)?;
    let is_started = !arguments.list && !arguments.remove && arguments.http.is_none();
    match words.first() {
        Some(flag) if !is_started => {
            Err(Failure::usage(format!("`{flag}` is for a server that the agent is to start"))
                .hint("it cannot be used with `--list`, `--remove` or `--http`"))
        }
        _ => Ok(words),
    }
}

struct Install<'a> {
    client: &'static Client,
    arguments: &'a InstallClientArgs,
    context: &'a Context,
    /// The file as the client names it.
    file: PathBuf,
    /// Where that really is.
    place: PathBuf,
}

impl<'a> Install<'a> {
    fn new(
        client: &'static Client,
        arguments: &'a InstallClientArgs,
        context: &'a Context,
    ) -> Result<Self, Failure> {
        let (scope, root) = (arguments.scope, Project::of(&context.environment.folder).root);
        let file = client.file(scope, &context.environment, &root).ok_or_else(|| match scope {
            Scope::Project => {
                let title = client.title;
                Failure::usage(format!("{title} has no configuration for a project"))
                    .hint("leave out `--scope project`")
            }
            Scope::User => Failure::usage("HOME is not set, so there is no configuration of yours")
                .hint("set HOME, or use `--scope project`"),
        })?;
        let place = file::place(&file, scope, &root)?;
        Ok(Self { client, arguments, context, file, place })
    }

    /// How the client reaches the server.
    fn server(&self, words: Vec<String>) -> Result<Server, Failure> {
        if let (Some(url), Some(token_env)) = (&self.arguments.http, &self.arguments.token_env) {
            return Ok(Server::Address { url: url.clone(), token_env: token_env.clone() });
        }
        let program = self.program()?;
        let mut args = vec!["mcp".to_owned()];
        if let Some(executor) = self.arguments.executor {
            args.extend(["--executor".to_owned(), executor.word().to_owned()]);
        }
        args.extend(words);
        Ok(Server::Program { command: words::text(&program)?, args })
    }

    /// This program, under the name by which it is found if it has one: that name stays when what is behind it
    /// is replaced by a newer one.
    fn program(&self) -> Result<PathBuf, Failure> {
        let program = environment::program().map_err(|error| {
            Failure::new(format!("the system does not say where this program is: {error}"))
                .hint("start it by its whole path, with /proc mounted")
        })?;
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

    fn write(&self, entry: &Value, other_keys: &[&str]) -> Result<u8, Failure> {
        let (client, output) = (self.client, &self.context.output);
        let (format, name) = (client.format, self.arguments.name.as_str());
        self.note_home();
        let there = file::read(&self.place)?;
        let old = there.as_deref().unwrap_or_default();
        let document = format.read(old);
        let path = client.place(document.as_ref().unwrap_or(&Value::Null), name);
        let snippet = || format.set("", &path, entry).unwrap_or_default();
        if self.arguments.print {
            output.say(&plain(&format!("for {}, in {}:", client.title, self.shown())));
            output.print(&snippet());
            return Ok(OK);
        }
        if document.as_ref().is_some_and(|it| format.has(it, &path, entry)) {
            let shown = self.shown();
            output.print(&plain(&format!("there already: {} in {shown}", path.join("."))));
            return Ok(OK);
        }
        let Some(new) = format.renew(old, &path, entry, other_keys) else {
            output.print(&snippet());
            return Err(self.not_understood("add what is shown yourself"));
        };
        self.replace(there.as_deref(), &new, &path)?;
        output.say(&format!("written; {} uses it once it has been restarted", client.title));
        Ok(OK)
    }

    fn remove(&self) -> Result<u8, Failure> {
        let (client, output) = (self.client, &self.context.output);
        let name = &self.arguments.name;
        let none = || output.print(&plain(&format!("not there: {name} in {}", self.shown())));
        let Some(old) = file::read(&self.place)? else {
            none();
            return Ok(OK);
        };
        let by_hand = format!("take `{name}` out yourself");
        let Some(document) = client.format.read(&old) else {
            return Err(self.not_understood(&by_hand));
        };
        let path = client.place(&document, name);
        if format::find(&document, &path).is_none() {
            none();
            return Ok(OK);
        }
        let Some(new) = client.format.remove(&old, &path) else {
            return Err(self.not_understood(&by_hand));
        };
        if self.arguments.print {
            self.show(&old, &new, &path);
            return Ok(OK);
        }
        self.replace(Some(&old), &new, &path)?;
        output.say(&format!("taken out; {} forgets it once it has been restarted", client.title));
        Ok(OK)
    }

    /// Shows a change, and makes it if somebody agrees.
    fn replace(&self, old: Option<&str>, new: &str, path: &[&str]) -> Result<(), Failure> {
        self.show(old.unwrap_or_default(), new, path);
        if !self.arguments.yes {
            if !ask::can_ask() {
                return Err(Failure::usage("a file of another program is not changed unasked")
                    .hint("`--yes` agrees to it, `--print` only shows it"));
            }
            let question = if self.arguments.remove { "Take it out?" } else { "Write it?" };
            if !ask::confirm(&self.context.output, question)? {
                return Err(Failure::new("nothing was changed"));
            }
        }
        // Clients write to their files too, and a person takes time to answer.
        if file::read(&self.place)?.as_deref() != old {
            let shown = self.shown();
            return Err(Failure::new(format!("`{shown}` was changed by somebody else meanwhile"))
                .hint("try again"));
        }
        file::write(&self.place, new, self.arguments.scope)
    }

    fn show(&self, old: &str, new: &str, path: &[&str]) {
        let (format, output) = (self.client.format, &self.context.output);
        output.print(&plain(&self.shown()));
        let side = |text| diff::Side { text, places: format.places(text, path) };
        output.print(&diff::diff(&side(old), &side(new)));
    }

    /// The file, and where it is if links lead elsewhere.
    fn shown(&self) -> String {
        let (file, place) = (self.file.display(), self.place.display());
        if self.file == self.place { file.to_string() } else { format!("{file} -> {place}") }
    }

    fn not_understood(&self, hint: &str) -> Failure {
        let shown = self.shown();
        Failure::new(format!(
            "`{shown}` is not understood well enough to be changed, and was left as it is"
        ))
        .hint(hint)
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
