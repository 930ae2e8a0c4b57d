//! The token that requests over HTTP must have: a variable, a file, or one that is made once.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use metier_app::Notice;
use metier_app::masking::TOKEN_FILE;
use metier_app::state::privacy::{exposed_file, make_private_folder};
use metier_config::SecretText;
use metier_serve::mcp::http::Tokens;
use tempfile::NamedTempFile;

use crate::args::{HttpArgs, McpArgs};
use crate::context::Context;
use crate::failure::{Failure, OK};

/// The variable with a token.
const VARIABLE: &str = "METIER_MCP_TOKEN";
/// The random bytes of a token that is made.
const BYTES: usize = 32;
/// What others than the owner and its group may not have of a file with tokens; what the group has is warned of.
const OTHERS: u32 = 0o007;

/// The text of a file with tokens. It is read once, before anything is printed or stored: it may be a pipe, and its tokens
/// are masked.
#[derive(Clone, Debug)]
pub(crate) struct TokenText(SecretText);

impl TokenText {
    /// Reads the file that the command line names, if it names one.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or others can read it.
    pub(in crate::commands) fn of(arguments: &McpArgs) -> Result<Option<Self>, Failure> {
        let file = arguments.serve.http.token_file.as_deref();
        let file = file.filter(|_| arguments.command.is_none());
        file.map(|file| Ok(Self(read(file)?.into()))).transpose()
    }

    /// Returns the tokens.
    pub(crate) fn tokens(&self) -> Vec<SecretText> {
        Tokens::lines(self.0.expose()).map(|(_, token)| token.to_owned().into()).collect()
    }
}

/// Prints the token that clients need.
pub(super) fn print(context: &Context) -> Result<u8, Failure> {
    let (text, place) = found(None, context)?;
    parse(&text, &place)?;
    let first = Tokens::lines(&text).next();
    context.output.print_unmasked(first.map_or("", |(_, token)| token));
    Ok(OK)
}

/// The tokens, and where they are from.
///
/// # Errors
///
/// When there are none that can be used, or others can read them.
pub(super) fn tokens(arguments: &HttpArgs, context: &Context) -> Result<(Tokens, String), Failure> {
    let (text, place) = found(arguments.token_file.as_deref(), context)?;
    let tokens = parse(&text, &place)?;
    let place = match place.as_str() {
        VARIABLE => format!("the value of {VARIABLE}"),
        file => format!("in {file}"),
    };
    Ok((tokens, place))
}

/// The text with tokens, and where it is from: the file that is named, else the variable, else the file that is made.
fn found(file: Option<&Path>, context: &Context) -> Result<(String, String), Failure> {
    if let Some(file) = file {
        if let Some(exposed) = exposed_file(file) {
            context.app.reporter.notice(&Notice::ExposedFile(exposed));
        }
        let text = match &context.token_text {
            Some(text) => text.0.expose().to_owned(),
            None => read(file)?,
        };
        return Ok((text, file.display().to_string()));
    }
    if let Some(text) = context.app.environment.variable(VARIABLE) {
        return Ok((text.to_owned(), VARIABLE.to_owned()));
    }
    // It is among the files that every command warns of.
    let path = made(context)?;
    Ok((read(&path)?, path.display().to_string()))
}

fn parse(text: &str, place: &str) -> Result<Tokens, Failure> {
    Tokens::parse(text).map_err(|error| Failure::of_tokens(place, &error))
}

fn read(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let unreadable = |error| {
        Failure::new(format!("the tokens in `{name}` cannot be read: {error}"))
            .hint("without `--token-file` one is made, which `metier mcp token` prints")
    };
    let mode = fs::metadata(path).map_err(unreadable)?.permissions().mode();
    if mode & OTHERS != 0 {
        return Err(Failure::new(format!("others can read or change `{name}`"))
            .hint(format!("run `chmod 600 {name}`")));
    }
    fs::read_to_string(path).map_err(unreadable)
}

/// The file with the token that was made, which happens once.
fn made(context: &Context) -> Result<PathBuf, Failure> {
    let state = context.app.environment.state();
    let path = state.join(TOKEN_FILE);
    if path.exists() {
        return Ok(path);
    }
    let unwritable = |error| {
        Failure::new(format!("a token cannot be kept in `{}`: {error}", path.display())).hint(
            "name a file with `--token-file`, or set METIER_HOME to a folder that you can write to",
        )
    };
    make_private_folder(state).map_err(unwritable)?;
    // Whole and readable only by its owner from the start, and never in place of another's.
    let mut file = NamedTempFile::new_in(state).map_err(unwritable)?;
    writeln!(file, "{}", random()?).map_err(unwritable)?;
    match file.persist_noclobber(&path) {
        Err(error) if !path.exists() => Err(unwritable(error.error)),
        Ok(_) | Err(_) => Ok(path),
    }
}

fn random() -> Result<String, Failure> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        Failure::new(format!("the system has no random bytes: {error}"))
            .hint("name a file that has a token with `--token-file`")
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
