//! The few figures that represent a record.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::slice;

use assay_analysis::{Load, Quantity, by_model, deciding_load, operations_for, percentile};
use assay_core::estimate::Estimate;
use assay_core::observation::{Observation, ObservedMeasurement};
use assay_core::outcome::Outcome;
use assay_core::text::clean;
use assay_core::units::{figures, fixed, grouped, latency, trimmed};
use assay_core::workload::{Op, Pattern};

/// The workloads that people ask about first; `None` where the record has no figure.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Headline<'a> {
    pub(crate) sequential_read: Option<&'a ObservedMeasurement>,
    pub(crate) sequential_write: Option<&'a ObservedMeasurement>,
    pub(crate) random_read: Option<&'a ObservedMeasurement>,
    pub(crate) random_write: Option<&'a ObservedMeasurement>,
}

/// Block size that application performance classes are about (SD 5.1 and 6.0).
const CLASS_BLOCK: u64 = 4096;
/// Columns of random work.
const RANDOM_READ: usize = 2;
const RANDOM_WRITE: usize = 3;

impl<'a> Headline<'a> {
    pub(crate) fn from_record(record: &'a Observation) -> Self {
        // Of equals the first, as in columns: what follows in the record is a reread or rewrite.
        let sequential = |op| with_figures(record, op, Pattern::Sequential).min_by_key(|m| standing(m));
        let random = |column| {
            let load = deciding_random(slice::from_ref(record), column, Some(CLASS_BLOCK))?;
            candidates(record, column, Some(CLASS_BLOCK)).into_iter().find(|(of, ..)| *of == load).map(|(_, m, _)| m)
        };
        Self {
            sequential_read: sequential(Op::Read),
            sequential_write: sequential(Op::Write),
            random_read: random(RANDOM_READ),
            random_write: random(RANDOM_WRITE),
        }
    }

    /// The load of a figure, `1 MiB QD8`, where the record has several loads of its kind; `None` where the kind is
    /// enough.
    pub(crate) fn load_among_several(record: &Observation, of: &ObservedMeasurement) -> Option<String> {
        let random = of.workload.pattern_is(Pattern::Random);
        let pattern = if random { Pattern::Random } else { Pattern::Sequential };
        let all = with_figures(record, of.workload.op, pattern);
        let shapes: BTreeSet<String> =
            all.filter(|m| !random || m.workload.block_bytes == CLASS_BLOCK).map(|m| m.workload.shape()).collect();
        let shape = of.workload.shape();
        (shapes.len() > 1 && !shape.is_empty()).then_some(shape)
    }

    /// Nothing was measured of any of them.
    pub(crate) fn is_empty(&self) -> bool {
        [self.sequential_read, self.sequential_write, self.random_read, self.random_write].iter().all(Option::is_none)
    }
}

/// The figures of several records in columns, each of one load: of streams the one that most of them have; of random work
/// the one that decides in comparisons of the same records. Random loads are those of 4 KiB, unless no record has one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Columns {
    loads: [Option<String>; 4],
    /// Sizes of blocks of the random loads; none for any.
    blocks: [Option<u64>; 4],
}

/// A figure in a column of [`Columns`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InColumn<'a> {
    pub(crate) measurement: &'a ObservedMeasurement,
    pub(crate) estimate: &'a Estimate,
    /// What the estimate is divided by for the unit of the column.
    pub(crate) unit: f64,
    /// Its load, where it is not that of the column: `4 KiB QD1`.
    pub(crate) other_load: Option<String>,
}

impl Columns {
    /// What stands in the columns: operation, pattern, and the unit.
    pub(crate) const TITLES: [&str; 4] = ["read MB/s", "write MB/s", "random read IOPS", "random write IOPS"];

    /// Whether a column holds rates in bytes per second, and not operations per second.
    pub(crate) fn is_of_rates(column: usize) -> bool {
        column < RANDOM_READ
    }

    pub(crate) fn from_records(records: &[Observation]) -> Self {
        let of_class = [RANDOM_READ, RANDOM_WRITE].map(|column| deciding_random(records, column, Some(CLASS_BLOCK)));
        let [read, write] = of_class.each_ref().map(|load| load.as_ref().map(|_| CLASS_BLOCK));
        let [random_read, random_write] = of_class;
        Self {
            loads: [
                common_load(records, 0),
                common_load(records, 1),
                random_read.or_else(|| deciding_random(records, RANDOM_READ, None)),
                random_write.or_else(|| deciding_random(records, RANDOM_WRITE, None)),
            ],
            blocks: [None, None, read, write],
        }
    }

