//! What the benchmark says: the measurements as tables of ratios, or all of it as JSON.

use std::num::NonZero;
use std::thread;

use serde::Serialize;

use crate::statistics::{Cost, Spread};
use crate::table::Table;

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// What the binary calls itself.
    pub(crate) metier: String,
    /// Processor cores of the machine.
    pub(crate) cores: usize,
    /// One set of measurements for each number of skills.
    pub(crate) sizes: Vec<Measured>,
    /// The version of the reference tool, if it is installed.
    pub(crate) reference_tool: Option<String>,
    /// The comparison with it.
    pub(crate) prompts: Vec<Prompt>,
}

/// What listing some skills costs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Measured {
    /// How many skills.
    pub(crate) skills: usize,
    /// In how many folders.
    pub(crate) roots: usize,
    /// Bytes of every `SKILL.md` together.
    pub(crate) bytes: u64,
    /// Runs of each program.
    pub(crate) repetitions: usize,
    /// Starting the binary.
    pub(crate) start: Cost,
    /// Listing without a cache.
    pub(crate) cold: Cost,
    /// Reading the files.
    pub(crate) floor_read: Cost,
    /// Listing with a cache.
    pub(crate) warm: Cost,
    /// Looking the files up.
    pub(crate) floor_stat: Cost,
}

/// What writing the prompt for some skills costs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Prompt {
    /// How many skills.
    pub(crate) skills: usize,
    /// Runs of each program.
    pub(crate) repetitions: usize,
    /// This program.
    pub(crate) metier: Cost,
    /// The reference tool.
    pub(crate) reference: Cost,
}

impl Report {
    /// A report without measurements.
    pub(crate) fn new(metier: String) -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Self { metier, cores, sizes: Vec::new(), reference_tool: None, prompts: Vec::new() }
    }

    /// One JSON document.
    pub(crate) fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Tables in Markdown.
    pub(crate) fn text(&self) -> String {
        let parts = [
            format!("{}, {} cores", self.metier, self.cores),
            self.wall_times(),
            self.processor_times(),
            self.growth(),
            self.prompt_times(),
        ];
        parts.map(|part| part.trim_end().to_owned()).join("\n\n") + "\n"
    }

    fn wall_times(&self) -> String {
        let mut table = Table::new(&[
            "skills",
            "start",
            "cold",
            "read floor",
            "cold ÷ read",
            "warm",
            "stat floor",
            "warm ÷ stat",
        ]);
        for size in &self.sizes {
            table.row(vec![
                grouped(size.skills),
                times(size.start.wall_ms),
                times(size.cold.wall_ms),
                times(size.floor_read.wall_ms),
                ratios(size.cold.wall_ms.over(size.floor_read.wall_ms)),
                times(size.warm.wall_ms),
                times(size.floor_stat.wall_ms),
                ratios(size.warm.wall_ms.over(size.floor_stat.wall_ms)),
            ]);
        }
        format!("Milliseconds on the clock, median (minimum):\n\n{}", table.render())
    }

    fn processor_times(&self) -> String {
        let mut table = Table::new(&[
            "skills",
            "cold",
            "cold ÷ read",
            "warm",
            "warm ÷ stat",
            "cold MiB",
            "warm MiB",
        ]);
        for size in &self.sizes {
            table.row(vec![
                grouped(size.skills),
                times(size.cold.cpu_ms),
                ratios(size.cold.cpu_ms.over(size.floor_read.cpu_ms)),
                times(size.warm.cpu_ms),
                ratios(size.warm.cpu_ms.over(size.floor_stat.cpu_ms)),
                format!("{:.1}", size.cold.peak_mib),
                format!("{:.1}", size.warm.peak_mib),
            ]);
        }
        let rendered = table.render();
        format!("Milliseconds of processor time, median (minimum), and peak memory:\n\n{rendered}")
    }

    /// What one more skill costs, from each size to the next: a step in the curve would show here.
    fn growth(&self) -> String {
        let mut table =
            Table::new(&["from → to", "cold", "read floor", "warm", "stat floor", "warm KiB"]);
        for (small, large) in self.sizes.iter().zip(self.sizes.iter().skip(1)) {
            let added = (large.skills - small.skills) as f64;
            let per_skill = |of: fn(&Measured) -> Cost| {
                let time = of(large).wall_ms.median - of(small).wall_ms.median;
                format!("{:.1}", time * 1_000.0 / added)
            };
            let memory = (large.warm.peak_mib - small.warm.peak_mib) * 1_024.0 / added;
            table.row(vec![
                format!("{} → {}", grouped(small.skills), grouped(large.skills)),
                per_skill(|size| size.cold),
                per_skill(|size| size.floor_read),
                per_skill(|size| size.warm),
                per_skill(|size| size.floor_stat),
                format!("{memory:.1}"),
            ]);
        }
        format!("Microseconds on the clock for each further skill:\n\n{}", table.render())
    }

    fn prompt_times(&self) -> String {
        let Some(version) = &self.reference_tool else {
            return "Reference tool `agentskills`: not installed, not compared.".to_owned();
        };
        let mut table =
            Table::new(&["skills", "metier", version, "times", "metier MiB", "its MiB"]);
        for prompt in &self.prompts {
            table.row(vec![
                grouped(prompt.skills),
                times(prompt.metier.wall_ms),
                times(prompt.reference.wall_ms),
                format!("{:.0}", prompt.reference.wall_ms.median / prompt.metier.wall_ms.median),
                format!("{:.1}", prompt.metier.peak_mib),
                format!("{:.1}", prompt.reference.peak_mib),
            ]);
        }
        let rendered = table.render();
        format!("`to-prompt` for the same skills, milliseconds, median (minimum):\n\n{rendered}")
    }
}

