//! Components of variance from observations: between models, units, slots and repeats.
//!
//! Two stages: least squares removes slots, waves and the order within a session from the units; then the units, one
//! value each, represent their model. In balanced designs this is restricted maximum likelihood, without the negative
//! components that other methods cut off: a model's variance between units already includes that between repeats.

use std::collections::{BTreeMap, BTreeSet};

use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

use super::super::interval::{log_squares, middle};
use super::entry::{Entrant, FitValue, Precedence};
use super::shared::SharedErrors;
use super::table::{Design, Effects, FitError, Notice, Table};
use super::variances::{Spread, pooled};

/// A unit after slots, waves and order were taken out.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitFit {
    /// Its name.
    pub name: String,
    /// Mean logarithm.
    pub ln: f64,
    /// Repeats on it.
    pub repeats: u32,
}

/// A model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFit {
    /// Its name.
    pub name: String,
    /// Its units, by name.
    pub units: Vec<UnitFit>,
    /// Mean logarithm over its units.
    pub mean: f64,
    /// Variance of the logarithm between its units; `None` for one unit.
    pub variance: Option<f64>,
}

impl ModelFit {
    /// A model of known unit means of logarithms.
    #[must_use]
    pub fn new(name: String, units: Vec<UnitFit>) -> Self {
        let n = units.len() as f64;
        let mean = units.iter().map(|u| u.ln).sum::<f64>() / n;
        let squares = log_squares(&units.iter().map(|u| u.ln).collect::<Vec<f64>>());
        let variance = (units.len() > 1).then(|| squares / (n - 1.0));
        Self { name, units, mean, variance }
    }

    /// Degrees of freedom between its units.
    #[must_use]
    pub fn degrees(&self) -> u32 {
        u32::try_from(self.units.len()).unwrap_or(u32::MAX).saturating_sub(1)
    }

    pub(super) fn spread(&self) -> Spread {
        Spread { variance: self.variance.unwrap_or(0.0), degrees: self.degrees(), shared: true }
    }

    /// The model as it enters a ranking: sound, and not at any ceiling.
    #[must_use]
    pub fn entrant(&self) -> Entrant {
        let variance = self.variance.unwrap_or(0.0);
        let units = self.degrees() + 1;
        Entrant {
            name: self.name.clone(),
            mean: self.mean,
            variance,
            units,
            class: Precedence::Sound,
            censored: false,
            flattered: false,
        }
    }
}

/// Deviations of the logarithm; `None` where the data do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Components {
    /// Between units of a model; holds the repeats' share where no unit was repeated, and the
    /// slots' where units did not change slots.
    pub unit: Option<f64>,
    /// Between slots.
    pub slot: Option<f64>,
    /// Between repeats on one unit.
    pub run: Option<f64>,
    /// Degrees of freedom of the repeats' deviation.
    pub run_degrees: usize,
}

/// Shares of the variance of one repeat on one unit of any model; they add up to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceShares {
    /// Between models.
    pub model: f64,
    /// Between units of a model.
    pub unit: f64,
    /// Between slots.
    pub slot: f64,
    /// Between repeats.
    pub run: f64,
}

/// Everything that the observations say, before any test.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// By name.
    pub models: Vec<ModelFit>,
    /// Effect of each slot on the logarithm, by name; empty where slots were left alone.
    pub slots: Vec<(String, f64)>,
    /// Effect of each wave on the logarithm; empty where there are no waves.
    pub waves: Vec<(u32, f64)>,
    /// Components of variance.
    pub components: Components,
    /// Shares of the variance; `None` where there is no variance.
    pub shares: Option<VarianceShares>,
    /// Change along the session; `None` where it cannot be estimated.
    pub order: Option<OrderEffect>,
    /// Effects that could not be estimated.
    pub notices: Vec<Notice>,
    /// Errors that the units of a model have in common.
    pub shared: SharedErrors,
}

impl Fit {
    /// All models as they enter a ranking.
    #[must_use]
    pub fn entrants(&self) -> Vec<Entrant> {
        self.models.iter().map(ModelFit::entrant).collect()
    }

