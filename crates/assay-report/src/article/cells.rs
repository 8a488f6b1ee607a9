//! The figure of a medium under a load.

use assay_analysis::rank::{LoadRanking, ModelRow};
use assay_analysis::{Load, Quantity, Reading, admit, estimate, held_by_bus};
use assay_core::estimate::Estimate;
use assay_core::units::figures;

use super::findings::mark;
use super::media::{Model, Of, Unit};
use super::scope::Scope;
use crate::document::Cell;
use crate::figure::{MB, interval, latency_unit};

/// A figure with its mark in the ranking.
pub(super) struct Figure {
    pub(super) estimate: Estimate,
    /// The bus was reached: the medium is at least this fast.
    pub(super) at_least: bool,
    /// The mark of the first place: a word of [`super::findings`]. Empty for other places, and for a single unit of a
    /// model with several units.
    pub(super) mark: &'static str,
}

/// The unit in which figures are shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shown {
    pub(super) unit: &'static str,
    /// The divisor for this unit.
    pub(super) divisor: f64,
}

/// The block size for which people know the operations per second. For larger blocks they know the rate.
const USUAL_BLOCK: u64 = 4096;

impl Shown {
    /// The unit for a load. Operations of blocks of one size are shown as a rate.
    pub(super) fn of(load: &Load, quantity: Quantity, like: f64) -> Self {
        let (unit, divisor) = match quantity.unit() {
            Some(_) if quantity == Quantity::Iops && load.blocks.is_empty() && load.block_bytes > USUAL_BLOCK => {
                ("MB/s", MB / load.block_bytes as f64)
            }
            Some(own) => own,
            None => latency_unit(like),
        };
        Self { unit, divisor }
    }
}

/// The figure of a row; `None` where no figure counts.
pub(super) fn figure(scope: &Scope<'_>, load: &Load, of: Of<'_>) -> Option<Figure> {
    let ranking = scope.ranking(load);
    let row = ranking.and_then(|ranking| ranking.models.iter().find(|row| row.model == of.model().key));
    match of {
        Of::Whole(_) => whole(ranking?, row?),
        Of::One(model, unit) => one(scope, load, (model, unit), row).map(|figure| match (ranking, row) {
            // A model of several units gets its mark in its own row.
            (Some(ranking), Some(row)) if model.units.len() == 1 => Figure { mark: mark(ranking, row), ..figure },
            _ => figure,
        }),
    }
}

fn whole(ranking: &LoadRanking, row: &ModelRow) -> Option<Figure> {
    Some(Figure { estimate: row.estimate.clone()?, at_least: row.at_ceiling, mark: mark(ranking, row) })
}

/// The figure of a unit: of one record as that has it, of several as the ranking joins them.
fn one(
    scope: &Scope<'_>,
    load: &Load,
    (model, unit): (&Model<'_>, &Unit<'_>),
    row: Option<&ModelRow>,
) -> Option<Figure> {
    let quantity = scope.quantity(load);
    let own = unit.records.iter().copied().filter(|record| scope.holds(record));
    let readings: Vec<Reading<'_>> = own.filter_map(|record| admit(record, load, quantity).0).collect();
    let ranked = row.and_then(|row| row.units.iter().find(|known| known.unit == unit.key));
    debug_assert!(row.is_none_or(|row| row.model == model.key));
    let last = readings.last()?;
    let held = ranked.map_or_else(|| held_by_bus(last.record, last.measurement), |unit| unit.at_ceiling);
    let estimate = match (readings.as_slice(), ranked) {
        ([_, _, ..], Some(joined)) => Estimate::bare(joined.value, joined.runs, "geometric mean over records"),
        _ => estimate(last.measurement, quantity).cloned().or_else(|| mean(&last.values))?,
    };
    Some(Figure { estimate, at_least: held || last.measurement.instrument_limited, mark: "" })
}

/// Of a figure that the record does not hold as such, as some percentiles.
fn mean(values: &[f64]) -> Option<Estimate> {
    let n = u32::try_from(values.len()).ok().filter(|n| *n > 0)?;
    Some(Estimate::bare(values.iter().sum::<f64>() / f64::from(n), n, "mean of the repeats"))
}

/// The figure as a table cell. `n` is left out where it is stated once for all figures.
pub(super) fn cell(figure: Option<&Figure>, shown: Shown, with_n: bool) -> Cell {
    let Some(Figure { estimate, at_least, mark }) = figure else { return Cell::default() };
    let bound = if *at_least { "≥ " } else { "" };
    let point = figures(estimate.point / shown.divisor);
    let ends = match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => Some(format!("({})", interval(low / shown.divisor, high / shown.divisor))),
        (Some(low), None) if !at_least => Some(format!("(≥ {})", figures(low / shown.divisor))),
        _ => None,
    };
    let n = with_n.then(|| format!("n={}", estimate.n));
    let small: Vec<String> = [ends, n].into_iter().flatten().collect();
    Cell { mark, ..Cell::with(format!("{bound}{point}"), small.join(" ")) }
}
