//! Measurements in series that end when their answer is known.
//!
//! A series is examined after each number of values in a list of looks. It ends at the look where each of its figures
//! is decided, or known within [`NARROW`]; a figure that is still undecided after the last look is reported as such.
//! The interval is that of [`assay_stats::geometric_of_looks`], which holds for any number of looks.
//!
//! A comparison states its longest duration in advance. If the next value would exceed it, the next look is made at
//! once and is the last one. So there are no more looks than planned, and the time does not depend on the values.

use std::time::{Duration, Instant};

use assay_core::estimate::Estimate;
use assay_stats::geometric_of_looks;

use super::report::{Judgement, Target};
use crate::report::{BenchRow, Report};

/// Numbers of values after which a series of pairs is examined.
pub(crate) const LOOKS: &[usize] = &[7, 14, 21, 28];
/// An interval with half a width of this share of its value is narrow enough: more values would not change the answer.
const NARROW: f64 = 0.005;

/// A figure with a target, and how it follows from one value `T` of a series.
pub(crate) struct Figure<T> {
    pub(crate) what: String,
    /// The subject of the target: a ratio, or a figure in `unit`.
    pub(crate) seen: Box<dyn Fn(&T) -> f64>,
    pub(crate) unit: &'static str,
    pub(crate) target: Target,
    /// The values of assay and of its peer, as text for people.
    pub(crate) ours: Shown<T>,
    pub(crate) peer: Option<Shown<T>>,
}

/// A figure and its text.
pub(crate) struct Shown<T> {
    pub(crate) of: Box<dyn Fn(&T) -> f64>,
    pub(crate) words: fn(f64) -> String,
}

impl<T> Shown<T> {
    pub(crate) fn new(of: impl Fn(&T) -> f64 + 'static, words: fn(f64) -> String) -> Self {
        Self { of: Box::new(of), words }
    }

    fn over(&self, values: &[T]) -> String {
        if values.is_empty() {
            "–".to_owned()
        } else {
            (self.words)(median(values.iter().map(|value| (self.of)(value))))
        }
    }
}

impl<T: 'static> Figure<(T, T)> {
    /// One figure of both instruments: ours divided by theirs within each pair.
    pub(crate) fn ratio(what: String, figure: fn(&T) -> f64, words: fn(f64) -> String, target: Target) -> Self {
        Self {
            what,
            seen: Box::new(move |(ours, theirs)| figure(ours) / figure(theirs)),
            unit: "",
            target,
            ours: Shown::new(move |pair: &(T, T)| figure(&pair.0), words),
            peer: Some(Shown::new(move |pair: &(T, T)| figure(&pair.1), words)),
        }
    }
}

impl Figure<f64> {
    /// A figure of assay alone.
    pub(crate) fn alone(what: &str, unit: &'static str, words: fn(f64) -> String, target: Target) -> Self {
        Self {
            what: what.to_owned(),
            seen: Box::new(|value| *value),
            unit,
            target,
            ours: Shown::new(|value: &f64| *value, words),
            peer: None,
        }
    }
}

/// Takes values until each figure is decided or narrow, and reports one row a figure.
pub(crate) fn measure<T>(
    report: &mut Report,
    looks: &[usize],
    mut next: impl FnMut(usize) -> T,
    figures: &[Figure<T>],
) {
    let (mut values, mut longest) = (Vec::new(), Duration::ZERO);
    let most = looks.last().copied().unwrap_or_default();
    for count in looks {
        while values.len() < *count && report.has_time_for(longest) {
            let begun = Instant::now();
            values.push(next(values.len()));
            longest = longest.max(begun.elapsed());
        }
        let last = values.len() == most || values.len() < *count;
        let seen: Vec<Option<Estimate>> = figures.iter().map(|figure| estimate(figure, &values, looks.len())).collect();
        let known = |(figure, seen): (&Figure<T>, &Option<Estimate>)| {
            figure.target.judge(seen.as_ref()) != Judgement::CannotTell
                || seen.as_ref().and_then(Estimate::relative_half_width).is_some_and(|half| half <= NARROW)
        };
        if last || figures.iter().zip(&seen).all(known) {
            for (figure, seen) in figures.iter().zip(seen) {
                report.add(BenchRow {
                    what: figure.what.clone(),
                    ours: figure.ours.over(&values),
                    peer: figure.peer.as_ref().map_or_else(|| "–".to_owned(), |peer| peer.over(&values)),
                    values: values.iter().map(|value| (figure.seen)(value)).collect(),
                    seen,
                    unit: figure.unit,
                    target: figure.target,
                    planned: most,
                });
            }
            return;
        }
    }
}

