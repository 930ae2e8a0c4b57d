//! Where a visit is served: what lookups depend on, and what was given.

use std::sync::{Arc, Mutex, PoisonError};

use metier_session::State;
use metier_skill::library::Entry;
use metier_workspace::SessionKey;
use metier_workspace::executor::Network;

use super::Visits;
use crate::texts::StagedTexts;
use crate::tools::Situation;
use crate::tools::knowledge::Given;

/// What a visit depends on.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) visits: Arc<Visits>,
    pub(super) key: SessionKey,
    pub(super) texts: StagedTexts,
    pub(super) memory: Memory,
}

/// Which skills were given, and which version of each; or that nobody remembers.
#[derive(Debug)]
pub(super) struct Memory(Option<Mutex<Given>>);

impl Memory {
    /// Nothing was given yet.
    pub(super) fn new() -> Self {
        Self(Some(Mutex::default()))
    }

    /// Nobody remembers.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Whether anything is remembered at all.
    pub(super) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Notes that versions of skills were given.
    pub(super) fn note(&self, given: &Given) {
        if let Some(known) = &self.0 {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            known.extend(given.iter().map(|(skill, digest)| (skill.clone(), digest.clone())));
        }
    }

    fn given(&self) -> Given {
        let known = self.0.as_ref().map(|it| it.lock().unwrap_or_else(PoisonError::into_inner));
        known.map(|it| it.clone()).unwrap_or_default()
    }
}

impl Desk {
    pub(super) fn new(visits: Arc<Visits>, key: SessionKey, memory: Memory) -> Self {
        let texts = StagedTexts::new(visits.runner.workspaces.clone());
        Self { visits, key, texts, memory }
    }

    /// Looks something up among the skills as they are now.
    pub(super) fn look<T>(&self, work: impl FnOnce(&Situation<'_>) -> T) -> T {
        let visits = &*self.visits;
        work(&Situation {
            agent: &visits.agent,
            library: &*visits.library,
            snapshot: &visits.library.snapshot(),
            workspaces: &visits.runner.workspaces,
            texts: &self.texts,
            events: &[],
            state: &State::default(),
            max_loaded: None,
            given: &self.memory.given(),
        })
    }

    /// Whether commands may have network: all on the host do, others if their skill was given some.
    pub(super) fn may_reach_out(&self) -> bool {
        let Visits { library, runner, .. } = &*self.visits;
        let has_network = |entry: &Entry| {
            let settings = library.run_settings(entry);
            settings.is_ok_and(|it| !matches!(it.network, Network::None))
        };
        let snapshot = library.snapshot();
        let mut entries = snapshot.entries.iter().filter(|entry| entry.verdict.is_eligible());
        runner.executor.sees_host() || entries.any(has_network)
    }
}
