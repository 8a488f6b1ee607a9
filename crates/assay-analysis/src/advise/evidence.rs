//! Which records may speak, and for which model; the errors where they cannot.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;

use assay_core::observation::Observation;
use assay_core::workload::Op;
use assay_stats::days::{RunOfDay, days, log_mean_over_days};
use assay_stats::decide::{About, InputRefusal, Posterior};
use assay_stats::rank::Precision;
use assay_stats::variation::{PRIOR_DEGREES, PRIOR_DEVIATION, between_units};
use assay_stats::{LEVEL, OverDays, log_mean};
use serde::Serialize;

use crate::admission::{admit, named};
use crate::exclusion::{Excluded, Reason, excluded_whole};
use crate::identity::{HostDays, identity};
use crate::rank::{Levels, RankOptions, Setting, is_adjusted};
use crate::{Load, Mark, Quantity, reading};

/// Number of names listed with a reason why nothing is left.
const NAMED: usize = 3;

/// The records of one model that may speak.
#[derive(Debug, Clone)]
pub(super) struct Subject<'a> {
    pub(super) model: String,
    pub(super) records: Vec<&'a Observation>,
    /// Units seen, with those that failed.
    pub(super) units: usize,
    /// Units that failed while they were measured.
    pub(super) failed: usize,
    among: Rc<Among<'a>>,
}

impl Subject<'_> {
    /// What a figure of a unit is multiplied by to be free of its slots and rounds, as the ranking takes them out.
    pub(super) fn factors(&self, load: &Load, quantity: Quantity) -> impl Fn(&str) -> f64 {
        let levels = self.among.levels(load, quantity);
        move |unit| levels.factor(&self.model, unit)
    }

    /// Whether it runs at the ceiling of the bus, as the ranking has it.
    pub(super) fn at_ceiling(&self, load: &Load, quantity: Quantity) -> bool {
        self.among.levels(load, quantity).at_ceiling(&self.model)
    }

    /// How well its units tell its mean, as the ranking has it; `None` where nothing tells that.
    pub(super) fn precision(&self, load: &Load, quantity: Quantity) -> Option<Precision> {
        self.among.levels(load, quantity).precision(&self.model)
    }
}

/// All records that a subject was measured with.
struct Among<'a> {
    records: Vec<&'a Observation>,
    setting: OnceCell<Setting<'a>>,
    /// The levels that were computed before.
    known: RefCell<Vec<(Load, Quantity, Rc<Levels>)>>,
}

impl<'a> Among<'a> {
    fn new(records: &[&'a Observation]) -> Self {
        Self { records: records.to_vec(), setting: OnceCell::new(), known: RefCell::default() }
    }

    fn levels(&self, load: &Load, quantity: Quantity) -> Rc<Levels> {
        let mut known = self.known.borrow_mut();
        if let Some((_, _, levels)) = known.iter().find(|(l, q, _)| l == load && *q == quantity) {
            return Rc::clone(levels);
        }
        let setting = self.setting.get_or_init(|| Setting::new(&self.records, &RankOptions::default()));
        let levels = Rc::new(setting.levels(load, quantity));
        known.push((load.clone(), quantity, Rc::clone(&levels)));
        levels
    }
}

impl fmt::Debug for Among<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Among").finish_non_exhaustive()
    }
}

/// Records by model, in their order. Records that decide nothing are left out.
fn subjects<'a>(records: Vec<&'a Observation>, excluded: &mut Vec<Excluded>) -> Vec<Subject<'a>> {
    let mut found: Vec<(Subject<'a>, BTreeSet<String>, BTreeSet<String>)> = Vec::new();
    let among = Rc::new(Among::new(&records));
    for record in records {
        let whose = identity(record);
        let at = found.iter().position(|(s, _, _)| s.model == whose.model).unwrap_or_else(|| {
            let (model, among) = (whose.model.clone(), Rc::clone(&among));
            let subject = Subject { model, records: Vec::new(), units: 0, failed: 0, among };
            found.push((subject, BTreeSet::new(), BTreeSet::new()));
            found.len() - 1
        });
        let (subject, units, failed) = &mut found[at];
        units.insert(whose.unit.clone());
        if let Some(reason) = excluded_whole(record) {
            if matches!(reason, Reason::MediumFailed { .. } | Reason::NotGenuine { .. }) {
                failed.insert(whose.unit);
            }
            excluded.push(Excluded::new(record, None, reason));
            continue;
        }
        subject.records.push(record);
    }
    let counted = found.into_iter().map(|(s, units, failed)| Subject { units: units.len(), failed: failed.len(), ..s });
    counted.filter(|s| !s.records.is_empty()).collect()
}

/// The one model that all records are of.
pub(super) fn one_subject<'a>(
    records: &'a [Observation],
    what: &'static str,
    excluded: &mut Vec<Excluded>,
) -> Result<Subject<'a>, AdviseError> {
    let mut found = some_subjects(records, what, excluded)?;
    if found.len() > 1 {
        let models: Vec<String> = found.into_iter().map(|s| s.model).collect();
        return Err(AdviseError::ManyModels { what, models: models.join(", ") });
    }
    Ok(found.remove(0))
}

