//! What is true of a fleet.

use super::load::Load;

/// What is true of a fleet. Effects are factors; deviations are those of their logarithms.
#[derive(Debug, Clone)]
pub struct Truth {
    /// What is measured, in this order.
    pub loads: Vec<Load>,
    /// Its models.
    pub models: Vec<Model>,
    /// By how much all that is not the medium varies.
    pub spread: Spread,
    /// What is off, and by which factor, at every load.
    pub off: Vec<(Part, f64)>,
    /// Units that announce more than they have, by model and unit; a full check found it.
    pub fakes: Vec<(usize, usize)>,
    /// What the bus lets through.
    pub ceiling: Option<Ceiling>,
}

/// A model.
#[derive(Debug, Clone)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// Its level over that of the load.
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
    /// Student's t with three degrees of freedom, scaled to this deviation: now and then one is far off.
    Heavy(f64),
    /// Two kinds under one name: this share of the units is off by this factor. Within a kind units are log-normal.
    Kinds {
        /// Share of the second kind.
        share: f64,
        /// The second kind over the first.
        ratio: f64,
        /// Deviation within a kind.
        deviation: f64,
    },
}

/// Deviations of all that is not the medium.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// Between hosts.
    pub host: f64,
    /// Between slots; slot 1 of two hosts are two slots.
    pub slot: f64,
    /// Between days of a host: all that is measured there on that day has it in common.
    pub day: f64,
    /// Between runs of a unit: the day as that unit meets it.
    pub run: f64,
    /// Between repeats of a run.
    pub repeat: f64,
    /// Correlation of a repeat with the one before it.
    pub autocorrelation: f64,
    /// From the first to the last repeat of a run, in logarithms: heat makes it negative.
    pub drift: f64,
    /// Correlation between loads of what units and runs deviate by.
    pub common: f64,
}

/// Something that can be off.
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

/// A bus that lets so much through and no more: what is faster is seen as that, with a little less noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceiling {
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Whether records say so.
    pub known: bool,
}

impl Truth {
    /// So many equal models under one load.
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

    /// With one model that differs from the others by a factor.
    #[must_use]
    pub fn with_ratio(mut self, model: usize, ratio: f64) -> Self {
        self.models[model].ratio = ratio;
        self
    }

    /// With one model whose units differ otherwise.
    #[must_use]
    pub fn with_units(mut self, model: usize, units: Units) -> Self {
        self.models[model].units = units;
        self
    }

    /// With something that is off by a factor.
    #[must_use]
    pub fn with_off(mut self, part: Part, ratio: f64) -> Self {
        self.off.push((part, ratio));
        self
    }

    /// With a unit that announces more than it has.
    #[must_use]
    pub fn with_fake(mut self, model: usize, unit: usize) -> Self {
        self.fakes.push((model, unit));
        self
    }

    /// With one price for all models.
    #[must_use]
    pub fn with_price(mut self, price: &str) -> Self {
        self.models.iter_mut().for_each(|m| m.price = Some(price.to_owned()));
        self
    }

    /// Behind a bus.
    #[must_use]
    pub fn with_ceiling(mut self, ceiling: Ceiling) -> Self {
        self.ceiling = Some(ceiling);
        self
    }
}

/// `Model A`, and after `Model Z` with a number.
fn name(at: usize) -> String {
    match u8::try_from(at).ok().filter(|at| *at < 26) {
        Some(at) => format!("Model {}", char::from(b'A' + at)),
        None => format!("Model {at}"),
    }
}
