//! Measuring in series that end where their answer is known.
//!
//! A series is looked at after so many of its values. It ends at the look at which each of its figures is decided, or known
//! within [`NARROW`]; what is still undecided after the last look is reported as such. The interval is that of
//! [`assay_stats::geometric_of_looks`], which holds however often a series was looked at.

use assay_core::estimate::Estimate;
use assay_stats::geometric_of_looks;

use crate::judge::{Judgement, Target};
use crate::report::{Report, Row};

/// Numbers of values after which a series of pairs is looked at.
pub(crate) const LOOKS: &[usize] = &[7, 14, 21, 28];
/// Half an interval of this share of its value: more values would not change what can be said.
const NARROW: f64 = 0.005;

/// Something that a target is set for, and how it follows from one value `T` of a series.
pub(crate) struct Figure<T> {
    pub(crate) what: String,
    /// What the target is about: a ratio, or a figure in `unit`.
    pub(crate) seen: Box<dyn Fn(&T) -> f64>,
    pub(crate) unit: &'static str,
    pub(crate) target: Target,
    /// What assay came to, and what its peer did, as people read it.
    pub(crate) ours: Shown<T>,
    pub(crate) peer: Option<Shown<T>>,
}

/// A figure and its words.
pub(crate) struct Shown<T> {
    pub(crate) of: Box<dyn Fn(&T) -> f64>,
    pub(crate) words: fn(f64) -> String,
}

impl<T> Shown<T> {
    pub(crate) fn new(of: impl Fn(&T) -> f64 + 'static, words: fn(f64) -> String) -> Self {
        Self { of: Box::new(of), words }
    }

    fn over(&self, values: &[T]) -> String {
        (self.words)(median(values.iter().map(|value| (self.of)(value))))
    }
}

impl<T: 'static> Figure<(T, T)> {
    /// One figure of both instruments, ours by theirs within each pair.
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
    let mut values = Vec::new();
    for (look, count) in looks.iter().enumerate() {
        while values.len() < *count {
            values.push(next(values.len()));
        }
        let seen: Vec<Option<Estimate>> = figures.iter().map(|figure| estimate(figure, &values, looks.len())).collect();
        let known = |(figure, seen): (&Figure<T>, &Option<Estimate>)| {
            figure.target.judge(seen.as_ref()) != Judgement::CannotTell
                || seen.as_ref().and_then(Estimate::relative_half_width).is_some_and(|half| half <= NARROW)
        };
        if look + 1 == looks.len() || figures.iter().zip(&seen).all(known) {
            for (figure, seen) in figures.iter().zip(seen) {
                report.add(Row {
                    what: figure.what.clone(),
                    ours: figure.ours.over(&values),
                    peer: figure.peer.as_ref().map_or_else(|| "–".to_owned(), |peer| peer.over(&values)),
                    values: values.iter().map(|value| (figure.seen)(value)).collect(),
                    seen,
                    unit: figure.unit,
                    target: figure.target,
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
