//! A year of nights with a compressed clock: records in a store, one degradation, one change of the kernel, one missed week and
//! one restart of the program. Exactly the right events come out, once, and the records alone give them again.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use assay_core::draft::Draft;
use assay_core::health::{Counter, CounterKind, HealthSource};
use assay_core::medium::Medium;
use assay_core::origin::Settings;
use assay_core::outcome::Outcome;
use assay_core::record::{Host, Measurement, Record, Repeat, SuiteRef, Tool};
use assay_core::workload::{Op, Pattern, Workload};
use assay_stats::random::Generator;
use assay_store::{RunState, SqliteStore, Store};
use assay_watch::{
    Condition, Conditions, DAY, Event, FIRST, Figure, Kept, Kind, Measured, Night, Plan, RUN_LABEL, SECOND, Status,
    WATCH_LABEL, What, metrics,
};

/// 2026-01-01, and the time of the nights.
const BEGIN: i64 = 20_454 * DAY + 12_600;
const KERNEL: i64 = 90;
const WEEK: std::ops::Range<i64> = 150..157;
const FALL: i64 = 200;

fn plan() -> Plan {
    Plan {
        name: "card".into(),
        title: "Card, 32.0 GB".into(),
        unit: Some("0x1234".into()),
        target: "/mnt/card".into(),
        raw: false,
        measured: Measured::Here,
        nightly: "03:30".into(),
        suite: "quick".into(),
        budget_seconds: 60,
        max_write_bytes: 256 << 20,
        endurance_bytes: None,
        capacity_bytes: Some(32_000_000_000),
        notify: Vec::new(),
        webhooks: Vec::new(),
        mail: Vec::new(),
        mqtt: None,
        textfile: None,
    }
}

/// The record of a night: two loads, of which one loses 15 % at [`FALL`].
fn record(day: i64, run: &str, life: i64, random: &mut Generator) -> Record {
    let mut medium = Medium::unknown("/mnt/card");
    medium.unit = Some("0x1234".into());
    medium.readings.counters = vec![Counter::read(CounterKind::LifeUsedATenths, HealthSource::ExtCsd, life)];
    let kernel = if day < KERNEL { "6.1.0" } else { "6.6.0" };
    let host = Host { hostname: Some("pi".into()), kernel: Some(kernel.into()), ..Host::default() };
    let labels = BTreeMap::from([(WATCH_LABEL.to_owned(), "card".to_owned()), (RUN_LABEL.to_owned(), run.to_owned())]);
    let created = created(day, run);
    let id = format!("{day:05}{}", run.chars().next().unwrap());
    let settings = Settings { written_bytes: 200 << 20, ..Settings::default() };
    let mut draft = Draft::begin(&id, &created, Tool::assay("0.1.0", "uring", ""), SuiteRef::new("quick", 1), medium)
        .on_host(host)
        .labelled(labels)
        .with_settings(settings);
    for (name, op, level) in [("read", Op::Read, 1500.0), ("write", Op::Write, 400.0)] {
        let mut measurement = Measurement::empty(Workload::new(name, op, Pattern::Random, 4096), "uring");
        let night = 0.02 * random.normal();
        let kernel = if day < KERNEL { 1.0 } else { 0.93 };
        let fall = if name == "write" && day >= FALL { 0.85 } else { 1.0 };
        for _ in 0..3 {
            let mut repeat = Repeat::empty(&created, Outcome::Completed);
            repeat.iops = level * kernel * fall * (night + 0.005 * random.normal()).exp();
            measurement.repeats.push(repeat);
        }
        draft.fill().measurements.push(measurement);
    }
    draft.close(Outcome::Completed)
}

fn seconds(day: i64, run: &str) -> i64 {
    BEGIN + day * DAY + if run == SECOND { 90 } else { 0 }
}

