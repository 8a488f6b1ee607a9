//! By how much one figure differs from another, in the one form that every table and sentence has.

use assay_core::units::{figures, fixed};

/// An interval wider than this factor says nothing.
const USELESS: f64 = 100.0;

/// A ratio as a change with its interval: `−1 % (−21 … +24 %)`; without parentheses where there is no interval.
pub(crate) fn change(ratio: f64, interval: Option<(f64, f64)>) -> String {
    change_with(ratio, interval, "")
}

/// The same with a word on the interval behind it: `+25 % (−56 … +261 %, simultaneous 95 %)`.
pub(crate) fn change_with(ratio: f64, interval: Option<(f64, f64)>, how: &str) -> String {
    let share = ratio - 1.0;
    let decimals = decimals(ratio, interval);
    // Digits that the interval does not support, only where there is nothing else.
    let some_is_left = |digits: &str| ratio <= 0.0 || !digits.starts_with("−100");
    let says = |digits: &str| !is_zero(digits) && some_is_left(digits);
    let shown = (decimals..3).find(|decimals| says(&percent(share, *decimals))).unwrap_or(2);
    let ends = ends(interval, decimals);
    let ends = match ends.strip_suffix(')') {
        Some(open) if !how.is_empty() => format!("{open}, {how})"),
        _ => ends,
    };
    format!("{} %{ends}", percent(share, shown))
}

/// Whether an interval says nothing.
pub(crate) fn is_useless(low: f64, high: f64) -> bool {
    high / low > USELESS
}

/// A bound of a ratio as a change: `−20 %`.
pub(crate) fn bound(ratio: f64) -> String {
    format!("{} %", percent(ratio - 1.0, 0))
}

/// The interval in parentheses, or nothing.
pub(crate) fn ends(interval: Option<(f64, f64)>, decimals: usize) -> String {
    match interval {
        Some((low, high)) if is_useless(low, high) => " (no useful interval)".to_owned(),
        Some((low, high)) => format!(" ({})", range(low, high, decimals)),
        None => String::new(),
    }
}

/// An interval of ratios alone: `+3.4 … +14.2 %`.
pub(crate) fn interval(low: f64, high: f64) -> String {
    range(low, high, decimals_within(low, high))
}

fn range(low: f64, high: f64, decimals: usize) -> String {
    // An interval without zero does not show one.
    let apart = low > 1.0 || high < 1.0;
    let end = |ratio: f64| {
        let share = ratio - 1.0;
        let shown = (decimals..3).find(|decimals| !apart || !is_zero(&percent(share, *decimals))).unwrap_or(2);
        percent(share, shown)
    };
    format!("{} … {} %", end(low), end(high))
}

/// How far two things are apart that have no order, as the larger over the smaller: `24 %`, `a factor of 3.3`.
pub(crate) fn difference(ratio: f64) -> String {
    match (ratio - 1.0) * 100.0 {
        percent if percent < 10.0 => format!("{} %", fixed(percent, 1)),
        percent if percent < 100.0 => format!("{} %", fixed(percent, 0)),
        _ if ratio < 9.95 => format!("a factor of {}", fixed(ratio, 1)),
        _ => format!("a factor of {}", figures(ratio)),
    }
}

/// As many decimals as the interval supports.
fn decimals(ratio: f64, interval: Option<(f64, f64)>) -> usize {
    match interval {
        Some((low, high)) if !is_useless(low, high) => decimals_within(low, high),
        Some(_) => 0,
        None if (ratio - 1.0).abs() < 0.995 => 1,
        None => 0,
    }
}

fn decimals_within(low: f64, high: f64) -> usize {
    match (high - low) / 2.0 {
        half if half >= 0.1 => 0,
        half if half >= 0.0005 => 1,
        _ => 2,
    }
}

/// A share in percent with its sign and no unit: `+5.1`, `−21`, `0`.
fn percent(share: f64, decimals: usize) -> String {
    let percent = share * 100.0;
    let digits = match percent.abs() {
        large if large >= 999.5 => figures(large),
        small => fixed(small, decimals),
    };
    match percent {
        _ if is_zero(&digits) => digits,
        below if below < 0.0 => format!("−{digits}"),
        _ => format!("+{digits}"),
    }
}

fn is_zero(digits: &str) -> bool {
    digits.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_has_one_form() {
        assert_eq!(change(1.2549, Some((0.444, 3.609))), "+25 % (−56 … +261 %)");
        let how = |interval| change_with(1.2549, interval, "simultaneous 95 %");
        assert_eq!(how(Some((0.444, 3.609))), "+25 % (−56 … +261 %, simultaneous 95 %)");
        assert_eq!(how(Some((0.004, 300.0))), "+25 % (no useful interval, simultaneous 95 %)");
        assert_eq!(how(None), "+25.5 %");
        assert_eq!((bound(0.8), bound(1.2), bound(1.0)), ("−20 %".to_owned(), "+20 %".to_owned(), "0 %".to_owned()));
        assert_eq!(interval(1.034, 1.142), "+3.4 … +14.2 %");
    }

    #[test]
    fn an_interval_that_excludes_no_change_does_not_show_one() {
        assert_eq!(change(0.827, Some((0.687, 0.9957))), "−17 % (−31 … −0.4 %)");
        assert_eq!(change(1.2, Some((1.002, 1.437))), "+20 % (+0.2 … +44 %)");
        assert_eq!(change(0.827, Some((0.687, 1.001))), "−17 % (−31 … 0 %)", "here there may be none");
    }

    #[test]
    fn what_is_left_of_a_rate_is_not_rounded_away() {
        assert_eq!(change(0.002, None), "−99.8 %");
        assert_eq!(change(0.0, None), "−100 %");
    }

    #[test]
    fn a_difference_without_a_direction_is_a_share_or_a_factor() {
        let all = [1.024, 1.24, 1.98, 3.34, 120.0].map(difference);
        assert_eq!(all, ["2.4 %", "24 %", "98 %", "a factor of 3.3", "a factor of 120"]);
    }
}
