//! The records that the measurement of a fleet leaves, and the random effects in them.

use std::collections::BTreeMap;

use assay_core::cluster::{ClockFit, ClusterPart, CommonStart};
use assay_core::draft::Draft;
use assay_core::estimate::Estimate;
use assay_core::histogram::{SCHEME, StoredHistogram, bounds_of, bucket_of};
use assay_core::medium::{Bus, Medium, MediumKind};
use assay_core::outcome::Outcome;
use assay_core::record::{Host, Measurement, Record, Repeat, Settings, SuiteRef, Tool};
use assay_core::verification::{Method, ReadBack, Verdict, Verification};
use assay_core::workload::Op;
use assay_engine::mix;
use assay_stats::{geometric, geometric_until_known};
use jiff::{SignedDuration, Timestamp};

use super::truth::{Design, Load, Model, Part, REPEAT_NS, Repeats, TrueRun, Truth, Units};
use crate::dice::Dice;

/// 2026-03-02 08:00 UTC, the first day.
const FIRST: i64 = 1_772_438_400;
/// Time from one run of a day to the next, in seconds.
const BETWEEN_RUNS: i64 = 600;
const DAY: i64 = 86_400;
/// From this share of the ceiling on, the runner states that the bus is the limit.
const NEAR_CEILING: f64 = 0.95;
/// Noise behind a bus, as a share of the noise of a medium.
const BUS_NOISE: f64 = 0.25;

/// A fleet: its truth, its design, and the seed of all random effects.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// The truth.
    pub truth: Truth,
    /// Which unit is measured at which place and time.
    pub design: Design,
    /// The seed of all random effects.
    pub seed: u64,
}

