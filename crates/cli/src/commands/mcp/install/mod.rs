//! `metier mcp install`: telling another agent of this server, in that agent's own configuration.
//!
//! The file belongs to another program and to a person: the change is shown first, somebody agrees to it,
//! and everything else in the file stays as it is, byte for byte. A file that is not understood is not
//! touched; then the entry is shown, to be pasted.

mod list;
mod words;

use std::path::PathBuf;

use metier_clients::{
    AgentClient, ClientEdit, ClientFile, ClientHost, EntryDiff, InstalledServer, ServerEntry,
};
use metier_config::ConfigWord;

use crate::args::{InstallClientArgs, ServeArgs};
use crate::ask;
use crate::context::Context;
use crate::environment;
use crate::failure::{Failure, OK};
use crate::output::{plain, plain_block, style, styled};
use metier_app::sources::roots::{Project, real};

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
    let environment = &context.app.environment;
    let host = ClientHost {
        home: environment.home.as_deref(),
        working_directory: &environment.folder,
        project_root: &Project::of(&environment.folder).root,
        variables: &environment.variables,
    };
    let Some(client) = arguments.client else {
        list::run(arguments, &host, context);
        return Ok(OK);
    };
    let install = ClientInstallation::new(client, arguments, &host, context)?;
    if arguments.remove {
        return install.remove();
    }
    let server = install.server(words)?;
    let entry = install.file.entry(&arguments.name, &server)?;
    install.write(&entry)
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
    let words = words::words(sources, &context.app.environment)?;
    let is_started = !arguments.list && !arguments.remove && arguments.http.is_none();
    match words.first() {
        Some(flag) if !is_started => {
            Err(Failure::usage(format!("`{flag}` is for a server that the agent is to start"))
                .hint("it cannot be used with `--list`, `--remove` or `--http`"))
        }
        _ => Ok(words),
    }
}

struct ClientInstallation<'a> {
    client: &'static AgentClient,
    arguments: &'a InstallClientArgs,
    context: &'a Context,
    file: ClientFile,
}

impl<'a> ClientInstallation<'a> {
    fn new(
        client: &'static AgentClient,
        arguments: &'a InstallClientArgs,
        host: &ClientHost<'_>,
        context: &'a Context,
    ) -> Result<Self, Failure> {
        let file = ClientFile::locate(client, arguments.scope, host)?;
        Ok(Self { client, arguments, context, file })
    }

    /// How the client reaches the server.
    fn server(&self, words: Vec<String>) -> Result<InstalledServer, Failure> {
        if let (Some(url), Some(token_env)) = (&self.arguments.http, &self.arguments.token_env) {
            return Ok(InstalledServer::Address { url: url.clone(), token_env: token_env.clone() });
        }
        let program = self.program()?;
        let mut args = vec!["mcp".to_owned()];
        if let Some(executor) = self.arguments.executor {
            args.extend(["--executor".to_owned(), executor.word().to_owned()]);
        }
        args.extend(words);
        Ok(InstalledServer::Program { command: words::text(&program)?, args })
    }

    /// This program, under the name by which it is found if it has one: that name stays when what is behind it
    /// is replaced by a newer one.
    fn program(&self) -> Result<PathBuf, Failure> {
        let program = environment::program().map_err(|error| {
            Failure::new(format!("the system does not say where this program is: {error}"))
                .hint("start it by its whole path, with /proc mounted")
        })?;
        let name = program.file_name().unwrap_or_default();
        let on_path = self.context.app.environment.path().into_iter().map(|it| it.join(name));
        let found = on_path.filter(|it| it.is_absolute()).find(|it| real(it) == real(&program));
        let program = found.unwrap_or(program);
        if program.components().any(|it| it.as_os_str() == "target") {
            let shown = program.display();
            let note = format!("`{shown}` is a build, and works as long as that folder is there");
            self.context.output.note(style::WARN, "note: ", &note);
        }
        Ok(program)
    }

    fn write(&self, entry: &ServerEntry) -> Result<u8, Failure> {
        let (client, output) = (self.client, &self.context.output);
        self.note_home();
        let plan = self.file.plan_addition(entry)?;
        if self.arguments.print {
            output.say(&plain(&format!("for {}, in {}:", client.title, self.file.location())));
            output.print(&plan.snippet);
            return Ok(OK);
        }
        let (path, snippet) = (plan.key_path.join("."), plan.snippet.clone());
        let edit = plan.into_edit().inspect_err(|_| output.print(&snippet))?;
        let Some(edit) = edit else {
            let location = self.file.location();
            output.print(&plain(&format!("there already: {path} in {location}")));
            return Ok(OK);
        };
        self.replace(&edit)?;
        output.say(&format!("written; {} uses it once it has been restarted", client.title));
        Ok(OK)
    }

    fn remove(&self) -> Result<u8, Failure> {
        let (client, output, name) = (self.client, &self.context.output, &self.arguments.name);
        let Some(edit) = self.file.plan_removal(name)? else {
            output.print(&plain(&format!("not there: {name} in {}", self.file.location())));
            return Ok(OK);
        };
        if self.arguments.print {
            self.show(&edit);
            return Ok(OK);
        }
        self.replace(&edit)?;
        output.say(&format!("taken out; {} forgets it once it has been restarted", client.title));
        Ok(OK)
    }

    /// Shows a change, and makes it if somebody agrees.
    fn replace(&self, edit: &ClientEdit) -> Result<(), Failure> {
        self.show(edit);
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
        Ok(edit.apply()?)
    }

    fn show(&self, edit: &ClientEdit) {
        let output = &self.context.output;
        output.print(&plain(&edit.location().to_string()));
        output.print(&rendered(edit.diff()));
    }

    /// The server that the client starts has the variables of the client, not those of this terminal.
    fn note_home(&self) {
        let environment = &self.context.app.environment;
        let usual = environment.home.as_ref().map(|home| home.join(".metier"));
        let state = environment.state();
        if self.arguments.http.is_none() && usual.as_deref().map(real) != Some(real(state)) {
            let note = "METIER_HOME is set here; the client must have it too, or the server uses ~/.metier";
            self.context.output.note(style::WARN, "note: ", note);
        }
    }
}

/// A change, with a sign before each line that goes or comes.
fn rendered(diff: &EntryDiff) -> String {
    let mut text = String::new();
    for hunk in &diff.hunks {
        text += &styled(style::DIM, format!("line {}:", hunk.line));
        for (style, sign, lines) in
            [(style::BAD, '-', &hunk.removed), (style::GOOD, '+', &hunk.added)]
        {
            for line in lines {
                text += &format!("\n{}", styled(style, format!("{sign} {}", plain_block(line))));
            }
        }
        text += "\n";
    }
    text
}
