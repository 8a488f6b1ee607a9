//! The view of one record.

use assay_core::record::Record;
use assay_core::units::rate;

use super::{LoadRow, Mark};
use crate::facts::{self, Fact, Rank};
use crate::figure::percent;
use crate::notes::{Note, notes};
use crate::presented::crosscheck;
use crate::verdict::{Tone, capitalised, tone, verdict_sentence, word};
use crate::verification;

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
    pub(crate) rows: Vec<crosscheck::Row>,
}

impl Crosscheck {
    /// The compared figures.
    pub(crate) const COLUMNS: [&str; 3] = ["rate", "p50", "p99"];
}

impl<'a> Presented<'a> {
    pub(crate) fn of(record: &'a Record) -> Self {
        let other = crosscheck::other(record);
        Self {
            record,
            title: record.title(),
            kind: record.medium.kind.title(),
            unit: facts::unit(record),
            word: word(record),
            sentence: capitalised(&verdict_sentence(record)),
            tone: tone(record),
            about: facts::about(record),
            results: facts::results(record),
            loads: record.measurements.iter().map(|m| LoadRow::of(record, m)).collect(),
            crosscheck: (!record.crosscheck.is_empty()).then(|| Crosscheck {
                title: format!("assay over {other}"),
                other,
                rows: crosscheck::rows(record),
            }),
            check: verification::parts(record),
            notes: notes(record),
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
        parts.extend(Mark::ALL.iter().filter(|mark| seen(mark)).map(|m| format!("{} {}", m.character(), m.words())));
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
            parts.push(format!("± {level}over {repeats} repeats of this run, if independent"));
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
