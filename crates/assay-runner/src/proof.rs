//! Whether the bytes crossed the device.

use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::record::Measurement;
use assay_core::workload::Op;
use assay_device::{Counters, ProofMeter};
use assay_engine::RepeatReport;

/// Below this share of the bytes issued, they were served from a cache.
const LEAST: f64 = 0.9;
/// Above this, something else used the device.
const MOST: f64 = 1.1;
/// Less than this is the file system's own business (a journal commit, a directory entry).
const METADATA_BYTES: f64 = 1_048_576.0;

/// What the device's own counters say of one repeat or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Proof {
    pub(crate) issued: u64,
    pub(crate) crossed: u64,
}

impl Proof {
    /// Bytes between two readings against those of the report.
    pub(crate) fn between(before: &Counters, after: &Counters, report: &RepeatReport) -> Self {
        let read = after.read_bytes.saturating_sub(before.read_bytes);
        let written = after.written_bytes.saturating_sub(before.written_bytes);
        Self {
            issued: report.read_bytes + report.written_bytes,
            // Only directions that were issued count: a background write does not prove a read.
            crossed: if report.read_bytes > 0 { read } else { 0 } + if report.written_bytes > 0 { written } else { 0 },
        }
    }

    /// What the completed repeats of a run that goes on came to.
    pub(crate) fn of(measurement: &Measurement) -> Self {
        let completed = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed);
        let mut sum = Self::default();
        for repeat in completed {
            if let Some(ratio) = repeat.proof_ratio {
                let crossed = (ratio * repeat.issued_bytes as f64).round() as u64;
                sum.add(Self { issued: repeat.issued_bytes, crossed });
            }
        }
        sum
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.issued += other.issued;
        self.crossed += other.crossed;
    }

    pub(crate) fn ratio(&self) -> Option<f64> {
        (self.issued > 0).then(|| self.crossed as f64 / self.issued as f64)
    }

    /// What the ratio means. With a sync after every write the journal adds writes of its own,
    /// so only too little is judged there.
    pub(crate) fn finding(&self, op: Op, each_synced: bool) -> Option<Finding> {
        let proof_ratio = self.ratio()?;
        let excess = self.crossed as f64 - self.issued as f64;
        if proof_ratio < LEAST {
            Some(Finding::ServedFromCache { proof_ratio })
        } else if proof_ratio > MOST && excess > METADATA_BYTES && !(each_synced && op != Op::Read) {
            Some(Finding::OthersUsedDevice { proof_ratio })
        } else {
            None
        }
    }
}

/// Reads the counters, if there are any.
pub(crate) fn read(meter: Option<&ProofMeter>) -> Option<Counters> {
    meter.and_then(|meter| meter.read().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_is_a_cache_and_too_much_is_somebody_else() {
        let proof = |issued, crossed| Proof { issued, crossed };
        assert_eq!(proof(100 << 20, 100 << 20).finding(Op::Read, false), None);
        assert!(matches!(proof(100 << 20, 5 << 20).finding(Op::Read, false), Some(Finding::ServedFromCache { .. })));
        assert!(matches!(proof(100 << 20, 150 << 20).finding(Op::Read, false), Some(Finding::OthersUsedDevice { .. })));
        assert_eq!(proof(100 << 10, 150 << 10).finding(Op::Write, false), None, "a journal commit");
        assert_eq!(proof(10 << 20, 30 << 20).finding(Op::Write, true), None, "a journal commit for each write");
        assert_eq!(proof(0, 0).finding(Op::Read, false), None);
    }
}
