//! Simulated years of nights with a known truth: false alarms of a medium and year, and how many changes are found in time.
//!
//! A few years of each row run with the other tests; `make campaign SEEDS=1000 ONLY=years` measures all rows and prints the
//! table of `docs/watch.md`. The years are drawn here, by rules that do not know the method.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use assay_stats::random::Generator;
use assay_watch::{Conditions, Figure, Kind, Manner, Night, Watch, What};

const NIGHTS: i64 = 365;
/// Rates and latencies of a medium.
const LOADS: usize = 4;
/// A night on which a change begins lies between these.
const CHANGES: (usize, usize) = (60, 240);

/// How nights vary.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tails {
    Normal,
    /// Student's distribution of three degrees, as wide as the normal one.
    Heavy,
    /// One night in fifty is slower by six deviations, and it is a night of its own.
    Bad,
}

/// What happens to the medium.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Truth {
    Nothing,
    /// One rate becomes this ratio at once, and must be found within so many nights.
    Step(f64, i64),
    /// All rates fall by this ratio a year, and it must be found within so many days.
    Fall(f64, i64),
    /// Latencies become this multiple within the days, and it must be found in these.
    Tails(f64, i64),
}

#[derive(Debug, Clone, Copy)]
struct Row {
    spread: f64,
    correlation: f64,
    tails: Tails,
    missed: f64,
    /// Change for each kelvin of a year that swings by ±10 K; and whether it is recorded.
    season: Option<(f64, bool)>,
    /// Ratio of all rates after a change of the kernel.
    kernel: Option<f64>,
    truth: Truth,
    /// Whether the aim is known to be missed.
    missed_aim: bool,
}

const QUIET: Row = Row {
    spread: 0.03,
    correlation: 0.3,
    tails: Tails::Normal,
    missed: 0.0,
    season: None,
    kernel: None,
    truth: Truth::Nothing,
    missed_aim: false,
};

impl Row {
    fn name(&self) -> String {
        let mut name = format!("{:.0} %, {:.1}", self.spread * 100.0, self.correlation);
        match self.tails {
            Tails::Normal => {}
            Tails::Heavy => name += ", heavy tails",
            Tails::Bad => name += ", bad nights",
        }
        if self.missed > 0.0 {
            let _ = write!(name, ", {:.0} % of nights missed", self.missed * 100.0);
        }
        if let Some((effect, recorded)) = self.season {
            let how = if recorded { "" } else { ", not recorded" };
            let _ = write!(name, ", season of {:.1} %/K{how}", effect * 100.0);
        }
        if let Some(ratio) = self.kernel {
            let _ = write!(name, ", kernel ×{ratio}");
        }
        match self.truth {
            Truth::Nothing => {}
            Truth::Step(ratio, _) => {
                let _ = write!(name, ", step ×{ratio}");
            }
            Truth::Fall(ratio, _) => {
                let _ = write!(name, ", ×{ratio} a year");
            }
            Truth::Tails(ratio, days) => {
                let _ = write!(name, ", p99 ×{ratio} in {days} days");
            }
        }
        name
    }

