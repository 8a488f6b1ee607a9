//! One number from several loads, and whether its order hangs on the weights.

use std::collections::BTreeMap;

use assay_core::observation::Observation;
use assay_stats::decide::{
    Acceptability, Combination, FIRST, InputRefusal, Posterior, Weights, acceptability, index, positive,
};
use serde::Serialize;

use super::collect::Catalogue;
use crate::load::Load;
use crate::quantity::{Quantity, displayed};
use crate::reading::reading;

/// Which composite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CompositeKind {
    /// The score of PiBenchmarks: a sum with weights of its own.
    Pibenchmarks,
    /// Geometric mean over loads, all of one weight.
    Index,
}

/// Models by a composite.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompositeRanking {
    /// Which one.
    pub kind: CompositeKind,
    /// Why there is no score; `None` where there is one.
    #[serde(serialize_with = "displayed")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub refusal: Option<CompositeRefusal>,
    /// Best first.
    pub models: Vec<CompositeRow>,
    /// The parts of the score.
    pub parts: Vec<String>,
    /// The model that is first with at least 90 % of the weights; `None`: weight-dependent.
    pub winner: Option<String>,
    /// Models that lack a part, and were left out.
    pub incomplete: Vec<String>,
}

/// Why there is no composite.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CompositeRefusal {
    /// Models lack parts of it.
    #[error("fewer than two models have all parts of it")]
    TooFewModels,
    /// Its parts allow no decision.
    #[error("{0}")]
    Parts(assay_stats::decide::InputRefusal),
}

/// A model in a composite.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompositeRow {
    /// Its name.
    pub model: String,
    /// The composite: a score, or the ratio to the first model.
    pub value: f64,
    /// Share of random weights under which it has each rank, first to last.
    pub acceptability: Vec<f64>,
    /// Ranks between which 90 % of the weights put it.
    pub ranks: (usize, usize),
    /// Neither it nor the next one is ahead with at least 90 % of the weights.
    pub tied_with_next: bool,
    /// Share of weights within twice the published ones under which it is first.
    pub first_near_published: Option<f64>,
}

/// One composite over all models that have all of its parts.
pub(super) fn composite(kind: CompositeKind, catalogue: &Catalogue<'_>, seed: u64) -> CompositeRanking {
    let (rows, parts) = match kind {
        CompositeKind::Pibenchmarks => pibenchmarks(catalogue),
        CompositeKind::Index => indexed(catalogue),
    };
    let all: std::collections::BTreeSet<&str> = catalogue.entries.iter().map(|e| e.identity.model.as_str()).collect();
    let incomplete = all.iter().filter(|m| !rows.contains_key(**m)).map(|m| (*m).to_owned()).collect();
    let mut found = CompositeRanking { kind, refusal: None, models: Vec::new(), parts, winner: None, incomplete };
    if rows.len() < 2 {
        found.refusal = Some(CompositeRefusal::TooFewModels);
        return found;
    }
    match stand(kind, rows, seed) {
        Ok((models, winner)) => (found.models, found.winner) = (models, winner),
        Err(refusal) => found.refusal = Some(CompositeRefusal::Parts(refusal)),
    }
    found
}

/// A model's value and its parts.
struct Figures {
    value: f64,
    parts: Vec<f64>,
}

fn pibenchmarks(catalogue: &Catalogue<'_>) -> (BTreeMap<String, Figures>, Vec<String>) {
    let mut runs: BTreeMap<String, Vec<(f64, [f64; 7])>> = BTreeMap::new();
    for entry in &catalogue.entries {
        let Some(run) = pi_run(entry.record) else { continue };
        let Ok(value) = pi_value(&run) else { continue };
        runs.entry(entry.identity.model.clone()).or_default().push((value, run.kibibytes()));
    }
    let figures = |runs: Vec<(f64, [f64; 7])>| {
        let n = runs.len() as f64;
        let value = (runs.iter().map(|(value, _)| value.ln()).sum::<f64>() / n).exp();
        let part = |at: usize| (runs.iter().map(|(_, parts)| parts[at].ln()).sum::<f64>() / n).exp();
        Figures { value, parts: (0..7).map(part).collect() }
    };
    let parts =
        ["dd write", "fio random read", "fio random write", "iozone read", "iozone write", "iozone random read"];
    let mut parts: Vec<String> = parts.map(str::to_owned).to_vec();
    parts.push("iozone random write".to_owned());
    (runs.into_iter().map(|(model, runs)| (model, figures(runs))).collect(), parts)
}