/// At least one model.
pub(super) fn some_subjects<'a>(
    records: &'a [Observation],
    what: &'static str,
    excluded: &mut Vec<Excluded>,
) -> Result<Vec<Subject<'a>>, AdviseError> {
    let (named, nameless) = named(records);
    excluded.extend(nameless);
    let found = subjects(named, excluded);
    if found.is_empty() { Err(nothing_left(what, excluded)) } else { Ok(found) }
}

pub(super) fn nothing_left(what: &'static str, excluded: &[Excluded]) -> AdviseError {
    AdviseError::NothingLeft { what, reasons: by_reason(excluded) }
}

/// Each reason once, with whom it is about.
fn by_reason(excluded: &[Excluded]) -> Vec<String> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for e in excluded {
        let load = e.load.as_ref().map(|load| format!(", {load}")).unwrap_or_default();
        let (reason, whose) = (e.reason.to_string(), format!("{}{load}", e.name()));
        match all.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) if names.contains(&whose) => {}
            Some((_, names)) => names.push(whose),
            None => all.push((reason, vec![whose])),
        }
    }
    let line = |(reason, names): (String, Vec<String>)| {
        let more = if names.len() > NAMED { format!(" and {} more", names.len() - NAMED) } else { String::new() };
        format!("{}{more}: {reason}", names[..names.len().min(NAMED)].join(", "))
    };
    all.into_iter().map(line).collect()
}

/// Adds records without these figures to `excluded`, unless they are there already.
pub(super) fn name_missing(
    subject: &Subject<'_>,
    has: impl Fn(&Observation) -> bool,
    load: Option<&Load>,
    excluded: &mut Vec<Excluded>,
) {
    for record in subject.records.iter().filter(|r| !has(r)) {
        if !excluded.iter().any(|e| e.record == record.id) {
            excluded.push(Excluded::new(record, load, Reason::NoLoadAsked));
        }
    }
}

// Why there is no advice. Each message is one line that names the problem, its place and the remedy.

