//! Where a visit is served: what lookups depend on, and what was given.

use std::sync::{Arc, Mutex, PoisonError};

use metier_session::State;
use metier_skill::library::Entry;
use metier_workspace::WorkspaceKey;
use metier_workspace::executor::Network;

use super::Visits;
use crate::tools::knowledge::{Given, GivenSkill};
use crate::tools::{Answer, Situation};

/// What a visit depends on.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) visits: Arc<Visits>,
    pub(super) key: WorkspaceKey,
    pub(super) memory: Memory,
}

/// Which skills were given, and which version of each.
#[derive(Debug)]
pub(super) struct Memory {
    given: Mutex<Given>,
    /// Whether it is remembered what models were given, and which version.
    pub(super) is_kept: bool,
}

impl Memory {
    /// Nothing was given yet.
    pub(super) fn new() -> Self {
        Self { given: Mutex::default(), is_kept: true }
    }

    /// Nothing will be remembered but which skills people let models use.
    pub(super) fn forgetful() -> Self {
        Self { is_kept: false, ..Self::new() }
    }

    /// Notes that a model was given the skills of an answer.
    pub(super) fn note(&self, answer: &Answer) {
        if self.is_kept {
            self.note_for_person(answer);
        }
    }

    /// Notes that a person had a model given them.
    pub(super) fn note_for_person(&self, answer: &Answer) {
        let given = answer.identities.iter().map(|(skill, identity)| {
            let digest = answer.digests.get(skill).filter(|_| self.is_kept).cloned();
            (skill.clone(), GivenSkill { identity: identity.clone(), digest })
        });
        self.given.lock().unwrap_or_else(PoisonError::into_inner).extend(given);
    }

    fn given(&self) -> Given {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Desk {
    pub(super) fn new(visits: Arc<Visits>, key: WorkspaceKey, memory: Memory) -> Self {
        Self { visits, key, memory }
    }

    /// Looks something up among the skills as they are now.
    pub(super) fn look<T>(&self, work: impl FnOnce(&Situation<'_>) -> T) -> T {
        let visits = &*self.visits;
        work(&Situation {
            agent: &visits.agent,
            library: &*visits.library,
            snapshot: &visits.library.snapshot(),
            workspaces: &visits.runner.workspaces,
            texts: visits.texts(),
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
