//! The truth about a fleet, the loads it has, and the design of its measurement.

use assay_core::workload::{Op, Pattern, Stop, Workload};

/// The truth about a fleet. Effects are factors; deviations are those of their logarithms.
#[derive(Debug, Clone)]
pub struct Truth {
    /// The loads, in the order of measurement.
    pub loads: Vec<Load>,
    /// Its models.
    pub models: Vec<Model>,
    /// The variation that does not come from the medium.
    pub spread: Spread,
    /// Parts that deviate by a factor at every load.
    pub off: Vec<(Part, f64)>,
    /// Units that announce more than they have, as model and unit; a full check found it.
    pub fakes: Vec<(usize, usize)>,
    /// The limit of the bus.
    pub ceiling: Option<Ceiling>,
}

/// A model.
#[derive(Debug, Clone)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// Its level relative to that of the load.
    pub ratio: f64,
    /// How its units differ.
    pub units: Units,
    /// The label `price` of its records.
    pub price: Option<String>,
}

/// How the units of a model differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Units {
    /// Log-normal with this deviation.
    Normal(f64),
    /// Student's t with three degrees of freedom, scaled to this deviation: single units are far off.
    Heavy(f64),
    /// Two kinds under one name. Within a kind, units are log-normal.
    Kinds {
        /// Share of the second kind.
        share: f64,
        /// Level of the second kind relative to the first.
        ratio: f64,
        /// Deviation within a kind.
        deviation: f64,
    },
}

/// Deviations that do not come from the medium.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// Between hosts.
    pub host: f64,
    /// Between slots; slots of different hosts are different even with the same number.
    pub slot: f64,
    /// Between days of a host: common to all measurements on that host and day.
    pub day: f64,
    /// Between runs of a unit: the unit's own effect on a day.
    pub run: f64,
    /// Between repeats of a run.
    pub repeat: f64,
    /// Correlation of a repeat with the one before it.
    pub autocorrelation: f64,
    /// Change from the first to the last repeat of a run, in logarithms: heat makes it negative.
    pub drift: f64,
    /// Correlation between loads of the effects of units and runs.
    pub common: f64,
}

/// A part that can deviate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A unit of a model.
    Unit(usize, usize),
    /// A host.
    Host(usize),
    /// A slot of a host.
    Slot(usize, usize),
    /// A day.
    Day(u32),
}

/// A bus with a limit: a faster medium is measured at that limit, with a little less noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceiling {
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Whether records state the limit.
    pub known: bool,
}

impl Truth {
    /// `models` equal models under one load.
    #[must_use]
    pub fn equal(load: Load, models: usize, units: Units, spread: Spread) -> Self {
        let model = |at| Model { name: name(at), ratio: 1.0, units, price: None };
        Self {
            loads: vec![load],
            models: (0..models).map(model).collect(),
            spread,
            off: Vec::new(),
            fakes: Vec::new(),
            ceiling: None,
        }
    }

    /// The truth with one model that differs from the others by a factor.
    #[must_use]
    pub fn with_ratio(mut self, model: usize, ratio: f64) -> Self {
        self.models[model].ratio = ratio;
        self
    }

    /// The truth with one model whose units differ in another way.
    #[must_use]
    pub fn with_units(mut self, model: usize, units: Units) -> Self {
        self.models[model].units = units;
        self
    }

    /// The truth with a part that deviates by a factor.
    #[must_use]
    pub fn with_off(mut self, part: Part, ratio: f64) -> Self {
        self.off.push((part, ratio));
        self
    }

    /// The truth with a unit that announces more than it has.
    #[must_use]
    pub fn with_fake(mut self, model: usize, unit: usize) -> Self {
        self.fakes.push((model, unit));
        self
    }

    /// The truth with one price for all models.
    #[must_use]
    pub fn with_price(mut self, price: &str) -> Self {
        self.models.iter_mut().for_each(|m| m.price = Some(price.to_owned()));
        self
    }

    /// The truth behind a bus.
    #[must_use]
    pub fn with_ceiling(mut self, ceiling: Ceiling) -> Self {
        self.ceiling = Some(ceiling);
        self
    }
}

/// `Model A` to `Model Z`, then `Model` with a number.
fn name(at: usize) -> String {
    match u8::try_from(at).ok().filter(|at| *at < 26) {
        Some(at) => format!("Model {}", char::from(b'A' + at)),
        None => format!("Model {at}"),
    }
}

// Loads that matter for the choice of a card.

/// Length of a repeat.
pub(super) const REPEAT_NS: u64 = 10_000_000_000;

/// A load, and the speed of a medium under it.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// The load.
    pub workload: Workload,
    /// Operations per second of a model with the ratio 1.
    pub iops: f64,
}

