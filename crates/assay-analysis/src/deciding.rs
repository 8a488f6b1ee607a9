//! Which load and which figure of it decide.
//!
//! Which load a question is about: the one that words name, or else the one under which most can be said. Every
//! command asks here, so that two commands decide on the same load of the same records.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use assay_core::estimate::Estimate;
use assay_core::observation::Observation;
use assay_core::text::quoted;
use assay_core::workload::{Op, Pattern};
use assay_stats::power::{LogDeviation, POWER, TTest};
use assay_stats::variation::{PRIOR_DEVIATION, RunOfDay};
use assay_stats::{LEVEL, OverDays, power, rank};
use serde::Serialize;

use super::load::{LoadQuery, LoadQueryError};
use crate::exclusion::excluded_whole;
use crate::identity::{Identity, identity};
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::{numbered, reading};

/// Block size that CrystalDiskMark, the application performance classes of SD cards and `quick` have in common.
const USUAL_BLOCK: u64 = 4096;
/// Titles in an error.
const SHOWN: usize = 8;

/// No load matches the requested one, or there is no load at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// The requested load; `None` where any load would do.
    pub asked: Option<String>,
    /// Why the words cannot name a load, where they cannot.
    pub why: Option<LoadQueryError>,
    /// A record has a load of that name, but it cannot decide.
    pub in_one_group: bool,
    /// Titles of the loads there are.
    pub known: Vec<String>,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(asked) = &self.asked else {
            return f.write_str("the records hold no figures; measure first: assay run");
        };
        if self.in_one_group {
            write!(f, "the load {} is not in two of these groups", quoted(asked))?;
        } else {
            write!(f, "no load is named {}", quoted(asked))?;
        }
        if let Some(why) = &self.why {
            write!(f, ": {why}")?;
        }
        match &self.known[..] {
            [] if self.in_one_group => f.write_str(", and no other is"),
            [] => f.write_str("; the records hold no figures"),
            all if all.len() > SHOWN => {
                write!(f, "; there are: {}; and {} more", all[..SHOWN].join("; "), all.len() - SHOWN)
            }
            all => write!(f, "; there are: {}", all.join("; ")),
        }
    }
}

impl std::error::Error for LoadError {}

/// The loads that `words` name, in reading order: one by its whole title or by the name of its workload (spaces, commas
/// and case do not matter), else all that have the properties in the words, as [`LoadQuery`] reads them.
///
/// # Errors
/// None of the records has such a load.
pub fn loads_named<'a>(
    records: impl IntoIterator<Item = &'a Observation>,
    words: &str,
) -> Result<Vec<Load>, LoadError> {
    let mut names: BTreeMap<Load, BTreeSet<String>> = BTreeMap::new();
    for (load, measurement) in records.into_iter().flat_map(numbered) {
        names.entry(load).or_default().insert(bare(&measurement.workload.name));
    }
    let wanted = bare(words);
    let of = |pick: &dyn Fn(&Load, &BTreeSet<String>) -> bool| -> Vec<Load> {
        names.iter().filter(|(load, names)| pick(load, names)).map(|(load, _)| load.clone()).collect()
    };
    let exact = of(&|load, _| bare(&load.title()) == wanted);
    let named = if exact.is_empty() { of(&|_, names| names.contains(&wanted)) } else { exact };
    if !named.is_empty() && !wanted.is_empty() {
        return Ok(named);
    }
    let ask = LoadQuery::parse(words);
    let found = ask.as_ref().map_or_else(|_| Vec::new(), |ask| of(&|load, _| ask.matches(load)));
    if found.is_empty() {
        let known = names.keys().map(Load::title).collect();
        return Err(LoadError { asked: Some(words.to_owned()), why: ask.err(), in_one_group: false, known });
    }
    Ok(found)
}

