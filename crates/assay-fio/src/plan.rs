//! The job file for one repeat.

use std::fmt::Write as _;
use std::time::Duration;

use assay_core::workload::{Op, Pattern, Workload, fio_rw};

use crate::export::{host_options, priority_options};
use crate::fio::Fio;

/// Name of the section that warms up.
pub(crate) const RAMP: &str = "ramp";
/// Name of the section that counts.
pub(crate) const MEASURE: &str = "measure";

/// One workload as fio gets it.
///
/// The warm-up is a job of its own and not `ramp_time`: fio forgets what was moved in a ramp, and
/// the proof and the write budget need every byte. A sequential warm-up runs in the second half
/// of the region, so that the measured part does not read what the medium has just cached.
pub(crate) struct Plan<'a> {
    pub(crate) workload: &'a Workload,
    /// Path under which fio opens the target.
    pub(crate) path: &'a str,
    pub(crate) fio: &'a Fio,
    /// Whether memory may be locked for fixed buffers without a limit.
    pub(crate) may_lock: bool,
}

impl Plan<'_> {
    /// Threads: synced writes are one in flight each, deeper queues of them are made by threads.
    pub(crate) fn jobs(&self) -> u64 {
        let w = self.workload;
        if w.sync.each() { w.depth().max(1) } else { u64::from(w.jobs.max(1)) }
    }

    fn engine(&self) -> (&'static str, u32) {
        let w = self.workload;
        let queues = w.queue_depth > 1 || !w.priorities.shares.is_empty();
        if !queues || w.sync.each() { ("psync", 1) } else { (self.fio.asynchronous, w.queue_depth) }
    }

    /// The sizes of operations.
    fn sizes(&self) -> String {
        let w = self.workload;
        match w.blocks.is_empty() {
            true => format!("bs={}\n", w.block_bytes),
            false => format!("bssplit={}\n", w.blocks.to_fio()),
        }
    }

    /// The job file.
    pub(crate) fn text(&self) -> String {
        let w = self.workload;
        let (engine, depth) = self.engine();
        let rw = fio_rw(w.op, w.pattern);
        let mut text = format!(
            "[global]\nfilename={}\nunlink=0\nallow_file_create=0\nfallocate=none\nthread\nexitall_on_error\n\
             rw={rw}\n{}ioengine={engine}\niodepth={depth}\nnumjobs={}\ndirect={}\n\
             randrepeat=0\nnorandommap\nlat_percentiles=1\nclat_percentiles=0\n",
            self.path,
            self.sizes(),
            self.jobs(),
            u8::from(w.direct),
        );
        if w.writes() {
            text.push_str("refill_buffers\n");
            match w.sync {
                assay_core::workload::Sync::End => {}
                assay_core::workload::Sync::Fsync => text.push_str("fsync=1\n"),
                assay_core::workload::Sync::Fdatasync => text.push_str("fdatasync=1\n"),
            }
        }
        if let (Op::Mixed, Some(percent)) = (w.op, w.read_percent) {
            let _ = writeln!(text, "rwmixread={percent}");
        }
        if !w.distribution.is_uniform() {
            let _ = writeln!(text, "random_distribution={}", w.distribution.to_fio());
        }
        text.push_str(&host_options(&w.cpus, false));
        text.push_str(&priority_options(w));
        if engine == "io_uring" {
            text.push_str("registerfiles\n");
            if self.may_lock {
                text.push_str("fixedbufs\n");
            }
        }
        let ramp = Duration::from_nanos(w.stop.ramp_ns);
        let length = Duration::from_nanos(w.stop.duration_ns);
        let share = ramp.as_secs_f64() / (ramp + length).as_secs_f64().max(1e-9);
        let quota = |share: f64| w.stop.max_bytes.map(|bytes| (bytes as f64 * share) as u64);
        if !ramp.is_zero() {
            let _ = writeln!(text, "[{RAMP}]");
            self.region(&mut text, true);
            self.stop(&mut text, ramp, quota(share));
        }
        let _ = writeln!(text, "[{MEASURE}]\nstonewall");
        self.region(&mut text, false);
        self.stop(&mut text, length, quota(1.0 - share));
        text
    }

    /// Which part of the target: all of it for random blocks, a part for each job's stream.
    fn region(&self, text: &mut String, second_half: bool) {
        let w = self.workload;
        let block = w.largest_block().max(1);
        if w.pattern == Pattern::Random {
            let _ = writeln!(text, "size={}", w.span_bytes);
            return;
        }
        let blocks = (w.span_bytes / block / self.jobs()).max(1);
        let skipped = if second_half && blocks > 1 { blocks / 2 } else { 0 };
        if self.jobs() > 1 {
            let _ = writeln!(text, "offset_increment={}", blocks * block);
        }
        let _ = writeln!(text, "offset={}\nsize={}", skipped * block, (blocks - skipped) * block);
    }

    fn stop(&self, text: &mut String, length: Duration, quota: Option<u64>) {
        let _ = writeln!(text, "runtime={}ms", length.as_millis().max(1));
        match quota {
            // With time_based fio would write on.
            Some(bytes) => {
                let block = self.workload.largest_block().max(1);
                let _ = writeln!(text, "io_size={}", (bytes / block / self.jobs()).max(1) * block);
            }
            None => text.push_str("time_based\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::workload::{Stop, Sync};

    fn workload() -> Workload {
        Workload {
            queue_depth: 8,
            jobs: 4,
            span_bytes: 64 << 20,
            stop: Stop { ramp_ns: 500_000_000, duration_ns: 1_500_000_000, max_bytes: Some(80 << 20) },
            ..Workload::new("w", Op::Write, Pattern::Sequential, 1 << 20)
        }
    }

    fn text(workload: &Workload) -> String {
        let fio = Fio { version: "fio-3.33".into(), asynchronous: "io_uring" };
        Plan { workload, path: "/proc/1/fd/3", fio: &fio, may_lock: true }.text()
    }

    #[test]
    fn jobs_of_a_stream_have_regions_and_their_share_of_the_bytes() {
        let text = text(&workload());
        let (ramp, measure) = text.split_once("[measure]").unwrap();
        assert!(
            ramp.contains("offset_increment=16777216\noffset=8388608\nsize=8388608\nruntime=500ms\nio_size=5242880")
        );
        assert!(
            measure.contains("offset_increment=16777216\noffset=0\nsize=16777216\nruntime=1500ms\nio_size=15728640")
        );
        assert!(!text.contains("time_based") && text.contains("refill_buffers") && text.contains("fixedbufs"));
    }

    #[test]
    fn synced_writes_are_one_in_flight_and_a_depth_is_made_by_jobs() {
        let w = Workload {
            sync: Sync::Fsync,
            pattern: Pattern::Random,
            stop: Stop { ramp_ns: 0, duration_ns: 1_000_000_000, max_bytes: None },
            ..workload()
        };
        let text = text(&w);
        assert!(text.contains("ioengine=psync\niodepth=1\nnumjobs=32\n") && text.contains("fsync=1\n"), "{text}");
        assert!(!text.contains("[ramp]") && text.contains("time_based"));
    }
}
