//! Two instruments in turns.

/// Pairs of each comparison: the median of odd many.
pub(crate) const PAIRS: usize = 7;

/// What both came to, pair by pair.
#[derive(Debug, Clone)]
pub(crate) struct Pairs<T> {
    all: Vec<(T, T)>,
}

impl<T> Pairs<T> {
    /// Runs both in turns, the other one first every second time, as the speed of a shared machine
    /// drifts. No pair warms the machine up: a first one that is off does not move the median.
    pub(crate) fn measure(mut ours: impl FnMut() -> T, mut theirs: impl FnMut() -> T) -> Self {
        let pair = |turn: usize| {
            if turn.is_multiple_of(2) {
                let b = theirs();
                (ours(), b)
            } else {
                let a = ours();
                (a, theirs())
            }
        };
        Self { all: (0..PAIRS).map(pair).collect() }
    }

    /// Medians of one figure: ours, theirs, and ours by theirs within each pair.
    pub(crate) fn medians(&self, figure: impl Fn(&T) -> f64) -> Medians {
        let both: Vec<(f64, f64)> = self.all.iter().map(|(a, b)| (figure(a), figure(b))).collect();
        Medians {
            ours: median(both.iter().map(|(a, _)| *a)),
            peer: median(both.iter().map(|(_, b)| *b)),
            ratio: median(both.iter().map(|(a, b)| a / b)),
        }
    }
}

/// Medians over the pairs; the ratio is that of the pairs' ratios, not of the two others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Medians {
    pub(crate) ours: f64,
    pub(crate) peer: f64,
    pub(crate) ratio: f64,
}

/// The middle one; the upper of the two middle ones of even many.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
