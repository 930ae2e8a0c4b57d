//! The benchmark `discovery`: `metier skills list` on generated skills, cold and warm.
//!
//! [`skills`] makes the folders, [`subjects`] are the programs that are run on them, [`report`] is
//! what is printed. This file decides how often and in which order.

mod report;
mod skills;
mod subjects;

use std::path::PathBuf;

use anyhow::Result;

use crate::discovery::report::{Measured, Prompt, Report};
use crate::process::{Sample, measure};
use crate::statistics::Cost;

pub(crate) use crate::discovery::skills::Skills;
pub(crate) use crate::discovery::subjects::{Metier, Subject, Workshop};

/// How to measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DiscoveryArgs {
    /// Leave out 10 000 skills and repeat less often
    #[arg(long)]
    quick: bool,
    /// Print one JSON document instead of tables
    #[arg(long)]
    json: bool,
    /// Measure this binary instead of building one
    #[arg(long, value_name = "FILE")]
    metier: Option<PathBuf>,
}

/// Skills and how often each program is run on them: fewer runs where one takes longer.
const FULL: &[(usize, usize)] = &[(10, 41), (100, 41), (1_000, 31), (10_000, 11)];
const QUICK: &[(usize, usize)] = &[(10, 9), (100, 9), (1_000, 9)];
/// The same for the comparison with the reference tool, which takes seconds.
const PROMPTS: &[(usize, usize)] = &[(10, 5), (100, 3), (1_000, 3)];

/// Measures and prints.
pub(crate) fn run(arguments: &DiscoveryArgs) -> Result<()> {
    let metier = Metier::find(arguments.metier.as_deref())?;
    let sizes = if arguments.quick { QUICK } else { FULL };
    let mut report = Report::new(metier.version()?);
    for &(count, repetitions) in sizes {
        progress(&format!("{count} skills, {repetitions} runs of each"));
        let workshop = Workshop::new(&metier, count)?;
        workshop.check()?;
        report.sizes.push(measure_size(&workshop, repetitions)?);
    }
    match subjects::reference_tool() {
        None => report.reference_tool = None,
        Some(version) => {
            report.reference_tool = Some(version);
            for &(count, repetitions) in PROMPTS {
                progress(&format!("{count} skills, {repetitions} runs of the reference tool"));
                let workshop = Workshop::new(&metier, count)?;
                report.prompts.push(measure_prompts(&workshop, repetitions)?);
            }
        }
    }
    print(&if arguments.json { report.json()? } else { report.text() });
    Ok(())
}

/// Runs every subject once a round, so that a busy moment of the machine meets them all. The first
/// round is not counted: it brings programs and files into the page cache.
fn measure_size(workshop: &Workshop<'_>, repetitions: usize) -> Result<Measured> {
    let mut samples: [Vec<Sample>; Subject::ALL.len()] = Default::default();
    for round in 0..=repetitions {
        for (subject, samples) in Subject::ALL.into_iter().zip(&mut samples) {
            let sample = measure(&mut workshop.command(subject)?)?;
            if round > 0 {
                samples.push(sample);
            }
        }
    }
    let [start, cold, floor_read, warm, floor_stat] = samples.map(|runs| Cost::of(&runs));
    let skills = workshop.skills();
    Ok(Measured {
        skills: skills.count,
        roots: skills.roots.len(),
        bytes: skills.bytes,
        repetitions,
        start,
        cold,
        floor_read,
        warm,
        floor_stat,
    })
}

/// Lets this program and the reference tool write the prompt for the same skills.
fn measure_prompts(workshop: &Workshop<'_>, repetitions: usize) -> Result<Prompt> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=repetitions {
        let samples =
            (measure(&mut workshop.prompt())?, measure(&mut workshop.reference_prompt())?);
        if round > 0 {
            ours.push(samples.0);
            theirs.push(samples.1);
        }
    }
    let skills = workshop.skills().count;
    Ok(Prompt { skills, repetitions, metier: Cost::of(&ours), reference: Cost::of(&theirs) })
}

#[expect(clippy::print_stderr, reason = "a person waits for a minute or more")]
fn progress(text: &str) {
    eprintln!("{text}");
}

#[expect(clippy::print_stdout, reason = "the report is what the program is for")]
fn print(text: &str) {
    print!("{text}");
}
