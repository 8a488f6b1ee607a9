//! The score of PiBenchmarks, for comparison with published ones.
//!
//! `Storage.sh` of TheRemote/PiBenchmarks computes it with `bc` at scale 0, which cuts off the
//! fraction. Its weights are arbitrary and scores of different hosts do not compare.

use assay_stats::decide::{Refusal, positive};

/// What one run of that script measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PiRun {
    /// `dd` write in MB/s as it prints them. The script also takes "1.1 GB/s" for 1.1.
    pub dd_write_megabytes: f64,
    /// `fio` random read of 4 KiB in IOPS.
    pub fio_read_iops: f64,
    /// `fio` random write of 4 KiB in IOPS.
    pub fio_write_iops: f64,
    /// `iozone` read of 4 KiB records in KiB/s.
    pub iozone_read: f64,
    /// `iozone` write in KiB/s.
    pub iozone_write: f64,
    /// `iozone` random read in KiB/s.
    pub iozone_random_read: f64,
    /// `iozone` random write in KiB/s.
    pub iozone_random_write: f64,
}

/// Weights of the terms of a score, all in KiB/s and in the order of [`PiRun::kibibytes`].
pub(super) const WEIGHTS: [f64; 7] = [1.0, 1.0, 2.5, 1.0, 1.0, 4.0, 10.0];

impl PiRun {
    /// The seven figures in KiB/s, as the score takes them.
    #[must_use]
    pub(super) fn kibibytes(&self) -> [f64; 7] {
        [
            1024.0 * self.dd_write_megabytes,
            4.0 * self.fio_read_iops,
            4.0 * self.fio_write_iops,
            self.iozone_read,
            self.iozone_write,
            self.iozone_random_read,
            self.iozone_random_write,
        ]
    }
}

/// The formula without cutting off the fraction: for means over runs, which are not what the
/// script prints.
///
/// # Errors
/// A figure that is not positive and finite.
pub(super) fn pi_value(run: &PiRun) -> Result<f64, Refusal> {
    let mut sum = 0.0;
    for (value, weight) in run.kibibytes().into_iter().zip(WEIGHTS) {
        sum += weight * positive("a figure of the score", value)?;
    }
    Ok(sum / 100.0)
}