/// Both instruments in turns, the other one first every second time, as the speed of a shared machine drifts.
pub(crate) fn pairs<T>(
    report: &mut Report,
    looks: &[usize],
    mut ours: impl FnMut() -> T,
    mut theirs: impl FnMut() -> T,
    figures: &[Figure<(T, T)>],
) {
    let pair = |turn: usize| {
        if turn.is_multiple_of(2) {
            let theirs = theirs();
            (ours(), theirs)
        } else {
            let ours = ours();
            (ours, theirs())
        }
    };
    measure(report, looks, pair, figures);
}

fn estimate<T>(figure: &Figure<T>, values: &[T], looks: usize) -> Option<Estimate> {
    let values: Vec<f64> = values.iter().map(|value| (figure.seen)(value)).collect();
    geometric_of_looks(&values, u32::try_from(looks).unwrap_or(u32::MAX))
}

/// The middle one; the upper of the two middle ones of even many.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::super::report::{Judgement, Target};
    use super::*;
    use crate::report::Report;

    const TARGET: Target = Target::AtMost(1.0);

    /// A series around the target, with 10 ms for each value and a limit of `most_ms` milliseconds.
    fn undecided(most_ms: u64) -> (Report, Duration) {
        let mut report = Report::default();
        report.begin("row", Duration::from_millis(most_ms));
        let next = |turn: usize| {
            std::thread::sleep(Duration::from_millis(10));
            if turn.is_multiple_of(2) { 0.5 } else { 2.0 }
        };
        let begun = Instant::now();
        measure(&mut report, LOOKS, next, &[Figure::alone("a figure", "", |value| value.to_string(), TARGET)]);
        (report, begun.elapsed())
    }

    #[test]
    fn a_series_ends_within_the_time_of_its_comparison_and_says_why() {
        let (report, took) = undecided(120);
        let row = &report.rows()[0];
        assert!(took < Duration::from_millis(250), "{took:?}");
        assert!((1..12).contains(&row.values.len()), "{}", row.values.len());
        assert_eq!(row.judgement(), Judgement::CannotTell);
        assert_eq!(row.why().unwrap(), format!("its time was over after {} of 28 values", row.values.len()));
    }

    #[test]
    fn a_series_that_has_time_is_undecided_after_its_last_look() {
        let (report, _) = undecided(60_000);
        let row = &report.rows()[0];
        assert_eq!((row.values.len(), row.judgement()), (28, Judgement::CannotTell));
        assert_eq!(row.why().unwrap(), "undecided after 28 values");
    }

    /// Without any value the answer is unknown, which is not a miss.
    #[test]
    fn a_comparison_without_time_is_no_miss() {
        let (report, _) = undecided(0);
        let row = &report.rows()[0];
        assert_eq!((row.values.len(), row.judgement()), (0, Judgement::CannotTell));
        assert_eq!(row.why().unwrap(), "its time was over after 0 of 28 values");
    }

    #[test]
    fn a_series_that_is_decided_ends_at_its_first_look() {
        let mut report = Report::default();
        report.begin("row", Duration::from_secs(60));
        let next = |turn: usize| if turn.is_multiple_of(2) { 0.5 } else { 0.51 };
        measure(&mut report, LOOKS, next, &[Figure::alone("a figure", "", |value| value.to_string(), TARGET)]);
        let row = &report.rows()[0];
        assert_eq!((row.values.len(), row.judgement(), row.why()), (7, Judgement::Met, None));
    }
}
