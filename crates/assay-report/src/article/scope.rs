//! The records that stand in the columns of a table, with what `assay rank` says of them.

use assay_analysis::rank::{LoadRanking, RankOptions, RankReport, rank};
use assay_analysis::{Load, Quantity, deciding_quantity};
use assay_core::record::Record;
use assay_core::text::harmless;

use super::computers::computer;

/// All records, or those of one computer.
pub(super) struct Scope<'a> {
    /// Which computer; empty for all records.
    pub(super) host: String,
    pub(super) records: Vec<&'a Record>,
    /// The ranking of all its loads, or why there is none.
    pub(super) ranked: Result<RankReport, String>,
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
        let ranked = rank(&records, &RankOptions::default()).map_err(|error| harmless(&error.to_string()));
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
