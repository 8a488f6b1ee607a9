//! A row of the table.

use std::fmt;
use std::time::{Duration, Instant};

use assay_lab::fleet::{Load, Spread, Truth, Units};
use assay_lab::{SplitMix, on_all_processors};

use crate::found::{Failure, RowResult, Share, Tally};

/// A question with a known truth, and the bound on its errors.
pub struct CalibrationRow {
    /// The command and its input; `ROWS=` searches this text.
    pub name: String,
    /// The bound.
    pub bound: Bound,
    /// The figure of the current methods, in percent, where they miss the bound.
    pub missed: Option<f64>,
    /// Whether the short table has the row.
    pub short: bool,
    /// Factor on the number of fleets: larger where the figure lies close to the bound.
    pub times: usize,
    pub(crate) judge: Judge,
}

/// Draws a fleet from a seed and judges the answer.
pub(crate) type Judge = Box<dyn Fn(u64) -> Result<RowResult, Failure> + Send + Sync>;

/// The bound over all replicates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// The largest share of wrong answers.
    Wrong(f64),
    /// The smallest share of right answers.
    Right(f64),
    /// The smallest and the largest share of intervals that hold the truth, among the intervals given.
    Covered(f64, f64),
    /// The smallest ratio between what the program finds and what the exact test for the true model finds.
    Power(f64),
    /// The largest mean of the numbers.
    Mean(f64),
}

/// 1.5 points above 5 %: two standard errors of 1,000 replicates.
pub const ERROR: Bound = Bound::Wrong(0.065);
/// Intervals at 95 %.
pub(crate) const COVERAGE: Bound = Bound::Covered(0.93, 0.97);
/// Intervals at 95 % with an assumed deviation. Where the true deviation is smaller, they cover more.
pub(crate) const COVERAGE_ASSUMED: Bound = Bound::Covered(0.93, 1.0);

impl CalibrationRow {
    /// A row of the full table.
    pub fn new(
        name: impl Into<String>,
        bound: Bound,
        judge: impl Fn(u64) -> Result<RowResult, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), bound, missed: None, short: false, times: 1, judge: Box::new(judge) }
    }

    /// Measured with `times` times the fleets.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Self { times, ..self }
    }

    /// Also in the short table.
    #[must_use]
    pub fn short(mut self) -> Self {
        self.short = true;
        self
    }
}

impl fmt::Debug for CalibrationRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row").field("name", &self.name).field("bound", &self.bound).finish_non_exhaustive()
    }
}

impl Bound {
    /// The figure that is bounded.
    #[must_use]
    pub fn figure(self, tally: &Tally) -> Share {
        match self {
            Self::Wrong(_) => tally.wrong(),
            Self::Right(_) => tally.right(),
            Self::Covered(..) => tally.covered(),
            Self::Power(_) => tally.power(),
            Self::Mean(_) => tally.mean(),
        }
    }

    /// Whether the figure keeps the bound, with a tolerance of `errors` standard errors. A figure that does not exist
    /// does not keep it.
    #[must_use]
    pub fn holds(self, figure: Share, errors: f64) -> bool {
        let slack = if errors > 0.0 { errors * figure.error } else { 0.0 };
        match self {
            Self::Wrong(most) | Self::Mean(most) => figure.value <= most + slack,
            Self::Right(least) | Self::Power(least) => figure.value >= least - slack,
            Self::Covered(least, most) => figure.value >= least - slack && figure.value <= most + slack,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: &f64| share * 100.0;
        match self {
            Self::Wrong(most) => write!(f, "≤ {:.1} % wrong", percent(most)),
            Self::Right(least) => write!(f, "≥ {:.0} % right", percent(least)),
            Self::Covered(least, 1.0) => write!(f, "≥ {:.0} % covered", percent(least)),
            Self::Covered(least, most) => write!(f, "{:.0}–{:.0} % covered", percent(least), percent(most)),
            Self::Power(least) => write!(f, "≥ {:.0} % of the exact test", percent(least)),
            Self::Mean(most) => write!(f, "≤ {:.1} % on average", percent(most)),
        }
    }
}

// Measures rows on all processors.

/// The result of a row.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// All replicates.
    pub tally: Tally,
    /// The bounded figure.
    pub figure: Share,
    /// How long it took.
    pub time: Duration,
}

/// Measures a row with `replicates` fleets, multiplied by the factor of the row. The same row and number of replicates
/// give the same figures, regardless of other rows and of the number of processors.
///
/// # Errors
/// A replicate that could not be judged, with its seed.
pub fn measure(row: &CalibrationRow, replicates: usize) -> Result<Measured, Failure> {
    let start = Instant::now();
    let replicates = replicates as u64 * row.times as u64;
    let all = on_all_processors(0..replicates, |at| (row.judge)(seed_of(&row.name, at)));
    let mut tally = Tally::default();
    // In their order, because sums of floating-point numbers depend on it.
    for (at, found) in (0..).zip(all) {
        tally.add(found.map_err(|error| format!("{}: seed {}: {error}", row.name, seed_of(&row.name, at)))?);
    }
    Ok(Measured { tally, figure: row.bound.figure(&tally), time: start.elapsed() })
}

/// The seed of a replicate, by FNV-1a over the name of the row (Fowler, Noll and Vo).
fn seed_of(name: &str, replicate: u64) -> u64 {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    SplitMix::new(hash.wrapping_add(replicate)).number()
}

// The table, as Markdown.

/// Names of the columns.
#[must_use]
pub fn head() -> String {
    "| question | should be | is | cannot tell | |\n|---|---|--:|--:|---|".to_owned()
}

