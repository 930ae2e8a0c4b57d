//! The benchmark `sessions`: many sessions of one agent in one process, with a model that replies
//! from a script and a database on disk.
//!
//! [`agent`] is what is measured, [`timed`] notes what an append takes, [`floor`] is SQLite alone.

mod agent;
mod floor;
mod timed;

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use metier_agent::agent::unwatched;
use metier_agent::{Agent, Ending, Task, stop};
use metier_model::Scripted;
use metier_session::{SessionKey, SessionStore, SqliteStore};

use crate::sessions::agent::TASKS;
use crate::sessions::timed::Timed;
use crate::table::Table;

/// How to measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SessionsArgs {
    /// How many sessions there are at once
    #[arg(long, default_value_t = 1_000)]
    sessions: usize,
    /// How long the model takes for a reply in the second part, in milliseconds
    #[arg(long, default_value_t = 2_000)]
    think: u64,
}

/// Sessions at once, and how long their model takes.
#[derive(Clone, Copy, Debug)]
struct Scene {
    name: &'static str,
    sessions: usize,
    think: u64,
    /// How often it is done, with new sessions each time.
    times: usize,
}

/// How a scene went.
struct Played {
    scene: Scene,
    took: Duration,
    turns: Vec<Duration>,
    appends: Vec<Duration>,
    events: usize,
}

/// Measures and prints.
pub(crate) fn run(arguments: &SessionsArgs) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let database = folder.path().join("metier.db");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let store = Arc::new(Timed::new(Arc::new(SqliteStore::open(&database)?)));
    let agent = agent::agent(folder.path(), Arc::clone(&store) as Arc<dyn SessionStore>)?;
    let SessionsArgs { sessions, think } = *arguments;
    let scenes = [
        Scene { name: "one", sessions: 1, think: 0, times: 50 },
        Scene { name: "at-once", sessions, think: 0, times: 1 },
        Scene { name: "thinking", sessions, think, times: 1 },
    ];
    let mut played = Vec::new();
    for scene in scenes {
        played.push(runtime.block_on(play(scene, &agent, &store))?);
    }
    let peak = peak_mebibytes()?;
    drop((agent, store));
    let floor = floor::measure(&database, &folder.path().join("floor.db"))?;
    println(&report(&played, &floor));
    println(&format!("Peak memory: {peak:.1} MiB, this program included."));
    Ok(())
}

/// Lets sessions do their tasks, all at once.
async fn play(scene: Scene, agent: &Agent, store: &Timed) -> Result<Played> {
    let script = agent::script(&*agent.library, scene.think)?;
    let model = Arc::new(Scripted::from_text(&script)?);
    let agent = Agent { model, ..agent.clone() };
    store.take();
    let began = Instant::now();
    let mut turns = Vec::new();
    for time in 0..scene.times {
        let talks: Vec<_> = (0..scene.sessions)
            .map(|number| {
                let name = format!("{}-{time}-{number}", scene.name);
                let agent = agent.clone();
                tokio::spawn(async move { talk(&agent, &name).await })
            })
            .collect();
        for talk in talks {
            turns.extend(talk.await??);
        }
    }
    let took = began.elapsed();
    let appended = store.take();
    Ok(Played { scene, took, turns, appends: appended.waits, events: appended.events })
}

/// One session; gives how long each turn took.
async fn talk(agent: &Agent, name: &str) -> Result<Vec<Duration>> {
    let key = SessionKey::new("bench", "ada", name)?;
    let (_stopper, stop) = stop();
    let mut turns = Vec::with_capacity(TASKS);
    for number in 0..TASKS {
        let text = format!("Tell me about the files of group {number}.");
        let began = Instant::now();
        let outcome = agent.run(&key, Task { text, ..Task::default() }, unwatched(), &stop).await?;
        turns.push(began.elapsed());
        ensure!(outcome.ending == Ending::Answered, "{:?}", outcome.ending);
    }
    Ok(turns)
}

fn report(played: &[Played], floor: &floor::Floor) -> String {
    let mut table = Table::new(&[
        "sessions",
        "model takes ms",
        "turns/s",
        "events/s",
        "÷ floor",
        "append ms, p50",
        "÷ floor",
        "p99",
        "turn ms, p50",
        "p99",
    ]);
    let single = [50, 99].map(|part| milliseconds(&floor.single, part));
    let single_rows = floor.single.len() as f64 / total(&floor.single);
    table.row(vec![
        "floor: one row a commit".to_owned(),
        String::new(),
        String::new(),
        format!("{single_rows:.0}"),
        String::new(),
        format!("{:.2}", single[0]),
        String::new(),
        format!("{:.2}", single[1]),
    ]);
    table.row(vec![
        format!("floor: {} rows a commit", floor::GROUP),
        String::new(),
        String::new(),
        format!("{:.0}", floor.rows_a_second),
    ]);
    for it in played {
        let seconds = it.took.as_secs_f64();
        let events = it.events as f64 / seconds;
        // One session waits for each event before it has the next, and so has nothing to group.
        let rows = if it.scene.sessions == 1 { single_rows } else { floor.rows_a_second };
        table.row(vec![
            it.scene.sessions.to_string(),
            it.scene.think.to_string(),
            format!("{:.0}", it.turns.len() as f64 / seconds),
            format!("{events:.0}"),
            format!("{:.2}", events / rows),
            format!("{:.2}", milliseconds(&it.appends, 50)),
            format!("{:.1}", milliseconds(&it.appends, 50) / single[0]),
            format!("{:.2}", milliseconds(&it.appends, 99)),
            format!("{:.2}", milliseconds(&it.turns, 50)),
            format!("{:.2}", milliseconds(&it.turns, 99)),
        ]);
    }
    table.render()
}

/// What so many percent of the waits are below.
fn milliseconds(waits: &[Duration], percent: usize) -> f64 {
    let mut waits = waits.to_vec();
    waits.sort_unstable();
    let at = (waits.len() * percent / 100).min(waits.len().saturating_sub(1));
    waits.get(at).map_or(0.0, |wait| wait.as_secs_f64() * 1_000.0)
}

fn total(waits: &[Duration]) -> f64 {
    waits.iter().sum::<Duration>().as_secs_f64()
}

/// Most memory that this process had at one time.
fn peak_mebibytes() -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kibibytes: f64 = kibibytes.context("the kernel does not say")?.parse()?;
    Ok(kibibytes / 1024.0)
}

#[expect(clippy::print_stdout, reason = "a benchmark reports to the terminal")]
fn println(text: &str) {
    println!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_waits_that_there_were() {
        let waits: Vec<_> = (1..=200).rev().map(Duration::from_millis).collect();
        assert_eq!([50, 99].map(|part| milliseconds(&waits, part)), [101.0, 199.0]);
        assert_eq!(milliseconds(&waits[..1], 99), 200.0);
        assert_eq!(milliseconds(&[], 50), 0.0);
    }
}
