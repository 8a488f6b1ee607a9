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

/// Numbers of starts of the program after which the series is examined: each start takes a millisecond or two.
const STARTS: &[usize] = &[31, 62, 124];

/// More than most hosts have processors.
const MANY_JOBS: u32 = 64;

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

/// What the counters of many jobs and the sampler that reads them cost: the null engine with a job for each processor
/// beside one job, and with 64 jobs beside one for each processor, by the processor time of an operation. Operations a second
/// would not tell: 64 threads on few processors do not begin together.
pub(crate) fn many_jobs(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let processors = u32::try_from(std::thread::available_parallelism().map_or(1, usize::from)).unwrap_or(1);
    let run = |jobs| Run::new(device.path(), "null", Load { jobs, ..Load::random_4k(32, 1) });
    let cost = |run: &Run| {
        let (measurement, finished) = run.finish();
        let operations = measurement.repeats[0].issued_bytes as f64 / measurement.workload.block_bytes as f64;
        (finished.user_seconds + finished.system_seconds) * 1e9 / operations
    };
    let (one, each, many) = (run(1), run(processors), run(MANY_JOBS));
    for (jobs, ours, beside, theirs) in [(processors, &each, 1, &one), (MANY_JOBS, &many, processors, &each)] {
        if jobs == beside {
            continue;
        }
        let what =
            format!("null engine on {processors} processors, {jobs} jobs by {beside}: processor time per operation");
        let figure = Figure::ratio(what, |ns: &f64| *ns, |ns| format!("{ns:.1} ns"), Target::AtMost(1.1));
        pairs(report, LOOKS, || cost(ours), || cost(theirs), &[figure]);
    }
    Ok(())
}