impl Fleet {
    /// The records of all runs, in their order.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        let mut seen: BTreeMap<(usize, usize, usize, u32), usize> = BTreeMap::new();
        let mut of_day: BTreeMap<u32, i64> = BTreeMap::new();
        let record = |(at, run): (usize, &TrueRun)| {
            let attempt = seen.entry((run.model, run.unit, run.host, run.day)).or_default();
            let place = of_day.entry(run.day).or_default();
            let begin = FIRST + i64::from(run.day) * DAY + *place * BETWEEN_RUNS;
            (*attempt, *place) = (*attempt + 1, *place + 1);
            self.record(at, run, *attempt - 1, begin)
        };
        self.design.0.iter().enumerate().map(record).collect()
    }

    fn effects(&self) -> Effects<'_> {
        Effects { truth: &self.truth, seed: self.seed }
    }

    /// Operations per second of a model: the median of its units.
    #[must_use]
    pub fn model(&self, model: usize, load: usize) -> f64 {
        self.effects().model(model, load).exp()
    }

    /// Operations per second of a unit over many days.
    #[must_use]
    pub fn unit(&self, model: usize, unit: usize, load: usize) -> f64 {
        let effects = self.effects();
        (effects.model(model, load) + effects.unit(model, unit, load)).exp()
    }

    /// Operations per second of a unit at the place and on the day of its first run there.
    #[must_use]
    pub fn run(&self, run: &TrueRun, load: usize) -> f64 {
        self.unit(run.model, run.unit, load) * self.effects().run(run, 0, load).exp()
    }

    fn record(&self, at: usize, run: &TrueRun, attempt: usize, begin: i64) -> Record {
        let model = &self.truth.models[run.model];
        let mut labels =
            BTreeMap::from([("model".to_owned(), model.name.clone()), ("unit".to_owned(), (run.unit + 1).to_string())]);
        labels.extend(model.price.clone().map(|price| ("price".to_owned(), price)));
        labels.extend(run.slot.map(|slot| ("slot".to_owned(), (slot + 1).to_string())));
        labels.extend(run.round.map(|round| ("round".to_owned(), (round + 1).to_string())));
        let medium = Medium {
            kind: MediumKind::Sd,
            capacity_bytes: Some(32_000_000_000),
            filesystem: Some("ext4".to_owned()),
            bus: self.bus(),
            ..Medium::unknown("/mnt")
        };
        let confidence = match run.repeats {
            Repeats::Fixed(_) => None,
            Repeats::Until(width, _, _) => Some(width),
        };
        let settings = Settings { confidence, span_bytes: 256 << 20, seed: self.seed, ..Settings::default() };
        let id = format!("{:05x}{at:05}", self.seed & 0xf_ffff);
        let tool = Tool::assay(env!("CARGO_PKG_VERSION"), "uring", "the fastest there is");
        let mut draft = Draft::begin(&id, &time(begin), tool, SuiteRef::new("quick", 1), medium)
            .on_host(Host { hostname: Some(format!("node{}", run.host + 1)), ..Host::default() })
            .labelled(labels)
            .with_settings(settings);
        draft.fill().measurements = self.measurements(run, attempt, begin);
        if self.truth.fakes.contains(&(run.model, run.unit)) {
            draft.fill().verification = Some(fake());
        }
        draft.close(Outcome::Completed)
    }

    fn bus(&self) -> Option<Bus> {
        let ceiling = self.truth.ceiling.filter(|ceiling| ceiling.known)?;
        Some(Bus {
            kind: "sd".to_owned(),
            mode: "SDR25".to_owned(),
            ceiling_bytes_per_second: Some(ceiling.bytes_per_second),
            reachable_bytes_per_second: Some(ceiling.bytes_per_second),
            driver: None,
            source: "/sys/kernel/debug/mmc0/ios".to_owned(),
        })
    }

    fn measurements(&self, run: &TrueRun, attempt: usize, begin: i64) -> Vec<Measurement> {
        let effects = self.effects();
        let most = match run.repeats {
            Repeats::Fixed(n) | Repeats::Until(_, _, n) => n,
        };
        let last = (self.truth.loads.len() * most).saturating_sub(1).max(1) as f64;
        let of_load = |(load, of): (usize, &Load)| {
            let level = effects.model(run.model, load)
                + effects.unit(run.model, run.unit, load)
                + effects.run(run, attempt, load);
            let mut values: Vec<f64> = Vec::with_capacity(most);
            for (number, noise) in effects.repeats(run, attempt, load).take(most).enumerate() {
                let place = (load * most + number) as f64 / last - 0.5;
                values.push(self.through_bus(of, level + self.truth.spread.drift * place + noise, noise));
                if narrow(run.repeats, &values) {
                    break;
                }
            }
            self.measurement(
                of,
                &values,
                interval(run.repeats),
                begin + (load * most) as i64 * (REPEAT_NS / 1_000_000_000) as i64,
            )
        };
        self.truth.loads.iter().enumerate().map(of_load).collect()
    }

    /// The rate that is measured behind the bus.
    fn through_bus(&self, load: &Load, ln: f64, noise: f64) -> f64 {
        let Some(ceiling) = self.truth.ceiling else { return ln.exp() };
        let most = ceiling.bytes_per_second / load.rate(1.0);
        ln.exp().min(most * (-BUS_NOISE * noise.abs()).exp())
    }

    fn measurement(&self, load: &Load, values: &[f64], interval: Interval, begin: i64) -> Measurement {
        let mut measurement = Measurement::empty(load.workload.clone(), "uring");
        let start = |number: usize| time(begin + number as i64 * (REPEAT_NS / 1_000_000_000) as i64);
        measurement.repeats = values.iter().enumerate().map(|(at, iops)| repeat(load, *iops, &start(at))).collect();
        let rates: Vec<f64> = values.iter().map(|iops| load.rate(*iops)).collect();
        measurement.iops = interval(values);
        measurement.bytes_per_second = interval(&rates);
        measurement.durable_bytes_per_second = interval(&rates).filter(|_| load.workload.op != Op::Read);
        measurement.proof_ratio = Some(1.0);
        measurement.in_flight = Some(f64::from(load.workload.queue_depth));
        let known = self.truth.ceiling.filter(|ceiling| ceiling.known);
        let rate = measurement.bytes_per_second.as_ref().map_or(0.0, |rate| rate.point);
        measurement.bus_limited = known.is_some_and(|ceiling| rate >= NEAR_CEILING * ceiling.bytes_per_second);
        measurement
    }
}

/// The interval over repeats, computed as a run does.
type Interval = fn(&[f64]) -> Option<Estimate>;

fn interval(repeats: Repeats) -> Interval {
    match repeats {
        Repeats::Fixed(_) => geometric,
        Repeats::Until(..) => geometric_until_known,
    }
}