/// The load that decides among groups of records: of those that `words` name, or of all, the one under which most can
/// be said. It is chosen by its kind and by who was measured, never by figures: that would make differences out of
/// chance. `among` limits it to some loads.
///
/// # Errors
/// No record has such a load.
pub fn deciding_load(
    records: &[(usize, &Observation)],
    words: Option<&str>,
    among: Option<&[Load]>,
) -> Result<Load, LoadError> {
    let named = words.map(|words| loads_named(records.iter().map(|(_, r)| *r), words)).transpose()?;
    let wanted = |load: &Load| {
        named.as_ref().is_none_or(|named| named.contains(load)) && among.is_none_or(|among| among.contains(load))
    };
    let all = Holders::of(records.iter(), wanted);
    // Records that decide nothing choose nothing, unless there are no others.
    let sound = Holders::of(records.iter().filter(|(_, r)| excluded_whole(r).is_none()), wanted);
    let holders = if sound.loads.is_empty() { &all } else { &sound };
    let groups: BTreeSet<usize> = records.iter().map(|(group, _)| *group).collect();
    holders.most_telling(&all, groups.len()).ok_or_else(|| LoadError {
        asked: words.map(str::to_owned),
        why: None,
        in_one_group: named.is_some(),
        known: among.unwrap_or_default().iter().map(Load::title).collect(),
    })
}

/// Records with the number of their model, for [`deciding_load`].
#[must_use]
pub fn by_model<'a>(records: impl IntoIterator<Item = &'a Observation>) -> Vec<(usize, &'a Observation)> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let number = |record: &'a Observation| {
        let next = numbers.len();
        (*numbers.entry(identity(record).model).or_insert(next), record)
    };
    records.into_iter().map(number).collect()
}

/// Who was measured under which load.
struct Holders {
    loads: BTreeMap<Load, Held>,
    /// Records with any of the loads.
    records: usize,
}

/// Who was measured under a load.
#[derive(Default)]
struct Held {
    /// The units of each group, by number.
    units: BTreeMap<usize, BTreeSet<usize>>,
    records: usize,
}

impl Holders {
    fn of<'a>(records: impl Iterator<Item = &'a (usize, &'a Observation)>, wanted: impl Fn(&Load) -> bool) -> Self {
        let mut all = Self { loads: BTreeMap::new(), records: 0 };
        let mut numbers: BTreeMap<(String, String), usize> = BTreeMap::new();
        for (group, record) in records {
            let Identity { model, unit, .. } = identity(record);
            let next = numbers.len();
            let unit = *numbers.entry((model, unit)).or_insert(next);
            let loads: Vec<Load> = numbered(record).into_iter().map(|(load, _)| load).filter(|l| wanted(l)).collect();
            all.records += usize::from(!loads.is_empty());
            for load in loads {
                let held = all.loads.entry(load).or_default();
                held.units.entry(*group).or_default().insert(unit);
                held.records += 1;
            }
        }
        all
    }

    /// The load to decide by. The criteria in their order: a plain load, which shows what a medium can do; two groups
    /// with the load, without which nothing is compared, or at least two with records that decide nothing, which a
    /// comparison shows; one random read of 4 KiB at a time where all records have it, so that the load is the same in
    /// whatever company a record is; two groups of two units each, without which no models can be told apart; most
    /// groups have it; random reads of 4 KiB, by which published comparisons of cards decide, and which are the main
    /// work of a root file system; other random reads. Then the number of groups that can be told apart, the number of
    /// groups that have the load, and the fewest operations in flight. Of equal loads, the first in reading order.
    fn most_telling(&self, all: &Self, groups: usize) -> Option<Load> {
        let weight = |load: &Load, held: &Held| {
            let of = &held.units;
            let with_several_units = of.values().filter(|units| units.len() > 1).count();
            let random_read = load.pattern() == Some(Pattern::Random) && load.op() == Op::Read && !load.synced;
            let usual = random_read && load.block_bytes == USUAL_BLOCK;
            // Nothing is known of a depth of 0.
            let in_flight = u64::from(load.queue_depth) * u64::from(load.jobs);
            let in_flight = if in_flight == 0 { u64::MAX } else { in_flight };
            let shown = all.loads.get(load).map_or(0, |held| held.units.len());
            (
                load.is_plain(),
                of.len().min(2),
                shown.min(2),
                usual && in_flight == 1 && held.records == self.records,
                with_several_units.min(2),
                2 * of.len() > groups,
                usual,
                random_read,
                with_several_units,
                of.len(),
                Reverse(in_flight),
            )
        };
        self.loads.iter().rev().max_by_key(|(load, held)| weight(load, held)).map(|(load, _)| load.clone())
    }
}

