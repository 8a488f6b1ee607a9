//! Which records may speak, and for which model; the errors where they cannot.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;

use assay_core::record::Record;
use assay_stats::decide::Refusal;
use assay_stats::rank::Precision;

use crate::admission::named;
use crate::exclusion::{Excluded, Reason, excluded_whole};
use crate::rank::{Levels, RankOptions, Setting};
use crate::{Load, Quantity, identity};

/// Number of names listed with a reason why nothing is left.
const NAMED: usize = 3;

/// The records of one model that may speak.
#[derive(Debug, Clone)]
pub(super) struct Subject<'a> {
    pub(super) model: String,
    pub(super) records: Vec<&'a Record>,
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
    records: Vec<&'a Record>,
    setting: OnceCell<Setting<'a>>,
    /// The levels that were computed before.
    known: RefCell<Vec<(Load, Quantity, Rc<Levels>)>>,
}

impl<'a> Among<'a> {
    fn new(records: &[&'a Record]) -> Self {
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
fn subjects<'a>(records: Vec<&'a Record>, excluded: &mut Vec<Excluded>) -> Vec<Subject<'a>> {
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
    records: &'a [Record],
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
    records: &'a [Record],
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
    has: impl Fn(&Record) -> bool,
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
    #[error("no record of {what} is left to judge{}; name others", because(.reasons))]
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
    Refused(#[from] Refusal),
}

fn because(reasons: &[String]) -> String {
    let first: Vec<&str> = reasons.iter().take(3).map(String::as_str).collect();
    match reasons.len() {
        0 => String::new(),
        n if n > first.len() => format!(" ({}, and {} more)", first.join("; "), n - first.len()),
        _ => format!(" ({})", first.join("; ")),
    }
}
