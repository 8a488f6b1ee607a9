//! The view of one record.

use assay_core::estimate::Estimate;
use assay_core::finding::Severity;
use assay_core::observation::Observation;
use assay_core::record::{Measurement, Record};
use assay_core::text::clean;
use assay_core::units::{figures, fixed, latency, rate};
use assay_core::workload::{Op, Pattern};

use crate::caveats::{Note, notes};
use crate::facts::{Fact, Rank};
use crate::headline::{MB, Shown, in_words, interval, percent, shown};
use crate::verdict::{Tone, capitalised, tone, verdict_sentence, word};
use crate::{facts, verdict, verification};

/// A record as text and figures, in the order of their importance.
pub(crate) struct Presented<'a> {
    pub(crate) record: &'a Record,
    /// The medium.
    pub(crate) title: String,
    /// What kind of medium it is.
    pub(crate) kind: &'static str,
    /// Which piece, by its label or what the medium says; empty where neither does.
    pub(crate) unit: String,
    /// The finding, in a word and in a sentence, and how good the news is.
    pub(crate) word: &'static str,
    pub(crate) sentence: String,
    pub(crate) tone: Tone,
    /// What was measured, where and with which program.
    pub(crate) about: Vec<Fact>,
    /// The results other than figures.
    pub(crate) results: Vec<Fact>,
    pub(crate) loads: Vec<LoadRow<'a>>,
    /// Against another instrument; nothing where there was none.
    pub(crate) crosscheck: Option<Crosscheck>,
    /// What a check for genuineness found.
    pub(crate) check: Vec<verification::Part>,
    /// What to know about the figures, the gravest first.
    pub(crate) notes: Vec<Note>,
}

/// How far another instrument agrees.
pub(crate) struct Crosscheck {
    /// `assay over fio-3.33`.
    pub(crate) title: String,
    /// The other instrument.
    pub(crate) other: String,
    pub(crate) rows: Vec<CrosscheckRow>,
}

impl Crosscheck {
    /// The compared figures.
    pub(crate) const COLUMNS: [&str; 3] = ["rate", "p50", "p99"];
}

impl<'a> Presented<'a> {
    pub(crate) fn from_record(record: &'a Record) -> Self {
        let other = other_instrument(record);
        let observation = Observation::from(record);
        Self {
            record,
            title: record.title(),
            kind: record.medium.kind.title(),
            unit: facts::unit(&observation),
            word: word(&observation),
            sentence: capitalised(&verdict_sentence(&observation)),
            tone: tone(&observation),
            about: facts::about(record),
            results: facts::results(record, &observation),
            loads: record.measurements.iter().map(|m| LoadRow::from_measurement(record, m)).collect(),
            crosscheck: (!record.crosscheck.is_empty()).then(|| Crosscheck {
                title: format!("assay over {other}"),
                other,
                rows: crosscheck_rows(record),
            }),
            check: verification::parts(record),
            notes: notes(&observation),
        }
    }

    /// The facts that have room on a page: the results first, then what was measured.
    pub(crate) fn on_page(&self) -> Vec<(String, String)> {
        let all = self.results.iter().chain(&self.about).filter(|fact| fact.rank <= Rank::Page);
        all.cloned().map(Fact::titled).collect()
    }

    /// What a check found, as names and words.
    pub(crate) fn checked(&self) -> Vec<(String, String)> {
        let facts = self.check.iter().filter_map(|part| match part {
            verification::Part::Fact(fact) => Some(fact.clone().titled()),
            verification::Part::Map | verification::Part::Curve(_) => None,
        });
        facts.collect()
    }

    /// The legend of a table of figures: intervals, the bus, and marks.
    pub(crate) fn legend(&self) -> Vec<String> {
        let mut parts = self.certainty();
        let shared = || self.figures().any(|figures| figures.share.is_some());
        if let Some(reachable) = self.record.medium.reachable().filter(|_| shared()) {
            parts.push(format!("bus: {} reachable", rate(reachable)));
        }
        let seen = |mark: &Mark| self.loads.iter().any(|load| load.mark == Some(*mark));
        parts.extend(Mark::ALL.iter().filter(|mark| seen(mark)).map(|m| format!("{} {}", m.character(), m.meaning())));
        parts
    }

