//! Errors that the units of a model have in common, so that more units do not average them out.
//!
//! The effects of slots and rounds are removed from the units' values by least squares. The effects are estimated from
//! the units that changed slot or round. If that is a single card, its error enters the difference between any two
//! models in different slots, and the spread between units does not show it. An effect between places that no unit
//! changed between is not estimated at all, and its size is assumed.

use std::collections::{BTreeMap, BTreeSet};

use super::super::variation::{PRIOR_DEGREES, PRIOR_DEVIATION};
use super::entry::FitValue;
use super::table::Table;
use crate::days::GroupDays;

/// Deviation of logarithms between slots or rounds whose effects cannot be separated from the models: that of days.
const ASSUMED: f64 = PRIOR_DEVIATION;
/// Added to the normal equations, as a share of the largest diagonal, for directions that the design does not
/// determine.
const RIDGE: f64 = 1e-7;
/// The largest number of slots and rounds: the cost of the equations grows with the cube.
const MOST_LEVELS: usize = 400;

/// Squared errors of differences between models, beyond the variance of their units.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SharedErrors {
    /// In order.
    models: Vec<String>,
    /// Of each pair, row by row.
    variance: Vec<f64>,
    /// The squared error that all units of a model have in common, for each model that has one.
    own: BTreeMap<String, f64>,
    /// Pairs of models without a common unit: their computers may differ by any factor.
    apart: BTreeSet<(String, String)>,
}

impl SharedErrors {
    /// Marks two models that were measured on computers of different kinds, with no unit on both.
    pub fn set_apart(&mut self, a: &str, b: &str) {
        self.apart.insert((a.min(b).to_owned(), a.max(b).to_owned()));
    }

    /// Adds squared errors that all units of a model have in common, such as the rounding error of printed figures.
    pub fn add_own(&mut self, of_models: &BTreeMap<&str, f64>) {
        if of_models.values().all(|own| *own <= 0.0) {
            return;
        }
        self.own.extend(of_models.iter().map(|(name, own)| ((*name).to_owned(), *own)));
        let own = |name: &String| of_models.get(name.as_str()).copied().unwrap_or(0.0);
        let names: BTreeSet<String> =
            self.models.iter().cloned().chain(of_models.keys().map(|name| (*name).to_owned())).collect();
        let names: Vec<String> = names.into_iter().collect();
        let pair = |a: &String, b: &String| if a == b { 0.0 } else { self.between(a, b) + own(a) + own(b) };
        let variance = names.iter().flat_map(|a| names.iter().map(move |b| (a, b))).map(|(a, b)| pair(a, b)).collect();
        (self.models, self.variance) = (names, variance);
    }

    /// The squared error that all units of a model have in common, which more units do not average out.
    pub(super) fn own(&self, model: &str) -> f64 {
        self.own.get(model).copied().unwrap_or(0.0)
    }

    /// Whether two models were marked as measured on unconnected computers.
    #[must_use]
    pub fn apart(&self, a: &str, b: &str) -> bool {
        self.apart.contains(&(a.min(b).to_owned(), a.max(b).to_owned()))
    }

