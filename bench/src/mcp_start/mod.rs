//! The benchmark `mcp-start`: from starting `metier mcp` to the answer to `initialize`.
//!
//! [`client`] starts the server and waits for its answer. This file decides how often and in which order, and prints.

mod client;

use std::path::PathBuf;

use anyhow::Result;

use crate::discovery::Metier;
use crate::mcp_start::client::{Caches, Client};
use crate::statistics::{Cost, Spread};
use crate::table::Table;

/// How to measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct McpStartArgs {
    /// Repeat less often
    #[arg(long)]
    quick: bool,
    /// Measure this binary instead of building one
    #[arg(long, value_name = "FILE")]
    metier: Option<PathBuf>,
}

/// How many skills there are.
const SIZES: [usize; 3] = [0, 100, 1_000];
/// Rounds that are counted; one before them is not.
const ROUNDS: usize = 31;
const QUICK_ROUNDS: usize = 9;

/// What starting with some skills costs.
struct Measured {
    skills: usize,
    version: Cost,
    list: Cost,
    first: Cost,
    second: Cost,
}

/// Measures and prints.
pub(crate) fn run(arguments: &McpStartArgs) -> Result<()> {
    let metier = Metier::find(arguments.metier.as_deref())?;
    let rounds = if arguments.quick { QUICK_ROUNDS } else { ROUNDS };
    let mut table = Table::new(&[
        "skills",
        "`metier --version`",
        "`metier skills list`",
        "÷ version",
        "first start",
        "÷ version",
        "second start",
        "÷ version",
        "peak MiB",
    ]);
    for skills in SIZES {
        let it = measure(&Client::new(&metier, skills)?, skills, rounds)?;
        let over = |cost: Cost| shown(cost.wall_ms.over(it.version.wall_ms));
        table.row(vec![
            it.skills.to_string(),
            shown(it.version.wall_ms),
            shown(it.list.wall_ms),
            over(it.list),
            shown(it.first.wall_ms),
            over(it.first),
            shown(it.second.wall_ms),
            over(it.second),
            format!("{:.1}", it.second.peak_mib),
        ]);
    }
    println(&format!("{}, {rounds} rounds\n", metier.version()?));
    println("Milliseconds to the answer, median (minimum):\n");
    println(&table.render());
    Ok(())
}

/// Starts everything once a round, so that a busy moment of the machine meets them all.
fn measure(client: &Client<'_>, skills: usize, rounds: usize) -> Result<Measured> {
    let mut samples: [Vec<_>; 4] = Default::default();
    for round in 0..=rounds {
        let first = client.start(Caches::Gone)?;
        let second = client.start(Caches::There)?;
        let all = [client.version()?, client.list()?, first, second];
        if round > 0 {
            samples.iter_mut().zip(all).for_each(|(samples, sample)| samples.push(sample));
        }
    }
    let [version, list, first, second] = samples.map(|samples| Cost::of(&samples));
    Ok(Measured { skills, version, list, first, second })
}

fn shown(spread: Spread) -> String {
    format!("{:.1} ({:.1})", spread.median, spread.min)
}

#[expect(clippy::print_stdout, reason = "a benchmark reports to whoever started it")]
fn println(text: &str) {
    println!("{text}");
}
