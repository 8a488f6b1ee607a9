//! What list, rank, compare, plan and advise answer from observations is, to the byte, what they answer from whole
//! documents, on stores drawn by seed.

use assay_analysis::advise::{self, BuyQuestion, CacheQuestion, CacheUse, HitSource, Link, NasQuestion};
use assay_analysis::compare::{By, CompareRequest, GateLimit, compare, gate, split};
use assay_analysis::plan::{self, ExperimentPlan, Moves, RaceOptions, Roster, Slots, SwapOptions, SwapPlace};
use assay_analysis::rank::{CompositeKind, RankOptions, rank};
use assay_analysis::{Quantity, by_model, deciding_load, share_verdicts};
use assay_core::estimate::Estimate;
use assay_core::finding::{Finding, ValidityVerdict};
use assay_core::histogram::{Histogram, StoredHistogram};
use assay_core::medium::{Bus, CommandQueue, MediumKind};
use assay_core::observation::Observation;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Batching, Measurement, Record, Repeat, Sample, Sensor, Source};
use assay_core::suite::Suite;
use assay_core::verification::{MapCell, Method, SectorCounts, Verdict, Verification};
use assay_core::workload::{Op, Pattern, Stop, Workload};
use assay_lab::{SplitMix, on_all_processors};
use assay_report::{self as report, Answered, Document, Lives, Redactor, Style, compare, rank};
use assay_store::{ObservationDetail, Owner, RunState, SqliteStore, Store};
use serde_json::{Value, json};

/// Stores drawn, unless `ASSAY_CAMPAIGN_SEEDS` says how many.
const STORES: u64 = 2;

const SUITE: &str = include_str!("../../../../suites/quick.toml");

