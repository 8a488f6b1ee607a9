//! The data that all loads of a ranking share: the options, and how the records of each unit ended.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_core::verification::Verdict;
use assay_stats::rank::{
    Ending, Entrant, Fit, Precision, jeffreys, {self as stats},
};
use serde::Serialize;

use super::collect::{Catalogue, Ceilings};
use super::composite::CompositeKind;
use crate::quantity::Quantity;

/// The data that all loads of a ranking share. What is made of them for one load is in `level.rs` and `ranking.rs`.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    pub(super) catalogue: Catalogue<'a>,
    pub(super) ceilings: Ceilings,
    pub(super) records: Records,
    pub(super) ask: RankOptions,
}

impl<'a> Setting<'a> {
    /// From records that name their models.
    pub(crate) fn new(named: &[&'a Record], ask: &RankOptions) -> Self {
        let catalogue = Catalogue::new(named);
        let ceilings = Ceilings::new(ask.ceiling, &catalogue);
        let records = Records::new(&catalogue);
        Self { catalogue, ceilings, records, ask: ask.clone() }
    }
}

/// Units and models whose figures are bounds.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    /// By model and unit, whether the unit is at the ceiling, so that it may be faster.
    pub(super) units: BTreeMap<(String, String), bool>,
    /// Models with figures that are the best of several runs: on average they are slower.
    pub(super) flattered: BTreeSet<String>,
}

impl Held {
    pub(super) fn unit(&self, model: &str, unit: &str) -> bool {
        self.units.get(&(model.to_owned(), unit.to_owned())).copied().unwrap_or(false)
    }

    /// Whether at least half of the units are at the ceiling.
    pub(super) fn model(&self, model: &str) -> bool {
        let units = self.units.iter().filter(|((of, _), _)| of == model);
        let (held, of) = units.fold((0, 0), |(held, of), (_, is)| (held + usize::from(*is), of + 1));
        of > 0 && 2 * held >= of
    }

    /// Marks a model whose figures are bounds, for a ranking.
    pub(super) fn bounded(&self, entrant: Entrant) -> Entrant {
        Entrant { censored: self.model(&entrant.name), flattered: self.flattered.contains(&entrant.name), ..entrant }
    }

    /// How precisely the units of each model determine its mean. Models without such information are absent.
    pub(super) fn precisions(&self, fit: &Fit) -> BTreeMap<String, Precision> {
        let entrants: Vec<Entrant> = fit.entrants().into_iter().map(|entrant| self.bounded(entrant)).collect();
        let all = stats::precisions(&entrants, (stats::PRIOR_DEGREES, false), &fit.shared);
        entrants.into_iter().zip(all).filter_map(|(entrant, known)| Some((entrant.name, known?))).collect()
    }
}

/// The facts about a model in its records other than figures.
#[derive(Debug, Default)]
pub(super) struct ModelRecords {
    endings: Vec<Ending>,
    failed: Vec<FailedRecord>,
    units: BTreeSet<String>,
}

/// These facts for all models.
#[derive(Debug)]
pub(super) struct Records(pub(super) BTreeMap<String, ModelRecords>);

impl Records {
    pub(super) fn new(catalogue: &Catalogue<'_>) -> Self {
        let mut models: BTreeMap<String, ModelRecords> = BTreeMap::new();
        for entry in &catalogue.entries {
            let model = models.entry(entry.identity.model.clone()).or_default();
            model.endings.extend(ending(entry.record));
            model.failed.extend(failure(entry.record, &entry.identity.unit));
            model.units.insert(entry.identity.unit.clone());
        }
        Self(models)
    }

    pub(super) fn class(&self, model: &str) -> stats::Class {
        self.0.get(model).and_then(|of| stats::Class::from_endings(&of.endings)).unwrap_or_default()
    }

    pub(super) fn failures(&self, model: &str, level: f64) -> (Option<FailureShare>, Vec<FailedRecord>) {
        let Some(of) = self.0.get(model).filter(|of| !of.failed.is_empty()) else { return (None, Vec::new()) };
        let failed: BTreeSet<&str> = of.failed.iter().map(|f| f.unit.as_str()).collect();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        (FailureShare::new(count(failed.len()), count(of.units.len()), level), of.failed.clone())
    }
}

