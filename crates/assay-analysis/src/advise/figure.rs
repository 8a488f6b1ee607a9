//! A figure of a model under a load: over its units, or over the repeats of its only unit.

use assay_core::record::Record;
use assay_core::workload::Op;
use assay_stats::days::{RunOfDay, days, log_mean_over_days};
use assay_stats::decide::{About, Posterior};
use assay_stats::rank::Precision;
use assay_stats::variation::{PRIOR_DEGREES, PRIOR_DEVIATION, between_units};
use assay_stats::{LEVEL, OverDays};
use serde::Serialize;

use super::evidence::{AdviseError, Subject};
use crate::admission::admit;
use crate::exclusion::Excluded;
use crate::identity::{HostDays, identity};
use crate::{Load, Mark, Quantity, reading};

/// The values that the interval of a figure is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The means of several units: it speaks for the model.
    Units,
    /// The means of several days of one unit: it speaks for that unit.
    Days,
    /// The means of several runs of one unit on one day: it speaks for that unit.
    Runs,
    /// The repeats of one run: it speaks for that unit in that run.
    Repeats,
}

/// A figure and its uncertainty.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// The load it was measured with.
    pub load: Load,
    /// The load as text.
    pub title: String,
    /// The quantity: operations or bytes per second.
    pub quantity: Quantity,
    /// Geometric mean, in operations or bytes per second.
    pub value: f64,
    /// Interval of the mean; `None` for one value.
    pub interval: Option<(f64, f64)>,
    /// Confidence of the interval.
    pub level: Option<f64>,
    /// Number of values it is computed from: units or repeats.
    pub n: usize,
    /// The kind of these values.
    pub basis: Basis,
    /// How it was computed.
    pub method: &'static str,
    /// Caveats.
    pub marks: Vec<Mark>,
    #[serde(skip)]
    pub(super) posterior: Posterior,
    /// Variance of the logarithm between its units, from its own units alone.
    #[serde(skip)]
    own: Option<f64>,
}

impl Figure {
    /// A figure of several units. The caller sets the number and the method.
    fn new(
        load: &Load,
        quantity: Quantity,
        posterior: Posterior,
        interval: Option<(f64, f64)>,
        mut marks: Vec<Mark>,
    ) -> Self {
        marks.sort();
        marks.dedup();
        Self {
            load: load.clone(),
            title: load.title(),
            quantity,
            value: posterior.value(),
            interval,
            level: interval.map(|_| LEVEL),
            n: 0,
            basis: Basis::Units,
            method: "",
            marks,
            own: None,
            posterior,
        }
    }

    /// The subject of a decision: the next unit where several units were measured, else what was measured.
    pub(super) fn about(&self) -> About {
        if self.posterior.knows(About::NextUnit) { About::NextUnit } else { About::Mean }
    }

    /// The knowledge about the model. With fewer than three units, the variance between units is assumed. One value is
    /// a point.
    pub(super) fn model(&self) -> Result<Posterior, AdviseError> {
        match self.basis {
            _ if self.n == 1 => Ok(self.posterior),
            Basis::Units if self.n > 2 => Ok(self.posterior),
            Basis::Units => self.by_own_units(self.n),
            Basis::Days | Basis::Runs | Basis::Repeats => self.by_own_units(1),
        }
    }

    /// The knowledge about the next unit, as in the ranking; for one unit, the knowledge about it on any day.
    pub(super) fn next_unit(&self) -> Result<Posterior, AdviseError> {
        match self.about() {
            About::NextUnit => self.by_own_units(self.n),
            About::Mean => Ok(self.posterior),
        }
    }

    /// The upper bound of a unit where there is only one value. The value may be off by as much as units of a model
    /// differ. The best of several runs is above the usual figure of the unit, by as much as days differ. `None` where
    /// there are more values.
    pub(super) fn single(&self) -> Result<Option<Posterior>, AdviseError> {
        if self.posterior.error().is_some() {
            return Ok(None);
        }
        let (variance, degrees) = match self.marks.contains(&Mark::BestOf) {
            true => (PRIOR_DEVIATION.powi(2), PRIOR_DEGREES),
            false => between_units(1, None),
        };
        Ok(Some(Posterior::moderated(self.value.ln(), variance, None, degrees)?))
    }

    fn by_own_units(&self, units: usize) -> Result<Posterior, AdviseError> {
        let (variance, degrees) = between_units(units, self.own);
        Ok(Posterior::moderated(self.value.ln(), variance / units as f64, Some(variance), degrees)?)
    }
}

/// What one unit did under a load.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnitValues {
    pub(super) unit: String,
    /// The repeats of each run.
    pub(super) runs: Vec<Vec<f64>>,
    /// The day and the host of each run.
    pub(super) days: Vec<Option<String>>,
    pub(super) marks: Vec<Mark>,
}

impl UnitValues {
    /// The repeats of all runs.
    pub(super) fn repeats(&self) -> Vec<f64> {
        self.runs.concat()
    }

    /// What its runs say of it over many days.
    pub(super) fn over_days(&self) -> Option<OverDays> {
        OverDays::from_runs(&self.dated())
    }

    /// The geometric mean of its runs on any day; a point where there is one value.
    fn on_any_day(&self) -> Result<Posterior, AdviseError> {
        let over = self.over_days();
        Ok(match over.and_then(|over| Some((over.value().ln(), over.error()?))) {
            None => Posterior::point(over.map_or(f64::NAN, |over| over.value()))?,
            Some((mean, (error, degrees))) => Posterior::moderated(mean, error, None, degrees)?,
        })
    }

