//! Measures rows on all processors.

use std::time::{Duration, Instant};

use assay_lab::{SplitMix, on_all_processors};

use crate::found::{Failure, Share, Tally};
use crate::row::Row;

/// The result of a row.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// All replicates.
    pub tally: Tally,
    /// The bounded figure.
    pub figure: Share,
    /// How long it took.
    pub time: Duration,
}

/// Measures a row with `replicates` fleets, multiplied by the factor of the row. The same row and number of replicates
/// give the same figures, regardless of other rows and of the number of processors.
///
/// # Errors
/// A replicate that could not be judged, with its seed.
pub fn measure(row: &Row, replicates: usize) -> Result<Measured, Failure> {
    let start = Instant::now();
    let replicates = replicates as u64 * row.times as u64;
    let all = on_all_processors(0..replicates, |at| (row.judge)(seed(&row.name, at)));
    let mut tally = Tally::default();
    // In their order, because sums of floating-point numbers depend on it.
    for (at, found) in (0..).zip(all) {
        tally.add(found.map_err(|error| format!("{}: seed {}: {error}", row.name, seed(&row.name, at)))?);
    }
    Ok(Measured { tally, figure: row.bound.figure(&tally), time: start.elapsed() })
}

/// The seed of a replicate, by FNV-1a over the name of the row (Fowler, Noll and Vo).
fn seed(name: &str, replicate: u64) -> u64 {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    SplitMix::new(hash.wrapping_add(replicate)).number()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::Found;
    use crate::row::Bound;

    #[test]
    fn figures_depend_on_the_name_and_the_replicates_alone() {
        let row =
            |name: &str| Row::new(name, Bound::Mean(1.0), |seed| Ok(Found::Number(seed as f64 / u64::MAX as f64)));
        let figure = |name| measure(&row(name), 500).map(|measured| measured.figure).ok();
        assert_eq!(figure("one"), figure("one"));
        assert_ne!(figure("one"), figure("two"));
        // The mean of uniform numbers, within four standard errors.
        assert!(figure("one").is_some_and(|share| (share.value - 0.5).abs() < 4.0 * share.error));
    }

    #[test]
    fn a_row_close_to_its_bound_is_measured_by_more() {
        let row = Row::new("one", Bound::Mean(1.0), |seed| Ok(Found::Number(seed as f64))).times(4);
        let (few, many) = (measure(&row, 5).unwrap(), measure(&Row { times: 1, ..row }, 20).unwrap());
        assert_eq!(few.figure, many.figure);
    }

    #[test]
    fn a_replicate_that_cannot_be_judged_is_told_with_its_seed() {
        let row = Row::new("broken", Bound::Wrong(0.0), |_| Err("no answer".into()));
        let error = measure(&row, 3).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("broken: seed ") && error.ends_with(": no answer"), "{error}");
    }
}
