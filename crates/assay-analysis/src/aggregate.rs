//! Figures over several runs, computed as in published articles. They serve for comparison with published figures, and
//! nothing is decided by them: a mean without best and worst is taken for each figure separately, so that no run may
//! have shown it, and the best of N runs grows with N.

use assay_core::observation::Observation;
use serde::Serialize;

use crate::admission::named;
use crate::exclusion::Excluded;
use crate::identity::{identity, short_name};
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::{Reading, loads, reading};

/// How several runs become one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    /// Their mean.
    Mean,
    /// Their mean without the best and the worst, of three runs and more.
    Trimmed,
    /// The best of them.
    Best,
}

impl Aggregate {
    /// The name of the method.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Trimmed => "mean without best and worst",
            Self::Best => "best",
        }
    }

    /// The figure of some values; `None` of too few.
    #[must_use]
    pub fn figure(self, values: &[f64], more_is_better: bool) -> Option<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let kept = match (self, sorted.as_slice()) {
            (Self::Trimmed, [_, kept @ .., _]) => kept,
            (Self::Trimmed, _) => return None,
            (Self::Best, [worst, .., best]) => return Some(if more_is_better { *best } else { *worst }),
            (_, all) => all,
        };
        (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64)
    }
}

/// A figure of a medium over its runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AggregateRow {
    /// Label `model`, or what the medium says of itself, and the unit.
    pub medium: String,
    /// The title of the load, or the name of a score.
    pub load: String,
    /// `iops`, `rate`, or `score`.
    pub figure: &'static str,
    /// Unit of the values.
    pub unit: String,
    /// Its value of each run, in the order of the records.
    pub values: Vec<f64>,
    /// All of them in one figure; null of too few runs.
    pub value: Option<f64>,
}

/// The figures of all loads and scores by medium, in the order in which media and loads appear, and the records that
/// are left out.
#[must_use]
pub fn aggregate(records: &[Observation], how: Aggregate) -> (Vec<AggregateRow>, Vec<Excluded>) {
    let (named, nameless) = named(records);
    let mut media: Vec<(String, Vec<&Observation>)> = Vec::new();
    for record in named {
        let whose = identity(record);
        let name = short_name(&whose);
        match media.iter_mut().find(|(known, _)| *known == name) {
            Some((_, runs)) => runs.push(record),
            None => media.push((name, vec![record])),
        }
    }
    (media.into_iter().flat_map(|(medium, runs)| of_medium(&medium, &runs, how)).collect(), nameless)
}

fn of_medium(medium: &str, runs: &[&Observation], how: Aggregate) -> Vec<AggregateRow> {
    let mut rows = Vec::new();
    let mut add = |load: String, figure, unit: &str, values: Vec<f64>, more_is_better| {
        if !values.is_empty() {
            let value = how.figure(&values, more_is_better);
            rows.push(AggregateRow { medium: medium.to_owned(), load, figure, unit: unit.to_owned(), values, value });
        }
    };
    for load in loads(runs.iter().copied()) {
        for quantity in [Quantity::Iops, Quantity::BytesPerSecond] {
            // Operations per second are not a usual figure of sequential work.
            if quantity == Quantity::usual(&load) || quantity == Quantity::BytesPerSecond {
                let values = runs.iter().filter_map(|run| of_run(run, &load, quantity)).collect();
                let unit = if quantity == Quantity::Iops { "IOPS" } else { "bytes/s" };
                add(load.title(), quantity.name(), unit, values, true);
            }
        }
    }
    let mut names: Vec<(&str, &str, bool)> = Vec::new();
    for score in runs.iter().flat_map(|run| &run.scores) {
        let named = (score.name.as_str(), score.unit.as_str(), score.more_is_better);
        if !names.contains(&named) {
            names.push(named);
        }
    }
    for (name, unit, more_is_better) in names {
        let scores =
            runs.iter().flat_map(|run| &run.scores).filter(|s| (s.name.as_str(), s.unit.as_str()) == (name, unit));
        add(name.to_owned(), "score", unit, scores.map(|score| score.value.point).collect(), more_is_better);
    }
    rows
}

/// The figure of one run: the mean of its repeats. `None` for a figure that may not win a comparison.
fn of_run(run: &Observation, load: &Load, quantity: Quantity) -> Option<f64> {
    let values = reading(run, load, quantity).filter(Reading::counts)?.values;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_and_the_worst_are_left_out_of_each_figure() {
        // 1151, 1160 and 1198 are the scores that were left of five runs of a card, whose published mean is 1169.67.
        let runs = [1151.0, 1198.0, 1147.0, 1160.0, 1210.0];
        let mean = Aggregate::Trimmed.figure(&runs, true).unwrap();
        assert!((mean - 1169.67).abs() < 0.005, "{mean}");
        assert_eq!(Aggregate::Trimmed.figure(&runs[..2], true), None);
        assert_eq!(Aggregate::Best.figure(&runs, true), Some(1210.0));
        assert_eq!(Aggregate::Best.figure(&runs, false), Some(1147.0));
        assert_eq!(Aggregate::Best.figure(&runs[..1], false), Some(1151.0));
        assert_eq!(Aggregate::Mean.figure(&runs, true), Some(1173.2));
        assert_eq!(Aggregate::Mean.figure(&[], true), None);
    }

    #[test]
    fn units_of_a_model_are_told_apart() {
        let records = crate::published("sandisk-ultra-a1").unwrap();
        let (rows, left_out) = aggregate(&records, Aggregate::Mean);
        assert!(left_out.is_empty());
        let first: Vec<&AggregateRow> = rows.iter().filter(|row| row.load == rows[0].load).collect();
        assert_eq!(first.len(), 6, "three units, operations and bytes: {first:#?}");
        assert!(rows.iter().all(|row| row.values.len() == 1 && row.value == Some(row.values[0])));
    }
}
