//! The generator of the reference vectors: a series that any language can make again.

/// Lehmer's generator with the multiplier 48271 (Park, Miller and Stockmeyer 1993).
#[derive(Debug)]
pub(crate) struct Lehmer(u64);

impl Lehmer {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next value, between 0 and 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        self.0 as f64 / 2_147_483_647.0
    }

    /// About normal: the sum of twelve, less six.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}