    fn figures(&self) -> impl Iterator<Item = &super::Figures<'a>> {
        self.loads.iter().filter_map(|load| load.figures.as_ref().ok())
    }

    fn certainty(&self) -> Vec<String> {
        let mut parts = Vec::new();
        let estimates = || self.figures().flat_map(|figures| figures.estimates());
        let with_interval = || estimates().filter(|e| e.low.is_some() && e.high.is_some());
        if let Some(e) = with_interval().next() {
            let level = e.level.map_or_else(String::new, |l| format!("{} ", percent(l)));
            let (least, most) = with_interval().fold((e.n, e.n), |(least, most), e| (least.min(e.n), most.max(e.n)));
            // Workloads with enough information end after fewer repeats.
            let repeats = if least == most { most.to_string() } else { format!("{least} to {most}") };
            parts.push(format!("±: {level}interval over {repeats} repeats of this run, assumed independent"));
        }
        if estimates().any(|e| e.low.is_none() || e.high.is_none()) {
            // A printed figure has no interval, regardless of the number of runs behind it.
            let why = if self.record.is_printed() {
                "n: number of runs; no interval given"
            } else {
                "n: number of values; too few for an interval"
            };
            parts.push(why.to_owned());
        }
        parts
    }
}

// The view of one load of a record.

/// A load: its name, and its figures or why it has none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LoadRow<'a> {
    pub(crate) measurement: &'a Measurement,
    /// `random read 4 KiB, QD32`.
    pub(crate) title: String,
    /// The same under a heading that says the pattern.
    pub(crate) title_without_pattern: String,
    /// `None` of an imported figure whose source does not tell.
    pub(crate) pattern: Option<Pattern>,
    /// The figures, or the words that stand in their place.
    pub(crate) figures: Result<Figures<'a>, String>,
    pub(crate) mark: Option<Mark>,
    /// The requested load, where a smaller one was measured.
    pub(crate) scaled_down: Option<String>,
    /// Further words on the figures, each of a few words.
    pub(crate) remarks: Vec<String>,
}

/// The gravest thing to know about a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Bus,
    Instrument,
    Invalid,
}

impl Mark {
    pub(crate) const ALL: [Self; 3] = [Self::Bus, Self::Instrument, Self::Invalid];

    fn from_measurement(m: &Measurement) -> Option<Self> {
        if m.warnings.iter().any(|w| w.severity == Severity::Invalid) {
            Some(Self::Invalid)
        } else if m.instrument_limited {
            Some(Self::Instrument)
        } else {
            m.bus_limited.then_some(Self::Bus)
        }
    }

    /// One character of a table.
    pub(crate) fn character(self) -> &'static str {
        match self {
            Self::Bus => "•",
            Self::Instrument => "◦",
            Self::Invalid => "!",
        }
    }

    /// The meaning of the character.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Bus => "bus-limited",
            Self::Instrument => "instrument-limited",
            Self::Invalid => "invalid, see below",
        }
    }
}

impl<'a> LoadRow<'a> {
    pub(crate) fn from_measurement(record: &Record, m: &'a Measurement) -> Self {
        Self {
            measurement: m,
            title: record.load_title(m),
            title_without_pattern: record.load_title_without_pattern(m),
            pattern: [Pattern::Sequential, Pattern::Random].into_iter().find(|p| m.workload.pattern_is(*p)),
            figures: facts::no_figure(record, m).map_or_else(|| Ok(Figures::from_measurement(record, m)), Err),
            mark: Mark::from_measurement(m),
            scaled_down: facts::scaled_down(m),
            remarks: remarks(m),
        }
    }

    pub(crate) fn is_random(&self) -> bool {
        self.pattern == Some(Pattern::Random)
    }

