//! Cards with a known speed, which the kernel enforces, and compressed devices in memory.
//!
//! Each card has one limit, so that the result of a workload follows by arithmetic:
//!
//! - Reads only or writes only: the limit itself, in operations or in bytes by the block size. The slowest card, 5
//!   operations of 4 KiB a second, is limited to 20,480 bytes a second, because the kernel counts bytes exactly and
//!   rounds the time between few operations up to its clock: a limit of 5 operations lets one pass every 208 ms at 250
//!   ticks a second.
//! - Mixed with a share `p` of reads: only one direction is limited, say reads to `R` a second. The other direction
//!   waits only for free places in the queue, so all operations together come to `R / p`; where writes are limited to
//!   `W`, to `W / (1 - p)`. Limits on both in proportion to the mix are not possible: the direction that is behind by
//!   chance makes the other one idle, by an amount that depends on the depth.
//! - Directions are drawn at random, so the share among `n` operations scatters: the relative standard deviation of the
//!   total is `sqrt((1 - q) / (q n))`, where `q` is the limited share. The mixed cards are fast enough that three of it
//!   are below 1 %.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};

use Limit::{ReadBytes, ReadIops, WriteBytes, WriteIops};
use Work::{Mixed, RandomRead, RandomWrite, StreamRead, StreamWrite};
use assay_lab::{Limits, Missing};

/// The one limit of a card, a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    ReadIops(u64),
    WriteIops(u64),
    ReadBytes(u64),
    WriteBytes(u64),
}

impl Limit {
    pub(crate) fn limits(self) -> Limits {
        let none = Limits::default();
        match self {
            ReadIops(limit) => Limits { read_iops: Some(limit), ..none },
            WriteIops(limit) => Limits { write_iops: Some(limit), ..none },
            ReadBytes(limit) => Limits { read_bytes: Some(limit), ..none },
            WriteBytes(limit) => Limits { write_bytes: Some(limit), ..none },
        }
    }

    pub(crate) fn title(self) -> String {
        match self {
            ReadIops(limit) => format!("{limit} read IOPS"),
            WriteIops(limit) => format!("{limit} write IOPS"),
            ReadBytes(limit) => format!("reads {}", rate(limit)),
            WriteBytes(limit) => format!("writes {}", rate(limit)),
        }
    }
}

fn rate(bytes: u64) -> String {
    if bytes < FEW_BYTES { format!("{bytes} B/s") } else { format!("{} MB/s", bytes / 1_000_000) }
}

/// The work on a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    RandomRead,
    RandomWrite,
    StreamRead,
    StreamWrite,
    /// Random, with this percentage of reads.
    Mixed(u8),
}

impl Work {
    /// Its lines in a suite.
    pub(crate) fn lines(self) -> String {
        let (op, pattern) = match self {
            RandomRead => ("read", "random"),
            RandomWrite => ("write", "random"),
            StreamRead => ("read", "sequential"),
            StreamWrite => ("write", "sequential"),
            Mixed(_) => ("mixed", "random"),
        };
        let share = if let Mixed(percent) = self { format!("read_percent = {percent}\n") } else { String::new() };
        format!("op = \"{op}\"\npattern = \"{pattern}\"\n{share}")
    }
}

/// One card and the work on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Card {
    pub(crate) limit: Limit,
    pub(crate) work: Work,
    pub(crate) block_kib: u64,
    pub(crate) depth: u32,
    pub(crate) jobs: u32,
    /// Time for layout, calibration and three repeats.
    pub(crate) budget_seconds: u32,
    /// Largest relative error allowed.
    pub(crate) most: f64,
}

/// What a card must come to, a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Truth {
    Iops(f64),
    Bytes(f64),
}

impl Card {
    /// See the arithmetic above.
    pub(crate) fn truth(&self) -> Truth {
        let block = self.block_kib as f64 * 1024.0;
        let reads = match self.work {
            RandomRead | StreamRead => 1.0,
            RandomWrite | StreamWrite => 0.0,
            Mixed(percent) => f64::from(percent) / 100.0,
        };
        match self.limit {
            ReadBytes(limit) if limit < FEW_BYTES => Truth::Iops(limit as f64 / block / reads),
            ReadIops(limit) => Truth::Iops(limit as f64 / reads),
            WriteIops(limit) => Truth::Iops(limit as f64 / (1.0 - reads)),
            ReadBytes(limit) => Truth::Bytes(limit as f64 / reads),
            WriteBytes(limit) => Truth::Bytes(limit as f64 / (1.0 - reads)),
        }
    }
}

