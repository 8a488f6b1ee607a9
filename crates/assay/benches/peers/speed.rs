//! Operations per second on devices so fast that the instrument shows.

use std::path::Path;

use assay_lab::{FilledDevice, Missing};

use crate::assay::{Load, Run};
use crate::fio::{self, Engine};
use crate::pairs::Pairs;
use crate::report::{Report, Row, Target};
use crate::zram::Zram;

/// Size of the devices; all of it is read.
pub(crate) const DEVICE_BYTES: u64 = 256 << 20;
/// Seconds of each side of a pair: short ones in turn, as the speed of a shared machine drifts.
const SECONDS: u32 = 2;
/// This many times fio's operations per second.
const TARGET: Target = Target::AtLeast(1.05);

pub(crate) fn loop_deep(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    deep(report, device.path(), "bare loop device in memory")
}

pub(crate) fn loop_single(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    single(report, device.path(), "bare loop device in memory")
}

pub(crate) fn zram_deep(report: &mut Report) -> Result<(), Missing> {
    let device = Zram::filled(DEVICE_BYTES)?;
    deep(report, device.path(), "zram, filled")
}

pub(crate) fn zram_single(report: &mut Report) -> Result<(), Missing> {
    let device = Zram::filled(DEVICE_BYTES)?;
    single(report, device.path(), "zram, filled")
}

fn deep(report: &mut Report, device: &Path, medium: &str) -> Result<(), Missing> {
    let what = format!("random read 4 KiB QD32, io_uring, one thread, {medium}: IOPS");
    compare(report, device, "uring", Engine::Uring, 32, what)
}

fn single(report: &mut Report, device: &Path, medium: &str) -> Result<(), Missing> {
    let what = format!("random read 4 KiB QD1, pread, {medium}: IOPS");
    compare(report, device, "sync", Engine::Psync, 1, what)
}

fn compare(
    report: &mut Report,
    device: &Path,
    engine: &'static str,
    peer: Engine,
    depth: u32,
    what: String,
) -> Result<(), Missing> {
    fio::present()?;
    let load = Load::random_4k(depth, SECONDS);
    let ours = Run::new(device, engine, load);
    let pairs = Pairs::measure(
        || ours.finish().0.repeats[0].iops,
        || fio::run(&mut fio::command(device, peer, load, true)).0.iops,
    );
    let medians = pairs.medians(|iops| *iops);
    report.add(Row {
        what,
        ours: format!("{:.0}", medians.ours),
        peer: format!("{:.0}", medians.peer),
        seen: medians.ratio,
        unit: "",
        target: TARGET,
    });
    Ok(())
}
