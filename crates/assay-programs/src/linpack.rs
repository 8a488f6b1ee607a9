//! LINPACK in single precision: a dense system of linear equations is solved by Gaussian elimination with partial
//! pivoting, column by column, as the routines `sgefa` and `sgesl` of the LINPACK Users' Guide (1979) are defined.
//! The figure is (2/3 n³ + 2 n²) operations over the time of both; making the matrix is not timed.
//!
//! As in the C versions that are run on small computers, the matrix has once a leading dimension of n + 1 and once of
//! n, and the smaller mean counts. The residual is checked as in that program: normalised by the norms of matrix and
//! solution, the order and the precision.

use std::time::{Duration, Instant};

use assay_core::units::figures;

use crate::trouble::ProgramTrouble;
use crate::work::{Done, ProgramFigure, Work};

/// Each leading dimension is run for this long.
const EACH: Duration = Duration::from_secs(1);
/// A normalised residual above this is a wrong result. What rounding leaves of this matrix grows with its order, to 11
/// at 1000; one wrong bit in the upper half of one number leaves thousands.
const MOST_RESIDUAL: f32 = 64.0;

/// A matrix by columns, which begin `leading` places after each other.
struct Matrix {
    values: Vec<f32>,
    size: usize,
    leading: usize,
}

impl Matrix {
    /// The matrix of the benchmark: pseudo-random numbers between -2 and 2, always the same. Gives the sum of each row,
    /// the right side for which all unknowns are one, and the largest magnitude.
    fn generate(size: usize, leading: usize) -> (Self, Vec<f32>, f32) {
        let (mut values, mut state, mut largest) = (vec![0.0; leading * size], 1325_u32, 0.0_f32);
        let mut sums = vec![0.0; size];
        for column in 0..size {
            for (row, sum) in sums.iter_mut().enumerate() {
                state = state * 3125 % 65_536;
                let value = (state as f32 - 32_768.0) / 16_384.0;
                values[column * leading + row] = value;
                largest = largest.max(value.abs());
                *sum += value;
            }
        }
        (Self { values, size, leading }, sums, largest)
    }

    fn column(&self, column: usize) -> &[f32] {
        let start = column * self.leading;
        &self.values[start..start + self.size]
    }

    /// Factors the matrix in place into triangles; gives the row that each step took as pivot.
    fn factor(&mut self) -> Vec<usize> {
        let (size, leading) = (self.size, self.leading);
        let mut pivots = vec![size.saturating_sub(1); size];
        for step in 0..size.saturating_sub(1) {
            let (done, later) = self.values.split_at_mut((step + 1) * leading);
            let current = &mut done[step * leading..step * leading + size];
            let pivot = largest(&current[step..]) + step;
            pivots[step] = pivot;
            if current[pivot] == 0.0 {
                continue;
            }
            current.swap(pivot, step);
            let factor = -1.0 / current[step];
            current[step + 1..].iter_mut().for_each(|value| *value *= factor);
            for column in later.chunks_mut(leading) {
                column.swap(pivot, step);
                let factor = column[step];
                add_multiple(&mut column[step + 1..size], factor, &current[step + 1..]);
            }
        }
        pivots
    }

    /// Solves for the right side, which becomes the solution. The matrix was factored.
    fn solve(&self, pivots: &[usize], side: &mut [f32]) {
        for (step, pivot) in pivots.iter().enumerate().take(self.size.saturating_sub(1)) {
            side.swap(*pivot, step);
            let factor = side[step];
            add_multiple(&mut side[step + 1..], factor, &self.column(step)[step + 1..]);
        }
        for step in (0..self.size).rev() {
            side[step] /= self.column(step)[step];
            let factor = -side[step];
            add_multiple(&mut side[..step], factor, &self.column(step)[..step]);
        }
    }
}

/// Place of the value of largest magnitude.
fn largest(values: &[f32]) -> usize {
    let mut at = 0;
    for (place, value) in values.iter().enumerate() {
        if value.abs() > values[at].abs() {
            at = place;
        }
    }
    at
}

/// `to += factor × from`.
fn add_multiple(to: &mut [f32], factor: f32, from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}

/// The normalised residual of a solution of the matrix of the benchmark.
fn residual(solution: &[f32], leading: usize) -> f32 {
    let size = solution.len();
    let (matrix, sums, norm) = Matrix::generate(size, leading);
    let mut rest: Vec<f32> = sums.iter().map(|sum| -sum).collect();
    for (column, value) in solution.iter().enumerate() {
        add_multiple(&mut rest, *value, matrix.column(column));
    }
    // A value that is no number is larger than all others.
    let most = |values: &[f32]| values.iter().fold(0.0_f32, |most, v| if v.abs() <= most { most } else { v.abs() });
    most(&rest) / (size as f32 * norm * most(solution) * f32::EPSILON)
}

