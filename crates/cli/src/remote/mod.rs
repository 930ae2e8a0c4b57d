//! Skills of other servers: whom to ask, what they offer, and their files when somebody needs them.
//!
//! A server is asked for its list, and for nothing more until a skill is used: loaded by a model, run, or read by a person.
//! Then all of its files are fetched at once, since a skill is staged whole and in one version. Each visit is a
//! connection of its own, so a server that is gone is noticed only by who needs it: what was trusted and fetched before is
//! used without it.

mod fetch;
mod peers;
mod words;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use metier_serve::mcp::client::{ClientError, Peer};
use metier_serve::mcp::skills::{Resources, Skill};
use metier_skill::diagnostic::Code;
use metier_skill::library::{TrustState, TrustStore};
use metier_skill::name::SkillName;
use metier_skill::problem::Problem;
use metier_skill::remote::{Offer, OfferedFile, RemoteFault, RemoteSkill, RemoteStore};
use metier_workspace::{Tree, TreeKind};

use crate::args::SourceArgs;
use crate::context::Context;
use crate::failure::Failure;

/// The servers that a command knows, by what it calls them. Clones know together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Servers(Arc<Mutex<Vec<Peer>>>);

/// What servers offer.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    /// Skills, each with whether it is trusted.
    pub skills: Vec<(RemoteSkill, TrustState)>,
    /// What cannot be used, and why.
    pub problems: Vec<Problem>,
}

impl Servers {
    fn put(&self, peers: Vec<Peer>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = peers;
    }

    fn find(&self, server: &SkillName) -> Option<Peer> {
        let peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        peers.iter().find(|peer| peer.name == server.as_str()).cloned()
    }
}

impl Context {
    /// Where files of skills of other servers are kept; no folder of skills is searched here.
    pub(crate) fn remote_store(&self) -> RemoteStore {
        RemoteStore::new(self.environment.state().join("remote"))
    }

    /// What the servers offer that flags and settings name. Nothing but their lists is asked for.
    ///
    /// # Errors
    ///
    /// When a flag cannot be understood.
    pub(crate) fn offered(
        &self,
        sources: &SourceArgs,
        trust: &TrustStore,
    ) -> Result<Offered, Failure> {
        let (peers, problems) = self.skill_servers(sources)?;
        let mut offered = Offered { skills: Vec::new(), problems };
        let answers = fetch::lists(&peers);
        for (peer, answer) in peers.iter().zip(answers) {
            let Ok(server) = SkillName::new(&peer.name) else { continue };
            match answer {
                Ok(listed) => offered.take(&server, listed, trust),
                Err(error) => offered.do_without(&server, &error, (trust, &self.remote_store())),
            }
        }
        self.servers.put(peers);
        Ok(offered)
    }

    /// The folder of a skill of another server: as it was kept and still is, else fetched.
    ///
    /// # Errors
    ///
    /// When the server cannot be asked, or gives something else than it told.
    pub(crate) fn remote_folder(&self, skill: &RemoteSkill) -> Result<PathBuf, Failure> {
        let store = self.remote_store();
        let spoiled = match store.folder(skill) {
            Ok(Some(folder)) => return Ok(folder),
            Ok(None) => None,
            Err(error) => Some(Failure::of(&error)),
        };
        let name = &skill.manifest.name;
        let peer = self.servers.find(&skill.server).ok_or_else(|| {
            Failure::new(format!("`{name}` is on the server {}, which is not named", skill.server))
        })?;
        match fetch::files(&peer, skill) {
            Ok(contents) => store.put(skill, &contents).map_err(|error| Failure::of(&error)),
            Err(failure) => Err(spoiled.unwrap_or(failure)),
        }
        .map_err(|failure| Failure {
            messages: [format!("`{name}` of the server {} cannot be used", skill.server)]
                .into_iter()
                .chain(failure.messages)
                .collect(),
            ..failure
        })
    }
}

impl Offered {
    fn take(&mut self, server: &SkillName, listed: fetch::Listed, trust: &TrustStore) {
        for (uri, what) in listed.problems {
            self.refuse(server, uri.as_deref().unwrap_or_default(), &what);
        }
        for told in &listed.skills {
            match read(server, told) {
                Ok(skill) => {
                    let state = trust.remote_state(&skill);
                    let is_new = self.skills.iter().all(|(it, _)| it.place() != skill.place());
                    if is_new {
                        self.skills.push((skill, state));
                    } else {
                        self.refuse(server, &told.uri, "it is listed twice");
                    }
                }
                Err(fault) => self.refuse(server, &told.uri, &fault.to_string()),
            }
        }
    }

    /// A server that does not answer still has those skills that were trusted and fetched.
    fn do_without(
        &mut self,
        server: &SkillName,
        error: &ClientError,
        (trust, store): (&TrustStore, &RemoteStore),
    ) {
        let message = Failure::of(error).to_string();
        let problem = Problem::new(Code::ServerUnreachable, Path::new(server.as_str()), message);
        self.problems.push(match error.hint() {
            Some(hint) => problem.help(hint),
            None => problem,
        });
        let kept = store.skills(server).into_iter();
        let kept = kept.map(|skill| (trust.remote_state(&skill), skill));
        let trusted = kept.filter(|(state, _)| *state == TrustState::Trusted);
        self.skills.extend(trusted.map(|(state, skill)| (skill, state)));
    }

    fn refuse(&mut self, server: &SkillName, uri: &str, why: &str) {
        let place = PathBuf::from(format!("{server} {uri}").trim_end());
        let message = format!("this skill is not used: {why}");
        self.problems.push(Problem::new(Code::OfferRefused, &place, message));
    }
}

fn read(server: &SkillName, told: &Skill) -> Result<RemoteSkill, RemoteFault> {
    let Skill { uri, frontmatter, resources, .. } = told;
    let files: Option<Vec<OfferedFile>> = match resources {
        Resources::Dynamic(_) => None,
        Resources::Files(files) => {
            let files = files.iter().map(|it| OfferedFile {
                uri: it.uri.clone(),
                digest: it.digest.clone(),
                size: it.size,
            });
            Some(files.collect())
        }
    };
    RemoteSkill::read(server, &Offer { uri, frontmatter, files: files.as_deref() })
}

/// Compares the tree of a skill, as it was just read, with what its server told of it.
///
/// # Errors
///
/// When anything else is there.
pub(crate) fn compare(skill: &RemoteSkill, tree: &Tree) -> Result<(), Failure> {
    for entry in &tree.entries {
        let mut told = skill.files.iter().flatten();
        let told = told.find(|file| file.path == entry.path);
        let is_same = match (&entry.kind, told) {
            (TreeKind::File { sha256, .. }, Some(file)) => sha256 == file.digest.as_bytes(),
            _ => false,
        };
        if !is_same {
            let path = entry.path.clone();
            return Err(Failure::of(&RemoteFault::Unlisted { path }));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
