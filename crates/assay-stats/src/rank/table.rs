//! Observations with units, slots and waves numbered, and what their design allows to tell.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::entry::{FitValue, Invalid};

/// Observations in an order of their own, with everything numbered.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) y: Vec<f64>,
    pub(super) order: Option<Vec<f64>>,
    /// Model and unit of each unit number.
    pub(super) units: Vec<(String, String)>,
    pub(super) slots: Vec<String>,
    pub(super) waves: Vec<u32>,
    pub(super) design: Design,
    /// Whether the first factor is the slot.
    pub(super) slotted: bool,
    /// Slot and wave of each row, numbered together; `None` where rows do not name them. They are there whether their
    /// effects are taken out or not.
    pub(super) levels: Vec<[Option<usize>; 2]>,
    /// Whether the effects of slots and of waves are taken out.
    pub(super) swept: [bool; 2],
    pub(super) notices: Vec<Notice>,
}

impl Table {
    pub(super) fn new(observations: &[FitValue<'_>]) -> Result<Self, FitError> {
        let mut rows = Vec::with_capacity(observations.len());
        for o in observations {
            rows.push((o, o.ln().map_err(FitError::Invalid)?));
        }
        if rows.is_empty() {
            return Err(FitError::Empty);
        }
        // Sums depend on the order of their terms in the last digit; this makes it always the same.
        rows.sort_by(|(a, x), (b, y)| {
            (&a.model, &a.unit, &a.slot, a.wave)
                .cmp(&(&b.model, &b.unit, &b.slot, b.wave))
                .then_with(|| a.order.unwrap_or(0.0).total_cmp(&b.order.unwrap_or(0.0)))
                .then_with(|| x.total_cmp(y).then(a.weight.total_cmp(&b.weight)))
        });
        let (unit, units) = number(rows.iter().map(|(o, _)| (&*o.model, &*o.unit)));
        let units = units.into_iter().map(|(model, unit)| (model.to_owned(), unit.to_owned())).collect::<Vec<_>>();
        let missing = rows.iter().filter(|(o, _)| o.slot.is_none()).count();
        let mut notices = Vec::new();
        let mut factors = Vec::new();
        let mut slots = Vec::new();
        if missing == 0 {
            let (of, names) = number(rows.iter().filter_map(|(o, _)| o.slot.as_deref()));
            let factor = Factor::new(of, names.len(), &unit, units.len());
            if factor.free() == 0 {
                notices.push(Notice::NoSwap);
            } else {
                if factor.parts > 1 {
                    notices.push(Notice::Parts { parts: factor.parts });
                }
                factors.push(factor);
                slots = names.into_iter().map(str::to_owned).collect();
            }
        } else {
            notices.push(Notice::SlotsUnknown { runs: missing });
        }
        let mut waves = Vec::new();
        if rows.iter().all(|(o, _)| o.wave.is_some()) {
            let (of, names) = number(rows.iter().filter_map(|(o, _)| o.wave));
            let factor = Factor::new(of, names.len(), &unit, units.len());
            if factor.free() > 0 {
                factors.push(factor);
                waves = names;
            }
        }
        let mut design = Design { unit, weight: weights(&rows), units: units.len(), factors };
        let free: usize = design.factors.iter().map(Factor::free).sum();
        if !slots.is_empty() && !waves.is_empty() && design.rank() < design.units + free {
            design.factors.remove(0);
            slots.clear();
            notices.push(Notice::SlotsConfounded);
        }
        let levels = levels(&rows.iter().map(|(o, _)| *o).collect::<Vec<_>>());
        let order = rows.iter().map(|(o, _)| o.order).collect();
        let y = rows.iter().map(|(_, ln)| *ln).collect();
        let swept = [!slots.is_empty(), !waves.is_empty()];
        Ok(Self { y, order, units, slotted: swept[0], slots, waves, design, notices, levels, swept })
    }

    /// Degrees of freedom between repeats.
    pub(super) fn degrees(&self) -> usize {
        self.y.len() - self.design.rank()
    }
}

/// What each row counts for. Where all count alike that is one, so that sums have the digits of plain ones.
fn weights(rows: &[(&FitValue<'_>, f64)]) -> Vec<f64> {
    let first = rows.first().map_or(1.0, |(o, _)| o.weight);
    let alike = rows.iter().all(|(o, _)| o.weight == first);
    rows.iter().map(|(o, _)| if alike { 1.0 } else { o.weight }).collect()
}

/// Slot and wave of each, waves after slots; neither is known where one of all lacks it.
fn levels(observations: &[&FitValue<'_>]) -> Vec<[Option<usize>; 2]> {
    let (slots, names) = number(observations.iter().map(|o| o.slot.as_deref()));
    let (waves, _) = number(observations.iter().map(|o| o.wave));
    let known = [observations.iter().all(|o| o.slot.is_some()), observations.iter().all(|o| o.wave.is_some())];
    let offset = if known[0] { names.len() } else { 0 };
    let of = |(slot, wave): (usize, usize)| [known[0].then_some(slot), known[1].then_some(wave + offset)];
    slots.into_iter().zip(waves).map(of).collect()
}

fn number<T: Ord + Clone>(names: impl Iterator<Item = T> + Clone) -> (Vec<usize>, Vec<T>) {
    let mut sorted: Vec<T> = names.clone().collect();
    sorted.dedup();
    sorted.sort();
    sorted.dedup();
    (names.map(|name| sorted.partition_point(|other| *other < name)).collect(), sorted)
}

// Effects of units, slots and waves by least squares, through alternating means.

/// Largest change of an effect at which the sweep has settled.
const SETTLED: f64 = 1e-12;
/// Rounds of alternating means. A ring of 28 units in 28 slots, each met twice, needs about 2 000.
const ROUNDS: usize = 20_000;
/// Pivots below this share of the largest are zero: effects that the design cannot tell apart.
const PIVOT: f64 = 1e-9;

/// A factor whose effects are taken out: the slot or the wave of each observation.
#[derive(Debug, Clone)]
pub(super) struct Factor {
    /// Level of each observation.
    pub(super) of: Vec<usize>,
    /// For each level the part of the design that it can be compared within.
    pub(super) part: Vec<usize>,
    /// Number of parts.
    pub(super) parts: usize,
}

impl Factor {
    pub(super) fn new(of: Vec<usize>, levels: usize, unit: &[usize], units: usize) -> Self {
        // Units and levels are the nodes of a graph, observations its edges.
        let mut root: Vec<usize> = (0..units + levels).collect();
        for (u, level) in unit.iter().zip(&of) {
            let (a, b) = (find(&mut root, *u), find(&mut root, units + level));
            root[a] = b;
        }
        let mut names = BTreeMap::new();
        let part: Vec<usize> = (0..levels)
            .map(|level| {
                let root = find(&mut root, units + level);
                let next = names.len();
                *names.entry(root).or_insert(next)
            })
            .collect();
        Self { of, part, parts: names.len() }
    }

    pub(super) fn levels(&self) -> usize {
        self.part.len()
    }

    /// Number of effects that can be separated from the units.
    pub(super) fn free(&self) -> usize {
        self.levels() - self.parts
    }

    /// Shifts effects so that they add up to zero within each part.
    fn centre(&self, effects: &mut [f64]) {
        let mut sums = vec![(0.0, 0.0); self.parts];
        for (effect, part) in effects.iter().zip(&self.part) {
            sums[*part].0 += effect;
            sums[*part].1 += 1.0;
        }
        for (effect, part) in effects.iter_mut().zip(&self.part) {
            *effect -= sums[*part].0 / sums[*part].1;
        }
    }
}

fn find(root: &mut [usize], mut at: usize) -> usize {
    while root[at] != at {
        root[at] = root[root[at]];
        at = root[at];
    }
    at
}

/// The unit and the factor levels of each observation.
#[derive(Debug, Clone)]
pub(super) struct Design {
    /// Unit of each observation.
    pub(super) unit: Vec<usize>,
    /// Weight of each observation.
    pub(super) weight: Vec<f64>,
    /// Number of units; each has an observation.
    pub(super) units: usize,
    /// Factors whose effects are removed.
    pub(super) factors: Vec<Factor>,
}

/// Effects of one series of values.
#[derive(Debug, Clone)]
pub(super) struct Effects {
    pub(super) unit: Vec<f64>,
    /// Per factor, per level.
    pub(super) factors: Vec<Vec<f64>>,
    pub(super) residuals: Vec<f64>,
    pub(super) settled: bool,
}

impl Effects {
    /// Sum of squared residuals.
    pub(super) fn squares(&self) -> f64 {
        self.residuals.iter().map(|r| r * r).sum()
    }
}

impl Design {
    /// Sweeps units and factors out of `y` until no effect changes.
    pub(super) fn sweep(&self, y: &[f64]) -> Effects {
        let mut residuals = y.to_vec();
        let mut unit = vec![0.0; self.units];
        let mut factors: Vec<Vec<f64>> = self.factors.iter().map(|f| vec![0.0; f.levels()]).collect();
        let mut settled = false;
        let mut round = 0;
        let absorb = |residuals: &mut [f64], of: &[usize], effects: &mut [f64], factor| {
            absorb((residuals, &self.weight), of, effects, factor)
        };
        absorb(&mut residuals, &self.unit, &mut unit, None);
        while !settled && round < ROUNDS {
            let mut change = 0.0f64;
            for (factor, effects) in self.factors.iter().zip(&mut factors) {
                change = change.max(absorb(&mut residuals, &factor.of, effects, Some(factor)));
            }
            change = change.max(absorb(&mut residuals, &self.unit, &mut unit, None));
            settled = change <= SETTLED;
            round += 1;
        }
        Effects { unit, factors, residuals, settled }
    }

    /// Number of effects that the observations determine, the units among them.
    pub(super) fn rank(&self) -> usize {
        let levels: usize = self.factors.iter().map(Factor::levels).sum();
        let mut matrix = vec![vec![0.0; levels]; levels];
        let mut met = vec![vec![0.0; levels]; self.units];
        let mut count = vec![0.0; self.units];
        for (at, &unit) in self.unit.iter().enumerate() {
            let mut start = 0;
            let columns: Vec<usize> = self
                .factors
                .iter()
                .map(|f| {
                    start += f.levels();
                    start - f.levels() + f.of[at]
                })
                .collect();
            count[unit] += 1.0;
            for &a in &columns {
                met[unit][a] += 1.0;
                for &b in &columns {
                    matrix[a][b] += 1.0;
                }
            }
        }
        // The factors after the units are eliminated (Schur complement).
        for (met, count) in met.iter().zip(&count) {
            for a in (0..levels).filter(|&a| met[a] > 0.0) {
                for b in 0..levels {
                    matrix[a][b] -= met[a] * met[b] / count;
                }
            }
        }
        self.units + rank(matrix)
    }
}

/// Moves the mean residual of each level into its effect; the largest change.
fn absorb(
    (residuals, weight): (&mut [f64], &[f64]),
    of: &[usize],
    effects: &mut [f64],
    factor: Option<&Factor>,
) -> f64 {
    let mut sums = vec![(0.0, 0.0); effects.len()];
    for ((residual, weight), level) in residuals.iter().zip(weight).zip(of) {
        sums[*level].0 += residual * weight;
        sums[*level].1 += weight;
    }
    let mut steps: Vec<f64> = sums.iter().map(|(sum, n)| if *n > 0.0 { sum / n } else { 0.0 }).collect();
    if let Some(factor) = factor {
        factor.centre(&mut steps);
    }
    for (residual, level) in residuals.iter_mut().zip(of) {
        *residual -= steps[*level];
    }
    for (effect, step) in effects.iter_mut().zip(&steps) {
        *effect += step;
    }
    steps.iter().fold(0.0, |largest, step| step.abs().max(largest))
}

/// Rank of a symmetric matrix without negative eigenvalues: Cholesky with pivoting.
fn rank(mut m: Vec<Vec<f64>>) -> usize {
    let n = m.len();
    let largest = (0..n).map(|i| m[i][i]).fold(0.0, f64::max);
    let mut left: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    while let Some((place, &pivot)) = left.iter().enumerate().max_by(|a, b| m[*a.1][*a.1].total_cmp(&m[*b.1][*b.1])) {
        let value = m[pivot][pivot];
        if value <= PIVOT * largest {
            break;
        }
        left.swap_remove(place);
        let row = m[pivot].clone();
        for &i in &left {
            let share = row[i] / value;
            for &j in &left {
                m[i][j] -= share * row[j];
            }
        }
        rank += 1;
    }
    rank
}

// What observations do not allow to tell.

/// What the design does not allow to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "remark", rename_all = "snake_case")]
pub enum Notice {
    /// Observations have no slot, so slots were left alone.
    SlotsUnknown {
        /// How many repeats.
        runs: usize,
    },
    /// No unit changed its slot: unit effects and slot effects cannot be separated, and no unit may be called bad.
    NoSwap,
    /// Units and slots fall into parts; slots were compared within each only.
    Parts {
        /// How many parts.
        parts: usize,
    },
    /// The effects of slots and rounds cannot be separated; slots were not adjusted for.
    SlotsConfounded,
    /// No unit has a second repeat: the variance between units includes that between repeats.
    NoRepeats,
    /// Models were measured on different days, so that the effects of days are part of the difference.
    OtherDays {
        /// Pairs of models.
        pairs: usize,
    },
    /// The sweep did not settle; effects of slots and rounds are rough.
    NotSettled,
}

/// Why there is no fit.
#[derive(Debug, Clone, PartialEq)]
pub enum FitError {
    /// No observation.
    Empty,
    /// One that has no logarithm.
    Invalid(Invalid),
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no observation"),
            Self::Invalid(invalid) => invalid.fmt(f),
        }
    }
}

impl std::error::Error for FitError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unit `u` meets slots `u` and `u + 1` of a ring; wave is the round.
    fn ring(units: usize) -> (Design, Vec<f64>) {
        let unit: Vec<usize> = (0..2 * units).map(|at| at % units).collect();
        let slot: Vec<usize> = (0..2 * units).map(|at| (at % units + at / units) % units).collect();
        let wave: Vec<usize> = (0..2 * units).map(|at| at / units).collect();
        let y = (0..2 * units)
            .map(|at| (unit[at] as f64).sin() + (slot[at] as f64 * 1.7).cos() + 0.3 * wave[at] as f64)
            .collect();
        let factors = vec![Factor::new(slot, units, &unit, units), Factor::new(wave, 2, &unit, units)];
        (Design { weight: vec![1.0; unit.len()], unit, units, factors }, y)
    }

    #[test]
    fn an_exact_sum_leaves_nothing() {
        let (design, y) = ring(28);
        let effects = design.sweep(&y);
        assert!(effects.settled);
        assert!(effects.squares() < 1e-18, "{}", effects.squares());
        let difference = effects.unit[3] - effects.unit[20];
        assert!((difference - (3f64.sin() - 20f64.sin())).abs() < 1e-8, "{difference}");
        let wave = effects.factors[1][1] - effects.factors[1][0];
        assert!((wave - 0.3).abs() < 1e-9, "{wave}");
        assert!(effects.factors[0].iter().sum::<f64>().abs() < 1e-9);
    }

    #[test]
    fn ranks_and_parts() {
        // 5 units, 5 slots less one, 2 waves less one.
        let (design, _) = ring(5);
        assert_eq!(design.rank(), 5 + 4 + 1);
        // Cards that stay where they are: each slot is a part of its own.
        let unit = vec![0, 0, 1, 1];
        let stay = Factor::new(unit.clone(), 2, &unit, 2);
        assert_eq!((stay.parts, stay.free()), (2, 0));
        assert_eq!(Design { weight: vec![1.0; 4], unit, units: 2, factors: vec![stay] }.rank(), 2);
    }
}
