//! The records behind the columns of a table: all of them, or those of one kind of computer, with their ranking.

use std::collections::{BTreeMap, BTreeSet};

use assay_analysis::rank::{LoadRanking, RankError, RankOptions, RankReport, rank};
use assay_analysis::{Load, Quantity, deciding_quantity, identity, loads};
use assay_core::record::Record;
use assay_core::text::clean;

/// All records, or those of one computer.
pub(super) struct Scope<'a> {
    /// Which computer; empty for all records.
    pub(super) host: String,
    pub(super) records: Vec<&'a Record>,
    /// The ranking of all its loads, or why there is none.
    pub(super) ranked: Result<RankReport, RankError>,
}

impl<'a> Scope<'a> {
    /// All records.
    pub(super) fn of_all(records: &'a [Record]) -> Self {
        Self::new(String::new(), records.iter().collect())
    }

    /// Those of one computer.
    pub(super) fn of_computer(records: &'a [Record], host: &str) -> Self {
        Self::new(host.to_owned(), records.iter().filter(|record| computer(record) == host).collect())
    }

    fn new(host: String, records: Vec<&'a Record>) -> Self {
        let ranked = rank(&records, &RankOptions::default());
        Self { host, records, ranked }
    }

    /// Whether it is about a record of the article.
    pub(super) fn holds(&self, record: &Record) -> bool {
        self.host.is_empty() || computer(record) == self.host
    }

    /// What the ranking says of a load.
    pub(super) fn ranking(&self, load: &Load) -> Option<&LoadRanking> {
        let report = self.ranked.as_ref().ok()?;
        std::iter::once(&report.primary).chain(&report.exploratory).find(|ranking| ranking.load == *load)
    }

    /// The figure that decides under a load.
    pub(super) fn quantity(&self, load: &Load) -> Quantity {
        let decides = || deciding_quantity(self.records.iter().copied(), load).quantity;
        self.ranking(load).map_or_else(decides, |ranking| ranking.quantity)
    }

    /// Chance of a false order of a load.
    pub(super) fn alpha(&self) -> f64 {
        self.ranked.as_ref().map_or(RankOptions::default().alpha, |report| report.alpha)
    }
}

/// The kind of computer: its board, else its processor, else its name; empty where the record has none of them.
pub(super) fn computer(record: &Record) -> String {
    let host = &record.host;
    let all = [&host.board, &host.cpu, &host.hostname];
    all.into_iter().flatten().map(|name| clean(name)).find(|name| !name.is_empty()).unwrap_or_default()
}

/// The computers of these records, each once, in the order of the records.
pub(super) fn computers<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in records.into_iter().map(computer).filter(|name| !name.is_empty()) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// Loads under which some model was measured with two kinds of computers or more: what differs there tells of the computers,
/// too. A computer for each medium compares none.
pub(super) fn crossed(records: &[Record]) -> BTreeSet<Load> {
    let mut seen: BTreeMap<(Load, String), BTreeSet<String>> = BTreeMap::new();
    for record in records {
        let name = computer(record);
        for load in loads([record]).into_iter().filter(|_| !name.is_empty()) {
            seen.entry((load, identity(record).model)).or_default().insert(name.clone());
        }
    }
    seen.into_iter().filter(|(_, with)| with.len() > 1).map(|((load, _), _)| load).collect()
}
