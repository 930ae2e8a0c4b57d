//! Skills of servers: the servers to ask, what they offer, and their files when they are needed.
//!
//! A server is asked for its list, and for nothing more until a skill is used: loaded by a model, run, or read by a person.
//! Then all of its files are fetched at once, since a skill is staged whole and in one version. Each visit is a
//! connection of its own, so a server that is gone is noticed only when it is needed: what was trusted and fetched before is
//! used without it.

mod command_line;
mod fetch;
mod selection;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metier_mcp::skills::{McpSkill, McpSkillResources};
use metier_mcp::{McpClientError, McpServerAddress};
use metier_skill::diagnostic::Code;
use metier_skill::files::Digest;
use metier_skill::library::{TrustState, TrustStore};
use metier_skill::name::SkillName;
use metier_skill::problem::Problem;
use metier_skill::remote::{Offer, OfferedFile, RemoteFault, RemoteSkill, RemoteStore, StoreError};
use metier_workspace::{Tree, TreeKind};
use thiserror::Error;

pub use command_line::CommandLineFault;
pub use selection::{ServerFlagError, is_address, server_command};

use super::SourceSelection;
use super::archives::FetchedArchives;
use crate::app::App;
use crate::error::AppError;
use crate::reporter::{Activity, OngoingActivity, Reporter};

/// The outcomes of asking servers and fetching archives.
#[derive(Clone, Debug, Default)]
pub struct NetworkSources {
    /// The skills that servers offer.
    pub offers: SkillOffers,
    /// The archives that were fetched.
    pub archives: FetchedArchives,
}

/// A skill of a server that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RemoteSkillError {
    /// No server of that name was asked.
    #[error("`{name}` is on the server `{server}`, which nobody named")]
    UnknownServer {
        /// The skill.
        name: String,
        /// The server.
        server: String,
    },
    /// The files of the skill are not as its server told, or cannot be kept.
    #[error("`{name}` of the server `{server}` cannot be used")]
    Unusable {
        /// The skill.
        name: String,
        /// The server.
        server: String,
        /// The reason.
        source: Box<FetchedSkillError>,
    },
}

/// The reason why the files of a skill of a server cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FetchedSkillError {
    /// They are not as the server told, or cannot be kept.
    #[error(transparent)]
    Files(#[from] StoreError),
    /// The server cannot be asked.
    #[error(transparent)]
    Server(#[from] McpClientError),
    /// They did not come in time.
    #[error("its files did not come within {} s", limit.as_secs())]
    Late {
        /// The longest that all files may take.
        limit: Duration,
    },
}

/// The servers that were asked for skills, by the names we give them. Clones know together.
#[derive(Clone, Debug, Default)]
pub(crate) struct SkillServers(Arc<Mutex<Vec<SkillServer>>>);

/// A server that is asked for skills.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SkillServer {
    name: SkillName,
    peer: McpServerAddress,
}

/// The skills that servers offer, and the servers that did not answer. Whether any of it is trusted is not known here.
#[derive(Clone, Debug, Default)]
pub struct SkillOffers {
    /// The offers that cannot be used, with the reasons.
    pub problems: Vec<Problem>,
    skills: Vec<RemoteSkill>,
    /// Servers that told nothing, or were not asked.
    silent: Vec<SkillName>,
}