/// Input that allows no advice.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AdviseError {
    /// No record is left.
    #[error("no record can be used as {what}{}; name others", because(.reasons))]
    NothingLeft {
        /// What the records are of.
        what: &'static str,
        /// Why each was left out.
        reasons: Vec<String>,
    },
    /// The records do not hold a load that the question needs.
    #[error("{whose} has no {load}; {mend}")]
    NoSuchLoad {
        /// Whose records.
        whose: String,
        /// The load that was looked for.
        load: String,
        /// The remedy.
        mend: String,
    },
    /// No load matches the requested one.
    #[error("{0}")]
    NotNamed(#[from] crate::LoadError),
    /// Several models where one is needed.
    #[error("{what} has to be one model, and the records are of {models}; name one")]
    ManyModels {
        /// The role of the model.
        what: &'static str,
        /// The models.
        models: String,
    },
    /// The best offer is the best of several runs, and another offer is not.
    #[error("{model} is the best of several runs and {other} is not; figures made in the same way would tell")]
    BestOf {
        /// The model that leads.
        model: String,
        /// One that may be better.
        other: String,
    },
    /// A model that is not the best offer was held by its bus, and the best one was not.
    #[error("{model} was held by its bus and may be faster than {other}; measure both where the bus is no limit")]
    AtCeiling {
        /// The model that was held.
        model: String,
        /// The one that leads.
        other: String,
    },
    /// Two models were measured with computers of different kinds, and no unit was on both.
    #[error("{model} was measured on another computer than {other}; measure one unit on both")]
    OtherComputer {
        /// One of them.
        model: String,
        /// The other.
        other: String,
    },
    /// A price or a power is missing, or two differ.
    #[error("{model}: {problem}")]
    Label {
        /// The model.
        model: String,
        /// The problem and its remedy.
        problem: String,
    },
    /// Prices in several currencies.
    #[error("prices are in {currencies}; give all in one currency, like --price 'MODEL=12.90USD'")]
    Currencies {
        /// Which ones.
        currencies: String,
    },
    /// An answer that needs something that was not given.
    #[error("{0}")]
    Missing(&'static str),
    /// The two sides were measured with different workloads.
    #[error("both sides need the same {what}: {local} is compared with {other}")]
    Unlike {
        /// What differs.
        what: &'static str,
        /// The value of the medium.
        local: u64,
        /// The value of the other side.
        other: u64,
    },
    /// The statistics cannot answer.
    #[error("{0}")]
    Refused(#[from] InputRefusal),
}

fn because(reasons: &[String]) -> String {
    let first: Vec<&str> = reasons.iter().take(3).map(String::as_str).collect();
    match reasons.len() {
        0 => String::new(),
        n if n > first.len() => format!(" ({}, and {} more)", first.join("; "), n - first.len()),
        _ => format!(" ({})", first.join("; ")),
    }
}

// A figure of a model under a load: over its units, or over the repeats of its only unit.

/// The values that the interval of a figure is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EvidenceBasis {
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
pub struct EvidenceFigure {
    /// The load it was measured with.
    pub load: Load,
    /// The load as text.
    pub title: String,
    /// The quantity: operations or bytes per second.
    pub quantity: Quantity,
    /// Geometric mean, in operations or bytes per second.
    pub value: f64,
    /// The same as measured, where the effects of slots and rounds, and so of computers, were taken out of the value.
    pub measured: Option<f64>,
    /// Interval of the mean; `None` for one value.
    pub interval: Option<(f64, f64)>,
    /// Confidence of the interval.
    pub level: Option<f64>,
    /// Number of values it is computed from: units or repeats.
    pub n: usize,
    /// The kind of these values.
    pub basis: EvidenceBasis,
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

impl EvidenceFigure {
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
            measured: None,
            interval,
            level: interval.map(|_| LEVEL),
            n: 0,
            basis: EvidenceBasis::Units,
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
            EvidenceBasis::Units if self.n > 2 => Ok(self.posterior),
            EvidenceBasis::Units => self.by_own_units(self.n),
            EvidenceBasis::Days | EvidenceBasis::Runs | EvidenceBasis::Repeats => self.by_own_units(1),
        }
    }

    /// The knowledge about the next unit, as in the ranking; for one unit, the knowledge about it on any day.
    pub(super) fn next_unit(&self) -> Result<Posterior, AdviseError> {
        match self.about() {
            About::NextUnit => self.by_own_units(self.n),
            About::Mean => Ok(self.posterior),
        }
    }

    /// The knowledge about a unit of which there is only one value. The value may be off by as much as units of a model
    /// differ, which is more than repeats and days do. The best of several runs is above the usual figure of the unit, by
    /// as much as days differ, and an upper bound. `None` where there are more values.
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
    records: &[&Observation],
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
) -> Result<Option<EvidenceFigure>, AdviseError> {
    let mut units = units(&subject.records, load, quantity, excluded);
    let before = log_mean_of_units(&units);
    let factor = subject.factors(load, quantity);
    for unit in &mut units {
        let factor = factor(&unit.unit);
        unit.runs.iter_mut().flatten().for_each(|value| *value *= factor);
    }
    let effect = before - log_mean_of_units(&units);
    let figure = match &units[..] {
        [] => return Ok(None),
        [one] => of_one(one, load, quantity)?,
        several => of_several(several, subject, load, quantity)?,
    };
    let measured = is_adjusted(effect).then(|| figure.value * effect.exp());
    Ok(Some(EvidenceFigure { measured, ..figure }))
}

fn log_mean_of_units(units: &[UnitValues]) -> f64 {
    log_mean(&units.iter().filter_map(UnitValues::mean).collect::<Vec<f64>>())
}

/// The figure of one unit, over its runs or over the repeats of the one there is.
pub(super) fn of_one(unit: &UnitValues, load: &Load, quantity: Quantity) -> Result<EvidenceFigure, AdviseError> {
    let days = days(unit.dated()).len();
    let (n, basis) = match &unit.runs[..] {
        [run] => (run.len(), EvidenceBasis::Repeats),
        runs if days == 1 => (runs.len(), EvidenceBasis::Runs),
        _ => (days, EvidenceBasis::Days),
    };
    let posterior = unit.on_any_day()?;
    let interval = unit.over_days().and_then(|over| over.interval(LEVEL));
    let method = match (n, basis) {
        (1, _) => "one value, no interval",
        (_, EvidenceBasis::Days) => {
            "geometric mean of days of one unit, t interval on logarithms with an assumed spread of days"
        }
        (_, EvidenceBasis::Runs) => {
            "geometric mean of runs of one unit on one day, t interval on logarithms with an assumed spread of days"
        }
        _ => {
            "geometric mean of repeats of one run of one unit, t interval on logarithms with an assumed spread of days"
        }
    };
    let marks = unit.marks.clone();
    Ok(EvidenceFigure { n, basis, method, ..EvidenceFigure::new(load, quantity, posterior, interval, marks) })
}

fn of_several(
    units: &[UnitValues],
    subject: &Subject<'_>,
    load: &Load,
    quantity: Quantity,
) -> Result<EvidenceFigure, AdviseError> {
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
    let figure = EvidenceFigure::new(load, quantity, posterior, interval, marks);
    Ok(EvidenceFigure { n: values.len(), method, own, ..figure })
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
pub(super) fn durable(records: &[&Observation], load: &Load) -> bool {
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
) -> Result<Option<EvidenceFigure>, AdviseError> {
    let quantity =
        if durable(&subject.records, load) { Quantity::DurableBytesPerSecond } else { Quantity::BytesPerSecond };
    figure(subject, load, quantity, excluded)
}