fn narrow(repeats: Repeats, values: &[f64]) -> bool {
    let Repeats::Until(width, least, _) = repeats else { return false };
    let half = || interval(repeats)(values).and_then(|estimate| estimate.relative_half_width());
    values.len() >= least && half().is_some_and(|half| half <= width)
}

fn repeat(load: &Load, iops: f64, started: &str) -> Repeat {
    let operations = (iops * REPEAT_NS as f64 / 1e9).round().max(1.0) as u64;
    let bytes = operations * load.workload.block_bytes;
    let latency = (f64::from(load.workload.queue_depth) * 1e9 / iops) as u64;
    let (bucket, _) = bounds_of(bucket_of(latency));
    Repeat {
        elapsed_ns: REPEAT_NS,
        operations,
        bytes,
        iops,
        bytes_per_second: load.rate(iops),
        issued_bytes: bytes,
        durable_bytes_per_second: (load.workload.op != Op::Read).then(|| load.rate(iops)),
        in_flight: f64::from(load.workload.queue_depth),
        proof_ratio: Some(1.0),
        histogram: StoredHistogram {
            scheme: SCHEME.to_owned(),
            sum_ns: latency.saturating_mul(operations),
            min_ns: latency,
            max_ns: latency,
            counts: vec![(bucket, operations)],
        }
        .into(),
        first_done_ns: REPEAT_NS,
        last_done_ns: REPEAT_NS,
        ..Repeat::empty(started, Outcome::Completed)
    }
}

/// A card of 8 GB that is sold as one of 32 GB.
fn fake() -> Verification {
    let (announced, real) = (32_000_000_000, 8_000_000_000);
    Verification {
        verdict: Verdict::Fake,
        announced_bytes: announced,
        real_bytes: Some(real),
        checked_bytes: announced,
        written_bytes: announced,
        read_back: ReadBack::Direct,
        ..Verification::undecided(Method::Full)
    }
}

fn time(seconds: i64) -> String {
    let since = SignedDuration::from_secs(seconds);
    Timestamp::from_duration(since).map_or_else(|_| String::new(), |time| time.to_string())
}

// The random effects of a fleet. Each depends only on the seed and on the part that has it. So a fleet stays the same
// if it is measured again, or if more units are bought.

/// The part that has an effect.
#[derive(Debug, Clone, Copy)]
enum Of {
    Unit = 1,
    Host,
    Slot,
    Day,
    Run,
    Repeats,
}

/// Loads are numbered from 1; 0 is the part common to all loads.
const ALL_LOADS: u64 = 0;

/// The effects of a fleet, as logarithms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effects<'a> {
    pub(super) truth: &'a Truth,
    pub(super) seed: u64,
}