    fn dated(&self) -> Vec<RunOfDay<'_>> {
        self.runs.iter().zip(&self.days).map(|(values, day)| RunOfDay { values, day: day.as_deref() }).collect()
    }

    /// The geometric mean over its days, as the ranking and the comparison have it.
    pub(super) fn mean(&self) -> Option<f64> {
        log_mean_over_days(self.dated()).map(f64::exp)
    }
}

/// The values of each unit; figures that cannot count are named.
pub(super) fn units(
    records: &[&Record],
    load: &Load,
    quantity: Quantity,
    excluded: &mut Vec<Excluded>,
) -> Vec<UnitValues> {
    let mut found: Vec<UnitValues> = Vec::new();
    let days = HostDays::of(records.iter().copied());
    for record in records {
        let (reading, reasons) = admit(record, load, quantity);
        for reason in reasons.into_iter().filter(|reason| reason.absence().is_none()) {
            let entry = Excluded::new(record, Some(load), reason);
            if !excluded.contains(&entry) {
                excluded.push(entry);
            }
        }
        let Some(reading) = reading else { continue };
        let unit = identity(record).unit;
        match found.iter_mut().find(|u| u.unit == unit) {
            Some(known) => {
                known.runs.push(reading.values);
                known.days.push(days.name(record));
                known.marks.extend(reading.marks);
            }
            None => {
                let (runs, days) = (vec![reading.values], vec![days.name(record)]);
                found.push(UnitValues { unit, runs, days, marks: reading.marks });
            }
        }
    }
    found
}

/// The figure of a model; `None` where nothing that counts was measured.
pub(super) fn figure(
    subject: &Subject<'_>,
    load: &Load,
    quantity: Quantity,
    excluded: &mut Vec<Excluded>,
) -> Result<Option<Figure>, AdviseError> {
    let mut units = units(&subject.records, load, quantity, excluded);
    let factor = subject.factors(load, quantity);
    for unit in &mut units {
        let factor = factor(&unit.unit);
        unit.runs.iter_mut().flatten().for_each(|value| *value *= factor);
    }
    match &units[..] {
        [] => Ok(None),
        [one] => of_one(one, load, quantity).map(Some),
        several => of_several(several, subject, load, quantity).map(Some),
    }
}

/// The figure of one unit, over its runs or over the repeats of the one there is.
pub(super) fn of_one(unit: &UnitValues, load: &Load, quantity: Quantity) -> Result<Figure, AdviseError> {
    let days = days(unit.dated()).len();
    let (n, basis) = match &unit.runs[..] {
        [run] => (run.len(), Basis::Repeats),
        runs if days == 1 => (runs.len(), Basis::Runs),
        _ => (days, Basis::Days),
    };
    let posterior = unit.on_any_day()?;
    let interval = unit.over_days().and_then(|over| over.interval(LEVEL));
    let method = match (n, basis) {
        (1, _) => "one value, no interval",
        (_, Basis::Days) => {
            "geometric mean of days of one unit, t interval on logarithms with an assumed spread of days"
        }
        (_, Basis::Runs) => {
            "geometric mean of runs of one unit on one day, t interval on logarithms with an assumed spread of days"
        }
        _ => {
            "geometric mean of repeats of one run of one unit, t interval on logarithms with an assumed spread of days"
        }
    };
    let marks = unit.marks.clone();
    Ok(Figure { n, basis, method, ..Figure::new(load, quantity, posterior, interval, marks) })
}

fn of_several(
    units: &[UnitValues],
    subject: &Subject<'_>,
    load: &Load,
    quantity: Quantity,
) -> Result<Figure, AdviseError> {
    let values: Vec<f64> = units.iter().filter_map(UnitValues::mean).collect();
    let known = subject.precision(load, quantity);
    let posterior = of_units(&values, known)?;
    let interval = known.and_then(|known| known.half(LEVEL)).map(|half| {
        let mean = posterior.log_mean();
        ((mean - half).exp(), (mean + half).exp())
    });
    let method = if values.len() == 1 {
        "one value, no interval"
    } else {
        "geometric mean of units, t interval on logarithms, moderated variance"
    };
    let marks = units.iter().flat_map(|u| u.marks.clone()).collect();
    let own = Posterior::of_units(&values)?.unit_variance();
    let figure = Figure::new(load, quantity, posterior, interval, marks);
    Ok(Figure { n: values.len(), method, own, ..figure })
}

/// The mean of units, as well as the ranking knows it; a point where it does not, as of copies of one value.
fn of_units(values: &[f64], known: Option<Precision>) -> Result<Posterior, AdviseError> {
    let own = Posterior::of_units(values)?;
    Ok(match known {
        Some(known) => Posterior::moderated(own.log_mean(), known.error(), Some(known.variance), known.degrees)?,
        None => Posterior::point(own.value())?,
    })
}

/// Whether all records with a figure under this load know the rate with the final sync in the clock.
pub(super) fn durable(records: &[&Record], load: &Load) -> bool {
    let has = |quantity| records.iter().filter(|r| reading(r, load, quantity).is_some()).count();
    load.op() != Op::Read && has(Quantity::DurableBytesPerSecond) > 0 && {
        has(Quantity::DurableBytesPerSecond) == has(Quantity::BytesPerSecond)
    }
}

/// The rate that counts: durable where all figures of a write have it.
pub(super) fn rate(
    subject: &Subject<'_>,
    load: &Load,
    excluded: &mut Vec<Excluded>,
) -> Result<Option<Figure>, AdviseError> {
    let quantity =
        if durable(&subject.records, load) { Quantity::DurableBytesPerSecond } else { Quantity::BytesPerSecond };
    figure(subject, load, quantity, excluded)
}
