//! A record against what others submitted: copies with another identity, and figures that no other unit of the model comes near.

use std::collections::{BTreeMap, BTreeSet};

use assay_analysis::identity;
use assay_core::histogram::{Histogram, StoredHistogram};
use assay_core::observation::Observation;
use assay_core::outcome::Outcome;
use assay_core::record::{Record, Repeat};
use assay_core::text::clean;

use super::examine::examine;
use crate::classes::{bus_of, class_of, site_unit};
use crate::database::{Connection, DatabaseError};
use crate::derived::{Derived, Figure, any_below, figures_like, with_prints};
use crate::digest::Digest;
use crate::states::{Code, Reason, Standing, State};
use crate::store::Kept;

/// Operations of a repeat from which its histogram is like no other by chance.
const TELLING: u64 = 100;
/// Repeats of a record whose fingerprints are kept.
const MOST_PRINTS: usize = 200;
/// Accounts that a model needs before a figure of it can be odd.
const ACCOUNTS: usize = 3;
/// Robust deviations from the median, of logarithms.
const DEVIATIONS: f64 = 6.0;
/// The normal distribution's deviation by the median deviation from the median.
const MAD_TO_DEVIATION: f64 = 1.4826;
/// A figure at most this many times the median is never odd: units, hosts and firmware differ by as much.
const NEVER_ODD: f64 = 2.0;
/// Logarithms and back.
const ROUNDING: f64 = 1e-9;

/// A document that was judged by itself.
#[derive(Debug)]
pub struct Examined {
    /// What it says against itself.
    reasons: Vec<Reason>,
    /// Whether another tool printed its figures.
    printed: bool,
    /// What is derived of it.
    pub derived: Derived,
}

/// Judges a document by itself: what takes time, and needs no database.
///
/// # Errors
/// Where what is derived cannot be written as JSON.
pub fn examined(there: &Kept, record: &Record) -> serde_json::Result<Examined> {
    Ok(Examined { reasons: examine(record), printed: record.is_printed(), derived: derived(&there.account, record)? })
}

/// Judges it by what is here.
///
/// # Errors
/// [`DatabaseError`].
pub fn judge(connection: &mut dyn Connection, there: &Kept, of: &Examined) -> Result<Standing, DatabaseError> {
    let mut reasons = of.reasons.clone();
    reasons.extend(copy(connection, there, &of.derived)?);
    reasons.extend(outlier(connection, there, &of.derived)?);
    Ok(if !reasons.is_empty() {
        Standing { state: State::Held, reasons }
    } else if there.unlisted {
        Standing { state: State::Unlisted, reasons: vec![Reason::new(Code::Asked, "its submitter asked for it")] }
    } else if of.printed {
        let why = "another tool printed these figures: they cannot be computed anew";
        Standing { state: State::Unlisted, reasons: vec![Reason::new(Code::NotRecomputable, why)] }
    } else {
        Standing { state: State::Public, reasons }
    })
}

/// What is derived of a record.
fn derived(account: &str, record: &Record) -> serde_json::Result<Derived> {
    let mut observation = Observation::from(record);
    let unit = site_unit(account, &observation);
    // Rankings count units by this name.
    observation.labels.remove("unit");
    observation.medium.unit = Some(unit.clone());
    for measurement in &mut observation.measurements {
        for repeat in &mut measurement.repeats {
            // The percentiles stay, and nine tenths of the text go.
            let thin = Histogram::from(&*repeat.histogram).thinned();
            repeat.histogram = StoredHistogram::from(&thin).into();
        }
    }
    let figures = observation.measurements.iter().filter_map(|measurement| {
        let load = observation.load_title(measurement);
        measurement.iops.as_ref().filter(|iops| iops.point > 0.0).map(|iops| Figure { load, iops: iops.point })
    });
    Ok(Derived {
        model: clean(&identity(&observation).model),
        unit,
        class: class_of(record).to_owned(),
        bus: bus_of(&record.medium),
        figures: figures.collect(),
        prints: prints(record),
        digest: Digest::of(&observation).to_json()?,
        observation: serde_json::to_string(&observation)?,
    })
}

