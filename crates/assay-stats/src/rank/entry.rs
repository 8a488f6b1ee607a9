//! What enters a ranking, how it is ranked, and why it may not be.

use std::fmt;

use super::dnf::Class;
use super::moderate::{PRIOR_DEGREES, Spread};
use super::observation::Invalid;

/// Fewer draws than this cannot place a critical value.
const LEAST_DRAWS: usize = 99;

/// A model that is to be ranked.
#[derive(Debug, Clone, PartialEq)]
pub struct Entrant {
    /// Its name; no two have the same.
    pub name: String,
    /// Mean over its units of the logarithm.
    pub mean: f64,
    /// Variance between its units of the logarithm; ignored for one unit.
    pub variance: f64,
    /// Units measured.
    pub units: u32,
    /// Whether units of it failed.
    pub class: Class,
    /// Whether it is limited by the bus: its values are lower bounds (see [`super::Ceiling`]).
    pub censored: bool,
    /// Whether its values are the best of several runs, which on average does less.
    pub flattered: bool,
}

impl Entrant {
    pub(super) fn spread(&self) -> Spread {
        Spread { variance: self.variance, degrees: self.units.saturating_sub(1), shared: !self.censored }
    }
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sense {
    /// Rates.
    #[default]
    HigherIsBetter,
    /// Latencies.
    LowerIsBetter,
}

/// How to rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Chance of any false order when all models are equal, between 0 and 1.
    pub alpha: f64,
    /// Differences of logarithms up to this do not matter: the equivalence margin.
    pub delta: f64,
    /// Degrees of freedom that the shared variance counts for, above 0; infinite is plain pooling.
    pub prior_degrees: f64,
    /// Draws of the bootstrap, at least 99.
    pub draws: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Whether models of one unit take part, with the variance of the others. They are provisional.
    pub borrow: bool,
    /// Which way is better.
    pub sense: Sense,
}

impl Default for Options {
    /// 95 %, a margin of 3 %, 19 999 draws, higher is better.
    fn default() -> Self {
        Self {
            alpha: 0.05,
            delta: 1.03f64.ln(),
            prior_degrees: PRIOR_DEGREES,
            draws: 19_999,
            seed: 0,
            borrow: false,
            sense: Sense::HigherIsBetter,
        }
    }
}

/// Why there is no ranking.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// A mean or variance is no number.
    Invalid(Invalid),
    /// Two entrants have this name.
    Duplicate(String),
    /// A level, margin, prior or number of draws out of range.
    Options(&'static str),
    /// Every model has one unit: no statement about models is possible.
    OnlySpecimens,
    /// Fewer than two models are left to compare.
    TooFewModels,
    /// Fewer than two units beyond the first of each model.
    TooFewUnits {
        /// Degrees of freedom there are.
        degrees: u32,
    },
    /// The units of each model are equal to the last digit: these are not measurements of several units.
    NoSpread,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(invalid) => invalid.fmt(f),
            Self::Duplicate(name) => write!(f, "{name} is entered twice"),
            Self::Options(what) => write!(f, "{what} is out of range"),
            Self::OnlySpecimens => f.write_str("one unit of each model: models cannot be ranked; measure two of each"),
            Self::TooFewModels => f.write_str("fewer than two models with two units: nothing to compare"),
            Self::TooFewUnits { degrees } => {
                write!(f, "{degrees} degree of freedom between units, two are needed: measure more units")
            }
            Self::NoSpread => {
                f.write_str("the units of each model agree to the last digit, so they are not different units")
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// Refuses models that cannot be ranked for any values.
pub(super) fn check(entrants: &[Entrant], options: &Options) -> Result<(), Refusal> {
    check_options(options)?;
    for (at, e) in entrants.iter().enumerate() {
        let bad = |what: &str, value| Err(Refusal::Invalid(Invalid { what: format!("{what} of {}", e.name), value }));
        if !e.mean.is_finite() {
            return bad("mean logarithm", e.mean);
        }
        if e.units > 1 && !(e.variance.is_finite() && e.variance >= 0.0) {
            return bad("variance", e.variance);
        }
        if entrants[..at].iter().any(|other| other.name == e.name) {
            return Err(Refusal::Duplicate(e.name.clone()));
        }
    }
    Ok(())
}

/// Refuses options out of range.
pub(super) fn check_options(options: &Options) -> Result<(), Refusal> {
    if !(options.alpha > 0.0 && options.alpha < 1.0) {
        return Err(Refusal::Options("alpha"));
    }
    if !(options.delta >= 0.0 && options.delta.is_finite()) {
        return Err(Refusal::Options("the equivalence margin"));
    }
    if options.prior_degrees.is_nan() || options.prior_degrees <= 0.0 {
        return Err(Refusal::Options("the weight of the shared variance"));
    }
    if options.draws < LEAST_DRAWS {
        return Err(Refusal::Options("the number of draws"));
    }
    Ok(())
}
