//! `assay compare`.

use assay_analysis::Needed;
use assay_analysis::compare::{self, By, Comparison, Group, PairVerdict, Request, Side};
use assay_core::record::Record;

use crate::found::Failure;

/// What `compare` says of the second of two groups against the first.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// In a word.
    pub word: Word,
    /// The second over the first: its interval.
    pub interval: Option<(f64, f64)>,
    /// Both groups with their own intervals.
    pub sides: Vec<Side>,
    /// The number of values that would settle the answer, where it is undecided.
    pub needed: Option<Needed>,
}

/// The answer of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The second is better.
    Better,
    /// The second is worse.
    Worse,
    /// Neither by more than the margin.
    Same,
    /// Not known.
    CannotTell,
}

/// `assay compare` with a query for each group.
///
/// # Errors
/// Groups that cannot be compared.
pub fn compare(first: &[Record], second: &[Record]) -> Result<Compared, Failure> {
    compare_within(first, second, Request::default().margin)
}

/// The same with `--margin`.
///
/// # Errors
/// Groups that cannot be compared.
pub fn compare_within(first: &[Record], second: &[Record], margin: f64) -> Result<Compared, Failure> {
    let groups = [("A", first), ("B", second)];
    let groups = groups.map(|(name, records)| Group { name: name.to_owned(), records: records.iter().collect() });
    said(&groups, &Request { margin, ..Request::default() })
}

/// `assay compare --runs`: two runs as they were.
///
/// # Errors
/// Runs that cannot be compared.
pub fn compare_runs(first: &Record, second: &Record) -> Result<Compared, Failure> {
    let groups = [("A", first), ("B", second)];
    let groups = groups.map(|(name, record)| Group { name: name.to_owned(), records: vec![record] });
    said(&groups, &Request { runs: true, ..Request::default() })
}

/// `assay compare --by model`, of two models.
///
/// # Errors
/// Groups that cannot be compared.
pub fn compare_models(records: &[Record]) -> Result<Compared, Failure> {
    let named = [records.to_vec()];
    said(&compare::split(&named, By::Model), &Request::default())
}

fn said(groups: &[Group<'_>], request: &Request) -> Result<Compared, Failure> {
    let found = compare::compare(groups, request)?;
    let load = deciding(&found)?;
    let pair = load.pairs.first().ok_or("no pair was compared")?;
    let word = match pair.verdict {
        PairVerdict::Better => Word::Better,
        PairVerdict::Worse => Word::Worse,
        PairVerdict::Same => Word::Same,
        PairVerdict::BusTie | PairVerdict::CannotTell(_) => Word::CannotTell,
    };
    Ok(Compared { word, interval: pair.low.zip(pair.high), sides: load.sides.clone(), needed: pair.needed })
}

/// Pairs of models where the verdict of `assay compare --by model` is that the first is better, by little or by much.
///
/// # Errors
/// Models that cannot be compared.
pub fn compare_orders(records: &[Record]) -> Result<Vec<(String, String)>, Failure> {
    let named = [records.to_vec()];
    let groups = compare::split(&named, By::Model);
    let found = compare::compare(&groups, &Request::default())?;
    let name = |at: usize| groups[at].name.clone();
    let load = deciding(&found)?;
    let order = |pair: &compare::Pair| {
        let second = match pair.verdict {
            PairVerdict::Better => true,
            PairVerdict::Worse => false,
            PairVerdict::Same if pair.significant => (pair.ratio > 1.0) == load.more_is_better,
            PairVerdict::Same | PairVerdict::BusTie | PairVerdict::CannotTell(_) => return None,
        };
        let (better, worse) = if second { (pair.second, pair.first) } else { (pair.first, pair.second) };
        Some((name(better), name(worse)))
    };
    Ok(load.pairs.iter().filter_map(order).collect())
}

fn deciding(found: &Comparison) -> Result<&compare::LoadComparison, Failure> {
    found.primary().ok_or_else(|| "no load is in both groups".into())
}