    /// Adds the effects of days that all units of a model have in common, where models were measured on different days.
    /// Returns the number of pairs of models where this squared error is at least that of one day.
    pub(super) fn add_days(&mut self, observations: &[FitValue<'_>]) -> usize {
        let mut units: BTreeMap<&str, BTreeMap<&str, BTreeSet<Option<&str>>>> = BTreeMap::new();
        for seen in observations {
            let of = units.entry(&seen.model).or_default().entry(&seen.unit).or_default();
            of.insert(seen.day.as_deref());
        }
        let names: Vec<String> = units.keys().map(|name| (*name).to_owned()).collect();
        let days: Vec<Vec<Vec<Option<&str>>>> =
            units.values().map(|units| units.values().map(|days| days.iter().copied().collect()).collect()).collect();
        let days = GroupDays::from_groups(&days);
        let n = names.len();
        let mut unlike = 0;
        let mut variance = vec![0.0; n * n];
        for (a, first) in names.iter().enumerate() {
            for (b, second) in names.iter().enumerate().filter(|(b, _)| *b != a) {
                let common = days.between(a, b);
                unlike += usize::from(a < b && common >= 1.0);
                variance[a * n + b] = self.between(first, second) + ASSUMED.powi(2) * common;
            }
        }
        (self.models, self.variance) = (names, variance);
        unlike
    }

    /// Squared error of the difference between the logarithms of two models; 0 for unknown names.
    #[must_use]
    pub fn between(&self, a: &str, b: &str) -> f64 {
        let place = |name: &str| self.models.binary_search_by(|model| model.as_str().cmp(name)).ok();
        place(a).zip(place(b)).map_or(0.0, |(a, b)| self.variance[a * self.models.len() + b])
    }

    /// `residuals` are those that the sweep of the table left, one for each row.
    pub(super) fn from_residuals(table: &Table, residuals: &[f64]) -> Self {
        let levels = table.levels.iter().flatten().flatten().map(|level| level + 1).max().unwrap_or(0);
        if levels == 0 || levels > MOST_LEVELS {
            return Self::default();
        }
        let cells = cells(table, residuals);
        let Some(equations) = Equations::between_cells(table, &cells, levels) else { return Self::default() };
        let mut models: Vec<(String, Vec<Vec<f64>>)> = Vec::new();
        for (unit, (name, _)) in table.units.iter().enumerate() {
            if models.last().is_none_or(|(model, _)| model != name) {
                models.push((name.clone(), Vec::new()));
            }
            if let Some((_, units)) = models.last_mut() {
                units.push(equations.solve(incidence(&cells, unit, levels)));
            }
        }
        let models: Vec<(String, Model)> =
            models.into_iter().map(|(name, units)| (name, Model::of_units(&units))).collect();
        let variance = models.iter().flat_map(|(_, a)| models.iter().map(|(_, b)| equations.error(a, b))).collect();
        Self { models: models.into_iter().map(|(name, _)| name).collect(), variance, ..Self::default() }
    }
}

/// The repeats of a unit in one slot and round.
#[derive(Debug)]
struct Cell {
    unit: usize,
    /// Numbers of its slot and its round among all levels.
    levels: [Option<usize>; 2],
    /// Mean of what the sweep left of its repeats.
    residual: f64,
}

fn cells(table: &Table, residuals: &[f64]) -> Vec<Cell> {
    let mut cells: Vec<(Cell, f64)> = Vec::new();
    // Rows are sorted by unit, slot and round.
    for ((unit, levels), residual) in table.design.unit.iter().zip(&table.levels).zip(residuals) {
        match cells.last_mut() {
            Some((cell, n)) if (cell.unit, &cell.levels) == (*unit, levels) => {
                *n += 1.0;
                cell.residual += (residual - cell.residual) / *n;
            }
            _ => cells.push((Cell { unit: *unit, levels: *levels, residual: *residual }, 1.0)),
        }
    }
    cells.into_iter().map(|(cell, _)| cell).collect()
}

/// Share of the cells of a unit at each level.
fn incidence(cells: &[Cell], unit: usize, levels: usize) -> Vec<f64> {
    let own = || cells.iter().filter(|cell| cell.unit == unit);
    let each = 1.0 / own().count() as f64;
    let mut shares = vec![0.0; levels];
    own().flat_map(|cell| cell.levels).flatten().for_each(|level| shares[level] += each);
    shares
}

/// Normal equations of the effects that were taken out, units projected out, with a ridge so small that it matters only
/// where the design says nothing.
#[derive(Debug)]
struct Equations {
    matrix: Vec<Vec<f64>>,
    /// Lower triangle of Cholesky's decomposition.
    lower: Vec<Vec<f64>>,
    ridge: f64,
    /// Variance of the mean of a cell.
    run: f64,
}

impl Equations {
    fn between_cells(table: &Table, cells: &[Cell], levels: usize) -> Option<Self> {
        let mut matrix = vec![vec![0.0; levels]; levels];
        for unit in 0..table.units.len() {
            let own: Vec<&Cell> = cells.iter().filter(|cell| cell.unit == unit).collect();
            let swept = |cell: &Cell| -> Vec<usize> {
                let of = cell.levels.iter().zip(table.swept);
                of.filter_map(|(level, swept)| level.filter(|_| swept)).collect()
            };
            let mut sums = vec![0.0; levels];
            for cell in &own {
                let of = swept(cell);
                for &a in &of {
                    sums[a] += 1.0;
                    of.iter().for_each(|&b| matrix[a][b] += 1.0);
                }
            }
            let met: Vec<usize> = (0..levels).filter(|level| sums[*level] > 0.0).collect();
            for &a in &met {
                met.iter().for_each(|&b| matrix[a][b] -= sums[a] * sums[b] / own.len() as f64);
            }
        }
        let largest = (0..levels).map(|at| matrix[at][at]).fold(0.0, f64::max);
        let ridge = RIDGE * if largest > 0.0 { largest } else { 1.0 };
        let lower = cholesky(&matrix, ridge)?;
        let squares: f64 = cells.iter().map(|cell| cell.residual.powi(2)).sum();
        // Cells that determine neither a unit nor an effect.
        let free = cells.len().saturating_sub(table.design.rank()) as f64;
        let run = (PRIOR_DEGREES * PRIOR_DEVIATION.powi(2) + squares) / (PRIOR_DEGREES + free);
        Some(Self { matrix, lower, ridge, run })
    }

    /// What multiplied by the equations gives this.
    fn solve(&self, mut x: Vec<f64>) -> Vec<f64> {
        let n = x.len();
        for i in 0..n {
            let known: f64 = (0..i).map(|j| self.lower[i][j] * x[j]).sum();
            x[i] = (x[i] - known) / self.lower[i][i];
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| self.lower[j][i] * x[j]).sum();
            x[i] = (x[i] - known) / self.lower[i][i];
        }
        x
    }