    /// `Random read 4 KiB, QD32: 1 499 ±12 IOPS, 6.14 MB/s`.
    pub(crate) fn finding(&self) -> String {
        let title = capitalised(&self.title);
        match &self.figures {
            Err(words) => format!("{title}: {words}"),
            Ok(figures) => match figures.share.filter(|_| self.measurement.bus_limited) {
                Some(share) => format!("{title}: {}, {} of the bus", figures.sentence(), percent(share)),
                None => format!("{title}: {}", figures.sentence()),
            },
        }
    }

    /// All remarks beside the figures, in a cell.
    pub(crate) fn beside(&self) -> String {
        let words = self.figures.as_ref().err().into_iter().chain(&self.scaled_down);
        let mut all: Vec<&str> = words.map(String::as_str).collect();
        for remark in &self.remarks {
            if !all.iter().any(|known| known.starts_with(remark.as_str())) {
                all.push(remark);
            }
        }
        all.join(", ")
    }
}

/// Warnings in a few words, each once.
fn remarks(m: &Measurement) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for short in m.warnings.iter().map(|warning| warning.finding.short()).filter(|short| !short.is_empty()) {
        if !all.iter().any(|known| known == short) {
            all.push(short.to_owned());
        }
    }
    all
}

// The figures of a load, and which of them are shown.

/// What the figures of a table are in.
const RATE: &str = "MB/s";
/// The same of operations.
const OPERATIONS: &str = "IOPS";

/// A figure in its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure<'a> {
    pub(crate) estimate: &'a Estimate,
    /// `MB/s` or `IOPS`.
    pub(crate) unit: &'static str,
    /// What an estimate is divided by for that unit.
    pub(crate) divisor: f64,
    /// Another figure of the same load has the same interval in other words.
    bare: bool,
}

impl<'a> Figure<'a> {
    /// Bytes per second.
    fn rate(estimate: &'a Estimate) -> Self {
        Self { estimate, unit: RATE, divisor: MB, bare: false }
    }

    /// Operations per second.
    fn operations(estimate: &'a Estimate) -> Self {
        Self { estimate, unit: OPERATIONS, divisor: 1.0, bare: false }
    }

    /// `22.8 ±0.1`: for a table whose legend explains it.
    pub(crate) fn shown(&self) -> Shown {
        let mut all = shown(self.estimate, self.divisor);
        if self.bare {
            all = Shown::bare(figures(self.estimate.point / self.divisor));
        }
        all
    }

    /// `22.8 (22.7–22.9)`: for a table without a legend that explains `±`.
    pub(crate) fn bracketed(&self) -> String {
        let value = figures(self.estimate.point / self.divisor);
        match self.estimate.low.zip(self.estimate.high).filter(|_| !self.bare) {
            Some((low, high)) => format!("{value} ({})", interval(low / self.divisor, high / self.divisor)),
            None => value,
        }
    }

    /// `22.8 ±0.1 MB/s`: for a sentence.
    pub(crate) fn in_words(&self) -> String {
        // Without an interval, the unit of a rate is chosen by its size.
        if self.bare && self.unit == RATE {
            return rate(self.estimate.point);
        }
        in_words(self.estimate, self.divisor, self.unit)
    }
}

/// The figures of a load, if it has any.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figures<'a> {
    /// For random work, and where there is no rate. Operations per second of sequential work are not of interest.
    pub(crate) iops: Option<Figure<'a>>,
    pub(crate) rate: Option<Figure<'a>>,
    /// The rate including the final sync, unless each write was synced anyway.
    pub(crate) durable: Option<Figure<'a>>,
    /// That rate is of the writes alone, as reads need no sync.
    pub(crate) durable_of_writes: bool,
    /// Median and 99th percentile of the latency; empty where unknown.
    pub(crate) p50: String,
    pub(crate) p99: String,
    /// Share of the reachable rate of the bus.
    pub(crate) share: Option<f64>,
}

