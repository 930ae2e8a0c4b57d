//! The benchmark `profiles`: what settings of the compiler make of the binary.
//!
//! [`variant`] has the settings and builds with them. All binaries are built first, then run by turns: how long
//! `metier --version` takes, and a listing of skills with and without its cache.

mod variant;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use self::variant::{Built, VARIANTS, Variant};
use crate::cargo;
use crate::discovery::{Metier, Subject, Workshop};
use crate::process::{Sample, measure};
use crate::statistics::{Cost, Spread};
use crate::table::Table;

/// How to measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ProfilesArgs {
    /// Repeat less often
    #[arg(long)]
    quick: bool,
    /// Build and measure this variant; may be given several times, without it all are
    #[arg(long, value_name = "VARIANT")]
    only: Vec<String>,
    /// How many skills are listed
    #[arg(long, default_value_t = 1_000)]
    skills: usize,
    /// Keep binaries here; what is there already is measured without being built again
    #[arg(long, value_name = "FOLDER", default_value = "target/profiles")]
    folder: PathBuf,
}

/// Rounds that are counted; one before them is not.
const ROUNDS: usize = 31;
const QUICK_ROUNDS: usize = 9;
const SUBJECTS: [Subject; 3] = [Subject::Start, Subject::Warm, Subject::Cold];

/// Builds, measures and prints.
pub(crate) fn run(arguments: &ProfilesArgs) -> Result<()> {
    let variants = chosen(&arguments.only)?;
    let manifest = fs::read_to_string(Path::new(cargo::ROOT).join("Cargo.toml"))?;
    let apart = variant::apart(&manifest, "release")?;
    let mut built = Vec::new();
    for variant in variants {
        progress(&format!("building {}", variant.name));
        built.push(variant.build(&arguments.folder, &apart, cargo::build)?);
    }
    let rounds = if arguments.quick { QUICK_ROUNDS } else { ROUNDS };
    progress(&format!("{} skills, {rounds} runs of each", arguments.skills));
    let costs = measure_all(&built, arguments.skills, rounds)?;
    print(&table(&built, &costs));
    Ok(())
}

fn chosen(only: &[String]) -> Result<Vec<Variant>> {
    let names = VARIANTS.map(|variant| variant.name);
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no variant `{unknown}`; the variants are {}", names.join(", "));
    }
    let is_chosen = |variant: &Variant| only.is_empty() || only.iter().any(|it| it == variant.name);
    Ok(VARIANTS.into_iter().filter(is_chosen).collect())
}

/// Runs every binary once a round, so that a busy moment of the machine meets them all.
fn measure_all(built: &[Built], skills: usize, rounds: usize) -> Result<Vec<[Cost; 3]>> {
    let metiers: Vec<Metier> =
        built.iter().map(|it| Metier::find(Some(&it.binary))).collect::<Result<_>>()?;
    let mut workshops = Vec::new();
    for metier in &metiers {
        let workshop = Workshop::new(metier, skills)?;
        workshop.check()?;
        workshops.push((workshop, <[Vec<Sample>; 3]>::default()));
    }
    for round in 0..=rounds {
        for (workshop, samples) in &mut workshops {
            for (subject, samples) in SUBJECTS.into_iter().zip(samples) {
                let sample = measure(&mut workshop.command(subject)?)?;
                if round > 0 {
                    samples.push(sample);
                }
            }
        }
    }
    Ok(workshops.iter().map(|(_, samples)| samples.each_ref().map(|it| Cost::of(it))).collect())
}

fn table(built: &[Built], costs: &[[Cost; 3]]) -> String {
    let mut table = Table::new(&[
        "variant",
        "`opt-level`",
        "`lto`",
        "`codegen-units`",
        "`panic`",
        "MB",
        "build, s",
        "`--version`, ms",
        "warm list, ms",
        "cold list, ms",
    ]);
    for (built, costs) in built.iter().zip(costs) {
        let Variant { name, level, lto, units, panic } = built.variant;
        let fixed = [name.to_owned(), level.shown(), lto.to_owned(), units.to_string()];
        let figures = [
            panic.to_owned(),
            format!("{:.1}", built.bytes as f64 / 1e6),
            format!("{:.0}", built.seconds),
        ];
        let times = costs.iter().map(|cost| shown(cost.wall_ms));
        table.row(fixed.into_iter().chain(figures).chain(times).collect());
    }
    table.render()
}

fn shown(spread: Spread) -> String {
    format!("{:.1} ({:.1})", spread.median, spread.min)
}

#[expect(clippy::print_stderr, reason = "a person waits for minutes or hours")]
fn progress(text: &str) {
    eprintln!("{text}");
}

#[expect(clippy::print_stdout, reason = "a benchmark reports to the terminal")]
fn print(text: &str) {
    print!("{text}");
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn unknown_variants_are_refused_with_the_known_ones() {
        insta::assert_snapshot!(
            chosen(&["lto".to_owned()]).unwrap_err(),
            @"there is no variant `lto`; the variants are base, level-2, level-s, lto-off, lto-fat, units-1, units-16, abort, fastest, smallest"
        );
        assert_eq!(chosen(&["abort".to_owned(), "base".to_owned()]).unwrap().len(), 2);
        assert_eq!(chosen(&[]).unwrap().len(), VARIANTS.len());
    }

    #[test]
    fn a_variant_is_a_row() {
        let built = Built {
            variant: VARIANTS[2],
            binary: "metier".into(),
            bytes: 12_340_000,
            seconds: 301.4,
        };
        let wall = Duration::from_micros(2_500);
        let cost = Cost::of(&[Sample { wall, cpu: wall, peak_bytes: 0 }]);
        insta::assert_snapshot!(table(&[built], &[[cost; 3]]), @r#"
        | variant | `opt-level` | `lto` | `codegen-units` | `panic` |   MB | build, s | `--version`, ms | warm list, ms | cold list, ms |
        |---------|------------:|------:|----------------:|--------:|-----:|---------:|----------------:|--------------:|--------------:|
        | level-s |         "s" |  thin |               4 |  unwind | 12.3 |      301 |       2.5 (2.5) |     2.5 (2.5) |     2.5 (2.5) |
        "#);
    }
}
