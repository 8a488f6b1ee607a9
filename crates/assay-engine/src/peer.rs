//! Other programs that run a repeat in place of an engine: watched, and ended where they do not end by themselves.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::process::Child;
use std::time::{Duration, Instant};

use assay_core::units::nanoseconds;

use crate::control::Control;
use crate::sampler::{LiveSample, OnSample};
use crate::spec::{RepeatSpec, Trouble};
use crate::sys;
use crate::timeout::Timeout;
use crate::traffic::Traffic;

/// More than this is no result.
const MOST_PRINTED: u64 = 64 << 20;
/// How often the process is looked at.
const TICK: Duration = Duration::from_millis(20);
/// After an interrupt a program drains and prints; then it is killed.
pub(crate) const GRACE: Duration = Duration::from_secs(10);
/// A killed process that the kernel does not let go is left behind.
const LETTING_GO: Duration = Duration::from_secs(2);

/// A file that is nowhere, for what a program prints: whatever kills this process, nothing is left.
///
/// # Errors
/// Where no more files can be open.
pub fn memory(name: &str) -> io::Result<File> {
    sys::nameless_file(name)
}

/// What a program printed into it.
///
/// # Errors
/// The system's.
pub fn read_back(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(MOST_PRINTED).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What became of a program.
#[derive(Debug)]
pub struct Watched {
    /// What it moved, as the kernel counts it.
    pub samples: Vec<LiveSample>,
    /// How long it ran, in nanoseconds.
    pub elapsed_ns: u64,
    /// It ended by itself and well, or was interrupted, which programs end in their own ways after.
    pub success: bool,
    /// It did not end in time, or could not be waited for.
    pub trouble: Option<Trouble>,
}

/// Waits for a program that leads a process group of its own. The group is interrupted where the end is asked for, by
/// `control` or by `on_sample`, and killed where it does not come, or not within `limit`.
pub fn watch(
    child: &mut Child,
    spec: &RepeatSpec,
    limit: Duration,
    control: &Control,
    on_sample: &mut OnSample<'_>,
) -> Watched {
    let start = Instant::now();
    let mut timeout = Timeout::new(limit);
    let (mut interrupted, mut enough) = (false, false);
    let mut traffic = Traffic::new(child.id(), spec.workload.block_bytes, spec.sample_every);
    let mut trouble = None;
    let status = loop {
        match sys::ended(child) {
            Ok(Some(status)) => break Some(status),
            Ok(None) => {}
            Err(error) => {
                trouble = Some(Trouble::Setup(format!("waiting for a program: {error}")));
                break None;
            }
        }
        if (control.stopped() || enough) && !interrupted {
            interrupted = true;
            timeout = Timeout::new(GRACE);
            sys::interrupt(child);
        }
        if timeout.expired() {
            if !interrupted {
                trouble = Some(Trouble::Hung { after: spec.hang_after });
            }
            kill(child);
            break None;
        }
        enough |= traffic.tick(on_sample).is_break();
        std::thread::sleep(TICK);
    };
    Watched {
        samples: traffic.finish(),
        elapsed_ns: nanoseconds(start.elapsed()),
        // An interrupted fio ends with 128.
        success: status.is_some_and(|s| interrupted || s.success()),
        trouble,
    }
}

/// Kills it and waits for its end, for a while.
fn kill(child: &mut Child) {
    sys::kill_all(child);
    let limit = Instant::now() + LETTING_GO;
    while Instant::now() < limit && matches!(sys::ended(child), Ok(None)) {
        std::thread::sleep(TICK);
    }
}