    fn rows() -> Vec<Self> {
        let mut rows = Vec::new();
        for spread in [0.01, 0.03, 0.05, 0.10] {
            for correlation in [0.0, 0.3, 0.6] {
                rows.push(Self { spread, correlation, ..QUIET });
            }
        }
        let all = Self { missed: 0.1, season: Some((0.002, true)), kernel: Some(0.92), ..QUIET };
        for row in [QUIET, Self { correlation: 0.6, ..QUIET }, Self { spread: 0.1, ..QUIET }] {
            let missed_aim = row.correlation > 0.5 || row.spread > 0.05;
            rows.push(Self { tails: Tails::Heavy, missed_aim, ..row });
            rows.push(Self { tails: Tails::Bad, ..row });
            rows.push(Self { season: Some((0.002, true)), ..row });
            rows.push(Self { season: Some((0.001, false)), ..row });
            rows.push(Self { season: Some((0.002, false)), missed_aim: true, ..row });
            rows.push(Self { kernel: Some(0.92), ..row });
            let (spread, correlation) = (row.spread, row.correlation);
            rows.push(Self { tails: Tails::Heavy, spread, correlation, missed_aim, ..all });
        }
        let step = Truth::Step(0.9, 5);
        for correlation in [0.0, 0.3, 0.6] {
            rows.push(Self { correlation, truth: step, missed_aim: correlation > 0.2, ..QUIET });
        }
        rows.push(Self { tails: Tails::Heavy, truth: step, missed_aim: true, ..QUIET });
        rows.push(Self { missed: 0.1, truth: step, missed_aim: true, ..QUIET });
        rows.push(Self { season: Some((0.002, true)), truth: step, missed_aim: true, ..QUIET });
        rows.push(Self { spread: 0.05, truth: Truth::Step(0.8, 5), ..QUIET });
        let fall = Truth::Fall(0.8, 120);
        for (spread, correlation) in [(0.01, 0.3), (0.03, 0.0), (0.03, 0.3), (0.03, 0.6), (0.05, 0.3)] {
            let missed_aim = correlation > 0.5 || spread > 0.04;
            rows.push(Self { spread, correlation, truth: fall, missed_aim, ..QUIET });
        }
        rows.push(Self { tails: Tails::Heavy, truth: fall, ..QUIET });
        rows.push(Self { kernel: Some(0.92), truth: fall, missed_aim: true, ..QUIET });
        let tails = Truth::Tails(2.0, 90);
        for (spread, correlation) in [(0.03, 0.3), (0.05, 0.6), (0.10, 0.6)] {
            rows.push(Self { spread, correlation, truth: tails, missed_aim: spread > 0.09, ..QUIET });
        }
        rows
    }
}

/// Nights of one cause: successive ones resemble each other.
struct Wander {
    state: f64,
    correlation: f64,
    tails: Tails,
}

impl Wander {
    fn new(row: &Row, random: &mut Generator) -> Self {
        Self { state: random.normal(), correlation: row.correlation, tails: row.tails }
    }

    fn next(&mut self, random: &mut Generator) -> f64 {
        let drawn = random.normal();
        let shock = match self.tails {
            // Variance 3 of Student's distribution of three degrees.
            Tails::Heavy => drawn / (random.chi_squared_whole(3) / 3.0).sqrt() / 3.0f64.sqrt(),
            Tails::Normal | Tails::Bad => drawn,
        };
        self.state = self.correlation * self.state + (1.0 - self.correlation * self.correlation).sqrt() * shock;
        self.state
    }
}

/// A medium with its truth.
struct Year {
    row: Row,
    change: i64,
    kernel: i64,
}

impl Year {
    /// By how much the logarithm of a figure differs from that of the first night.
    fn truth(&self, kind: Kind, load: usize, day: i64) -> f64 {
        let since = (day - self.change).max(0) as f64;
        let medium = match (self.row.truth, kind) {
            (Truth::Step(ratio, _), Kind::Rate) if load == 0 && day >= self.change => ratio.ln(),
            (Truth::Fall(ratio, _), Kind::Rate) => ratio.ln() * since / NIGHTS as f64,
            (Truth::Tails(ratio, days), Kind::Latency) => ratio.ln() * (since / days as f64).min(1.0),
            _ => 0.0,
        };
        let kernel = self.row.kernel.filter(|_| day >= self.kernel).map_or(0.0, f64::ln);
        medium
            + match kind {
                Kind::Rate => kernel,
                Kind::Latency => -kernel,
            }
    }

