//! Runs of a unit on one day and on several.

use assay_core::finding::{Finding, Validity};
use assay_core::medium::Medium;
use assay_core::observation::{Observation, ObservedMeasurement, ObservedRepeat};
use assay_core::outcome::Outcome;
use assay_core::verification::{Method, Verdict, Verification};
use assay_core::workload::{Op, Pattern, Workload};

use super::*;
use crate::samples;

const SLOW: [f64; 3] = [999.0, 1000.0, 1001.0];
const FAST: [f64; 3] = [1099.0, 1100.0, 1101.0];

fn group<'a>(name: &str, records: &[&'a Observation]) -> RecordGroup<'a> {
    RecordGroup { name: name.to_owned(), records: records.to_vec() }
}

/// Three runs each on three days say how much days differ; on one day they do not, however many they are.
#[test]
fn enough_days_need_no_assumption() {
    let assumed = |days: [u32; 3]| {
        let cards: Vec<Observation> = (0..6usize)
            .map(|at| {
                let unit = ["1", "2"][at / 3];
                let mut card = card(&format!("r{at}"), unit, &[1000.0 + at as f64, 1001.0 + at as f64]);
                card.created = format!("2026-01-{:02}T03:04:05Z", days[at % 3]);
                card
            })
            .collect();
        let [a, b] = [&cards[..3], &cards[3..]].map(|of| of.iter().collect::<Vec<_>>());
        let c = compare(&[group("a", &a), group("b", &b)], &CompareRequest::default()).unwrap();
        let pair = c.primary().unwrap().pairs[0];
        assert_eq!(pair.question, PairQuestion::Units);
        (pair.days.unwrap().measured, pair.days.unwrap().prior.1, pair.high.unwrap() < 1.01)
    };
    assert_eq!(assumed([1, 2, 3]), (4, 0.0, true));
    assert_eq!(assumed([1, 1, 1]), (0, 3.0, false));
    assert_eq!(assumed([1, 2, 2]), (2, 3.0, false));
}

/// Two runs of one unit whose repeats agree: a day may change as much as they differ.
#[test]
fn two_runs_differ_and_the_medium_does_not() {
    let (a, b) = (card("a", "1", &SLOW), card("b", "1", &FAST));
    let c = compare(&[group("a", &[&a]), group("b", &[&b])], &CompareRequest::default()).unwrap();
    let pair = c.primary().unwrap().pairs[0];
    assert_eq!((pair.question, pair.verdict), (PairQuestion::Runs, PairVerdict::CannotTell(WhyUnknown::Days)));
    let runs = pair.runs.unwrap();
    assert!(runs.differ == Some(true) && runs.low > 1.09 && runs.high < 1.11, "{pair:?}");
    assert!(pair.low.unwrap() < 0.95 && pair.high.unwrap() > 1.25, "{pair:?}");
    let days = pair.days.unwrap();
    assert!(days.measured == 0 && days.deviation >= days.prior.0, "{days:?}");
    // A factor of two is more than days explain.
    let half = card("c", "1", &[499.0, 500.0, 501.0]);
    let c = compare(&[group("a", &[&a]), group("b", &[&half])], &CompareRequest::default()).unwrap();
    assert_eq!(c.primary().unwrap().pairs[0].verdict, PairVerdict::Worse);
}

/// Runs of an hour on a disturbed host. The mean of each of five varies by 40 %, while its repeats agree. Two runs are
/// compared with the other three, or one with four. With the assumed variance of days alone, 73 of 100 pairs were told
/// apart.
#[test]
fn runs_of_a_day_that_differ_much_are_not_told_apart() {
    let mut random = assay_stats::random::Generator::new(31);
    let mut normal = || random.normal();
    for first in [1, 2, 4] {
        let mut apart = 0;
        for _ in 0..400 {
            let runs: Vec<Observation> = (0..5)
                .map(|at| {
                    let mean = 1000.0 * (0.4 * normal()).exp();
                    card(&format!("r{at}"), "1", &[mean * 0.999, mean, mean * 1.001])
                })
                .collect();
            let all: Vec<&Observation> = runs.iter().collect();
            let (a, b) = all.split_at(first);
            let c = compare(&[group("a", a), group("b", b)], &CompareRequest::default()).unwrap();
            let pair = c.primary().unwrap().pairs[0];
            assert_eq!(pair.question, PairQuestion::Runs);
            apart += usize::from(matches!(pair.verdict, PairVerdict::Better | PairVerdict::Worse));
        }
        // One standard error is 1.1 of 100.
        assert!(apart <= 33, "{first} against {}: {apart} of 400", 5 - first);
    }
    // Differences that the scatter within an hour does not explain are found. For quiet runs the assumed variance of
    // days still decides.
    let of = |means: [f64; 5]| {
        let runs = means.iter().enumerate();
        let runs: Vec<Observation> =
            runs.map(|(at, mean)| card(&format!("r{at}"), "1", &[mean * 0.999, *mean, mean * 1.001])).collect();
        let all: Vec<&Observation> = runs.iter().collect();
        let (a, b) = all.split_at(2);
        compare(&[group("a", a), group("b", b)], &CompareRequest::default()).unwrap().primary().unwrap().pairs[0]
    };
    assert_eq!(of([1000.0, 1300.0, 5000.0, 6000.0, 7000.0]).verdict, PairVerdict::Better);
    assert_eq!(of([1000.0, 1010.0, 1990.0, 2000.0, 2010.0]).verdict, PairVerdict::Better);
}

