//! What sensors, sampler and live view take of the processor.
//!
//! There is no switch to leave the sensors out, so that the processor time of every thread is
//! read while a repeat is under way: the one that takes most of it measures, all others together
//! are the cost. The run has a terminal of its own (`script`), so that the live view paints.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use assay_lab::{FilledDevice, Missing};

use crate::assay::{Load, Run};
use crate::judge::Target;
use crate::process::{finish_watched, tasks, tree};
use crate::report::Report;
use crate::series::{Figure, measure};
use crate::speed::DEVICE_BYTES;

/// Calibration and warm-up are over by then.
const BEFORE: Duration = Duration::from_secs(3);
/// Sensors are read and figures painted once a second.
const DURING: Duration = Duration::from_secs(10);
const SECONDS: u32 = 14;
/// Numbers of runs after which the series is examined.
const RUNS: &[usize] = &[3, 6];
/// A thread that measures on a fast device takes at least this share of a processor; the rest of
/// the time it waits for the kernel's workers, or for others on a busy machine.
const MEASURES: f64 = 0.05;

pub(crate) fn sensors_and_live_view(report: &mut Report) -> Result<(), Missing> {
    let device = FilledDevice::new(DEVICE_BYTES)?;
    let run = Run::new(device.path(), "uring", Load::random_4k(32, SECONDS));
    let directory = tempfile::tempdir().map_err(|e| Missing(format!("temporary directory: {e}")))?;
    let painted = directory.path().join("painted");
    let first = others(&run, &painted)?;
    let share = |turn| if turn == 0 { first } else { others(&run, &painted).unwrap_or(f64::NAN) };
    let what = "sensors, samples and live view: share of one processor";
    let words = |percent: f64| format!("{percent:.2} %");
    measure(report, RUNS, share, &[Figure::alone(what, " %", words, Target::AtMost(1.0))]);
    Ok(())
}

/// Share of a processor in percent that all threads but the one that measures take in one run.
fn others(run: &Run, painted: &Path) -> Result<f64, Missing> {
    let mut shares = Vec::new();
    finish_watched(&mut on_a_terminal(&run.command(), painted)?, |process| {
        std::thread::sleep(BEFORE);
        let (first, start) = (times(process), Instant::now());
        std::thread::sleep(DURING);
        let wall = start.elapsed().as_nanos() as f64;
        // A thread that is new since then took all its time since then.
        let took = |(thread, time): (u32, u64)| time.saturating_sub(first.get(&thread).copied().unwrap_or(0));
        shares.extend(times(process).into_iter().map(took).map(|time| time as f64 / wall));
    });
    shares.sort_by(f64::total_cmp);
    let measuring = shares.pop().unwrap_or_default();
    if measuring < MEASURES {
        return Err(Missing(format!("needs to see a thread at work; the busiest took {:.0} %", measuring * 100.0)));
    }
    // A view that repaints moves the cursor (ECMA-48, control sequences begin with ESC [).
    if !std::fs::read(painted).is_ok_and(|bytes| bytes.windows(2).filter(|two| two == b"\x1b[").count() >= 10) {
        return Err(Missing("needs a terminal on which the live view paints".to_owned()));
    }
    Ok(shares.iter().sum::<f64>() * 100.0)
}

/// The same command with standard error on a terminal of its own. What it draws there goes to a file.
fn on_a_terminal(command: &Command, painted: &Path) -> Result<Command, Missing> {
    if Command::new("script").arg("--version").output().is_err() {
        return Err(Missing("needs script".to_owned()));
    }
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"))).collect();
    let mut script = Command::new("script");
    script.env("TERM", "xterm-256color").args(["--quiet", "--flush", "--return", "--command"]);
    script.arg(format!("{} > /dev/null", words.join(" "))).arg(painted);
    Ok(script)
}

/// Time on a processor in nanoseconds of every thread of assay below `process`: the first field
/// of `schedstat` (kernel documentation, scheduler/sched-stats).
fn times(process: u32) -> HashMap<u32, u64> {
    let ours = |process: &u32| {
        std::fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name.starts_with("assay"))
    };
    let threads = tree(process).into_iter().filter(ours).flat_map(tasks);
    threads
        .filter_map(|task| {
            let time = std::fs::read_to_string(task.join("schedstat")).ok()?;
            let thread = task.file_name()?.to_string_lossy().parse().ok()?;
            Some((thread, time.split_whitespace().next()?.parse().ok()?))
        })
        .collect()
}