impl Load {
    /// A load at a queue depth.
    #[must_use]
    pub fn new(op: Op, pattern: Pattern, block_bytes: u64, queue_depth: u32, iops: f64) -> Self {
        let kind = |random, sequential| if pattern == Pattern::Random { random } else { sequential };
        let does = if op == Op::Read { "read" } else { "write" };
        let name = format!("{}-{does}-{}k-q{queue_depth}", kind("rand", "seq"), block_bytes >> 10);
        Self {
            workload: Workload {
                queue_depth,
                span_bytes: 256 << 20,
                stop: Stop { ramp_ns: 0, duration_ns: REPEAT_NS, max_bytes: None },
                ..Workload::new(&name, op, pattern, block_bytes)
            },
            iops,
        }
    }

    /// Random reads of 4 KiB, one at a time.
    #[must_use]
    pub fn random_read() -> Self {
        Self::new(Op::Read, Pattern::Random, 4096, 1, 1500.0)
    }

    /// Sequential reads of 1 MiB.
    #[must_use]
    pub fn sequential_read() -> Self {
        Self::new(Op::Read, Pattern::Sequential, 1 << 20, 8, 40.0)
    }

    /// The loads of class A1, each at its threshold times a factor: sequential writes, random reads, random writes.
    #[must_use]
    pub fn class_a1(factors: [f64; 3]) -> Vec<Self> {
        let [sequential, read, write] = factors;
        vec![
            Self::new(Op::Read, Pattern::Random, 4096, 32, 1500.0 * read),
            Self::new(Op::Write, Pattern::Sequential, 1 << 20, 8, 10e6 / f64::from(1 << 20) * sequential),
            Self::new(Op::Write, Pattern::Random, 4096, 32, 500.0 * write),
        ]
    }

    /// Eight loads of a usual suite: reads and writes, sequential and random, at queue depth 1 and deeper.
    #[must_use]
    pub fn eight() -> Vec<Self> {
        vec![
            Self::sequential_read(),
            Self::random_read(),
            Self::new(Op::Read, Pattern::Random, 4096, 32, 2500.0),
            Self::new(Op::Read, Pattern::Random, 16384, 1, 1000.0),
            Self::new(Op::Write, Pattern::Sequential, 1 << 20, 8, 20.0),
            Self::new(Op::Write, Pattern::Random, 4096, 1, 500.0),
            Self::new(Op::Write, Pattern::Random, 4096, 32, 700.0),
            Self::new(Op::Write, Pattern::Random, 16384, 1, 300.0),
        ]
    }

    /// Bytes per second at `iops` operations per second.
    pub(super) fn rate(&self, iops: f64) -> f64 {
        iops * self.workload.block_bytes as f64
    }
}

// The design of a fleet measurement: which unit is measured at which place and time.

/// One run of one unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrueRun {
    /// Index of the model.
    pub model: usize,
    /// Index of the unit within the model.
    pub unit: usize,
    /// Day, from 0.
    pub day: u32,
    /// Host, from 0.
    pub host: usize,
    /// Slot of the host; `None` if the record does not state one.
    pub slot: Option<usize>,
    /// Round of a plan.
    pub round: Option<u32>,
    /// How often each load is repeated.
    pub repeats: Repeats,
}

/// How often each load is repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Repeats {
    /// This many times.
    Fixed(usize),
    /// Until the interval of the mean is narrow enough (`--confidence`): relative half width, fewest repeats, most
    /// repeats.
    Until(f64, usize, usize),
}

/// All runs, in chronological order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Design(pub Vec<TrueRun>);

impl Design {
    /// One run of three repeats for each unit, all on one day and without a stated slot. `of_each` is the number of
    /// units of each model.
    #[must_use]
    pub fn units(of_each: &[usize]) -> Self {
        let run =
            |model, unit| TrueRun { model, unit, day: 0, host: 0, slot: None, round: None, repeats: Repeats::Fixed(3) };
        Self(of_each.iter().enumerate().flat_map(|(model, n)| (0..*n).map(move |unit| run(model, unit))).collect())
    }

    /// Repeats the whole design on each of `days` days.
    #[must_use]
    pub fn on_days(self, days: u32) -> Self {
        let again = |day| self.0.iter().map(move |run| TrueRun { day: run.day + day, ..*run });
        Self((0..days).flat_map(again).collect())
    }

    /// The design with other repeats.
    #[must_use]
    pub fn with_repeats(self, repeats: Repeats) -> Self {
        self.changed(|_, run| run.repeats = repeats)
    }

    /// The design with each run changed; `change` also gets the index of the run.
    #[must_use]
    pub fn changed(mut self, mut change: impl FnMut(usize, &mut TrueRun)) -> Self {
        self.0.iter_mut().enumerate().for_each(|(at, run)| change(at, run));
        self
    }

    /// The design followed by the runs of `other`.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }
}
