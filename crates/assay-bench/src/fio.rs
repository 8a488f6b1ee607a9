//! Runs of fio on the same bare device.

use std::path::Path;
use std::process::Command;

use assay_lab::Missing;
use serde_json::Value;

use super::process::{Load, Op};
use crate::process::{Finished, finish, finish_watched};
use crate::report::Report;
use crate::series::median;

/// Warm-up in milliseconds: assay's own for runs of these lengths.
const RAMP_MS: u32 = 500;
/// Runs of each setting before the best one is taken.
const TRIALS: usize = 3;
/// Seconds of each.
const TRIAL_SECONDS: u32 = 1;

/// How fio does its I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    arguments: &'static [&'static str],
}

const fn uring(name: &'static str, arguments: &'static [&'static str]) -> Setting {
    Setting { name, arguments }
}

/// A ring with registered files and fixed buffers, by how many operations are submitted and how many completions are
/// waited for at a time. Which is the fastest depends on the device and on the machine.
pub(crate) const DEEP: &[Setting] = &[
    uring(
        "io_uring, batches of 32 and 1",
        &[
            "--ioengine=io_uring",
            "--registerfiles",
            "--fixedbufs",
            "--iodepth_batch=32",
            "--iodepth_batch_complete_min=1",
            "--iodepth_batch_complete_max=32",
        ],
    ),
    uring("io_uring, batches of 1 and 1", &["--ioengine=io_uring", "--registerfiles", "--fixedbufs"]),
    uring(
        "io_uring, batches of 8 and 8",
        &[
            "--ioengine=io_uring",
            "--registerfiles",
            "--fixedbufs",
            "--iodepth_batch=8",
            "--iodepth_batch_complete_min=8",
            "--iodepth_batch_complete_max=8",
        ],
    ),
    uring(
        "io_uring, batches of 16 and 16",
        &[
            "--ioengine=io_uring",
            "--registerfiles",
            "--fixedbufs",
            "--iodepth_batch=16",
            "--iodepth_batch_complete_min=16",
            "--iodepth_batch_complete_max=16",
        ],
    ),
];

/// A ring that takes what there is, and waits for one completion: where latencies are compared, not speeds.
pub(crate) const RING: Setting = DEEP[0];

/// One operation at a time, by a call that returns when it is done.
pub(crate) const SINGLE: &[Setting] = &[
    Setting { name: "psync", arguments: &["--ioengine=psync"] },
    Setting { name: "pvsync", arguments: &["--ioengine=pvsync"] },
    Setting { name: "pvsync2", arguments: &["--ioengine=pvsync2"] },
];

/// [`SINGLE`] where latencies are compared.
pub(crate) const PSYNC: Setting = SINGLE[0];

/// No I/O at all.
pub(crate) const NULL: Setting = Setting { name: "null", arguments: &["--ioengine=null"] };

/// What fio says of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FioOutput {
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

/// The setting with the largest `figure`, from short runs in alternation. The report names all of them.
pub(crate) fn best(
    report: &mut Report,
    settings: &[Setting],
    target: &Path,
    load: Load,
    unit: &str,
    figure: impl Fn(&(FioOutput, Finished)) -> f64,
) -> Setting {
    let load = Load { seconds: TRIAL_SECONDS, ..load };
    let mut seen: Vec<Vec<f64>> = vec![Vec::new(); settings.len()];
    for _ in 0..TRIALS {
        for (setting, values) in settings.iter().zip(&mut seen) {
            values.push(figure(&run(&mut command(target, *setting, load, false))));
        }
    }
    let mut medians: Vec<(Setting, f64)> =
        settings.iter().copied().zip(seen.into_iter().map(|values| median(values.into_iter()))).collect();
    medians.sort_by(|a, b| b.1.total_cmp(&a.1));
    let figure = |value: f64| if value < 1.0 { format!("{value:.5}") } else { format!("{value:.0}") };
    let words: Vec<String> =
        medians.iter().map(|(setting, value)| format!("{} {}", setting.name, figure(*value))).collect();
    report.note(format!("fio by its settings, the best first, in {unit}: {}", words.join("; ")));
    medians[0].0
}

/// One run; `ramp` leaves the first half second uncounted.
pub(crate) fn command(target: &Path, setting: Setting, load: Load, ramp: bool) -> Command {
    let mut command = Command::new("fio");
    let Load { op, depth, block_kib, seconds, span_mib, jobs } = load;
    match op {
        Op::Read => command.args(["--readonly", "--rw=randread"]),
        Op::Write => command.args(["--rw=randwrite"]),
    };
    command
        .args(["--name=r", "--direct=1", "--norandommap", "--time_based", "--group_reporting"])
        .args([format!("--bs={block_kib}k"), format!("--size={span_mib}m"), format!("--iodepth={depth}")])
        .args(["--output-format=json".to_owned(), format!("--filename={}", target.display())])
        .arg(format!("--numjobs={jobs}"))
        .args(setting.arguments);
    if ramp {
        command.args([format!("--ramp_time={RAMP_MS}ms"), format!("--runtime={}ms", seconds * 1000 - RAMP_MS)]);
    } else {
        command.arg(format!("--runtime={seconds}"));
    }
    command
}

/// Runs the command to its end and parses its output.
pub(crate) fn run(command: &mut Command) -> (FioOutput, Finished) {
    said(finish(command))
}

/// [`run`], with `watch` called as soon as there is a process.
pub(crate) fn run_watched(command: &mut Command, watch: impl FnOnce(u32)) -> (FioOutput, Finished) {
    said(finish_watched(command, watch))
}

/// The document that a run printed.
pub(crate) fn document(finished: &Finished) -> Value {
    // Notes may come before it.
    let start = finished.stdout.find('{').unwrap_or_else(|| panic!("fio: {}", finished.stderr));
    serde_json::from_str(&finished.stdout[start..]).unwrap()
}

fn said(finished: Finished) -> (FioOutput, Finished) {
    let job = &document(&finished)["jobs"][0];
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let side = if number(&job["read"]["total_ios"]) > 0.0 { &job["read"] } else { &job["write"] };
    let said = FioOutput {
        iops: number(&side["iops"]),
        operations: number(&side["total_ios"]),
        p50_ns: number(&side["clat_ns"]["percentile"]["50.000000"]),
        p99_ns: number(&side["clat_ns"]["percentile"]["99.000000"]),
    };
    (said, finished)
}
