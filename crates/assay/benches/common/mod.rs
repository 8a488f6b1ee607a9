//! What a command of the program takes.
#![allow(missing_docs, reason = "a part of programs for developers")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use assay_core::histogram::{Histogram, StoredHistogram};
use assay_core::outcome::Outcome;
use assay_core::record::{Repeat, Sample};

/// A second in nanoseconds.
pub const SECOND: u64 = 1_000_000_000;

/// Whether cargo only builds the benchmark, and so runs it with `--test`; with `--bench` it is to measure.
pub fn only_built() -> bool {
    std::env::args().any(|a| a == "--test")
}

/// Wall and processor time in seconds, and the largest resident set in bytes, of a command of assay.
#[allow(clippy::zombie_processes)] // `wait4` waits for it, and tells its usage too
pub fn program(data: &Path, arguments: &[&str]) -> (f64, f64, f64) {
    let begun = Instant::now();
    let mut program = Command::new(env!("CARGO_BIN_EXE_assay"));
    program.args(arguments).env("ASSAY_DATA", data).stdout(Stdio::null());
    let child = program.spawn().unwrap();
    let mut status = 0;
    // SAFETY: a `rusage` is plain numbers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let id = libc::pid_t::try_from(child.id()).unwrap();
    // SAFETY: both pointers are to values that outlive the call; the child was not waited for yet.
    let waited = unsafe { libc::wait4(id, &raw mut status, 0, &raw mut usage) };
    assert_eq!((waited, status), (id, 0), "wait4: {}", std::io::Error::last_os_error());
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    // getrusage(2): ru_maxrss is in KiB.
    (begun.elapsed().as_secs_f64(), seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss as f64 * 1024.0)
}

/// Numbers that repeat from run to run.
pub struct Dice(pub u64);

impl Dice {
    /// Between -1 and 1 (Lehmer's generator).
    pub fn throw(&mut self) -> f64 {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        self.0 as f64 / 2_147_483_647.0 * 2.0 - 1.0
    }
}

/// A repeat of so many seconds, with a sample for each of them.
pub fn lasted(seconds: u64, block_bytes: u64, iops: f64, histogram: &Histogram) -> Repeat {
    let operations = (iops * seconds as f64) as u64;
    let sample = |second: u64| Sample {
        t_ns: second * SECOND,
        interval_ns: SECOND,
        operations: iops as u64,
        bytes: iops as u64 * block_bytes,
        p50_ns: Some(1e9 / iops),
        p99_ns: Some(3e9 / iops),
    };
    Repeat {
        elapsed_ns: seconds * SECOND,
        operations,
        bytes: operations * block_bytes,
        iops,
        bytes_per_second: iops * block_bytes as f64,
        proof_ratio: Some(1.0),
        samples: (1..=seconds).map(sample).collect(),
        histogram: StoredHistogram::from(histogram).into(),
        first_done_ns: seconds * SECOND,
        last_done_ns: seconds * SECOND,
        ..Repeat::empty("2026-11-21T06:31:07Z", Outcome::Completed)
    }
}