pub(crate) fn run(size: usize, work: &Work) -> Result<Done, ProgramTrouble> {
    let order = size as f64;
    let operations = 2.0 * order.powi(3) / 3.0 + 2.0 * order.powi(2);
    let start = work.mark();
    let mut rates = Vec::new();
    for leading in [size + 1, size] {
        let (mut busy, mut passes, begun) = (Duration::ZERO, 0_u32, Instant::now());
        while passes == 0 || begun.elapsed() < EACH {
            if work.step()? {
                break;
            }
            let (mut matrix, mut side, _) = Matrix::generate(size, leading);
            let pass = Instant::now();
            let pivots = matrix.factor();
            matrix.solve(&pivots, &mut side);
            busy += pass.elapsed();
            if passes == 0 {
                check(residual(&side, leading), size)?;
            }
            passes += 1;
        }
        if passes > 0 {
            rates.push(operations * f64::from(passes) / busy.as_secs_f64().max(1e-9) / 1e6);
        }
    }
    let timed = work.since(&start);
    let slower = rates.into_iter().reduce(f64::min).ok_or_else(ProgramTrouble::slow)?;
    let figure = ProgramFigure { of: "", value: slower, unit: "Mflop/s", timed };
    Ok(Done { figures: vec![figure], threads: 1, ..Done::default() })
}

/// Refuses the result of a machine that errs.
fn check(residual: f32, size: usize) -> Result<(), ProgramTrouble> {
    if residual < MOST_RESIDUAL {
        return Ok(());
    }
    Err(ProgramTrouble::Wrong(format!(
        "LINPACK {size} × {size} has a normalised residual of {}, above {MOST_RESIDUAL}: this machine computes wrongly",
        figures(f64::from(residual))
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(size: usize, leading: usize) -> Vec<f32> {
        let (mut matrix, mut side, _) = Matrix::generate(size, leading);
        let pivots = matrix.factor();
        matrix.solve(&pivots, &mut side);
        side
    }

    #[test]
    fn all_unknowns_are_one() {
        for (size, leading) in [(10, 10), (100, 101), (100, 100), (1000, 1001)] {
            let solution = solved(size, leading);
            let off = solution.iter().map(|x| (x - 1.0).abs()).fold(0.0, f32::max);
            let residual = residual(&solution, leading);
            assert!(off < 0.02 && residual < 16.0 && residual > 0.0, "{size}: off by {off}, residual {residual}");
            assert!(check(residual, size).is_ok());
        }
    }

    /// One bit of one unknown.
    #[test]
    fn a_wrong_result_is_refused() {
        let mut solution = solved(100, 100);
        solution[42] = f32::from_bits(solution[42].to_bits() ^ (1 << 18));
        let found = check(residual(&solution, 100), 100);
        assert!(found.unwrap_err().to_string().contains("computes wrongly"));
        solution[42] = f32::NAN;
        assert!(check(residual(&solution, 100), 100).is_err(), "no number is no small residual");
    }

    /// The residual as HPL prints it: by the largest sum of a row and the right side, not by the largest number.
    fn by_hpl(solution: &[f32], leading: usize) -> f32 {
        let size = solution.len();
        let (matrix, sums, norm) = Matrix::generate(size, leading);
        let most = |values: &[f32]| values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let mut rows = vec![0.0_f32; size];
        for column in 0..size {
            rows.iter_mut().zip(matrix.column(column)).for_each(|(row, value)| *row += value.abs());
        }
        let error = residual(solution, leading) * size as f32 * norm * most(solution) * f32::EPSILON;
        // Its precision is half of what is called so here.
        error / (f32::EPSILON / 2.0 * (most(&rows) * most(solution) + most(&sums)) * size as f32)
    }

    #[test]
    fn results_hold_by_the_rule_of_hpl_too() {
        for size in [100, 1000] {
            let mut solution = solved(size, size);
            let (right, own) = (by_hpl(&solution, size), residual(&solution, size));
            assert!(right > 0.0 && right < 1.0, "{size}: {right}, {own} by our own rule");
            eprintln!("{size}: {own} by our own rule, {right} by that of HPL");
            solution[42] = f32::from_bits(solution[42].to_bits() ^ (1 << 21));
            let (wrong, own) = (by_hpl(&solution, size), residual(&solution, size));
            // Its limit of 16 lets this pass at the higher order; ours does not.
            assert!(wrong > 50.0 * right && own > MOST_RESIDUAL, "{size}: {wrong}, {own} by our own rule");
        }
    }
}