fn created(day: i64, run: &str) -> String {
    // Civil date from days (Hinnant, "chrono-compatible low-level date algorithms").
    let at = seconds(day, run);
    let z = at.div_euclid(DAY) + 719_468;
    let era = z.div_euclid(146_097);
    let of_era = z.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let mp = (5 * of_year + 2) / 153;
    let (d, m) = (of_year - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    let year = year_of_era + era * 400 + i64::from(m <= 2);
    let time = at.rem_euclid(DAY);
    format!("{year:04}-{m:02}-{d:02}T{:02}:{:02}:{:02}Z", time / 3600, time / 60 % 60, time % 60)
}

fn text(kept: &Kept) -> String {
    serde_json::to_string(kept).unwrap()
}

#[test]
fn a_year_gives_exactly_its_events_and_the_records_give_them_again() {
    let place = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(place.path()).unwrap();
    let (mut random, mut kept) = (Generator::new(2026), Kept::new(plan(), BEGIN));
    let mut events: Vec<Event> = Vec::new();
    let mut seconds_made = 0;
    for day in (0..365).filter(|day| !WEEK.contains(day)) {
        if day == 250 {
            // The program ends and begins again.
            kept = serde_json::from_str(&text(&kept)).unwrap();
        }
        let life = if day < 300 { 1 } else { 2 };
        let first = record(day, FIRST, life, &mut random);
        store.save(&first, RunState::Finished).unwrap();
        let mut again = || {
            let second = record(day, SECOND, life, &mut random);
            store.save(&second, RunState::Finished).unwrap();
            seconds_made += 1;
            Some(second)
        };
        events.extend(kept.take(&first, seconds(day, FIRST), &mut again).unwrap().events);
    }
    assert_eq!(events.len(), 4, "{events:#?}");
    assert_eq!(events[0].what, What::ConditionsChanged { changed: vec![Condition::Kernel] });
    let first_day = BEGIN.div_euclid(DAY);
    assert_eq!(events[0].day, first_day + KERNEL);
    assert_eq!(events[1].what, What::Missed { first_day: first_day + WEEK.start, nights: 7 });
    let What::Worse { figures } = &events[2].what else { panic!("{:?}", events[2]) };
    assert!(events[2].day - first_day - FALL < 5, "{:?}", events[2]);
    assert_eq!(figures.len(), 1, "{figures:?}");
    assert!(figures[0].load == "write" && figures[0].since_day == first_day + FALL, "{figures:?}");
    assert!(figures[0].change.low < 0.85 && 0.85 < figures[0].change.high, "{figures:?}");
    assert_eq!(events[3].what, What::Counter { name: "life_used_a_tenths".into(), before: 1, now: 2 });
    assert!((1..5).contains(&seconds_made), "{seconds_made} second runs");

    // What a person has seen is silent.
    let now = seconds(365, FIRST);
    let status = Status::of(&kept, now);
    let open: Vec<&str> = status.open.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(open, ["card/2", "card/3", "card/4"]);
    assert!(!status.is_quiet() && !status.overdue);
    let metrics = metrics(&[status]);
    assert!(metrics.contains("assay_watch_open_alarms{watch=\"card\"} 3\n"), "{metrics}");
    [2, 3, 4].iter().for_each(|number| assert!(kept.watch.acknowledge(*number)));
    assert!(Status::of(&kept, now).is_quiet());
    assert!(!Status::of(&kept, now + 2 * DAY).is_quiet(), "a night is overdue");

    // The records alone.
    let mut again = Kept::new(plan(), BEGIN);
    let mut replayed = Vec::new();
    let records: Vec<Record> =
        store.resolve("watch=card").unwrap().iter().map(|id| store.load(id).unwrap().record).collect();
    for (at, first) in records.iter().enumerate().filter(|(_, record)| record.labels[RUN_LABEL] == FIRST) {
        let day: i64 = first.id[..5].parse().unwrap();
        let second = records.get(at + 1).filter(|record| record.labels[RUN_LABEL] == SECOND);
        let taken = again.take(first, seconds(day, FIRST), &mut || second.cloned()).unwrap();
        replayed.extend(taken.events);
    }
    assert_eq!(replayed, events);
    assert_eq!(again.watch.levels(), kept.watch.levels());
}

/// A night of four loads with rate and latency.
fn night(day: i64, random: &mut Generator) -> Night {
    let mut figures = Vec::new();
    for load in ["sequential-read", "random-read", "sequential-write", "random-write-synced"] {
        for kind in [Kind::Rate, Kind::Latency] {
            let log = 7.0 + 0.03 * random.normal();
            figures.push(Figure { load: load.into(), kind, log, error: Some(0.0123), n: 3 });
        }
    }
    let conditions = Conditions { celsius: Some(30.0 + random.normal()), ..Conditions::default() };
    Night { day, conditions, figures, counters: Vec::new() }
}

/// Prints how long the status of 28 media takes; the size is what a busy machine does not change.
#[test]
fn what_is_kept_of_ten_years_is_small_and_read_at_once() {
    let (mut random, mut kept) = (Generator::new(7), Kept::new(plan(), BEGIN));
    for day in 0..3650 {
        let one = night(day, &mut random);
        kept.watch.take(&one, &mut || Some(one.clone()));
    }
    kept.watch.draw_trends();
    let kept_text = text(&kept);
    assert!(kept_text.len() < 400_000, "{} bytes", kept_text.len());
    let begun = std::time::Instant::now();
    for _ in 0..28 {
        let status = Status::of(&serde_json::from_str(&kept_text).unwrap(), seconds(3650, FIRST));
        assert_eq!((status.nights, status.levels.len()), (3650, 8));
        assert!(status.levels.iter().all(|level| level.trend.is_some()));
        assert!(serde_json::to_string(&status).unwrap().len() < 20_000);
    }
    println!("28 media of 10 years, {} bytes each: {:?}", kept_text.len(), begun.elapsed());
}
