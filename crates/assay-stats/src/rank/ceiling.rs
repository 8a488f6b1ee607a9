//! Values at the ceiling of the bus bound the medium from below and do not rank it.

/// Share below the ceiling from which a value counts as held by it. For serial transfer the medium's
/// own rate is `1 / (1 / seen - 1 / ceiling)`, whose relative error is that of the seen rate divided
/// by `1 - seen / ceiling`: twentyfold from here on.
const HELD: f64 = 0.05;
/// Least models whose best values must agree before a common limit is taken for the bus's.
const LEAST_MODELS: usize = 3;
/// Their best values agree within this share.
const AGREE: f64 = 0.03;
/// A variance below this share of the same model's at the smallest block is compressed.
const COMPRESSED: f64 = 0.25;

/// The largest rate that a slot lets through, in the values' unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceiling(f64);

impl Ceiling {
    /// A ceiling; `None` where it is not positive and finite.
    #[must_use]
    pub fn new(rate: f64) -> Option<Self> {
        (rate > 0.0 && rate.is_finite()).then_some(Self(rate))
    }

    /// The rate.
    #[must_use]
    pub fn rate(self) -> f64 {
        self.0
    }

    /// The smallest rate that counts as held by the ceiling: 5 % below it.
    #[must_use]
    pub fn threshold(self) -> f64 {
        self.0 * (1.0 - HELD)
    }

    /// Whether a value is held: it may be anything from here on.
    #[must_use]
    pub fn holds(self, value: f64) -> bool {
        value >= self.threshold()
    }

    /// Whether a unit is: half of its repeats are, or more.
    #[must_use]
    pub fn holds_unit(self, repeats: &[f64]) -> bool {
        half(repeats.iter().map(|v| self.holds(*v)))
    }
}

fn half(held: impl Iterator<Item = bool>) -> bool {
    let (held, all) = held.fold((0usize, 0usize), |(held, all), h| (held + usize::from(h), all + 1));
    all > 0 && 2 * held >= all
}

/// The ceiling that the values themselves show: the largest of all, where the best values of at
/// least three models lie within 3 % of it. Each item is a model with the values of its repeats.
#[must_use]
pub fn measured_ceiling<V: AsRef<[f64]>>(models: &[V]) -> Option<Ceiling> {
    let finite = |v: &&f64| v.is_finite() && **v > 0.0;
    let best: Vec<f64> =
        models.iter().filter_map(|m| m.as_ref().iter().filter(finite).copied().reduce(f64::max)).collect();
    let top = best.iter().copied().reduce(f64::max)?;
    let near = best.iter().filter(|v| **v >= top * (1.0 - AGREE)).count();
    if near >= LEAST_MODELS { Ceiling::new(top) } else { None }
}

/// Whether the variance between the units of a model fell below a quarter of that at the smallest
/// block size: a second sign of a ceiling.
#[must_use]
pub fn compressed(variance: f64, at_smallest_block: f64) -> bool {
    variance < COMPRESSED * at_smallest_block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_and_thresholds() {
        let ceiling = Ceiling::new(23_000.0).unwrap();
        assert!((ceiling.threshold() - 21_850.0).abs() < 1e-9);
        assert!(ceiling.holds(21_851.0) && !ceiling.holds(21_849.0));
        assert!(ceiling.holds_unit(&[22_000.0, 20_000.0]), "half is enough");
        assert!(!ceiling.holds_unit(&[22_000.0, 20_000.0, 20_000.0]));
        assert!(!ceiling.holds_unit(&[]));
        assert!(Ceiling::new(0.0).is_none() && Ceiling::new(f64::NAN).is_none());
    }

    #[test]
    fn three_models_make_a_ceiling() {
        let ceiling = measured_ceiling(&[vec![22.7], vec![22.2, 22.9], vec![22.8, 5.0], vec![9.0]]).unwrap();
        assert_eq!(ceiling.rate(), 22.9);
        assert_eq!(measured_ceiling(&[vec![22.7], vec![22.9], vec![9.0]]), None);
        assert_eq!(measured_ceiling::<Vec<f64>>(&[]), None);
    }

    #[test]
    fn a_variance_is_compressed_below_a_quarter() {
        assert!(compressed(0.99, 4.0) && !compressed(1.01, 4.0));
        assert!(!compressed(0.0, 0.0), "without any spread at the smallest block nothing is known");
    }
}