    /// Squared error of the difference of two models.
    fn error(&self, a: &Model, b: &Model) -> f64 {
        let x: Vec<f64> = a.mean.iter().zip(&b.mean).map(|(a, b)| a - b).collect();
        let estimated: f64 = self
            .matrix
            .iter()
            .zip(&x)
            .map(|(row, x_row)| x_row * row.iter().zip(&x).map(|(m, x)| m * x).sum::<f64>())
            .sum();
        // What the ridge alone holds is what the design says nothing about. Where the units of a model differ in it, their
        // spread shows it already.
        let unknown: f64 = x.iter().map(|x| (self.ridge * x).powi(2)).sum();
        let shown = (a.spread + b.spread) * self.ridge.powi(2);
        self.run * estimated.max(0.0) + ASSUMED.powi(2) * (unknown - shown).max(0.0)
    }
}

/// The mean of the solutions of a model's units, and the squared error from the differences between them.
#[derive(Debug)]
struct Model {
    mean: Vec<f64>,
    spread: f64,
}

impl Model {
    fn of_units(units: &[Vec<f64>]) -> Self {
        let n = units.len() as f64;
        let levels = units.first().map_or(0, Vec::len);
        let mean: Vec<f64> = (0..levels).map(|at| units.iter().map(|unit| unit[at]).sum::<f64>() / n).collect();
        let from = |unit: &Vec<f64>, to: &[f64]| unit.iter().zip(to).map(|(u, m)| (u - m).powi(2)).sum::<f64>();
        let spread = match units {
            // A borrowed spread holds what slots make of units, as those of the others do.
            [one] => from(one, &vec![0.0; levels]),
            several => several.iter().map(|unit| from(unit, &mean)).sum::<f64>() / (n - 1.0) / n,
        };
        Self { mean, spread }
    }
}

/// Lower triangle of a symmetric matrix with `ridge` added to its diagonal; `None` where it is not positive.
fn cholesky(matrix: &[Vec<f64>], ridge: f64) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let mut lower = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
            let left = matrix[i][j] + if i == j { ridge } else { 0.0 } - known;
            if i == j {
                if left.is_nan() || left <= 0.0 {
                    return None;
                }
                lower[i][i] = left.sqrt();
            } else {
                lower[i][j] = left / lower[j][j];
            }
        }
    }
    Some(lower)
}

#[cfg(test)]
mod tests {
    use super::super::fit::fit;
    use super::*;

    fn seen(model: &str, unit: &str, slot: &str) -> FitValue<'static> {
        let unit = FitValue::new(model.to_owned(), unit.to_owned(), 100.0);
        FitValue { slot: Some(slot.to_owned().into()), ..unit }
    }

    fn between(observations: &[FitValue<'_>]) -> f64 {
        fit(observations).unwrap().shared.between("a", "b")
    }

    #[test]
    fn what_all_units_of_a_model_share_enters_each_of_its_differences() {
        let mut shared = SharedErrors::default();
        shared.add_own(&BTreeMap::from([("a", 0.0), ("b", 0.0)]));
        assert_eq!(shared, SharedErrors::default());
        shared.add_own(&BTreeMap::from([("a", 1.0), ("b", 2.0), ("c", 0.0)]));
        assert_eq!((shared.between("a", "b"), shared.between("c", "a"), shared.between("a", "a")), (3.0, 1.0, 0.0));
    }

    const PRIOR: f64 = PRIOR_DEVIATION * PRIOR_DEVIATION;

    #[test]
    fn models_in_the_same_slots_share_nothing_that_matters() {
        let all: Vec<_> = ["a", "b"].iter().flat_map(|m| ["1", "2"].map(|s| seen(m, &format!("{m}{s}"), s))).collect();
        assert!(between(&all) < 1e-12, "{}", between(&all));
        // Each unit in a slot of its own: the spread between units holds the slots.
        let own: Vec<_> =
            ["a", "b"].iter().flat_map(|m| ["1", "2", "3"].map(|s| seen(m, s, &format!("{m}{s}")))).collect();
        assert!(between(&own) < 1e-9, "{}", between(&own));
        assert_eq!(between(&[FitValue::new("a", "1", 1.0), FitValue::new("b", "1", 1.0)]), 0.0);
    }

    #[test]
    fn models_in_two_slots_differ_by_what_slots_may() {
        let all: Vec<_> = ["a", "b"].iter().flat_map(|m| ["1", "2", "3"].map(|u| seen(m, u, m))).collect();
        assert!((between(&all) / PRIOR - 2.0).abs() < 1e-6, "{}", between(&all));
    }

    /// One card in both slots: the difference between the slots is that of two of its runs.
    #[test]
    fn one_card_that_bridges_two_slots_bears_the_error() {
        let mut all: Vec<_> = ["a", "b"].iter().flat_map(|m| ["1", "2", "3"].map(|u| seen(m, u, m))).collect();
        all.push(seen("a", "1", "b"));
        // The bridging unit itself needs no correction: its own share of slots is one half each.
        let expected = 2.0 * (1.0 - 1.0 / 6.0f64).powi(2);
        assert!((between(&all) / PRIOR - expected).abs() < 1e-4, "{} {expected}", between(&all) / PRIOR);
        // A second bridge halves it, about.
        all.push(seen("b", "1", "a"));
        assert!(between(&all) / PRIOR < 0.6 * expected, "{}", between(&all) / PRIOR);
    }
}