#[test]
fn every_answer_from_observations_is_that_from_whole_documents() {
    let stores = std::env::var("ASSAY_CAMPAIGN_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(STORES);
    let answered: usize = on_all_processors(0..stores, answers_of_a_store).into_iter().sum();
    assert!(answered as u64 > stores * 20, "{answered} answers that are no refusals");
}

/// Draws a store and asks about it both ways; how many answers were no refusals.
fn answers_of_a_store(seed: u64) -> usize {
    let mut answered = 0;
    let dir = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    let plan = experiment();
    fill(&mut store, &plan, &mut SplitMix::new(seed));
    let whole = |query: &str| -> Vec<Observation> {
        let ids = store.resolve(query).unwrap_or_default();
        ids.iter().map(|id| Observation::from(&store.load(id).unwrap().record)).collect()
    };
    let observed = |query: &str, detail| store.observations(query, detail).unwrap_or_default();
    let all = whole("all");
    let documents = Read { list: all.clone(), rank: all.clone(), all, checks: whole("suite=verify") };
    let observations = Read {
        list: observed("all", ObservationDetail::Estimates),
        rank: observed("all", ObservationDetail::Repeats),
        all: observed("all", ObservationDetail::Latencies),
        checks: observed("suite=verify", ObservationDetail::Estimates),
    };
    assert!(documents.all.iter().any(|record| record.hottest_celsius.is_some()));
    let redactor = Redactor::with_key([7; 32]);
    let pairs = [
        (documents.answers(&plan), observations.answers(&plan)),
        (documents.redacted(&redactor).answers(&plan), observations.redacted(&redactor).answers(&plan)),
    ];
    for (documents, observations) in pairs {
        assert_eq!(documents.len(), observations.len());
        for ((what, expected, good), (_, seen, _)) in documents.into_iter().zip(observations) {
            assert_eq!(expected, seen, "{seed}: {what}");
            answered += usize::from(good);
        }
    }
    answered
}

/// The records as the commands read them.
struct Read {
    list: Vec<Observation>,
    rank: Vec<Observation>,
    all: Vec<Observation>,
    checks: Vec<Observation>,
}

/// What was asked, what was answered in every form, and whether that is no refusal.
type Answers = Vec<(String, String, bool)>;

impl Read {
    fn redacted(&self, redactor: &Redactor) -> Self {
        let of = |records: &[Observation]| {
            records.iter().flat_map(|record| redactor.observations([record]).unwrap()).collect()
        };
        Self { list: of(&self.list), rank: of(&self.rank), all: of(&self.all), checks: of(&self.checks) }
    }

    fn answers(&self, plan: &ExperimentPlan) -> Answers {
        let (mut ranked, mut all) = (self.rank.clone(), self.all.clone());
        share_verdicts(&mut ranked, &self.checks);
        share_verdicts(&mut all, &self.checks);
        let mut out = vec![("list".to_owned(), assay_report::list(&self.list, &Lives::new(), &Style::default()), true)];
        tell(
            &mut out,
            "list -o",
            Ok::<_, String>((Value::Null, assay_report::list_document(&self.list, &Lives::new()))),
        );
        for quantity in [None, Some(Quantity::DurableBytesPerSecond), Some(Quantity::P99Ns), Some(Quantity::P9999Ns)] {
            let of = if quantity.is_some_and(|q| q.percentile().is_some()) { &all } else { &ranked };
            rankings(&mut out, of, quantity);
        }
        for quantity in [None, Some(Quantity::P50Ns), Some(Quantity::P95Ns), Some(Quantity::P999Ns)] {
            comparisons(&mut out, &all, quantity);
            steps(&mut out, &all, quantity);
        }
        let status = plan::status(plan, &self.rank);
        tell(&mut out, "plan status", Ok::<_, String>((json!(status), report::plan::status(plan, &status))));
        questions(&mut out, &all);
        out
    }
}

/// An answer as JSON, as a page and as a table, or why there is none.
fn tell<E: ToString>(out: &mut Answers, what: &str, answer: Result<(Value, Document), E>) {
    let (text, good) = match answer {
        Ok((json, document)) => {
            ([json.to_string(), document.text(&Style::default()), document.html(), document.csv()].join("\n"), true)
        }
        Err(error) => (error.to_string(), false),
    };
    out.push((what.to_owned(), text, good));
}

fn rankings(out: &mut Answers, records: &[Observation], quantity: Option<Quantity>) {
    let records: Vec<&Observation> = records.iter().collect();
    let composite = quantity.is_none().then_some(CompositeKind::Index);
    let ask = RankOptions { quantity, composite, ..RankOptions::default() };
    let report = rank(&records, &ask).map(|report| {
        let (text, document) = (rank::text(&report, true, &Style::default()), rank::document(&report));
        (json!([report, text]), document)
    });
    tell(out, &format!("rank {quantity:?}"), report);
}

fn comparisons(out: &mut Answers, records: &[Observation], quantity: Option<Quantity>) {
    let named = [records.to_vec()];
    for by in [By::Model, By::Unit] {
        let groups = split(&named, by);
        let request = CompareRequest { quantity, ..CompareRequest::default() };
        let limits = [GateLimit::parse("slower than 5%").unwrap(), GateLimit::parse("p99 higher than 10%").unwrap()];
        let found = compare(&groups, &request).map(|found| {
            let gate = gate(&groups, &request, &found, &limits, true).ok();
            let document = compare::document(&found, gate.as_ref());
            (json!([compare::text(&found, &Style::default()), found, gate]), document)
        });
        tell(out, &format!("compare {quantity:?}"), found);
    }
}

fn steps(out: &mut Answers, records: &[Observation], quantity: Option<Quantity>) {
    let Ok(load) = deciding_load(&by_model(records), None, None) else { return };
    let quantity = quantity.unwrap_or_else(|| Quantity::usual(&load));
    let options = RaceOptions { threshold: 0.95, cap: 6, left: None, slots: 2, dropped: Vec::new(), seed: 1 };
    let race = plan::race(records, &load, quantity, &options).map(|race| {
        let document = report::plan::race(&race);
        (json!(race), document)
    });
    tell(out, &format!("plan race {quantity:?}"), race);
    let place = |text| SwapPlace::parse(text, "a test").unwrap();
    let options = SwapOptions { suspect: place("Model 0=0@1"), other: place("Model 0=1@2") };
    let swap = plan::swap_test(records, Some((&load, quantity)), &options).map(|swap| {
        let document = report::plan::swap(&swap);
        (json!(swap), document)
    });
    tell(out, &format!("plan swap {quantity:?}"), swap);
}

fn questions(out: &mut Answers, records: &[Observation]) {
    let of = |model: &str| -> Vec<Observation> { records.iter().filter(|r| r.model() == model).cloned().collect() };
    let nas = NasQuestion::for_nodes(28, Link::Line(125e6));
    let parts_of = |parts_of: Answered| (parts_of.json, parts_of.document);
    tell(
        out,
        "advise nas",
        advise::nas(records, &of("Model 1"), &nas).map(|found| parts_of(report::advise::nas(&found))),
    );
    for use_as in [CacheUse::L2arc, CacheUse::Slog] {
        let cache = CacheQuestion {
            use_as,
            hits: HitSource::Share(0.5),
            ram_bytes: None,
            size_bytes: None,
            feed_bytes_per_second: 8e6,
            block_bytes: None,
        };
        let found = advise::cache(&of("Model 0"), &of("Model 1"), &cache);
        tell(out, "advise cache", found.map(|found| parts_of(report::advise::cache(&found))));
    }
    let buy = BuyQuestion::for_nodes(28);
    tell(out, "advise buy", advise::buy(records, &buy).map(|found| parts_of(report::advise::buy(&found))));
    tell(out, "advise class", advise::class(records, &[]).map(|found| parts_of(report::advise::class(&found))));
}

fn experiment() -> ExperimentPlan {
    let suite = Suite::parse(SUITE, "quick").unwrap();
    ExperimentPlan::new(&plan::PlanRequest {
        roster: &Roster::inline("Model 0=0,1;Model 1=0,1", "units").unwrap(),
        slots: &Slots::parse("2", "slots").unwrap(),
        rounds: 2,
        moves: Moves::EachRound,
        suite: &suite,
        suite_source: "quick",
        suite_text: SUITE,
        handling_minutes: 1.0,
        seed: Some(1),
    })
    .unwrap()
}

/// Some models with some units and runs, of which some are under way, broken, invalid, fake, checked or published.
fn fill(store: &mut SqliteStore, plan: &ExperimentPlan, dice: &mut SplitMix) {
    for model in 0..2 + dice.index(2) {
        for unit in 0..1 + dice.index(4) {
            for run in 0..1 + dice.index(3) {
                let record = record(plan, (model, unit, run), dice);
                let owner = Owner::current();
                let state = match record.outcome {
                    Outcome::Running => RunState::Running { owner: &owner, scratch: None },
                    _ => RunState::Finished,
                };
                store.save(&record, state).unwrap();
            }
        }
    }
    for (at, mut record) in assay_analysis::published_records("sandisk-ultra-a1").unwrap().into_iter().enumerate() {
        record.id = format!("published{at}");
        record.created = "2026-01-01T03:04:05Z".to_owned();
        let latency = |dice: &mut SplitMix| Some(Estimate::bare(1e6 * share(dice), 1, "as printed").into());
        for measurement in &mut record.measurements {
            measurement.latency_ns.p50 = latency(dice);
            measurement.latency_ns.p99 = latency(dice);
        }
        store.save(&record, RunState::Finished).unwrap();
    }
}

/// Between 0.5 and 1.5.
fn share(dice: &mut SplitMix) -> f64 {
    0.5 + dice.below(1 << 20) as f64 / f64::from(1 << 20)
}

fn record(plan: &ExperimentPlan, (model, unit, run): (usize, usize, usize), dice: &mut SplitMix) -> Record {
    // Everything that is not set here is as a published record has it.
    let mut record = assay_analysis::published_records("samsung-evo-plus-64gb").unwrap().remove(0);
    record.id = format!("m{model}u{unit}r{run}");
    record.created = format!("2026-01-{:02}T03:04:05Z", run + 1);
    record.origin = assay_core::record::Origin::default();
    record.labels.clear();
    for (key, value) in [("model", format!("Model {model}")), ("unit", unit.to_string()), ("price", "10USD".to_owned())]
    {
        record.labels.insert(key.to_owned(), value);
    }
    if dice.one_in(2) {
        for (key, value) in
            [("round", "1".to_owned()), ("slot", (1 + dice.index(2)).to_string()), ("plan", plan.label())]
        {
            record.labels.insert(key.to_owned(), value);
        }
    }
    record.host.hostname = Some(format!("secrethost{}", dice.index(3)));
    record.host.slot = Some(dice.index(4).to_string());
    record.suite.name = "quick".to_owned();
    record.change_settings(|settings| {
        settings.suite_text = if dice.one_in(3) { SUITE.replace("4KiB", "8KiB") } else { SUITE.to_owned() }
    });
    record.change_settings(|settings| settings.confidence = dice.one_in(5).then_some(0.05));
    record.medium.kind = if dice.one_in(8) { MediumKind::Loop } else { MediumKind::Sd };
    record.medium.unit = Some(format!("SERIAL-{model}-{unit}"));
    record.medium.path = "/home/jane/card".to_owned();
    record.medium.mount_options = vec!["rw".to_owned(), "username=jane".to_owned()];
    record.medium.health.insert("firmware".to_owned(), "7".to_owned());
    record.medium.command_queue = dice.one_in(2).then_some(CommandQueue::On);
    record.medium.claimed_classes = vec!["A1".to_owned()];
    record.medium.capacity_bytes = Some(32_000_000_000);
    record.medium.bus = dice.one_in(2).then(|| Bus {
        kind: "sd".to_owned(),
        mode: "SDR50".to_owned(),
        ceiling_bytes_per_second: Some(50e6),
        reachable_bytes_per_second: Some(45e6),
        driver: None,
        source: "debugfs".to_owned(),
    });
    record.sensors = vec![Sensor {
        name: "cpu".to_owned(),
        kind: "temperature".to_owned(),
        unit: "°C".to_owned(),
        source: "hwmon".to_owned(),
        samples: (0..50).map(|n| (n, 40.5)).collect(),
    }];
    let mut loads = workloads();
    loads.retain(|_| !dice.one_in(7));
    record.measurements = loads.into_iter().map(|load| measured(load, dice)).collect();
    mishap(&mut record, dice);
    record
}

fn mishap(record: &mut Record, dice: &mut SplitMix) {
    match dice.below(16) {
        0 => {
            record.outcome = Outcome::Failed {
                failure: RunFailure::ReadOnly,
                detail: "on secrethost1".to_owned(),
                workload: None,
                elapsed_ns: 5,
                written_bytes: 7,
            };
        }
        1 => record.outcome = Outcome::Running,
        2 => record.warnings.push(Finding::ServedFromCache { proof_ratio: 0.02 }.into()),
        3 => {
            record.validity.verdict = ValidityVerdict::Invalid;
            record.validity.reasons = vec![Finding::NotSaved { reason: "SERIAL-0-0 was full".to_owned() }.into()];
        }
        4 => {
            let verdict = if dice.one_in(2) { Verdict::Fake } else { Verdict::Genuine };
            record.verification = Some(verification(verdict));
        }
        5 => {
            record.suite.name = "verify".to_owned();
            record.measurements.clear();
            record.verification = Some(verification(Verdict::Damaged));
        }
        6 => {
            let (format, file) = ("crystaldiskmark".to_owned(), "/home/jane/a.txt".to_owned());
            record.origin = assay_core::record::Origin::Imported(Source { format, file, ..Source::default() });
        }
        _ => {}
    }
}

fn verification(verdict: Verdict) -> Verification {
    let counts = SectorCounts { good: 1, ..SectorCounts::default() };
    Verification {
        verdict,
        announced_bytes: 64,
        real_bytes: Some(8),
        checked_bytes: 64,
        written_bytes: 64,
        counts,
        map: vec![MapCell { offset_bytes: 0, bytes: 64, counts }; 100],
        ..Verification::undecided(Method::Full)
    }
}

fn workloads() -> Vec<Workload> {
    let load = |name: &str, op, pattern, block_bytes, queue_depth| Workload {
        queue_depth,
        span_bytes: 1 << 30,
        stop: Stop { ramp_ns: 0, duration_ns: 1, max_bytes: None },
        ..Workload::new(name, op, pattern, block_bytes)
    };
    vec![
        load("r1", Op::Read, Pattern::Random, 4096, 1),
        load("r32", Op::Read, Pattern::Random, 4096, 32),
        load("again", Op::Read, Pattern::Random, 4096, 32),
        load("w32", Op::Write, Pattern::Random, 4096, 32),
        load("sr", Op::Read, Pattern::Sequential, 1 << 20, 8),
        load("sw", Op::Write, Pattern::Sequential, 1 << 20, 8),
    ]
}

fn measured(workload: Workload, dice: &mut SplitMix) -> Measurement {
    let base = if workload.pattern == Pattern::Random { 3000.0 } else { 40.0 };
    let writes = workload.op == Op::Write;
    let mut measurement = Measurement::empty(workload, "uring");
    for _ in 0..dice.index(5) {
        let repeat = repeat(base * share(dice), measurement.workload.block_bytes, writes, dice);
        measurement.repeats.push(repeat);
    }
    let estimate =
        |point: f64| Estimate { low: Some(point * 0.9), high: Some(point * 1.2), ..Estimate::bare(point, 3, "mean") };
    let points = (!measurement.repeats.is_empty()).then(|| estimate(base * share(dice)));
    measurement.durable_bytes_per_second = points.clone().filter(|_| writes);
    measurement.bytes_per_second = points.clone();
    measurement.latency_ns.p50 = points.clone().map(Box::new);
    measurement.iops = points;
    measurement.bus_limited = dice.one_in(6);
    let batching = Batching { wait_for: 8, tried: 8, iops_ratio: 1.1, p50_ratio: Some(1.2), p99_ratio: None };
    measurement.batching = dice.one_in(3).then(|| Box::new(batching));
    match dice.below(12) {
        0 => measurement.warn(Finding::ServedFromCache { proof_ratio: 0.02 }),
        1 => measurement.warn(Finding::SwapOnMedium),
        _ => {}
    }
    measurement
}

fn repeat(iops: f64, block_bytes: u64, writes: bool, dice: &mut SplitMix) -> Repeat {
    let mut histogram = Histogram::default();
    let operations = [0, 5, 1_500, 12_000][dice.index(4)];
    (0..operations).for_each(|_| histogram.add((1e9 / iops * share(dice) * share(dice)) as u64));
    let failed = Outcome::Failed {
        failure: RunFailure::Suspended,
        detail: String::new(),
        workload: None,
        elapsed_ns: 1,
        written_bytes: 0,
    };
    Repeat {
        started: "2026-01-02T03:04:05Z".to_owned(),
        elapsed_ns: 1_000_000_000,
        operations,
        bytes: operations * block_bytes,
        iops,
        bytes_per_second: iops * block_bytes as f64,
        issued_bytes: operations * block_bytes,
        durable_bytes_per_second: writes.then_some(iops * 4000.3),
        in_flight: 1.0,
        proof_ratio: Some(1.0),
        samples: vec![Sample { t_ns: 1, interval_ns: 1, operations: 1, bytes: 1, p50_ns: None, p99_ns: None }],
        histogram: StoredHistogram::from(&histogram).into(),
        first_done_ns: 1,
        last_done_ns: 1,
        service_histogram: None,
        unserved: None,
        steady: None,
        original: None,
        common_start: None,
        outcome: if dice.one_in(10) { failed } else { Outcome::Completed },
    }
}
