//! Axes: where a value stands, and which values are written beside it.

use assay_core::units::{grouped, trimmed};

/// From values to pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    log: bool,
}

/// Values further apart than this get a logarithmic axis: more than a decade.
const LOG_FROM: f64 = 12.0;

/// A bar of less than this part of the longest is not seen.
const BARS_TO: f64 = 80.0;

impl Scale {
    /// An axis for values of 0 and more; from nought unless it spans decades.
    pub(crate) fn new(values: impl IntoIterator<Item = f64>, start: f64, end: f64) -> Self {
        let (least, most) = ends(values);
        if most / least > LOG_FROM {
            return Self { from: least / 1.25, to: most * 1.15, start, end, log: true };
        }
        Self { from: 0.0, to: most * 1.06, start, end, log: false }
    }

    /// An axis for bars: from nought, unless the shortest could not be seen.
    pub(crate) fn bars(values: impl IntoIterator<Item = f64> + Clone, start: f64, end: f64) -> Self {
        let (least, most) = ends(values.clone());
        if most / least > BARS_TO {
            return Self::new(values, start, end);
        }
        Self { from: 0.0, to: most * 1.06, start, end, log: false }
    }

    /// An axis that shows differences: from nought only where values reach near it.
    pub(crate) fn close(values: impl IntoIterator<Item = f64> + Clone, start: f64, end: f64) -> Self {
        let (least, most) = ends(values.clone());
        if least < most * 0.35 {
            return Self::new(values, start, end);
        }
        let pad = ((most - least) * 0.08).max(most * 0.02);
        Self { from: least - pad, to: most + pad, start, end, log: false }
    }

    /// Where a value stands, never outside the axis.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.from).ln() - self.from.ln()) / (self.to.ln() - self.from.ln())
        } else {
            (value - self.from) / (self.to - self.from)
        };
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        self.start + share * (self.end - self.start)
    }

    /// Pixels of both ends.
    pub(crate) fn range(&self) -> (f64, f64) {
        (self.start, self.end)
    }

    pub(crate) fn is_log(&self) -> bool {
        self.log
    }

    /// Whether the axis begins at nought.
    pub(crate) fn begins_at_nought(&self) -> bool {
        !self.log && self.from == 0.0
    }

    /// About `most` values to write at the axis, at least two.
    pub(crate) fn ticks(&self, most: usize) -> Vec<f64> {
        if self.log {
            for factors in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
                let all = self.decades(factors);
                if all.len() <= most.max(2) && all.len() >= 2 {
                    return all;
                }
            }
            let all = self.decades(&[1.0]);
            let step = all.len().div_ceil(most.max(2)).max(1);
            return all.into_iter().step_by(step).collect();
        }
        let step = nice((self.to - self.from) / most.max(2) as f64);
        let first = (self.from / step).ceil();
        (0..200).map(|i| (first + f64::from(i)) * step).take_while(|v| *v <= self.to).collect()
    }

    fn decades(&self, factors: &[f64]) -> Vec<f64> {
        let (low, high) = (self.from.log10().floor() as i32, self.to.log10().ceil() as i32);
        (low..=high)
            .flat_map(|e| factors.iter().map(move |f| f * 10f64.powi(e)))
            .filter(|v| (self.from..=self.to).contains(v))
            .collect()
    }
}

/// Values outside of these stand at the ends of an axis, which itself has to be finite and above nought.
const DRAWN: std::ops::RangeInclusive<f64> = 1e-300..=1e300;

/// Smallest and largest of the finite positive values, within [`DRAWN`]; never zero.
fn ends(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (least, most) = values
        .into_iter()
        .filter(|v| v.is_finite() && *v > 0.0)
        .fold((f64::INFINITY, 0.0f64), |(least, most), v| (least.min(v), most.max(v)));
    let drawn = |value: f64| value.clamp(*DRAWN.start(), *DRAWN.end());
    if most > 0.0 { (drawn(least), drawn(most)) } else { (1.0, 1.0) }
}

/// The next of 1, 2, 5 × 10^n.
fn nice(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|f| f * decade).find(|step| *step >= value * 0.999);
    step.filter(|s| s.is_finite() && *s > 0.0).unwrap_or(1.0)
}

/// A value at an axis, with no more digits than it needs.
pub(crate) fn tick(value: f64) -> String {
    if (1000.0..1e15).contains(&value.abs()) { grouped(value.round() as i64) } else { trimmed(value, 4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_hold_their_values_and_have_ticks() {
        for values in [vec![1.0], vec![3.0, 7.0], vec![0.02, 4000.0], vec![1e-9, 1e12], vec![], vec![f64::NAN, 5.0]] {
            for scale in [Scale::new(values.clone(), 0.0, 100.0), Scale::close(values.clone(), 0.0, 100.0)] {
                let ticks = scale.ticks(6);
                assert!((2..=14).contains(&ticks.len()), "{values:?}: {ticks:?}");
                assert!(ticks.windows(2).all(|t| t[0] < t[1]));
                for v in values.iter().chain(&ticks) {
                    assert!((0.0..=100.0).contains(&scale.at(*v)), "{v}");
                }
            }
        }
    }

    /// An end of an axis that is no finite number above nought has decades without end.
    #[test]
    fn values_at_the_ends_of_the_numbers_have_few_ticks() {
        let extreme = [f64::MIN_POSITIVE / 1e10, 1.0, f64::MAX];
        for values in [&extreme[..], &extreme[1..], &extreme[..2], &extreme[2..], &extreme[..1]] {
            let all = || values.iter().copied();
            for scale in [Scale::new(all(), 0.0, 9.0), Scale::bars(all(), 0.0, 9.0), Scale::close(all(), 0.0, 9.0)] {
                let ticks = scale.ticks(6);
                assert!((2..=14).contains(&ticks.len()), "{values:?}: {ticks:?}");
                assert!(ticks.iter().chain(values).all(|v| (0.0..=9.0).contains(&scale.at(*v))), "{values:?}");
            }
        }
    }

    #[test]
    fn a_decade_is_logarithmic_and_less_is_not() {
        assert!(Scale::new([1.0, 100.0], 0.0, 1.0).is_log());
        assert!(Scale::new([1.0, 13.0], 0.0, 1.0).is_log());
        assert!(!Scale::new([1.0, 11.0], 0.0, 1.0).is_log());
        assert!(Scale::new([50.0, 100.0], 0.0, 1.0).begins_at_nought());
        assert!(!Scale::close([90.0, 100.0], 0.0, 1.0).begins_at_nought());
        assert_eq!(Scale::new([1.0, 900.0], 0.0, 1.0).ticks(4), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!((tick(0.5), tick(20.0), tick(12_000.0)), ("0.5".into(), "20".into(), grouped(12_000)));
    }
}
