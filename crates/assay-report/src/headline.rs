//! The few figures that stand for a record.

use assay_core::classes::Figures;
use assay_core::estimate::Estimate;
use assay_core::record::{Measurement, Record};
use assay_core::workload::{Op, Pattern};

use crate::figure::low_bound;

/// The workloads that people ask about first; `None` where the record has no figure.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Headline<'a> {
    pub(crate) sequential_read: Option<&'a Measurement>,
    pub(crate) sequential_write: Option<&'a Measurement>,
    pub(crate) random_read: Option<&'a Measurement>,
    pub(crate) random_write: Option<&'a Measurement>,
}

/// Block size that application performance classes are about (SD 5.1 and 6.0).
const CLASS_BLOCK: u64 = 4096;

impl<'a> Headline<'a> {
    pub(crate) fn of(record: &'a Record) -> Self {
        let sequential = |op| {
            with_figures(record, op, Pattern::Sequential).max_by_key(|m| (m.workload.block_bytes, m.workload.depth()))
        };
        let random = |op| {
            with_figures(record, op, Pattern::Random)
                .filter(|m| m.workload.block_bytes == CLASS_BLOCK)
                .max_by_key(|m| (m.workload.depth(), !m.workload.sync.each()))
        };
        Self {
            sequential_read: sequential(Op::Read),
            sequential_write: sequential(Op::Write),
            random_read: random(Op::Read),
            random_write: random(Op::Write),
        }
    }

    /// Nothing was measured of any of them.
    pub(crate) fn is_empty(&self) -> bool {
        [self.sequential_read, self.sequential_write, self.random_read, self.random_write].iter().all(Option::is_none)
    }

    /// The figures that classes are judged by: at least this much (low ends of the intervals).
    pub(crate) fn at_least(&self) -> Figures {
        self.figures(low_bound)
    }

    /// The same by the points themselves.
    pub(crate) fn at_point(&self) -> Figures {
        self.figures(|e| e.point)
    }

    fn figures(&self, pick: fn(&Estimate) -> f64) -> Figures {
        Figures {
            sequential_write: self.sequential_write.and_then(durable_or_acknowledged).map(pick),
            random_read: self.random_read.and_then(|m| m.iops.as_ref()).map(pick),
            random_write: self.random_write.and_then(|m| m.iops.as_ref()).map(pick),
        }
    }
}

/// The rate that counts for a write: durable where it was measured.
pub(crate) fn durable_or_acknowledged(measurement: &Measurement) -> Option<&Estimate> {
    measurement.durable_bytes_per_second.as_ref().or(measurement.bytes_per_second.as_ref())
}

fn with_figures(record: &Record, op: Op, pattern: Pattern) -> impl Iterator<Item = &Measurement> {
    record
        .measurements
        .iter()
        .filter(move |m| m.workload.op == op && m.workload.pattern == pattern)
        .filter(|m| m.bytes_per_second.is_some() || m.iops.is_some())
}
