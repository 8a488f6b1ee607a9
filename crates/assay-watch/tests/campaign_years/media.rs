//! Media with a truth.

use assay_stats::random::Generator;
use assay_watch::{Conditions, Figure, Kind, Night};

use crate::rows::{LOADS, NIGHTS, Oddity, Row, Tails, Truth};

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
pub struct Year {
    pub row: Row,
    pub change: i64,
    pub kernel: i64,
}

impl Year {
    /// By how much the logarithm of a figure differs from that of the first night.
    fn truth(&self, kind: Kind, load: usize, day: i64) -> f64 {
        let since = (day - self.change).max(0) as f64;
        let medium = match (self.row.truth, kind) {
            (Truth::Step(ratio, _), Kind::Rate) if load == 0 && day >= self.change => ratio.ln(),
            (Truth::Whole(ratio, _), Kind::Rate) if day >= self.change => ratio.ln(),
            (Truth::Fall(ratio, _), Kind::Rate) => ratio.ln() * since / NIGHTS as f64,
            (Truth::Tails(ratio, days), Kind::Latency) => ratio.ln() * (since / days as f64).min(1.0),
            _ => 0.0,
        };
        let kernel = self.row.kernel.filter(|_| day >= self.kernel).map_or(0.0, f64::ln);
        let break_in = match (self.row.oddity, kind) {
            (Oddity::BreakIn, Kind::Rate) => 0.8f64.ln() * (1.0 - day as f64 / 30.0).max(0.0),
            _ => 0.0,
        };
        medium
            + break_in
            + match kind {
                Kind::Rate => kernel,
                Kind::Latency => -kernel,
            }
    }

    pub fn nights(&self, random: &mut Generator) -> Vec<Night> {
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
            nights.push(Night { day, conditions: self.conditions(day, celsius), figures, counters: Vec::new() });
        }
        nights
    }

    fn conditions(&self, day: i64, celsius: f64) -> Conditions {
        let row = &self.row;
        let kernel = match row.oddity {
            Oddity::Kernels => format!("6.{}", day / 30),
            _ if row.kernel.is_some() && day >= self.kernel => "6.6".to_owned(),
            _ => "6.1".to_owned(),
        };
        let recorded = match row.oddity {
            Oddity::HotFirst => Some(if day == 0 { 40.0 } else { 25.0 }),
            Oddity::LateSensor => (day >= 180).then_some(celsius),
            _ => row.season.and_then(|(_, recorded)| recorded.then_some(celsius)),
        };
        Conditions { kernel: Some(kernel), celsius: recorded, ..Conditions::default() }
    }
}
