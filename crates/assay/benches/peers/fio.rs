//! Runs of fio on the same bare device.

use std::path::Path;
use std::process::Command;

use assay_lab::Missing;
use serde_json::Value;

use crate::assay::Load;
use crate::process::{Finished, finish, finish_watched};

/// Warm-up in milliseconds: assay's own for runs of these lengths.
const RAMP_MS: u32 = 500;

/// How fio does its I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Its best: a ring with registered files and fixed buffers, submitting and reaping in batches.
    Uring,
    /// `pread`, one at a time.
    Psync,
    /// No I/O at all.
    Null,
}

impl Engine {
    const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Uring => &[
                "--ioengine=io_uring",
                "--registerfiles",
                "--fixedbufs",
                "--iodepth_batch=32",
                "--iodepth_batch_complete_min=1",
                "--iodepth_batch_complete_max=32",
            ],
            Self::Psync => &["--ioengine=psync"],
            Self::Null => &["--ioengine=null"],
        }
    }
}

/// What fio says of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Said {
    pub(crate) iops: f64,
    /// Operations that it counted.
    pub(crate) operations: f64,
    /// Median of the completion latency in nanoseconds.
    pub(crate) p50_ns: f64,
    /// 99th percentile of the completion latency in nanoseconds.
    pub(crate) p99_ns: f64,
}

/// Whether there is one to compare with.
pub(crate) fn present() -> Result<(), Missing> {
    Command::new("fio").arg("--version").output().map(drop).map_err(|_| Missing("needs fio".to_owned()))
}

/// One job; `ramp` leaves the first half second uncounted.
pub(crate) fn command(target: &Path, engine: Engine, load: Load, ramp: bool) -> Command {
    let mut command = Command::new("fio");
    let Load { depth, block_kib, seconds, span_mib } = load;
    command
        .args(["--name=r", "--readonly", "--rw=randread", "--direct=1", "--norandommap", "--time_based"])
        .args([format!("--bs={block_kib}k"), format!("--size={span_mib}m"), format!("--iodepth={depth}")])
        .args(["--output-format=json".to_owned(), format!("--filename={}", target.display())])
        .args(engine.arguments());
    if ramp {
        command.args([format!("--ramp_time={RAMP_MS}ms"), format!("--runtime={}ms", seconds * 1000 - RAMP_MS)]);
    } else {
        command.arg(format!("--runtime={seconds}"));
    }
    command
}

/// Runs to the end and reads what it says.
pub(crate) fn run(command: &mut Command) -> (Said, Finished) {
    said(finish(command))
}

/// [`run`], with `watch` called as soon as there is a process.
pub(crate) fn run_watched(command: &mut Command, watch: impl FnOnce(u32)) -> (Said, Finished) {
    said(finish_watched(command, watch))
}

fn said(finished: Finished) -> (Said, Finished) {
    // Notes may come before the document.
    let start = finished.stdout.find('{').unwrap_or_else(|| panic!("fio: {}", finished.stderr));
    let report: Value = serde_json::from_str(&finished.stdout[start..]).unwrap();
    let read = &report["jobs"][0]["read"];
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let said = Said {
        iops: number(&read["iops"]),
        operations: number(&read["total_ios"]),
        p50_ns: number(&read["clat_ns"]["percentile"]["50.000000"]),
        p99_ns: number(&read["clat_ns"]["percentile"]["99.000000"]),
    };
    (said, finished)
}
