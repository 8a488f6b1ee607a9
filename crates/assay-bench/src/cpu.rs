//! Processor time in user space per operation.
//!
//! It is that of the whole process with its children (`wait4`), nothing subtracted: start-up, the
//! calibration and the reports of both are in it. Both run equally long and count every operation
//! from the first on. The kernel splits processor time into user and system by the ticks of its
//! clock, 250 a second on many, so that single runs scatter.

use assay_lab::{FilledDevice, Missing};

use crate::assay::{Load, Run};
use crate::fio::{self, FioOutput, Setting};
use crate::judge::Target;
use crate::process::Finished;
use crate::report::Report;
use crate::series::{Figure, LOOKS, pairs};
use crate::speed::DEVICE_BYTES;

/// Long enough that start-up is little.
const SECONDS: u32 = 4;

pub(crate) fn deep(report: &mut Report) -> Result<(), Missing> {
    compare(report, ("uring", fio::DEEP), 32, "io_uring", Target::AtMost(0.25))
}

pub(crate) fn single(report: &mut Report) -> Result<(), Missing> {
    compare(report, ("sync", fio::SINGLE), 1, "one call at a time", Target::AtMost(0.5))
}

fn compare(
    report: &mut Report,
    (engine, settings): (&'static str, &[Setting]),
    depth: u32,
    how: &str,
    target: Target,
) -> Result<(), Missing> {
    fio::present()?;
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let load = Load::random_4k(depth, SECONDS);
    let cost = |(said, finished): &(FioOutput, Finished)| finished.user_seconds * 1e9 / said.operations;
    // The least time is the best.
    let unit = "operations per ns of user CPU";
    let setting = fio::best(report, settings, device.path(), load, unit, |run| 1.0 / cost(run));
    let ours = Run::new(device.path(), engine, load);
    pairs(
        report,
        LOOKS,
        || {
            let (measurement, finished) = ours.finish();
            // Bytes from the first to the last, warm-up included, unlike the operations of the window.
            let operations = measurement.repeats[0].issued_bytes as f64 / measurement.workload.block_bytes as f64;
            finished.user_seconds * 1e9 / operations
        },
        || cost(&fio::run(&mut fio::command(device.path(), setting, load, false))),
        &[Figure::ratio(
            format!("{}, {how}, bare loop device: user CPU per operation", load.title()),
            |ns| *ns,
            |ns| format!("{ns:.0} ns"),
            target,
        )],
    );
    Ok(())
}