impl SkillServers {
    /// Returns whether there is no server to ask.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn put(&self, servers: Vec<SkillServer>) {
        *self.lock() = servers;
    }

    fn find(&self, name: &SkillName) -> Option<McpServerAddress> {
        self.lock().iter().find(|server| server.name == *name).map(|it| it.peer.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SkillServer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl App {
    /// Asks the servers that a selection and the configuration name for the skills they offer, and for nothing more.
    ///
    /// # Errors
    ///
    /// When a server of the selection cannot be understood.
    pub(crate) async fn ask_servers(
        &self,
        sources: &SourceSelection,
        working: &dyn OngoingActivity,
    ) -> Result<SkillOffers, AppError> {
        let (servers, mut offers) = self.skill_servers(sources)?;
        if !servers.is_empty() {
            let names = servers.iter().map(|it| it.name.to_string()).collect();
            working.update(&Activity::AskingServers { names });
            let answers = fetch::lists(&servers).await;
            working.update(&Activity::LookingForSkills);
            for (server, answer) in servers.iter().zip(answers) {
                match answer {
                    Ok(listed) => offers.take(&server.name, listed),
                    Err(error) => offers.do_without(&*self.reporter, &server.name, error),
                }
            }
        }
        self.servers.put(servers);
        Ok(offers)
    }

    /// Returns what is known of these servers while none of them was asked.
    ///
    /// # Errors
    ///
    /// When a server of the selection cannot be understood.
    pub(crate) fn unasked_servers(
        &self,
        sources: &SourceSelection,
    ) -> Result<SkillOffers, AppError> {
        let (servers, mut offers) = self.skill_servers(sources)?;
        offers.silent.extend(servers.iter().map(|server| server.name.clone()));
        self.servers.put(servers);
        Ok(offers)
    }

    /// Returns the folder of a skill of a server: as it was kept and still is, else fetched.
    ///
    /// # Errors
    ///
    /// When the server cannot be asked, or gives something else than it told.
    pub(crate) async fn remote_folder(
        &self,
        skill: &RemoteSkill,
    ) -> Result<PathBuf, RemoteSkillError> {
        let store = self.remote_store();
        let spoiled = match store.folder(skill) {
            Ok(Some(folder)) => return Ok(folder),
            Ok(None) => None,
            Err(error) => Some(error),
        };
        let (name, server) = (skill.manifest.name.to_string(), skill.server.to_string());
        let peer = self.servers.find(&skill.server).ok_or_else(|| {
            let (name, server) = (name.clone(), server.clone());
            RemoteSkillError::UnknownServer { name, server }
        })?;
        let activity = Activity::FetchingSkill { name: name.clone(), server: server.clone() };
        let working = self.reporter.begin(&activity);
        let fetched = fetch::files(&peer, skill).await;
        drop(working);
        let kept = match fetched {
            Ok(contents) => store.put(skill, &contents).map_err(FetchedSkillError::from),
            Err(error) => Err(spoiled.map_or(error, FetchedSkillError::from)),
        };
        kept.map_err(|error| {
            let source = Box::new(error);
            RemoteSkillError::Unusable { name, server, source }
        })
    }
}

impl SkillOffers {
    /// Returns the skills, each with whether it is trusted. A server that told nothing has those that were trusted and
    /// fetched.
    pub(crate) fn judged(
        &self,
        trust: &TrustStore,
        store: &RemoteStore,
    ) -> Vec<(RemoteSkill, TrustState)> {
        let told = self.skills.iter().map(|skill| (skill.clone(), trust.remote_state(skill)));
        let kept = self.silent.iter().flat_map(|server| store.skills(server)).filter_map(|skill| {
            let state = trust.remote_state(&skill);
            (state == TrustState::Trusted).then_some((skill, state))
        });
        told.chain(kept).collect()
    }

    fn take(&mut self, server: &SkillName, listed: fetch::ListedSkills) {
        let mut places = HashSet::new();
        for (uri, what) in listed.problems {
            self.refuse(server, uri.as_deref().unwrap_or_default(), &what);
        }
        for told in &listed.skills {
            match read(server, told) {
                Ok(skill) if places.insert(skill.place()) => self.skills.push(skill),
                Ok(_) => self.refuse(server, &told.uri, "it is listed twice"),
                Err(fault) => self.refuse(server, &told.uri, &fault.to_string()),
            }
        }
    }

    /// Notes that a server does not answer.
    fn do_without(&mut self, reporter: &dyn Reporter, server: &SkillName, error: McpClientError) {
        let wording = reporter.wording(&error.into());
        let place = Path::new(server.as_str());
        let problem = Problem::new(Code::ServerUnreachable, place, wording.message);
        self.problems.push(match wording.hint {
            Some(hint) => problem.help(hint),
            None => problem,
        });
        self.silent.push(server.clone());
    }

    fn refuse(&mut self, server: &SkillName, uri: &str, why: &str) {
        let place = PathBuf::from(format!("{server} {uri}").trim_end());
        let message = not_used(why);
        self.problems.push(Problem::new(Code::OfferRefused, &place, message));
    }
}

/// Returns the finding about a skill that is not taken from its server.
fn not_used(why: &str) -> String {
    format!("this skill is not used: {why}")
}

fn read(server: &SkillName, told: &McpSkill) -> Result<RemoteSkill, RemoteFault> {
    let McpSkill { uri, frontmatter, resources, .. } = told;
    let files: Option<Vec<OfferedFile>> = match resources {
        McpSkillResources::Dynamic(_) => None,
        McpSkillResources::Files(files) => {
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
/// When anything else is there, or something is not.
pub(crate) fn compare(skill: &RemoteSkill, tree: &Tree) -> Result<(), RemoteSkillError> {
    let found = tree.entries.iter().map(|entry| match entry.kind {
        TreeKind::File { sha256, .. } => (&*entry.path, Some(Digest::from_bytes(sha256))),
        TreeKind::Link { .. } => (&*entry.path, None),
    });
    skill.compare(found).map_err(|fault| {
        let (name, server) = (skill.manifest.name.to_string(), skill.server.to_string());
        let source = Box::new(StoreError::Fault(fault).into());
        RemoteSkillError::Unusable { name, server, source }
    })
}

#[cfg(test)]
mod tests;