    /// Whether units were distinguished from the slots they were in.
    #[must_use]
    pub fn units_known(&self) -> bool {
        !self.slots.is_empty()
    }
}

/// Estimates all effects and components. The result does not depend on the order of `observations`.
///
/// # Errors
/// No observation, or one whose value is not positive and finite; the error names it.
pub fn fit(observations: &[FitValue<'_>]) -> Result<Fit, FitError> {
    let mut table = Table::new(observations)?;
    let mut degrees = table.degrees();
    let mut order = None;
    if let Some((effect, adjusted)) = OrderEffect::estimate(&table, degrees) {
        order = Some(effect);
        table.y = adjusted;
        degrees -= 1;
    }
    let effects = table.design.sweep(&table.y);
    let mut notices = std::mem::take(&mut table.notices);
    if !effects.settled {
        notices.push(Notice::NotSettled);
    }
    if degrees == 0 {
        notices.push(Notice::NoRepeats);
    }
    let models = models(&table, &effects);
    let run = (degrees > 0).then(|| effects.squares() / degrees as f64);
    let mut shared = SharedErrors::from_residuals(&table, &effects.residuals);
    // Where units carried slots or rounds to others, the days are in their effects.
    if table.swept == [false, false] {
        let pairs = shared.add_days(observations);
        notices.extend((pairs > 0).then_some(Notice::OtherDays { pairs }));
    }
    let (components, shares) = components(&table, &effects, &models, (run, degrees));
    let mut factors = effects.factors.into_iter();
    let slots = if table.slotted { factors.next().unwrap_or_default() } else { Vec::new() };
    Ok(Fit {
        models,
        slots: table.slots.into_iter().zip(slots).collect(),
        waves: table.waves.into_iter().zip(factors.next().unwrap_or_default()).collect(),
        components,
        shares,
        order,
        notices,
        shared,
    })
}

fn models(table: &Table, effects: &Effects) -> Vec<ModelFit> {
    let mut repeats = vec![0; table.units.len()];
    table.design.unit.iter().for_each(|unit| repeats[*unit] += 1);
    let mut models: BTreeMap<&str, Vec<UnitFit>> = BTreeMap::new();
    for (((model, unit), ln), repeats) in table.units.iter().zip(&effects.unit).zip(repeats) {
        models.entry(model).or_default().push(UnitFit { name: unit.clone(), ln: *ln, repeats });
    }
    models.into_iter().map(|(name, units)| ModelFit::new(name.to_owned(), units)).collect()
}

fn components(
    table: &Table,
    effects: &Effects,
    models: &[ModelFit],
    (run, run_degrees): (Option<f64>, usize),
) -> (Components, Option<VarianceShares>) {
    let noise = run.unwrap_or(0.0);
    let of_means = |counts: &mut dyn Iterator<Item = f64>| {
        let (sum, n) = counts.fold((0.0, 0.0), |(sum, n), count| (sum + 1.0 / count, n + 1.0));
        if n > 0.0 { sum / n } else { 0.0 }
    };
    let spreads: Vec<Spread> = models.iter().map(ModelFit::spread).collect();
    let between = pooled(&spreads).map(|(pool, _)| pool);
    let repeated = of_means(&mut models.iter().flat_map(|m| &m.units).map(|u| f64::from(u.repeats)));
    let unit = between.map(|between| (between - noise * repeated).max(0.0));
    let slot = table.design.factors.first().filter(|_| table.slotted).map(|factor| {
        let mut met = vec![0.0; factor.levels()];
        factor.of.iter().for_each(|slot| met[*slot] += 1.0);
        let squares = effects.factors[0].iter().map(|h| h * h).sum::<f64>();
        (squares / factor.free() as f64 - noise * of_means(&mut met.into_iter())).max(0.0)
    });
    let mut model = 0.0;
    if models.len() > 1 {
        let n = models.len() as f64;
        let grand = models.iter().map(|m| m.mean).sum::<f64>() / n;
        let squares = models.iter().map(|m| (m.mean - grand).powi(2)).sum::<f64>();
        let error = between.unwrap_or(0.0) * of_means(&mut models.iter().map(|m| m.units.len() as f64));
        model = (squares / (n - 1.0) - error).max(0.0);
    }
    let parts = [model, unit.unwrap_or(0.0), slot.unwrap_or(0.0), noise];
    let sum: f64 = parts.iter().sum();
    let shares = (sum > 0.0).then(|| {
        let [model, unit, slot, run] = parts.map(|part| part / sum);
        VarianceShares { model, unit, slot, run }
    });
    let root = |variance: Option<f64>| variance.map(f64::sqrt);
    (Components { unit: root(unit), slot: root(slot), run: root(run), run_degrees }, shares)
}

// Whether slots differ, and whether values change along a session.

/// Effects below this ratio do not matter.
const MATTERS: f64 = 1.03;
/// A slot stands out where the slots differ at this level, over all loads together.
const LARGEST_P: f64 = 0.01;
/// A slope is estimated where at least this many degrees of freedom are left: it costs one of them.
const LEAST_DEGREES: usize = 3;
/// What sweeps out to less than this share of its squares has no slope of its own.
const OWN: f64 = 1e-9;

/// Change of the logarithm along the order of measurement. It has been taken out of the units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderEffect {
    /// Change per step of the order.
    pub slope: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// The last value over the first one, by the slope.
    pub ratio: f64,
    /// The interval excludes no change, and the ratio is beyond 3 %: heat, or a cache.
    pub matters: bool,
}