/// Letters and digits only, with a space between two numbers: `QD4, 44 jobs` is not `QD44, 4 jobs`.
fn bare(text: &str) -> String {
    let mut bare = String::new();
    let mut apart = false;
    for c in text.chars() {
        if c.is_alphanumeric() {
            if apart && c.is_ascii_digit() && bare.ends_with(|last: char| last.is_ascii_digit()) {
                bare.push(' ');
            }
            bare.extend(c.to_lowercase());
        }
        apart = !c.is_alphanumeric();
    }
    bare
}

// Which figure of a load decides, in every command: what people read first of it, and of sequential writes the durable
// rate, where all that takes part have it.
//
// A cache acknowledges at its own speed what the medium takes at half of it: `rank` named one model the best by the
// acknowledged rate, and `advise buy` bought another by the durable one, of the same records.

/// The figure that decides a load, and how many figures lack the durable rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decides {
    /// The figure.
    pub quantity: Quantity,
    /// Number of figures without the durable rate where others have it, so that the acknowledged rate decides. 0 where
    /// none lacks it, or all do.
    pub lacking: usize,
}

/// The figure of a load that decides among these records.
#[must_use]
pub fn deciding_quantity<'a>(records: impl IntoIterator<Item = &'a Observation>, load: &Load) -> Decides {
    let usual = Quantity::usual(load);
    if usual != Quantity::BytesPerSecond || load.op() != Op::Write {
        return Decides { quantity: usual, lacking: 0 };
    }
    let (mut all, mut durable) = (0, 0);
    for record in records {
        let counts = |quantity| reading(record, load, quantity).is_some_and(|reading| reading.counts());
        if counts(usual) {
            all += 1;
            durable += usize::from(counts(Quantity::DurableBytesPerSecond));
        }
    }
    match (durable, all - durable) {
        (0, _) => Decides { quantity: usual, lacking: 0 },
        (_, 0) => Decides { quantity: Quantity::DurableBytesPerSecond, lacking: 0 },
        (_, lacking) => Decides { quantity: usual, lacking },
    }
}

// What would settle an undecided answer: more units, or more runs on other days; what one run says of many days.

/// The kind of values that more are needed of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// Units of each model.
    Units,
    /// Units that are in both groups.
    Pairs,
    /// Runs of each unit, on as many days.
    Runs,
    /// Other units of the model.
    Others,
}

/// The number of values that would settle the answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Needed {
    /// The total number, including those that were measured.
    pub number: u32,
    /// The kind of values.
    pub of: Values,
    /// The difference that this number detects, as a ratio of at least 1: the larger of the observed difference and the
    /// smallest that matters.
    pub ratio: f64,
    /// The probability of detecting it.
    pub power: f64,
}

impl Needed {
    /// Units needed of each of `models` models that are ranked or compared together, whose units vary by `deviation`.
    pub(crate) fn of_models(
        models: u32,
        difference: (f64, f64),
        deviation: LogDeviation,
        there_are: usize,
        alpha: f64,
    ) -> Option<Self> {
        Self::from_difference(Values::Units, difference, deviation, there_are, |units| {
            rank::tests(models, units, alpha)
        })
    }

    /// Takes the observed difference of logarithms, the smallest one that matters, the number of values that exist, and
    /// a function from a number of values to the tests that it allows. The result is more than exist, because those did
    /// not settle the answer. `None` where no practical number is enough.
    pub(crate) fn from_difference(
        of: Values,
        (seen, least): (f64, f64),
        deviation: LogDeviation,
        there_are: usize,
        tests: impl Fn(u32) -> Vec<TTest>,
    ) -> Option<Self> {
        let difference = seen.abs().max(least);
        let fewest = match of {
            Values::Runs => 1,
            Values::Units | Values::Others => 2,
            Values::Pairs => 4,
        };
        let fewest = fewest.max(u32::try_from(there_are).unwrap_or(u32::MAX).saturating_add(1));
        let number = power::needed(fewest, difference, deviation, tests)?;
        Some(Self { number, of, ratio: difference.exp(), power: POWER })
    }
}