/// A row.
#[must_use]
pub fn line(row: &CalibrationRow, measured: &Measured) -> String {
    let holds = row.bound.holds(measured.figure, 0.0);
    let mut is = percent_with_error(measured.figure);
    if let Some(exact) = measured.tally.exact() {
        is += &format!(" of {:.0} %", exact.value * 100.0);
    }
    if let Some(about) = measured.tally.about() {
        is += &format!(", in {:.0} % of fleets", about * 100.0);
    }
    let undecided = measured.tally.undecided().value;
    let cannot_tell = match row.bound {
        Bound::Power(_) | Bound::Mean(_) => String::new(),
        _ => format!("{:.1} %", undecided * 100.0),
    };
    let word = match (holds, row.missed) {
        (true, None) => "",
        (true, Some(_)) => "held now",
        (false, Some(_)) => "missed",
        (false, None) => "**missed, and was held**",
    };
    format!("| {} | {} | {is} | {cannot_tell} | {word} |", row.name, row.bound)
}

fn percent_with_error(share: Share) -> String {
    if share.value.is_nan() {
        return "none".to_owned();
    }
    format!("{:.1} ± {:.1} %", share.value * 100.0, share.error * 100.0)
}

// Rows that miss their bounds with the current methods. When a method is improved, remove its rows here: all rows not
// listed here have to hold in `make calibrate` and, if they are in the short table, in `make test`.

/// The rows, each with its figure in percent.
#[rustfmt::skip]
pub const MISSED: &[(&str, f64)] = &[
    ("compare --runs covers the ratio of two runs, autocorrelation 0.6", 81.1),
    ("compare two hosts 5 % apart, the same 5 cards, run sd 2 %", 84.1),
    ("rank covers the figure of an erratic model, 3 models of 2 units", 80.0),
    ("rank covers the figure of an erratic model, 3 models of 3 units", 92.9),
    ("interval of a record, today, 3 repeats, autocorrelation 0.3", 91.6),
    ("interval of a record, today, 3 repeats, autocorrelation 0.6", 85.7),
    ("interval of a record, today, 3 repeats, autocorrelation 0.8", 67.2),
    ("interval of a record, today, 10 repeats, autocorrelation 0.6", 68.9),
];

/// The figure of a row that is missed.
pub(super) fn missed(name: &str) -> Option<f64> {
    MISSED.iter().find(|(row, _)| *row == name).map(|(_, figure)| *figure)
}

// Truths that many rows start from, and shares in the names of rows.

/// Repeats vary by 1 %, and runs of a unit by `run`.
pub(super) fn spread(run: f64) -> Spread {
    Spread { run, repeat: 0.01, ..Spread::default() }
}

/// Equal models under random reads of 4 KiB.
pub(super) fn equal(models: usize, units: Units, run: f64) -> Truth {
    Truth::equal(Load::random_read(), models, units, spread(run))
}

/// One unit, where only random variation is unknown.
pub(super) fn one_unit(loads: Vec<Load>, day: f64) -> Truth {
    let mut truth = equal(1, Units::Normal(0.0), day);
    truth.loads = loads;
    truth.spread.common = 0.5;
    truth
}

// Shares and numbers in the names of rows.

/// A share as people read it: `3 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::RowResult;

    #[test]
    fn a_bound_is_kept_up_to_its_end() {
        let at = |value| Share { value, error: 0.01 };
        for (bound, inside, outside) in [
            (Bound::Wrong(0.05), 0.05, 0.0501),
            (Bound::Mean(0.05), 0.05, 0.0501),
            (Bound::Right(0.9), 0.9, 0.8999),
            (Bound::Power(0.9), 0.9, 0.8999),
            (Bound::Covered(0.93, 0.97), 0.97, 0.9701),
            (Bound::Covered(0.93, 0.97), 0.93, 0.9299),
        ] {
            assert!(bound.holds(at(inside), 0.0) && !bound.holds(at(outside), 0.0), "{bound}");
            assert!(bound.holds(at(outside), 1.0), "{bound}");
            assert!(!bound.holds(Share { value: f64::NAN, error: f64::NAN }, 3.0), "{bound}");
        }
    }

    #[test]
    fn figures_depend_on_the_name_and_the_replicates_alone() {
        let row = |name: &str| {
            CalibrationRow::new(name, Bound::Mean(1.0), |seed| Ok(RowResult::Number(seed as f64 / u64::MAX as f64)))
        };
        let figure = |name| measure(&row(name), 500).map(|measured| measured.figure).ok();
        assert_eq!(figure("one"), figure("one"));
        assert_ne!(figure("one"), figure("two"));
        // The mean of uniform numbers, within four standard errors.
        assert!(figure("one").is_some_and(|share| (share.value - 0.5).abs() < 4.0 * share.error));
    }

    #[test]
    fn a_row_close_to_its_bound_is_measured_by_more() {
        let row = CalibrationRow::new("one", Bound::Mean(1.0), |seed| Ok(RowResult::Number(seed as f64))).times(4);
        let (few, many) = (measure(&row, 5).unwrap(), measure(&CalibrationRow { times: 1, ..row }, 20).unwrap());
        assert_eq!(few.figure, many.figure);
    }

    #[test]
    fn a_replicate_that_cannot_be_judged_is_told_with_its_seed() {
        let row = CalibrationRow::new("broken", Bound::Wrong(0.0), |_| Err("no answer".into()));
        let error = measure(&row, 3).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("broken: seed ") && error.ends_with(": no answer"), "{error}");
    }
}