impl<'a> Figures<'a> {
    pub(super) fn from_measurement(record: &Record, m: &'a Measurement) -> Self {
        let time = |e: &Option<Box<Estimate>>| e.as_ref().map_or_else(String::new, |e| latency(e.point));
        let asked_for = m.workload.pattern_is(Pattern::Random) || m.bytes_per_second.is_none();
        let iops = m.iops.as_ref().filter(|_| asked_for).map(Figure::operations);
        Self {
            iops,
            // The rate of random work follows from the IOPS: one interval is enough.
            rate: m.bytes_per_second.as_ref().map(|e| Figure { bare: iops.is_some(), ..Figure::rate(e) }),
            durable: m.durable_bytes_per_second.as_ref().filter(|_| !m.workload.sync.each()).map(Figure::rate),
            durable_of_writes: m.workload.op == Op::Mixed,
            p50: time(&m.latency_ns.p50),
            p99: time(&m.latency_ns.p99),
            share: verdict::bus_share(&record.medium, m.bytes_per_second.as_ref()),
        }
    }

    /// Number of values behind the figures.
    pub(crate) fn n(&self) -> Option<u32> {
        self.rate.or(self.iops).map(|figure| figure.estimate.n)
    }

    /// The figures that may have an interval of their own.
    pub(crate) fn estimates(&self) -> impl Iterator<Item = &'a Estimate> {
        [self.iops, self.rate].into_iter().flatten().map(|figure| figure.estimate)
    }

    /// `1 499 ±12 IOPS, 6.14 MB/s, 5.80 ±0.10 MB/s including the final sync`.
    pub(crate) fn sentence(&self) -> String {
        let whose = if self.durable_of_writes { "its writes " } else { "" };
        let durable = self.durable.map(|figure| format!("{whose}{} including the final sync", figure.in_words()));
        let parts = [self.iops.map(|f| f.in_words()), self.rate.map(|f| f.in_words()), durable];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

// The cross-check with another instrument, as cells of a table.

/// One workload: ratios of assay over the other instrument.
pub(crate) struct CrosscheckRow {
    pub(crate) workload: String,
    pub(crate) rate: String,
    pub(crate) p50: String,
    pub(crate) p99: String,
    /// What went wrong with the other instrument.
    pub(crate) trouble: Option<String>,
}

/// The other instrument, where it is one for all workloads.
fn other_instrument(record: &Record) -> String {
    let mut peers: Vec<&str> = record.crosscheck.iter().map(|c| c.peer.as_str()).collect();
    peers.dedup();
    match peers.as_slice() {
        [one] => clean(one),
        _ => "the original".to_owned(),
    }
}

/// Whether tools differ from row to row.
fn several(record: &Record) -> bool {
    record.crosscheck.windows(2).any(|pair| pair[0].peer != pair[1].peer)
}

fn crosscheck_rows(record: &Record) -> Vec<CrosscheckRow> {
    let several = several(record);
    record
        .crosscheck
        .iter()
        .map(|c| CrosscheckRow {
            workload: {
                let load = record.measurement(&c.workload).map_or_else(|| c.workload.clone(), |m| record.load_title(m));
                clean(&if several { format!("{load}, {}", c.peer) } else { load })
            },
            rate: ratio_text(c.ratio.as_ref()),
            p50: ratio_text(c.p50_ratio.as_ref()),
            p99: ratio_text(c.p99_ratio.as_ref()),
            trouble: c.trouble.as_deref().map(clean),
        })
        .collect()
}

/// `1.02 (0.99–1.05)`; a ratio has no unit, and its interval is not symmetric.
fn ratio_text(estimate: Option<&Estimate>) -> String {
    match estimate {
        None => "–".to_owned(),
        Some(Estimate { point, low: Some(low), high: Some(high), .. }) => {
            format!("{} ({}–{})", fixed(*point, 2), fixed(*low, 2), fixed(*high, 2))
        }
        Some(e) => format!("{} n={}", fixed(e.point, 2), e.n),
    }
}
