//! Decisions for as long as the process lives.

use async_trait::async_trait;

use super::MemoryStore;
use crate::SessionError;
use crate::bounds::MAX_DECISIONS;
use crate::decision::{self, Decision, DecisionStore, Rule};
use crate::event::now;

#[async_trait]
impl DecisionStore for MemoryStore {
    async fn decisions(&self, agent: Option<&str>) -> Result<Vec<Decision>, SessionError> {
        let held = self.held();
        Ok(held.decisions.iter().filter(|it| it.holds_for(agent)).cloned().collect())
    }

    async fn decide(&self, agent: Option<&str>, rule: Rule) -> Result<Decision, SessionError> {
        decision::prepare(agent, &rule)?;
        let mut held = self.held();
        let decisions = &mut held.decisions;
        let same = |it: &&Decision| it.agent.as_deref() == agent && it.rule == rule;
        if let Some(same) = decisions.iter().find(same) {
            return Ok(same.clone());
        }
        if decisions.len() >= MAX_DECISIONS {
            return Err(SessionError::TooManyDecisions { limit: MAX_DECISIONS });
        }
        let made = loop {
            let made = Decision::made(agent, rule.clone(), now());
            if decisions.iter().all(|it| it.id != made.id) {
                break made;
            }
        };
        decisions.push(made.clone());
        Ok(made)
    }

    async fn revoke(&self, id: &str) -> Result<bool, SessionError> {
        let mut held = self.held();
        let before = held.decisions.len();
        held.decisions.retain(|it| it.id != id);
        Ok(held.decisions.len() < before)
    }

    async fn used(&self, id: &str, time: u64, command: &str) -> Result<bool, SessionError> {
        decision::time(time)?;
        let mut held = self.held();
        let Some(it) = held.decisions.iter_mut().find(|it| it.id == id) else { return Ok(false) };
        it.uses += 1;
        if it.last_used.is_none_or(|last| last <= time) {
            it.last_used = Some(time);
            it.last_command = Some(decision::shown(command));
        }
        Ok(true)
    }
}
