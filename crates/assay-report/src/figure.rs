//! Estimates as people read them: a figure with its interval, or with the number of values it
//! rests on.

use assay_analysis::Quantity;
use assay_core::estimate::Estimate;
use assay_core::units::{figures, fixed, grouped};

/// A figure and its uncertainty, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// `22.8`.
    pub(crate) value: String,
    /// `±0.1`, `(21.1–24.9)` where the interval is lopsided, or `n=1`.
    pub(crate) spread: String,
    kind: Spread,
}

/// What the spread of a figure is given as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spread {
    /// The number of values.
    Count,
    /// Both ends of the interval, or that it is useless.
    Ends,
    /// Half of a symmetric interval.
    Half,
}

impl Shown {
    /// A value alone.
    pub(crate) fn bare(value: String) -> Self {
        Self { value, spread: String::new(), kind: Spread::Count }
    }

    /// Both, as in `22.8 ±0.1`.
    pub(crate) fn text(&self) -> String {
        if self.spread.is_empty() { self.value.clone() } else { format!("{} {}", self.value, self.spread) }
    }
}

/// Ends of an interval count as symmetric where they differ by less than this share of its half.
const SYMMETRIC: f64 = 0.3;

/// An interval wider than this factor is useless, and breaks tables.
const USELESS: f64 = 100.0;

/// `estimate` in units of `unit`.
pub(crate) fn shown(estimate: &Estimate, unit: f64) -> Shown {
    let point = estimate.point / unit;
    let value = figures(point);
    let (Some(low), Some(high)) = (estimate.low, estimate.high) else {
        return Shown { value, spread: format!("n={}", estimate.n), kind: Spread::Count };
    };
    if high / low > USELESS {
        return Shown { value, spread: "(no useful interval)".to_owned(), kind: Spread::Ends };
    }
    let (low, high) = (low / unit, high / unit);
    let half = (high - low) / 2.0;
    if ((high - point) - (point - low)).abs() > SYMMETRIC * half.abs() {
        // Its ends alone would read as the range of the values.
        return Shown { value, spread: format!("({})", interval(low, high)), kind: Spread::Ends };
    }
    let decimals = value.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let step = 0.1f64.powi(i32::try_from(decimals).unwrap_or(0));
    let spread = if value.contains('e') {
        format!("±{}", figures(half))
    } else if half > 0.0 && half < step / 2.0 {
        format!("±<{step:.decimals$}")
    } else if decimals == 0 && half < 1e15 {
        format!("±{}", grouped(half.round() as i64))
    } else {
        format!("±{}", fixed(half, decimals))
    };
    Shown { value, spread, kind: Spread::Half }
}

/// A figure as text: `22.8 ±0.1`, `2 063 (976–4 362)`.
pub(crate) fn with_point(estimate: &Estimate, unit: f64) -> String {
    shown(estimate, unit).text()
}

/// A figure in a sentence: `21.7 ±0.1 MB/s`, `2 063 MB/s (976–4 362)` where the interval is lopsided, `18.5 MB/s`
/// without an interval.
pub(crate) fn in_words(estimate: &Estimate, divisor: f64, unit: &str) -> String {
    let Shown { value, spread, kind } = shown(estimate, divisor);
    match kind {
        Spread::Count => format!("{value} {unit}"),
        Spread::Ends => format!("{value} {unit} {spread}"),
        Spread::Half => format!("{value} {spread} {unit}"),
    }
}

/// `21.1–24.9`.
pub(crate) fn interval(low: f64, high: f64) -> String {
    format!("{}–{}", figures(low), figures(high))
}

/// Megabytes per second.
pub(crate) const MB: f64 = 1e6;

/// A share as whole percent: `98 %`; `<1 %` and `>999 %` at the ends.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.95 {
        "<1 %".to_owned()
    } else if percent > 999.0 {
        ">999 %".to_owned()
    } else {
        format!("{percent:.0} %")
    }
}

/// Unit of a quantity and the divisor for it. For a time, the unit suits the size of `like`.
pub(crate) fn unit(quantity: Quantity, like: f64) -> (&'static str, f64) {
    quantity.unit().unwrap_or_else(|| latency_unit(like))
}

/// Unit and divisor for a latency, so that a value and its interval are shown in one unit.
pub(crate) fn latency_unit(nanoseconds: f64) -> (&'static str, f64) {
    let magnitude = nanoseconds.abs();
    if magnitude < 1e3 {
        ("ns", 1.0)
    } else if magnitude < 1e6 {
        ("µs", 1e3)
    } else if magnitude < 1e9 {
        ("ms", 1e6)
    } else {
        ("s", 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(point: f64, low: f64, high: f64) -> Estimate {
        Estimate { point, low: Some(low), high: Some(high), level: Some(0.95), n: 3, method: "t".into() }
    }

    #[test]
    fn a_symmetric_interval_is_a_plus_minus_with_the_decimals_of_the_figure() {
        assert_eq!(shown(&estimate(23.1e6, 22.7e6, 23.5e6), MB).text(), "23.1 ±0.4");
        assert_eq!(shown(&estimate(1499.0, 1487.0, 1511.0), 1.0).text(), "1 499 ±12");
        assert_eq!(shown(&estimate(23.1e6, 23.09e6, 23.11e6), MB).text(), "23.1 ±<0.1");
        assert_eq!(shown(&estimate(5.0, 5.0, 5.0), 1.0).text(), "5.00 ±0.00");
    }

    #[test]
    fn a_lopsided_interval_is_shown_by_its_ends_beside_the_figure() {
        assert_eq!(shown(&estimate(23.0e6, 22.9e6, 24.9e6), MB).text(), "23.0 (22.9–24.9)");
    }

    #[test]
    fn a_figure_without_interval_says_how_many_values_it_rests_on() {
        assert_eq!(shown(&Estimate::bare(1.0e6, 1, "x"), MB).text(), "1.00 n=1");
    }

    #[test]
    fn a_sentence_holds_the_interval() {
        assert_eq!(in_words(&estimate(23.1e6, 22.7e6, 23.5e6), MB, "MB/s"), "23.1 ±0.4 MB/s");
        assert_eq!(in_words(&estimate(2063e6, 976e6, 4362e6), MB, "MB/s"), "2 063 MB/s (976–4 362)");
        assert_eq!(in_words(&estimate(568.0, 1.0, 1e5), 1.0, "IOPS"), "568 IOPS (no useful interval)");
        assert_eq!(in_words(&Estimate::bare(18.5e6, 1, "x"), MB, "MB/s"), "18.5 MB/s");
    }

    #[test]
    fn a_figure_from_elsewhere_is_never_long() {
        for (point, low, high) in [(1e305, 0.9e305, 1.1e305), (5.0, -1e305, 1e305), (1500.0, -1e16, 1e16)] {
            let text = shown(&estimate(point, low, high), 1.0).text();
            assert!(text.chars().count() < 40, "{text}");
        }
    }

    #[test]
    fn shares_are_whole_percents() {
        assert_eq!(percent(0.983), "98 %");
        assert_eq!(percent(0.002), "<1 %");
        assert_eq!(percent(0.0), "0 %");
    }
}
