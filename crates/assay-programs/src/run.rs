//! Which program is run by what, and how much of it the medium can do within time, bytes and space.

use std::time::Duration;

use assay_core::finding::Shortfall;
use assay_core::program::Program;

use crate::trouble::ProgramTrouble;
use crate::work::{Done, Work};
use crate::writes::{BYTES_PER_ROW, Numbers, inserts, postmark, stream};
use crate::{archives, linpack, sysbench};

/// Runs one repeat of a program. The files that it makes are gone afterwards, unless it fails.
///
/// # Errors
/// [`ProgramTrouble`], where there is no figure.
pub fn run(fitted: &Fitted, work: &Work) -> Result<Done, ProgramTrouble> {
    match fitted.program {
        Program::Primes { below, threads } => sysbench::run_primes(below, threads, work),
        Program::Memory { op, block, total } => sysbench::run_memory(op, block.0, total.0, work),
        Program::Linpack { size } => linpack::run(size as usize, work),
        Program::Stream { block, count } => stream(block.0, count, work),
        Program::Postmark { transactions, files, smallest, largest } => {
            postmark(&Numbers { transactions, files, smallest: smallest.0, largest: largest.0 }, work)
        }
        Program::Compress { copies } => archives::run_compress(copies, fitted.tree_bytes, work),
        Program::Unpack {} => archives::run_unpack(fitted.tree_bytes, work),
        Program::Inserts { rows } => inserts(rows, work),
    }
}

// How much of a program the medium can do within time, bytes and space.

/// Share of its time in which what a program writes has to reach the medium; the rest is for all else that it does.
const WRITING: f64 = 0.7;
/// Fewer writes than this say nothing about a stream.
const LEAST_WRITES: u32 = 16;
/// Fewer files or transactions than this say nothing about small files.
const LEAST_FILES: u32 = 10;
/// Fewer rows than this say nothing about a database.
const LEAST_ROWS: u32 = 10;
/// A smaller tree has hardly any files.
const LEAST_TREE: u64 = 512 << 10;
/// Most bytes of a tree that is generated.
const GENERATED: u64 = 32 << 20;
/// And for each second of its time: a small computer packs about three times as much for the archive, once in a run.
const GENERATED_PER_SECOND: f64 = 1048576.0;
/// Share of its time in which a source tree has to reach the medium: it has to be packed or unpacked, too.
const TREE: f64 = 0.4;

/// What a repeat of a program may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProgramLimits {
    /// Time.
    pub time: Duration,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes in files at once.
    pub space_bytes: u64,
    /// How fast the medium was written before; none where that is not known.
    pub bytes_per_second: Option<f64>,
}

impl ProgramLimits {
    /// Bytes of a source tree with `times` copies.
    fn tree(&self, times: u64, most: u64) -> Result<u64, Shortfall> {
        let bytes = self.durable(TREE).min(self.space_bytes) / times;
        let tree = bytes.min(most) >> 10 << 10;
        if tree < LEAST_TREE { Err(too_little(bytes)) } else { Ok(tree) }
    }

    /// Most bytes that can be written and synced in this share of the time.
    fn durable(&self, share: f64) -> u64 {
        let by_time = self.bytes_per_second.map_or(u64::MAX, |rate| (rate * self.time.as_secs_f64() * share) as u64);
        self.write_bytes.min(by_time)
    }
}

/// A program as it runs here.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The program.
    pub program: Program,
    /// Most bytes of its source tree; 0 where it needs none.
    pub tree_bytes: u64,
}

/// The program as it can run within the limits. A source tree is as large as that of the user, or as generated ones are,
/// where `given` says so.
///
/// # Errors
/// Why it is left out.
pub fn fit(program: &Program, given: bool, limits: &ProgramLimits) -> Result<Fitted, Shortfall> {
    let in_time = (limits.time.as_secs_f64() * GENERATED_PER_SECOND) as u64;
    let most_tree = if given { u64::MAX } else { GENERATED.min(in_time).max(LEAST_TREE) };
    let (fitted, tree_bytes) = match *program {
        Program::Stream { block, count } => {
            let bytes = limits.durable(WRITING).min(limits.space_bytes);
            let fits = u32::try_from(bytes / block.0).unwrap_or(u32::MAX).min(count);
            if fits < LEAST_WRITES.min(count) {
                return Err(too_little(bytes));
            }
            (Program::Stream { block, count: fits }, 0)
        }
        Program::Postmark { transactions, files, smallest, largest } => {
            let mean = (smallest.0 + largest.0) / 2;
            // All files may grow to the largest size. What is there at the beginning is written in part of the time.
            let bytes = limits.durable(0.5);
            let by_space = limits.space_bytes / largest.0;
            let fits = u32::try_from(by_space.min(bytes / 2 / mean)).unwrap_or(u32::MAX).min(files);
            // Half of the transactions make a file, the other half append a third of one; most are gone again before
            // they reach the medium, so that time does not bound them.
            let left = limits.write_bytes.saturating_sub(u64::from(fits) * mean);
            let may = u32::try_from(left / (mean * 2 / 3).max(1)).unwrap_or(u32::MAX).min(transactions);
            if fits < LEAST_FILES.min(files) || may < LEAST_FILES.min(transactions) {
                return Err(too_little(bytes.min(limits.space_bytes)));
            }
            (Program::Postmark { transactions: may, files: fits, smallest, largest }, 0)
        }
        // The archive, the tree, and what is packed of it.
        Program::Unpack {} => (Program::Unpack {}, limits.tree(2, most_tree)?),
        Program::Compress { copies } => (Program::Compress { copies }, limits.tree(u64::from(copies) + 2, most_tree)?),
        Program::Inserts { rows } => {
            let bytes = limits.write_bytes.min(limits.space_bytes);
            let fits = u32::try_from(bytes / BYTES_PER_ROW).unwrap_or(u32::MAX).min(rows);
            if fits < LEAST_ROWS.min(rows) {
                return Err(too_little(bytes));
            }
            (Program::Inserts { rows: fits }, 0)
        }
        Program::Primes { .. } | Program::Memory { .. } | Program::Linpack { .. } => (program.clone(), 0),
    };
    Ok(Fitted { program: fitted, tree_bytes })
}

