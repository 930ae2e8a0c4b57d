//! Decisions in the database.

use async_trait::async_trait;
use rusqlite::{Connection, Row, params};

use super::SqliteStore;
use super::problem::Problem;
use super::read::stored;
use super::worker::Lasting;
use crate::SessionError;
use crate::bounds::MAX_DECISIONS;
use crate::decision::{self, Decision, DecisionStore, Rule};
use crate::event::now;

#[async_trait]
impl DecisionStore for SqliteStore {
    async fn decisions(&self, agent: Option<&str>) -> Result<Vec<Decision>, SessionError> {
        let agent = agent.map(str::to_owned);
        self.reader.ask(move |database| list(database, agent.as_deref())).await
    }

    async fn decide(&self, agent: Option<&str>, rule: Rule) -> Result<Decision, SessionError> {
        let json = decision::prepare(agent, &rule)?;
        let agent = agent.map(str::to_owned);
        self.writer.ask(move |database| insert(database, agent.as_deref(), &rule, &json)).await
    }

    async fn revoke(&self, id: &str) -> Result<bool, SessionError> {
        let id = id.to_owned();
        self.writer.ask(move |database| delete(database, &id)).await
    }

    async fn used(&self, id: &str, time: u64, command: &str) -> Result<bool, SessionError> {
        let (id, time, command) = (id.to_owned(), decision::time(time)?, decision::shown(command));
        let count = move |database: &Connection| count(database, &id, time, &command);
        // A count that is lost with the power is no decision that is lost.
        self.writer.ask_lasting(Lasting::Later, count).await
    }
}

fn list(database: &Connection, agent: Option<&str>) -> Result<Vec<Decision>, Problem> {
    let mut select = database.prepare_cached(
        "SELECT id, agent, rule, created, uses, last_used, last_command FROM decision
         WHERE ?1 IS NULL OR agent IS NULL OR agent = ?1 ORDER BY number",
    )?;
    let mut rows = select.query([agent])?;
    let mut decisions = Vec::new();
    while let Some(row) = rows.next()? {
        decisions.push(read(row)?);
    }
    Ok(decisions)
}

fn insert(
    database: &Connection,
    agent: Option<&str>,
    rule: &Rule,
    json: &str,
) -> Result<Decision, Problem> {
    let mut same = database.prepare_cached(
        "SELECT id, agent, rule, created, uses, last_used, last_command FROM decision
         WHERE coalesce(agent, '') = coalesce(?1, '') AND rule = ?2",
    )?;
    if let Some(row) = same.query(params![agent, json])?.next()? {
        return read(row);
    }
    let count: usize = database.query_row("SELECT count(*) FROM decision", [], |row| row.get(0))?;
    if count >= MAX_DECISIONS {
        return Err(SessionError::TooManyDecisions { limit: MAX_DECISIONS }.into());
    }
    let mut insert = database.prepare_cached(
        "INSERT INTO decision (id, agent, rule, created, uses) VALUES (?1, ?2, ?3, ?4, 0)
         ON CONFLICT (id) DO NOTHING",
    )?;
    loop {
        let made = Decision::made(agent, rule.clone(), now());
        if insert.execute(params![made.id, made.agent, json, made.created])? == 1 {
            return Ok(made);
        }
    }
}

fn delete(database: &Connection, id: &str) -> Result<bool, Problem> {
    let mut delete = database.prepare_cached("DELETE FROM decision WHERE id = ?1")?;
    Ok(delete.execute([id])? == 1)
}

fn count(database: &Connection, id: &str, time: u64, command: &str) -> Result<bool, Problem> {
    let mut update = database.prepare_cached(
        "UPDATE decision SET uses = uses + 1,
             last_command = CASE WHEN coalesce(last_used, 0) <= ?2 THEN ?3 ELSE last_command END,
             last_used = max(coalesce(last_used, 0), ?2)
         WHERE id = ?1",
    )?;
    Ok(update.execute(params![id, time, command])? == 1)
}

fn read(row: &Row<'_>) -> Result<Decision, Problem> {
    let id: String = row.get(0)?;
    let rule: Rule = stored(&format!("the decision {id}"), &row.get::<_, String>(2)?)?;
    Ok(Decision {
        id,
        agent: row.get(1)?,
        rule,
        created: row.get(3)?,
        uses: row.get(4)?,
        last_used: row.get(5)?,
        last_command: row.get(6)?,
    })
}
