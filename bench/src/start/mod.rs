//! The benchmark `start`: from starting `metier run` to the first byte that a model's server gets.
//!
//! [`server`] notes when that byte is there, [`subjects`] are the programs. This file decides how
//! often and in which order, and prints.

mod server;
mod subjects;
pub(crate) mod trust;

use std::path::PathBuf;

use anyhow::Result;

use crate::discovery::Metier;
use crate::start::server::Server;
use crate::start::subjects::{Before, Collection, Empty, PEERS, Workshop};
use crate::statistics::{Cost, Spread};
use crate::table::Table;

/// How to measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StartArgs {
    /// Repeat less often
    #[arg(long)]
    quick: bool,
    /// Measure with the skills of this folder as well
    #[arg(long, value_name = "FOLDER")]
    corpus: Option<PathBuf>,
    /// Measure this binary instead of building one
    #[arg(long, value_name = "FILE")]
    metier: Option<PathBuf>,
}

/// How many skills there are.
const SIZES: [usize; 4] = [0, 18, 100, 1_000];
/// Rounds that are counted; one before them is not.
const ROUNDS: usize = 31;
const QUICK_ROUNDS: usize = 9;
/// Rounds with a peer.
const PEER_ROUNDS: usize = 5;

/// What starting with some skills costs.
struct Measured {
    skills: String,
    empty: Cost,
    version: Cost,
    first: Cost,
    second: Cost,
    tls: Cost,
}

/// Measures and prints.
pub(crate) fn run(arguments: &StartArgs) -> Result<()> {
    let metier = Metier::find(arguments.metier.as_deref())?;
    let rounds = if arguments.quick { QUICK_ROUNDS } else { ROUNDS };
    let (server, empty) = (Server::start()?, Empty::build()?);
    let mut collections: Vec<Collection<'_>> = SIZES.map(Collection::Generated).to_vec();
    collections.extend(arguments.corpus.as_deref().map(Collection::Folder));
    let mut all = Vec::new();
    for collection in collections {
        let workshop = Workshop::new(&metier, &server, collection)?;
        let mut measured = measure_starts(&workshop, &empty, rounds)?;
        if matches!(collection, Collection::Folder(_)) {
            measured.skills += " of the corpus";
        }
        all.push(measured);
    }
    println(&format!("{}, {rounds} rounds\n", metier.version()?));
    println(&times(&all));
    println(&memory(&all));
    println(&peers(&metier, &server)?);
    Ok(())
}

/// Starts everything once a round, so that a busy moment of the machine meets them all.
fn measure_starts(workshop: &Workshop<'_>, empty: &Empty, rounds: usize) -> Result<Measured> {
    let mut samples: [Vec<_>; 5] = Default::default();
    for round in 0..=rounds {
        let (first, arrival) = workshop.start(Before::Nothing)?;
        let (second, again) = workshop.start(Before::Started)?;
        workshop.check(&arrival)?;
        workshop.check(&again)?;
        let all = [empty.start()?, workshop.version()?, first, second, workshop.start_tls()?];
        if round > 0 {
            samples.iter_mut().zip(all).for_each(|(samples, sample)| samples.push(sample));
        }
    }
    let [empty, version, first, second, tls] = samples.map(|samples| Cost::of(&samples));
    Ok(Measured { skills: workshop.count.to_string(), empty, version, first, second, tls })
}

fn times(all: &[Measured]) -> String {
    let mut table = Table::new(&[
        "skills",
        "empty program",
        "`metier --version`",
        "first start",
        "÷ empty",
        "second start",
        "÷ empty",
        "second, over TLS",
        "÷ empty",
    ]);
    for it in all {
        let over = |cost: Cost| shown(cost.wall_ms.over(it.empty.wall_ms));
        table.row(vec![
            it.skills.clone(),
            shown(it.empty.wall_ms),
            shown(it.version.wall_ms),
            shown(it.first.wall_ms),
            over(it.first),
            shown(it.second.wall_ms),
            over(it.second),
            shown(it.tls.wall_ms),
            over(it.tls),
        ]);
    }
    format!("Milliseconds to the first byte, median (minimum):\n\n{}", table.render())
}

fn memory(all: &[Measured]) -> String {
    let mut table = Table::new(&[
        "skills",
        "processor ms, first",
        "second",
        "peak MiB, first",
        "second",
        "second, over TLS",
    ]);
    for it in all {
        table.row(vec![
            it.skills.clone(),
            shown(it.first.cpu_ms),
            shown(it.second.cpu_ms),
            format!("{:.1}", it.first.peak_mib),
            format!("{:.1}", it.second.peak_mib),
            format!("{:.1}", it.tls.peak_mib),
        ]);
    }
    format!("The whole run, with its reply; over TLS up to the first byte:\n\n{}", table.render())
}

/// The same with 18 skills by other programs.
fn peers(metier: &Metier, server: &Server) -> Result<String> {
    let mut table = Table::new(&["peer", "ms to the first byte", "peak MiB"]);
    let workshop = Workshop::new(metier, server, Collection::Generated(18))?;
    for peer in PEERS {
        let Some(binary) = peer.program() else {
            table.row(vec![peer.name.to_owned(), "not installed".to_owned()]);
            continue;
        };
        let starts = (0..=PEER_ROUNDS).map(|_| workshop.start_peer(peer, &binary));
        match starts.collect::<Result<Vec<_>>>() {
            Ok(samples) => {
                let cost = Cost::of(&samples[1..]);
                let peak = format!("{:.1}", cost.peak_mib);
                table.row(vec![peer.name.to_owned(), shown(cost.wall_ms), peak]);
            }
            Err(error) => table.row(vec![peer.name.to_owned(), error.to_string()]),
        }
    }
    Ok(format!("Other programs with 18 skills:\n\n{}", table.render()))
}

fn shown(spread: Spread) -> String {
    format!("{:.1} ({:.1})", spread.median, spread.min)
}

#[expect(clippy::print_stdout, reason = "a benchmark reports to the terminal")]
fn println(text: &str) {
    println!("{text}");
}
