//! The truth about a fleet.

use super::load::Load;

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
