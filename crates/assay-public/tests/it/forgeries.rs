//! Planted forgeries of twelve kinds, and honest records of odd media: who is held.

use std::collections::BTreeMap;

use assay_core::finding::Validity;
use assay_core::histogram::{Histogram, StoredHistogram};
use assay_core::record::{Record, Repeat};
use assay_public::database::{Database, Place};
use assay_public::intake;
use assay_public::judge::judge_waiting;
use assay_public::states::State;
use assay_public::store::{self, Incoming};
use assay_stats::random::Generator;
use jiff::Timestamp;

use crate::samples::{Of, close, id_of, redacted, times, whole};

/// Forgeries of each kind, unless `ASSAY_PUBLIC_FORGERIES` says otherwise.
const EACH: u64 = 20;
/// Honest records of odd media for each forgery of a kind.
const ODD: u64 = 10;

fn each() -> u64 {
    std::env::var("ASSAY_PUBLIC_FORGERIES").ok().and_then(|each| each.parse().ok()).unwrap_or(EACH)
}

fn database() -> (tempfile::TempDir, Database) {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(&Place::Sqlite(directory.path().join("db"))).unwrap();
    (directory, database)
}

/// Where a record stands that an account submits.
fn state(database: &Database, account: &str, record: &Record) -> store::Kept {
    let text = redacted(record, account).into_bytes();
    let submission = intake::read(&record.id, text, Timestamp::now()).unwrap_or_else(|error| panic!("{error:?}"));
    let incoming = Incoming { account: account.to_owned(), submission, unlisted: false, key: String::new() };
    database.write(|connection| store::submit(connection, &incoming)).unwrap();
    judge_waiting(database, 10).unwrap();
    database.with(|connection| store::find(connection, &record.id)).unwrap().unwrap()
}

fn all_repeats(record: &mut Record) -> impl Iterator<Item = &mut Repeat> {
    record.measurements.iter_mut().flat_map(|measurement| &mut measurement.repeats)
}

/// A histogram whose values are divided, and its sum.
fn divided(histogram: &StoredHistogram, by: f64) -> StoredHistogram {
    let mut out = Histogram::default();
    for (low, count) in &histogram.counts {
        (0..*count).for_each(|_| out.add((*low as f64 / by) as u64));
    }
    StoredHistogram::from(&out)
}

/// Time runs slower: all that was measured in it is shorter, and contradicts nothing.
fn time_scaled(record: &mut Record, by: f64) {
    let shorter = |ns: u64| (ns as f64 / by) as u64;
    for repeat in all_repeats(record) {
        repeat.histogram = divided(&repeat.histogram, by).into();
        repeat.elapsed_ns = (repeat.histogram.sum_ns as f64 / repeat.in_flight) as u64;
        let seconds = repeat.elapsed_ns as f64 / 1e9;
        (repeat.iops, repeat.bytes_per_second) = (repeat.operations as f64 / seconds, repeat.bytes as f64 / seconds);
        for sample in &mut repeat.samples {
            (sample.t_ns, sample.interval_ns) = (shorter(sample.t_ns), shorter(sample.interval_ns));
        }
    }
    close(record);
}

/// Findings that say so are taken out.
fn hidden(record: &mut Record) {
    record.measurements.iter_mut().for_each(|measurement| measurement.warnings.clear());
    record.warnings.clear();
    record.validity = Validity::judge([].iter());
}

type Forge = fn(&mut Record);

const KINDS: [(&str, Forge); 12] = [
    ("an estimate is edited", |record| times(&mut record.measurements[0].iops, 1.5)),
    ("an interval is narrowed", |record| {
        let iops = record.measurements[0].iops.as_mut().unwrap();
        iops.low = Some(iops.point * 0.9999);
    }),
    ("rates of repeats are edited", |record| {
        all_repeats(record).for_each(|repeat| {
            repeat.iops *= 1.3;
            repeat.bytes_per_second *= 1.3;
        });
        close(record);
    }),
    ("counts are doubled", |record| {
        for repeat in all_repeats(record) {
            (repeat.operations, repeat.bytes, repeat.issued_bytes) =
                (2 * repeat.operations, 2 * repeat.bytes, 2 * repeat.issued_bytes);
            (repeat.iops, repeat.bytes_per_second) = (2.0 * repeat.iops, 2.0 * repeat.bytes_per_second);
        }
        close(record);
    }),
    ("counts and latencies are doubled, and the finding is hidden", |record| {
        for repeat in all_repeats(record) {
            (repeat.operations, repeat.bytes, repeat.issued_bytes) =
                (2 * repeat.operations, 2 * repeat.bytes, 2 * repeat.issued_bytes);
            (repeat.iops, repeat.bytes_per_second) = (2.0 * repeat.iops, 2.0 * repeat.bytes_per_second);
            let mut histogram = (*repeat.histogram).clone();
            histogram.counts.iter_mut().for_each(|(_, count)| *count *= 2);
            histogram.sum_ns *= 2;
            repeat.histogram = histogram.into();
            for sample in &mut repeat.samples {
                (sample.operations, sample.bytes) = (2 * sample.operations, 2 * sample.bytes);
            }
        }
        close(record);
        hidden(record);
    }),
    ("latencies are halved, and the finding is hidden", |record| {
        all_repeats(record).for_each(|repeat| repeat.histogram = divided(&repeat.histogram, 2.0).into());
        close(record);
        hidden(record);
    }),
    ("faster than the bus, without a contradiction", |record| time_scaled(record, 2.5)),
    ("faster than any card, without a contradiction", |record| {
        record.medium.bus = None;
        time_scaled(record, 40.0);
    }),
    ("the run is shorter than its repeats", |record| {
        record.change_settings(|settings| settings.elapsed_ns /= 8);
    }),
    ("a cache answered, and the finding is hidden", |record| {
        all_repeats(record).for_each(|repeat| repeat.proof_ratio = Some(0.3));
        close(record);
        hidden(record);
    }),
    ("a small card is said to be tested beyond its size", |record| record.medium.capacity_bytes = Some(1 << 29)),
    ("three times as fast as others, within the bus", |record| {
        record.measurements.retain(|measurement| measurement.workload.block_bytes == 4096);
        time_scaled(record, 3.0);
    }),
];