impl Effects<'_> {
    fn dice(&self, of: Of, key: [u64; 5]) -> Dice {
        let seed = key.iter().fold(mix(self.seed ^ ((of as u64) << 56)), |seed, part| mix(seed ^ part));
        Dice::new(seed)
    }

    /// An effect that is partly the same under all loads.
    fn correlated(&self, of: Of, [a, b, c]: [u64; 3], load: usize, draw: impl Fn(&mut Dice) -> f64) -> f64 {
        let common = self.truth.spread.common;
        let mut value = 0.0;
        if common > 0.0 {
            value += common.sqrt() * draw(&mut self.dice(of, [a, b, c, ALL_LOADS, 0]));
        }
        if common < 1.0 {
            value += (1.0 - common).sqrt() * draw(&mut self.dice(of, [a, b, c, load as u64 + 1, 0]));
        }
        value
    }

    /// The level of a model under a load.
    pub(super) fn model(&self, model: usize, load: usize) -> f64 {
        (self.truth.loads[load].iops * self.truth.models[model].ratio).ln()
    }

    /// The effect of a unit, relative to its model, under a load.
    pub(super) fn unit(&self, model: usize, unit: usize, load: usize) -> f64 {
        let Model { units, .. } = self.truth.models[model];
        let key = [model as u64, unit as u64, 0];
        let normal = |deviation: f64| deviation * self.correlated(Of::Unit, key, load, Dice::normal);
        let own = match units {
            Units::Normal(deviation) => normal(deviation),
            Units::Heavy(deviation) => deviation * self.correlated(Of::Unit, key, load, heavy),
            Units::Kinds { share, ratio, deviation } => {
                let second = self.dice(Of::Unit, [model as u64, unit as u64, 0, ALL_LOADS, 1]).chance(share);
                normal(deviation) + if second { ratio.ln() } else { 0.0 }
            }
        };
        own + self.off(Part::Unit(model, unit))
    }

    /// The effect of a run, relative to its unit: host, slot, day, and the unit's own effect on that day. `attempt`
    /// tells several runs of a unit on one day apart.
    pub(super) fn run(&self, run: &TrueRun, attempt: usize, load: usize) -> f64 {
        let spread = self.truth.spread;
        let plain = |deviation: f64, of, key| {
            if deviation > 0.0 { deviation * self.dice(of, key).normal() } else { 0.0 }
        };
        let host = plain(spread.host, Of::Host, [run.host as u64, 0, 0, 0, 0]) + self.off(Part::Host(run.host));
        let slot = run.slot.map_or(0.0, |slot| {
            plain(spread.slot, Of::Slot, [run.host as u64, slot as u64, 0, 0, 0]) + self.off(Part::Slot(run.host, slot))
        });
        let day = plain(spread.day, Of::Day, [run.host as u64, run.day.into(), 0, 0, 0]) + self.off(Part::Day(run.day));
        let whose = [run.model as u64, run.unit as u64, measuring(run, attempt)];
        let own = if spread.run > 0.0 { spread.run * self.correlated(Of::Run, whose, load, Dice::normal) } else { 0.0 };
        host + slot + day + own
    }

    fn off(&self, part: Part) -> f64 {
        self.truth.off.iter().filter(|(of, _)| *of == part).map(|(_, ratio)| ratio.ln()).sum()
    }

    /// The repeats of a run under a load, without end. Each depends on the one before it.
    pub(super) fn repeats(&self, run: &TrueRun, attempt: usize, load: usize) -> impl Iterator<Item = f64> + use<> {
        let whose = [run.model as u64, run.unit as u64, measuring(run, attempt), load as u64, 0];
        let mut dice = self.dice(Of::Repeats, whose);
        let (deviation, phi) = (self.truth.spread.repeat, self.truth.spread.autocorrelation);
        let mut last: Option<f64> = None;
        std::iter::repeat_with(move || {
            let new = dice.normal();
            let value = last.map_or(new, |last| phi * last + (1.0 - phi * phi).sqrt() * new);
            last = Some(value);
            deviation * value
        })
    }
}

/// Number of a measurement of a unit, from host, day and attempt; it has 64 bits on every processor.
fn measuring(run: &TrueRun, attempt: usize) -> u64 {
    (run.host as u64) << 32 | u64::from(run.day) << 16 | attempt as u64
}

/// Student's t with three degrees of freedom, divided by its deviation.
fn heavy(dice: &mut Dice) -> f64 {
    let squares: f64 = (0..3).map(|_| dice.normal().powi(2)).sum();
    dice.normal() / squares.sqrt()
}

// Records as the nodes of a cluster run would leave them.

/// Time from the start of a repeat to the start of the next, in nanoseconds.
const BETWEEN_NS: i64 = 30_000_000_000;
/// Largest delay of the start of a node, in nanoseconds.
const LATE_NS: i64 = 400_000;
/// Bound of the clock error, in nanoseconds.
const BOUND_NS: u64 = 150_000;