impl OrderEffect {
    /// The slope beside all other effects, and the values without it.
    pub(super) fn estimate(table: &Table, degrees: usize) -> Option<(Self, Vec<f64>)> {
        let order = table.order.as_ref().filter(|_| degrees >= LEAST_DEGREES)?;
        let mean = order.iter().sum::<f64>() / order.len() as f64;
        let along: Vec<f64> = order.iter().map(|o| o - mean).collect();
        let scale = along.iter().fold(0.0f64, |largest, a| largest.max(a.abs()));
        if scale <= 0.0 || !scale.is_finite() {
            return None;
        }
        // Regression on what the other effects leave of the order is regression beside them (Frisch
        // and Waugh 1933).
        let own = table.design.sweep(&along.iter().map(|a| a / scale).collect::<Vec<_>>());
        let squares = own.squares() * scale * scale;
        if squares <= OWN * along.iter().map(|a| a * a).sum::<f64>() {
            return None;
        }
        let slope = own.residuals.iter().zip(&table.y).map(|(r, y)| r * y).sum::<f64>() * scale / squares;
        let adjusted: Vec<f64> = table.y.iter().zip(&along).map(|(y, a)| y - slope * a).collect();
        let rest = table.design.sweep(&adjusted).squares();
        let left = (degrees - 1) as f64;
        let half = StudentsT::new(0.0, 1.0, left).ok()?.inverse_cdf(0.975) * (rest / left / squares).sqrt();
        let (first, last) = along.iter().fold((f64::MAX, f64::MIN), |(low, high), a| (low.min(*a), high.max(*a)));
        let total = slope * (last - first);
        let (low, high) = (slope - half, slope + half);
        let matters = (low > 0.0 || high < 0.0) && total.abs() > MATTERS.ln();
        Some((Self { slope, low, high, ratio: total.exp(), matters }, adjusted))
    }
}

/// A slot that should be left out or repaired; the units have been adjusted for it already.
#[derive(Debug, Clone, PartialEq)]
pub struct OutstandingSlot {
    /// Its name.
    pub slot: String,
    /// Its values over those of the median of the slots that it can be compared with.
    pub ratio: f64,
}

/// Whether slots differ at all, and which stand out.
#[derive(Debug, Clone, PartialEq)]
pub struct SlotCheck {
    /// Chance that slots without effects explain as much.
    pub p_value: f64,
    /// Slots more than 3 % off; empty where slots do not differ at the level of 1 %, shared over the loads.
    pub outstanding: Vec<OutstandingSlot>,
}