#[test]
fn forgeries_are_held_and_odd_media_are_not() {
    let (_directory, database) = database();
    let mut draw = Generator::new(11);
    // Five accounts have the model.
    for account in 0..5u64 {
        for unit in 0..2 {
            let speed = 1.0 + 0.1 * draw.normal();
            let of = Of {
                seed: 10 * account + unit + 1,
                unit: &format!("unit {unit}"),
                speed: speed.clamp(0.7, 1.1),
                ..Of::default()
            };
            let kept = state(&database, &format!("account-{account}"), &whole(of));
            assert_eq!(kept.standing.state, State::Public, "{:?}", kept.standing);
        }
    }
    let mut held: BTreeMap<&str, u64> = BTreeMap::new();
    for (at, (kind, forge)) in KINDS.iter().enumerate() {
        for seed in 0..each() {
            let seed = 100_000 + 10_000 * at as u64 + seed;
            let mut record = whole(Of { seed, unit: &seed.to_string(), ..Of::default() });
            forge(&mut record);
            let kept = state(&database, "mallory", &record);
            *held.entry(kind).or_default() += u64::from(kept.standing.state == State::Held);
        }
    }
    // A copy with another identity, sent by another account.
    for seed in 0..each() {
        let first = state(
            &database,
            "victim",
            &Record { id: id_of(900_000 + seed), ..whole(Of { seed: 700_000 + seed, ..Of::default() }) },
        );
        assert_eq!(first.standing.state, State::Public, "{:?}", first.standing);
        let mut record = Record { id: id_of(910_000 + seed), ..whole(Of { seed: 700_000 + seed, ..Of::default() }) };
        record.medium.unit = Some(format!("another {seed}"));
        record.created = "2026-08-01T00:00:00Z".to_owned();
        all_repeats(&mut record).enumerate().for_each(|(at, repeat)| {
            repeat.started = (Timestamp::from_second(1_785_550_000).unwrap()
                + jiff::SignedDuration::from_secs(2 * at as i64))
            .to_string();
        });
        let kept = state(&database, "mallory", &record);
        *held.entry("a copy with another identity").or_default() += u64::from(kept.standing.state == State::Held);
    }
    let total: u64 = held.values().sum();
    let planted = each() * (KINDS.len() as u64 + 1);
    for (kind, count) in &held {
        println!("held {count} of {}: {kind}", each());
    }
    println!("held {total} of {planted} forgeries");
    assert!(total * 100 >= planted * 95, "{held:#?}");
    let (wrong, odd) = odd_media(&database, &mut draw);
    println!("held {wrong} of {odd} honest records of odd media");
    assert!(wrong * 100 <= odd);
}

/// Slow, erratic, worn and cached media, each honest about it; how many were held, and of how many.
fn odd_media(database: &Database, draw: &mut Generator) -> (u64, u64) {
    let (mut wrong, count) = (0, each() * ODD);
    for seed in 0..count {
        let seed = 2_000_000 + seed;
        let of = Of {
            seed,
            unit: &seed.to_string(),
            speed: 0.05 + draw.uniform(),
            spread: [0.01, 0.1, 0.5][draw.below(3)],
            proof: [1.0, 1.0, 0.5, 1.02][draw.below(4)],
            ..Of::default()
        };
        let kept = state(database, &format!("honest-{}", seed % 40), &whole(of));
        if kept.standing.state != State::Public {
            wrong += 1;
            println!("held {of:?}: {:?}", kept.standing.reasons);
        }
    }
    (wrong, count)
}