// What one run says of its unit over many days.

/// Deviation that is assumed between the days of a unit, where one was measured: 0.037 is 3.7 %.
pub const ASSUMED_DAYS: f64 = PRIOR_DEVIATION;

/// A figure of a record with the interval of what its unit does over many days, which is what decisions about it take;
/// that of the figure itself holds for that run. `None` where the record has no figure, or one value of it.
#[must_use]
pub fn over_days(record: &Observation, load: &Load, quantity: Quantity) -> Option<Estimate> {
    let values = reading(record, load, quantity)?.values;
    let over = OverDays::from_runs(&[RunOfDay::undated(&values)])?;
    let (low, high) = over.interval(LEVEL)?;
    Some(Estimate {
        point: over.value(),
        low: Some(low),
        high: Some(high),
        level: Some(LEVEL),
        n: u32::try_from(values.len()).unwrap_or(u32::MAX),
        method: "geometric mean of repeats, t interval on logarithms with an assumed deviation of days".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use assay_core::observation::{ObservedMeasurement, ObservedRepeat};
    use assay_core::outcome::Outcome;
    use assay_core::workload::{Op, Pattern, Workload};

    use super::*;
    use crate::advise::{BuyQuestion, Choice, Link, NasQuestion};
    use crate::compare::{By, CompareRequest, Gate, GateLimit, PairVerdict, compare, gate, split};
    use crate::plan::{NextAction, RaceOptions, race};
    use crate::rank::{RankOptions, rank};
    use crate::{advise, loads, published, samples};

    fn decided(records: &[Observation], words: Option<&str>) -> Result<String, String> {
        deciding_load(&by_model(records), words, None).map(|l| l.title()).map_err(|e| e.to_string())
    }

    /// At the greatest depth each of the published models has one unit, so that nothing can be said there.
    #[test]
    fn the_load_that_decides_is_one_where_models_have_several_units() {
        let records = published("").unwrap();
        let load = deciding_load(&by_model(&records), None, None).unwrap();
        let units = |model: usize| {
            let of = by_model(&records).into_iter().filter(|(m, r)| *m == model && crate::loads([*r]).contains(&load));
            of.map(|(_, r)| identity(r).unit).collect::<BTreeSet<_>>().len()
        };
        let models = by_model(&records).iter().map(|(m, _)| *m).max().unwrap();
        assert!((0..=models).filter(|m| units(*m) > 1).count() >= 2, "{}", load.title());
    }

    /// Several units of one model under a load that no other model has compare nothing.
    #[test]
    fn a_load_of_one_model_alone_does_not_decide_among_two() {
        let mut records = published("sandisk-ultra-a1").unwrap();
        let mut other = published("sandisk-extreme-a2").unwrap();
        records.iter_mut().for_each(|r| r.measurements.truncate(2));
        let shared = records[0].measurements[1].clone();
        records[1].measurements.truncate(1);
        records[2].measurements.truncate(1);
        other[0].measurements = vec![shared.clone()];
        records.append(&mut other);
        assert_eq!(decided(&records, None), Ok(Load::from_workload(&shared.workload).title()));
    }

    #[test]
    fn a_load_of_one_group_is_not_said_to_be_unknown() {
        let records = published("sandisk-ultra-a1").unwrap();
        let all = crate::loads(&records);
        let error = |among: &[Load]| {
            deciding_load(&by_model(&records), Some(&all[0].title()), Some(among)).unwrap_err().to_string()
        };
        let title = quoted(&all[0].title());
        let rest = format!("; there are: {}", all[1].title());
        assert_eq!(error(&all[1..2]), format!("the load {title} is not in two of these groups{rest}"));
        assert_eq!(error(&[]), format!("the load {title} is not in two of these groups, and no other is"));
    }

    /// Two cards were ranked by QD32, and the same cards among others by QD1.
    #[test]
    fn the_load_that_all_have_decides_in_any_company() {
        let at = |depth| Workload { queue_depth: depth, ..Workload::new("w", Op::Read, Pattern::Random, 4096) };
        let of = |id: &str, model: &str, unit: &str, depths: &[u32]| {
            let measured = |depth: &u32| ObservedMeasurement {
                repeats: vec![ObservedRepeat { operations: 9, iops: 9.0, ..ObservedRepeat::new(Outcome::Completed) }],
                ..ObservedMeasurement::new(at(*depth))
            };
            samples::record(id, model, unit, depths.iter().map(measured).collect())
        };
        let all = [
            of("a", "A", "1", &[1, 32]),
            of("b", "B", "1", &[32, 1]),
            of("c", "A", "2", &[1, 32]),
            of("d", "B", "2", &[1, 32]),
            of("e", "C", "1", &[1]),
        ];
        for company in [&all[..1], &all[..2], &all[..3], &all[..4], &all[..], &all[3..]] {
            assert_eq!(decided(company, None), Ok("random read 4 KiB".to_owned()), "{}", company.len());
        }
        assert_eq!(decided(&[of("f", "D", "1", &[8, 32])], None), Ok("random read 4 KiB, QD8".to_owned()));
    }

    #[test]
    fn numbers_of_a_title_stay_apart() {
        assert_eq!(bare("Read 4KiB, QD 32"), bare("read 4 KiB QD32"));
        assert_ne!(bare("read, QD4, 44 jobs"), bare("read, QD44, 4 jobs"));
    }

    #[test]
    fn loads_are_named_by_title_by_workload_or_by_their_properties() {
        let records = published("sandisk-ultra-a1").unwrap();
        let title = crate::loads(&records)[0].title();
        assert_eq!(decided(&records, Some(&title.to_uppercase())), Ok(title.clone()));
        let name = &records[0].measurements[0].workload.name;
        assert!(decided(&records, Some(name)).is_ok(), "{name}");
        assert!(decided(&records, Some("random write")).unwrap().starts_with("random write"));
        for (words, said) in [
            ("tape", "`tape` is not part of a load"),
            ("raed 4 KiB", "the nearest is `read`;"),
            ("", "needs words"),
            ("sequential read 3 B", "there are: "),
        ] {
            let error = decided(&records, Some(words)).unwrap_err();
            assert!(error.contains(said), "{words}: {error}");
        }
        assert!(decided(&[], None).unwrap_err().contains("measure first"));
    }

    /// A sequential write that is acknowledged at one rate and durable at another.
    fn card(id: &str, model: &str, unit: &str, rate: f64, durable: Option<f64>) -> Observation {
        let workload = Workload { queue_depth: 8, ..Workload::new("w", Op::Write, Pattern::Sequential, 1 << 20) };
        let mut measurement = ObservedMeasurement::new(workload);
        let repeat = |off: f64| ObservedRepeat {
            operations: 100,
            iops: rate * off / 1048576.0,
            bytes_per_second: rate * off,
            durable_bytes_per_second: durable.map(|durable| durable * off),
            ..ObservedRepeat::new(Outcome::Completed)
        };
        measurement.repeats = [0.999, 1.0, 1.001].map(repeat).to_vec();
        let mut record = samples::record(id, model, unit, vec![measurement]);
        record.labels.insert("price".to_owned(), "10USD".to_owned());
        record
    }

    /// A is acknowledged at 60 MB/s and durable at 20, B at 40 and 35.
    fn store() -> Vec<Observation> {
        let of = |at: u32| {
            let (unit, off) = (at.to_string(), 1.0 + 0.01 * f64::from(at));
            let card = |model: &str, rate: f64, durable: f64| {
                card(&format!("{model}{at}"), model, &unit, rate * off, Some(durable * off))
            };
            [card("A", 60e6, 20e6), card("B", 40e6, 35e6)]
        };
        (0..4).flat_map(of).collect()
    }

    /// Rank, compare, race and buy name the same model.
    #[test]
    fn one_figure_decides_on_writes_in_every_command() {
        let records = store();
        let named: Vec<&Observation> = records.iter().collect();
        let load = loads(named.iter().copied())[0].clone();
        let ranked = rank(&named, &RankOptions::default()).unwrap().primary;
        assert_eq!((ranked.models[0].model.as_str(), ranked.quantity), ("B", Quantity::DurableBytesPerSecond));
        let acknowledged = RankOptions { quantity: Some(Quantity::BytesPerSecond), ..RankOptions::default() };
        assert_eq!(rank(&named, &acknowledged).unwrap().primary.models[0].model, "A", "--metric rate");
        let groups = [records.clone()];
        let compared = compare(&split(&groups, By::Model), &CompareRequest::default()).unwrap();
        assert_eq!(compared.primary().unwrap().pairs[0].verdict, PairVerdict::Better);
        let decides = deciding_quantity(&records, &load);
        let options = RaceOptions { threshold: 0.95, cap: 10, left: None, slots: 1, dropped: Vec::new(), seed: 1 };
        let raced = race(&records, &load, decides.quantity, &options).unwrap();
        assert_eq!(raced.action, NextAction::Buy { model: "B".to_owned() });
        let bought = advise::buy(&records, &BuyQuestion::for_nodes(5)).unwrap();
        assert!(matches!(bought.choice, Choice::Buy { index, .. } if bought.options[index].model == "B"));
    }

    #[test]
    fn where_some_lack_the_durable_rate_the_acknowledged_one_decides_and_that_is_told() {
        let mut records = store();
        records.push(card("A9", "A", "9", 60e6, None));
        let load = loads(&records)[0].clone();
        assert_eq!(deciding_quantity(&records, &load), Decides { quantity: Quantity::BytesPerSecond, lacking: 1 });
        let named: Vec<&Observation> = records.iter().collect();
        let ranked = rank(&named, &RankOptions::default()).unwrap().primary;
        assert_eq!(ranked.models[0].model, "A");
        assert!(ranked.remarks.contains(&crate::rank::RankRemark::Acknowledged { lacking: 1 }), "{:?}", ranked.remarks);
        let groups = [records.clone()];
        let compared = compare(&split(&groups, By::Model), &CompareRequest::default()).unwrap();
        let told = crate::compare::Note::Acknowledged { loads: vec![load.title()] };
        assert!(compared.notes.contains(&told), "{:?}", compared.notes);
    }

    /// The acknowledged rate is unchanged, and the durable rate halves.
    #[test]
    fn the_gate_fails_where_the_durable_rate_halves() {
        let judged = |durable: f64| -> Gate {
            let (a, b) = (card("a", "A", "1", 60e6, Some(40e6)), card("b", "A", "1", 60e6, Some(durable)));
            let groups = [vec![a], vec![b]];
            let groups: Vec<_> = groups.iter().flat_map(|of| split(std::slice::from_ref(of), By::Record)).collect();
            let request = CompareRequest { runs: true, ..CompareRequest::default() };
            let shown = compare(&groups, &request).unwrap();
            gate(&groups, &request, &shown, &[GateLimit::parse("slower than 5%").unwrap()], false).unwrap()
        };
        assert!(judged(20e6).failed());
        assert!(!judged(40e6).failed());
    }

    /// One function for the card, the page and the decisions: they cannot differ.
    #[test]
    fn it_is_the_interval_that_decisions_take() {
        let workload = Workload::new("w", Op::Read, Pattern::Sequential, 1 << 20);
        let mut measurement = ObservedMeasurement::new(workload);
        measurement.repeats = [9.9e6, 10e6, 10.1e6]
            .map(|rate| ObservedRepeat {
                operations: 100,
                bytes_per_second: rate,
                ..ObservedRepeat::new(Outcome::Completed)
            })
            .to_vec();
        let rates: Vec<f64> = measurement.repeats.iter().map(|r| r.bytes_per_second).collect();
        measurement.bytes_per_second = assay_stats::geometric(&rates);
        let record = samples::record("a", "Model", "1", vec![measurement]);
        let load = Load::from_workload(&record.measurements[0].workload);
        let own = over_days(&record, &load, Quantity::BytesPerSecond).unwrap();
        let question = NasQuestion::for_nodes(28, Link::Line(125e6));
        let advice = advise::nas(std::slice::from_ref(&record), &[], &question).unwrap();
        let figure = &advice.models[0].rows[0].local;
        assert_eq!(figure.interval, own.low.zip(own.high));
        let today = record.measurements[0].bytes_per_second.as_ref().unwrap();
        assert!(own.low < today.low && own.high > today.high, "{own:?}");
    }
}