/// Makes each record that of one node (`node1` and so on) in the run `run`. Repeats have a common start if all nodes
/// measure at the same time and there is more than one.
#[must_use]
pub fn at_once(records: Vec<Record>, run: &str, mode: &str, at_a_time: u32) -> Vec<Record> {
    let nodes = u32::try_from(records.len()).unwrap_or(u32::MAX);
    let together = at_a_time >= nodes && nodes > 1;
    let clock = ClockFit {
        offset_ns: 0,
        bound_ns: BOUND_NS,
        round_trip_ns: 2 * BOUND_NS,
        exchanges: 32,
        drift_ppm: Some(0.0),
        drift_bound_ppm: Some(1.0),
    };
    let part = |at: usize, mut record: Record| {
        let node = format!("node{}", at + 1);
        let labels = [("fleet", run.to_owned()), ("node", node.clone())];
        record.labels.extend(labels.map(|(key, value)| (key.to_owned(), value)));
        record.host.hostname = Some(node.clone());
        record.cluster = Some(Box::new(ClusterPart {
            run: run.to_owned(),
            node,
            attempt: 1,
            nodes,
            mode: mode.to_owned(),
            at_a_time,
            clock: Some(clock.clone()),
            lost: None,
            settled: None,
        }));
        let repeats = record.measurements.iter_mut().flat_map(|m| &mut m.repeats);
        for (number, repeat) in repeats.enumerate().filter(|_| together) {
            let planned_ns = BETWEEN_NS * (1 + i64::try_from(number).unwrap_or(0));
            let late = LATE_NS * i64::try_from(at % 20).unwrap_or(0) / 19;
            let start = CommonStart { planned_ns, began_ns: planned_ns + late, bound_ns: Some(BOUND_NS), nodes };
            repeat.common_start = Some(Box::new(start));
        }
        record
    };
    records.into_iter().enumerate().map(|(at, record)| part(at, record)).collect()
}

