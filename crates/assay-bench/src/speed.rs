//! Operations per second on devices so fast that the instrument shows.

use std::path::Path;

use assay_lab::{FilledDevice, Missing};

use crate::assay::{Load, Op, Run};
use crate::fio::{self, Setting};
use crate::judge::Target;
use crate::report::Report;
use crate::series::{Figure, LOOKS, pairs};
use crate::zram::Zram;

/// Size of the devices; all of it is read.
pub(crate) const DEVICE_BYTES: u64 = 256 << 20;
/// Seconds of each side of a pair: short ones in turn, as the speed of a shared machine drifts.
const SECONDS: u32 = 2;
/// This many times fio's operations per second.
const FASTER: Target = Target::AtLeast(1.05);
/// Where both wait for the same work of the kernel, and make their data.
const AS_FAST: Target = Target::AtLeast(1.0);

const DEEP: Load = Load::random_4k(32, SECONDS);
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
    compare(report, device, ("uring", fio::DEEP), load, target, &format!("io_uring, {medium}"))
}

fn single(report: &mut Report, device: &Path, medium: &str) -> Result<(), Missing> {
    let load = Load::random_4k(1, SECONDS);
    compare(report, device, ("sync", fio::SINGLE), load, FASTER, &format!("one call at a time, {medium}"))
}

fn compare(
    report: &mut Report,
    device: &Path,
    (engine, settings): (&'static str, &[Setting]),
    load: Load,
    target: Target,
    how: &str,
) -> Result<(), Missing> {
    fio::present()?;
    let setting = fio::best(report, settings, device, load, "IOPS", |(said, _)| said.iops);
    let ours = Run::new(device, engine, load);
    pairs(
        report,
        LOOKS,
        || ours.finish().0.repeats[0].iops,
        || fio::run(&mut fio::command(device, setting, load, true)).0.iops,
        &[Figure::ratio(format!("{}, {how}: IOPS", load.title()), |iops| *iops, |iops| format!("{iops:.0}"), target)],
    );
    Ok(())
}
