//! Whether the bytes crossed the device.

use assay_core::finding::Finding;
use assay_core::medium::Medium;
use assay_core::outcome::Outcome;
use assay_core::record::Measurement;
use assay_core::workload::Op;
use assay_device::{Counters, ProofMeter, Sysroot, TargetInfo};
use assay_engine::RepeatReport;

/// Below this share of the bytes issued, they were served from a cache.
const LEAST: f64 = 0.9;
/// Above this, something else used the device.
const MOST: f64 = 1.1;
/// Less than this is the file system's own business (a journal commit, a directory entry).
const METADATA_BYTES: f64 = 1_048_576.0;

/// File systems that write a block to another place each time, and what leads to it: on btrfs random writes of
/// 4 KiB move 1.1 times the bytes issued and more.
const COPY_ON_WRITE: [&str; 5] = ["bcachefs", "btrfs", "f2fs", "nilfs2", "zfs"];

/// Whether a file system adds to each write by itself.
pub(crate) fn copies_on_write(medium: &Medium) -> bool {
    medium.filesystem.as_deref().is_some_and(|name| COPY_ON_WRITE.contains(&name))
}

/// What the device's own counters say of one repeat or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Proof {
    pub(crate) issued: u64,
    pub(crate) crossed: u64,
}

impl Proof {
    /// Bytes between two readings against those of all workloads that ran meanwhile, in the directions of one of them.
    pub(crate) fn between(before: &Counters, after: &Counters, reports: &[RepeatReport], of: &RepeatReport) -> Self {
        let read = after.read_bytes.saturating_sub(before.read_bytes);
        let written = after.written_bytes.saturating_sub(before.written_bytes);
        let issued = |bytes: fn(&RepeatReport) -> u64| match bytes(of) {
            0 => 0,
            _ => reports.iter().map(bytes).sum::<u64>(),
        };
        let (issued_reads, issued_writes) = (issued(|r| r.read_bytes), issued(|r| r.written_bytes));
        Self {
            issued: issued_reads + issued_writes,
            // Only directions that were issued count: a background write does not prove a read.
            crossed: if issued_reads > 0 { read } else { 0 } + if issued_writes > 0 { written } else { 0 },
        }
    }

    /// What the completed repeats of a run that goes on came to.
    pub(crate) fn from_measurement(measurement: &Measurement) -> Self {
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

    /// What the ratio means. Where the file system `adds` to each write, only too little is judged: with a sync after each
    /// one the journal writes too, and one that copies on write moves what leads to the block.
    pub(crate) fn finding(&self, op: Op, adds: bool) -> Option<Finding> {
        let proof_ratio = self.ratio()?;
        let excess = self.crossed as f64 - self.issued as f64;
        if proof_ratio < LEAST {
            Some(Finding::ServedFromCache { proof_ratio })
        } else if proof_ratio > MOST && excess > METADATA_BYTES && !(adds && op != Op::Read) {
            Some(Finding::OthersUsedDevice { proof_ratio })
        } else {
            None
        }
    }
}

/// What proves that bytes reach a medium, or the finding that nothing does: no device is known there, or its counters
/// cannot be read, as drivers of Windows may refuse it.
pub(crate) fn meter(sysroot: &Sysroot, seen: &TargetInfo) -> Result<ProofMeter, Finding> {
    let none = |reason| Finding::NoProof { medium: seen.medium.kind, reason };
    if seen.devices.is_empty() {
        return Err(none(None));
    }
    let opened = ProofMeter::open(sysroot, &seen.devices).and_then(|meter| meter.read().map(|_| meter));
    opened.map_err(|error| none(Some(error.what())))
}

/// Reads the counters, if there are any.
pub(crate) fn read(meter: Option<&ProofMeter>) -> Option<Counters> {
    meter.and_then(|meter| meter.read().ok())
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    #[cfg(not(windows))]
    use std::path::Path;

    #[cfg(not(windows))]
    use assay_device::{Seen, What, look_by_dev};
    use assay_engine::{Control, EngineKind, RepeatSpec, run_repeat};

    use super::*;

    const MIB: u64 = 1 << 20;

    fn proof(issued: u64, crossed: u64) -> Proof {
        Proof { issued, crossed }
    }

    /// A tree of the kernel, which Windows has not, with one disk, whose counters are what `stat` says, if there are any.
    #[cfg(not(windows))]
    fn disk_with(stat: Option<&str>) -> (tempfile::TempDir, Result<ProofMeter, Finding>) {
        let tree = tempfile::tempdir().unwrap();
        let dir = tree.path().join("sys/class/block/sda");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("dev"), "8:0\n").unwrap();
        if let Some(stat) = stat {
            std::fs::write(dir.join("stat"), stat).unwrap();
        }
        let sysroot = Sysroot::at(tree.path());
        let seen = Seen { what: What::Directory, dev: (8, 0) };
        let target = look_by_dev(&sysroot, Path::new("/mnt/x"), seen);
        assert_eq!(target.devices, ["sda"]);
        let meter = meter(&sysroot, &target);
        (tree, meter)
    }