// How the records of a unit ended, as the ranking counts it.

/// A record whose medium failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedRecord {
    /// Its id.
    pub record: String,
    /// The unit.
    pub unit: String,
    /// What happened.
    pub failure: MediumFailure,
}

/// How a medium failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MediumFailure {
    /// A check found that it loses or invents data.
    Check {
        /// The verdict.
        verdict: Verdict,
    },
    /// It failed during a run.
    Run {
        /// How.
        failure: RunFailure,
        /// After this many nanoseconds of the run.
        elapsed_ns: u64,
    },
}

/// Units that failed, of all of a model, with Jeffreys's interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureShare {
    /// Units that failed.
    pub failed: u32,
    /// Units tried.
    pub of: u32,
    /// Lower end of the share of units that fail.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Level of the interval.
    pub level: f64,
}

impl FailureShare {
    pub(super) fn new(failed: u32, of: u32, level: f64) -> Option<Self> {
        let share = jeffreys(u64::from(failed), u64::from(of), level)?;
        Some(Self { failed, of, low: share.low, high: share.high, level })
    }
}

/// How a record ended: `None` while its run is under way.
pub(super) fn ending(record: &Record) -> Option<Ending> {
    if bad_verdict(record).is_some() {
        return Some(Ending::Corrupt);
    }
    match &record.outcome {
        Outcome::Completed => Some(Ending::Done),
        Outcome::Running => None,
        Outcome::Failed { failure, .. } => Some(match failure {
            RunFailure::Hung => Ending::Hung,
            RunFailure::ReadOnly => Ending::ReadOnly,
            RunFailure::IoError | RunFailure::Other => Ending::IoError,
            RunFailure::Disappeared => Ending::Gone,
            RunFailure::OutOfSpace
            | RunFailure::Interrupted
            | RunFailure::Suspended
            | RunFailure::Abandoned
            | RunFailure::Host => Ending::AbortedByHost,
        }),
    }
}

/// The verdict of a check that proved loss of data.
fn bad_verdict(record: &Record) -> Option<Verdict> {
    record.verification.as_ref().map(|verification| verification.verdict).filter(|verdict| verdict.is_bad())
}

/// The failure of a record, where the medium failed.
pub(super) fn failure(record: &Record, unit: &str) -> Option<FailedRecord> {
    let failure = match (bad_verdict(record), &record.outcome) {
        (Some(verdict), _) => MediumFailure::Check { verdict },
        (None, Outcome::Failed { failure, elapsed_ns, .. }) if record.outcome.medium_failed() => {
            MediumFailure::Run { failure: *failure, elapsed_ns: *elapsed_ns }
        }
        _ => return None,
    };
    Some(FailedRecord { record: record.id.clone(), unit: unit.to_owned(), failure })
}

// The options of a ranking.

/// How to rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankOptions {
    /// Words for the load that decides; `None`: the one of [`crate::deciding_load`].
    pub primary: Option<String>,
    /// The figure of it; `None`: what people read first of that load.
    pub quantity: Option<Quantity>,
    /// Rate in bytes per second that slots let through; `None`: as the records or the values say.
    pub ceiling: Option<f64>,
    /// Chance of any false order when all models are equal, between 0 and 1.
    pub alpha: f64,
    /// Differences up to this share do not matter: 0.03 is 3 %.
    pub delta: f64,
    /// Whether models of one unit take part, with the variance of the others.
    pub borrow: bool,
    /// Seed of everything drawn.
    pub seed: u64,
    /// A number made of several loads beside the ranking.
    pub composite: Option<CompositeKind>,
}

impl Default for RankOptions {
    fn default() -> Self {
        Self {
            primary: None,
            quantity: None,
            ceiling: None,
            alpha: 0.05,
            delta: 0.03,
            borrow: false,
            seed: 0,
            composite: None,
        }
    }
}
