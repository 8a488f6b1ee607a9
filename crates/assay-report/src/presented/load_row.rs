//! The view of one load of a record.

use assay_core::finding::Severity;
use assay_core::record::{Measurement, Record};
use assay_core::workload::Pattern;

use super::Figures;
use crate::facts;
use crate::figure::percent;
use crate::verdict::capitalised;

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

    fn of(m: &Measurement) -> Option<Self> {
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
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Bus => "bus-limited",
            Self::Instrument => "instrument-limited",
            Self::Invalid => "invalid, see below",
        }
    }
}

impl<'a> LoadRow<'a> {
    pub(crate) fn of(record: &Record, m: &'a Measurement) -> Self {
        Self {
            measurement: m,
            title: record.load_title(m),
            title_without_pattern: record.load_title_without_pattern(m),
            pattern: [Pattern::Sequential, Pattern::Random].into_iter().find(|p| m.workload.pattern_is(*p)),
            figures: facts::no_figure(record, m).map_or_else(|| Ok(Figures::of(record, m)), Err),
            mark: Mark::of(m),
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
