//! What a probe will do at most, said beforehand.

use super::stamp::BLOCK;

const MIB: u64 = 1 << 20;

/// Smaller devices are filled and checked in full as quickly.
pub const LEAST_BYTES: u64 = 64 * MIB;
/// The real size is found to within this: a MiB is at most one erase block of any flash in a card
/// or stick (SD Physical Layer Specification 4.13: allocation units of 16 KiB to 64 MiB; those of
/// cards from 2 GB on are 4 MiB).
pub const UNIT: u64 = MIB;
/// Blocks in a [`UNIT`].
pub(crate) const UNIT_BLOCKS: u64 = UNIT / BLOCK;
/// One place in each of so many equal parts is tested. A loss of 5 % of scattered places is missed
/// with probability 0.95^256 = 2e-6.
pub(crate) const SAMPLES: u64 = 256;
/// Places tested at once while narrowing the end of the real part.
pub(crate) const FAN: u64 = 64;
/// Scattered single blocks that drive out a cache of random writes: 1.5 MiB, where 8 KiB were seen
/// in the field. Each is a random write, which takes 0.2 s on the slowest cards.
pub(crate) const DECOYS: u64 = 384;
/// Rounds of writing, evicting and reading that any path through the search needs at most:
/// discovery, two of periods, two of samples, four of narrowing (64^4 MiB are 16 TiB), two spare.
pub(crate) const ROUNDS: u64 = 11;
/// Different periods that are tried at once at most; a number below 2^21 has no more divisors.
pub(crate) const PERIODS: u64 = 288;

/// How thorough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Largest cache that the probe still sees through, in bytes: so much is written in sequence
    /// to drive it out. More than an eighth of the device is never taken.
    pub cache_limit_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { cache_limit_bytes: 64 * MIB }
    }
}

impl Settings {
    /// Length of a run for a device of `bytes`, in bytes: whole units.
    pub(crate) fn run_bytes(&self, bytes: u64) -> u64 {
        (self.cache_limit_bytes.min(bytes / 8) / UNIT * UNIT).max(UNIT)
    }
}

/// The most that a probe will do; a fake without a cache takes a hundredth of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Bytes written to the device, restoring included.
    pub most_written_bytes: u64,
    /// Bytes read from the device.
    pub most_read_bytes: u64,
    /// Writes of single blocks at random places, restoring included: what takes the time on cards.
    pub most_random_writes: u64,
    /// Bytes of the journal, on the other disk.
    pub most_journal_bytes: u64,
}

impl Plan {
    /// Room that the search has before it restores, in bytes written.
    pub(crate) fn most_before_restoring(&self) -> u64 {
        self.most_written_bytes - self.most_journal_bytes
    }
}

/// What a probe of a device of `bytes` will do at most.
#[must_use]
pub fn plan(bytes: u64, settings: &Settings) -> Plan {
    let run = settings.run_bytes(bytes);
    // Samples, the ladder of powers of two and the ends; twice samples and periods; narrowing.
    let points = 3 * (SAMPLES + 8) + 64 + 2 * PERIODS + 4 * FAN;
    let saved_blocks = points + 3 * DECOYS;
    // The run of discovery, one within a period, one clear of the narrowing, one that looks for a
    // period.
    let saved = 4 * run + saved_blocks * BLOCK;
    let probing = ROUNDS * (run + DECOYS * BLOCK) + 2 * run + 2 * points * BLOCK;
    let comb = 3 * comb_reads(bytes, run) * BLOCK;
    // Reads: save, read back, verify; canaries and whole units beside.
    let reads = 2 * saved + 3 * points * BLOCK + comb + 64 * UNIT;
    Plan {
        most_written_bytes: probing + saved,
        most_read_bytes: reads,
        most_random_writes: points + ROUNDS * DECOYS + saved_blocks,
        // A record adds 49 bytes to its block of 4096 and its commit mark 16 more; beside are the
        // header and a mark for each sync.
        most_journal_bytes: saved + saved / 60 + 65_536,
    }
}

/// Distance in blocks at which single blocks are read to meet a run of `run` bytes wherever the
/// addresses start again: three quarters of it, since a cache may hold back the rest.
pub(crate) fn comb_step(run: u64) -> u64 {
    (run / 4 * 3 / BLOCK).max(1)
}

/// Reads that a comb over `bytes` takes.
fn comb_reads(bytes: u64, run: u64) -> u64 {
    (bytes / BLOCK).div_ceil(comb_step(run)).min(MOST_COMB)
}

/// A comb of more teeth takes too long on a slow reader: at 1000 reads a second, a minute.
pub(crate) const MOST_COMB: u64 = 65_536;
