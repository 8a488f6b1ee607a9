//! The program itself: its start, its size, its own cost per operation.

use std::process::Command;
use std::time::Instant;

use assay_lab::{FilledDevice, Missing};

use crate::assay::{Load, Run, binary};
use crate::fio;
use crate::judge::Target;
use crate::report::{Report, Row};
use crate::series::{Figure, LOOKS, Shown, measure, pairs};
use crate::speed::DEVICE_BYTES;

/// Starts of the program after which the series is looked at: each takes a millisecond or two.
const STARTS: &[usize] = &[31, 62, 124];

/// `assay --version`, whole process, and the size of the binary.
pub(crate) fn start_up_and_size(report: &mut Report) -> Result<(), Missing> {
    let start = |_| {
        let start = Instant::now();
        let output = Command::new(binary()).arg("--version").output().unwrap();
        assert!(output.status.success());
        start.elapsed().as_secs_f64() * 1e3
    };
    let what = "`assay --version`, whole process";
    measure(report, STARTS, start, &[Figure::alone(what, " ms", |ms| format!("{ms:.1} ms"), Target::AtMost(10.0))]);
    let megabytes = std::fs::metadata(binary()).unwrap().len() as f64 / 1e6;
    report.add(Row::exact("release binary", megabytes, " MB", format!("{megabytes:.1} MB"), Target::AtMost(12.0)));
    Ok(())
}

/// Cost of the instrument: both null engines, random 4 KiB reads, 32 in flight.
pub(crate) fn null_engine(report: &mut Report) -> Result<(), Missing> {
    fio::present()?;
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let load = Load::random_4k(32, 1);
    let ours = Run::new(device.path(), "null", load);
    let words = |ns: f64| format!("{ns:.1} ns");
    pairs(
        report,
        LOOKS,
        || 1e9 / ours.finish().0.repeats[0].iops,
        || 1e9 / fio::run(&mut fio::command(device.path(), fio::NULL, load, true)).0.iops,
        &[Figure {
            what: "null engine, histogram and samples on: time per operation".to_owned(),
            seen: Box::new(|pair: &(f64, f64)| pair.0),
            unit: " ns",
            target: Target::AtMost(10.0),
            ours: Shown::new(|pair: &(f64, f64)| pair.0, words),
            peer: Some(Shown::new(|pair: &(f64, f64)| pair.1, words)),
        }],
    );
    Ok(())
}

/// What the counters of many jobs and the sampler that reads them cost: the null engine with 64 jobs beside one job for
/// each processor. Both keep all processors busy, so that operations a second tell.
pub(crate) fn many_jobs(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let processors = u32::try_from(std::thread::available_parallelism().map_or(1, usize::from)).unwrap_or(1);
    let run = |jobs| Run::new(device.path(), "null", Load { jobs, ..Load::random_4k(32, 1) });
    let (many, each) = (run(64), run(processors));
    let per_second = |run: &Run| run.finish().0.repeats[0].iops;
    let what = format!("null engine, 64 jobs by {processors} on as many processors: operations a second");
    let words = |iops: f64| format!("{:.0} million", iops / 1e6);
    let figure = Figure::ratio(what, |iops: &f64| *iops, words, Target::AtLeast(0.9));
    pairs(report, LOOKS, || per_second(&many), || per_second(&each), &[figure]);
    Ok(())
}
