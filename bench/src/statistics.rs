//! Medians, minima and ratios of repeated measurements.

use std::time::Duration;

use serde::Serialize;

use crate::process::Sample;

/// The middle and the best of some measurements of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    /// Half of the measurements are at or below it.
    pub(crate) median: f64,
    /// The least; noise only adds, so this one has the least noise in it.
    pub(crate) min: f64,
}

/// What the runs of one program cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Cost {
    /// Milliseconds on the clock.
    pub(crate) wall_ms: Spread,
    /// Milliseconds of processor time.
    pub(crate) cpu_ms: Spread,
    /// The largest peak of resident memory, in MiB.
    pub(crate) peak_mib: f64,
}

impl Spread {
    /// The spread of some values; nothing was measured if there are none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = match values.as_slice() {
            [] => 0.0,
            odd if odd.len() % 2 == 1 => odd[middle],
            even => even[middle - 1].midpoint(even[middle]),
        };
        Self { median, min: values.first().copied().unwrap_or_default() }
    }

    /// How many times `other` this is, median by median and minimum by minimum.
    pub(crate) fn over(self, other: Self) -> Self {
        Self { median: self.median / other.median, min: self.min / other.min }
    }
}

impl Cost {
    /// Sums up some runs.
    pub(crate) fn of(samples: &[Sample]) -> Self {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1_000.0;
        let peak = samples.iter().map(|sample| sample.peak_bytes).max().unwrap_or_default();
        Self {
            wall_ms: Spread::of(samples.iter().map(|sample| milliseconds(sample.wall))),
            cpu_ms: Spread::of(samples.iter().map(|sample| milliseconds(sample.cpu))),
            peak_mib: peak as f64 / f64::from(1 << 20),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(values: &[f64]) -> (f64, f64) {
        let spread = Spread::of(values.iter().copied());
        (spread.median, spread.min)
    }

    #[test]
    fn the_median_is_the_middle_value_or_between_the_two_middle_ones() {
        assert_eq!(spread(&[3.0, 1.0, 2.0]), (2.0, 1.0));
        assert_eq!(spread(&[4.0, 1.0, 2.0, 3.0]), (2.5, 1.0));
        assert_eq!(spread(&[7.0]), (7.0, 7.0));
    }

    #[test]
    fn one_slow_run_does_not_move_the_median() {
        assert_eq!(spread(&[1.0, 1.0, 1.0, 1.0, 900.0]), (1.0, 1.0));
    }

    #[test]
    fn nothing_measured_is_nothing() {
        assert_eq!(spread(&[]), (0.0, 0.0));
    }

    #[test]
    fn ratios_compare_like_with_like() {
        let ratio = Spread { median: 6.0, min: 2.0 }.over(Spread { median: 3.0, min: 2.0 });
        assert_eq!(ratio, Spread { median: 2.0, min: 1.0 });
    }

    #[test]
    fn a_cost_has_the_largest_peak_of_its_runs() {
        let sample = |wall, peak_bytes| Sample {
            wall: Duration::from_micros(wall),
            cpu: Duration::from_micros(wall / 2),
            peak_bytes,
        };
        let cost = Cost::of(&[sample(2_000, 3 << 20), sample(1_000, 5 << 20)]);
        assert_eq!(cost.wall_ms, Spread { median: 1.5, min: 1.0 });
        assert_eq!(cost.cpu_ms, Spread { median: 0.75, min: 0.5 });
        assert_eq!(cost.peak_mib, 5.0);
    }
}
