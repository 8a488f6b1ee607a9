//! The results of replicates.

/// Why a replicate failed.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The result of one replicate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowResult {
    /// A true statement was made.
    Right,
    /// A false statement was made.
    Wrong,
    /// Nothing was decided.
    Undecided,
    /// Whether a real difference was found, and whether the exact test for the true model finds it.
    Power {
        /// By the program.
        found: bool,
        /// By the exact test.
        exact: bool,
    },
    /// A number. Its mean over all replicates is bounded.
    Number(f64),
    /// The replicate does not belong to the case that the row is about.
    Aside,
}

impl RowResult {
    /// The result of a statement that is right or wrong.
    #[must_use]
    pub fn from_right(right: bool) -> Self {
        if right { Self::Right } else { Self::Wrong }
    }
}

/// All replicates of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    right: f64,
    wrong: f64,
    undecided: f64,
    found: f64,
    exact: f64,
    both: f64,
    pairs: f64,
    numbers: f64,
    sum: f64,
    squares: f64,
    aside: f64,
}

/// A share or a mean with its standard error over replicates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The share or mean.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, found: RowResult) {
        match found {
            RowResult::Right => self.right += 1.0,
            RowResult::Wrong => self.wrong += 1.0,
            RowResult::Undecided => self.undecided += 1.0,
            RowResult::Power { found, exact } => {
                let one = |is| f64::from(u8::from(is));
                self.found += one(found);
                self.exact += one(exact);
                self.both += one(found && exact);
                self.pairs += 1.0;
            }
            RowResult::Number(value) => {
                self.numbers += 1.0;
                self.sum += value;
                self.squares += value * value;
            }
            RowResult::Aside => self.aside += 1.0,
        }
    }

    /// Wrong answers of all, "cannot tell" among those that are not wrong.
    #[must_use]
    pub fn wrong(&self) -> Share {
        share(self.wrong, self.right + self.wrong + self.undecided)
    }

    /// Right answers of all.
    #[must_use]
    pub fn right(&self) -> Share {
        share(self.right, self.right + self.wrong + self.undecided)
    }

    /// Right answers of those that were given.
    #[must_use]
    pub fn covered(&self) -> Share {
        share(self.right, self.right + self.wrong)
    }

    /// No decision.
    #[must_use]
    pub fn undecided(&self) -> Share {
        share(self.undecided, self.right + self.wrong + self.undecided)
    }

    /// What the program finds over what the exact test finds; both see the same records.
    #[must_use]
    pub fn power(&self) -> Share {
        let ratio = self.found / self.exact;
        // The error of a ratio of two shares of the same replicates, to the first order.
        let only = |share: f64, other: f64, both: f64| (share - both) + ratio * ratio * (other - both);
        let spread = only(self.found, self.exact, self.both) + (1.0 - ratio).powi(2) * self.both;
        Share { value: ratio, error: spread.sqrt() / self.exact }
    }

    /// Replicates of the kind that the row is about; `None` where all are.
    #[must_use]
    pub fn about(&self) -> Option<f64> {
        let counted = self.right + self.wrong + self.undecided + self.pairs + self.numbers;
        (self.aside > 0.0).then(|| counted / (counted + self.aside))
    }

    /// What the exact test finds.
    #[must_use]
    pub fn exact(&self) -> Option<Share> {
        (self.pairs > 0.0).then(|| share(self.exact, self.pairs))
    }

    /// The mean of the numbers. Where a claim was never made, nothing was lost by it: 0.
    #[must_use]
    pub fn mean(&self) -> Share {
        if self.numbers == 0.0 {
            return Share { value: 0.0, error: 0.0 };
        }
        let mean = self.sum / self.numbers;
        let variance = (self.squares / self.numbers - mean * mean).max(0.0);
        Share { value: mean, error: (variance / self.numbers).sqrt() }
    }
}

fn share(of: f64, all: f64) -> Share {
    let value = of / all;
    Share { value, error: (value * (1.0 - value) / all).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(all: &[RowResult]) -> Tally {
        let mut tally = Tally::default();
        all.iter().for_each(|found| tally.add(*found));
        tally
    }

    #[test]
    fn shares_are_of_what_they_say() {
        let three =
            tally(&[RowResult::Right, RowResult::Wrong, RowResult::Undecided, RowResult::Undecided, RowResult::Aside]);
        assert_eq!((three.wrong().value, three.right().value, three.undecided().value), (0.25, 0.25, 0.5));
        assert_eq!(three.about(), Some(0.8));
        assert_eq!((three.covered().value, three.covered().error), (0.5, 0.125f64.sqrt()));
        let numbers = tally(&[RowResult::Number(1.0), RowResult::Number(3.0)]);
        assert_eq!((numbers.mean().value, numbers.mean().error), (2.0, 0.5f64.sqrt()));
    }

    #[test]
    fn power_is_that_of_the_program_over_that_of_the_exact_test() {
        let power = |found, exact| RowResult::Power { found, exact };
        let all = tally(&[power(true, true), power(false, true), power(true, true), power(false, false)]);
        assert!((all.power().value - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(all.exact().map(|share| share.value), Some(0.75));
        // Equal in every replicate: there is no error.
        assert_eq!(tally(&[power(true, true), power(false, false)]).power(), Share { value: 1.0, error: 0.0 });
    }
}