/// Fingerprints of the repeats: their latencies, which no two measurements have alike.
fn prints(record: &Record) -> Vec<String> {
    let telling = |repeat: &&Repeat| repeat.outcome == Outcome::Completed && repeat.operations >= TELLING;
    let of = |repeat: &Repeat| {
        let mut hasher = blake3::Hasher::new();
        for (low, count) in &repeat.histogram.counts {
            hasher.update(&low.to_le_bytes()).update(&count.to_le_bytes());
        }
        hasher.finalize().to_hex().get(..32).unwrap_or_default().to_owned()
    };
    let repeats = record.measurements.iter().flat_map(|m| &m.repeats).filter(telling);
    let all: BTreeSet<String> =
        repeats.filter(|repeat| !repeat.histogram.counts.is_empty()).take(MOST_PRINTS).map(of).collect();
    all.into_iter().collect()
}

fn copy(connection: &mut dyn Connection, there: &Kept, derived: &Derived) -> Result<Option<Reason>, DatabaseError> {
    let found = with_prints(connection, &derived.prints, &there.id)?;
    // A second submission of a run that went on shares some repeats, too: it is the same measurement.
    let copied = found.first().filter(|(_, shared)| 2 * shared >= derived.prints.len().max(1));
    Ok(copied.map(|(of, shared)| {
        Reason::new(Code::Copy, format!("{shared} of {} repeats are those of record {of}", derived.prints.len()))
    }))
}

fn outlier(connection: &mut dyn Connection, there: &Kept, derived: &Derived) -> Result<Option<Reason>, DatabaseError> {
    let of = |load| (derived.model.as_str(), load, derived.bus.as_str());
    for Figure { load, iops } in &derived.figures {
        // Beyond twice the median there is a figure below the half, which an index finds; most records end here.
        if !any_below(connection, of(load.as_str()), &there.account, iops / NEVER_ODD * (1.0 + ROUNDING))? {
            continue;
        }
        let found = figures_like(connection, &derived.model, load, &derived.bus)?;
        let others = found.into_iter().filter(|(account, ..)| *account != there.account);
        if let Some(times) = too_fast(*iops, others) {
            let what = format!("{}: {times:.1} times the median of this model", clean(load));
            return Ok(Some(Reason::new(Code::Outlier, what)));
        }
    }
    Ok(None)
}

/// How many times the median a figure is, where that is beyond what units differ by. Slow units are no forgeries: media
/// wear, and hosts are slow. Figures weigh by unit, and units by account.
fn too_fast(iops: f64, others: impl Iterator<Item = (String, String, f64)>) -> Option<f64> {
    let mut units: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for (account, unit, iops) in others.filter(|(.., iops)| *iops > 0.0) {
        units.entry((account, unit)).or_default().push(iops.ln());
    }
    let mut accounts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for ((account, _), values) in &units {
        accounts.entry(account).or_default().extend(median(values.clone()));
    }
    if accounts.len() < ACCOUNTS {
        return None;
    }
    let values: Vec<f64> = accounts.into_values().filter_map(median).collect();
    let middle = median(values.clone())?;
    let spread = median(values.iter().map(|value| (value - middle).abs()).collect())? * MAD_TO_DEVIATION;
    let beyond = iops.ln() - middle;
    (beyond > (DEVIATIONS * spread).max(NEVER_ODD.ln())).then(|| beyond.exp())
}

/// The middle value, or the mean of the two in the middle; `None` of no values.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (lower, upper) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn others(of: &[(&str, &str, f64)]) -> Vec<(String, String, f64)> {
        of.iter().map(|(account, unit, iops)| ((*account).to_owned(), (*unit).to_owned(), *iops)).collect()
    }

    #[test]
    fn a_figure_is_odd_where_three_accounts_agree_on_another() {
        let two = others(&[("a", "1", 100.0), ("b", "1", 110.0)]);
        let three = others(&[("a", "1", 100.0), ("b", "1", 110.0), ("c", "1", 105.0)]);
        assert_eq!(too_fast(1e6, two.into_iter()), None, "two accounts are not enough");
        for (iops, odd) in [(50.0, false), (1.0, false), (205.0, false), (220.0, true)] {
            assert_eq!(too_fast(iops, three.clone().into_iter()).is_some(), odd, "{iops}");
        }
    }

    #[test]
    fn an_account_of_a_thousand_units_weighs_as_one() {
        let mut all = others(&[("a", "1", 100.0), ("b", "1", 110.0), ("c", "1", 105.0)]);
        all.extend((0..1000).map(|unit| ("d".to_owned(), unit.to_string(), 1000.0)));
        assert!(too_fast(1000.0, all.into_iter()).is_some());
    }
}
