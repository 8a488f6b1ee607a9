//! The figures of all nodes under a load.

use assay_core::estimate::Estimate;
use assay_stats::{LEVEL, log_mean, middle};
use serde::Serialize;

use super::run::Run;
use super::sums::{NoSum, Together, together};
use crate::admission::admit;
use crate::deciding_quantity::deciding_quantity;
use crate::exclusion::Excluded;
use crate::load::Load;
use crate::quantity::{Quantity, estimate};
use crate::reading::Mark;

/// The nodes under one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadRow {
    /// The load.
    pub load: Load,
    /// Its title.
    pub title: String,
    /// The figure.
    pub quantity: Quantity,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// The median over the nodes that have a figure.
    pub median: Estimate,
    /// Lower and upper quartile.
    pub quartiles: (f64, f64),
    /// Number of the node with the least figure.
    pub least: usize,
    /// Number of the node with the largest figure.
    pub largest: usize,
    /// The figure of each node, in their order; null where the node has no figure that counts.
    pub figures: Vec<Option<Figure>>,
    /// The sum over the nodes that ran at the same time, all of them or most; null where there is no such sum.
    pub together: Option<Together>,
    /// Why there is no sum; null where there is one.
    pub no_sum: Option<NoSum>,
}

/// A node under a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// Geometric mean of the repeats with their interval.
    pub estimate: Estimate,
    /// The figure over the median of all nodes.
    pub to_median: f64,
    /// Whether the bus or the instrument was reached: the medium is at least this fast.
    pub at_least: bool,
    /// Whether the node is odd under this load.
    pub odd: bool,
}

/// The figures of the nodes under a load, and the reasons for what is left out; `None` where no node has a figure.
pub(super) fn load_row(run: &Run, load: &Load) -> (Option<LoadRow>, Vec<Excluded>) {
    let quantity = deciding_quantity(run.records().map(|(_, record)| record), load).quantity;
    let mut figures: Vec<Option<Figure>> = vec![None; run.nodes.len()];
    let mut excluded = Vec::new();
    for (at, record) in run.records() {
        let (reading, reasons) = admit(record, load, quantity);
        excluded.extend(reasons.into_iter().map(|reason| Excluded::new(record, Some(load), reason)));
        let Some(reading) = reading else { continue };
        let point = log_mean(&reading.values).exp();
        let n = u32::try_from(reading.values.len()).unwrap_or(u32::MAX);
        let bare = || Estimate::bare(point, n, "geometric mean of repeats");
        figures[at] = Some(Figure {
            // Admitted values are positive and finite, but the estimate stored beside them may hold anything.
            estimate: estimate(reading.measurement, quantity).filter(|e| is_figure(e)).cloned().unwrap_or_else(bare),
            to_median: 1.0,
            at_least: reading.marks.iter().any(|mark| matches!(mark, Mark::BusLimited | Mark::InstrumentLimited)),
            odd: false,
        });
    }
    (figured(run, load, quantity, figures), excluded)
}

fn is_figure(estimate: &Estimate) -> bool {
    let positive = |value: f64| value.is_finite() && value > 0.0;
    positive(estimate.point) && [estimate.low, estimate.high].into_iter().flatten().all(f64::is_finite)
}

fn figured(run: &Run, load: &Load, quantity: Quantity, mut figures: Vec<Option<Figure>>) -> Option<LoadRow> {
    let points: Vec<(usize, f64)> =
        figures.iter().enumerate().filter_map(|(at, figure)| Some((at, figure.as_ref()?.estimate.point))).collect();
    let values: Vec<f64> = points.iter().map(|(_, point)| *point).collect();
    let found = middle(&values, LEVEL)?;
    let least = points.iter().min_by(|a, b| a.1.total_cmp(&b.1))?.0;
    let largest = points.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
    for figure in figures.iter_mut().flatten() {
        figure.to_median = figure.estimate.point / found.median;
    }
    let bare = Estimate::bare(
        found.median,
        u32::try_from(values.len()).unwrap_or(u32::MAX),
        "median over nodes, interval by order statistics",
    );
    let median = match found.interval {
        Some((low, high)) => Estimate { low: Some(low), high: Some(high), level: Some(LEVEL), ..bare },
        None => bare,
    };
    let (together, no_sum) = match together(run, load, |_| true) {
        Ok(found) => (Some(found), None),
        Err(why) => (None, Some(why)),
    };
    Some(LoadRow {
        load: load.clone(),
        title: load.title(),
        quantity,
        more_is_better: quantity.more_is_better(),
        median,
        quartiles: found.quartiles,
        least,
        largest,
        figures,
        together,
        no_sum,
    })
}
