//! Which skills count, for whom, and when that changes.

mod eligibility;
mod entry_key;
mod programs;
mod remote;
mod search;
mod shadowing;
mod snapshot;
mod trust;
mod trusted_files;
mod untouched;
mod watch;

use std::path::PathBuf;

use crate::discover::{Absence, BundledSkill, Links, Root, Source};
use crate::files::DigestCache;
use crate::library::{
    Choices, FirstLook, LibraryOptions, Machine, Snapshot, TrustPolicy, TrustStore, TrustedProject,
    build,
};
use crate::name::SkillName;
use crate::remote::RemoteSkill;
use crate::scratch::Scratch;

/// A machine with folders of skills, as a test sets it up.
struct World {
    scratch: Scratch,
    roots: Vec<Root>,
    bundled: &'static [BundledSkill],
    remote: Vec<RemoteSkill>,
    choices: Choices,
    os: &'static str,
    variables: Vec<&'static str>,
    settings: Vec<&'static str>,
    servers: Vec<&'static str>,
    path: Vec<PathBuf>,
    tools: Option<PathBuf>,
    unseen: Vec<PathBuf>,
    trust: TrustStore,
    trust_all: bool,
    first_look: Option<FirstLook>,
    cache: Option<PathBuf>,
}

impl World {
    fn new() -> Self {
        Self {
            scratch: Scratch::new(),
            roots: Vec::new(),
            bundled: &[],
            remote: Vec::new(),
            choices: Choices::all(),
            os: "linux",
            variables: Vec::new(),
            settings: Vec::new(),
            servers: Vec::new(),
            path: Vec::new(),
            tools: None,
            unseen: Vec::new(),
            trust: TrustStore::default(),
            trust_all: false,
            first_look: None,
            cache: None,
        }
    }

    /// Adds a root that wins over those before it. Projects are what is above their roots.
    fn root(&mut self, source: Source, folder: &str) -> &mut Root {
        let path = self.scratch.path(folder);
        let project = (source == Source::Project).then(|| path.parent().unwrap().to_owned());
        self.roots.push(Root {
            source,
            path,
            address: None,
            links: Links::Anywhere,
            absence: Absence::Silent,
            plugin: None,
            project,
        });
        self.roots.last_mut().unwrap()
    }

    fn plugin(&mut self, name: &str, folder: &str) {
        self.root(Source::Plugin, folder).plugin = Some(SkillName::new(name).unwrap());
    }

    fn build(&self) -> Snapshot {
        let env = |name: &str| self.variables.contains(&name);
        let config = |name: &str| self.settings.contains(&name);
        let server = |name: &str| self.servers.contains(&name);
        let digests = DigestCache::in_memory();
        let (store, digests) = (&self.trust, &digests);
        let trust = match &self.first_look {
            _ if self.trust_all => TrustPolicy::All,
            Some(first) => TrustPolicy::AsFirstSeen { store, digests, first },
            None => TrustPolicy::Recorded { store, digests },
        };
        let judged = |skill: &RemoteSkill| (skill.clone(), self.trust.remote_state(skill));
        let remote: Vec<_> = self.remote.iter().map(judged).collect();
        build(&LibraryOptions {
            roots: &self.roots,
            bundled: self.bundled,
            remote: &remote,
            choices: &self.choices,
            machine: &Machine {
                tools: self.tools.as_deref(),
                unseen: &self.unseen,
                env: &env,
                config: &config,
                server: &server,
                ..Machine::new(self.os, &self.path)
            },
            trust,
            cache: self.cache.as_deref(),
            catalog_tokens: 1_000,
        })
    }

    /// Trusts a project as it is.
    fn trust_project(&mut self, project: &str) {
        let project = self.scratch.path(project);
        let snapshot = self.build();
        let folders = snapshot.entries.iter().filter_map(|entry| entry.place.folder());
        let folders = folders.filter(|folder| folder.starts_with(&project));
        let record = TrustedProject::record(&project, folders).unwrap();
        self.trust.trust(&project, record);
    }

    /// Skills with what keeps each from being used, then problems.
    fn outcome(&self) -> String {
        let snapshot = self.build();
        let mut text = String::new();
        for entry in &snapshot.entries {
            let file = entry.place.file().display().to_string();
            text.push_str(&format!("{} ({}) {file}\n", entry.name, entry.source));
            for block in &entry.verdict.blocks {
                let advice = entry.advice(block).map_or(String::new(), |it| format!(": {it}"));
                text.push_str(&format!("  not eligible, {block}{advice}\n"));
            }
            for shadow in &entry.shadows {
                text.push_str(&format!("  hides {}\n", shadow.display()));
            }
        }
        self.scratch.shorten(&text) + &self.scratch.problems(&snapshot.problems)
    }
}