    fn nights(&self, random: &mut Generator) -> Vec<Night> {
        let row = &self.row;
        let mut causes: Vec<Wander> = (0..=2 * LOADS).map(|_| Wander::new(row, random)).collect();
        let phase = random.uniform();
        let mut nights = Vec::new();
        for day in 0..NIGHTS {
            let effects: Vec<f64> = causes.iter_mut().map(|cause| cause.next(random)).collect();
            let missed = random.uniform() < row.missed;
            let bad = row.tails == Tails::Bad && random.uniform() < 0.02;
            let celsius =
                25.0 + 10.0 * (std::f64::consts::TAU * (day as f64 / 365.0 + phase)).sin() + 2.0 * random.normal();
            if missed && day > 0 {
                continue;
            }
            let mut figures = Vec::new();
            for (at, kind) in (0..LOADS).flat_map(|load| [(load, Kind::Rate), (load, Kind::Latency)]) {
                let own = effects[1 + 2 * at + usize::from(kind == Kind::Latency)];
                let worse = if kind == Kind::Rate { -1.0 } else { 2.0 };
                // Loads share half of the variance: the same host, the same room.
                let mut log = worse * row.spread * (effects[0] + own) / 2.0f64.sqrt();
                log += self.truth(kind, at, day) + if bad { worse * 6.0 * row.spread } else { 0.0 };
                if let Some((effect, _)) = row.season {
                    log += worse * effect * (celsius - 25.0);
                }
                let error = row.spread / 4.0;
                log += error * random.normal();
                figures.push(Figure { load: format!("load {at}"), kind, log, error: Some(error), n: 3 });
            }
            let kernel = if row.kernel.is_some() && day >= self.kernel { "6.6" } else { "6.1" };
            let recorded = row.season.is_some_and(|(_, recorded)| recorded);
            let conditions = Conditions {
                kernel: Some(kernel.to_owned()),
                celsius: recorded.then_some(celsius),
                ..Conditions::default()
            };
            nights.push(Night { day, conditions, figures, counters: Vec::new() });
        }
        nights
    }
}

/// What a row counts.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    years: u32,
    /// Nights in which an alarm is false, in years.
    exposed: f64,
    false_alarms: u32,
    of_steps: u32,
    found: u32,
    days: i64,
    /// Of the rule "20 % below the mean of five nights, the new one with them".
    five_false: u32,
    five_found: u32,
}

fn measure(row: &Row, seeds: std::ops::Range<u64>) -> Count {
    let mut count = Count::default();
    for seed in seeds {
        let mut random = Generator::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ row.name().len() as u64);
        let change = (CHANGES.0 + random.below(CHANGES.1 - CHANGES.0)) as i64;
        let kernel = 100 + random.below(200) as i64;
        // A change begins after the kernel's, or before: both are years.
        let year = Year { row: *row, change, kernel };
        let nights = year.nights(&mut random);
        let within = match row.truth {
            Truth::Nothing => 0,
            Truth::Step(_, within) | Truth::Fall(_, within) | Truth::Tails(_, within) => within,
        };
        let (mut watch, mut found) = (Watch::default(), None);
        for night in &nights {
            // The night goes on as it was: a second run of it has the same night, measured more exactly.
            let taken = watch.take(night, &mut || Some(night.clone()));
            for event in &taken.events {
                let What::Worse { figures } = &event.what else { continue };
                if row.truth == Truth::Nothing || event.day < change {
                    count.false_alarms += 1;
                    count.of_steps += u32::from(figures.iter().any(|one| one.manner == Manner::Step));
                } else {
                    found.get_or_insert(event.day - change);
                }
            }
        }
        count.years += 1;
        count.exposed += if row.truth == Truth::Nothing { 1.0 } else { change as f64 / NIGHTS as f64 };
        if let Some(days) = found.filter(|days| *days < within) {
            count.found += 1;
            count.days += days;
        }
        five_runs(&nights, change, row, within, &mut count);
    }
    count
}

/// The rule of another watcher: a warning where a night is 20 % below the mean of the last five, the new one with them.
fn five_runs(nights: &[Night], change: i64, row: &Row, within: i64, count: &mut Count) {
    let (mut false_alarms, mut found) = (0, false);
    for at in 0..2 * LOADS {
        let values: Vec<f64> = nights.iter().map(|night| night.figures[at].log.exp()).collect();
        let worse_is_less = at % 2 == 0;
        let mut warned = false;
        for (end, window) in (4..).zip(values.windows(5)) {
            let ratio = window[4] / (window.iter().sum::<f64>() / 5.0);
            let now = if worse_is_less { ratio <= 0.8 } else { ratio >= 1.3 };
            if now && !warned {
                let day = nights[end].day;
                if row.truth == Truth::Nothing || day < change {
                    false_alarms += 1;
                } else {
                    found |= day - change < within;
                }
            }
            warned = now;
        }
    }
    count.five_false += false_alarms;
    count.five_found += u32::from(found);
}

// Exact intervals of 95 %.

