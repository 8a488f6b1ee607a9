//! The data that all loads of a ranking share.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::record::Record;
use assay_stats::rank::{self as stats, Ending, Entrant, Fit, Precision};

use super::ceiling::Ceilings;
use super::collect::Catalogue;
use super::endings::{FailedRecord, FailureShare, ending, failure};
use super::options::RankOptions;

/// The data that all loads of a ranking share.
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
        self.0.get(model).and_then(|of| stats::Class::of(&of.endings)).unwrap_or_default()
    }

    pub(super) fn failures(&self, model: &str, level: f64) -> (Option<FailureShare>, Vec<FailedRecord>) {
        let Some(of) = self.0.get(model).filter(|of| !of.failed.is_empty()) else { return (None, Vec::new()) };
        let failed: BTreeSet<&str> = of.failed.iter().map(|f| f.unit.as_str()).collect();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        (FailureShare::new(count(failed.len()), count(of.units.len()), level), of.failed.clone())
    }
}