/// Over the loads that at least half of the models have.
fn indexed(catalogue: &Catalogue<'_>) -> (BTreeMap<String, Figures>, Vec<String>) {
    let models = |places: &[usize]| {
        let names: std::collections::BTreeSet<&str> =
            places.iter().map(|&at| catalogue.entries[at].identity.model.as_str()).collect();
        names.len()
    };
    let all: Vec<usize> = (0..catalogue.entries.len()).collect();
    let enough = models(&all).div_ceil(2);
    let loads: Vec<_> =
        catalogue.loads.iter().filter(|(_, at)| models(at) >= enough).map(|(load, _)| load.clone()).collect();
    let rows = index_figures(catalogue, &loads);
    let reference: Option<Vec<f64>> = rows.values().next().cloned();
    let weights = vec![1.0; loads.len()];
    let value = |row: &[f64]| reference.as_ref().and_then(|reference| index(row, reference, &weights).ok());
    let figures = rows
        .iter()
        .filter_map(|(model, row)| Some((model.clone(), Figures { value: value(row)?, parts: row.clone() })))
        .collect();
    (figures, loads.iter().map(crate::Load::title).collect())
}

type Stood = (Vec<CompositeRow>, Option<String>);

fn stand(
    kind: CompositeKind,
    rows: BTreeMap<String, Figures>,
    seed: u64,
) -> Result<Stood, assay_stats::decide::InputRefusal> {
    let mut rows: Vec<(String, Figures)> = rows.into_iter().collect();
    rows.sort_by(|a, b| b.1.value.total_cmp(&a.1.value).then_with(|| a.0.cmp(&b.0)));
    let mut media = Vec::with_capacity(rows.len());
    for (_, figures) in &rows {
        media.push(figures.parts.iter().map(|v| Posterior::point(*v)).collect::<Result<Vec<_>, _>>()?);
    }
    // Parts of different kinds have no common unit: their order under any weights is that of the
    // geometric mean.
    let any = acceptability(&media, Combination::Geometric, Weights::Any, seed)?;
    let near = match kind {
        CompositeKind::Index => None,
        CompositeKind::Pibenchmarks => Some(acceptability(&media, Combination::Sum, Weights::Around(&WEIGHTS), seed)?),
    };
    let best = rows.first().map_or(1.0, |(_, figures)| figures.value);
    let winner = winner(&any, near.as_ref()).map(|at| rows[at].0.clone());
    let models = rows
        .iter()
        .enumerate()
        .map(|(at, (model, figures))| CompositeRow {
            model: model.clone(),
            value: if kind == CompositeKind::Index { figures.value / best } else { figures.value },
            acceptability: any.shares[at].clone(),
            ranks: any.ranks[at],
            tied_with_next: at + 1 < rows.len() && any.before[at][at + 1].max(any.before[at + 1][at]) < FIRST,
            first_near_published: near.as_ref().map(|near| near.shares[at][0]),
        })
        .collect();
    Ok((models, winner))
}

/// First under any weights, and near the published ones.
fn winner(any: &Acceptability, near: Option<&Acceptability>) -> Option<usize> {
    any.winner.filter(|at| near.is_none_or(|near| near.winner == Some(*at)))
}

// The figures that composites are made of.

/// Geometric mean of a unit's figures under a load, over its records.
fn log_mean<'a>(records: impl Iterator<Item = &'a Observation>, load: &Load) -> Option<f64> {
    let values: Vec<f64> = records
        .filter_map(|r| reading(r, load, Quantity::BytesPerSecond).filter(|reading| reading.counts()))
        .flat_map(|reading| reading.values)
        .filter(|v| *v > 0.0 && v.is_finite())
        .collect();
    let logs: f64 = values.iter().map(|v| v.ln()).sum();
    (!values.is_empty()).then(|| logs / values.len() as f64)
}

