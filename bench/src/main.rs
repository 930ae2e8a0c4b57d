//! Benchmarks, run by hand: `cargo run --release -p metier-bench -- discovery`.
//!
//! A benchmark runs the real binary and the floors it is compared with as processes of their own,
//! one after the other in one run, and prints ratios. Nothing here is a test: times depend on the
//! machine, so they are reported and never asserted.

mod approval;
mod cargo;
mod discovery;
mod floor;
mod mcp_start;
mod process;
mod profiles;
mod runs;
mod sessions;
mod start;
mod statistics;
mod table;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;

use crate::approval::ApprovalArgs;
use crate::discovery::{DiscoveryArgs, Skills};
use crate::mcp_start::McpStartArgs;
use crate::profiles::ProfilesArgs;
use crate::runs::RunArgs;
use crate::sessions::SessionsArgs;
use crate::start::StartArgs;
use crate::start::trust::TrustArgs;

/// Side-by-side benchmarks of metier
#[derive(Debug, Parser)]
#[command(name = "metier-bench")]
enum Benchmark {
    /// Measure how long reading a very long command takes, against looking at its bytes
    Approval(ApprovalArgs),
    /// Measure how long finding skills takes, against plain loops over the same files
    Discovery(DiscoveryArgs),
    /// Measure how long `metier mcp` takes to answer its first request, against starting the bare binary
    McpStart(McpStartArgs),
    /// Measure the size and the start of the binary under other settings of its profile
    Profiles(ProfilesArgs),
    /// Measure what running a command of a skill costs, against starting a shell
    Run(RunArgs),
    /// Measure many sessions at once in one process, against SQLite alone
    Sessions(SessionsArgs),
    /// Measure how long `metier run` takes to ask a model, against starting an empty program
    Start(StartArgs),
    /// Measure what trust in a project's skills costs at the start of `metier run`
    Trust(TrustArgs),
    /// Write the skills that `discovery` measures with, to look closer with a profiler
    Skills {
        /// How many
        count: usize,
        /// An empty folder
        folder: PathBuf,
    },
}

fn main() -> Result<()> {
    metier_sandbox::helper();
    if floor::run_if_asked() {
        return Ok(());
    }
    match Benchmark::parse() {
        Benchmark::Approval(arguments) => approval::run(&arguments),
        Benchmark::Discovery(arguments) => discovery::run(&arguments),
        Benchmark::McpStart(arguments) => mcp_start::run(&arguments),
        Benchmark::Profiles(arguments) => profiles::run(&arguments),
        Benchmark::Run(arguments) => runs::run(&arguments),
        Benchmark::Sessions(arguments) => sessions::run(&arguments),
        Benchmark::Start(arguments) => start::run(&arguments),
        Benchmark::Trust(arguments) => start::trust::run(&arguments),
        Benchmark::Skills { count, folder } => {
            Skills::generate(count, &folder)?;
            Ok(())
        }
    }
}
