//! Memory.
//!
//! Both instruments do their work in a process apart from the one that was started, so the figure
//! is the sum over the processes of each one's own peak (`VmHWM`). Pages that processes share are
//! counted in each, for both instruments alike.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_lab::{FilledDevice, Missing};

use crate::assay::{Load, Run};
use crate::fio;
use crate::judge::Target;
use crate::process::tree;
use crate::report::Report;
use crate::series::{Figure, LOOKS, pairs};
use crate::speed::DEVICE_BYTES;

/// A peak is kept by the kernel: looking this often misses only what grows at the very end.
const LOOK_EVERY: Duration = Duration::from_millis(10);
const SECONDS: u32 = 2;

pub(crate) fn memory(report: &mut Report) -> Result<(), Missing> {
    fio::present()?;
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let load = Load::random_4k(32, SECONDS);
    let ours = Run::new(device.path(), "uring", load);
    let what = |name: &str| format!("peak memory, {}, bare loop device: {name}", load.title());
    let megabytes = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
    pairs(
        report,
        LOOKS,
        || {
            let mut watch = None;
            ours.finish_watched(|process| watch = Some(Watch::start(process)));
            watch.map_or(Peaks::default(), Watch::end)
        },
        || {
            let mut watch = None;
            let mut command = fio::command(device.path(), fio::RING, load, true);
            fio::run_watched(&mut command, |process| watch = Some(Watch::start(process)));
            watch.map_or(Peaks::default(), Watch::end)
        },
        &[
            Figure::ratio(what("sum over its processes"), |peaks: &Peaks| peaks.sum, megabytes, Target::AtMost(0.5)),
            Figure::ratio(what("largest process"), |peaks: &Peaks| peaks.largest, megabytes, Target::AtMost(0.5)),
        ],
    );
    Ok(())
}

/// Peaks of one run in bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Peaks {
    sum: f64,
    largest: f64,
}

/// Samples a process and its descendants until `over` is set.
#[derive(Debug)]
struct Watch {
    over: Arc<AtomicBool>,
    looking: JoinHandle<Peaks>,
}

impl Watch {
    fn start(process: u32) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&over);
        let looking = std::thread::spawn(move || {
            let mut peaks: HashMap<u32, u64> = HashMap::new();
            while !stop.load(Ordering::Relaxed) {
                for process in tree(process) {
                    if let Some(bytes) = peak(process) {
                        let known = peaks.entry(process).or_default();
                        *known = bytes.max(*known);
                    }
                }
                std::thread::sleep(LOOK_EVERY);
            }
            Peaks {
                sum: peaks.values().sum::<u64>() as f64,
                largest: peaks.values().copied().max().unwrap_or_default() as f64,
            }
        });
        Self { over, looking }
    }

    fn end(self) -> Peaks {
        self.over.store(true, Ordering::Relaxed);
        self.looking.join().unwrap()
    }
}

/// `VmHWM` in bytes; the kernel shows KiB.
fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}