/// The place where a falling or rising function crosses zero.
fn crossing(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if below(middle) { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Chance of at most `k` of a Poisson distribution.
fn poisson(k: u32, mean: f64) -> f64 {
    let (mut term, mut sum) = ((-mean).exp(), 0.0);
    for at in 0..=k {
        sum += term;
        term *= mean / f64::from(at + 1);
    }
    sum
}

/// Garwood 1936.
fn rate(k: u32, years: f64) -> (f64, f64) {
    let most = 20.0 + 3.0 * f64::from(k);
    let low = if k == 0 { 0.0 } else { crossing(0.0, most, |mean| 1.0 - poisson(k - 1, mean) < 0.025) };
    let high = crossing(0.0, most, |mean| poisson(k, mean) > 0.025);
    (low / years, high / years)
}

/// Chance of at most `k` of `n`.
fn binomial(k: u32, n: u32, p: f64) -> f64 {
    let mut log = f64::from(n) * (-p).ln_1p();
    let mut sum = 0.0;
    for at in 0..=k {
        sum += log.exp();
        log += ((f64::from(n) - f64::from(at)) / f64::from(at + 1) * p / (1.0 - p)).ln();
    }
    sum
}

/// Clopper and Pearson 1934.
fn share(k: u32, n: u32) -> (f64, f64) {
    let low = if k == 0 { 0.0 } else { crossing(0.0, 1.0, |p| 1.0 - binomial(k - 1, n, p) < 0.025) };
    let high = if k == n { 1.0 } else { crossing(0.0, 1.0, |p| binomial(k, n, p) > 0.025) };
    (low, high)
}

fn line(row: &Row, count: &Count) -> String {
    let alarms = f64::from(count.false_alarms) / count.exposed;
    let (low, high) = rate(count.false_alarms, count.exposed);
    let mut line = format!("| {} | {alarms:.3} ({low:.3}–{high:.3}) |", row.name());
    if row.truth == Truth::Nothing {
        let _ = write!(line, " – | – | {:.1} | – |", f64::from(count.five_false) / count.exposed);
    } else {
        let (low, high) = share(count.found, count.years);
        let found = 100.0 / f64::from(count.years);
        let days = count.days as f64 / f64::from(count.found.max(1)) + 1.0;
        let _ = write!(
            line,
            " {:.1} % ({:.1}–{:.1}) | {days:.0} | {:.1} | {:.0} % |",
            f64::from(count.found) * found,
            low * 100.0,
            high * 100.0,
            f64::from(count.five_false) / count.exposed,
            f64::from(count.five_found) * found
        );
    }
    line
}

#[test]
fn false_alarms_are_rare_and_changes_are_found() {
    let seeds = std::env::var("ASSAY_CAMPAIGN_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(6u64);
    let only = std::env::var("ASSAY_CAMPAIGN_ROWS").unwrap_or_default();
    println!("{seeds} years of {} nights each\n", NIGHTS);
    println!(
        "| spread, autocorrelation | false alarms a medium and year | found in time | mean days | five runs: false | found |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    let mut wrong = Vec::new();
    for row in Row::rows().iter().filter(|row| row.name().contains(&only)) {
        let count = measure(row, 0..seeds);
        println!("{}", line(row, &count));
        // Where an aim is certainly missed.
        if !row.missed_aim && rate(count.false_alarms, count.exposed).0 > 0.1 {
            wrong.push(format!("{}: {} false alarms, {} of steps", row.name(), count.false_alarms, count.of_steps));
        }
        let is_change = row.truth != Truth::Nothing;
        if is_change && !row.missed_aim && share(count.found, count.years).1 < 0.9 {
            wrong.push(format!("{}: {} of {} found", row.name(), count.found, count.years));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn exact_intervals_are_those_of_tables() {
    let near = |a: f64, b: f64| assert!((a - b).abs() < 5e-4, "{a} {b}");
    // Garwood: 0 events 0–3.689; 5 events 1.623–11.668.
    near(rate(0, 1.0).1, 3.6889);
    near(rate(5, 1.0).0, 1.6235);
    near(rate(5, 1.0).1, 11.6683);
    // Clopper and Pearson: 9 of 10 0.555–0.9975.
    near(share(9, 10).0, 0.5550);
    near(share(9, 10).1, 0.9975);
}