/// Rates in bytes per second of each model that has all of these loads.
pub(super) fn index_figures(catalogue: &Catalogue<'_>, loads: &[Load]) -> BTreeMap<String, Vec<f64>> {
    let mut units: BTreeMap<&str, BTreeMap<&str, Vec<&Observation>>> = BTreeMap::new();
    for entry in &catalogue.entries {
        let model = units.entry(&entry.identity.model).or_default();
        model.entry(&entry.identity.unit).or_default().push(entry.record);
    }
    let mut figures = BTreeMap::new();
    for (model, units) in units {
        let of = |load: &Load| {
            let means: Vec<f64> =
                units.values().filter_map(|records| log_mean(records.iter().copied(), load)).collect();
            (!means.is_empty()).then(|| (means.iter().sum::<f64>() / means.len() as f64).exp())
        };
        if let Some(row) = loads.iter().map(of).collect::<Option<Vec<f64>>>() {
            figures.insert(model.to_owned(), row);
        }
    }
    figures
}

/// What that script measures, from a record of its tools.
pub(super) fn pi_run(record: &Observation) -> Option<PiRun> {
    let find = |tool: &str, op: &str, pattern: &str| {
        record.measurements.iter().find(|m| {
            let load = Load::from_workload(&m.workload);
            let title = load.title();
            m.workload.name == tool && title.starts_with(&format!("{pattern} {op}"))
        })
    };
    let rate =
        |tool: &str, op: &str, pattern: &str| find(tool, op, pattern)?.bytes_per_second.as_ref().map(|e| e.point);
    let iops = |op: &str| find("fio", op, "random")?.iops.as_ref().map(|e| e.point);
    // Powers of two for iozone, of ten for dd: data/README.md.
    let iozone = |op: &str, pattern: &str| rate("iozone", op, pattern).map(|rate| rate / 1024.0);
    Some(PiRun {
        dd_write_megabytes: rate("dd fsync", "write", "sequential")? / 1e6,
        fio_read_iops: iops("read")?,
        fio_write_iops: iops("write")?,
        iozone_read: iozone("read", "sequential")?,
        iozone_write: iozone("write", "sequential")?,
        iozone_random_read: iozone("read", "random")?,
        iozone_random_write: iozone("write", "random")?,
    })
}

// The score of PiBenchmarks, for comparison with published ones.
//
// `Storage.sh` of TheRemote/PiBenchmarks computes it with `bc` at scale 0, which cuts off the
// fraction. Its weights are arbitrary and scores of different hosts do not compare.

/// What one run of that script measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PiRun {
    /// `dd` write in MB/s as it prints them. The script also takes "1.1 GB/s" for 1.1.
    pub dd_write_megabytes: f64,
    /// `fio` random read of 4 KiB in IOPS.
    pub fio_read_iops: f64,
    /// `fio` random write of 4 KiB in IOPS.
    pub fio_write_iops: f64,
    /// `iozone` read of 4 KiB records in KiB/s.
    pub iozone_read: f64,
    /// `iozone` write in KiB/s.
    pub iozone_write: f64,
    /// `iozone` random read in KiB/s.
    pub iozone_random_read: f64,
    /// `iozone` random write in KiB/s.
    pub iozone_random_write: f64,
}

/// Weights of the terms of a score, all in KiB/s and in the order of [`PiRun::kibibytes`].
pub(super) const WEIGHTS: [f64; 7] = [1.0, 1.0, 2.5, 1.0, 1.0, 4.0, 10.0];

impl PiRun {
    /// The seven figures in KiB/s, as the score takes them.
    #[must_use]
    pub(super) fn kibibytes(&self) -> [f64; 7] {
        [
            1024.0 * self.dd_write_megabytes,
            4.0 * self.fio_read_iops,
            4.0 * self.fio_write_iops,
            self.iozone_read,
            self.iozone_write,
            self.iozone_random_read,
            self.iozone_random_write,
        ]
    }
}

/// The formula without cutting off the fraction: for means over runs, which are not what the
/// script prints.
///
/// # Errors
/// A figure that is not positive and finite.
pub(super) fn pi_value(run: &PiRun) -> Result<f64, InputRefusal> {
    let mut sum = 0.0;
    for (value, weight) in run.kibibytes().into_iter().zip(WEIGHTS) {
        sum += weight * positive("a figure of the score", value)?;
    }
    Ok(sum / 100.0)
}
