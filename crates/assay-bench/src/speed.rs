//! Operations per second, and processor time of each, on devices so fast that the instrument shows.

use std::path::Path;

use assay_lab::{FilledDevice, Missing};

use super::cards::Zram;
use super::process::{AssayRun, Load, Op};
use super::report::Target;
use crate::fio::{self, FioOutput, Setting};
use crate::process::Finished;
use crate::report::Report;
use crate::series::{Figure, LOOKS, pairs};

/// Size of the devices; all of it is read.
pub(crate) const DEVICE_BYTES: u64 = 256 << 20;
/// Seconds of each side of a pair: short ones in turn, as the speed of a shared machine drifts.
const SPEED_SECONDS: u32 = 2;
/// This many times fio's operations per second.
const FASTER: Target = Target::AtLeast(1.05);
/// Where both wait for the same work of the kernel, and make their data.
const AS_FAST: Target = Target::AtLeast(1.0);

const DEEP: Load = Load::random_4k(32, SPEED_SECONDS);
const LOOP: &str = "bare loop device in memory";
const ZRAM: &str = "zram, filled";

pub(crate) fn loop_deep(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    deep(report, device.path(), LOOP, DEEP, FASTER)
}

pub(crate) fn loop_two_jobs(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    deep(report, device.path(), LOOP, Load { jobs: 2, ..DEEP }, FASTER)
}

/// fio writes the same data repeatedly unless its buffers are refilled; assay writes different data to each block.
pub(crate) fn loop_writes(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    deep(report, device.path(), LOOP, Load { op: Op::Write, ..DEEP }, AS_FAST)
}

pub(crate) fn loop_single(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    single(report, device.path(), LOOP)
}

pub(crate) fn zram_deep(report: &mut Report) -> Result<(), Missing> {
    let device = Zram::filled(DEVICE_BYTES)?;
    deep(report, device.path(), ZRAM, DEEP, FASTER)
}

pub(crate) fn zram_single(report: &mut Report) -> Result<(), Missing> {
    let device = Zram::filled(DEVICE_BYTES)?;
    single(report, device.path(), ZRAM)
}

fn deep(report: &mut Report, device: &Path, medium: &str, load: Load, target: Target) -> Result<(), Missing> {
    compare_speed(report, device, ("uring", fio::DEEP), load, target, &format!("io_uring, {medium}"))
}

fn single(report: &mut Report, device: &Path, medium: &str) -> Result<(), Missing> {
    let load = Load::random_4k(1, SPEED_SECONDS);
    compare_speed(report, device, ("sync", fio::SINGLE), load, FASTER, &format!("one call at a time, {medium}"))
}

fn compare_speed(
    report: &mut Report,
    device: &Path,
    (engine, settings): (&'static str, &[Setting]),
    load: Load,
    target: Target,
    how: &str,
) -> Result<(), Missing> {
    fio::present()?;
    let setting = fio::best(report, settings, device, load, "IOPS", |(said, _)| said.iops);
    let ours = AssayRun::new(device, engine, load);
    pairs(
        report,
        LOOKS,
        || ours.finish().0.repeats[0].iops,
        || fio::run(&mut fio::command(device, setting, load, true)).0.iops,
        &[Figure::ratio(format!("{}, {how}: IOPS", load.title()), |iops| *iops, |iops| format!("{iops:.0}"), target)],
    );
    Ok(())
}

// Processor time in user space per operation.
//
// It is that of the whole process with its children (`wait4`), nothing subtracted: start-up, the
// calibration and the reports of both are in it. Both run equally long and count every operation
// from the first on. The kernel splits processor time into user and system by the ticks of its
// clock, 250 a second on many, so that single runs scatter.

/// Long enough that start-up is little.
const CPU_SECONDS: u32 = 4;

pub(crate) fn processor_time_deep(report: &mut Report) -> Result<(), Missing> {
    compare_processor_time(report, ("uring", fio::DEEP), 32, "io_uring", Target::AtMost(0.25))
}

pub(crate) fn processor_time_single(report: &mut Report) -> Result<(), Missing> {
    compare_processor_time(report, ("sync", fio::SINGLE), 1, "one call at a time", Target::AtMost(0.5))
}

fn compare_processor_time(
    report: &mut Report,
    (engine, settings): (&'static str, &[Setting]),
    depth: u32,
    how: &str,
    target: Target,
) -> Result<(), Missing> {
    fio::present()?;
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let load = Load::random_4k(depth, CPU_SECONDS);
    let cost = |(said, finished): &(FioOutput, Finished)| finished.user_seconds * 1e9 / said.operations;
    // The least time is the best.
    let unit = "operations per ns of user CPU";
    let setting = fio::best(report, settings, device.path(), load, unit, |run| 1.0 / cost(run));
    let ours = AssayRun::new(device.path(), engine, load);
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