/// Multiplies the speed of a record by `factor`, either under the loads that write or under those that read.
pub fn slowed(record: &mut Record, factor: f64, writes: bool) {
    for measurement in record.measurements.iter_mut().filter(|m| m.workload.writes() == writes) {
        for repeat in &mut measurement.repeats {
            repeat.iops *= factor;
            repeat.bytes_per_second *= factor;
            repeat.durable_bytes_per_second = repeat.durable_bytes_per_second.map(|rate| rate * factor);
        }
        let estimates =
            [&mut measurement.iops, &mut measurement.bytes_per_second, &mut measurement.durable_bytes_per_second];
        for estimate in estimates.into_iter().flatten() {
            estimate.point *= factor;
            estimate.low = estimate.low.map(|end| end * factor);
            estimate.high = estimate.high.map(|end| end * factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::truth::{Ceiling, Part, Spread, Units};
    use super::*;

    const SPREAD: Spread = Spread {
        host: 0.0,
        slot: 0.0,
        day: 0.0,
        run: 0.03,
        repeat: 0.01,
        autocorrelation: 0.0,
        drift: 0.0,
        common: 0.0,
    };

    fn fleet(truth: Truth, design: Design) -> Fleet {
        Fleet { truth, design, seed: 7 }
    }

    fn equal(models: usize, units: Units, spread: Spread) -> Truth {
        Truth::equal(Load::random_read(), models, units, spread)
    }

    fn ln(record: &Record) -> Vec<f64> {
        record.measurements[0].repeats.iter().map(|r| r.iops.ln()).collect()
    }

    fn deviation(values: &[f64]) -> f64 {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
    }

    #[test]
    fn a_fleet_is_the_same_when_more_of_it_is_measured() {
        let truth = equal(2, Units::Normal(0.1), SPREAD);
        let few = fleet(truth.clone(), Design::units(&[2, 1])).records();
        let many = fleet(truth, Design::units(&[2, 3]).on_days(2)).records();
        assert_eq!(few[..], many[..3]);
        assert_eq!(many.len(), 10);
        let ids: std::collections::BTreeSet<&str> = many.iter().map(|r| r.id.as_str()).collect();
        assert_eq!(ids.len(), 10);
        assert!(many.iter().all(|r| r.created.starts_with("2026-03-0")), "{}", many[9].created);
        // The same unit on another day is another run.
        assert_ne!(ln(&many[0]), ln(&many[5]));
    }

    /// 4,000 units: the error of a deviation is 1.1 %; that of the heavy tails is larger, as their fourth moment is
    /// infinite.
    #[test]
    fn deviations_are_those_of_the_truth() {
        let of = |units: Units| {
            let fleet = fleet(equal(1, units, SPREAD), Design::default());
            deviation(&(0..4000).map(|unit| fleet.unit(0, unit, 0).ln()).collect::<Vec<_>>())
        };
        assert!((of(Units::Normal(0.1)) / 0.1 - 1.0).abs() < 0.05);
        assert!((of(Units::Heavy(0.1)) / 0.1 - 1.0).abs() < 0.3);
        // Two kinds a factor e apart, half of each: 0.5 beside 0.1 within.
        let kinds = Units::Kinds { share: 0.5, ratio: std::f64::consts::E, deviation: 0.1 };
        assert!((of(kinds) / 0.26f64.sqrt() - 1.0).abs() < 0.05);
        let all = fleet(equal(1, Units::Normal(0.1), SPREAD), Design::units(&[4000]));
        let repeats: Vec<Vec<f64>> = all.records().iter().map(ln).collect();
        let within = repeats.iter().map(|r| deviation(r).powi(2) * 1.5).sum::<f64>() / 4000.0;
        assert!((within.sqrt() / 0.01 - 1.0).abs() < 0.05);
        let runs: Vec<f64> = all.design.0.iter().map(|run| (all.run(run, 0) / all.unit(0, run.unit, 0)).ln()).collect();
        assert!((deviation(&runs) / 0.03 - 1.0).abs() < 0.05);
    }

    #[test]
    fn repeats_follow_each_other_and_loads_share_what_they_are_told() {
        let spread = Spread { autocorrelation: 0.8, common: 0.5, run: 0.0, ..SPREAD };
        let mut truth = equal(1, Units::Normal(0.1), spread);
        truth.loads = Load::eight();
        let fleet = fleet(truth, Design::units(&[1]).with_repeats(Repeats::Fixed(4000)));
        let repeats = ln(&fleet.records()[0]);
        let (mean, all) = (repeats.iter().sum::<f64>() / 4000.0, deviation(&repeats).powi(2) * 4000.0);
        let lag: f64 = repeats.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
        assert!((lag / all - 0.8).abs() < 0.05, "{}", lag / all);
        let over: Vec<[f64; 2]> =
            (0..4000).map(|unit| [0, 1].map(|load| (fleet.unit(0, unit, load) / fleet.model(0, load)).ln())).collect();
        let correlation = over.iter().map(|[a, b]| a * b).sum::<f64>() / 4000.0 / 0.01;
        assert!((correlation - 0.5).abs() < 0.06, "{correlation}");
    }

    #[test]
    fn what_is_off_is_off_and_a_bus_lets_no_more_through() {
        let quiet = Spread { repeat: 0.0, run: 0.0, ..SPREAD };
        let truth = equal(1, Units::Normal(0.0), quiet).with_off(Part::Unit(0, 1), 0.5).with_off(Part::Slot(1, 3), 0.8);
        let design = Design::units(&[2]).changed(|at, run| (run.host, run.slot) = (at, Some(3)));
        let seen: Vec<f64> = fleet(truth, design).records().iter().map(|r| r.measurements[0].repeats[0].iops).collect();
        assert!((seen[0] - 1500.0).abs() < 1e-6 && (seen[1] - 1500.0 * 0.4).abs() < 1e-6, "{seen:?}");
        let ceiling = Ceiling { bytes_per_second: 1600.0 * 4096.0, known: true };
        let truth = equal(1, Units::Normal(0.5), SPREAD).with_ceiling(ceiling);
        let records = fleet(truth, Design::units(&[50])).records();
        let limited = |r: &Record| r.measurements[0].bus_limited;
        assert!(records.iter().any(limited) && !records.iter().all(limited));
        assert!(records.iter().flat_map(ln).all(|ln| ln.exp() <= 1600.0));
    }

    #[test]
    fn a_fake_is_told_in_all_of_its_records() {
        let truth = equal(1, Units::Normal(0.1), SPREAD).with_fake(0, 1);
        let records = fleet(truth, Design::units(&[2]).on_days(2)).records();
        let fakes: Vec<bool> = records.iter().map(|r| r.verification.is_some()).collect();
        assert_eq!(fakes, [false, true, false, true]);
    }

    #[test]
    fn repeats_end_when_their_interval_is_narrow() {
        let until = |width| {
            let truth = equal(1, Units::Normal(0.0), Spread { repeat: 0.02, ..SPREAD });
            fleet(truth, Design::units(&[1]).with_repeats(Repeats::Until(width, 3, 10))).records().remove(0)
        };
        assert_eq!(until(0.5).measurements[0].repeats.len(), 3);
        assert_eq!(until(1e-4).measurements[0].repeats.len(), 10);
        assert_eq!(until(0.5).settings().unwrap().confidence, Some(0.5));
    }
}