fn too_little(bytes: u64) -> Shortfall {
    Shortfall::TooLittleRoom { bytes }
}

#[cfg(test)]
mod tests {
    use assay_core::units::Bytes;

    use super::*;

    const LIMITS: ProgramLimits = ProgramLimits {
        time: Duration::from_secs(20),
        write_bytes: 1 << 40,
        space_bytes: 1 << 40,
        bytes_per_second: Some(100e6),
    };

    fn fitted(program: &Program, limits: ProgramLimits) -> Option<Program> {
        fit(program, false, &limits).ok().map(|fitted| fitted.program)
    }

    #[test]
    fn a_stream_is_as_long_as_the_medium_can_take_it() {
        let asked = Program::Stream { block: Bytes(8192), count: 50_000 };
        assert_eq!(fitted(&asked, LIMITS), Some(asked.clone()));
        let count = |limits: ProgramLimits| match fitted(&asked, limits) {
            Some(Program::Stream { count, .. }) => Some(count),
            _ => None,
        };
        assert_eq!(count(ProgramLimits { bytes_per_second: Some(1e6), ..LIMITS }), Some(1708), "14 s of 20 at 1 MB/s");
        assert_eq!(count(ProgramLimits { space_bytes: 8 << 20, ..LIMITS }), Some(1024));
        assert_eq!(count(ProgramLimits { write_bytes: 8 << 20, ..LIMITS }), Some(1024));
        assert_eq!(count(ProgramLimits { bytes_per_second: None, ..LIMITS }), Some(50_000));
        assert_eq!(count(ProgramLimits { write_bytes: 1000, ..LIMITS }), None);
    }

    #[test]
    fn files_and_transactions_fit_into_time_space_and_bytes() {
        let asked =
            Program::Postmark { transactions: 25_000, files: 500, smallest: Bytes(5120), largest: Bytes(524_288) };
        assert_eq!(fitted(&asked, LIMITS), Some(asked.clone()));
        let numbers = |limits: ProgramLimits| match fitted(&asked, limits) {
            Some(Program::Postmark { transactions, files, .. }) => Some((transactions, files)),
            _ => None,
        };
        assert_eq!(numbers(ProgramLimits { bytes_per_second: Some(1e6), ..LIMITS }), Some((25_000, 18)));
        assert_eq!(numbers(ProgramLimits { space_bytes: 20 << 20, ..LIMITS }), Some((25_000, 40)));
        let (transactions, files) = numbers(ProgramLimits { write_bytes: 1 << 30, ..LIMITS }).unwrap();
        assert!((5000..6000).contains(&transactions) && files == 500, "{transactions} {files}");
        assert_eq!(numbers(ProgramLimits { write_bytes: 1 << 20, ..LIMITS }), None);
    }

    #[test]
    fn a_tree_is_as_large_as_the_medium_can_take_it() {
        let tree = |given, limits| fit(&Program::Compress { copies: 2 }, given, &limits).ok().map(|f| f.tree_bytes);
        assert_eq!(tree(false, LIMITS), Some(20 << 20), "a MiB for each second");
        assert_eq!(tree(false, ProgramLimits { time: Duration::from_secs(60), ..LIMITS }), Some(GENERATED));
        assert!(tree(true, LIMITS).is_some_and(|bytes| bytes > 5 * GENERATED));
        let slow = tree(false, ProgramLimits { bytes_per_second: Some(1e6), ..LIMITS });
        assert!(slow.is_some_and(|bytes| (1_990_000..=2_000_000).contains(&bytes)), "{slow:?}");
        assert_eq!(tree(false, ProgramLimits { space_bytes: 1 << 20, ..LIMITS }), None);
    }
}