    /// The columns that any record fills.
    pub(crate) fn filled(&self) -> Vec<usize> {
        (0..self.loads.len()).filter(|at| self.loads[*at].is_some()).collect()
    }

    /// The load of a column: `1 MiB QD8`; nothing where no record has a figure.
    pub(crate) fn load(&self, column: usize) -> &str {
        self.loads.get(column).and_then(Option::as_deref).unwrap_or_default()
    }

    /// The figure of a record: that of the load of the column, or else of another load, which it names.
    pub(crate) fn figure<'a>(&self, record: &'a Observation, column: usize) -> Option<InColumn<'a>> {
        let mut all = candidates(record, column, self.blocks.get(column).copied().flatten());
        let at = all.iter().position(|(load, ..)| *load == self.load(column)).unwrap_or(0);
        let (load, measurement, estimate) = (at < all.len()).then(|| all.swap_remove(at))?;
        let other_load = (load != self.load(column)).then_some(load);
        Some(InColumn { measurement, estimate, unit: if Self::is_of_rates(column) { MB } else { 1.0 }, other_load })
    }
}

/// The load of streams that most records have; of several, the one that represents a single record.
fn common_load(records: &[Observation], column: usize) -> Option<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for (load, ..) in records.iter().flat_map(|record| candidates(record, column, None)) {
        match counts.iter_mut().find(|(known, _)| *known == load) {
            Some((_, count)) => *count += 1,
            None => counts.push((load, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(load, _)| load)
}

/// The load of a column of random work by which these records are compared, of the given block size, or of any.
fn deciding_random(records: &[Observation], column: usize, block: Option<u64>) -> Option<String> {
    let all = records.iter().flat_map(|record| candidates(record, column, block));
    let among: BTreeSet<Load> = all.map(|(_, m, _)| Load::from_workload(&m.workload)).collect();
    let among: Vec<Load> = among.into_iter().collect();
    let load = deciding_load(&by_model(records), None, Some(&among)).ok()?;
    Some(named(&load.shape()))
}

/// Loads of a record for a column with their figures, the one that represents the record first.
fn candidates(
    record: &Observation,
    column: usize,
    block: Option<u64>,
) -> Vec<(String, &ObservedMeasurement, &Estimate)> {
    let op = if column.is_multiple_of(2) { Op::Read } else { Op::Write };
    let random = column >= RANDOM_READ;
    let pattern = if random { Pattern::Random } else { Pattern::Sequential };
    let mut all: Vec<&ObservedMeasurement> = with_figures(record, op, pattern)
        .filter(|m| !random || block.is_none_or(|b| m.workload.block_bytes == b))
        .collect();
    all.sort_by_key(|m| standing(m));
    all.into_iter()
        .filter_map(|m| {
            let estimate = if random { m.iops.as_ref() } else { durable_or_acknowledged(m) }?;
            // A rate that includes the final sync is another one.
            let load = named(&m.workload.shape());
            let is_named = load.ends_with("synced");
            let synced = if !random && !is_named && m.durable_bytes_per_second.is_some() { " synced" } else { "" };
            Some((format!("{load}{synced}"), m, estimate))
        })
        .collect()
}

/// The shape of a load, or that it is unknown.
fn named(shape: &str) -> String {
    if shape.is_empty() { "unknown load".to_owned() } else { shape.to_owned() }
}

/// Sort key for the load that represents a record, smallest first: the largest blocks, of streams with the most
/// operations in flight, of random work with the fewest.
fn standing(measurement: &ObservedMeasurement) -> Reverse<(u64, i128, bool)> {
    let workload = &measurement.workload;
    let in_flight = i128::from(workload.depth());
    let in_flight = if workload.pattern_is(Pattern::Random) { -in_flight } else { in_flight };
    Reverse((workload.block_bytes, in_flight, !workload.sync.each()))
}

/// The rate that counts for a write: durable where it was measured.
pub(crate) fn durable_or_acknowledged(measurement: &ObservedMeasurement) -> Option<&Estimate> {
    measurement.durable_bytes_per_second.as_ref().or(measurement.bytes_per_second.as_ref())
}

fn with_figures(record: &Observation, op: Op, pattern: Pattern) -> impl Iterator<Item = &ObservedMeasurement> {
    record
        .measurements
        .iter()
        .filter(move |m| m.workload.op == op && m.workload.pattern_is(pattern) && m.workload.is_plain())
        .filter(|m| m.bytes_per_second.is_some() || m.iops.is_some())
}

// The latency percentiles that the user asked for, as lines.

/// An interval whose ends are further apart than this factor is not useful.
const WIDEST_PERCENTILE: f64 = 100.0;

/// The heading of the percentiles of a record, where there are several records.
#[must_use]
pub fn percentile_heading(record: &Observation) -> String {
    format!("{}  {}", clean(&record.id), record.title())
}

/// Each workload of a record with its percentiles, given as shares between 0 and 1.
#[must_use]
pub fn percentile_lines(record: &Observation, shares: &[f64]) -> String {
    let mut lines = vec!["latency".to_owned()];
    let names: Vec<String> = shares.iter().map(|share| format!("p{}", trimmed(share * 100.0, 10))).collect();
    let widest = names.iter().map(String::len).max().unwrap_or(0);
    for m in &record.measurements {
        lines.push(clean(&record.load_title(m)));
        if m.repeats.iter().all(|r| r.outcome != Outcome::Completed || r.operations == 0) {
            lines.push("  no completed repeat with recorded latencies".to_owned());
            continue;
        }
        for (share, name) in shares.iter().zip(&names) {
            let words = match percentile(m, *share) {
                None => {
                    let needed = grouped(i64::try_from(operations_for(*share)).unwrap_or(i64::MAX));
                    format!("needs {needed} operations in each repeat")
                }
                Some(e) => match (e.low, e.high) {
                    (Some(low), Some(high)) if high > low * WIDEST_PERCENTILE => {
                        format!("{:<8}  {} repeats are too few for an interval", latency(e.point), e.n)
                    }
                    (Some(low), Some(high)) => {
                        format!("{:<8}  {} to {}", latency(e.point), latency(low), latency(high))
                    }
                    _ => latency(e.point),
                },
            };
            lines.push(format!("  {name:<widest$}  {words}"));
        }
    }
    lines.join("\n")
}

// Estimates as people read them: a figure with its interval, or with the number of values it rests on.

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

/// `estimate` in units of `unit`.
pub(crate) fn shown(estimate: &Estimate, unit: f64) -> Shown {
    let point = estimate.point / unit;
    let value = figures(point);
    let (Some(low), Some(high)) = (estimate.low, estimate.high) else {
        return Shown { value, spread: format!("n={}", estimate.n), kind: Spread::Count };
    };
    if crate::change::is_useless(low, high) {
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
    use assay_analysis::published;
    use assay_core::workload::Workload;

    use super::*;

    /// A list showed one operation at a time, and the sentence of a card and a comparison 32.
    #[test]
    fn cards_and_columns_are_of_the_load_that_decides() {
        let mut records = published("sandisk-ultra-a1").unwrap();
        for record in &mut records {
            let deep = record.measurements[0].clone();
            record.measurements = [32, 1, 4]
                .map(|queue_depth| ObservedMeasurement {
                    workload: Workload { queue_depth, ..Workload::new("w", Op::Read, Pattern::Random, CLASS_BLOCK) }
                        .into(),
                    ..deep.clone()
                })
                .to_vec();
        }
        let columns = |records: &[Observation]| Columns::from_records(records).load(RANDOM_READ).to_owned();
        let decides = |records: &[Observation]| deciding_load(&by_model(records), None, None).unwrap().shape();
        let card = |record: &Observation| Headline::from_record(record).random_read.unwrap().workload.shape();
        for some in [&records[..1], &records[..2], &records[..]] {
            assert_eq!((columns(some), decides(some)), ("4 KiB".to_owned(), "4 KiB".to_owned()));
        }
        assert_eq!(card(&records[0]), "4 KiB");
        // One at a time is missing in one record.
        records[0].measurements.remove(1);
        assert_eq!(columns(&records), decides(&records));
        assert_eq!(card(&records[0]), "4 KiB, QD4");
        let shown = Columns::from_records(&records);
        assert_eq!(shown.figure(&records[1], RANDOM_READ).unwrap().other_load, None, "{shown:?}");
    }

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
        assert_eq!([percent(0.0094), percent(0.0095)], ["<1 %", "1 %"]);
        assert_eq!(percent(0.0), "0 %");
    }
}
