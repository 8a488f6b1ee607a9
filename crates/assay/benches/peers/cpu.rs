//! Processor time in user space per operation.
//!
//! It is that of the whole process with its children (`wait4`), nothing subtracted: start-up, the
//! calibration and the reports of both are in it. Both run equally long and count every operation
//! from the first on. The kernel splits processor time into user and system by the ticks of its
//! clock, 250 a second on many, so that single runs scatter; the median of the pairs is judged.

use assay_lab::{FilledDevice, Missing};

use crate::assay::{Load, Run};
use crate::fio::{self, Engine};
use crate::pairs::Pairs;
use crate::report::{Report, Row, Target};
use crate::speed::DEVICE_BYTES;

/// Long enough that start-up is little.
const SECONDS: u32 = 4;

pub(crate) fn deep(report: &mut Report) -> Result<(), Missing> {
    compare(report, "uring", Engine::Uring, 32, "QD32, io_uring")
}

pub(crate) fn single(report: &mut Report) -> Result<(), Missing> {
    compare(report, "sync", Engine::Psync, 1, "QD1, pread")
}

fn compare(report: &mut Report, engine: &'static str, peer: Engine, depth: u32, how: &str) -> Result<(), Missing> {
    fio::present()?;
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let load = Load::random_4k(depth, SECONDS);
    let ours = Run::new(device.path(), engine, load);
    let pairs = Pairs::measure(
        || {
            let (measurement, finished) = ours.finish();
            // Bytes from the first to the last, warm-up included, unlike the operations of the window.
            let operations = measurement.repeats[0].issued_bytes as f64 / measurement.workload.block_bytes as f64;
            finished.user_seconds * 1e9 / operations
        },
        || {
            let (said, finished) = fio::run(&mut fio::command(device.path(), peer, load, false));
            finished.user_seconds * 1e9 / said.operations
        },
    );
    let medians = pairs.medians(|ns| *ns);
    report.add(Row {
        what: format!("random read 4 KiB {how}, bare loop device: user CPU per operation"),
        ours: format!("{:.0} ns", medians.ours),
        peer: format!("{:.0} ns", medians.peer),
        seen: medians.ratio,
        unit: "",
        target: Target::AtMost(0.25),
    });
    Ok(())
}
