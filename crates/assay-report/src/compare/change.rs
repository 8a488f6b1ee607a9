//! A ratio with its interval as text.

use assay_analysis::Quantity;
use assay_analysis::compare::Pair;
use assay_core::units::{fixed, multiples, times};

/// Ratios from a half to the double are shown in percent, others as multiples.
const PERCENT: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// The words for more, for less, and for multiples of a quantity.
fn words(quantity: Quantity) -> [&'static str; 3] {
    if quantity.more_is_better() { ["faster", "slower", "as fast"] } else { ["higher", "lower", "as high"] }
}

/// An interval wider than this factor is useless.
const USELESS: f64 = 100.0;

/// Whether an interval is so wide that its ends are useless.
pub(crate) fn is_useless(low: f64, high: f64) -> bool {
    high / low > USELESS
}

/// `5.1 % faster than A (4.2 … 6.0 %)`; without parentheses where there is no interval.
pub(super) fn change(pair: &Pair, quantity: Quantity, than: &str) -> String {
    let [more, less, as_much] = words(quantity);
    let interval = pair.low.zip(pair.high);
    let useless = interval.is_some_and(|(low, high)| is_useless(low, high));
    let ends = interval.filter(|_| !useless).map_or([pair.ratio; 2], |(low, high)| [low, high]);
    let interval = interval.filter(|_| !useless);
    let least = if pair.at_least { "at least " } else { "" };
    if !ends.iter().chain([&pair.ratio]).all(|r| PERCENT.contains(r)) {
        let ends = interval.map_or_else(|| none(useless), |(l, h)| format!(" ({})", multiples(l, h)));
        return format!("{least}{} {as_much} as {than}{ends}", times(pair.ratio));
    }
    let sign = if pair.ratio < 1.0 { -1.0 } else { 1.0 };
    let word = if pair.ratio < 1.0 { less } else { more };
    let size = |ratio: f64| sign * (ratio - 1.0);
    let ends = interval.map_or_else(
        || none(useless),
        |(low, high)| {
            let (low, high) = if sign < 0.0 { (size(high), size(low)) } else { (size(low), size(high)) };
            if low < 0.0 {
                // On both sides of equality: each end says its direction.
                let other = if pair.ratio < 1.0 { more } else { less };
                format!(" ({} % {other} … {} % {word})", percent(-low), percent(high))
            } else {
                format!(" ({} … {} %)", percent(low), percent(high))
            }
        },
    );
    format!("{least}{} % {word} than {than}{ends}", percent(size(pair.ratio)))
}

/// What stands in place of an interval.
fn none(useless: bool) -> String {
    if useless { " (no useful interval)".to_owned() } else { String::new() }
}

/// How far a medium may change from day to day, and what two runs did, as an interval: `3.4 … 14.2 %`.
pub(super) fn interval(low: f64, high: f64, quantity: Quantity) -> String {
    let [more, less, _] = words(quantity);
    match (low >= 1.0, high <= 1.0) {
        _ if !PERCENT.contains(&low) || !PERCENT.contains(&high) => {
            format!("{} times", multiples(low, high))
        }
        (true, _) => format!("{} … {} % {more}", percent(low - 1.0), percent(high - 1.0)),
        (_, true) => format!("{} … {} % {less}", percent(1.0 - high), percent(1.0 - low)),
        _ => format!("{} % {less} … {} % {more}", percent(1.0 - low), percent(high - 1.0)),
    }
}

/// A share in percent with as many digits as people compare.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let text = fixed(percent, if percent.abs() >= 0.095 || percent == 0.0 { 1 } else { 2 });
    // A value that is rounded to zero has no sign.
    if text.trim_matches(['-', '0', '.']).is_empty() { text.trim_start_matches('-').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use assay_analysis::compare::{PairVerdict, Question, SeriesUse};

    use super::*;

    fn pair(ratio: f64, low: Option<f64>, high: Option<f64>) -> Pair {
        Pair {
            first: 0,
            second: 1,
            question: Question::Runs,
            ratio,
            low,
            high,
            days: None,
            runs: None,
            series: SeriesUse::NotAsked,
            models: None,
            n: (3, 3),
            verdict: PairVerdict::Better,
            significant: true,
            at_least: false,
            needed: None,
        }
    }

    #[test]
    fn ratios_in_words() {
        let say = |ratio, low, high, quantity| change(&pair(ratio, Some(low), Some(high)), quantity, "A");
        assert_eq!(say(1.051, 1.042, 1.06, Quantity::Iops), "5.1 % faster than A (4.2 … 6.0 %)");
        assert_eq!(say(0.95, 0.94, 0.96, Quantity::Iops), "5.0 % slower than A (4.0 … 6.0 %)");
        assert_eq!(say(0.95, 0.90, 1.02, Quantity::P50Ns), "5.0 % lower than A (2.0 % higher … 10.0 % lower)");
        assert_eq!(say(3.0, 2.5, 3.6, Quantity::Iops), "3.00 times as fast as A (2.50–3.60)");
        assert_eq!(say(0.3, 0.2, 0.4, Quantity::P99Ns), "0.30 times as high as A (0.20–0.40)");
        assert_eq!(change(&pair(1.7, None, None), Quantity::Iops, "A"), "70.0 % faster than A");
        assert_eq!(say(1.0002, 1.0001, 1.0003, Quantity::Iops), "0.02 % faster than A (0.01 … 0.03 %)");
        let least = Pair { at_least: true, ..pair(1.1, Some(1.05), Some(1.15)) };
        assert_eq!(change(&least, Quantity::Iops, "A"), "at least 10.0 % faster than A (5.0 … 15.0 %)");
        assert_eq!(percent(-0.000_001), "0.00");
        assert_eq!(interval(1.034, 1.142, Quantity::Iops), "3.4 … 14.2 % faster");
        assert_eq!(interval(0.9, 0.95, Quantity::P99Ns), "5.0 … 10.0 % lower");
        assert_eq!(interval(0.99, 1.02, Quantity::Iops), "1.0 % slower … 2.0 % faster");
        assert_eq!(interval(0.2, 1.02, Quantity::Iops), "0.20–1.02 times");
    }
}
