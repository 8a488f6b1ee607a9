//! What a text gives: figures, each with its load and whether a warning goes with it.

use std::collections::BTreeSet;

use assay_core::finding::Warning;
use assay_core::record::{Measurement, Record};
use assay_core::workload::{Op, Unknown, Workload};
use assay_import::{File, Imported, Item, Options, import};

/// All that a text gives.
#[derive(Debug, Default)]
pub struct Seen {
    pub figures: Vec<Figure>,
    /// Verdicts, each with its counts and whether a warning goes with it.
    checks: Vec<(String, bool)>,
    /// Whether something was told as not read.
    problems: bool,
}

/// A figure.
#[derive(Debug)]
pub struct Figure {
    what: String,
    value: f64,
    load: Option<Workload>,
    /// Warnings about it and its record that are about the text.
    warned: bool,
}

impl Seen {
    pub fn of(name: &str, bytes: &[u8]) -> Self {
        let imported: Imported = import(File::new(name, bytes), &Options::default()).unwrap_or_default();
        let mut seen = Self { problems: !imported.problems.is_empty(), ..Self::default() };
        for item in imported.items {
            if let Item::Made(record) = item {
                seen.take(&record);
            }
        }
        seen
    }

    fn take(&mut self, record: &Record) {
        let doubts = |causes: Vec<String>| {
            let words = [
                "contradicts",
                "not complete",
                "whether it read or wrote",
                "whether its table is in kB/s",
                "share of reads",
                "the unit of",
                "less than whole units",
                "other text stands between",
            ];
            causes.iter().any(|cause| words.iter().any(|words| cause.contains(words)))
        };
        let whole = doubts(record.warnings.iter().map(Warning::cause).collect());
        for m in &record.measurements {
            let warned = whole || doubts(m.warnings.iter().map(Warning::cause).collect());
            self.figures.extend(values(m).into_iter().map(|(what, value)| Figure {
                what: what.to_owned(),
                value,
                load: Some((*m.workload).clone()),
                warned,
            }));
        }
        for score in &record.scores {
            // Of the same tool as it stands elsewhere in a log the name may be another.
            let what = score.unit.clone();
            self.figures.push(Figure { what, value: score.value.point, load: None, warned: whole });
        }
        if let Some(check) = &record.verification {
            self.checks.push((format!("{} {:?}", check.verdict.title(), check.counts), whole));
        }
    }

    /// Figures and verdicts that the undamaged text does not give, and of which nothing warns.
    pub fn false_figures(&self, whole: &Self) -> Vec<String> {
        let told = self.problems && !whole.problems;
        let figures = self.figures.iter().filter(|figure| !figure.warned && !told);
        let other = figures.filter(|figure| !whole.figures.iter().any(|known| figure.agrees(known)));
        let known: BTreeSet<&str> = whole.checks.iter().map(|(check, _)| check.as_str()).collect();
        let checks = self.checks.iter().filter(|(check, warned)| !warned && !told && !known.contains(check.as_str()));
        // That nothing can be told is no claim.
        let checks = checks.filter(|(check, _)| !check.starts_with("cannot tell"));
        let words = |figure: &Figure| {
            let load = figure.load.as_ref().map(Workload::title).unwrap_or_default();
            format!("{} {} of {load}", figure.what, figure.value)
        };
        other.map(words).chain(checks.map(|(check, _)| check.clone())).collect()
    }
}

fn values(m: &Measurement) -> Vec<(&'static str, f64)> {
    let latency = &m.latency_ns;
    let all = [
        ("B/s", m.bytes_per_second.as_ref()),
        ("durable B/s", m.durable_bytes_per_second.as_ref()),
        ("IOPS", m.iops.as_ref()),
        ("mean", latency.mean.as_deref()),
        ("p50", latency.p50.as_deref()),
        ("p90", latency.p90.as_deref()),
        ("p99", latency.p99.as_deref()),
        ("p99.9", latency.p99_9.as_deref()),
        ("max", latency.max.as_deref()),
    ];
    let told = all.into_iter().filter_map(|(what, estimate)| Some((what, estimate?)));
    told.map(|(what, estimate)| (what, estimate.point)).collect()
}

impl Figure {
    /// Whether it is one of the undamaged text: the same value, of the same load as far as it is known. What an exact
    /// count gave more digits may come without it as it was printed.
    fn agrees(&self, known: &Self) -> bool {
        let near = (self.value - known.value).abs() <= known.value.abs() * 0.04;
        let load = match (&self.load, &known.load) {
            (Some(ours), Some(theirs)) => alike(ours, theirs),
            (None, None) => true,
            _ => false,
        };
        // Of a load that is no longer known as one there is a score.
        let mebibytes = self.load.is_none() && self.what == "MB/s" && known.what == "B/s" && {
            let share = self.value * 1_048_576.0 / known.value;
            (0.9..1.1).contains(&share)
        };
        let score = self.load.is_none() && self.what == "IOPS" && known.what == "IOPS" && near;
        self.what == known.what && near && load || mebibytes || score
    }
}

fn alike(ours: &Workload, theirs: &Workload) -> bool {
    let known = |what: Unknown| !ours.unknown.contains(&what) && !theirs.unknown.contains(&what);
    let share =
        ours.op != Op::Mixed || ours.read_percent.unwrap_or(50).abs_diff(theirs.read_percent.unwrap_or(50)) <= 1;
    ours.op == theirs.op
        && share
        && (!known(Unknown::Pattern) || ours.pattern == theirs.pattern)
        && (!known(Unknown::BlockBytes) || ours.block_bytes == theirs.block_bytes)
        && (!known(Unknown::QueueDepth) || ours.queue_depth == theirs.queue_depth)
        && (!known(Unknown::Jobs) || ours.jobs == theirs.jobs)
}