    #[cfg(not(windows))]
    #[test]
    fn that_counters_of_a_device_cannot_be_read_is_found_with_the_reason() {
        assert_eq!(disk_with(Some("1 0 8 1 2 0 16 3 0 4 5")).1.unwrap().read().unwrap().read_bytes, 8 * 512);
        for (stat, why) in [(None, "no such file"), (Some("all wrong"), "cannot be read")] {
            let finding = disk_with(stat).1.unwrap_err();
            let Finding::NoProof { reason: Some(reason), .. } = &finding else { panic!("{finding:?}") };
            assert!(reason.contains("sda/stat") && reason.contains(why) && !reason.contains(';'), "{reason}");
            assert!(finding.cause().contains(reason), "{}", finding.cause());
        }
        let empty = tempfile::tempdir().unwrap();
        let sysroot = Sysroot::at(empty.path());
        let target = look_by_dev(&sysroot, Path::new("/mnt/x"), Seen { what: What::Directory, dev: (8, 0) });
        assert!(matches!(meter(&sysroot, &target), Err(Finding::NoProof { reason: None, .. })));
        let known = crate::access::known_findings(&sysroot, &target);
        assert!(known.iter().any(|finding| matches!(finding, Finding::NoProof { .. })), "{known:?}");
    }

    #[test]
    fn less_than_nine_tenths_is_a_cache_and_more_than_eleven_another_user() {
        let of = |crossed| proof(1000 * MIB, crossed * MIB).finding(Op::Read, false);
        assert!(matches!(of(0), Some(Finding::ServedFromCache { proof_ratio: 0.0 })));
        assert!(matches!(of(899), Some(Finding::ServedFromCache { .. })));
        for crossed in [900, 1000, 1100] {
            assert_eq!(of(crossed), None, "{crossed}");
        }
        assert!(matches!(of(1101), Some(Finding::OthersUsedDevice { .. })));
        assert_eq!(proof(0, 0).finding(Op::Read, false), None);
    }

    #[test]
    fn a_journal_is_not_another_user() {
        assert_eq!(proof(MIB, 2 * MIB).finding(Op::Write, false), None, "a journal commit");
        assert!(matches!(proof(MIB, 2 * MIB + 1).finding(Op::Write, false), Some(Finding::OthersUsedDevice { .. })));
        // One for each write, where each is synced; a read has none, and too little stays too little.
        assert_eq!(proof(10 * MIB, 30 * MIB).finding(Op::Write, true), None);
        assert_eq!(proof(10 * MIB, 30 * MIB).finding(Op::Mixed, true), None);
        assert!(proof(10 * MIB, 30 * MIB).finding(Op::Read, true).is_some());
        assert!(matches!(proof(10 * MIB, 8 * MIB).finding(Op::Write, true), Some(Finding::ServedFromCache { .. })));
    }

    /// Its own traffic would be told as that of others otherwise, on a slow card as several times the bytes.
    #[test]
    fn a_file_system_that_copies_on_write_is_not_another_user() {
        let on = |name: &str| copies_on_write(&Medium { filesystem: Some(name.to_owned()), ..Medium::default() });
        assert!(on("btrfs") && !on("ext4") && !copies_on_write(&Medium::default()));
    }

    /// What others write in the background does not prove that a read reached the medium, nor the other way.
    #[test]
    fn only_the_direction_that_was_issued_counts() {
        let mut report = nothing();
        let before = Counters { read_bytes: 7, written_bytes: 9, ..Counters::default() };
        let after = Counters { read_bytes: 7 + 10 * MIB, written_bytes: 9 + 50 * MIB, ..Counters::default() };
        for (read, written, crossed) in [(20, 0, 10), (0, 20, 50), (20, 20, 60)] {
            (report.read_bytes, report.written_bytes) = (read * MIB, written * MIB);
            let of = Proof::between(&before, &after, std::slice::from_ref(&report), &report);
            assert_eq!(of, proof((read + written) * MIB, crossed * MIB));
        }
    }

    /// The report of a repeat that could not be.
    fn nothing() -> RepeatReport {
        let workload = crate::evidence::measurement(&[]).workload;
        let spec = RepeatSpec {
            workload: (*workload).clone(),
            target: None,
            seed: 0,
            repeat: 0,
            repeats: 1,
            hang_after: std::time::Duration::from_secs(1),
            sample_every: std::time::Duration::from_secs(1),
            wait_for: None,
            begin_at_ns: None,
        };
        run_repeat(EngineKind::Sync, &spec, &Control::default(), &mut |_| ControlFlow::Continue(()))
    }
}
