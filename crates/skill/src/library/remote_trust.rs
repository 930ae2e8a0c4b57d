//! Trust in skills of other servers, one by one.
//!
//! A skill is known by what we call its server and by its address there. It is trusted with its header and with the
//! address, digest and size of every file, as its server told of them: with another set it is another skill, and not
//! trusted. That a file really is what was told is looked at when it is fetched.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::files::{Digest, FileDigests};
use crate::library::trust::{FileChange, TrustState, TrustStore, changes};
use crate::name::SkillName;
use crate::remote::{RemoteFile, RemoteSkill};

/// Trusted skills, by server and address.
pub(super) type Servers = BTreeMap<String, BTreeMap<String, TrustedRemote>>;

/// What a skill of a server was when it was trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedRemote {
    /// Its name.
    pub name: SkillName,
    /// The digest of its header as it was told.
    pub header: Digest,
    /// Digests of its files' digests and sizes, by path.
    pub files: FileDigests,
}

impl TrustedRemote {
    /// What is told of a skill now; nothing of one whose files nobody can name.
    pub fn record(skill: &RemoteSkill) -> Option<Self> {
        let files = skill.files.as_ref()?.iter();
        let state = |file: &RemoteFile| {
            let state = format!("{} {} {}", file.uri, file.digest, file.size);
            (file.path.clone(), Digest::of_bytes(state.as_bytes()))
        };
        let name = skill.manifest.name.clone();
        Some(Self { name, header: skill.header_digest(), files: files.map(state).collect() })
    }
}

impl TrustStore {
    /// Every trusted skill of a server, with the server and its address.
    pub fn remote_skills(&self) -> impl Iterator<Item = (&str, &str, &TrustedRemote)> {
        self.servers.iter().flat_map(|(server, skills)| {
            skills.iter().map(move |(uri, skill)| (server.as_str(), uri.as_str(), skill))
        })
    }

    /// Whether a skill is what somebody trusted.
    pub fn remote_state(&self, skill: &RemoteSkill) -> TrustState {
        let server = self.servers.get(skill.server.as_str());
        let Some(before) = server.and_then(|skills| skills.get(&skill.uri)) else {
            return TrustState::Untrusted;
        };
        let Some(now) = TrustedRemote::record(skill) else {
            let why = "they are made when they are asked for".to_owned();
            return TrustState::Changed(vec![FileChange::Unreadable(why)]);
        };
        if now == *before {
            return TrustState::Trusted;
        }
        let mut changed = changes(&before.files, &now.files);
        if now.header != before.header && changed.is_empty() {
            changed.push(FileChange::Header);
        }
        TrustState::Changed(changed)
    }

    /// Trusts a skill as it is told of now; `false` if it cannot be.
    pub fn trust_remote(&mut self, skill: &RemoteSkill) -> bool {
        let Some(record) = TrustedRemote::record(skill) else { return false };
        let server = self.servers.entry(skill.server.to_string()).or_default();
        server.insert(skill.uri.clone(), record);
        true
    }

    /// Forgets the skill at an address of a server; `false` if it was not trusted.
    pub fn revoke_remote(&mut self, server: &str, uri: &str) -> bool {
        let Some(skills) = self.servers.get_mut(server) else { return false };
        let was_trusted = skills.remove(uri).is_some();
        self.servers.retain(|_, skills| !skills.is_empty());
        was_trusted
    }
}
