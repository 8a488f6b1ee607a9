//! Upper bounds for what a probe does, known beforehand.

use super::settings::{
    ASKED_AGAIN, CAREFUL, LEAST_VERIFIED, MET, PARTS, READINGS, Settings, TEETH, WIDE, WITNESSES, shifts,
};

const MIB: u64 = 1 << 20;

/// Smaller devices lack room even for a place at each end and one between.
pub const LEAST_BYTES: u64 = 64 << 10;

/// Bytes of the first places, which are read back again together with all places written after them.
const FIRST_BYTES: u64 = 64 << 10;
/// Everything saved is written back at most this many times: in two rounds, once more place by place if the device errs
/// at a flush, and in two further attempts.
const RESTORED: u64 = 5;

/// What a probe will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbePlan {
    /// Bytes written to a genuine device, restoring included.
    pub written_bytes: u64,
    /// Bytes read from a genuine device, restoring included.
    pub read_bytes: u64,
    /// Write operations on a genuine device.
    pub writes: u64,
    /// Read operations on a genuine device.
    pub reads: u64,
    /// Bytes written to any device at most, restoring included.
    pub most_written_bytes: u64,
    /// The part of them that the search may write; the rest is for restoring.
    pub(crate) most_search_bytes: u64,
    /// Most bytes of the journal on the other disk: never more than the content of the device and the overhead of the
    /// records.
    pub most_journal_bytes: u64,
}

/// What a probe of a device of `bytes` in blocks of `block_bytes` will do, within a few percent for a genuine one.
#[must_use]
pub fn plan(bytes: u64, block_bytes: u32, settings: &Settings) -> ProbePlan {
    let block = u64::from(block_bytes).max(512);
    let run = settings.run_bytes(bytes).max(block);
    // At both ends, and on both sides of each quarter.
    let singles = 2 * u64::from((bytes / block).max(1).ilog2()) + 3 + 6;
    let samples = (PARTS * WIDE * 512 + singles * block).min(run + singles * block);
    // The start, which is saved first and is written after the first places.
    let low = run / CAREFUL;
    let saved = run + samples + low;
    let teeth = teeth(run, bytes, block);
    // A few of the samples are read each time the amount written has doubled.
    let looks = 16 * u64::from((run / MIB).max(1).ilog2() + 1);
    let pages = READINGS as u64 - 2;
    let verified = run.min(LEAST_VERIFIED * 512);
    let places = PARTS + singles;
    let pieces = run.div_ceil(MIB);
    // A small place costs a record of its own and its part of a commit mark.
    let records = (places * 128).min(bytes / 512 * 128) + 4096;
    let (share, of) = MET;
    let most_journal_bytes = (5 * run + low + 64 * MIB).min(bytes) / 64 * 65 + records;
    let most_search_bytes = 40 * run + 1536 * MIB;
    ProbePlan {
        // Most of the run is written twice, and everything is restored in two rounds.
        written_bytes: 3 * saved + run / of * share,
        // Everything is saved, read before each round, and read back. Each write reads a block that was written before,
        // and one of its own place.
        read_bytes: 4 * saved
            + 2 * samples
            + 2 * (places + 2 * pieces) * block
            + 6 * FIRST_BYTES.min(samples / 4)
            + pages * PARTS * 4096.min(samples / PARTS)
            + looks * (WIDE * 512).min(samples / PARTS)
            + verified
            + (teeth + 2 * WITNESSES + ASKED_AGAIN) * block,
        writes: 3 * (places + pieces + low / MIB) + low / (64 << 10) + pieces * share / of,
        reads: (6 + pages) * places
            + 64 * 6
            + looks
            + 5 * pieces
            + 2 * (places + 2 * pieces)
            + teeth
            + 2 * WITNESSES
            + ASKED_AGAIN,
        most_written_bytes: most_search_bytes + RESTORED * most_journal_bytes,
        most_search_bytes,
        most_journal_bytes,
    }
}

/// Single reads below the run.
fn teeth(run: u64, bytes: u64, block: u64) -> u64 {
    let (share, of) = MET;
    let all = (bytes - run.min(bytes)) / (run / of * share).max(block);
    let teeth = if all <= TEETH { all } else { all - all / 2 };
    teeth * shifts(teeth)
}
