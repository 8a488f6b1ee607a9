//! The program itself: its start, its size, its own cost per operation.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use assay_lab::{FilledDevice, Missing};

use crate::assay::{Load, Run, binary};
use crate::fio;
use crate::pairs::{Pairs, median};
use crate::report::{Report, Row, Target};
use crate::speed::DEVICE_BYTES;

/// `assay --version`, whole process, and the size of the binary.
pub(crate) fn start_up_and_size(report: &mut Report) -> Result<(), Missing> {
    let ms = median((0..31).map(|_| {
        let start = Instant::now();
        let output = Command::new(binary()).arg("--version").output().unwrap();
        assert!(output.status.success());
        start.elapsed().as_secs_f64() * 1e3
    }));
    report.add(alone("`assay --version`, whole process", ms, " ms", 10.0));
    let megabytes = std::fs::metadata(binary()).unwrap().len() as f64 / 1e6;
    report.add(alone("release binary", megabytes, " MB", 15.0));
    Ok(())
}

fn alone(what: &str, seen: f64, unit: &'static str, most: f64) -> Row {
    let ours = format!("{seen:.1}{unit}");
    Row { what: what.to_owned(), ours, peer: "–".to_owned(), seen, unit, target: Target::AtMost(most) }
}

/// Cost of the instrument: both null engines, random 4 KiB reads, 32 in flight.
pub(crate) fn null_engine(report: &mut Report) -> Result<(), Missing> {
    fio::present()?;
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let medians = null_pairs(device.path()).medians(|ns| *ns);
    report.add(Row {
        what: "null engine, histogram and samples on: time per operation".to_owned(),
        ours: format!("{:.1} ns", medians.ours),
        peer: format!("{:.1} ns", medians.peer),
        seen: medians.ours,
        unit: " ns",
        target: Target::AtMost(40.0),
    });
    Ok(())
}

fn null_pairs(device: &Path) -> Pairs<f64> {
    let load = Load::random_4k(32, 1);
    let ours = Run::new(device, "null", load);
    Pairs::measure(
        || 1e9 / ours.finish().0.repeats[0].iops,
        || 1e9 / fio::run(&mut fio::command(device, fio::Engine::Null, load, true)).0.iops,
    )
}
