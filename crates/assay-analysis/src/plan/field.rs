//! Who takes part in a race, from records.

use assay_core::record::Record;
use assay_core::verification::Verdict;
use assay_stats::days::{Run, log_mean_over_days};
use assay_stats::log_mean;
use assay_stats::plan::{Contender, Outcome};

use super::race_types::Chance;
use crate::admission::{admit, named};
use crate::exclusion::Excluded;
use crate::host_days::HostDays;
use crate::identity::{Identity, identity};
use crate::load::Load;
use crate::quantity::Quantity;
use crate::rank::Levels;
use crate::reading::{Mark, Reading};

/// Records of a model, by unit.
pub(super) struct Model {
    pub(super) name: String,
    pub(super) units: Vec<Unit>,
    /// Whether it was measured, or was to be: one that was only checked takes no part.
    measured: bool,
    failed: bool,
    wrong_data: bool,
    pub(super) dropped: bool,
    /// Whether figures of it are the best of several runs.
    pub(super) flattered: bool,
    /// Whether it has published records only, so that the user has no unit of it to measure.
    pub(super) published: bool,
    at_ceiling: bool,
}

pub(super) struct Unit {
    pub(super) name: String,
    /// The values of its records, each with its day and host.
    runs: Vec<(Vec<f64>, Option<String>)>,
}

impl Model {
    fn means<'a>(&'a self) -> Vec<f64> {
        let dated = |(values, day): &'a (Vec<f64>, Option<String>)| Run { values, day: day.as_deref() };
        let mean = |unit: &'a Unit| log_mean_over_days(unit.runs.iter().map(dated)).map(f64::exp);
        self.units.iter().filter_map(mean).collect()
    }

    pub(super) fn contender(&self, better: &dyn Fn(f64) -> f64) -> Contender {
        Contender {
            name: self.name.clone(),
            unit_means: self.means().into_iter().map(better).collect(),
            outcome: match (self.wrong_data, self.failed) {
                (true, _) => Outcome::Corrupt,
                (false, true) => Outcome::Failed,
                (false, false) => Outcome::Finished,
            },
            censored: self.at_ceiling,
            dropped: self.dropped,
        }
    }

    pub(super) fn chance(&self, contender: &Contender) -> Chance {
        let means = self.means();
        let mean = log_mean(&means);
        Chance {
            model: self.name.clone(),
            units: u32::try_from(means.len()).unwrap_or(u32::MAX),
            mean: (!means.is_empty()).then(|| mean.exp()),
            interval: None,
            best: None,
            at_ceiling: contender.censored,
            failed: self.failed,
            wrong_data: self.wrong_data,
            out: false,
            dropped: self.dropped,
        }
    }
}

/// The models of these records with what can be used of them, and what cannot.
pub(super) fn gather(records: &[Record], load: &Load, quantity: Quantity) -> (Vec<Model>, Vec<Excluded>) {
    let mut field: Vec<Model> = Vec::new();
    // A plan cannot ask for a further unit of an unnamed model.
    let (named, mut excluded) = named(records);
    let (levels, days) = (Levels::of(records, load, quantity), HostDays::of(records));
    for record in named {
        let Identity { model, unit, .. } = identity(record);
        let index = field.iter().position(|known| known.name == model).unwrap_or_else(|| {
            let (units, name) = (Vec::new(), model);
            let (measured, failed, wrong_data, dropped) = (false, false, false, false);
            let at_ceiling = levels.at_ceiling(&name);
            let (flattered, published) = (false, true);
            field.push(Model { name, units, measured, failed, wrong_data, dropped, flattered, published, at_ceiling });
            field.len() - 1
        });
        let model = &mut field[index];
        model.published &= record.is_published();
        let verdict = record.verification.as_ref().map(|verification| verification.verdict);
        model.wrong_data |= verdict.is_some_and(Verdict::is_bad);
        model.failed |= record.outcome.medium_failed();
        model.measured |= verdict.is_none() || !record.measurements.is_empty();
        let (reading, reasons) = admit(record, load, quantity);
        excluded.extend(reasons.into_iter().map(|reason| Excluded::new(record, Some(load), reason)));
        let factor = levels.factor(&model.name, &unit);
        model.flattered |= reading.iter().any(|reading| reading.marks.contains(&Mark::BestOf));
        reading.iter().for_each(|reading| model.add(&unit, reading, factor, days.name(record)));
    }
    // A check without findings says nothing about speed. A check that found a fake or a failure says something about
    // the model. A published model without a figure of this load is not asked about.
    let asked = |model: &Model| !(model.published && model.units.is_empty());
    field.retain(|model| (model.measured && asked(model)) || model.failed || model.wrong_data);
    (field, excluded)
}

impl Model {
    fn add(&mut self, unit: &str, reading: &Reading<'_>, factor: f64, day: Option<String>) {
        let run = (reading.values.iter().map(|value| value * factor).collect(), day);
        match self.units.iter_mut().find(|known| known.name == unit) {
            Some(known) => known.runs.push(run),
            None => self.units.push(Unit { name: unit.to_owned(), runs: vec![run] }),
        }
    }
}
