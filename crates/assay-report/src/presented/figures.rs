//! The figures of a load, and which of them are shown.

use assay_core::estimate::Estimate;
use assay_core::record::{Measurement, Record};
use assay_core::units::{figures, latency, rate};
use assay_core::workload::Pattern;

use crate::bus;
use crate::figure::{MB, Shown, in_words, interval, shown};

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
            all = Shown { value: figures(self.estimate.point / self.divisor), spread: String::new() };
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
    /// Median and 99th percentile of the latency; empty where unknown.
    pub(crate) p50: String,
    pub(crate) p99: String,
    /// Share of the reachable rate of the bus.
    pub(crate) share: Option<f64>,
}

impl<'a> Figures<'a> {
    pub(super) fn of(record: &Record, m: &'a Measurement) -> Self {
        let time = |e: &Option<Box<Estimate>>| e.as_ref().map_or_else(String::new, |e| latency(e.point));
        let asked_for = m.workload.pattern_is(Pattern::Random) || m.bytes_per_second.is_none();
        let iops = m.iops.as_ref().filter(|_| asked_for).map(Figure::operations);
        Self {
            iops,
            // The rate of random work follows from the IOPS: one interval is enough.
            rate: m.bytes_per_second.as_ref().map(|e| Figure { bare: iops.is_some(), ..Figure::rate(e) }),
            durable: m.durable_bytes_per_second.as_ref().filter(|_| !m.workload.sync.each()).map(Figure::rate),
            p50: time(&m.latency_ns.p50),
            p99: time(&m.latency_ns.p99),
            share: bus::share(record, m),
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
        let durable = self.durable.map(|figure| format!("{} including the final sync", figure.in_words()));
        let parts = [self.iops.map(|f| f.in_words()), self.rate.map(|f| f.in_words()), durable];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}