fn times(spread: Spread) -> String {
    format!("{:.1} ({:.1})", spread.median, spread.min)
}

fn ratios(spread: Spread) -> String {
    format!("{:.2} ({:.2})", spread.median, spread.min)
}

/// A number with a blank before its thousands.
fn grouped(number: usize) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{} {:03}", grouped(number / 1_000), number % 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(milliseconds: f64, peak_mib: f64) -> Cost {
        let wall_ms = Spread { median: milliseconds, min: milliseconds / 2.0 };
        let cpu_ms = Spread { median: milliseconds / 4.0, min: milliseconds / 8.0 };
        Cost { wall_ms, cpu_ms, peak_mib }
    }

    fn measured(skills: usize, each: f64) -> Measured {
        let times = |factor: f64| cost(1.0 + factor * each * skills as f64, 2.0 + each);
        Measured {
            skills,
            roots: skills.div_ceil(1_000),
            bytes: 2_000 * skills as u64,
            repetitions: 3,
            start: cost(1.0, 1.0),
            cold: times(3.0),
            floor_read: times(2.0),
            warm: times(1.5),
            floor_stat: times(1.0),
        }
    }

    fn report() -> Report {
        Report {
            metier: "metier 1.2.3".into(),
            cores: 2,
            sizes: vec![measured(10, 0.1), measured(10_000, 0.1)],
            reference_tool: None,
            prompts: Vec::new(),
        }
    }

    #[test]
    fn every_size_is_a_row_with_its_ratios() {
        insta::assert_snapshot!(report().text(), @"
        metier 1.2.3, 2 cores

        Milliseconds on the clock, median (minimum):

        | skills |     start |            cold |      read floor | cold ÷ read |           warm |     stat floor | warm ÷ stat |
        |--------|----------:|----------------:|----------------:|------------:|---------------:|---------------:|------------:|
        | 10     | 1.0 (0.5) |       4.0 (2.0) |       3.0 (1.5) | 1.33 (1.33) |      2.5 (1.2) |      2.0 (1.0) | 1.25 (1.25) |
        | 10 000 | 1.0 (0.5) | 3001.0 (1500.5) | 2001.0 (1000.5) | 1.50 (1.50) | 1501.0 (750.5) | 1001.0 (500.5) | 1.50 (1.50) |

        Milliseconds of processor time, median (minimum), and peak memory:

        | skills |          cold | cold ÷ read |          warm | warm ÷ stat | cold MiB | warm MiB |
        |--------|--------------:|------------:|--------------:|------------:|---------:|---------:|
        | 10     |     1.0 (0.5) | 1.33 (1.33) |     0.6 (0.3) | 1.25 (1.25) |      2.1 |      2.1 |
        | 10 000 | 750.3 (375.1) | 1.50 (1.50) | 375.3 (187.6) | 1.50 (1.50) |      2.1 |      2.1 |

        Microseconds on the clock for each further skill:

        | from → to   |  cold | read floor |  warm | stat floor | warm KiB |
        |-------------|------:|-----------:|------:|-----------:|---------:|
        | 10 → 10 000 | 300.0 |      200.0 | 150.0 |      100.0 |      0.0 |

        Reference tool `agentskills`: not installed, not compared.
        ");
    }

    #[test]
    fn the_reference_tool_is_compared_where_it_is_installed() {
        let prompt = Prompt {
            skills: 10,
            repetitions: 3,
            metier: cost(2.0, 9.0),
            reference: cost(80.0, 30.0),
        };
        let report = Report {
            reference_tool: Some("agentskills 0.1".into()),
            prompts: vec![prompt],
            ..report()
        };
        insta::assert_snapshot!(report.prompt_times(), @"
        `to-prompt` for the same skills, milliseconds, median (minimum):

        | skills |    metier | agentskills 0.1 | times | metier MiB | its MiB |
        |--------|----------:|----------------:|------:|-----------:|--------:|
        | 10     | 2.0 (1.0) |     80.0 (40.0) |    40 |        9.0 |    30.0 |
        ");
    }

    #[test]
    fn numbers_have_blanks_before_their_thousands() {
        assert_eq!(
            [7, 999, 1_000, 10_000, 1_234_567].map(grouped).join(", "),
            "7, 999, 1 000, 10 000, 1 234 567"
        );
    }
}
