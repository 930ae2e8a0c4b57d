//! Which servers are asked for skills: those of the settings that say so, and those of `--mcp`.

use std::path::Path;

use metier_serve::mcp::client::{Peer, Way};
use metier_skill::diagnostic::Code;
use metier_skill::files::Digest;
use metier_skill::name::SkillName;
use metier_skill::problem::Problem;

use super::words;
use crate::args::SourceArgs;
use crate::context::Context;
use crate::failure::Failure;

/// Longest beginning of what we call a server that nobody named, in characters.
const MAX_STEM: usize = 24;
/// Digits by which servers are told apart whose names begin alike.
const DIGITS: usize = 6;

impl Context {
    /// The servers to ask, and why others are not.
    pub(super) fn skill_servers(
        &self,
        sources: &SourceArgs,
    ) -> Result<(Vec<Peer>, Vec<Problem>), Failure> {
        let (mut peers, mut problems) = (Vec::new(), Vec::new());
        if !sources.no_default_sources && !sources.no_skills {
            let configured = self.mcp_servers();
            let mut not_asked = |name: &str, why: String| {
                let name = name.escape_debug().to_string();
                problems.push(Problem::new(Code::ServerUnreachable, Path::new(&name), why));
            };
            for fault in configured.faults.into_iter().filter(|it| it.has_skills) {
                not_asked(
                    &fault.name,
                    format!("the server `{}` is not used: {}", fault.name, fault.why),
                );
            }
            let with_skills = configured.servers.into_iter().filter(|it| it.has_skills);
            for peer in with_skills.map(|it| it.peer) {
                match SkillName::new(&peer.name) {
                    Ok(_) => peers.push(peer),
                    Err(why) => {
                        not_asked(&peer.name, format!("a server cannot be called so: {why}"))
                    }
                }
            }
        }
        for text in &sources.mcp {
            let peer = self.named_server(text)?;
            if !peers.contains(&peer) {
                peers.push(peer);
            }
        }
        Ok((peers, problems))
    }

    /// A server as a flag names it: an address, or a command with its arguments.
    fn named_server(&self, text: &str) -> Result<Peer, Failure> {
        let text = text.trim();
        if text.starts_with("https://") || text.starts_with("http://") {
            let way = Way::Http { url: text.to_owned(), headers: Vec::new() };
            return Ok(Peer { name: label(host(text), text), way });
        }
        let mut arguments = words::split(text).map_err(|why| {
            Failure::usage(format!("`{text}` is no command: {why}"))
                .hint("write `--mcp \"PROGRAM ARGUMENT…\"`, or an address")
        })?;
        let program = arguments[0].clone();
        let folder = &self.environment.folder;
        if program.contains('/') {
            let path = self.environment.expand(&program, folder);
            arguments[0] = path.to_string_lossy().into_owned();
        }
        let stem = Path::new(&program).file_stem().unwrap_or_default().to_string_lossy();
        let name = label(&stem, text);
        let variables = self.server_variables();
        Ok(Peer { name, way: Way::Command { arguments, variables, directory: folder.clone() } })
    }
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

/// What we call a server that nobody named. It depends on the way to it alone, and servers that are reached in two ways
/// have two names: trust in what one offers says nothing about the other.
fn label(stem: &str, way: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '-' };
    let stem: String = stem.chars().take(MAX_STEM).map(plain).collect();
    let digest = Digest::of_bytes(way.as_bytes()).to_string();
    let stem = stem.trim_matches('-');
    let stem = if stem.is_empty() { "server" } else { stem };
    format!("{stem}-{}", &digest[..DIGITS])
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
            (&"a".repeat(99), "x", "aaaaaaaaaaaaaaaaaaaaaaaa-"),
        ] {
            let name = label(stem, way);
            assert!(name.starts_with(expected) && name.len() == expected.len() + DIGITS, "{name}");
            assert!(SkillName::new(&name).is_ok());
        }
        assert_ne!(label("a", "a --x"), label("a", "a --y"));
    }
}