/// What values say of slots.
#[derive(Debug, Clone, PartialEq)]
pub enum SlotTest {
    /// The effects of slots and units cannot be separated; a [`Notice`] of the fit says why.
    Inseparable,
    /// Units, slots and waves explain the values wholly, so that nothing shows by how much values vary.
    TooFewWaves,
    /// Slots were tested.
    Tested(SlotCheck),
}

impl Table {
    /// Why slots cannot be tested; `None` where they can.
    fn untested(&self) -> Option<SlotTest> {
        if !self.slotted {
            Some(SlotTest::Inseparable)
        } else if self.degrees() == 0 {
            Some(SlotTest::TooFewWaves)
        } else {
            None
        }
    }
}

/// Whether observations of this design can test each slot against each other one ([`slot_check`]). Their values do not matter. Each
/// observation has a slot and a wave. Slots without an observation do not count.
#[must_use]
pub fn slots_testable(observations: &[FitValue<'_>]) -> bool {
    let units: BTreeSet<_> = observations.iter().map(|o| (&o.model, &o.unit)).collect();
    let slots: BTreeSet<_> = observations.iter().map(|o| &o.slot).collect();
    let waves: BTreeSet<_> = observations.iter().map(|o| o.wave).collect();
    // No degree of freedom can remain for the variance.
    if observations.len() + 1 < units.len() + slots.len() + waves.len() {
        return false;
    }
    Table::new(observations).is_ok_and(|table| {
        table.untested().is_none() && table.design.factors.first().is_some_and(|slots| slots.parts == 1)
    })
}

/// Tests slots under one of `loads` loads by the F ratio of what they explain beside units and waves. A slot stands out where
/// slots differ, and it is 3 % and more than its own error away from the median of the slots.
///
/// Permutations of the slots would assume less, but where units met five slots in three waves, 4 % of them keep the values of a
/// slow slot together, however slow it is.
///
/// # Errors
/// As for [`self`].
pub fn slot_check(observations: &[FitValue<'_>], loads: usize) -> Result<SlotTest, FitError> {
    let mut table = Table::new(observations)?;
    if let Some(why) = table.untested() {
        return Ok(why);
    }
    let mut degrees = table.degrees();
    if let Some((_, adjusted)) = OrderEffect::estimate(&table, degrees) {
        table.y = adjusted;
        degrees -= 1;
    }
    let seen = table.design.sweep(&table.y);
    let slots = &table.design.factors[0];
    let without = Design { factors: table.design.factors[1..].to_vec(), ..table.design.clone() };
    let free = table.design.rank() - without.rank();
    let left = seen.squares() / degrees as f64;
    let explained = (without.sweep(&table.y).squares() - seen.squares()).max(0.0) / free.max(1) as f64;
    let p_value = match FisherSnedecor::new(free as f64, degrees as f64) {
        Ok(f) if left > 0.0 => f.sf(explained / left),
        _ => f64::from(explained <= 0.0),
    };
    let level = LARGEST_P / loads.max(1) as f64;
    let effects = &seen.factors[0];
    // Each slot is tested (Bonferroni).
    let tail = level / 2.0 / effects.len() as f64;
    let own = StudentsT::new(0.0, 1.0, degrees as f64).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - tail));
    let medians: Vec<f64> = (0..slots.parts)
        .map(|part| {
            let own: Vec<f64> = (0..effects.len()).filter(|at| slots.part[*at] == part).map(|at| effects[at]).collect();
            middle(&own, 0.95).map_or(0.0, |middle| middle.median)
        })
        .collect();
    let outstanding = (0..effects.len())
        .map(|at| (at, effects[at] - medians[slots.part[at]]))
        .filter(|(at, off)| {
            let values = slots.of.iter().filter(|slot| *slot == at).count().max(1) as f64;
            p_value < level && off.abs() > MATTERS.ln() && off.abs() > own * (left / values).sqrt()
        })
        .map(|(at, off)| OutstandingSlot { slot: table.slots[at].clone(), ratio: off.exp() })
        .collect();
    Ok(SlotTest::Tested(SlotCheck { p_value, outstanding }))
}