#[test]
fn several_days_tell_what_one_does_not() {
    let days = |unit: &str, means: &[f64]| -> Vec<Observation> {
        let one = |(at, mean): (usize, &f64)| {
            let mut card = card(&format!("{unit}{at}"), unit, &[mean * 0.999, *mean, mean * 1.001]);
            card.created = format!("2026-01-{:02}T03:04:05Z", at + 1);
            card
        };
        means.iter().enumerate().map(one).collect()
    };
    let (a, b) = (days("1", &[990.0, 1000.0, 1010.0, 1000.0]), days("2", &[1090.0, 1100.0, 1110.0, 1100.0]));
    let of = |a: &[Observation], b: &[Observation]| {
        let (a, b): (Vec<&Observation>, Vec<&Observation>) = (a.iter().collect(), b.iter().collect());
        compare(&[group("a", &a), group("b", &b)], &CompareRequest::default()).unwrap().primary().unwrap().pairs[0]
    };
    let pair = of(&a, &b);
    assert_eq!((pair.question, pair.verdict, pair.runs), (PairQuestion::Units, PairVerdict::Better, None));
    assert_eq!(pair.days.unwrap().measured, 6);
    assert_eq!(of(&a[..1], &b[..1]).verdict, PairVerdict::CannotTell(WhyUnknown::Days));
}

/// Ten runs of an afternoon each were called different in 71 of 100 pairs of equal cards.
#[test]
fn runs_of_one_day_are_one_value_however_many_they_are() {
    let runs = |unit: &str, mean: f64, day: u32| -> Vec<Observation> {
        let one = |at: u32| {
            let mut card =
                card(&format!("{unit}{day}{at}"), unit, &[mean * 0.999, mean, mean * (1.001 + f64::from(at) * 1e-4)]);
            card.created = format!("2026-01-{day:02}T{at:02}:04:05Z");
            card
        };
        (0..10).map(one).collect()
    };
    let of = |a: &[Observation], b: &[Observation]| {
        let (a, b): (Vec<&Observation>, Vec<&Observation>) = (a.iter().collect(), b.iter().collect());
        let c = compare(&[group("a", &a), group("b", &b)], &CompareRequest::default()).unwrap();
        let load = c.primary().unwrap();
        (load.pairs[0], load.sides[0].basis, load.sides[0].values.len())
    };
    let (pair, basis, n) = of(&runs("1", 1000.0, 1), &runs("2", 1050.0, 2));
    assert!(matches!(pair.verdict, PairVerdict::CannotTell(_)), "{pair:?}");
    assert_eq!((pair.days.unwrap().measured, basis, n), (0, GroupBasis::Runs, 10));
    assert_eq!(pair.needed.unwrap().of, crate::Values::Runs);
    let three = |unit: &str, mean: f64| -> Vec<Observation> {
        [(1, 0.995), (3, 1.0), (5, 1.005)].iter().flat_map(|(day, off)| runs(unit, mean * off, *day)).collect()
    };
    let (pair, basis, n) = of(&three("1", 1000.0), &three("2", 1050.0));
    assert_eq!((pair.verdict, pair.days.unwrap().measured, basis, n), (PairVerdict::Better, 4, GroupBasis::Days, 3));
}

// Records for tests.

pub(super) fn workload(op: Op, pattern: Pattern, block_bytes: u64, queue_depth: u32) -> Workload {
    Workload {
        queue_depth,
        span_bytes: 1 << 26,
        ..Workload::new(&format!("w-{block_bytes}-{queue_depth}"), op, pattern, block_bytes)
    }
}

/// Random read of 4 KiB, one deep.
pub(super) fn random_read() -> Workload {
    workload(Op::Read, Pattern::Random, 4096, 1)
}

/// A measurement whose repeats have these operations a second, and all of whose operations took the time that this
/// makes.
pub(super) fn measured(workload: Workload, iops: &[f64]) -> ObservedMeasurement {
    let mut measurement = ObservedMeasurement::new(workload);
    for value in iops {
        measurement.repeats.push(ObservedRepeat {
            elapsed_ns: 1_000_000_000,
            operations: 1000,
            iops: *value,
            bytes_per_second: value * measurement.workload.block_bytes as f64,
            histogram: samples::histogram((1e9 / value.abs().max(1.0)) as u64, 1),
            ..ObservedRepeat::new(Outcome::Completed)
        });
    }
    measurement
}

/// A record of one unit of a model with these measurements.
pub(super) fn record(id: &str, model: &str, unit: &str, measurements: Vec<ObservedMeasurement>) -> Observation {
    let mut record = samples::record(id, model, unit, measurements);
    record.host.hostname = Some("node1".to_owned());
    record.medium = Medium::unknown("/mnt");
    record
}

/// A record with repeats of random reads.
pub(super) fn card(id: &str, unit: &str, iops: &[f64]) -> Observation {
    record(id, "Card", unit, vec![measured(random_read(), iops)])
}

pub(super) fn bus_limited(mut record: Observation) -> Observation {
    for m in &mut record.measurements {
        m.bus_limited = true;
    }
    record
}

pub(super) fn best_of(mut record: Observation) -> Observation {
    record.measurements.iter_mut().for_each(|m| m.warnings.push(Finding::BestOf { runs: Some(5) }.into()));
    record
}

pub(super) fn invalid(mut record: Observation) -> Observation {
    record.measurements[0].warnings.push(Finding::ServedFromCache { proof_ratio: 0.02 }.into());
    record.validity = Validity::judge(record.all_warnings());
    record
}

pub(super) fn fake(mut record: Observation) -> Observation {
    record.verification = Some(Verification {
        verdict: Verdict::Fake,
        announced_bytes: 32,
        real_bytes: Some(8),
        ..Verification::undecided(Method::Full)
    });
    record
}
