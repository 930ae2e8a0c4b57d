//! Skills of other servers: whom to ask, what they offer, and their files when somebody needs them.
//!
//! A server is asked for its list, and for nothing more until a skill is used: loaded by a model, run, or read by a person.
//! Then all of its files are fetched at once, since a skill is staged whole and in one version. Each visit is a
//! connection of its own, so a server that is gone is noticed only by who needs it: what was trusted and fetched before is
//! used without it.

mod fetch;
mod peers;
mod words;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metier_mcp::skills::{McpSkill, McpSkillResources};
use metier_mcp::{McpClientError, McpServerAddress};
use metier_skill::diagnostic::Code;
use metier_skill::files::Digest;
use metier_skill::library::{TrustState, TrustStore};
use metier_skill::name::SkillName;
use metier_skill::problem::Problem;
use metier_skill::remote::{Offer, OfferedFile, RemoteFault, RemoteSkill, RemoteStore, StoreError};
use metier_workspace::{Tree, TreeKind};

pub(crate) use peers::{command, is_address};

use crate::args::SourceArgs;
use crate::context::{Context, LOOKING};
use crate::failure::Failure;
use crate::output::Working;

/// The servers that a command knows, by what it calls them. Clones know together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Servers(Arc<Mutex<Vec<SkillServer>>>);

/// A server that is asked for skills.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SkillServer {
    name: SkillName,
    peer: McpServerAddress,
}

/// What servers told, and who told nothing. Whether any of it is trusted is not known here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offers {
    /// What cannot be used, and why.
    pub problems: Vec<Problem>,
    skills: Vec<RemoteSkill>,
    /// Servers that told nothing, or were not asked.
    silent: Vec<SkillName>,
}

impl Servers {
    /// Whether there is anybody to ask.
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
    pub(crate) fn ask_servers(
        &self,
        sources: &SourceArgs,
        working: &Working,
    ) -> Result<Offers, Failure> {
        let (servers, mut offers) = self.skill_servers(sources)?;
        if !servers.is_empty() {
            let names = servers.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ");
            working.set(&format!("asking for the skills of {names}"));
        }
        let answers = fetch::lists(&servers);
        working.set(LOOKING);
        for (server, answer) in servers.iter().zip(answers) {
            match answer {
                Ok(listed) => offers.take(&server.name, listed),
                Err(error) => offers.do_without(&server.name, &error),
            }
        }
        self.servers.put(servers);
        Ok(offers)
    }

    /// What is known of these servers while none of them was asked.
    ///
    /// # Errors
    ///
    /// As for [`Context::ask_servers`].
    pub(crate) fn unasked_servers(&self, sources: &SourceArgs) -> Result<Offers, Failure> {
        let (servers, mut offers) = self.skill_servers(sources)?;
        offers.silent.extend(servers.iter().map(|server| server.name.clone()));
        self.servers.put(servers);
        Ok(offers)
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
            Err(error) => Some(Failure::from(error)),
        };
        let name = &skill.manifest.name;
        let peer = self.servers.find(&skill.server).ok_or_else(|| {
            Failure::new(format!(
                "`{name}` is on the server `{}`, which nobody named",
                skill.server
            ))
            .hint("name it with `--mcp`, or in the configuration with `skills = true`")
        })?;
        let working = self.output.working(&format!("fetching {name} from {}", skill.server));
        let fetched = fetch::files(&peer, skill);
        drop(working);
        match fetched {
            Ok(contents) => store.put(skill, &contents).map_err(Failure::from),
            Err(failure) => Err(spoiled.unwrap_or(failure)),
        }
        .map_err(|failure| failure.within(of_server(name.as_str(), skill.server.as_str())))
    }
}

impl Offers {
    /// The skills, each with whether it is trusted. A server that told nothing has those that were trusted and fetched.
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

    fn take(&mut self, server: &SkillName, listed: fetch::Listed) {
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
    fn do_without(&mut self, server: &SkillName, error: &McpClientError) {
        let failure = Failure::from(error);
        let message = failure.to_string();
        let problem = Problem::new(Code::ServerUnreachable, Path::new(server.as_str()), message);
        self.problems.push(match failure.remedy() {
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

/// What is said of a skill that is not taken from its server.
pub(crate) fn not_used(why: &str) -> String {
    format!("this skill is not used: {why}")
}

/// What is said of a skill whose files are not what its server told, or cannot be kept.
pub(crate) fn of_server(name: &str, server: &str) -> String {
    format!("`{name}` of the server `{server}` cannot be used")
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
pub(crate) fn compare(skill: &RemoteSkill, tree: &Tree) -> Result<(), Failure> {
    let found = tree.entries.iter().map(|entry| match entry.kind {
        TreeKind::File { sha256, .. } => (&*entry.path, Some(Digest::from_bytes(sha256))),
        TreeKind::Link { .. } => (&*entry.path, None),
    });
    skill.compare(found).map_err(|fault| {
        let (name, server) = (skill.manifest.name.as_str(), skill.server.as_str());
        Failure::from(StoreError::Fault(fault)).within(of_server(name, server))
    })
}

#[cfg(test)]
mod tests;
