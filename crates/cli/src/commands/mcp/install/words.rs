//! What the server is started with: the sources of skills, as arguments for another program to write down.
//!
//! The client starts the server in a folder of its own, whatever project is open there. So folders are written
//! whole, what depends on this folder is refused, and trust in one project is not written at all.

use std::path::Path;

use crate::args::SourceArgs;
use crate::failure::Failure;
use metier_app::sources::remote::{is_address, server_command};
use metier_app::sources::roots::{DEFAULT_AGENT, real};
use metier_app::{AppError, Environment};

/// The sources as arguments.
///
/// # Errors
///
/// When one of them would not mean the same elsewhere, or is not there.
pub(super) fn words(
    sources: &SourceArgs,
    environment: &Environment,
) -> Result<Vec<String>, Failure> {
    let SourceArgs { skills_dirs, no_default_sources, mcp, trust_project, only, no_skills, agent } =
        sources;
    if *trust_project {
        return Err(Failure::usage("`--trust-project` is not written down: it would trust every project that the agent is used in")
            .hint("`metier trust` trusts this one"));
    }
    let mut words = Vec::new();
    for folder in skills_dirs {
        words.extend(["--skills-dir".to_owned(), whole(folder, environment)?]);
    }
    for server in mcp {
        check(server)?;
        words.extend(["--mcp".to_owned(), server.clone()]);
    }
    for name in only {
        words.extend(["--skill".to_owned(), name.clone()]);
    }
    if agent != DEFAULT_AGENT {
        words.extend(["--agent".to_owned(), agent.clone()]);
    }
    let switches = [(no_default_sources, "--no-default-sources"), (no_skills, "--no-skills")];
    words.extend(switches.iter().filter(|(is_on, _)| **is_on).map(|(_, it)| (*it).to_owned()));
    Ok(words)
}

/// A path that can be written into a file of text.
///
/// # Errors
///
/// When it is no text.
pub(super) fn text(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::usage(format!("`{shown}` is not text, and cannot be written down"))
            .hint("rename it, or what is on the way to it")
    })
}

fn whole(folder: &Path, environment: &Environment) -> Result<String, Failure> {
    let path = environment.folder.join(folder);
    if !path.is_dir() {
        return Err(Failure::usage(format!("`{}` is no folder", folder.display())).hint(
            "`--skills-dir` takes folders; archives are named by the setting `skills.extra_dirs`",
        ));
    }
    text(&real(&path))
}

/// Whether a server can be named in a file: it is found from everywhere, and has no secret.
fn check(server: &str) -> Result<(), Failure> {
    let server = server.trim();
    if is_address(server) {
        let authority = server.split('/').nth(2).unwrap_or_default();
        if authority.contains('@') || server.contains('?') {
            return Err(Failure::usage("an address with a secret in it is not written down")
                .hint("name the server in the settings, under `mcp.servers`"));
        }
        return Ok(());
    }
    let words = server_command(server).map_err(AppError::from)?;
    if words[0].contains('/') && !words[0].starts_with(['/', '~']) {
        return Err(Failure::usage(format!("`{server}` is found from this folder only"))
            .hint("write the whole path of the program"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_written_down_is_found_from_everywhere_and_has_no_secret() {
        let cases = [
            ("npx some-server", "fine"),
            ("'/opt/my server/run' --fast", "fine"),
            ("~/bin/server", "fine"),
            ("https://example.org/mcp", "fine"),
            (
                "HTTPS://me:secret@example.org/mcp",
                "an address with a secret in it is not written down",
            ),
            (
                "http://example.org/mcp?key=secret",
                "an address with a secret in it is not written down",
            ),
            ("./server", "`./server` is found from this folder only"),
            ("'bin/my server'", "`'bin/my server'` is found from this folder only"),
            ("'npx some-server", "`'npx some-server` is no command: a quote is not closed"),
        ];
        for (server, said) in cases {
            let found =
                check(server).map_or_else(|failure| failure.to_string(), |()| "fine".to_owned());
            assert_eq!(found, said, "{server}");
        }
    }
}
