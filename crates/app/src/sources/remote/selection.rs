//! The servers that are asked for skills: those of the configuration that say so, and those of a selection.

use std::path::Path;

use metier_mcp::{McpServerAddress, McpTransport};
use metier_skill::diagnostic::Code;
use metier_skill::files::Digest;
use metier_skill::name::SkillName;
use metier_skill::problem::Problem;
use thiserror::Error;

use super::command_line::{self, CommandLineFault};
use super::{SkillOffers, SkillServer};
use crate::app::App;
use crate::error::AppError;
use crate::sources::SourceSelection;

/// Longest beginning of what we call a server that nobody named, in characters.
const MAX_STEM: usize = 24;
/// Digits by which servers are told apart whose names begin alike.
const DIGITS: usize = 6;

impl App {
    /// The servers to ask; what is offered without the others, and why they are not asked.
    pub(super) fn skill_servers(
        &self,
        sources: &SourceSelection,
    ) -> Result<(Vec<SkillServer>, SkillOffers), AppError> {
        let (mut servers, mut offers) = (Vec::new(), SkillOffers::default());
        if !sources.no_default_sources && !sources.no_skills {
            let configured = self.mcp_servers();
            for fault in configured.faults.into_iter().filter(|it| it.has_skills) {
                let why = format!("the server `{}` is not used: {}", fault.name, fault.fault);
                offers.do_not_ask(&fault.name, why);
            }
            let with_skills = configured.servers.into_iter().filter(|it| it.has_skills);
            for peer in with_skills.map(|it| it.peer) {
                match SkillName::new(&peer.name) {
                    Ok(name) => servers.push(SkillServer { name, peer }),
                    Err(why) => {
                        let why = format!("a server cannot be called so: {why}");
                        offers.do_not_ask(&peer.name, why);
                    }
                }
            }
        }
        for text in &sources.mcp {
            let server = self.named_server(text)?;
            if !servers.contains(&server) {
                servers.push(server);
            }
        }
        Ok((servers, offers))
    }

    /// A server as a flag names it: an address, or a command with its arguments.
    fn named_server(&self, text: &str) -> Result<SkillServer, ServerFlagError> {
        let text = text.trim();
        if is_address(text) {
            let transport = McpTransport::Http { url: text.to_owned(), headers: Vec::new() };
            return Ok(named(host(text), text, transport));
        }
        let mut arguments = server_command(text)?;
        let program = arguments[0].clone();
        let folder = &self.environment.folder;
        let mut told = text.to_owned();
        if program.contains('/') {
            // A path that begins here is another program elsewhere.
            let path = self.environment.expand(&program, folder);
            arguments[0] = path.to_string_lossy().into_owned();
            told = arguments.join("\0");
        }
        let stem = Path::new(&program).file_stem().unwrap_or_default().to_string_lossy();
        let variables = self.server_variables();
        let transport = McpTransport::Command { arguments, variables, directory: folder.clone() };
        Ok(named(&stem, &told, transport))
    }
}

impl SkillOffers {
    pub(super) fn do_not_ask(&mut self, name: &str, why: String) {
        let shown = name.escape_debug().to_string();
        self.problems.push(Problem::new(Code::ServerUnreachable, Path::new(&shown), why));
        self.silent.extend(SkillName::new(name));
    }
}

/// The name of a server that is neither an address nor a command.
#[derive(Debug, Error)]
#[error("`{text}` is no command: {fault}")]
pub struct ServerFlagError {
    /// The name as it was written.
    pub text: String,
    /// The fault in it.
    pub fault: CommandLineFault,
}

/// Splits a command that names a server into its words, of which there is one at least.
///
/// # Errors
///
/// When it is none.
pub fn server_command(text: &str) -> Result<Vec<String>, ServerFlagError> {
    command_line::split(text).map_err(|fault| ServerFlagError { text: text.to_owned(), fault })
}

/// Returns whether a server is named by its address.
pub fn is_address(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|it| it == "https" || it == "http")
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

/// A server that nobody named. What we call it depends on the way to it alone, and servers that are reached in two ways
/// have two names: trust in what one offers says nothing about the other.
fn named(stem: &str, told: &str, transport: McpTransport) -> SkillServer {
    let name = label(stem, told);
    SkillServer { peer: McpServerAddress { name: name.to_string(), transport }, name }
}

fn label(stem: &str, told: &str) -> SkillName {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '-' };
    let stem: String = stem.chars().take(MAX_STEM).map(plain).collect();
    let digest = Digest::of_bytes(told.as_bytes()).to_string();
    let stem = stem.trim_matches('-');
    let stem = if stem.is_empty() { "server" } else { stem };
    let name = format!("{stem}-{}", &digest[..DIGITS]);
    SkillName::new(&name).expect("letters, digits and hyphens are safe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_is_called_is_safe_and_depends_on_the_way_to_it() {
        for (stem, way, expected) in [
            ("server", "server --a", "server-"),
            (host("https://User:pw@Example.com:8080/mcp?x"), "u", "example-com-8080-"),
            ("../..", "x", "server-"),
            ("äöü", "x", "server-"),
            ("a..b__C", "x", "a--b--c-"),
            (&"a".repeat(99), "x", "aaaaaaaaaaaaaaaaaaaaaaaa-"),
        ] {
            let name = label(stem, way).to_string();
            assert!(name.starts_with(expected) && name.len() == expected.len() + DIGITS, "{name}");
        }
        assert_ne!(label("a", "a --x"), label("a", "a --y"));
    }
}