/// Below this many bytes per second, the truth is given in operations per second.
const FEW_BYTES: u64 = 1_000_000;
/// Largest error.
const MOST: f64 = 0.01;
/// Largest error at a few operations per second, where a repeat has a few dozen operations.
const MOST_SLOW: f64 = 0.02;

const fn card(limit: Limit, work: Work, block_kib: u64, depth: u32, jobs: u32) -> Card {
    Card { limit, work, block_kib, depth, jobs, budget_seconds: 9, most: MOST }
}

/// The cards, from 5 to 20,000 operations per second and from 1 to 400 MB/s.
pub(crate) const CARDS: [Card; 16] = [
    Card { budget_seconds: 30, most: MOST_SLOW, ..card(ReadBytes(20_480), RandomRead, 4, 4, 1) },
    card(WriteIops(50), RandomWrite, 4, 4, 1),
    card(ReadIops(200), RandomRead, 4, 1, 4),
    card(WriteIops(500), RandomWrite, 4, 1, 1),
    card(ReadIops(1500), RandomRead, 4, 32, 1),
    card(WriteIops(4000), RandomWrite, 4, 4, 4),
    card(WriteIops(10_000), RandomWrite, 4, 32, 1),
    card(ReadIops(20_000), RandomRead, 4, 32, 4),
    card(ReadBytes(1_000_000), RandomRead, 64, 1, 1),
    card(WriteBytes(10_000_000), StreamWrite, 1024, 4, 1),
    card(ReadBytes(23_000_000), RandomRead, 64, 32, 1),
    // 16 MiB in flight are a fifth of a second of this bus, so a short window holds only a few of these periods.
    Card { budget_seconds: 24, ..card(ReadBytes(90_000_000), StreamRead, 1024, 4, 4) },
    card(WriteBytes(400_000_000), StreamWrite, 1024, 4, 1),
    card(ReadIops(10_000), Mixed(80), 4, 32, 1),
    card(WriteIops(7000), Mixed(30), 4, 4, 4),
    card(ReadBytes(90_000_000), Mixed(90), 16, 32, 1),
];

// A compressed device in memory, which the kernel makes on request.

/// Where devices are made: reading `hot_add` makes one and gives its number, and a number written
/// to `hot_remove` removes it (kernel documentation, admin-guide/blockdev/zram).
const CONTROL: &str = "/sys/class/zram-control";

/// A zram device of our own, filled with random bytes: pages never written read as zeros without
/// any work, and what compresses well reads faster. Reset and removed when dropped.
#[derive(Debug)]
pub(crate) struct Zram {
    number: u32,
    path: PathBuf,
}

impl Zram {
    pub(crate) fn filled(bytes: u64) -> Result<Self, Missing> {
        let control = format!("{CONTROL}/hot_add");
        let fail = |what: &str, e: std::io::Error| Missing(format!("{what}: {e}"));
        let number = std::fs::read_to_string(&control).map_err(|e| fail(&control, e))?;
        let number = number.trim().parse().map_err(|_| Missing(format!("{control}: `{}`", number.trim())))?;
        let device = Self { number, path: PathBuf::from(format!("/dev/zram{number}")) };
        std::fs::write(device.setting("disksize"), bytes.to_string()).map_err(|e| fail("disksize", e))?;
        let random = File::open("/dev/urandom").map_err(|e| fail("/dev/urandom", e))?;
        let name = device.path.display().to_string();
        let mut file = OpenOptions::new().write(true).open(&device.path).map_err(|e| fail(&name, e))?;
        std::io::copy(&mut random.take(bytes), &mut file).and_then(|_| file.sync_all()).map_err(|e| fail(&name, e))?;
        Ok(device)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn setting(&self, name: &str) -> PathBuf {
        Path::new("/sys/block").join(format!("zram{}", self.number)).join(name)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // Who used it last may take a moment to close it.
        for _ in 0..50 {
            let removed = std::fs::write(self.setting("reset"), "1")
                .and_then(|()| std::fs::write(format!("{CONTROL}/hot_remove"), self.number.to_string()));
            if removed.is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        println!("note: {} was not removed", self.path.display());
    }
}
