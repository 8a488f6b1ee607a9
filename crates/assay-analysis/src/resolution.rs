//! In which steps a tool printed a figure.
//!
//! Three cards of 22.6 to 23.4 MB/s are all 23 where whole MB/s are printed: they agree, and are off by up to half a step
//! together, which no number of units averages out. So a step is an error of its own, uniform: step² / 12.

use assay_core::record::{Measurement, Record};

/// What figures are printed in, in bytes per second.
const UNITS: [f64; 5] = [1_048_576.0, 1e6, 1024.0, 1e3, 1.0];
/// Most decimals that are looked for.
const DECIMALS: i32 = 3;
/// Finer steps, as a share of the figure, are lost in how units and days differ.
const LEAST: f64 = 0.005;

/// The step in which a figure was printed, as a share of it; 0 of what assay measured itself, and of fine steps.
pub(crate) fn resolution(record: &Record, measurement: &Measurement) -> f64 {
    if !record.is_printed() {
        return 0.0;
    }
    let bytes = |measurement: &Measurement| measurement.bytes_per_second.as_ref().map(|estimate| estimate.point);
    let iops = |measurement: &Measurement| measurement.iops.as_ref().map(|estimate| estimate.point);
    // A rate of 20.0 alone looks like whole ones; other figures of the same text tell.
    let of_bytes = step(&record.measurements.iter().filter_map(bytes).collect::<Vec<_>>(), &UNITS);
    let of_iops = step(&record.measurements.iter().filter_map(iops).collect::<Vec<_>>(), &[1.0]);
    let share = |step: Option<f64>, value: Option<f64>| step.zip(value).map_or(0.0, |(step, value)| step / value);
    let found = share(of_bytes, bytes(measurement)).max(share(of_iops, iops(measurement)));
    if found >= LEAST { found } else { 0.0 }
}

/// Squared error of the logarithm of a figure that was printed in such steps.
pub(crate) fn uniform(step: f64) -> f64 {
    step.powi(2) / 12.0
}

/// The largest step that divides all values.
fn step(values: &[f64], units: &[f64]) -> Option<f64> {
    let is_multiple = |step: f64| {
        values.iter().all(|value| {
            let steps = value / step;
            (steps - steps.round()).abs() <= 1e-9 * steps.max(1.0)
        })
    };
    let mut steps: Vec<f64> =
        units.iter().flat_map(|unit| (0..=DECIMALS).map(move |decimals| unit / 10f64.powi(decimals))).collect();
    steps.sort_by(|a, b| b.total_cmp(a));
    steps.into_iter().find(|step| !values.is_empty() && is_multiple(*step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::estimate::Estimate;
    use assay_core::record::Source;
    use assay_core::workload::{Op, Pattern, Workload};

    fn printed(rates: &[f64]) -> Record {
        let measured = |rate: &f64| {
            let workload = Workload::new("w", Op::Read, Pattern::Sequential, 1 << 20);
            let bytes = Some(Estimate::bare(*rate, 1, "printed"));
            let iops = Some(Estimate::bare(rate / 1_048_576.0, 1, "printed"));
            Measurement { bytes_per_second: bytes, iops, ..Measurement::empty(workload, "dd") }
        };
        let mut record = crate::samples::record("z", "A", "1", rates.iter().map(measured).collect());
        record.source = Some(Source { format: "dd".to_owned(), ..Source::default() });
        record
    }

    fn of(rates: &[f64]) -> f64 {
        let record = printed(rates);
        resolution(&record, &record.measurements[0])
    }

    #[test]
    fn the_step_is_that_of_the_last_digit_that_any_figure_has() {
        assert!((of(&[23e6]) - 1.0 / 23.0).abs() < 1e-9);
        assert!((of(&[23.0 * 1_048_576.0, 80.0 * 1_048_576.0]) - 1.0 / 23.0).abs() < 1e-9);
        assert!((of(&[5e6, 12.3e6]) - 0.1 / 5.0).abs() < 1e-9, "the other figure has a decimal");
        assert_eq!(of(&[22.9e6, 23.1e6]), 0.0, "0.4 %");
        assert_eq!(of(&[22_912_345.67]), 0.0);
        let own = Record { source: None, ..printed(&[23e6]) };
        assert_eq!(resolution(&own, &own.measurements[0]), 0.0);
    }
}
